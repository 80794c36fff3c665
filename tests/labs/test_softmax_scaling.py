"""The softmax and sqrt(d_k) lab, driven without a browser."""

import html
import itertools
import json
import math
import re
import warnings
from collections import Counter
from importlib import import_module

import numpy as np
import pytest

from live_pictures import svg
from mha_helpers import attention
from mha_helpers.labs.scaling.softmax_scaling import compute, render, sentence, softmax_scaling

scaling = import_module("mha_helpers.labs.scaling.softmax_scaling")

FIRST = softmax_scaling().first_state
D_K = [2**power for power in range(10)]
CONSTANTS = [-1000, 0, 10, 100, 1000]


def result(function=None, **changes):
    return compute(FIRST | changes, function)


def naive_softmax(scores):
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def softmax_over_rows(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=0)


def last_two_swapped(scores):
    weights = attention.softmax(scores)
    return np.concatenate([weights[..., :-2], weights[..., :-3:-1]], axis=-1)


def filled(value):
    return lambda scores: np.full(scores.shape, value)


def marks(page):
    return page.count(">≠</text>")


# ---- numbers ---------------------------------------------------------------------------------


def test_it_starts_saturated_and_unscaled():
    assert FIRST == {"d_k": 64, "divisor": "none", "add": 0, "draw": 1}


@pytest.mark.parametrize("added", CONSTANTS)
@pytest.mark.parametrize(
    ("divided_by", "divisor"),
    [("none", 1), ("sqrt(d_k)", math.sqrt(32)), ("d_k", 32), ("sqrt(d_model)", math.sqrt(512))],
)
def test_the_numbers_are_numpys(divided_by, divisor, added):
    shown = result(d_k=32, divisor=divided_by, add=added, draw=7)
    queries, keys = np.random.default_rng([7, scaling.SEED]).standard_normal((2, 25, 8, 512))[..., :32]
    rows = np.roll(np.einsum("sqd,skd->sqk", queries, keys).reshape(200, 8), -scaling.SHOWN, axis=0)
    weights = np.exp(rows / divisor) / np.exp(rows / divisor).sum(axis=1, keepdims=True)
    entropies = -(weights * np.log(weights)).sum(axis=1)
    norms = [np.sqrt(((np.diag(p) - np.outer(p, p)) ** 2).sum()) for p in weights]
    table = np.stack([entropies, weights.max(axis=1), norms], axis=1)
    sequence, query = divmod(scaling.SHOWN, 8)
    np.testing.assert_allclose(shown.raw, queries[sequence, query] @ keys[sequence].T)
    np.testing.assert_allclose(shown.scores, rows[0] / divisor + added)
    np.testing.assert_allclose(shown.weights, weights[0], atol=1e-12)
    np.testing.assert_allclose(shown.stable, weights[0], atol=1e-12)
    np.testing.assert_allclose(shown.measured, table[0], atol=1e-12)
    np.testing.assert_allclose(shown.usual, table.mean(axis=0), atol=1e-12)
    assert shown.spread == pytest.approx(rows.std())


@pytest.mark.parametrize("d_k", D_K)
def test_scores_spread_by_sqrt_d_k(d_k):
    spreads = [result(d_k=d_k, draw=draw).spread for draw in range(1, 31)]
    assert np.mean(spreads) == pytest.approx(math.sqrt(d_k), rel=0.03)


def test_the_scores_that_are_kept_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        result().raw[0] = 0


def test_the_same_keys_move_outwards_as_d_k_grows_and_the_divisor_holds_them_back():
    def places(d_k, divisor, y):
        drawn = render(result(d_k=d_k, divisor=divisor)).svg
        return [float(x) for x in re.findall(rf'<circle data-part="dot \d" cx="([\d.]+)" cy="{y}"', drawn)]

    unit = scaling.REACH / scaling.LIMIT
    for d_k in D_K:
        np.testing.assert_allclose(
            places(d_k, "none", scaling.UNDIVIDED_Y), scaling.ZERO + unit * result(d_k=d_k).raw, atol=0.06
        )
    apart = [np.ptp(places(d_k, "none", scaling.UNDIVIDED_Y)) for d_k in D_K[2:]]
    assert (np.diff(apart) > 0).all(), "the axis is one"
    largest = [result(d_k=d_k).weights.max() for d_k in D_K]
    assert (np.diff(largest) > -0.03).all()
    assert largest[0] < 0.4
    assert largest[-1] > 0.99
    assert max(np.ptp(places(d_k, "sqrt(d_k)", scaling.DIVIDED_Y)) for d_k in D_K) < 0.2 * apart[-1]
    more, fewer = scaling.sample_scores(1, 8), scaling.sample_scores(1, 4)
    rng = np.random.default_rng([1, scaling.SEED]).standard_normal((2, 25, 8, 512))[..., 4:8]
    added = np.roll(np.einsum("sqd,skd->sqk", *rng).reshape(200, 8), -scaling.SHOWN, axis=0)
    np.testing.assert_allclose(more - fewer, added, err_msg="the same keys, with more numbers")


def test_what_is_beyond_the_axis_stands_at_its_end():
    for draw in range(1, 31):
        drawn = render(result(d_k=512, draw=draw)).svg
        dots = re.findall(r'<circle data-part="dot \d" cx="([\d.]+)"', drawn)
        assert len(dots) == 8
        assert all(0 <= float(x) - scaling.ZERO + scaling.REACH <= 2 * scaling.REACH for x in dots)


@pytest.mark.parametrize("divisor", [*scaling.DIVISORS][1:])
def test_a_divisor_is_a_switch(divisor):
    lab = softmax_scaling()
    on, off = re.findall(
        r'data-switch="([^"]*)" data-off="([^"]*)"[^>]*data-name="divide by ' + re.escape(divisor), lab.picture.value
    )[0]
    lab.set(**json.loads(html.unescape(on)))
    assert lab.state["divisor"] == divisor
    lab.set(**json.loads(html.unescape(off)))
    assert lab.state["divisor"] == "none"


def test_ghosts_stand_where_the_undivided_scores_and_weights_are():
    shown = result(divisor="sqrt(d_k)")
    np.testing.assert_allclose(shown.undivided, attention.softmax(shown.raw))
    np.testing.assert_allclose(shown.undivided_measured, scaling.measure(shown.undivided))
    drawn = render(shown).svg
    undivided, divided = (
        np.sort([float(x) for x in re.findall(rf'<circle [^>]*?cx="([\d.]+)" cy="{y}"', drawn)]) - scaling.ZERO
        for y in (scaling.UNDIVIDED_Y, scaling.DIVIDED_Y)
    )
    np.testing.assert_allclose(undivided / undivided.max(), np.sort(shown.raw) / shown.raw.max(), atol=0.005)
    np.testing.assert_allclose(undivided, 8 * divided, atol=0.5, err_msg="sqrt(64) times as far out")
    heights = [f'height="{scaling.MAX_BAR * weight:g}" fill="none"' in drawn for weight in shown.undivided]
    assert heights == (shown.undivided >= scaling.MIN_GHOST).tolist()
    assert True in heights
    assert False in heights


def test_each_number_stands_under_its_own_bar_and_what_was_above_all():
    for d_k, draw in itertools.product(D_K, range(1, 31)):
        shown = result(d_k=d_k, divisor="sqrt(d_k)", draw=draw)
        drawn = render(shown).svg
        for j, weight in enumerate(shown.weights):
            middle = j * scaling.COLUMN + 17
            assert re.search(
                rf'<text x="{middle}" y="(\d+)"[^>]*font-weight="bold">{svg.short(weight, 2)}</text>', drawn
            )
        largest = shown.undivided.argmax()
        [(x, y)] = re.findall(r'<text x="(\d+)" y="([\d.]+)"[^>]*font-size="11">undivided</text>', drawn)
        assert abs(int(x) - largest * scaling.COLUMN - 17) <= 13, "moved by as much as the picture's edges ask for"
        assert float(y) - 12 > 18, "the two lines stay below the title"
        assert float(y) < scaling.FLOOR - scaling.MAX_BAR * shown.weights[largest] - 3, "and above the bar"


@pytest.mark.parametrize("divisor", ["none", "sqrt(d_k)"])
def test_the_largest_score_has_its_keys_name(divisor):
    shown = result(divisor=divisor)
    largest = shown.raw.argmax()
    assert shown.weights.argmax() == largest
    names = Counter(re.findall(r">key (\d)<", render(shown).svg))  # each below its bar
    assert names - Counter("01234567") == Counter(str(largest))


def test_where_nothing_is_divided_nothing_is_called_divided():
    drawn = render(result(divisor="none")).svg
    assert re.findall(r">(÷ [\d?.]+|undivided)</text>", drawn) == ["undivided", "÷ ?", "undivided"]
    assert "→" not in drawn
    assert drawn.count("<circle") == scaling.N_KEYS + 1, "and the handle of d_k"
    both = render(result(divisor="sqrt(d_k)")).svg
    assert sorted(re.findall(r">(÷ [\d?.]+|undivided)</text>", both)) == ["undivided"] * 3 + ["÷ 8"] * 2
    assert both.count("<circle") == 2 * scaling.N_KEYS + 1


def test_unscaled_gradients_vanish_as_d_k_grows_and_scaled_ones_do_not():
    unscaled = [result(d_k=d_k).usual[-1] for d_k in D_K[3:]]
    assert (np.diff(unscaled) < 0).all()
    assert unscaled[-1] < 0.1
    assert all(result(d_k=d_k, divisor="sqrt(d_k)").usual[-1] > 0.3 for d_k in D_K)


@pytest.mark.parametrize("added", CONSTANTS)
def test_a_constant_changes_no_weight(added):
    np.testing.assert_allclose(result(add=added).weights, result().weights, atol=1e-12)


def test_with_d_model_features_a_head_both_roots_are_one():
    by_d_k, other = (result(d_k=512, divisor=divisor) for divisor in ("sqrt(d_k)", "sqrt(d_model)"))
    np.testing.assert_array_equal(by_d_k.weights, other.weights)


# ---- what is said ----------------------------------------------------------------------------


@pytest.mark.parametrize("d_k", D_K)
def test_unscaled_is_not_called_worse_at_a_small_d_k(d_k):
    for draw in range(1, 31):
        readout = sentence(result(d_k=d_k, draw=draw))
        assert (f"At d_k = {d_k} a divisor hardly matters" in readout) == (d_k <= 4), draw
        assert d_k > 4 or "hardly any gradient" not in readout, draw


@pytest.mark.parametrize(("added", "why"), [(1000, "inf; inf / inf is NaN"), (-1000, "0; 0 / 0 is NaN")])
def test_overflow_and_underflow_are_said(added, why):
    shown = result(add=added)
    assert np.isnan(shown.naive).all()
    drawn = render(shown).svg
    assert why in drawn
    assert drawn.count(">NaN</text>") == 8
    assert drawn.count(">inf</text>") == (8 if added > 0 else 0)


@pytest.mark.parametrize("added", [0, 10, 100])
def test_where_nothing_overflows_both_ways_agree(added):
    shown = result(add=added, d_k=512)
    np.testing.assert_allclose(shown.naive, shown.stable)
    assert ("Both ways agree" in render(shown).svg) == (added != 0), "large scores are a matter of their own"
    assert "NaN" not in render(shown).html()


# ---- the learner's softmax -------------------------------------------------------------------


def test_a_right_softmax_is_run():
    assert result(attention.softmax).notice == "Shown with the course's own softmax."
    assert result(naive_softmax).notice == "Running on your softmax."


@pytest.mark.parametrize(
    ("function", "wrong"), [(softmax_over_rows, [*range(8)]), (last_two_swapped, [6, 7]), (filled(np.nan), [*range(8)])]
)
def test_a_wrong_softmax_is_marked_where_it_visibly_differs(function, wrong):
    shown = result(function, divisor="sqrt(d_k)")
    assert np.flatnonzero(shown.differs["weights"]).tolist() == wrong
    assert marks(render(shown).svg) == len(wrong)
    assert marks(render(result(attention.softmax)).svg) == 0


def test_a_softmax_that_overflows_is_marked_where_it_does():
    assert not result(naive_softmax, add=100).differs
    shown = result(naive_softmax, add=1000)
    assert shown.differs["weights"].all()


def test_what_does_not_sum_to_1_is_not_measured_in_words():
    negative = result(lambda scores: 1.5 * np.eye(1, 8) - 0.5 * np.eye(1, 8, 1))
    assert np.isnan(negative.measured).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -3.0, 0.0, 1e9, 1e308, -1e308])
def test_any_weights_can_be_drawn(value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = render(result(filled(value))).html()
    assert marks(page) >= 1
    drawn = [float(height) for height in re.findall(r'<rect [^>]*height="([^"]*)"', page)]
    assert 0 <= min(drawn) <= max(drawn) <= scaling.MAX_BAR, "a bar stays on its axis"


# ---- the controls ----------------------------------------------------------------------------


def test_another_query_goes_to_the_next_draw_and_round():
    lab = softmax_scaling()
    first = lab.picture.value
    lab.buttons["Another query"].click()
    assert lab.state == FIRST | {"draw": 2}
    assert lab.picture.value != first
    lab.controls["draw"].value = lab.controls["draw"].max
    lab.buttons["Another query"].click()
    assert lab.picture.value == first


@pytest.mark.parametrize("d_k", D_K)
def test_every_combination_is_drawn_without_a_warning(d_k):
    numbers = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for divisor, added, draw in itertools.product(scaling.DIVISORS, CONSTANTS, (1, 17, 30)):
            picture = render(result(d_k=d_k, divisor=divisor, add=added, draw=draw))
            numbers += re.findall(r">(−?[\d.]+(?:e[+−]\d+)?)</text>", picture.svg)
    assert max(map(len, numbers)) <= 6, "a number must fit its cell"


def test_the_controls_are_those_that_are_tested():
    controls = softmax_scaling().controls
    assert [list(controls[name].options) for name in ("d_k", "divisor", "add")] == [
        D_K, list(scaling.DIVISORS), CONSTANTS,
    ]  # fmt: skip
    assert (controls["draw"].min, controls["draw"].max) == (1, 30)
