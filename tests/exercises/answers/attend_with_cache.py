"""Answers to attend_with_cache: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.attention import (
    combine_heads,
    multi_head_attention,
    scaled_dot_product_attention,
    split_heads,
)
from mha_helpers.maths.decoding import attend_with_cache

TELLING_CASE = ("two batch axes", 6)


def cache_loops(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    """One new token after the other, each seeing all that is there by then: no mask is needed."""
    rows = []
    for i in range(X_new.shape[-2]):
        x = X_new[..., i : i + 1, :]
        q, k, v = (split_heads(x @ W, n_heads) for W in (W_Q, W_K, W_V))
        if cache is not None:
            k, v = (np.concatenate([old, new], axis=-2) for old, new in zip(cache, (k, v), strict=True))
        cache = k, v
        heads, _ = scaled_dot_product_attention(q, k, v)
        rows.append(combine_heads(heads) @ W_O)
    return np.concatenate(rows, axis=-2), cache


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


def cache_by_hand(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    *batch, n_new, _ = X_new.shape
    q, k, v = ((X_new @ W).reshape(*batch, n_new, n_heads, -1).swapaxes(-3, -2) for W in (W_Q, W_K, W_V))
    if cache is not None:
        k, v = np.concatenate((cache[0], k), axis=-2), np.concatenate((cache[1], v), axis=-2)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    scores[..., ~np.tri(k.shape[-2], dtype=bool)[-n_new:]] = -np.inf
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    heads = powers / powers.sum(axis=-1, keepdims=True) @ v
    return heads.swapaxes(-3, -2).reshape(*batch, n_new, -1) @ W_O, (k, v)


def cache_in_a_longer_array(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    """Room for all tokens is made first, as a model does that knows how many there will be."""
    q, *new = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    n_old, n_new = 0 if cache is None else cache[0].shape[-2], X_new.shape[-2]
    kept = np.empty((2, *q.shape[:-2], n_old + n_new, q.shape[-1]), q.dtype)
    kept[..., :n_old, :] = 0 if cache is None else np.stack(cache)
    kept[..., n_old:, :] = new
    visible = np.tri(n_new, n_old + n_new, k=n_old, dtype=bool)
    return combine_heads(scaled_dot_product_attention(q, *kept, visible)[0]) @ W_O, tuple(kept)


RIGHT = (attend_with_cache, cache_loops, cache_padded_queries, cache_positions, cache_by_hand, cache_in_a_longer_array)


def cache_writes_into_it(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    result = attend_with_cache(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)
    if cache is not None:
        cache[0][..., 0, :] = 0
    return result


def cache_without_any(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    output, _ = multi_head_attention(X_new, W_Q, W_K, W_V, W_O, n_heads, is_causal=True)
    return output, None


def cache_joined_in_vain(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    q, k, v = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    if cache is not None:
        np.concatenate([cache[0], k], axis=-2)
        np.concatenate([cache[1], v], axis=-2)
    mask = np.tri(k.shape[-2], dtype=bool)[-q.shape[-2] :]
    heads, _ = scaled_dot_product_attention(q, k, v, mask)
    return combine_heads(heads) @ W_O, (k, v)


def cache_joined_without_a_list(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    k = split_heads(X_new @ W_K, n_heads)
    if cache is not None:
        k = np.concatenate(cache[0], k, axis=-2)
    return attend_with_cache(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)


WRONG = {
    "input-changed": (cache_writes_into_it,),
    "cache-not-used": (cache_joined_in_vain,),
    None: (
        cache_without_any,
        lambda X, Q, K, V, out, n, cache=None: attend_with_cache(X, Q, K, V, out, n, cache)[0],
        lambda X, Q, K, V, out, n, cache=None: (2 * attend_with_cache(X, Q, K, V, out, n, cache)[0], attend_with_cache(X, Q, K, V, out, n, cache)[1]),
        lambda X, Q, K, V, out, n: attend_with_cache(X, Q, K, V, out, n),
    ),
}  # fmt: skip

TOLD = (
    (cache_joined_without_a_list, "the arrays to be joined come as one list, before the axis"),
    (
        lambda X, Q, K, V, out, n, cache=None: (attend_with_cache(X, Q, K, V, out, n, cache)[0], (X, ...)),
        "Part of it is there; still to compute: new_cache.",
    ),
    (
        lambda X, Q, K, V, out, n, cache=None: (attend_with_cache(X, Q, K, V, out, n, cache)[0], np.array(attend_with_cache(X, Q, K, V, out, n, cache)[1]) * (1 if cache is None else 1.5)),
        "The old keys and values are not the first ones of your new cache.",
    ),
)  # fmt: skip
