"""The shape tracer, driven without a browser."""

import html
import itertools
import json
import re
import time
import warnings
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest

from mha_helpers.labs.splitting.shape_tracer import STAGES

tracer = import_module("mha_helpers.labs.splitting.shape_tracer")

FIRST = tracer.shape_tracer().first_state | {"record": ""}
SIZES = list(itertools.product((1, 2, 3), range(2, 7), (4, 6, 8, 12), range(1, 7)))
CORNERS = [sizes for sizes in SIZES if sizes[0] in (1, 3) and sizes[1] in (2, 6)]
BETWEEN = [sizes for sizes in SIZES if sizes not in CORNERS]
DIVIDES = [sizes for sizes in SIZES if sizes[2] % sizes[3] == 0]
RIGHT = [tracer._letters(stage) for stage in range(1, len(STAGES))]
SHAPES = [(2, 5, 12), (2, 5, 3, 4), (2, 3, 5, 4), (2, 3, 5, 5), (2, 3, 5, 5), (2, 3, 5, 4), (2, 5, 3, 4)]
SHAPES += [(2, 5, 12), (2, 5, 12)]


def from_the_start():
    lab = tracer.shape_tracer()
    lab.buttons["Start over"].click()
    return lab


def fill(lab, *guess):
    chips = ["S again" if chip == "S" and "S" in guess[:i] else chip for i, chip in enumerate(guess)]
    lab.controls["shape"].value = ", ".join(chips)


def check(lab, *guess):
    fill(lab, *guess)
    lab.buttons["Check"].click()
    return tracer.sentence(tracer.compute(lab.state))


def sized(B=2, S=5, d_model=12, h=3):
    lab = from_the_start()
    lab.set(B=B, S=S, d_model=d_model, h=h)
    return lab


# ---- the shapes ------------------------------------------------------------------------------


def test_the_shapes_are_those_of_numpy():
    for sizes in DIVIDES:
        B, S, d_model, h = sizes
        d_head = d_model // h
        X, W = np.ones((B, S, d_model)), np.ones((d_model, d_model))
        cut = np.einsum("bsd,de->bse", X, W).reshape(B, S, h, d_head)
        queries = np.einsum("bshd->bhsd", cut)
        scores = np.einsum("bhqd,bhkd->bhqk", queries, queries)
        context = np.einsum("bhqk,bhkd->bhqd", scores, queries)
        swapped = np.einsum("bhsd->bshd", context)
        merged = np.concatenate([swapped[:, :, head] for head in range(h)], axis=-1)
        arrays = X, X @ W, cut, queries, scores, scores, context, swapped, merged, merged @ W
        assert tracer.trace(*sizes) == (tuple(array.shape for array in arrays), ()), sizes
        sizes_of = {"B": B, "S": S, "d_model": d_model, "h": h, "d_head": d_head, "S queries": S, "S keys": S}
        for array, (_, _, axes, _) in zip(arrays, STAGES, strict=True):
            assert array.shape == tuple(sizes_of[axis] for axis in axes), sizes


def test_heads_that_do_not_divide_are_refused_by_numpy_and_the_course():
    for sizes in (sizes for sizes in SIZES if sizes not in DIVIDES):
        B, S, d_model, h = sizes
        shapes, (numpys, courses) = tracer.trace(*sizes)
        assert shapes == ((B, S, d_model), (B, S, d_model), None), sizes
        with pytest.raises(ValueError, match="cannot reshape") as error:
            np.ones(sizes[:3]).reshape(B, S, h, d_model // h)
        assert numpys == f"ValueError: {error.value}", sizes
        assert courses.startswith(f"ValueError: d_model={d_model} is not divisible by n_heads={h}; choose 1, 2"), sizes


@pytest.mark.parametrize(
    ("guess", "n_blocks", "readout"),
    [
        ("B S d_model", 2, "2 × 5 × 12 = 120 numbers"),
        ("B S h d_head", 6, "2 × 5 × 3 × 4 = 120 numbers"),
        ("B h S S", 6, "2 × 3 × 5 × 5 = 150 numbers"),
        ("S", 1, "5 numbers"),
        ("", 0, ""),
    ],
)
def test_the_chips_cut_blocks(guess, n_blocks, readout):
    lab = from_the_start()
    if guess:
        fill(lab, *guess.split())
    assert lab.picture.value.count('data-part="block ') == n_blocks
    assert f"Your shape: {readout}<" in lab.picture.value or not readout


# ---- the walk --------------------------------------------------------------------------------


def test_it_opens_with_one_stage_done():
    lab = tracer.shape_tracer()
    check(lab, *RIGHT[1])
    assert tracer.compute(lab.state).tries == (tracer.FOUND, 1), "the stage that it opens with is not counted"


def test_the_start_asks_and_tells_nothing():
    lab = from_the_start()
    assert "d_head =" not in lab.picture.value
    assert "first try" not in lab.picture.value


def test_a_walk_without_a_mistake():
    lab = from_the_start()
    for (name, *_), guess, shape in zip(STAGES[1:], RIGHT, SHAPES, strict=True):
        assert f"Right: {name} is {shape}: " in check(lab, *guess)
    assert lab.picture.value.count("✓ first try") == 9


def test_the_score_counts_first_tries_only():
    lab = from_the_start()
    check(lab, *RIGHT[0])
    check(lab, *RIGHT[2])
    check(lab, *RIGHT[1])  # at the second try
    lab.buttons["Show"].click()
    for guess in RIGHT[3:]:
        check(lab, *guess)
    result = tracer.compute(lab.state)
    assert result.tries == (1, 2, 0, 1, 1, 1, 1, 1, 1)
    page = lab.picture.value
    assert (page.count("✓ first try"), page.count("✓ try 2"), page.count(">shown<")) == (7, 1, 1)


def test_show_gives_the_answer_and_goes_on():
    lab = from_the_start()
    lab.buttons["Show"].click()
    result = tracer.compute(lab.state)
    assert (result.tries, result.stage) == ((0,), 2)


def test_show_after_a_mistake_is_not_a_try():
    lab = from_the_start()
    check(lab, "B")
    lab.buttons["Show"].click()
    check(lab, *RIGHT[1])
    assert tracer.compute(lab.state).tries == (0, 1)


def test_nothing_is_counted_after_the_end():
    lab = from_the_start()
    for _ in range(9):
        lab.buttons["Show"].click()
    lab.update()  # what was made just now is there
    page = lab.picture.value
    lab.buttons["Show"].click()
    lab.buttons["Check"].click()
    assert lab.picture.value == page
    assert "The end: 0 of 9 right at the first try." in page


@pytest.mark.parametrize(
    ("before", "guess"),
    [
        (0, "B S"),
        (0, "B S d_head"),
        (1, "B h S d_head"),
        (1, "B S h S"),
        (3, "B h S d_head"),
        (5, "B h S S"),
        (7, "B S h d_head"),
    ],
)
def test_a_wrong_shape_is_marked_and_the_answer_is_not_given_away(before, guess):
    lab = from_the_start()
    for right in RIGHT[:before]:
        check(lab, *right)
    readout = check(lab, *guess.split())
    assert "Stage" not in readout, "the stage is not left"
    assert tracer.compute(lab.state).stage == before + 1
    assert str(SHAPES[before]) not in readout
    assert "≠" in lab.picture.value, "it is marked where it stands"


def test_nothing_is_no_answer():
    assert tracer._check(tracer.shape_tracer().first_state) == {}


def chips(lab):
    """Return, by chip, what each of its places sets."""
    found = re.findall(r'data-scrub="([^"]*)" data-stops="([^"]*)"', lab.picture.value)
    return {chip: json.loads(html.unescape(stops)) for chip, stops in found}


def test_a_chip_goes_between_the_others_and_comes_home():
    lab = from_the_start()
    fill(lab, "B", "d_model")
    home, *slots = chips(lab)["S"]
    assert [stop["shape"] for stop in slots] == ["S, B, d_model", "B, S, d_model", "B, d_model, S"]
    assert home.items() <= lab.state.items(), "it is at home"
    fill(lab, "B", "S", "S", "h")
    assert len(chips(lab)["d_head"]) == 1, "there is no slot left"
    assert [*chips(lab)] == [*tracer.CHIPS]


# ---- heads that do not divide ----------------------------------------------------------------


def test_an_error_is_an_answer():
    lab = sized(h=5)
    check(lab, *RIGHT[0])
    assert "cannot reshape" not in lab.picture.value
    check(lab, *RIGHT[1])
    lab.buttons["It fails"].click()
    numpys = "ValueError: cannot reshape array of size 120 into shape (2,5,5,2)"
    drawn = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", lab.picture.value))
    assert f"NumPy: {numpys} The course: ValueError: d_model=12 is not divisible by n_heads=5; choose 1, 2" in drawn
    assert lab.picture.value.count(">not reached<") == 7


def test_an_error_may_be_shown():
    lab = sized(d_model=4, h=6)
    lab.buttons["Show"].click()
    lab.buttons["Show"].click()
    assert "Shown: NumPy refuses: ValueError: cannot reshape array of size 40 into shape (2,5,6,0)." in (
        lab.picture.value
    )
    assert tracer.compute(lab.state).tries == (0, 0)


# ---- the state is in the controls ------------------------------------------------------------


def test_other_sizes_start_the_walk_anew_and_the_same_go_on():
    lab = from_the_start()
    check(lab, *RIGHT[0])
    lab.controls["S"].value = 6
    assert "The sizes have changed: the walk starts anew. Stage 1 of 9" in lab.picture.value
    lab.controls["S"].value = 5
    assert "Stage 2 of 9" in lab.picture.value
    lab.controls["S"].value = 6
    assert "So far" not in check(lab, "B", "S", "h")
    assert "1 of 1" not in check(lab, *RIGHT[0])
    assert tracer.compute(lab.state).tries == (2,)


def test_a_right_answer_empties_the_slots_so_that_it_does_not_answer_the_next_stage_too():
    lab = from_the_start()
    for shape in RIGHT[:4]:  # the fifth is as the fourth
        check(lab, *shape)
    assert tracer.compute(lab.state).guess == ()
    check(lab, "B", "h", "S")  # wrong: what was filled in stays
    assert tracer.compute(lab.state).guess == ("B", "h", "S")


def test_start_over_keeps_the_sizes_and_reset_does_not():
    lab = tracer.shape_tracer()
    first = lab.picture.value
    lab.set(B=3, h=4)
    check(lab, "B", "S")
    lab.buttons["Start over"].click()
    result = tracer.compute(lab.state)
    assert (result.sizes, result.tries, result.guess) == ((3, 5, 12, 4), (), ())
    lab.buttons["Reset"].click()
    assert lab.picture.value == first
    assert lab.state == lab.first_state


def test_a_state_says_everything():
    lab = from_the_start()
    check(lab, *RIGHT[0])
    check(lab, *RIGHT[2])
    other = from_the_start()
    other.set(**lab.state)
    for drawn in (lab, other):
        drawn.update()
    assert other.picture.value == lab.picture.value


def test_an_array_is_made_once_and_as_its_stage_says():
    lab = from_the_start()
    moves, seen = ('class="mha-cut"', "data-after=", "mha-reveal"), {}
    for stage in range(1, 10):
        lab.buttons["Show"].click()
        seen[tracer.STAGES[stage][0]] = tuple(map(lab.picture.value.count, moves))
        assert ("mha-later" in lab.picture.value) == (stage < 9), "after the last, nothing is asked"
        lab.set(shape="B")
        assert not any(move in lab.picture.value for move in (*moves, "mha-later"))
    assert seen == {
        **dict.fromkeys(("Q", "scores", "weights", "context", "output"), (0, 0, 1)),
        "cut": (4, 6, 0),
        **dict.fromkeys(("queries", "swapped"), (0, 4, 0)),  # all heads but the first wait
        "merged": (0, 0, 0),  # its parts glide together
    }


def test_the_record_is_not_on_the_page():
    lab = from_the_start()

    def shown(widget):
        yield widget
        for child in getattr(widget, "children", ()):
            yield from shown(child)

    on_page = list(shown(lab.widget))
    assert {name for name, control in lab.controls.items() if control not in on_page} == {"record", "wrong", "marked"}


@pytest.mark.parametrize("drawn", [CORNERS, pytest.param(BETWEEN, marks=pytest.mark.slow)], ids=("corners", "between"))
def test_every_stage_of_every_size_is_drawn(drawn):
    for sizes in drawn:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            state = FIRST | dict(zip(tracer.SIZES, sizes, strict=True))
            for _ in range(11):
                picture = tracer.render(tracer.compute(state), None)
                assert picture.sentence, sizes
                state |= tracer._check(state | {"shape": "h"})  # never right, and kept in the record
                assert (
                    ">you</text>" in tracer.render(tracer.compute(state), None).svg or "The end" in picture.sentence
                ), sizes
                state |= tracer._answered(state)
            assert "The end: 0 of" in tracer.sentence(tracer.compute(state)), sizes


def test_each_wrong_axis_is_marked_and_no_other():
    result = tracer.compute(FIRST)
    assert tracer._wrong_axes(("B", "S", "h", "d_head"), 3, result) == [1, 2]
    assert tracer._wrong_axes(("B", "S"), 3, result) == [1, 2, 3], "what is missing is marked, too"
    lab = from_the_start()
    check(lab, "B", "h", "S")
    assert lab.picture.value.count(">≠<") == 2
    lab.set(shape="B, S, h", marked="")  # as a chip does that is moved
    assert ">≠<" not in lab.picture.value


def test_what_is_drawn_of_every_walk_has_room():
    for sizes in DIVIDES:
        B, _, _, h = sizes
        for stage in range(len(STAGES)):
            state = FIRST | dict(zip(tracer.SIZES, sizes, strict=True))
            result = tracer.compute(state | {"record": "; ".join([tracer._written(sizes), *"0" * stage])})
            bars = tracer._bars(result.shapes[stage], STAGES[stage][2])
            assert bars[-1][2] + bars[-1][3] <= tracer.WIDTHS[0], sizes
            slabs = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"',
                               "".join(tracer._array(result, stage)))  # fmt: skip
            assert len(slabs) == B * h, sizes
            x, y, width, height = np.array(slabs, float).T
            assert (x + width).max() <= tracer.ROOM[0], sizes
            assert (y + height).max() <= tracer.ROOM[1] + 8, sizes


def test_each_right_answer_changes_the_array_on_the_desk():
    records = ["; ".join(["2x5x12x3", *"1" * n]) for n in range(len(STAGES) - 1)]
    shown = ["".join(tracer._desk(tracer.compute(FIRST | {"record": record}))) for record in records]
    arrays = [re.findall(r'data-part="slab [^"]*"><rect[^>]*>', picture) for picture in shown]
    assert all(array != other for array, other in pairwise(arrays))
    assert ["@ W_" in picture for picture in shown] == [n in (0, 8) for n in range(len(shown))]


def test_what_is_cut_and_turned_keeps_its_size_and_so_glides():
    sizes = []
    for stage in (1, 2, 3, 6, 7, 8):  # all but scores and weights
        result = tracer.compute(FIRST | {"record": "2x5x12x3; " + "; ".join("0" * stage)})
        slabs = re.findall(r'data-part="(slab [^"]*)"><rect x="[^"]*" y="[^"]*" width="([^"]*)" height="([^"]*)"',
                           "".join(tracer._array(result, stage)))  # fmt: skip
        sizes.append(slabs)
    assert len(sizes[0]) == 6
    assert all(slabs == sizes[0] for slabs in sizes)


def test_swapped_axes_cross():
    before, after = (
        tracer._bars((2, 5, 3, 4), names) for names in (("B", "S", "h", "d_head"), ("B", "h", "S", "d_head"))
    )
    assert tracer._ribbons(before, after, 0).count("<path") == 4


def test_it_is_drawn_fast():
    state = FIRST | {"record": "2x5x12x3; " + "; ".join("0" * 9)}
    times = []
    for _ in range(7):
        start = time.thread_time()
        tracer.render(tracer.compute(state), None)
        times.append(time.thread_time() - start)
    assert min(times) < 0.05  # seconds of the processor's time; about 0.001 on a quiet machine
