import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mha_helpers.attention import multi_head_attention, softmax
from mha_helpers.decoding import appended, attend_with_cache, embed_new, next_token_probabilities

LOGITS = np.random.default_rng(0).normal(scale=3, size=(2, 3, 7))


# --- next_token_probabilities ---


def test_alone_it_is_the_softmax():
    assert_allclose(next_token_probabilities(LOGITS), softmax(LOGITS))


@pytest.mark.parametrize("temperature", [0.1, 0.7, 1, 2.5, np.float64(3)])
def test_the_temperature_divides_the_logits(temperature):
    assert_allclose(next_token_probabilities(LOGITS, temperature=temperature), softmax(LOGITS / temperature))


def test_the_lowest_temperatures_leave_the_likeliest():
    for dtype in (np.float32, np.float64):
        found = next_token_probabilities(LOGITS.astype(dtype), temperature=1e-6)
        assert found.dtype == dtype
        assert_array_equal(found, LOGITS.max(axis=-1, keepdims=True) == LOGITS)


def test_top_k_keeps_the_highest_and_they_share_all():
    found = next_token_probabilities(LOGITS, top_k=3)
    assert_array_equal((found > 0).sum(axis=-1), np.full((2, 3), 3))
    kept = LOGITS[0, 0] >= np.sort(LOGITS[0, 0])[-3]
    assert_allclose(found[0, 0, kept], softmax(LOGITS[0, 0, kept]))
    assert_allclose(found.sum(axis=-1), 1)


def test_top_k_and_temperature_together():
    found = next_token_probabilities([1.0, 3.0, 2.0, 0.0], temperature=0.5, top_k=2)
    assert_allclose(found, [0, *softmax([6.0, 4.0]), 0])


def test_ties_with_the_last_that_is_kept_are_kept():
    assert_allclose(next_token_probabilities([1.0, 0.0, 1.0, 1.0], top_k=1), [1 / 3, 0, 1 / 3, 1 / 3])


def test_more_than_there_are_is_all():
    assert_array_equal(next_token_probabilities(LOGITS, top_k=100), next_token_probabilities(LOGITS))


def test_large_logits_do_not_overflow():
    assert_allclose(next_token_probabilities([1000.0, 1000.0, -1000.0]), [0.5, 0.5, 0])


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


@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
@pytest.mark.parametrize("parts", [[7], [1] * 7, [3, 1, 1, 2], [1, 6]], ids=str)
def test_in_parts_it_is_the_same_as_all_at_once(batch, parts):
    X, *matrices = tokens_and_matrices(*batch)
    wanted, _ = multi_head_attention(X, *matrices, 2, is_causal=True)
    cache, outputs, start = None, [], 0
    for n_new in parts:
        output, cache = attend_with_cache(X[..., start : start + n_new, :], *matrices, 2, cache)
        outputs.append(output)
        start += n_new
    assert_allclose(np.concatenate(outputs, axis=-2), wanted, rtol=1e-10, atol=1e-12)
    assert [array.shape for array in cache] == [(*batch, 2, 7, 4)] * 2


def test_an_old_cache_still_holds():
    X, *matrices = tokens_and_matrices()
    _, cache = attend_with_cache(X[:4], *matrices, 2)
    kept = [array.copy() for array in cache]
    one, _ = attend_with_cache(X[4:5], *matrices, 2, cache)
    attend_with_cache(X[5:], *matrices, 2, cache)
    again, _ = attend_with_cache(X[4:5], *matrices, 2, cache)
    assert_array_equal(one, again)
    assert_array_equal(cache[0], kept[0])
    assert_array_equal(cache[1], kept[1])


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


def test_new_tokens_stand_behind_the_old_ones():
    characters, positions = np.arange(20.0).reshape(5, 4), np.arange(24.0).reshape(6, 4) / 100
    codes = [3, 0, 4, 4, 1]
    wanted = characters[codes] + positions[:5]
    assert_array_equal(embed_new(codes, characters, positions), wanted)
    assert_array_equal(embed_new(codes[2:], characters, positions, 2), wanted[2:])


def test_more_tokens_than_positions_are_refused():
    with pytest.raises(ValueError, match=r"^7 tokens have no place in 6 positions; drop the older ones"):
        embed_new([0, 1], np.zeros((5, 4)), np.zeros((6, 4)), 5)


def test_a_cache_that_goes_on_in_two_ways_serves_both():
    """Room behind the old keys is given away once: what the first way on put there, the second must not change."""
    rng = np.random.default_rng(0)
    X, *matrices = rng.normal(size=(5, 8, 8))
    _, start = attend_with_cache(X[:3], *matrices, 2)
    _, start = attend_with_cache(X[3:4], *matrices, 2, start)
    kept = [array.copy() for array in start]
    one, after_one = attend_with_cache(X[4:5], *matrices, 2, start)
    other, after_other = attend_with_cache(X[5:6], *matrices, 2, start)
    for row, output, cache in ((4, one, after_one), (5, other, after_other)):
        whole, _ = multi_head_attention(X[[0, 1, 2, 3, row]], *matrices, 2, is_causal=True)
        assert_allclose(output, whole[-1:])
        again, _ = attend_with_cache(X[6:7], *matrices, 2, cache)
        whole, _ = multi_head_attention(X[[0, 1, 2, 3, row, 6]], *matrices, 2, is_causal=True)
        assert_allclose(again, whole[-1:])
    for array, before in zip(start, kept, strict=True):
        assert_array_equal(array, before)


def test_rows_are_appended_beyond_any_room():
    rows = np.arange(700.0)[:, None]
    found = rows[:1]
    for row in rows[1:]:
        found = appended(found, row[None])
    assert_array_equal(found, rows)
    assert appended(np.ones((2, 1, 3), np.float32), np.ones((2, 1, 3))).dtype == np.float64
