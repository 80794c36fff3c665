"""Answers to attention_received: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.measures import attention_received

CATALOGUE = ("received-over-keys", "received-axis-from-the-front", "received-mean", "received-largest")

TELLING_CASE = ("two axes in front", 4)


def received_loops(weights):
    if weights.ndim > 2:
        return [received_loops(one) for one in weights]
    return [sum(row[key] for row in weights) for key in range(weights.shape[-1])]


def received_transposed(weights):
    return weights.swapaxes(-1, -2).sum(axis=-1)


def received_einsum(weights):
    return np.einsum("...qk->...k", weights)


def received_product(weights):
    return (np.ones(weights.shape[-2]) @ weights).astype(weights.dtype)


RIGHT = (
    attention_received,
    received_loops,
    received_transposed,
    received_einsum,
    received_product,
    lambda weights: weights.mean(axis=-2) * weights.shape[-2],
    lambda weights: np.add.reduce(weights, axis=-2),
)

WRONG = {
    "received-over-keys": (lambda weights: np.ones(weights.shape[:-1]),),
    "received-largest": (lambda weights: np.sort(weights, axis=-2)[..., -1, :],),
    None: (
        lambda weights: weights,
        lambda weights: weights[..., 0, :],
        lambda weights: 2 * weights.sum(axis=-2),
        lambda weights: np.median(weights, axis=-2),
    ),
}

TOLD = ((lambda weights: 2 * weights.sum(axis=-2), "must add up to 4; yours adds up to 8.0000"),)
