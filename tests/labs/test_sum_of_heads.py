"""The sum of heads lab, driven without a browser."""

import html
import itertools
import re
import warnings
from importlib import import_module

import numpy as np
import pytest

from mha_helpers import attention, running_example
from mha_helpers.labs.output_projection.sum_of_heads import (
    ABLATIONS,
    ALIKE,
    BLOCKS,
    D_HEAD,
    EXCHANGED,
    FULL,
    HEADS,
    IN_ORDER,
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
from mha_helpers.labs.output_projection.sum_of_heads import D_MODEL as N_FEATURES

lab_heads = import_module("mha_helpers.labs.output_projection.sum_of_heads")

OTHERS = "another sentence's"
FIRST = lab_heads.sum_of_heads().first_state


def computed(function=None, off=(), **state):
    """Return the result for a state; `off` names heads."""
    return lab_heads.compute(FIRST | {NAMES[h]: False for h in off} | state, function)


def readout(**state):
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
        matrices = running_example.W_Q, running_example.W_K, running_example.W_V
        queries, keys, values = (running_example.X @ matrix[:, columns] for matrix in matrices)
        exponentials = np.exp(queries[token] @ keys.T / np.sqrt(D_HEAD))
        weights = exponentials / exponentials.sum()
        np.testing.assert_allclose(WEIGHTS[h, token], weights)
        np.testing.assert_allclose(HEADS[h, token], weights @ values)


def test_contributions_and_their_sum_are_those_that_numpy_gives_in_every_state():
    for state in states():
        result = lab_heads.compute(state)
        token, order = WORDS.index(state["token"]), [int(digit) for digit in state["order"].split(", ")]
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
        assert result.gap < 1e-12
        assert not 1e-9 > result.moved > 1e-12
        assert result.mark is None


def test_all_on_nothing_is_missing():
    for word in WORDS:
        result = computed(token=word)
        assert np.abs(result.missing).max() < 1e-12
        assert "Left over" not in lab_heads.sentence(result)


@pytest.mark.parametrize("rows", [STAY, ALIKE])
@pytest.mark.parametrize("order", [order for order in ORDERS if order != IN_ORDER])
def test_permuting_changes_nothing_only_together_with_the_rows(order, rows):
    result, before = computed(order=order, **{"rows of W_O": rows}), computed()
    changed = np.abs(result.product - before.product).max()
    np.testing.assert_allclose(result.moved, changed)
    sentence = lab_heads.sentence(result)
    if rows == ALIKE:
        assert changed < 1e-12
        assert "together with their rows of W_O changes nothing." in sentence
    else:
        assert changed > 0.1
        assert f"and not the rows of W_O changes the output by up to {changed:.2f}." in sentence


@pytest.mark.parametrize("head", range(N_HEADS))
def test_a_head_switched_off_takes_exactly_its_contribution_away(head):
    result = computed(off=[head])
    np.testing.assert_allclose(result.missing, HEADS[head, result.token] @ BLOCKS[head], atol=1e-12)


def test_the_mean_takes_the_tokens_apart_from_each_other_no_more():
    result = computed(off=[1], **{"heads off": "mean over tokens"})
    assert np.ptp(result.heads[1], axis=0).max() < 1e-12
    assert np.ptp(result.heads[0], axis=0).min() > 0.1


def test_switched_off_heads_of_zero_can_be_permuted_freely():
    assert "changes nothing" in readout(off=[0, 1], order=EXCHANGED)


# ---- sentence and picture --------------------------------------------------------------------


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
        assert f"Head {result.order[looks]} has the largest weight" in sentence
        assert ("adds most, too" in sentence) == (looks == adds)
        if looks != adds:
            assert f"head {result.order[adds]} adds most" in sentence


def test_every_state_is_drawn_without_a_warning():
    for state in itertools.islice(states(), 0, None, 7):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = lab_heads.compute(state)
            svg = lab_heads.render(result).svg
        assert svg.count(">off: ") == (~result.on).sum()
        assert svg.count("not its own") == sum(h != b for h, b in zip(result.order, result.blocks, strict=True))
        numbers = re.findall(r">(−?[\d.]+(?:e[+−]\d+)?)</text>", svg)
        assert max(map(len, numbers)) <= 6


@pytest.mark.parametrize("token", WORDS)
def test_bars_stand_tip_to_tail_and_end_at_the_sum(token):
    result = computed(token=token)
    svg, unit, zero = lab_heads.render(result).svg, lab_heads.UNIT, lab_heads.ZERO
    for feature, output in enumerate(result.output):
        start = 0
        for place in range(N_HEADS):
            added = result.contributions[place, feature]
            assert f' x="{zero + unit * start:g}"' in svg
            assert f'width="{unit * added:g}"' in svg or added < 1e-12
            start += added
        assert f"M{zero + unit * output:.1f} " in svg
        assert f">= {output:.2f}</text>" in svg


def test_it_is_said_where_rounded_numbers_seem_not_to_add_up():
    for state in states():
        result = lab_heads.compute(state)
        sums = [f"{sum(float(f'{part:.2f}') for part in parts):.2f}" for parts in result.contributions.T]
        wrong = sum(seems != f"{is_:.2f}" for seems, is_ in zip(sums, result.output, strict=True))
        assert lab_heads.render(result).svg.count("rounded</text>") == wrong
    assert lab_heads.render(computed()).svg.count("rounded</text>") == 1, "0.87 + 0.94 = 1.82"


def test_where_the_bars_come_from_is_written_out():
    svg = lab_heads.render(computed()).svg
    assert ">= [0.87, 1.58, 0, 0]</text>" in svg
    assert ">= [0.94, 0, 1.88, 0]</text>" in svg
    for place, adds in enumerate(computed().contributions):
        assert f">length {np.linalg.norm(adds):.2f}</text>" in svg, place


def test_a_head_that_is_off_is_lifted_out():
    svg = lab_heads.render(computed(off=[1])).svg
    assert svg.count("mha-arrive") == N_FEATURES
    assert [word for word in ("was 1.82", "was 1.88") if word in svg] == ["was 1.82", "was 1.88"]
    ghosts = re.findall(r"<g data-also=\"([^\"]*)\"[^>]*><g class=\"mha-arrive\"", svg)
    assert {html.unescape(sets) for sets in ghosts} == {'{"head 1": true}'}, "a press puts it back"
    assert "mha-arrive" not in lab_heads.render(computed()).svg


def test_reset_brings_back_the_first_picture():
    lab = lab_heads.sum_of_heads()
    first = lab.picture.value
    lab.set(order=EXCHANGED, token="sat", **{"head 1": False, "heads off": OTHERS, "rows of W_O": ALIKE})
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
    contributions[1, -1, 3] += 1
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


@pytest.mark.parametrize("function", [same_block, columns])
def test_a_wrong_function_is_run_and_marked(function):
    result = computed(function)
    wanted = computed().contributions
    np.testing.assert_array_equal(result.contributions, function(HEADS, W_O)[:, result.token])
    np.testing.assert_array_equal(result.mark, result.contributions.round(2) != wanted.round(2))
    assert lab_heads.render(result).svg.count("≠") == result.mark.sum()


def test_a_cell_of_another_token_is_not_marked_here():
    assert not computed(last_token_wrong, token=WORDS[0]).mark.any()
    assert np.argwhere(computed(last_token_wrong, token=WORDS[-1]).mark).tolist() == [[1, 3]]


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
        pytest.param(lambda heads, W_O: 1 / 0, "yours stopped with ZeroDivisionError", id="raises"),
        pytest.param(lambda heads: heads, "yours stopped with TypeError", id="other arguments"),
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
