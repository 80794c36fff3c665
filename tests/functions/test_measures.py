"""Measures of attention against their definitions, written out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mha_helpers.attention import softmax, softmax_jacobian
from mha_helpers.measures import dot_product_variance, entropy, head_entropy, jacobian_norm, previous_token_score

ROWS = hnp.arrays(float, hnp.array_shapes(min_dims=1, max_dims=3, max_side=5), elements=st.floats(-30, 30)).map(softmax)

WEIGHTS = (
    st.tuples(st.sampled_from([(), (2,), (2, 3)]), st.integers(2, 5))
    .flatmap(lambda sizes: hnp.arrays(float, (*sizes[0], sizes[1], sizes[1]), elements=st.floats(-30, 30)))
    .map(softmax)
)


@given(hnp.arrays(float, (2, 5, 3), elements=st.floats(-10, 10)))
def test_the_variance_is_the_mean_squared_distance_from_the_mean(pair):
    scores = [sum(q * k for q, k in zip(*rows, strict=True)) for rows in zip(*pair, strict=True)]
    mean = sum(scores) / len(scores)
    expected = sum((score - mean) ** 2 for score in scores) / len(scores)
    assert dot_product_variance(*pair) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("d_head", [1, 16, 100])
def test_independent_entries_give_a_variance_of_d_head(d_head):
    queries, keys = np.random.default_rng(0).normal(size=(2, 20_000, d_head))
    assert dot_product_variance(queries, keys) == pytest.approx(d_head, rel=0.03)


@given(ROWS)
def test_entropy_is_its_sum(weights):
    expected = [-sum(p * math.log(p) for p in row if p > 0) for row in weights.reshape(-1, weights.shape[-1]).tolist()]
    np.testing.assert_allclose(entropy(weights), np.reshape(expected, weights.shape[:-1]), atol=1e-9)
    assert (entropy(weights) <= math.log(weights.shape[-1]) + 1e-9).all()


@pytest.mark.parametrize(("weights", "expected"), [([1.0, 0.0], 0.0), ([0.25] * 4, math.log(4)), ([0.0, 0.0], 0.0)])
def test_entropy_at_its_ends(weights, expected):
    found = entropy(weights)
    assert found == pytest.approx(expected)
    assert not np.signbit(found)


@given(WEIGHTS)
def test_a_heads_entropy_is_the_mean_of_its_rows(weights):
    assert head_entropy(weights).shape == weights.shape[:-2]
    expected = [np.mean([entropy(row) for row in weights[place]]) for place in np.ndindex(weights.shape[:-2])]
    np.testing.assert_allclose(head_entropy(weights).ravel(), expected, atol=1e-9)


@given(WEIGHTS)
def test_the_previous_token_score_is_its_sum(weights):
    n_tokens = weights.shape[-1]
    expected = np.zeros(weights.shape[:-2])
    for *place, i in np.ndindex(*expected.shape, n_tokens):
        if i > 0:
            expected[tuple(place)] += weights[(*place, i, i - 1)] / (n_tokens - 1)
    np.testing.assert_allclose(previous_token_score(weights), expected, atol=1e-9)


@pytest.mark.parametrize("offset", [-2, -1, 0, 1])
def test_only_a_head_that_looks_one_token_back_has_a_score(offset):
    assert previous_token_score(np.eye(5, k=offset)) == (offset == -1)


@given(ROWS)
def test_the_norm_is_that_of_the_jacobian_of_each_row(weights):
    rows = weights.reshape(-1, weights.shape[-1])
    expected = [np.linalg.norm(softmax_jacobian(row)) for row in rows]
    np.testing.assert_allclose(jacobian_norm(weights).ravel(), expected, atol=1e-12)


@pytest.mark.parametrize("measure", [entropy, jacobian_norm])
def test_nan_stays_visible_in_its_row_alone(measure):
    found = measure([[np.nan, 0.5], [0.5, 0.5]])
    np.testing.assert_array_equal(np.isnan(found), [True, False])


def test_pairs_must_be_pairs():
    with pytest.raises(ValueError, match="n_pairs=3"):
        dot_product_variance(np.ones((2, 4)), np.ones((3, 4)))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((3, 4), "so n_tokens=4, but .* has n_tokens=3"),
        ((2, 1, 1), r"weights has shape \(2, 1, 1\), and one token has none before it; give two or more"),
        ((3,), r"its axes must be \(..., n_tokens, n_tokens\)"),
    ],
)
def test_a_previous_token_needs_square_weights_of_two_tokens(shape, message):
    with pytest.raises(ValueError, match=message):
        previous_token_score(np.ones(shape))


@pytest.mark.parametrize("measure", [entropy, head_entropy, jacobian_norm])
def test_a_negative_weight_is_refused(measure):
    with pytest.raises(ValueError, match=r"a weight is -0.5; give weights as softmax returns them"):
        measure([[1.5, -0.5]])


@pytest.mark.parametrize("measure", [entropy, head_entropy, jacobian_norm, previous_token_score])
def test_float32_stays_float32(measure):
    assert measure(np.full((4, 4), 0.25, np.float32)).dtype == np.float32
