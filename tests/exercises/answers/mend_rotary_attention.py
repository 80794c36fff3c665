"""Answers to mend_rotary_attention: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.rotary import rotate

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


RIGHT = (
    by_positions,
    lambda queries, keys, values, n_old: attend(rotate(queries, n_old + 5), rotate(keys, 5), values)[0].tolist(),
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
    None: (
        placed(lambda n: n + 3),
        lambda queries, keys, values, n_old: attend(rotate(keys, n_old), rotate(queries), values)[0],
    ),
}

TOLD = ()
