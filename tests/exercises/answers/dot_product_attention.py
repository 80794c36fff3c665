"""Answers to dot_product_attention: right ones in many styles, and wrong ones."""

import math

import numpy as np

from answers.softmax import (
    _shifted_by,
    softmax_inf_caught,
    softmax_max_only_if_large,
)
from mha_helpers.maths.attention import attention_scores, softmax

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


def attention_recursive(queries, keys, values):
    if queries.ndim > 2:
        pairs = [attention_recursive(*item) for item in zip(queries, keys, values, strict=True)]
        return tuple(np.stack(part) for part in zip(*pairs, strict=True))
    s = queries @ keys.T
    weights = np.exp(s - np.logaddexp.reduce(s, axis=1)[:, None])
    return weights.dot(values), weights


def attention_with_dropout_and_mask(queries, keys, values, mask=None, dropout=0.0):
    scores = queries @ keys.swapaxes(-1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ values, weights * (1 - dropout)


def _attend(queries, keys, values):
    weights = softmax(attention_scores(queries, keys))
    return weights @ values, weights


RIGHT = (
    attention_indices,
    attention_recursive,
    attention_with_dropout_and_mask,
    lambda q, k, v: (np.average(np.broadcast_to(v[..., None, :, :], (*q.shape[:-1], *v.shape[-2:])), axis=-2, weights=np.broadcast_to(softmax(q @ k.mT)[..., None], (*q.shape[:-1], *v.shape[-2:]))), softmax(q @ k.mT)),
    lambda q, k, v: (np.einsum("...qk,...kd->...qd", w := softmax(np.einsum("...qd,...kd->...qk", q, k)), v), w),
    lambda q, k, v: (np.matmul(softmax(q @ k.mT), v), np.matmul(softmax(q @ k.mT), np.eye(k.shape[-2]))),
)  # fmt: skip


def _then(change):
    return lambda q, k, v: change(*_attend(q, k, v))


def attention_writes_values(queries, keys, values):
    context, weights = _attend(queries, keys, values)
    values *= 0
    return context, weights


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
    "input-changed": (attention_writes_values,),
    "softmax-keepdims": (_weighing(lambda s: softmax(s - s.max(-1)) if s.ndim == 2 else softmax(s)),),
    "softmax-log": (_then(lambda context, weights: (context, np.log(weights))),),
    None: (
        _then(lambda context, weights: (context, weights.swapaxes(-1, -2))),
        _then(lambda context, weights: (-context, weights)),
        _then(lambda context, weights: (context, np.zeros_like(weights))),
        _then(lambda context, weights: (context.sum(-1), weights)),
        _then(lambda context, weights: (context, weights, weights)),
        _then(lambda context, weights: {"context": context, "weights": weights}),
        _then(lambda context, weights: (context, None)),
        lambda q, k, v: _attend(q, v, k) if v.shape[-1] == q.shape[-1] else _attend(q, k, v),
        lambda q, k, v: _attend(k, q, v) if k.shape == q.shape else _attend(q, k, v),
        lambda q, k, v: _attend(q[:1], k[:1], v[:1]) if q.ndim > 2 else _attend(q, k, v),
        lambda q, k, v: (np.tril(_attend(q, k, v)[1]) @ v, np.tril(_attend(q, k, v)[1])),
        lambda q, k, v: _attend(q, k, v)[::-1] if q.ndim > 2 else _attend(q, k, v),
        lambda q, k: (q, k),
        lambda q, k, v: q @ k @ v,
        attention_squeezed,  # one query, or a batch of one
        attention_batch_max,  # a batch with very large scores of both signs
        attention_square_weights,  # more queries than keys
        _weighing(_shifted_by(lambda s: s.mean(axis=-1, keepdims=True))),  # large scores with one very low
        _weighing(_shifted_by(lambda s: s.min(axis=-1, keepdims=True))),
        _weighing(_shifted_by(lambda s: np.diagonal(s, axis1=-2, axis2=-1)[..., None])),
        _weighing(softmax_max_only_if_large),
        attention_first_head_values,
        attention_keeps_last,
        _weighing(lambda s: softmax(np.clip(s, -700, 700))),
        _weighing(softmax_inf_caught),
        _then(lambda context, weights: (context.round(3), weights.round(3))),
        _then(lambda context, weights: ((context, weights),)),
        _then(lambda context, weights: (context.tolist(), "weights")),
        lambda q, k, v: (np.stack([w @ v[0] for w in softmax(attention_scores(q, k))]) if q.ndim == 3
                         else softmax(attention_scores(q, k)) @ v, softmax(attention_scores(q, k))),
    ),
}  # fmt: skip

TOLD = ()
