"""The split lab, driven without a browser."""

import html
import itertools
import json
import re
import time
import warnings
from importlib import import_module

import numpy as np
import pytest

from mha_helpers.attention import split_heads
from mha_helpers.labs.splitting.split_lab import HEADS, LENGTHS, MERGE, RESHAPE, SPLIT, START, STEPS, WIDTHS

splitting = import_module("mha_helpers.labs.splitting.split_lab")

FIRST = splitting.split_lab().first_state
AT_SPLIT = FIRST | {"step": SPLIT}
NOTHING = splitting.Shown((), "", "", "", None)
EVERY = [
    {"heads": heads, "d_model": d_model, "tokens": tokens, "step": step, "token": tokens - 1, "feature": 3}
    for heads, d_model, tokens, step in itertools.product(HEADS, WIDTHS, LENGTHS, STEPS)
]
DIVIDES = [state for state in EVERY if state["d_model"] % state["heads"] == 0]


def wrong_split(X, n_heads):
    return X.reshape(n_heads, X.shape[0], -1)


def strided(X, n_heads):
    return np.stack([X[:, head::n_heads] for head in range(n_heads)])


def reversed_heads(X, n_heads):
    return np.stack(np.split(X, n_heads, axis=-1))[::-1]


def by_loops(X, n_heads):
    d_head = X.shape[-1] // n_heads
    return [[[row[head * d_head + i] for i in range(d_head)] for row in X.tolist()] for head in range(n_heads)]


def merged_by_loops(heads):
    """Each token's heads side by side, entry by entry."""
    return [[entry for head in heads for entry in head[token]] for token in range(len(heads[0]))]


def at(function=None, **changed):
    return splitting.compute(AT_SPLIT | changed, function)


def readout(function=None, **changed):
    return splitting.sentence(at(function, **changed))


def values(shown):
    """Return the entries that a way shows, block after block."""
    return np.stack([block.values for block in shown.blocks])


# ---- the numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize("state", [state for state in DIVIDES if state["step"] == SPLIT], ids=str)
def test_the_entries_are_those_of_loops(state):
    result = splitting.compute(state)
    X = [[100 * token + feature for feature in range(state["d_model"])] for token in range(state["tokens"])]
    np.testing.assert_array_equal(result.X, X)
    np.testing.assert_array_equal(result.heads["right"], by_loops(np.array(X), state["heads"]))
    flat, d_head = [entry for row in X for entry in row], state["d_model"] // state["heads"]
    size = state["tokens"] * d_head
    for head, wrong in enumerate(result.heads["wrong"]):
        np.testing.assert_array_equal(wrong.ravel(), flat[head * size : (head + 1) * size])


@pytest.mark.parametrize("state", [state for state in DIVIDES if state["step"] == MERGE], ids=str)
def test_combine_heads_gives_X_back_from_right_heads_only(state):
    result = splitting.compute(state)
    for way, heads in result.heads.items():
        [merged] = values(result.columns[way])
        np.testing.assert_array_equal(merged, merged_by_loops(heads.tolist()))
        assert (
            (merged.tolist() == result.X.tolist())
            is result.columns[way].is_good
            is (way == "right" or state["heads"] == 1)
        )
    hidden = result.heads["wrong"].reshape(result.X.shape)  # what the read-out says of two mistakes
    np.testing.assert_array_equal(hidden, result.X)


def test_each_step_shows_the_array_that_its_code_makes():
    for state in DIVIDES:
        result = splitting.compute(state)
        X = result.X
        for shown in result.columns.values():
            if state["step"] in (START, MERGE):
                continue
            array = eval(shown.code, {"X": X})
            assert f"shape {array.shape}" in shown.about, state
            np.testing.assert_array_equal(values(shown), array, str(state))


# ---- what is said ----------------------------------------------------------------------------


def test_what_a_way_holds_is_said():
    result = at()
    assert result.columns["right"].verdict == "Each head: its own features of every token."
    assert result.columns["wrong"].verdict == "Head 0 holds only cat, sat, mat."
    assert at(heads=4, d_model=4, tokens=4).columns["wrong"].verdict == "Head 0 holds only cat."


@pytest.mark.parametrize(
    ("head", "text"),
    [
        ([[0, 1], [2, 3], [100, 101]], "Head 0 holds only cat and sat."),
        ([[0, 2], [100, 102], [200, 202]], "Head 0 holds other heads' features."),
        ([[0, np.nan], [0, 1], [1, 2]], "Head 0 holds numbers that are not X's."),
        ([[0, 0.5], [0, 1], [1, 2]], "Head 0 holds numbers that are not X's."),
    ],
)
def test_any_wrong_head_is_described(head, text):
    X = 100.0 * np.arange(3)[:, None] + np.arange(4)
    assert splitting._mixed(np.array(head, float), X, 2) == text


def test_the_followed_entry_is_where_the_sentence_says():
    for state, token in itertools.product((state for state in DIVIDES if state["step"] == SPLIT), range(5)):
        result = splitting.compute(state | {"token": token})
        token = min(token, state["tokens"] - 1)
        assert result.entry == 100 * token + 3, state
        right, wrong = (
            next(i for i, head in enumerate(heads) if result.entry in head) for heads in result.heads.values()
        )
        if state["heads"] > 1:
            where = f"{right} either way" if right == wrong else f"{right} when right, in head {wrong} when wrong"
            assert f"feature 3) is in head {where}." in splitting.sentence(result), state
        svg = splitting.render(result).svg
        assert svg.count(f'font-weight="bold">{result.entry:.0f}</text>') == 4, "in X and in a head, right and wrong"


# ---- cells travel ----------------------------------------------------------------------------


def test_every_cell_is_one_part_through_all_steps_and_so_travels():
    expected = sorted(f"{way} {value:.0f}" for way in ("right", "wrong") for value in at().X.ravel())
    for step in STEPS:
        cells = re.findall(r'data-part="((?:right|wrong) \d+)"', splitting.render(at(step=step)).svg)
        assert sorted(cells) == expected, step


def test_a_right_head_has_one_colour_and_a_wrong_one_is_mixed():
    result = at(heads=2, d_model=4)
    for way, mixed in (("right", False), ("wrong", True)):
        colours = [{splitting.fill(int(value % 100) // 2) for value in head.ravel()} for head in result.heads[way]]
        assert all((len(found) > 1) == mixed for found in colours)
        assert all(f'fill="{found}"' in splitting.render(result).svg for found in set.union(*colours))


def test_neighbouring_heads_differ_in_lightness():
    for head in range(max(HEADS) - 1):
        assert splitting.style.contrast(splitting.fill(head), splitting.fill(head + 1)) > 1.4
        assert splitting.style.contrast(splitting.fill(head), splitting.style.INK) > 4.5


def test_rows_have_the_names_of_their_tokens():
    right, wrong = (at().columns[way].blocks for way in ("right", "wrong"))
    assert {block.rows for block in right} == {("cat", "sat", "mat", "because", "it")}
    assert [block.rows for block in wrong] == [
        ("cat", "cat", "sat", "sat", "mat"),
        ("mat", "because", "because", "it", "it"),
    ]
    drawn = splitting.render(at()).svg
    assert (drawn.count(">cat</text>"), drawn.count(">it</text>")) == (2 + 1 + 2, 2 + 1 + 2), (
        "of X, of right heads, and of wrong ones"
    )
    mixed = splitting._whose(np.array([[0.0, 100], [np.nan, 0], [5, 5], [200, 203]]), at().X)
    assert mixed == ("", "", "", "mat")


@pytest.mark.parametrize(("n_heads", "d_model"), [(2, 4), (4, 8), (3, 6), (1, 4)])
def test_x_is_still_seen_with_its_cuts_where_heads_are_cut(n_heads, d_model):
    state = FIRST | {"heads": n_heads, "d_model": d_model}
    result = splitting.compute(state)
    right, wrong = ("".join(splitting._lines(way, result, 10, 0, splitting.TRAIL)) for way in ("right", "wrong"))
    across = [splitting.NAMES + 10 * head * result.d_head for head in range(1, n_heads)]
    assert right == "".join(f"M{x} 0V{5 * splitting.TRAIL}" for x in across), "through all tokens"
    ends = [divmod(head * 5 * result.d_head, d_model) for head in range(1, n_heads)]
    assert [
        (int(y) // splitting.TRAIL, (int(x) - splitting.NAMES) // 10) for x, y in re.findall(r"H(\d+)V(\d+)", wrong)
    ] == [end for end in ends if end[1]], "after so many numbers"
    heights = {
        re.findall(r'height="(\d+)"', splitting.render(splitting.compute(state | {"step": step})).svg)[0]
        for step in STEPS
    }
    assert len(heights) == 1, "the handle stays under the pointer"
    drawn = splitting.render(splitting.compute(state | {"step": START})).svg
    high = splitting.CELL_HEIGHT
    for way in ("right", "wrong"):
        place = splitting._places(result.columns[way], splitting._width(result), splitting.compute(state))[0][0]
        assert f'd="{"".join(splitting._lines(way, result, place[2], splitting.HEADING, high))}"' in drawn


def test_it_opens_on_the_question_and_plays_all_of_it():
    lab = splitting.split_lab()
    assert FIRST["step"] == START
    assert lab.thumbnail_state["step"] == SPLIT
    assert splitting.split_lab(split_heads).first_state["step"] == SPLIT, "what one's own makes is seen at once"
    lab.set(step=SPLIT)
    play = html.unescape(re.search(r'data-sets="([^"]*)"[^>]*data-play="Next"', lab.picture.value)[1])
    assert json.loads(play) == {"step": START}


def test_the_legend_names_frames_where_there_are_some():
    assert "frame: the head it ends up in" in splitting.render(at()).svg
    assert "frame: " not in splitting.render(at(step=START)).svg
    assert all("entry = 100 × token + feature" in splitting.render(at(step=step)).svg for step in STEPS)


# ---- every state -----------------------------------------------------------------------------


@pytest.mark.parametrize("function", [None, wrong_split, strided, by_loops], ids=lambda f: f and f.__name__)
def test_every_state_is_drawn(function):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for state in EVERY:
            result = splitting.compute(state, function)
            page = splitting.render(result).html()
            assert len(result.columns) == (0 if result.error else 2 + (function is not None))
            differs = [b.differs.sum() for b in result.columns.get("yours", NOTHING).blocks if b.differs is not None]
            assert page.count(">≠<") + page.count("l-9 9z") == sum(differs), state


def test_heads_that_do_not_divide_show_the_courses_error():
    error = "ValueError: d_model=8 is not divisible by n_heads=3; choose 1, 2, 4 or 8 heads"
    picture = splitting.render(at(wrong_split, heads=3, d_model=8))
    assert " ".join(re.findall(r">([^<>]+)</text>", picture.svg)) == error
    assert picture.sentence == f"{error}."
    assert picture.notice == "Nothing is split: 3 heads cannot share 8 features equally."


def test_it_is_drawn_fast():
    state = FIRST | {"heads": 2, "d_model": 8, "tokens": 5, "step": MERGE}
    times = []
    for _ in range(7):
        start = time.thread_time()
        splitting.render(splitting.compute(state, wrong_split))
        times.append(time.thread_time() - start)
    assert min(times) < 0.05  # seconds of the processor's time; about 0.004 on a quiet machine


# ---- the learner's function ------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS)
def test_a_right_function_has_its_own_column_without_marks(step):
    result = at(by_loops, step=step)
    assert result.notice == "Running on your split_heads."
    np.testing.assert_array_equal(result.heads["yours"], result.heads["right"])
    drawn = splitting.render(result).svg
    assert ">YOURS</text>" in drawn
    assert "≠" not in drawn


@pytest.mark.parametrize("function", [wrong_split, strided, reversed_heads])
@pytest.mark.parametrize("step", [SPLIT, MERGE])
def test_a_wrong_function_is_marked_where_it_differs(function, step):
    result = at(function, step=step, d_model=8)
    shown = result.columns["yours"]
    wanted = [result.X] if step == MERGE else result.heads["right"]
    for block, right in zip(shown.blocks, wanted, strict=True):
        np.testing.assert_array_equal(block.differs, block.values != right)
    assert not shown.is_good
    assert "Yours" in splitting.sentence(result) or step == MERGE


@pytest.mark.parametrize("step", [RESHAPE, SPLIT])
def test_yours_is_what_it_returns_from_the_second_step_on(step):
    np.testing.assert_array_equal(values(at(strided, step=step).columns["yours"]), at(strided).heads["yours"])
    [start] = values(at(strided, step=START).columns["yours"])
    np.testing.assert_array_equal(start, at().X)


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf, -3, 1e9, 0.25, 1e300])
def test_strange_numbers_are_shown(strange):
    def function(X, n_heads):
        heads = wrong_split(X, n_heads)
        heads[0, 0, 0] = strange
        return heads

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for step in (SPLIT, MERGE):
            svg = splitting.render(at(function, step=step)).svg
            assert "≠" in svg or "l-9 9z" in svg


@pytest.mark.parametrize(
    ("function", "notice"),
    [
        pytest.param(..., "yours is not written yet", id="ellipsis"),
        pytest.param(lambda X, n_heads: ..., "yours is not written yet", id="stub"),
        pytest.param(lambda X, n_heads: X / 0 @ X[0, 0], "yours stopped with ValueError", id="raises"),
        pytest.param(lambda X: X, "yours stopped with TypeError", id="other arguments"),
        pytest.param(lambda X, n_heads: X, "in the right shapes", id="shape"),
        pytest.param(lambda X, n_heads: "heads", "in the right shapes", id="text"),
        pytest.param(lambda X, n_heads: None, "yours is not written yet", id="none"),
        pytest.param(3, "what was given is not a function but int", id="no function"),
    ],
)
def test_a_function_that_cannot_be_shown_has_no_column(function, notice):
    page = splitting.split_lab(function).picture.value
    assert html.escape("Shown with the course's own split_heads: ") in page
    assert html.escape(notice) in page
    assert ">YOURS<" not in page
    assert "≠" not in page


# ---- the controls ----------------------------------------------------------------------------


def test_the_fields_of_the_followed_entry_end_where_X_ends():
    lab = splitting.split_lab()
    lab.set(tokens=5, d_model=8, step=SPLIT)
    lab.set(token=4, feature=7)
    assert "Entry 407 (“it”, feature 7)" in lab.readout.value
    lab.controls["tokens"].value = 2
    lab.controls["d_model"].value = 6
    assert (lab.state["token"], lab.state["feature"]) == (1, 5)
    assert "Entry 105 (“sat”, feature 5)" in lab.readout.value


def test_reset_brings_back_the_first_picture():
    lab = splitting.split_lab()
    first = lab.picture.value
    lab.set(tokens=2, d_model=6, heads=6, step=MERGE)
    lab.set(token=0, feature=5)
    assert lab.picture.value != first
    lab.buttons["Reset"].click()
    assert lab.picture.value == first
    assert lab.state == FIRST
