"""The leak detector, driven without a browser."""

import html
import re
import warnings
from importlib import import_module

import numpy as np
import pytest

from live_pictures import style
from mha_helpers.labs.masking.leak_detector import AFTER, CAUSAL, RESCALED, VARIATIONS, WORDS, N, X

detector = import_module("mha_helpers.labs.masking.leak_detector")

FIRST = detector.leak_detector().first_state
SEEN = {
    CAUSAL: np.tri(N, dtype=bool),
    "one too far": np.tri(N, N, 1, dtype=bool),
    "diagonal hidden": np.tri(N, N, -1, dtype=bool),
    "upside down": np.triu(np.ones((N, N), bool)),
    "inverted": ~np.tri(N, dtype=bool),
    RESCALED: np.tri(N, dtype=bool),
    "no mask": np.ones((N, N), bool),
}
NAMES = [CAUSAL, *VARIATIONS]


def state(mask=CAUSAL, token="because"):
    return {"mask": mask, "token": token}


def readout(mask=CAUSAL, token="because", function=None):
    return detector.sentence(detector.compute(state(mask, token), function))


def outputs(changed, name):
    """Attend query by query; the queries are those of the unchanged tokens."""
    rows = []
    for i in range(N):
        seen = np.tri(N, dtype=bool)[i] if name == AFTER else SEEN[name][i]
        scores = np.array([(X[i] @ detector.W_Q) @ (key @ detector.W_K) / 2 for key in changed])
        exponentials = np.exp(scores)
        total = exponentials.sum() if name == AFTER else exponentials[seen].sum()
        weights = exponentials * seen / total if seen.any() else np.zeros(N)
        rows.append(weights @ (changed @ detector.W_V))
    return np.array(rows)


@pytest.mark.parametrize("name", NAMES)
def test_the_moves_are_those_that_numpy_gives(name):
    result = detector.compute(state(name))
    change = np.random.default_rng(0).uniform(0.5, 1.5, X.shape[1])
    for j in range(N):
        changed = X.copy()
        changed[j] += change
        expected = np.abs(outputs(changed, name) - outputs(X, name)).max(axis=1)
        np.testing.assert_allclose(result.moved[:, j], expected, atol=1e-9)


@pytest.mark.parametrize("name", SEEN)
def test_an_output_moves_exactly_when_it_sees_the_changed_token(name):
    result = detector.compute(state(name))
    np.testing.assert_array_equal(result.moved > 1e-9, SEEN[name])
    np.testing.assert_array_equal(result.leaks, SEEN[name] & ~np.tri(N, dtype=bool))
    np.testing.assert_array_equal(result.blind, ~SEEN[name] & np.tri(N, dtype=bool))


def test_hidden_after_the_softmax_everything_moves():
    result = detector.compute(state(AFTER))
    assert (result.moved > 0.01).all()
    assert result.leaks.sum() == N * (N - 1) // 2


@pytest.mark.parametrize("name", NAMES)
def test_whatever_moves_can_be_read_from_the_picture(name):
    moved = detector.compute(state(name)).moved
    assert moved[moved > 1e-9].min() >= 0.01


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("token", WORDS)
def test_every_state_is_drawn_with_its_marks(name, token):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = detector.compute(state(name, token))
        _, _, arcs, table, _ = detector.render(result).svg.split("</svg>")
    place = WORDS.index(token)
    assert arcs.count(">LEAK</text>") == result.leaks[:, place].sum()
    labels = sorted(float(x) for x in re.findall(r'<text x="([\d.]+)"[^>]*>LEAK</text>', arcs))
    assert (np.diff(labels) > 42).all(), "each label is 42 wide"
    assert arcs.count(">blind</text>") == result.blind[:, place].sum()
    assert arcs.count(">moved</text>") == (result.moved[:, place] > 1e-9).sum()
    assert arcs.count('z" fill=') == arcs.count("mha-grow"), "an arrow's head on each line"
    assert {">outputs</text>", ">tokens</text>"} <= set(re.findall(r">\w+</text>", arcs))
    legend = 1
    assert table.count(f'stroke="{style.ALARM}"') == result.leaks.sum() + legend
    assert table.count("stroke-dasharray") == result.blind.sum() + legend


def test_the_first_state_spoils_nothing():
    assert state(CAUSAL) == FIRST
    page = detector.leak_detector().picture.value
    assert not re.search(r">(LEAK|blind)</text>", page)


# ---- the learner's function ------------------------------------------------------------------


def off_by_one(n):
    return np.tri(n, n, 1, dtype=bool)


def strict(n):
    return np.tri(n, n, -1, dtype=bool)


def transposed(n):
    return np.triu(np.ones((n, n), bool))


def inverted(n):
    return ~np.tri(n, dtype=bool)


def nothing_seen(n):
    return np.zeros((n, n), bool)


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda n: np.tri(n, dtype=bool), id="array"),
        pytest.param(lambda n: np.tri(n, dtype=bool).tolist(), id="list"),
    ],
)
def test_a_right_function_is_run(function):
    result = detector.compute(FIRST, function)
    assert (result.notice, result.differs) == ("Running on your causal_mask.", {})
    np.testing.assert_array_equal(result.moved, detector.compute(FIRST).moved)


@pytest.mark.parametrize("function", [off_by_one, strict, transposed, inverted, nothing_seen])
def test_a_wrong_mask_is_used_and_marked(function):
    result = detector.compute(FIRST, function)
    np.testing.assert_array_equal(result.mask, function(N))
    assert "is not right yet (marked ≠)" in result.notice
    wrong = function(N) != np.tri(N)
    np.testing.assert_array_equal(result.differs["mask"], wrong)
    assert detector.render(result).svg.count("≠") == wrong.sum()
    np.testing.assert_array_equal(result.moved > 1e-9, function(N))


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda n: np.tri(n), id="float"),
        pytest.param(lambda n: np.tri(n, dtype=int), id="int"),
        pytest.param(lambda n: np.tri(n, dtype=int).tolist(), id="list"),
        pytest.param(lambda n: np.tri(n).astype(object), id="objects"),
    ],
)
def test_numbers_instead_of_booleans_are_read_and_said(function):
    result = detector.compute(FIRST, function)
    assert result.notice == (
        "Running on your causal_mask. It holds numbers where True and False are asked for; here they are read as "
        "booleans."
    )
    assert not result.differs
    np.testing.assert_array_equal(result.mask, np.tri(N))


def test_the_learners_function_is_called_once():
    calls = []
    detector.compute(FIRST, lambda n: calls.append(n) or np.tri(n))
    assert calls == [N]


@pytest.mark.parametrize(
    ("function", "notice"),
    [
        pytest.param(lambda n: ..., "yours is not written yet", id="stub"),
        pytest.param(lambda n: 1 / 0, "yours stopped with ZeroDivisionError", id="raises"),
        pytest.param(lambda: 1, "yours stopped with TypeError", id="other arguments"),
        pytest.param(lambda n: np.tri(n + 1), "in the right shapes", id="shape"),
        pytest.param(lambda n: "mask", "in the right shapes", id="text"),
        pytest.param(lambda n: [[True], [True, False]], "in the right shapes", id="ragged"),
        pytest.param(
            lambda n: np.where(np.tri(n), 0, -np.inf),
            "yours holds −inf where True or",
            id="additive",
        ),
        pytest.param(lambda n: np.where(np.tri(n), 1, np.nan), "yours holds NaN where True or", id="nan"),
        pytest.param(3, "what was given is not a function but int", id="no function"),
    ],
)
def test_a_function_that_cannot_be_shown_is_replaced(function, notice):
    page = detector.leak_detector(function).picture.value
    assert "Shown with the course&#x27;s own causal_mask: " in page
    assert html.escape(notice) in page
    assert "≠" not in page
    np.testing.assert_array_equal(detector.compute(FIRST, function).moved, detector.compute(FIRST).moved)


@pytest.mark.parametrize("name", VARIATIONS)
def test_a_learners_function_is_not_blamed_for_the_labs_variations(name):
    page = detector.leak_detector(strict)
    page.controls["mask"].value = name
    assert "Shown is a variation of the lab&#x27;s own" in page.picture.value
    assert "≠" not in page.picture.value


# ---- the page --------------------------------------------------------------------------------


def test_reset_brings_back_the_first_picture():
    lab = detector.leak_detector()
    first = lab.picture.value
    lab.set(token="cat", mask="no mask")
    assert lab.picture.value != first
    lab.buttons["Reset"].click()
    assert lab.picture.value == first


def test_a_mask_s_entries_are_said_as_booleans():
    assert "mask[0, 1] should be False; yours is True." in detector.compute(FIRST, off_by_one).notice
    of_numbers = detector.compute(FIRST, lambda n: np.tri(n, k=1)).notice
    assert "mask[0, 1] should be False; yours is 1." in of_numbers
