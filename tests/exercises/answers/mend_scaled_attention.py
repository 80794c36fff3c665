"""Answers to mend_scaled_attention: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.exercises.scaling.mend_scaled_attention import mend_scaled_attention
from mha_helpers.maths.attention import scaled_dot_product_attention, softmax

TELLING_CASE = ("two axes in front", 6)


def mended_in_the_queries(queries, keys, values):
    return scaled_dot_product_attention(queries / queries.shape[-1] ** 0.5, keys, values, scale=1)


def mended_by_its_own_softmax(queries, keys, values):
    scores = queries @ np.swapaxes(keys, -1, -2) / np.sqrt(queries.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ values, weights


def mended_by_einsum(queries, keys, values):
    weights = softmax(np.einsum("...qd,...kd->...qk", queries, keys) * keys.shape[-1] ** -0.5)
    return np.einsum("...qk,...kv->...qv", weights, values), weights


def mended_matrix_by_matrix(queries, keys, values):
    if queries.ndim > 2:
        found = [mended_matrix_by_matrix(*one) for one in zip(queries, keys, values, strict=True)]
        return [context for context, _ in found], [weights for _, weights in found]
    weights = softmax(queries @ keys.T / len(keys[0]) ** 0.5)
    return weights @ values, weights


RIGHT = (
    mend_scaled_attention,
    scaled_dot_product_attention,
    mended_in_the_queries,
    mended_by_its_own_softmax,
    mended_by_einsum,
    mended_matrix_by_matrix,
)

WRONG = {
    None: (lambda queries, keys, values: scaled_dot_product_attention(queries, keys, values, scale=0.1),),
}

TOLD = ()
