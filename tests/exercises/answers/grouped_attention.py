"""Answers to grouped_attention: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.attention import scaled_dot_product_attention as attend
from mha_helpers.maths.grouped import grouped_attention

CATALOGUE = (
    "kv-heads-tiled",
    "grouped-wrong-size",
    "grouped-first-for-all",
    "grouped-queries-averaged",
    "grouped-scale",
    "mask-ignored",
)

TELLING_CASE = ("six query heads on two", 6)


def by_loop(queries, keys, values, mask=None):
    group = queries.shape[-3] // keys.shape[-3]
    found = [
        attend(queries[..., h, :, :], keys[..., h // group, :, :], values[..., h // group, :, :], mask)
        for h in range(queries.shape[-3])
    ]
    return tuple(np.stack(parts, axis=-3) for parts in zip(*found, strict=True))


def by_broadcasting(queries, keys, values, mask=None):
    """Groups get an axis of their own, and nothing is copied."""
    *batch, n_heads, n, d = queries.shape
    groups = queries.reshape(*batch, keys.shape[-3], -1, n, d)
    context, weights = attend(groups, keys[..., None, :, :], values[..., None, :, :], mask)
    return context.reshape(*batch, n_heads, n, -1), weights.reshape(*batch, n_heads, n, -1)


def by_index(queries, keys, values, mask=None):
    heads = np.arange(queries.shape[-3]) * keys.shape[-3] // queries.shape[-3]
    return attend(queries, keys[..., heads, :, :], values[..., heads, :, :], mask)


def by_einsum(queries, keys, values, mask=None):
    *batch, n_heads, n, d = queries.shape
    groups = queries.reshape(*batch, keys.shape[-3], -1, n, d)
    scores = np.einsum("...gsnd,...gmd->...gsnm", groups, keys) / np.sqrt(d)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    context = np.einsum("...gsnm,...gmv->...gsnv", weights, values)
    return context.reshape(*batch, n_heads, n, -1), weights.reshape(*batch, n_heads, n, -1)


def by_stacking(queries, keys, values, mask=None):
    group = queries.shape[-3] // keys.shape[-3]
    keys, values = (np.stack([a] * group, axis=-3).reshape(*a.shape[:-3], -1, *a.shape[-2:]) for a in (keys, values))
    return attend(queries, keys, values, mask)


def by_group(queries, keys, values, mask=None):
    """One group after the other."""
    parts = [
        attend(own, keys[..., [g], :, :], values[..., [g], :, :], mask)
        for g, own in enumerate(np.split(queries, keys.shape[-3], axis=-3))
    ]
    return [np.concatenate(each, axis=-3) for each in zip(*parts, strict=True)]


def by_kronecker(queries, keys, values, mask=None):
    group = queries.shape[-3] // keys.shape[-3]
    copy = np.kron(np.eye(keys.shape[-3]), np.ones((group, 1)))  # (n_heads, n_kv_heads)
    keys, values = (np.einsum("hk,...knd->...hnd", copy, a) for a in (keys, values))
    return attend(queries, keys, values, mask)


RIGHT = (
    grouped_attention,
    by_loop,
    by_broadcasting,
    by_index,
    by_einsum,
    by_stacking,
    by_group,
    by_kronecker,
    lambda q, k, v, mask=None: tuple(a.tolist() for a in grouped_attention(q, k, v, mask)),
    lambda q, k, v, mask=None: tuple(a.astype(np.float32) for a in by_loop(q, k, v, mask)),
)


def shared(change_keys, change_values=None):
    """Attend after each of keys and values is changed, given how many heads ask."""
    return lambda q, k, v, mask=None: attend(
        q, change_keys(k, q.shape[-3]), (change_values or change_keys)(v, q.shape[-3]), mask
    )


def right(a, n):
    return np.repeat(a, n // a.shape[-3], axis=-3)


def tiled(a, n):
    return np.tile(a, (n // a.shape[-3], 1, 1))


def rolled(a, n):
    return np.roll(right(a, n), 1, axis=-3)


def last_for_all(a, n):
    return np.repeat(a[..., -1:, :, :], n, axis=-3)


def cycled(a, n):
    return a[..., np.arange(n) % a.shape[-3], :, :]


def one_group_too_many(a, n):
    heads = np.minimum(np.arange(n) // (n // a.shape[-3] + 1), a.shape[-3] - 1)
    return a[..., heads, :, :]


def repeated_by_tokens(a, n):
    return np.repeat(a, n // a.shape[-3], axis=-2)


def and_then(change):
    return lambda q, k, v, mask=None: change(*grouped_attention(q, k, v, mask), q, k, v)


WRONG = {
    "kv-heads-tiled": (shared(tiled), shared(cycled)),
    "grouped-keys-tiled": (shared(tiled, right),),
    "grouped-values-tiled": (shared(right, cycled),),
    "grouped-wrong-size": (
        shared(lambda a, n: a[..., np.minimum(np.arange(n) // a.shape[-3], a.shape[-3] - 1), :, :]),
    ),
    "grouped-first-for-all": (shared(lambda a, n: np.repeat(a[..., :1, :, :], n, axis=-3)),),
    "grouped-kv-averaged": (shared(lambda a, n: np.repeat(a.mean(axis=-3, keepdims=True), n, axis=-3)),),
    "grouped-queries-averaged": (
        lambda q, k, v, mask=None: attend(q.reshape(*q.shape[:-3], k.shape[-3], -1, *q.shape[-2:]).mean(-3), k, v, mask),
    ),
    "grouped-reversed": (shared(lambda a, n: right(a, n)[..., ::-1, :, :]),),
    "mask-ignored": (lambda q, k, v, mask=None: grouped_attention(q, k, v),),
    "scale-missing": (lambda q, k, v, mask=None: grouped_attention(q * q.shape[-1] ** 0.5, k, v, mask),),
    "grouped-scale": (
        lambda q, k, v, mask=None: grouped_attention(q * (q.shape[-1] / k.shape[-3]) ** 0.5, k, v, mask),
    ),
    "grouped-heads-dropped": (lambda q, k, v, mask=None: grouped_attention(q[..., : k.shape[-3], :, :], k, v, mask),),
    None: (
        shared(rolled),
        shared(last_for_all),
        shared(one_group_too_many),
        shared(repeated_by_tokens),
        shared(lambda a, n: a),
        and_then(lambda context, weights, q, k, v: context),
        and_then(lambda context, weights, q, k, v: (weights, context)),
        and_then(lambda context, weights, q, k, v: (context.swapaxes(-3, -2), weights)),
        and_then(lambda context, weights, q, k, v: (2 * context, weights)),
        and_then(lambda context, weights, q, k, v: (context, weights.round(1))),
        and_then(lambda context, weights, q, k, v: (context.sum(axis=-3), weights)),
        lambda q, k, v, mask=None: attend(q[..., :1, :, :], k, v, mask),
        lambda q, k, v, mask=None: grouped_attention(k, q, v, mask),
        lambda q, k, v: grouped_attention(q, k, v),
        lambda q, k, v, mask=None: attend(k, k, v, mask),
        lambda q, k, v, mask=None: grouped_attention(q[..., ::-1, :, :], k, v, mask),
    ),
}  # fmt: skip

TOLD = ()
