"""The split lab, driven without a browser."""

import html
import itertools
import re
import time
import warnings
from importlib import import_module

import numpy as np
import pytest

from mha_helpers.labs.split_lab import HEADS, LENGTHS, MEMORY, MERGE, RESHAPE, SPLIT, STEPS, WIDTHS

splitting = import_module("mha_helpers.labs.split_lab")

FIRST = splitting.split_lab().first_state
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
    return splitting.compute(FIRST | changed, function)


def said(function=None, **changed):
    return splitting.sentence(at(function, **changed))


def captions(shown):
    return [" ".join(caption).strip() for caption in shown.captions]


# ---- the numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize("state", [state for state in DIVIDES if state["step"] == SPLIT], ids=str)
def test_the_entries_are_those_of_loops(state):
    result = splitting.compute(state)
    X = [[100 * token + feature for feature in range(state["d_model"])] for token in range(state["tokens"])]
    np.testing.assert_array_equal(result.X, X)
    np.testing.assert_array_equal(result.heads["Right"], by_loops(np.array(X), state["heads"]))
    flat, d_head = [entry for row in X for entry in row], state["d_model"] // state["heads"]
    size = state["tokens"] * d_head
    for head, wrong in enumerate(result.heads["Wrong"]):
        np.testing.assert_array_equal(wrong.ravel(), flat[head * size : (head + 1) * size])


@pytest.mark.parametrize("state", [state for state in DIVIDES if state["step"] == MERGE], ids=str)
def test_two_wrongs_give_X_back_and_one_does_not(state):
    result = splitting.compute(state)
    combined, straight = ([shown.array for shown in pair] for pair in zip(*result.columns.values(), strict=True))
    for merged, heads in zip(combined, result.heads.values(), strict=True):
        np.testing.assert_array_equal(merged, merged_by_loops(heads.tolist()))
    right_right, wrong_right, right_wrong, wrong_wrong = (array.tolist() for array in (*combined, *straight))
    assert right_right == wrong_wrong == result.X.tolist()
    assert (wrong_right == result.X.tolist()) is (state["heads"] == 1)
    assert (right_wrong == result.X.tolist()) is (state["heads"] == 1)
    assert {array.shape for array in (*combined, *straight)} == {result.X.shape}


@pytest.mark.parametrize(
    ("step", "way", "line"),
    [
        (MEMORY, "Right", "strides: token +6, feature +1"),
        (MEMORY, "Wrong", "strides: token +6, feature +1"),
        (RESHAPE, "Right", "strides: token +6, head +2, feature +1"),
        (RESHAPE, "Wrong", "strides: head +10, row +2, feature +1"),
        (SPLIT, "Right", "strides: head +2, token +6, feature +1"),
        (SPLIT, "Wrong", "strides: head +10, row +2, feature +1"),
    ],
)
def test_strides_are_said_in_entries(step, way, line):
    [shown] = at(heads=3, d_model=6, tokens=5, step=step).columns[way]
    assert shown.lines[-1] == line
    # The first entry is 0, at 0 in memory: the next one along an axis says by itself how far on it is.
    nexts = [shown.array[tuple(axis)] for axis in np.eye(shown.array.ndim, dtype=int)]
    assert re.findall(r"\+(\d+)", line) == [f"{entry // 100 * 6 + entry % 100:.0f}" for entry in nexts]


def test_a_view_is_told_from_a_copy():
    result = at(heads=2, step=MERGE)
    owners = {way: [shown.lines[1].split(", ")[-1] for shown in both] for way, both in result.columns.items()}
    assert owners == {"Right": ["a view of X", "a copy"], "Wrong": ["a copy", "a view of X"]}
    for both in result.columns.values():
        for shown in both:
            assert np.shares_memory(shown.array, result.X) is ("view" in shown.lines[1])
    for step in (MEMORY, RESHAPE, SPLIT):
        result = at(step=step)
        for [shown] in result.columns.values():
            assert np.shares_memory(shown.array, result.X)
            assert shown.lines[1].endswith("X itself" if step == MEMORY else "a view of X")


def test_the_last_reshape_copies_where_new_heads_are_merged():
    """The note at the merge step: attention's context is no view of X."""
    context = np.ones((2, 4, 4)) @ at().heads["Right"]
    assert not np.shares_memory(context.swapaxes(0, 1).reshape(4, 4), context)


# ---- what is said ----------------------------------------------------------------------------


def test_captions_say_what_a_head_holds():
    result = at()
    assert captions(result.columns["Right"][0]) == [
        "head 0 holds features 0–1 of every token",
        "head 1 holds features 2–3 of every token",
    ]
    assert captions(result.columns["Wrong"][0]) == ["head 0 holds tokens {0, 1}", "head 1 holds tokens {2, 3}"]


@pytest.mark.parametrize(
    ("head", "text"),
    [
        ([[0], [100], [200]], ("feature 0", "of every token")),
        ([[0, 2], [100, 102], [200, 202]], ("features 0, 2", "of every token")),
        ([[0, 1], [2, 3], [100, 101]], ("tokens {0, 1}", "(in part)")),
        ([[100, 101], [102, 103]], ("token {1}", "")),
        ([[0, 0], [100, 100], [200, 200]], ("tokens {0, 1, 2}", "(in part)")),
        ([[0, np.nan]], ("numbers that", "are not X's")),
        ([[0, 0.5]], ("numbers that", "are not X's")),
    ],
)
def test_any_head_is_described(head, text):
    X = 100.0 * np.arange(3)[:, None] + np.arange(4)
    assert splitting.holds(np.array(head, float), X) == text


def test_the_sentences():
    assert said() == (
        "Wrong: head 0 holds tokens {0, 1}, so it can compare only these. Entry 102 (token 1, feature 2) is in head 1 "
        "when right, in head 0 when wrong."
    )
    assert "head 0 holds token {0}, so it can compare it only with itself" in said(heads=4)
    assert "Entry 203 (token 2, feature 3) is in head 1 either way." in said(token=2, feature=3)
    assert said(step=MEMORY).startswith("In memory X is one row of 16 numbers, token after token. Entry 102 (token 1, ")
    assert "is number 6 of them, counted from 0." in said(step=MEMORY)
    assert "is at [1, 1, 0] (token, head, feature) when right, and at [0, 3, 0] when wrong" in said(step=RESHAPE)
    assert said(step=MERGE) == (
        "Right split and combine_heads give X back. So do both wrong ones, the split and the merge without transpose: "
        "every shape is right, and X is there again. Right split, wrong merge: entry 102 (token 1, feature 2) lands at "
        "token 2, feature 2."
    )
    assert "right and wrong are the same" in said(heads=1)


@pytest.mark.parametrize("state", [state for state in DIVIDES if state["step"] == SPLIT], ids=str)
@pytest.mark.parametrize("token", range(6))
def test_the_followed_entry_is_where_the_sentence_says(state, token):
    result = splitting.compute(state | {"token": token})
    token = min(token, state["tokens"] - 1)
    assert result.entry == 100 * token + 3
    right, wrong = (next(i for i, head in enumerate(heads) if result.entry in head) for heads in result.heads.values())
    if state["heads"] > 1:
        where = f"{right} either way" if right == wrong else f"{right} when right, in head {wrong} when wrong"
        assert f"(token {token}, feature 3) is in head {where}." in splitting.sentence(result)
    # Once in memory, once each when right and when wrong.
    assert splitting.render(result).svg.count('stroke-width="3"') == 3


# ---- every state -----------------------------------------------------------------------------


@pytest.mark.parametrize("function", [None, wrong_split, strided, by_loops], ids=lambda f: f and f.__name__)
def test_every_state_is_drawn(function):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for state in EVERY:
            result = splitting.compute(state, function)
            page = splitting.render(result).html()
            assert len(result.columns) == (0 if result.error else 2 + (function is not None))
            marked = function is not None and not result.error and "not right yet" in result.notice
            assert page.count(">≠<") == marked, state


def test_heads_that_do_not_divide_show_the_courses_error():
    error = "ValueError: d_model=8 is not divisible by n_heads=3; choose 1, 2, 4 or 8 heads"
    picture = splitting.render(at(wrong_split, heads=3, d_model=8))
    assert f">{error}</text>" in picture.svg
    assert picture.sentence == f"{error}."
    assert picture.notice == "Nothing is split: 3 heads cannot share 8 features equally."


def test_it_is_drawn_fast():
    state = FIRST | {"heads": 2, "d_model": 12, "tokens": 6, "step": MERGE}
    times = []
    for _ in range(7):
        start = time.perf_counter()
        splitting.render(splitting.compute(state, wrong_split))
        times.append(time.perf_counter() - start)
    assert min(times) < 0.05  # seconds; about 0.004 on a quiet machine


# ---- the learner's function ------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS)
def test_a_right_function_has_its_own_column_without_marks(step):
    result = at(by_loops, step=step)
    assert result.notice == "Running on your split_heads."
    np.testing.assert_array_equal(result.heads["Yours"], result.heads["Right"])
    drawn = splitting.render(result).svg
    assert ">YOURS</text>" in drawn
    assert "≠" not in drawn


@pytest.mark.parametrize("function", [wrong_split, strided, reversed_heads])
@pytest.mark.parametrize("step", STEPS)
def test_a_wrong_function_is_marked_at_its_first_wrong_cell(function, step):
    result = at(function, step=step, d_model=8)
    first = result.columns["Yours"][0]
    wanted = result.X if step == MERGE else result.heads["Right"]
    assert first.differs == tuple(np.argwhere(first.array != wanted)[0])
    assert "is not right yet (marked ≠): heads[" in result.notice
    assert splitting.render(result).svg.count("≠") == 1
    assert step in (MEMORY, RESHAPE) or "Your" in splitting.sentence(result)


def test_where_the_learner_has_the_entry_is_said():
    assert said(strided).endswith("in head 0 when wrong. Yours has it in head 0.")
    assert said(lambda X, n_heads: np.zeros((2, 4, 2))).endswith("Yours does not hold it.")
    assert said(wrong_split, step=MERGE).endswith("Your split and combine_heads do not.")
    assert said(by_loops, step=MERGE).endswith("Your split and combine_heads give X back.")


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf, -3, 1e9, 0.25, 1e300])
def test_strange_numbers_are_shown(strange):
    def function(X, n_heads):
        heads = wrong_split(X, n_heads)
        heads[0, 0, 0] = strange
        return heads

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for step in STEPS:
            assert "≠" in splitting.render(at(function, step=step)).svg


@pytest.mark.parametrize(
    ("function", "notice"),
    [
        pytest.param(..., "yours is not written yet", id="ellipsis"),
        pytest.param(lambda X, n_heads: ..., "yours is not written yet", id="stub"),
        pytest.param(lambda X, n_heads: X / 0 @ X[0, 0], "yours stopped. Python said ValueError", id="raises"),
        pytest.param(lambda X: X, "yours stopped. Python said TypeError", id="other arguments"),
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


def test_the_sliders_of_the_followed_entry_end_where_X_ends():
    lab = splitting.split_lab()
    lab.set(tokens=6, d_model=12)
    lab.set(token=5, feature=11)
    assert "Entry 511 (token 5, feature 11)" in lab.picture.value
    lab.controls["tokens"].value = 2
    lab.controls["d_model"].value = 6
    assert (lab.state["token"], lab.state["feature"]) == (1, 5)
    assert "Entry 105 (token 1, feature 5)" in lab.picture.value


def test_reset_brings_back_the_first_picture():
    lab = splitting.split_lab()
    first = lab.picture.value
    lab.set(tokens=2, d_model=12, heads=6, step=MERGE)
    lab.set(token=0, feature=11)
    assert lab.picture.value != first
    lab.buttons["Reset"].click()
    assert lab.picture.value == first
    assert lab.state == FIRST
