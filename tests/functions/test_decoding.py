import itertools

import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from strategies import GENERATORS, self_attention_inputs

from mha_helpers.attention import softmax
from mha_helpers.decoding import appended, attend_with_cache, embed_new, next_token_probabilities

LOGITS = np.random.default_rng(0).normal(scale=3, size=(2, 3, 7))


# --- next_token_probabilities ---


# Quarters: some are equal, and others not too near each other to be told apart when divided.
ROWS = hnp.arrays(
    float, hnp.array_shapes(max_dims=3, max_side=5), elements=st.integers(-4000, 4000).map(lambda n: n / 4)
)


@given(ROWS | ROWS.map(np.sign), st.floats(0.1, 5), st.none() | st.integers(1, 7))
def test_probabilities_agree_with_the_loops(logits, temperature, top_k):
    found = next_token_probabilities(logits, temperature=temperature, top_k=top_k)
    assert_allclose(found, oracle.next_token_probabilities(logits, temperature, top_k), atol=1e-12)


def test_the_lowest_temperatures_leave_the_likeliest():
    for dtype in (np.float32, np.float64):
        found = next_token_probabilities(LOGITS.astype(dtype), temperature=1e-6)
        assert found.dtype == dtype
        assert_array_equal(found, LOGITS.max(axis=-1, keepdims=True) == LOGITS)


def test_the_temperature_is_1_and_all_are_kept_where_nothing_is_said():
    assert_allclose(next_token_probabilities(LOGITS), softmax(LOGITS))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": 0}, "temperature=0 is not possible; give a number above 0, such as 0.01"),
        ({"temperature": -1.5}, "temperature=-1.5 is not possible"),
        ({"temperature": float("nan")}, "temperature=nan is not possible"),
        ({"temperature": "hot"}, "temperature='hot' is not a number; give a float"),
        ({"top_k": 0}, "top_k=0 is not possible; give an int of 1 or more"),
        ({"top_k": 2.5}, "top_k=2.5 is not a whole number; give an int of 1 or more"),
    ],
)
def test_impossible_wishes_are_refused(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        next_token_probabilities(LOGITS, **options)


# --- attend_with_cache ---


def tokens_and_matrices(*batch, seq_len=7, d_model=6, d_inner=8, dtype=np.float64):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(*batch, seq_len, d_model))
    W_Q, W_K, W_V = rng.normal(size=(3, d_model, d_inner)) / 2
    return [array.astype(dtype) for array in (X, W_Q, W_K, W_V, rng.normal(size=(d_inner, d_model)))]


@given(self_attention_inputs(), st.integers(1, 8), st.sets(st.integers(1, 7)), st.booleans(), GENERATORS)
def test_in_parts_it_is_the_same_as_all_at_once_and_an_old_cache_still_holds(inputs, n_all, cuts, other_first, random):
    """Room behind the old keys is given away once: two texts that begin alike must not change each other."""
    *batch, _, d_model = inputs.pop("X").shape
    X, other = random.normal(size=(2, *batch, n_all, d_model))
    wanted, _ = oracle.multi_head_attention(X, **inputs, is_causal=True)
    caches = [None]
    for start, stop in itertools.pairwise([0, *sorted(cut for cut in cuts if cut < n_all), n_all]):
        parts = [rows[..., start:stop, :] for rows in ((other, X) if other_first else (X, other))]
        found = [attend_with_cache(part, **inputs, cache=caches[-1]) for part in parts]
        output, cache = found[1 if other_first else 0]
        assert_allclose(output, wanted[..., start:stop, :], rtol=1e-10, atol=1e-12)
        caches.append(cache)
    for cache in caches[1:]:
        for array, whole in zip(cache, caches[-1], strict=True):
            assert_array_equal(array, whole[..., : array.shape[-2], :])


def test_float32_stays_float32():
    X, *matrices = tokens_and_matrices(dtype=np.float32)
    output, (keys, values) = attend_with_cache(X[:3], *matrices, 4)
    output, (keys, values) = attend_with_cache(X[3:], *matrices, 4, (keys, values))
    assert {output.dtype, keys.dtype, values.dtype} == {np.dtype(np.float32)}


def test_a_cache_of_other_heads_is_refused():
    X, *matrices = tokens_and_matrices(3)
    _, cache = attend_with_cache(X, *matrices, 2)
    message = r"^the cache's keys have shape \(3, 2, 7, 4\), and the new ones need \(3, 4, n_old, 2\); start with"
    with pytest.raises(ValueError, match=message):
        attend_with_cache(X, *matrices, 4, cache)
    with pytest.raises(ValueError, match=r"^the cache's values have shape \(3, 2, 7, 3\), and the new ones need"):
        attend_with_cache(X, *matrices, 2, (cache[0], cache[1][..., :3]))
    with pytest.raises(ValueError, match=r"^the cache is int; give the pair \(keys, values\)"):
        attend_with_cache(X, *matrices, 2, 3)
    with pytest.raises(ValueError, match=r"^the cache is an array of shape \(3, 2, 7, 4\); give the pair"):
        attend_with_cache(X, *matrices, 2, cache[0])


# --- embed_new ---


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.data())
def test_new_tokens_stand_behind_the_old_ones(codes, data):
    characters, positions = np.arange(20.0).reshape(5, 4), np.arange(24.0).reshape(6, 4) / 100
    n_old = data.draw(st.integers(0, 6 - len(codes)))
    wanted = [characters[code] + positions[place] for place, code in enumerate(codes, n_old)]
    assert_array_equal(embed_new(codes, characters, positions, n_old), wanted)


def test_more_tokens_than_positions_are_refused():
    with pytest.raises(ValueError, match=r"^7 tokens have no place in 6 positions; drop the older ones"):
        embed_new([0, 1], np.zeros((5, 4)), np.zeros((6, 4)), 5)


def test_rows_are_appended_beyond_any_room():
    rows = np.arange(700.0)[:, None]
    found = rows[:1]
    for row in rows[1:]:
        found = appended(found, row[None])
    assert_array_equal(found, rows)
    assert appended(np.ones((2, 1, 3), np.float32), np.ones((2, 1, 3))).dtype == np.float64
