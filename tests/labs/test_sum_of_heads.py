"""The sum of heads lab, driven without a browser."""

import html
import itertools
import re
import warnings
from importlib import import_module

import numpy as np
import pytest

from mha_helpers import attention
from mha_helpers.labs.sum_of_heads import (
    ABLATIONS,
    ALIKE,
    BLOCKS,
    D_HEAD,
    FULL,
    HEADS,
    N_HEADS,
    NAMES,
    ORDERS,
    OTHER_HEADS,
    STAY,
    W_O,
    WEIGHTS,
    WORDS,
    N,
)

lab_heads = import_module("mha_helpers.labs.sum_of_heads")

FIRST = lab_heads.sum_of_heads().first_state


def computed(function=None, off=(), **state):
    """Return the result for a state; `off` counts heads from 1."""
    return lab_heads.compute(FIRST | {NAMES[h - 1]: False for h in off} | state, function)


def said(**state):
    return lab_heads.sentence(computed(**state))


def states():
    for on in itertools.product((True, False), repeat=N_HEADS):
        for ablation, order, rows, token in itertools.product(ABLATIONS, ORDERS, (STAY, ALIKE), WORDS):
            names = dict(zip(NAMES, on, strict=True))
            yield names | {"heads off": ablation, "order": order, "rows of W_O": rows, "token": token}


# ---- numbers ---------------------------------------------------------------------------------


def test_the_heads_are_those_that_numpy_gives():
    for h, token in itertools.product(range(N_HEADS), range(N)):
        columns = slice(h * D_HEAD, (h + 1) * D_HEAD)
        X = lab_heads._sentences[0]
        queries, keys, values = (X @ matrix[:, columns] for matrix in (lab_heads._W_Q, lab_heads._W_K, lab_heads._W_V))
        exponentials = np.exp(queries[token] @ keys.T / np.sqrt(D_HEAD))
        weights = exponentials / exponentials.sum()
        np.testing.assert_allclose(WEIGHTS[h, token], weights)
        np.testing.assert_allclose(HEADS[h, token], weights @ values)


def test_contributions_and_their_sum_are_those_that_numpy_gives_in_every_state():
    for state in states():
        result = lab_heads.compute(state)
        token, order = WORDS.index(state["token"]), [int(digit) - 1 for digit in state["order"].split()]
        total = np.zeros(N_HEADS * D_HEAD)
        for place, h in enumerate(order):
            vector = HEADS[h, token]
            if not state[NAMES[h]]:
                others = {"zero": 0 * vector, "mean over tokens": HEADS[h].mean(axis=0)}
                vector = others.get(state["heads off"], OTHER_HEADS[h, token])
            rows = h if state["rows of W_O"] == ALIKE else place
            added = vector[0] * W_O[2 * rows] + vector[1] * W_O[2 * rows + 1]
            np.testing.assert_allclose(result.contributions[place], added, atol=1e-12)
            np.testing.assert_allclose(result.weights[place], WEIGHTS[h, token])
            total += added
        np.testing.assert_allclose(result.output, total, atol=1e-12)
        np.testing.assert_allclose(result.missing, FULL[token] - total, atol=1e-12)
        assert result.gap < lab_heads.ROUNDING / 3, "what is printed must not depend on the machine"
        assert not 1e-9 > result.moved > lab_heads.ROUNDING / 3
        assert result.mark is None


def test_all_on_nothing_is_missing():
    for word in WORDS:
        result = computed(token=word)
        assert np.abs(result.missing).max() < 1e-12
        assert "Left over" not in lab_heads.sentence(result)


@pytest.mark.parametrize("rows", [STAY, ALIKE])
@pytest.mark.parametrize("order", [order for order in ORDERS if order != "1 2 3 4"])
def test_permuting_changes_nothing_only_together_with_the_rows(order, rows):
    result, before = computed(order=order, **{"rows of W_O": rows}), computed()
    changed = np.abs(result.product - before.product).max()
    np.testing.assert_allclose(result.moved, changed)
    sentence = lab_heads.sentence(result)
    if rows == ALIKE:
        assert changed < 1e-12
        assert "together with their rows of W_O changes nothing (difference less than 1e−14)." in sentence
    else:
        assert changed > 0.1
        assert f"and not the rows of W_O changes the output by up to {changed:.2f}." in sentence


@pytest.mark.parametrize("head", range(1, N_HEADS + 1))
def test_a_head_switched_off_takes_exactly_its_contribution_away(head):
    result = computed(off=[head])
    np.testing.assert_allclose(result.missing, HEADS[head - 1, result.token] @ BLOCKS[head - 1], atol=1e-12)
    assert "exactly what that head adds." in lab_heads.sentence(result)
    assert "exactly" not in said(off=[head], **{"heads off": "resampled"})


def test_the_mean_takes_the_tokens_apart_from_each_other_no_more():
    result = computed(off=[3], **{"heads off": "mean over tokens"})
    assert np.ptp(result.heads[2], axis=0).max() < 1e-12
    assert np.ptp(result.heads[1], axis=0).min() > 0.1


def test_switched_off_heads_of_zero_can_be_permuted_freely():
    assert "changes nothing" in said(off=[1, 2, 3, 4], order="4 3 2 1")
    assert "Heads 1 to 4 are off (zero)." in said(off=[1, 2, 3, 4])


# ---- sentence and picture --------------------------------------------------------------------


def test_the_first_sentence():
    assert lab_heads.sum_of_heads().description == (
        "Lab: sum of heads. All heads are on. The four contributions to “sees” sum to a vector of length 2.78; "
        "concat @ W_O is the same (largest difference less than 1e−14). Head 2 has the largest weight (0.90, on "
        "“my”), yet adds only length 0.22; head 3 adds most, 2.86: a large weight is no large contribution. Run this "
        "cell to work it."
    )


def test_weight_and_contribution_are_compared_as_they_are():
    """Of the heads that are on, whichever they are."""
    for state in states():
        result = lab_heads.compute(state)
        sentence = lab_heads.sentence(result)
        on = [place for place, h in enumerate(result.order) if state[NAMES[h]]]
        if not on:
            assert "largest weight" not in sentence
            continue
        looks = max(on, key=lambda place: result.weights[place].max())
        adds = max(on, key=lambda place: np.linalg.norm(result.contributions[place]))
        assert f"Head {result.order[looks] + 1} has the largest weight" in sentence
        assert ("adds most, too" in sentence) == (looks == adds)
        if looks != adds:
            assert f"head {result.order[adds] + 1} adds most" in sentence


def test_both_verdicts_occur():
    assert "a large weight is no large contribution" in said()
    assert "and adds most, too" in said(token="it")


def test_every_state_is_drawn_without_a_warning():
    for state in itertools.islice(states(), 0, None, 7):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = lab_heads.compute(state)
            svg = lab_heads.render(result).svg
        assert svg.count(": off</text>") == (~result.on).sum()
        assert svg.count("not its own") == sum(h != b for h, b in zip(result.order, result.blocks, strict=True))
        numbers = re.findall(r">(−?[\d.]+(?:e[+−]\d+)?)</text>", svg)
        assert max(map(len, numbers)) <= 6


@pytest.mark.parametrize(
    ("value", "written"),
    [(0, "less than 1e−14"), (4e-15, "less than 1e−14"), (2e-7, "2e−07"), (0.25, "0.2500"), (np.nan, "NaN")],
)
def test_small_differences_are_written_as_what_they_are(value, written):
    assert lab_heads.tiny(value) == written


def test_toggles_say_on_and_off():
    lab = lab_heads.sum_of_heads()
    toggle = lab.controls["head 3"]
    assert toggle.description == "head 3: on"
    toggle.value = False
    assert toggle.description == "head 3: off"
    assert "Head 3 is off (zero)." in lab.picture.value
    lab.buttons["Reset"].click()
    assert toggle.description == "head 3: on"


def test_reset_brings_back_the_first_picture():
    lab = lab_heads.sum_of_heads()
    first = lab.picture.value
    lab.set(order="4 3 2 1", token="it", **{"head 1": False, "heads off": "resampled", "rows of W_O": ALIKE})
    assert lab.picture.value != first
    lab.buttons["Reset"].click()
    assert lab.picture.value == first
    assert not re.findall(r"\bid=", first)


# ---- the learner's function ------------------------------------------------------------------


def same_block(heads, W_O):
    return heads @ W_O[: heads.shape[-1]]


def columns(heads, W_O):
    return np.stack([head @ W_O[:, 2 * h : 2 * h + 2].T for h, head in enumerate(heads)])


def last_token_wrong(heads, W_O):
    contributions = attention.head_contributions(heads, W_O)
    contributions[2, -1, 5] += 1
    return contributions


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda heads, W_O: attention.head_contributions(heads, W_O), id="array"),
        pytest.param(lambda heads, W_O: attention.head_contributions(heads, W_O).tolist(), id="list"),
        pytest.param(lambda heads, W_O: attention.head_contributions(np.float32(heads), np.float32(W_O)), id="float32"),
        pytest.param(
            lambda heads, W_O: [head @ W_O[2 * h : 2 * h + 2] for h, head in enumerate(heads)], id="loop"
        ),
    ],
)  # fmt: skip
def test_a_right_function_is_run(function):
    result = computed(function)
    assert (result.notice, result.mark) == ("Running on your head_contributions.", None)
    assert "concat @ W_O is the same" in lab_heads.sentence(result)


@pytest.mark.parametrize("function", [same_block, columns])
def test_a_wrong_function_is_run_and_marked(function):
    result = computed(function)
    wanted = computed().contributions
    np.testing.assert_array_equal(result.contributions, function(HEADS, W_O)[:, result.token])
    assert result.mark == tuple(np.argwhere(~np.isclose(result.contributions, wanted, atol=1e-5))[0])
    assert "is not right yet (marked ≠)" in result.notice
    assert lab_heads.render(result).svg.count("≠") == 1
    assert "concat @ W_O is something else" in lab_heads.sentence(result)


def test_a_cell_of_another_token_is_said():
    result = computed(last_token_wrong)
    assert result.mark is None
    assert "≠ Your first wrong cell is another token&#x27;s." in lab_heads.render(result).svg
    assert computed(last_token_wrong, token="it").mark == (2, 5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
def test_numbers_of_any_kind_are_drawn(bad):
    def function(heads, W_O):
        contributions = attention.head_contributions(heads, W_O)
        contributions[0] = bad
        return contributions

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = lab_heads.render(computed(function)).html()  # no widget: ipywidgets 7 warns of its own accord
    assert ("cannot be added up" in page) == (not np.isfinite(bad))


@pytest.mark.parametrize(
    ("function", "notice"),
    [
        pytest.param(lambda heads, W_O: ..., "yours is not written yet", id="stub"),
        pytest.param(lambda heads, W_O: 1 / 0, "yours stopped. Python said ZeroDivisionError", id="raises"),
        pytest.param(lambda heads: heads, "yours stopped. Python said TypeError", id="other arguments"),
        pytest.param(lambda heads, W_O: heads, "in the right shapes", id="shape"),
        pytest.param(lambda heads, W_O: "sum", "in the right shapes", id="text"),
        pytest.param(3, "what was given is not a function but int", id="no function"),
    ],
)
def test_a_function_that_cannot_be_shown_is_replaced(function, notice):
    page = lab_heads.sum_of_heads(function).picture.value
    assert "Shown with the course&#x27;s own head_contributions: " in page
    assert html.escape(notice) in page
    assert "≠" not in page
