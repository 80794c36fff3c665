"""Answers to grouped_attention: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.attention import scaled_dot_product_attention as attend
from mha_helpers.grouped import grouped_attention

TELLING_CASE = ("six query heads on two", 6)


def by_group(queries, keys, values, mask=None):
    """One group after the other."""
    parts = [
        attend(own, keys[..., [g], :, :], values[..., [g], :, :], mask)
        for g, own in enumerate(np.split(queries, keys.shape[-3], axis=-3))
    ]
    return [np.concatenate(each, axis=-3) for each in zip(*parts, strict=True)]


RIGHT = (
    grouped_attention,
    by_group,
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


def one_group_too_many(a, n):
    heads = np.minimum(np.arange(n) // (n // a.shape[-3] + 1), a.shape[-3] - 1)
    return a[..., heads, :, :]


WRONG = {
    None: (
        shared(one_group_too_many),
        lambda q, k, v, mask=None: attend(q[..., :1, :, :], k, v, mask),
    ),
}

TOLD = ()
