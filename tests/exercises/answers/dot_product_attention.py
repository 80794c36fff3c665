"""Answers to dot_product_attention: right ones in many styles, and wrong ones."""

import functools
import math
from typing import NamedTuple

import numpy as np

from answers.softmax import (
    Tensor,
    _shifted_by,
    softmax_equal_if_nan,
    softmax_float32,
    softmax_inf_caught,
    softmax_max_only_if_large,
    softmax_running_max,
    softmax_squeezed,
    softmax_temperature,
)
from mha_helpers.maths.attention import attention_scores, softmax

CATALOGUE = (
    "values-are-scores",
    "values-are-keys",
    "returns-weights-only",
    "weights-transposed",
    "scale-no-root",
    "scale-multiplied",
    "scale-n-keys",
    "scale-after-softmax",
    "scale-values-width",
)

TELLING_CASE = ("a batch with heads", 6)


def attention_loops(queries, keys, values):
    if queries.ndim > 2:
        pairs = [attention_loops(*item) for item in zip(queries, keys, values, strict=True)]
        return [context for context, _ in pairs], [weights for _, weights in pairs]
    context, weights = [], []
    for query in queries:
        scores = [float(np.dot(query, key)) for key in keys]
        row = [math.exp(score - max(scores)) for score in scores]
        row = [e / sum(row) for e in row]
        weights.append(row)
        context.append(sum(weight * value for weight, value in zip(row, values, strict=True)))
    return context, weights


def attention_einsum(queries, keys, values):
    weights = softmax(np.einsum("...qd,...kd->...qk", queries, keys))
    return [np.einsum("...qk,...kv->...qv", weights, values), weights]


def attention_online(queries, keys, values):
    """One pass over the keys with a running maximum and sum (Milakov and Gimelshein 2018)."""
    top = np.full((*queries.shape[:-1], 1), -np.inf)
    total, mixed, logits = np.zeros_like(top), 0.0, []
    for j in range(keys.shape[-2]):
        score = (queries * keys[..., j : j + 1, :]).sum(-1, keepdims=True)
        new_top = np.maximum(top, score)
        total = total * np.exp(top - new_top) + np.exp(score - new_top)
        mixed = mixed * np.exp(top - new_top) + np.exp(score - new_top) * values[..., j : j + 1, :]
        top = new_top
        logits.append(score)
    return mixed / total, np.exp(np.concatenate(logits, -1) - top) / total


def attention_late_division(queries, keys, values):
    scores = attention_scores(queries, keys)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    total = e.sum(-1, keepdims=True)
    return (e @ values) / total, e / total


class Attention(NamedTuple):
    context: object
    weights: object


class Pair(tuple):
    __slots__ = ()


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


def attention_extra_column(queries, keys, values):
    """The sum as one more value: a column of ones rides along."""
    scores = queries @ keys.mT
    e = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = e @ np.concatenate([values, np.ones((*values.shape[:-1], 1))], axis=-1)
    return mixed[..., :-1] / mixed[..., -1:], e / mixed[..., -1:]


def attention_blocks(queries, keys, values):
    """Keys in two blocks, put together by their log-sum-exp: flash attention's trick."""
    half, parts = keys.shape[-2] // 2, []
    for block in (slice(None, half), slice(half, None)):
        s = queries @ keys[..., block, :].mT
        lse = np.logaddexp.reduce(s, axis=-1, keepdims=True)
        parts.append((np.exp(s - lse), np.exp(s - lse) @ values[..., block, :], lse))
    total = np.logaddexp(parts[0][2], parts[1][2])
    context = sum(c * np.exp(lse - total) for _, c, lse in parts)
    return context, np.concatenate([w * np.exp(lse - total) for w, _, lse in parts], axis=-1)


def attention_shifted_keys(queries, keys, values):
    """Any vector may be subtracted from all keys."""
    return _attend(queries, keys - keys.mean(-2, keepdims=True), values)


def attention_by_value_column(queries, keys, values):
    weights = softmax(attention_scores(queries, keys))
    columns = [(weights * values[..., None, :, c]).sum(-1) for c in range(values.shape[-1])]
    return np.stack(columns, axis=-1), weights


def attention_with_dropout_and_mask(queries, keys, values, mask=None, dropout=0.0):
    scores = queries @ keys.swapaxes(-1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ values, weights * (1 - dropout)


def _attend(queries, keys, values):
    weights = softmax(attention_scores(queries, keys))
    return weights @ values, weights


class AttentionLayer:
    def __init__(self):
        self.last = None

    def __call__(self, queries, keys, values):
        context, self.last = _attend(queries, keys, values)
        return context, self.last


RIGHT = (
    attention_loops,
    attention_einsum,
    attention_online,
    attention_late_division,
    lambda q, k, v: (softmax(attention_scores(q, k)) @ v, softmax(attention_scores(q, k))),
    lambda q, k, v: ((softmax(attention_scores(q, k)) @ v).astype(np.float32), softmax_float32(attention_scores(q, k))),
    lambda q, k, v: ((v.swapaxes(-1, -2) @ softmax(attention_scores(q, k)).swapaxes(-1, -2)).swapaxes(-1, -2),
                     softmax(attention_scores(q, k))),
    attention_indices,
    attention_recursive,
    attention_extra_column,
    attention_blocks,
    attention_shifted_keys,
    attention_by_value_column,
    attention_with_dropout_and_mask,
    AttentionLayer(),
    lambda q, k, v: Attention(*_attend(q, k, v)),
    lambda q, k, v: Attention(weights=_attend(q, k, v)[1], context=_attend(q, k, v)[0]),
    lambda q, k, v: Pair(_attend(q, k, v)),
    lambda q, k, v: list(_attend(q, k, v)),
    lambda q, k, v: [part.tolist() for part in _attend(q, k, v)],
    lambda q, k, v: tuple(Tensor(part) for part in _attend(q, k, v)),
    lambda q, k, v: tuple(part.astype(np.longdouble) for part in _attend(q, k, v)),
    lambda q, k, v: (_attend(q, k, v)[0].astype(np.float32), _attend(q, k, v)[1].tolist()),
    lambda *qkv: _attend(*qkv),
    functools.partial(lambda extra, q, k, v: _attend(q, k, v), None),
    lambda q, k, v: (np.sum(softmax(q @ k.mT)[..., None] * v[..., None, :, :], axis=-2), softmax(q @ k.mT)),
    lambda q, k, v: (np.average(np.broadcast_to(v[..., None, :, :], (*q.shape[:-1], *v.shape[-2:])), axis=-2, weights=np.broadcast_to(softmax(q @ k.mT)[..., None], (*q.shape[:-1], *v.shape[-2:]))), softmax(q @ k.mT)),
    lambda q, k, v: (np.einsum("...qk,...kd->...qd", w := softmax(np.einsum("...qd,...kd->...qk", q, k)), v), w),
    lambda queries, keys, values, *, scale=1: _attend(queries * scale, keys, values),
    lambda q, k, v: (np.matmul(softmax(q @ k.mT), v), np.matmul(softmax(q @ k.mT), np.eye(k.shape[-2]))),
    lambda q, k, v: (sum(softmax(q @ k.mT)[..., j : j + 1] * v[..., j : j + 1, :] for j in range(k.shape[-2])), softmax(q @ k.mT)),
    np.vectorize(lambda q, k, v: _attend(q, k, v), signature="(q,d),(k,d),(k,v)->(q,v),(q,k)"),
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


def attention_max_over_axis_1(queries, keys, values):
    """Right for a matrix; in a batch each key has another number subtracted, and the row's ratios change."""
    scores = queries @ keys.swapaxes(-1, -2)
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ values, weights


def attention_squeezed(queries, keys, values):
    weights = softmax(attention_scores(queries, keys))
    return (weights[..., None, :] @ values[..., None, :, :]).squeeze(), weights


def attention_weights_squeezed(queries, keys, values):
    weights = softmax(attention_scores(queries, keys))
    return weights @ values, weights.squeeze()


def attention_batch_max(queries, keys, values):
    """One maximum for each matrix of a batch, or one per batch item and query group."""
    scores = attention_scores(queries, keys)
    if scores.ndim > 2:
        e = np.exp(scores - scores.max(axis=(-2, -1), keepdims=True))
        weights = e / e.sum(-1, keepdims=True)
    else:
        weights = softmax(scores)
    return weights @ values, weights


def attention_mask_if_self(queries, keys, values):
    """Causal where queries and keys are as many."""
    scores = attention_scores(queries, keys)
    if scores.shape[-1] == scores.shape[-2]:
        scores = np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)
    weights = softmax(scores)
    return weights @ values, weights


def attention_causal(queries, keys, values):
    scores = attention_scores(queries, keys)
    weights = softmax(np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf))
    return weights @ values, weights


def attention_zero_mask(queries, keys, values):
    weights = softmax(np.tril(attention_scores(queries, keys)))
    return weights @ values, weights


def attention_residual(queries, keys, values):
    context, weights = _weighing(softmax)(queries, keys, values)
    return (context + queries if context.shape == queries.shape else context), weights


def attention_no_batch_context(queries, keys, values):
    weights = softmax(attention_scores(queries, keys))
    return np.tensordot(weights, values, axes=(-1, -2)), weights


def attention_first_head_values(queries, keys, values):
    weights = softmax(attention_scores(queries, keys))
    return weights @ (values[:, :1] if values.ndim == 4 else values), weights


def attention_top_2(queries, keys, values):
    scores = attention_scores(queries, keys)
    weights = softmax(np.where(scores >= np.sort(scores, -1)[..., -2:-1], scores, -np.inf))
    return weights @ values, weights


def attention_values_sorted(queries, keys, values):
    weights = softmax(attention_scores(queries, keys))
    return np.sort(weights, -1) @ values, weights


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
    "causal-not-asked": (attention_causal,),
    "input-changed": (attention_writes_values,),
    "returns-scores": (lambda q, k, v: (_attend(q, k, v)[0], attention_scores(q, k)),),
    "scores-cosine": (lambda q, k, v: _attend(q / np.linalg.norm(q, axis=-1, keepdims=True), k, v),),
    "softmax-twice": (lambda q, k, v: (softmax(_attend(q, k, v)[1]) @ v, softmax(_attend(q, k, v)[1])),),
    "context-np-dot": (
        attention_no_batch_context,
        lambda q, k, v: (np.dot(softmax(attention_scores(q, k)), v), softmax(attention_scores(q, k))),
    ),
    "softmax-global-max": (_weighing(_shifted_by(lambda s: s.max())),),
    "softmax-keepdims": (_weighing(lambda s: softmax(s - s.max(-1)) if s.ndim == 2 else softmax(s)),),
    "softmax-no-max": (_weighing(lambda s: np.exp(s) / (np.exp(s).sum(-1, keepdims=True) + 1e-9)),),
    "scale-n-keys": (_weighing(softmax_temperature),),
    "softmax-log": (_then(lambda context, weights: (context, np.log(weights))),),
    "scale-no-root": (lambda q, k, v: _weighing(softmax)(q / np.sqrt(q.shape[-1]), k / np.sqrt(k.shape[-1]), v),),
    "scale-not-yet": (lambda q, k, v: _weighing(softmax)(q / q.shape[-1] ** 0.25, k / k.shape[-1] ** 0.25, v),),
    None: (
        _then(lambda context, weights: (context, weights.swapaxes(-1, -2))),
        _then(lambda context, weights: (-context, weights)),
        _then(lambda context, weights: (context[..., ::-1], weights)),
        _then(lambda context, weights: (context[..., ::-1, :], weights)),
        _then(lambda context, weights: (context.mean(-2, keepdims=True) + 0 * context, weights)),
        _then(lambda context, weights: (context, weights.round(2))),
        _then(lambda context, weights: (context, np.zeros_like(weights))),
        _then(lambda context, weights: (context.sum(-1), weights)),
        _then(lambda context, weights: (context, weights, weights)),
        _then(lambda context, weights: {"context": context, "weights": weights}),
        _then(lambda context, weights: np.concatenate([context, weights], axis=-1)),
        _then(lambda context, weights: (context, None)),
        _then(lambda context, weights: (context, weights.sum(-1))),
        _then(lambda context, weights: (context / weights.sum(-2).mean(), weights)),
        lambda q, k, v: (v, _attend(q, k, v)[1]),
        lambda q, k, v: (_attend(q, k, v)[1] @ v + q[..., :1], _attend(q, k, v)[1]),
        lambda q, k, v: _attend(q, v, k) if v.shape[-1] == q.shape[-1] else _attend(q, k, v),
        lambda q, k, v: _attend(k, q, v) if k.shape == q.shape else _attend(q, k, v),
        lambda q, k, v: _attend(2 * q, k, v),
        lambda q, k, v: _attend(q, k, v - v.mean(-2, keepdims=True)),
        lambda q, k, v: _attend(q, k, softmax(v)),
        lambda q, k, v: _attend(q[:1], k[:1], v[:1]) if q.ndim > 2 else _attend(q, k, v),
        lambda q, k, v: (np.tril(_attend(q, k, v)[1]) @ v, np.tril(_attend(q, k, v)[1])),
        lambda q, k, v: _attend(q, k, v)[::-1] if q.ndim > 2 else _attend(q, k, v),
        lambda q, k, v: _attend(q.astype(np.float16), k.astype(np.float16), v),
        lambda q, k, v: (softmax(_attend(q, k, v)[0]), _attend(q, k, v)[1]),
        lambda q, k, v: (q, k),
        lambda q, k, v: (q, k, v),
        lambda q, k: (q, k),
        lambda q, k, v: q @ k @ v,
        attention_squeezed,  # one query, or a batch of one
        attention_weights_squeezed,  # one query, one key, or a batch of one
        attention_batch_max,  # a batch with very large scores of both signs
        attention_square_weights,  # more queries than keys
        _weighing(_shifted_by(lambda s: s.mean(axis=-1, keepdims=True))),  # large scores with one very low
        _weighing(_shifted_by(lambda s: s.min(axis=-1, keepdims=True))),
        _weighing(_shifted_by(lambda s: s[..., :1])),
        _weighing(_shifted_by(lambda s: s[..., -1:])),
        _weighing(_shifted_by(lambda s: np.median(s, axis=-1, keepdims=True))),
        _weighing(_shifted_by(lambda s: np.diagonal(s, axis1=-2, axis2=-1)[..., None])),
        _weighing(softmax_max_only_if_large),
        _weighing(softmax_squeezed),
        attention_max_over_axis_1,
        _weighing(_shifted_by(lambda s: s.max(axis=min(1, s.ndim - 1), keepdims=True))),
        attention_mask_if_self,
        attention_zero_mask,
        attention_residual,
        attention_first_head_values,
        attention_top_2,
        attention_values_sorted,
        attention_keeps_last,
        _weighing(_shifted_by(lambda s: s[:1].max(axis=-1, keepdims=True))),
        _weighing(_shifted_by(lambda s: np.abs(s).max(axis=-1, keepdims=True))),
        _weighing(lambda s: softmax(np.clip(s, -700, 700))),
        _weighing(lambda s: softmax(np.clip(s, -50, 50))),
        _weighing(lambda s: softmax(s.round(2))),
        _weighing(lambda s: softmax(s).round(4)),
        _weighing(lambda s: softmax(s).astype(np.float16)),
        _weighing(softmax_inf_caught),
        _weighing(softmax_equal_if_nan),
        _weighing(softmax_running_max),
        _weighing(lambda s: softmax(s) * (softmax(s) > 0.05)),
        _weighing(lambda s: np.maximum(s, 0) / np.maximum(s, 0).sum(-1, keepdims=True)),
        _weighing(lambda s: softmax(s - 1e9 * np.eye(*s.shape[-2:]))),
        _weighing(lambda s: np.full(s.shape, 1 / s.shape[-1])),
        _then(lambda context, weights: (context.round(3), weights.round(3))),
        _then(lambda context, weights: (context, weights.mean(-2))),
        _then(lambda context, weights: (context, context)),
        _then(lambda context, weights: (weights, weights)),
        _then(lambda context, weights: (context + weights[..., :1], weights)),
        _then(lambda context, weights: (context / weights.shape[-1], weights)),
        _then(lambda context, weights: (context.swapaxes(-1, -2), weights)),
        _then(lambda context, weights: (context[0], weights[0])),
        _then(lambda context, weights: (context / np.linalg.norm(context, axis=-1, keepdims=True), weights)),
        _then(lambda context, weights: (np.tanh(context), weights)),
        _then(lambda context, weights: np.array([context, context])),
        _then(lambda context, weights: ((context, weights),)),
        _then(lambda context, weights: (context.tolist(), "weights")),
        lambda q, k, v: (np.einsum("...qk,...kv->...kv", softmax(attention_scores(q, k)), v), softmax(attention_scores(q, k))),
        lambda q, k, v: (np.einsum("...kq,...kv->...qv", softmax(attention_scores(q, k)), v), softmax(attention_scores(q, k)))
        if q.shape[-2] == k.shape[-2]
        else _then(lambda c, w: (c, w))(q, k, v),
        lambda q, k, v: (softmax(attention_scores(q, k))[..., :1] * v[..., :1, :], softmax(attention_scores(q, k))),
        lambda q, k, v: (v[np.arange(v.ndim and 1)], softmax(attention_scores(q, k))),
        lambda q, k, v: (np.take_along_axis(v, softmax(attention_scores(q, k)).argmax(-1)[..., None], axis=-2), softmax(attention_scores(q, k))),
        lambda q, k, v: _weighing(softmax)(k, q, v) if q.shape[-2] == k.shape[-2] else _weighing(softmax)(q, k, v),
        lambda q, k, v: _weighing(softmax)(q, v, v) if k.shape == v.shape else _weighing(softmax)(q, k, v),
        lambda q, k, v: _weighing(softmax)(v, k, q),
        lambda q, k, v: _weighing(softmax)(q, k, v[..., ::-1, :]),
        lambda q, k, v: _weighing(softmax)(softmax(q), softmax(k), v),
        lambda q, k, v: _weighing(softmax)(q, k, v / np.sqrt(v.shape[-1])),
        lambda q, k, v: _weighing(softmax)(q / 8, k, v),
        lambda q, k, v: _weighing(softmax)(q.round(1), k.round(1), v.round(1)),
        lambda q, k, v: _weighing(softmax)(q, k + 1e-3, v + 1e-3),
        lambda q, k, v: (softmax(q @ k.swapaxes(-1, -2) @ v), softmax(q @ k.swapaxes(-1, -2))),
        lambda q, k, v: (softmax(q) @ (softmax(k.swapaxes(-1, -2)) @ v), softmax(attention_scores(q, k))),
        lambda q, k, v: (np.stack([w @ v[0] for w in softmax(attention_scores(q, k))]) if q.ndim == 3
                         else softmax(attention_scores(q, k)) @ v, softmax(attention_scores(q, k))),
    ),
}  # fmt: skip

TOLD = ()
