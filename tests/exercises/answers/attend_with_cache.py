"""Answers to attend_with_cache: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.attention import combine_heads, scaled_dot_product_attention, softmax, split_heads
from mha_helpers.decoding import attend_with_cache

TELLING_CASE = ("two batch axes", 6)


def cache_padded_queries(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    """Queries of 0 stand for the old tokens, so that `is_causal` fits; their rows are thrown away."""
    q, k, v = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    n_new = q.shape[-2]
    if cache is not None:
        k, v = np.concatenate([cache[0], k], -2), np.concatenate([cache[1], v], -2)
        q = np.concatenate([np.zeros_like(cache[0]), q], -2)
    heads, _ = scaled_dot_product_attention(q, k, v, is_causal=True)
    return combine_heads(heads[..., -n_new:, :]) @ W_O, [k, v]


def cache_positions(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=()):
    q, k, v = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    if cache:  # a pair, as the signature says: true where there is one
        k, v = np.append(cache[0], k, axis=-2), np.append(cache[1], v, axis=-2)
    n_old = k.shape[-2] - q.shape[-2]
    visible = np.arange(k.shape[-2]) <= n_old + np.arange(q.shape[-2])[:, None]
    heads, _ = scaled_dot_product_attention(q, k, v, visible)
    return combine_heads(heads) @ W_O, np.stack([k, v])


def cache_token_by_token(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    rows = []
    for i in range(X_new.shape[-2]):
        q, *new = (split_heads(X_new[..., i : i + 1, :] @ W, n_heads) for W in (W_Q, W_K, W_V))
        cache = new if cache is None else [np.concatenate(pair, axis=-2) for pair in zip(cache, new, strict=True)]
        rows.append(combine_heads(scaled_dot_product_attention(q, *cache)[0]) @ W_O)
    return np.concatenate(rows, axis=-2), tuple(cache)


RIGHT = (
    attend_with_cache,
    cache_token_by_token,
    cache_padded_queries,
    cache_positions,
)


def cache_writes_into_it(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    result = attend_with_cache(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)
    if cache is not None:
        cache[0][..., 0, :] = 0
    return result


def cache_joined_without_a_list(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    k = split_heads(X_new @ W_K, n_heads)
    if cache is not None:
        k = np.concatenate(cache[0], k, axis=-2)
    return attend_with_cache(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)


def cache_divided_by(divisor):
    """Attention whose scores are divided by divisor(X_new, queries, keys)."""

    def attention(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
        q, k, v = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
        if cache is not None:
            k, v = np.concatenate([cache[0], k], -2), np.concatenate([cache[1], v], -2)
        visible = np.tri(q.shape[-2], k.shape[-2], k.shape[-2] - q.shape[-2], dtype=bool)
        scores = np.where(visible, q @ k.swapaxes(-1, -2) / divisor(X_new, q, k), -np.inf)
        return combine_heads(softmax(scores) @ v) @ W_O, (k, v)

    return attention


def cache_divided_twice(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    q, k, v = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    if cache is not None:
        k, v = np.concatenate([cache[0], k], -2), np.concatenate([cache[1], v], -2)
    n_old = k.shape[-2] - q.shape[-2]
    heads, _ = scaled_dot_product_attention(q / np.sqrt(q.shape[-1]), k, v, np.tri(k.shape[-2], dtype=bool)[n_old:])
    return combine_heads(heads) @ W_O, (k, v)


WRONG = {
    "cache-scale-d-model": (cache_divided_by(lambda X_new, q, k: np.sqrt(X_new.shape[-1])),),
    "cache-scale-no-root": (cache_divided_by(lambda X_new, q, k: q.shape[-1]), cache_divided_twice),
    "cache-scale-n-keys": (cache_divided_by(lambda X_new, q, k: k.shape[-2] ** 0.5),),
    "input-changed": (cache_writes_into_it,),
    None: (
        lambda X, Q, K, V, out, n, cache=None: (
            2 * attend_with_cache(X, Q, K, V, out, n, cache)[0],
            attend_with_cache(X, Q, K, V, out, n, cache)[1],
        ),
    ),
}

TOLD = (
    (cache_joined_without_a_list, "the arrays to be joined come as one list, before the axis"),
    (
        lambda X, Q, K, V, out, n, cache=None: (attend_with_cache(X, Q, K, V, out, n, cache)[0], (X, ...)),
        "Part of it is there; still to compute: new_cache.",
    ),
    (
        lambda X, Q, K, V, out, n, cache=None: (
            attend_with_cache(X, Q, K, V, out, n, cache)[0],
            np.array(attend_with_cache(X, Q, K, V, out, n, cache)[1]) * (1 if cache is None else 1.5),
        ),
        "The old keys and values are not the first ones of your new cache.",
    ),
)
