"""Answers to dot_product_attention: right ones in many styles, and wrong ones."""

import math

import numpy as np

from answers.softmax import (
    softmax_max_only_if_large,
)
from mha_helpers.attention import attention_scores, softmax

TELLING_CASE = ("a batch with heads", 6)


def attention_indices(queries, keys, values):
    weights = np.empty((*queries.shape[:-1], keys.shape[-2]))
    context = np.empty((*queries.shape[:-1], values.shape[-1]))
    for *batch, i in np.ndindex(queries.shape[:-1]):
        batch = tuple(batch)
        s = [float(np.dot(queries[(*batch, i)], key)) for key in keys[batch]]
        e = [math.exp(x - max(s)) for x in s]
        weights[(*batch, i)] = [x / sum(e) for x in e]
        context[(*batch, i)] = sum(w * v for w, v in zip(weights[(*batch, i)], values[batch], strict=True))
    return context, weights


def _attend(queries, keys, values):
    weights = softmax(attention_scores(queries, keys))
    return weights @ values, weights


RIGHT = (attention_indices,)


def _then(change):
    return lambda q, k, v: change(*_attend(q, k, v))


def _weighing(weigh):
    def wrong(queries, keys, values):
        weights = weigh(queries @ keys.swapaxes(-1, -2))
        return weights @ values, weights

    return wrong


def attention_squeezed(queries, keys, values):
    weights = softmax(attention_scores(queries, keys))
    return (weights[..., None, :] @ values[..., None, :, :]).squeeze(), weights


def attention_batch_max(queries, keys, values):
    """One maximum for each matrix of a batch, or one per batch item and query group."""
    scores = attention_scores(queries, keys)
    if scores.ndim > 2:
        e = np.exp(scores - scores.max(axis=(-2, -1), keepdims=True))
        weights = e / e.sum(-1, keepdims=True)
    else:
        weights = softmax(scores)
    return weights @ values, weights


def attention_first_head_values(queries, keys, values):
    weights = softmax(attention_scores(queries, keys))
    return weights @ (values[:, :1] if values.ndim == 4 else values), weights


def attention_square_weights(queries, keys, values):
    """Room for n_keys queries."""
    n_queries, n_keys = queries.shape[-2], keys.shape[-2]
    weights = np.zeros((*queries.shape[:-2], n_keys, n_keys))
    weights[..., :n_queries, :] = softmax(attention_scores(queries, keys))[..., :n_keys, :]
    weights = weights[..., :n_queries, :]
    return weights @ values, weights


def attention_keeps_last(queries, keys, values, kept={}):  # noqa: B006
    """A key-value cache that is never emptied."""
    if kept and kept["keys"].shape[:-2] == keys.shape[:-2] and kept["keys"].shape[-1] == keys.shape[-1]:
        keys = np.concatenate([kept["keys"], keys], axis=-2)
        values = np.concatenate([kept["values"], values], axis=-2)
    kept.update(keys=keys, values=values)
    weights = softmax(attention_scores(queries, keys))
    return weights @ values, weights


WRONG = {
    "softmax-keepdims": (_weighing(lambda s: softmax(s - s.max(-1)) if s.ndim == 2 else softmax(s)),),
    "softmax-log": (_then(lambda context, weights: (context, np.log(weights))),),
    None: (
        lambda q, k, v: _attend(k, q, v) if k.shape == q.shape else _attend(q, k, v),
        attention_squeezed,  # one query, or a batch of one
        attention_batch_max,  # a batch with very large scores of both signs
        attention_square_weights,  # more queries than keys
        _weighing(softmax_max_only_if_large),
        attention_first_head_values,
        attention_keeps_last,
        _weighing(lambda s: softmax(np.clip(s, -700, 700))),
        lambda q, k, v: (
            np.stack([w @ v[0] for w in softmax(attention_scores(q, k))])
            if q.ndim == 3
            else softmax(attention_scores(q, k)) @ v,
            softmax(attention_scores(q, k)),
        ),
    ),
}

TOLD = ()
