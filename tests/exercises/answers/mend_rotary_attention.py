"""Answers to mend_rotary_attention: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.attention import scaled_dot_product_attention
from mha_helpers.maths.rotary import rotate

CATALOGUE = ("rope-values-rotated", "rope-start-forgotten", "rope-one-side")

TELLING_CASE = ("two new tokens after three", 4)


def attend(queries, keys, values, **options):
    """Each query is a new token, and the last of them stands beside the last key: none sees what comes after it."""
    n_new, n_keys = queries.shape[-2], keys.shape[-2]
    mask = np.tri(n_new, n_keys, n_keys - n_new, dtype=bool)
    return scaled_dot_product_attention(queries, keys, values, mask=mask, **options)


def turned(X, positions):
    d = X.shape[-1]
    pairs = X[..., ::2] + 1j * X[..., 1::2]
    pairs = pairs * np.exp(1j * np.asarray(positions)[:, None] / 10_000 ** (np.arange(0, d, 2) / d))
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(X.shape)


def by_positions(queries, keys, values, n_old):
    positions = np.arange(keys.shape[-2])
    return attend(turned(queries, positions[n_old:]), turned(keys, positions), values)[0]


def keys_turned_back(queries, keys, values, n_old):
    """Only distances count: the keys may turn the other way as well as the queries this way."""
    n_new, n_keys = queries.shape[-2], keys.shape[-2]
    return attend(turned(queries, np.arange(n_new)), turned(keys, np.arange(n_keys) - n_old), values)[0]


def by_hand(queries, keys, values, n_old):
    scores = rotate(queries, n_old) @ rotate(keys).swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    ahead = np.arange(keys.shape[-2]) > n_old + np.arange(queries.shape[-2])[:, None]
    scores = np.where(ahead, -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ values


def one_at_a_time(queries, keys, values, n_old):
    keys, rows = rotate(keys), []
    for i in range(queries.shape[-2]):
        upto = slice(n_old + i + 1)
        query = rotate(queries[..., [i], :], start=n_old + i)
        rows.append(scaled_dot_product_attention(query, keys[..., upto, :], values[..., upto, :])[0])
    return np.concatenate(rows, axis=-2)


RIGHT = (
    by_positions,
    keys_turned_back,
    by_hand,
    one_at_a_time,
    lambda queries, keys, values, n_old: attend(rotate(queries, start=n_old), rotate(keys), values)[0],
    lambda queries, keys, values, n_old: attend(rotate(queries, n_old + 5), rotate(keys, 5), values)[0].tolist(),
    lambda q, k, v, n_old: attend(rotate(q, start=k.shape[-2] - q.shape[-2]), rotate(k, start=0), v)[0],
)


def placed(of_queries, of_keys=0, of_values=None):
    """Rotate from where is said: a number, or one that n_old gives; None leaves as it is."""

    def answer(queries, keys, values, n_old):
        found = []
        for array, start in ((queries, of_queries), (keys, of_keys), (values, of_values)):
            start = start(n_old) if callable(start) else start
            found.append(array if start is None else rotate(array, start))
        return attend(*found)[0]

    return answer


def old(n_old):
    return n_old


WRONG = {
    "rope-values-rotated": (placed(old, 0, 0), placed(old, 0, old)),
    "rope-start-forgotten": (placed(0), placed(old, old)),
    "rope-start-on-keys": (placed(0, old),),
    "rope-one-side": (placed(old, None), placed(None, 0), placed(0, None)),
    "rope-left-out": (placed(None, None),),
    "rope-one-late": (placed(lambda n: n + 1),),
    "rope-mask-missing": (
        lambda queries, keys, values, n_old: scaled_dot_product_attention(rotate(queries, n_old), rotate(keys), values)[0],
    ),
    None: (
        placed(lambda n: 2 * n),
        placed(lambda n: n + 3),
        placed(old, 1000),
        placed(old, lambda n: 2 * n + 1),
        placed(100, 0, None),
        lambda queries, keys, values, n_old: attend(rotate(keys, n_old), rotate(queries), values)[0],
        lambda queries, keys, values, n_old: attend(rotate(queries, start=n_old), rotate(keys), values),
        lambda queries, keys, values, n_old: attend(rotate(queries, n_old), rotate(keys), values)[1],
        lambda queries, keys, values: attend(rotate(queries), rotate(keys), values)[0],
        lambda queries, keys, values, n_old: rotate(attend(rotate(queries, n_old), rotate(keys), values)[0]),
        lambda queries, keys, values, n_old: attend(rotate(queries, n_old), rotate(keys), values, scale=1.0)[0],
        lambda queries, keys, values, n_old: attend(
            rotate(queries, n_old), rotate(keys)[..., n_old:, :], values[..., n_old:, :]
        )[0],
    ),
}  # fmt: skip

TOLD = ()
