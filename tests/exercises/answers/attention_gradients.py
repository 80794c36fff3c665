"""Answers to attention_gradients: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.attention import softmax
from mha_helpers.gradients import attention_gradients

TELLING_CASE = ("a batch with heads", 6)


def _weights(queries, keys, mask):
    scores = np.einsum("...id,...jd->...ij", queries, keys) / np.sqrt(queries.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e30)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def gradients_einsum(queries, keys, values, d_context, mask=None):
    p = _weights(queries, keys, mask)
    d_p = np.einsum("...iv,...jv->...ij", d_context, values)
    d_s = p * d_p - p * np.einsum("...ij,...ij->...i", p, d_p)[..., None]
    d_s = d_s / queries.shape[-1] ** 0.5
    return (
        np.einsum("...ij,...jd->...id", d_s, keys),
        np.einsum("...ij,...id->...jd", d_s, queries),
        np.einsum("...ij,...iv->...jv", p, d_context),
    )


RIGHT = (
    attention_gradients,
    lambda queries, keys, values, d_context, mask=None: list(gradients_einsum(queries, keys, values, d_context, mask)),
)


def gradients_of_one_sequence(queries, keys, values, d_context, mask=None):
    p = _weights(queries, keys, mask)
    d_p = d_context @ values.T
    d_s = p * (d_p - (p * d_p).sum(axis=-1, keepdims=True)) / np.sqrt(queries.shape[-1])
    return d_s @ keys, d_s.T @ queries, p.T @ d_context


def _plus_infinity_times_zero(scores, mask):
    return scores + ~mask * -np.inf


def gradients_of_infinity_times_zero(queries, keys, values, d_context, mask=None):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    p = softmax(scores if mask is None else _plus_infinity_times_zero(scores, mask))
    d_p = d_context @ values.swapaxes(-1, -2)
    d_s = p * (d_p - (p * d_p).sum(axis=-1, keepdims=True)) / np.sqrt(queries.shape[-1])
    return d_s @ keys, d_s.swapaxes(-1, -2) @ queries, p.swapaxes(-1, -2) @ d_context


WRONG = {
    "zero-times-inf": (gradients_of_infinity_times_zero,),
    None: (gradients_of_one_sequence,),
}

TOLD = (
    (
        lambda q, k, v, dc, mask=None: list(attention_gradients(q, k, v, dc, mask))[:2],
        "Expected 3, `return d_queries, d_keys, d_values`; got a list of 2.",
    ),
    (
        lambda q, k, v, dc, mask=None: tuple(2 * g for g in attention_gradients(q, k, v, dc, mask)),
        "Raise values[0, 0] by 0.0001 and the loss changes by",
    ),
    (
        lambda q, k, v, dc, mask=None: (..., ..., attention_gradients(q, k, v, dc, mask)[2]),
        "Part of it is there; still to compute: d_queries and d_keys.",
    ),
    (
        lambda q, k, v, dc, mask=None: [None, *attention_gradients(q, k, v, dc, mask)[1:]],
        "Part of it is there; still to compute: d_queries.",
    ),
)
