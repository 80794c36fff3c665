"""The probes find what they are for, and say so when they are given what they cannot ask."""

import re

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

from mha_helpers.attention import masked_attention, scaled_dot_product_attention, softmax
from mha_helpers.masks import causal_mask
from mha_helpers.probes import largest_gap, leaks, permutation_gap

RNG = np.random.default_rng(0)
X, (W_Q, W_K, W_V) = RNG.normal(size=(6, 5)), RNG.normal(size=(3, 5, 4))


def under(mask):
    return lambda X: masked_attention(X @ W_Q, X @ W_K, X @ W_V, mask)[0]


@given(hnp.arrays(bool, (6, 6)))
def test_exactly_what_a_mask_shows_can_move_an_output(visible):
    # An output also moves with its own query, unless it sees one key alone: then its weight stays 1.
    expected = visible | (np.eye(6, dtype=bool) & (visible.sum(axis=1, keepdims=True) > 1))
    np.testing.assert_array_equal(leaks(under(visible), X) > 1e-9, expected)


def test_a_mask_after_the_softmax_leaks_through_the_denominator():
    def too_late(X):
        return (softmax(X @ W_Q @ (X @ W_K).T / 10) * causal_mask(6)) @ (X @ W_V)

    assert (leaks(too_late, X)[np.triu_indices(6, 1)] > 1e-6).all()


def test_a_leak_is_as_large_as_the_output_moves():
    np.testing.assert_allclose(leaks(lambda X: 2 * X.sum(axis=0) + 0 * X, np.zeros((3, 1)))[:, 0], leaks(
        lambda X: 2 * X, np.zeros((3, 1)))[0, 0])  # fmt: skip


@given(st.permutations(range(6)))
def test_attention_without_a_mask_is_blind_to_order(order):
    assert permutation_gap(lambda X: scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V)[0], X, order) < 1e-12
    assert (permutation_gap(under(causal_mask(6)), X, order) > 0.1) == (order != sorted(order))


@pytest.mark.parametrize(
    ("one", "other", "gap"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0),
        (([1.0], [2.0]), ([1.5], [2.0]), 0.5),
        (([1.0], [2.0]), ([1.0], [2.5]), 0.5),
        ([1e308], [-1e308], np.inf),
        ([np.nan, 1.0], [np.nan, 1.0], 0.0),
        ([np.inf, 1.0], [np.inf, 1.25], 0.25),
        ([True, False], [True, True], 1.0),
    ],
)
def test_the_gap_is_the_largest_difference(one, other, gap):
    assert largest_gap(one, other) == gap


def test_nan_on_one_side_only_is_no_agreement():
    assert np.isnan(largest_gap([np.nan, 1.0], [0.0, 1.0]))


def test_x_is_never_changed():
    kept = X.copy()

    def destroys(X):
        X[:] = 0
        return X

    leaks(destroys, X)
    permutation_gap(destroys, X, range(6))
    np.testing.assert_array_equal(X, kept)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: leaks(lambda X: X, [1.0]), "X has shape (1,); give one sequence, (seq_len, d_model)"),
        (
            lambda: leaks(lambda X: X[:2], X),
            "the function returned shape (2, 5) for X of shape (6, 5); wrap it so that",
        ),
        (lambda: leaks(lambda X: (X, X), X), "the function returned 2 things; wrap it so that it returns the outputs"),
        (lambda: leaks(lambda X: X * np.nan, X), "the function returned NaN or infinity, so nothing can be measured"),
        (lambda: permutation_gap(lambda X: X, X, [0, 1]), "order=[0, 1] is no permutation; give each of the positions"),
        (lambda: permutation_gap(lambda X: X, X[:2], [True, False]), "order=[True, False] is no permutation"),
        (lambda: largest_gap((), ()), "one returned 0 arrays and the other 0"),
        (lambda: largest_gap([], []), "one output has shape (0,) and the other (0,)"),
        (lambda: largest_gap(([1.0], [2.0]), [1.0]), "one returned 2 arrays and the other 1; compare the same outputs"),
        (
            lambda: largest_gap([1.0], [1.0, 2.0]),
            "one output has shape (1,) and the other (2,); compare the same outputs",
        ),
    ],
)
def test_what_cannot_be_asked_is_explained(call, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        call()
