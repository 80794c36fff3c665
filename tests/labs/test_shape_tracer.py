"""The shape tracer, driven without a browser."""

import itertools
import time
import warnings
from importlib import import_module

import numpy as np
import pytest

from mha_helpers.labs.shape_tracer import AXES, STAGES

tracer = import_module("mha_helpers.labs.shape_tracer")

FIRST = tracer.shape_tracer().first_state
SIZES = list(itertools.product((1, 2, 3), range(2, 7), (4, 6, 8, 12), range(1, 7)))
DIVIDES = [sizes for sizes in SIZES if sizes[2] % sizes[3] == 0]
RIGHT = [(2, 5, 12), (2, 5, 3, 4), (2, 3, 5, 4), (2, 3, 5, 5), (2, 3, 5, 5), (2, 3, 5, 4), (2, 5, 3, 4)]
RIGHT += [(2, 5, 12), (2, 5, 12)]


def fill(lab, *guess):
    lab.set(**dict(zip(AXES, (*guess, 0, 0, 0, 0), strict=False)))


def check(lab, *guess):
    fill(lab, *guess)
    lab.buttons["Check"].click()
    return tracer.sentence(tracer.compute(lab.state))


def sized(B=2, S=5, d_model=12, h=3):
    lab = tracer.shape_tracer()
    lab.set(B=B, S=S, d_model=d_model, h=h)
    return lab


# ---- the shapes ------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", DIVIDES, ids=str)
def test_the_shapes_are_those_of_numpy(sizes):
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
    assert tracer.trace(*sizes) == (tuple(array.shape for array in arrays), ())
    sizes_of = {"B": B, "S": S, "d_model": d_model, "h": h, "d_head": d_head, "S queries": S, "S keys": S}
    for array, (_, _, axes, _) in zip(arrays, STAGES, strict=True):
        assert array.shape == tuple(sizes_of[axis] for axis in axes)


@pytest.mark.parametrize("sizes", [sizes for sizes in SIZES if sizes not in DIVIDES], ids=str)
def test_heads_that_do_not_divide_are_refused_by_numpy_and_the_course(sizes):
    B, S, d_model, h = sizes
    shapes, (numpys, courses) = tracer.trace(*sizes)
    assert shapes == ((B, S, d_model), (B, S, d_model), None)
    with pytest.raises(ValueError, match="cannot reshape") as error:
        np.ones(sizes[:3]).reshape(B, S, h, d_model // h)
    assert numpys == f"ValueError: {error.value}"
    assert courses.startswith(f"ValueError: d_model={d_model} is not divisible by n_heads={h}; choose 1, 2")


# ---- the walk --------------------------------------------------------------------------------


def test_the_first_state_asks_and_tells_nothing():
    lab = tracer.shape_tracer()
    assert "Stage 1 of 9: what is the shape of Q?" in lab.readout.value
    assert "d_head =" not in lab.picture.value
    assert "first try" not in lab.picture.value


def test_a_walk_without_a_mistake():
    lab = tracer.shape_tracer()
    for stage, guess in enumerate(RIGHT, 1):
        said = check(lab, *guess)
        name = STAGES[stage][0]
        assert said.startswith(f"Right: {name} is {guess}: ")
        if stage < 9:
            assert f"Stage {stage + 1} of 9: what is the shape of {STAGES[stage + 1][0]}?" in said
            assert f"So far {stage} of {stage} right at the first try." in said
    assert said.endswith("The end: 9 of 9 right at the first try.")
    assert lab.picture.value.count("✓ first try") == 9


def test_the_score_counts_first_tries_only():
    lab = tracer.shape_tracer()
    check(lab, 2, 5, 12)
    check(lab, 2, 3, 5, 4)
    check(lab, 2, 5, 3, 4)  # at the second try
    lab.buttons["Show"].click()
    for guess in RIGHT[3:]:
        said = check(lab, *guess)
    result = tracer.compute(lab.state)
    assert result.tries == (1, 2, 0, 1, 1, 1, 1, 1, 1)
    assert said.endswith("The end: 7 of 9 right at the first try.")
    page = lab.picture.value
    assert (page.count("✓ first try"), page.count("✓ try 2"), page.count(">shown<")) == (7, 1, 1)


def test_show_gives_the_answer_and_goes_on():
    lab = tracer.shape_tracer()
    lab.buttons["Show"].click()
    said = tracer.compute(lab.state), tracer.sentence(tracer.compute(lab.state))
    assert said[0].score == 0
    assert said[1].startswith("Shown: Q is (2, 5, 12): a product changes the last axis only. Stage 2 of 9:")
    assert "So far 0 of 1 right at the first try." in said[1]


def test_show_after_a_mistake_is_not_a_try():
    lab = tracer.shape_tracer()
    check(lab, 1)
    lab.buttons["Show"].click()
    check(lab, *RIGHT[1])
    assert tracer.compute(lab.state).tries == (0, 1)


def test_nothing_is_counted_after_the_end():
    lab = tracer.shape_tracer()
    for _ in range(9):
        lab.buttons["Show"].click()
    page = lab.picture.value
    lab.buttons["Show"].click()
    lab.buttons["Check"].click()
    assert lab.picture.value == page
    assert "The end: 0 of 9 right at the first try." in page


@pytest.mark.parametrize(
    ("before", "guess", "why"),
    [
        (0, (2, 5), "Q has 3 axes, not 2: a product changes the last axis only."),
        (0, (2, 5, 4), "Axis 2 of Q is not 4: it counts a token's features, all heads together;"),
        (0, (3, 5, 12), "Axis 0 of Q is not 3: it counts sequences in the batch;"),
        (0, (), "Q has a shape. Fill in its axes from axis 0 on; all four at 0 means that NumPy refuses."),
        (1, (2, 5, 12), "cut has 4 axes, not 3: the last axis is cut in two."),
        (1, (2, 3, 5, 4), "Axis 1 of cut is not 3: it counts tokens; the last axis is cut in two. Your numbers are"),
        (1, (2, 5, 3, 5), "A reshape keeps all 120 numbers; yours has 150."),
        (2, (2, 5, 3, 4), "Axis 1 of queries is not 5: it counts heads; heads go before tokens. Your numbers are "),
        (3, (2, 3, 5, 4), "Axis 3 of scores is not 4: it counts tokens that are asked; each query meets each key"),
        (5, (2, 3, 5, 5), "Axis 3 of context is not 5: it counts one head's features, d_model / h;"),
        (7, (2, 5, 3, 4), "merged has 3 axes, not 4: h and d_head become one axis."),
        (7, (2, 5, 4), "Axis 2 of merged is not 4:"),
    ],
)
def test_the_wrong_axis_is_named(before, guess, why):
    lab = tracer.shape_tracer()
    for right in RIGHT[:before]:
        check(lab, *right)
    said = check(lab, *guess)
    assert why in said
    assert "Stage" not in said, "the stage is not left"
    assert tracer.compute(lab.state).stage == before + 1
    assert str(RIGHT[before]) not in said, "the answer is not given away"
    assert "≠" in lab.picture.value, "it is marked where it stands"


def test_zeros_between_axes_are_left_out():
    lab = tracer.shape_tracer()
    lab.set(**{"axis 0": 2, "axis 1": 0, "axis 2": 5, "axis 3": 12})
    assert tracer.compute(lab.state).guess == (2, 5, 12)


# ---- heads that do not divide ----------------------------------------------------------------


def test_an_error_is_an_answer():
    lab = sized(h=5)
    check(lab, 2, 5, 12)
    assert "cannot reshape" not in lab.picture.value
    said = check(lab, 2, 5, 5, 2)
    assert said.startswith("Not (2, 5, 5, 2). There is no such array: the features cannot be cut into this many equal")
    said = check(lab)
    numpys = "ValueError: cannot reshape array of size 120 into shape (2,5,5,2)"
    assert said == (
        f"Right: NumPy refuses: {numpys}. The end: 1 of 2 right at the first try. There is no further stage."
    )
    assert f">{numpys}</text>" in lab.picture.value
    assert ">ValueError: d_model=12 is not divisible by n_heads=5; choose 1, 2, 3, 4, 6 or 12 heads<" in (
        lab.picture.value
    )
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
    lab = tracer.shape_tracer()
    check(lab, 2, 5, 12)
    lab.controls["S"].value = 6
    assert "The sizes have changed: the walk starts anew. Stage 1 of 9" in lab.picture.value
    lab.controls["S"].value = 5
    assert "Stage 2 of 9" in lab.picture.value
    lab.controls["S"].value = 6
    assert "So far" not in check(lab, 2, 5, 12)
    assert "1 of 1" not in check(lab, 2, 6, 12)
    assert tracer.compute(lab.state).tries == (2,)


def test_a_right_answer_empties_the_fields_so_that_it_does_not_answer_the_next_stage_too():
    lab = tracer.shape_tracer()
    for shape in RIGHT[:4]:  # the fifth is as the fourth
        check(lab, *shape)
    assert tracer.compute(lab.state).guess == ()
    check(lab, 2, 3, 5)  # wrong: what was filled in stays
    assert tracer.compute(lab.state).guess == (2, 3, 5)


def test_start_over_keeps_the_sizes_and_reset_does_not():
    lab = tracer.shape_tracer()
    first = lab.picture.value
    lab.set(B=3, h=4)
    check(lab, 3, 5)
    lab.buttons["Start over"].click()
    result = tracer.compute(lab.state)
    assert (result.sizes, result.tries, result.guess) == ((3, 5, 12, 4), (), (3, 5))
    lab.buttons["Reset"].click()
    assert lab.picture.value == first
    assert lab.state == lab.first_state


def test_a_state_says_everything():
    lab = tracer.shape_tracer()
    check(lab, 2, 5, 12)
    check(lab, 2, 3, 5, 4)
    other = tracer.shape_tracer()
    other.set(**lab.state)
    assert other.picture.value == lab.picture.value


def test_the_record_is_not_on_the_page():
    lab = tracer.shape_tracer()

    def shown(widget):
        yield widget
        for child in getattr(widget, "children", ()):
            yield from shown(child)

    on_page = list(shown(lab.widget))
    assert lab.controls["record"] not in on_page
    assert all(control in on_page for name, control in lab.controls.items() if name != "record")


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_every_stage_of_every_size_is_drawn(sizes):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state = FIRST | dict(zip(tracer.SIZES, sizes, strict=True))
        for _ in range(11):
            picture = tracer.render(tracer.compute(state))
            assert picture.sentence
            state |= tracer._check(state | dict.fromkeys(AXES, 7))  # never right, and kept in the record
            assert ">you</text>" in tracer.render(tracer.compute(state)).svg or "The end" in picture.sentence
            state |= tracer._show(state)
        assert "The end: 0 of" in tracer.sentence(tracer.compute(state))


def test_each_wrong_axis_is_marked_and_no_other():
    assert tracer._wrong_axes((2, 5, 3, 4), (2, 3, 5, 4)) == [1, 2]
    assert [*tracer._wrong_axes((2, 5), (2, 3, 5, 4))] == [0, 1]


def test_bars_are_to_scale():
    widths = {size: width for _, size, _, width in tracer._bars((4, 6, 12), ("h", "S", "d_model"))}
    assert widths[12] == 2 * widths[6] == 3 * widths[4]


@pytest.mark.parametrize("sizes", DIVIDES, ids=str)
def test_the_bars_of_every_walk_are_to_one_scale_and_fit(sizes):
    state = FIRST | dict(zip(tracer.SIZES, sizes, strict=True))
    state |= {"record": "; ".join([tracer._written(sizes), *["show"] * 9])}
    result = tracer.compute(state)
    unit = tracer._unit(result)
    for shape, (_, _, names, _) in zip(result.shapes, STAGES, strict=True):
        bars = tracer._bars(shape, names, unit)
        assert [width for *_, width in bars] == [unit * size for size in shape]
        assert bars[-1][2] + bars[-1][3] <= tracer.END + 1e-9
    assert unit > 14, "S=2 has room for its label"


def test_swapped_axes_cross():
    before, after = (
        tracer._bars((2, 5, 3, 4), names) for names in (("B", "S", "h", "d_head"), ("B", "h", "S", "d_head"))
    )
    assert tracer._ribbons(before, after, 0).count("<path") == 4


def test_it_is_drawn_fast():
    state = FIRST | {"record": "2x5x12x3; " + "; ".join(["show"] * 9)}
    times = []
    for _ in range(7):
        start = time.perf_counter()
        tracer.render(tracer.compute(state))
        times.append(time.perf_counter() - start)
    assert min(times) < 0.05  # seconds; about 0.001 on a quiet machine
