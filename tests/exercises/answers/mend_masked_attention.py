"""Answers to mend_masked_attention: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.exercises.masking.mend_masked_attention import mend_masked_attention
from mha_helpers.maths.attention import masked_attention, scaled_dot_product_attention, softmax, softmax_or_zeros

TELLING_CASE = ("scattered holes", 4)


def mended_by_infinity(queries, keys, values, mask):
    scores = np.where(mask, queries @ keys.T / np.sqrt(queries.shape[-1]), -np.inf)
    highest = np.where(mask.any(axis=-1, keepdims=True), scores.max(axis=-1, keepdims=True), 0)
    powers = np.exp(scores - highest)
    weights = powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1e-300)
    return weights @ values, weights


def mended_row_by_row(queries, keys, values, mask):
    weights = np.zeros(mask.shape)
    for i, visible in enumerate(mask):
        if visible.any():
            scores = keys[visible] @ queries[i] / np.sqrt(queries.shape[-1])
            powers = np.exp(scores - scores.max())
            weights[i, visible] = powers / powers.sum()
    return weights @ values, weights


def mended_by_clearing(queries, keys, values, mask):
    scores = np.where(mask, queries @ keys.T / np.sqrt(queries.shape[-1]), np.finfo(float).min)
    weights = softmax(scores) * mask
    return weights @ values, weights


def mended_by_adding(queries, keys, values, mask):
    bias = np.full(mask.shape, -np.inf)
    bias[mask] = 0
    weights = softmax_or_zeros(queries @ keys.T * queries.shape[1] ** -0.5 + bias)
    return np.einsum("qk,kd->qd", weights, values), weights


RIGHT = (
    mend_masked_attention,
    masked_attention,
    mended_by_infinity,
    mended_row_by_row,
    mended_by_clearing,
    mended_by_adding,
)


WRONG = {
    None: (
        lambda queries, keys, values, mask: scaled_dot_product_attention(queries, keys, values),
        lambda queries, keys, values, mask: masked_attention(queries, keys, values, mask)[::-1],
    ),
}

TOLD = (
    (
        lambda queries, keys, values, mask: scaled_dot_product_attention(queries, keys, values),
        "which is hidden from it",
    ),
)
