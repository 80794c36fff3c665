"""Answers to attend_with_cache: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.attention import (
    combine_heads,
    multi_head_attention,
    scaled_dot_product_attention,
    softmax,
    split_heads,
)
from mha_helpers.maths.decoding import attend_with_cache

CATALOGUE = (
    "cache-mask-wrong-corner",
    "cache-mask-missing",
    "cache-overwritten",
    "cache-before-projection",
    "cache-projected-again",
    "cache-new-first",
    "cache-not-used",
)

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


RIGHT = (attend_with_cache, cache_loops, cache_padded_queries, cache_positions)


def cache_writes_into_it(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    result = attend_with_cache(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)
    if cache is not None:
        cache[0][..., 0, :] = 0
    return result


def cache_without_any(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    output, _ = multi_head_attention(X_new, W_Q, W_K, W_V, W_O, n_heads, is_causal=True)
    return output, None


def cache_split_last(join, keep_split=True):
    def split_after(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
        q, k, v = split_heads(X_new @ W_Q, n_heads), X_new @ W_K, X_new @ W_V
        if cache is not None:
            k, v = join([cache[0], k]), join([cache[1], v])
        whole = k, v
        k, v = split_heads(k, n_heads), split_heads(v, n_heads)
        n_new, n_all = q.shape[-2], k.shape[-2]
        heads, _ = scaled_dot_product_attention(q, k, v, np.tri(n_all, dtype=bool)[n_all - n_new :])
        return combine_heads(heads) @ W_O, (k, v) if keep_split else whole

    return split_after


def cache_only_keys_not_split(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    q, k, v = split_heads(X_new @ W_Q, n_heads), X_new @ W_K, split_heads(X_new @ W_V, n_heads)
    if cache is not None:
        k, v = np.concatenate([cache[0], k], axis=-2), np.concatenate([cache[1], v], axis=-2)
    n_new, n_all = q.shape[-2], k.shape[-2]
    mask = np.tri(n_all, dtype=bool)[n_all - n_new :]
    weights = softmax(np.where(mask, q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), -np.inf))
    return combine_heads(weights @ v) @ W_O, (k, v)


def cache_without_heads(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    q, k, v = X_new @ W_Q, X_new @ W_K, X_new @ W_V
    if cache is not None:
        k, v = np.concatenate([cache[0], k], axis=-2), np.concatenate([cache[1], v], axis=-2)
    n_new, n_all = q.shape[-2], k.shape[-2]
    context, _ = scaled_dot_product_attention(q, k, v, np.tri(n_all, dtype=bool)[n_all - n_new :])
    return context @ W_O, (k, v)


def cache_seeing(visible_of):
    def seeing(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
        q, k, v = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
        n_old = 0 if cache is None else len(cache[0])
        if cache is not None:
            k, v = np.concatenate([cache[0], k], axis=-2), np.concatenate([cache[1], v], axis=-2)
        heads, _ = scaled_dot_product_attention(q, k, v, visible_of(q.shape[-2], k.shape[-2], n_old))
        return combine_heads(heads) @ W_O, (k, v)

    return seeing


def cache_put_together(join, combine=combine_heads):
    def put_together(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
        q, k, v = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
        if cache is not None:
            k, v = join(cache[0], k), join(cache[1], v)
        n_new, n_all = q.shape[-2], k.shape[-2]
        visible = np.tri(n_all, dtype=bool)[n_all - n_new :]
        weights = softmax(np.where(visible, q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), -np.inf))
        return combine(weights @ v) @ W_O, (k, v)

    return put_together


def cache_in_three_parts(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    output, (keys, values) = attend_with_cache(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)
    return output, keys, values


def cache_hiding_itself_by_a_number(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    q, k, v = (split_heads(X_new @ W, n_heads) for W in (W_Q, W_K, W_V))
    if cache is not None:
        k, v = np.concatenate([cache[0], k], axis=-2), np.concatenate([cache[1], v], axis=-2)
    mask = np.tri(k.shape[-2], k=-1, dtype=bool)[-q.shape[-2] :]
    weights = softmax(np.where(mask, q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), -1e9))
    return combine_heads(weights @ v) @ W_O, (k, v)


def cache_weights(X_new, W_Q, W_K, W_V, W_O, n_heads, cache=None):
    _, (k, v) = attend_with_cache(X_new, W_Q, W_K, W_V, W_O, n_heads, cache)
    q = split_heads(X_new @ W_Q, n_heads)
    return scaled_dot_product_attention(q, k, v, np.tri(k.shape[-2], dtype=bool)[-q.shape[-2] :])[1]


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
    "cache-mask-too-narrow": (cache_seeing(lambda n_new, n_all, n_old: np.tri(n_new, dtype=bool)),),
    "cache-old-miscounted": (cache_seeing(lambda n_new, n_all, n_old: np.tri(n_all, dtype=bool)[n_old:]),),
    "cache-not-a-pair": (cache_in_three_parts,),
    "cache-mask-too-tall": (cache_seeing(lambda n_new, n_all, n_old: np.tri(n_all, dtype=bool)),),
    "cache-wrong-axis": (cache_put_together(lambda old, new: np.concatenate([old, new], axis=1)),),
    "cache-added": (cache_put_together(np.add),),
    "cache-heads-not-combined": (cache_put_together(lambda old, new: np.append(old, new, -2), combine=lambda heads: heads),),
    "cache-joined-before-split": (
        cache_split_last(lambda pair: np.concatenate(pair, axis=-2)),
        cache_split_last(lambda pair: np.concatenate(pair, axis=-2), keep_split=False),
        cache_split_last(np.vstack),
        cache_split_last(lambda pair: np.append(*pair, axis=-2)),
        cache_split_last(lambda pair: np.concatenate(pair[::-1], axis=-2)),
    ),
    "cache-one-not-split": (cache_only_keys_not_split,),
    "cache-no-split": (cache_without_heads,),
    "input-changed": (cache_writes_into_it,),
    "cache-mask-wrong-corner": (
        lambda X, Q, K, V, out, n, cache=None: (
            combine_heads(
                scaled_dot_product_attention(
                    split_heads(X @ Q, n), *attend_with_cache(X, Q, K, V, out, n, cache)[1], is_causal=True
                )[0]
            )
            @ out,
            attend_with_cache(X, Q, K, V, out, n, cache)[1],
        ),
    ),
    "cache-mask-hides-itself": (
        cache_seeing(lambda n_new, n_all, n_old: np.tri(n_all, k=-1, dtype=bool)[-n_new:]),
        cache_hiding_itself_by_a_number,
    ),
    "cache-mask-off-by-one": (cache_seeing(lambda n_new, n_all, n_old: np.tri(n_all, k=1, dtype=bool)[-n_new:]),),
    "cache-weights-returned": (
        lambda X, Q, K, V, out, n, cache=None: (attend_with_cache(X, Q, K, V, out, n, cache)[0], cache_weights(X, Q, K, V, out, n, cache)),
    ),
    "cache-not-used": (cache_joined_in_vain,),
    None: (
        cache_without_any,
        lambda X, Q, K, V, out, n, cache=None: attend_with_cache(X, Q, K, V, out, n, cache)[0],
        lambda X, Q, K, V, out, n, cache=None: (2 * attend_with_cache(X, Q, K, V, out, n, cache)[0], attend_with_cache(X, Q, K, V, out, n, cache)[1]),
        lambda X, Q, K, V, out, n, cache=None: (attend_with_cache(X, Q, K, V, out, n, cache)[0], np.array(attend_with_cache(X, Q, K, V, out, n, cache)[1]) + 1),
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
