"""Answers that learners might give to the exercises: right ones in many styles, and wrong ones beyond the catalogue."""

import functools
import math
from fractions import Fraction

import numpy as np

from mha_helpers.attention import attention_scores, softmax

# ---- right softmax ---------------------------------------------------------------------------


def softmax_loops(scores):
    if scores.ndim > 1:
        return [softmax_loops(row) for row in scores]
    top = max(scores)
    exponentials = [math.exp(score - top) for score in scores]
    return [e / sum(exponentials) for e in exponentials]


def softmax_log_sum_exp(scores):
    top = scores.max(-1, keepdims=True)
    return np.exp(scores - top - np.log(np.exp(scores - top).sum(-1, keepdims=True)))


def softmax_newaxis(scores):
    e = np.exp(scores - np.amax(scores, axis=-1)[..., None])
    return e / e.sum(-1)[..., None]


def softmax_float32(scores):
    scores = scores.astype(np.float32)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / np.einsum("...k->...", e)[..., np.newaxis]


def softmax_along_axis(scores):
    def one(row):
        e = np.exp(row - row.max())
        return e / e.sum()

    return np.apply_along_axis(one, -1, scores)


def softmax_flat_rows(scores):
    rows = scores.reshape(-1, scores.shape[-1]).copy()
    rows -= rows.max(axis=1, keepdims=True)
    np.exp(rows, out=rows)
    rows /= rows.sum(axis=1, keepdims=True)
    return rows.reshape(scores.shape)


def softmax_ratios(scores):
    """One over the sum of e to the differences; overflow to infinity makes the weight 0, which is right."""
    with np.errstate(over="ignore"):
        return 1 / np.exp(scores[..., None, :] - scores[..., :, None]).sum(-1)


def softmax_transposed(scores):
    columns = np.moveaxis(scores, -1, 0)
    e = np.exp(columns - columns.max(0))
    return np.moveaxis(e / e.sum(0), 0, -1)


def softmax_any_shift(scores):
    shifted = scores - scores.max(-1, keepdims=True) - 3
    return np.exp(shifted) / np.exp(shifted).sum(-1, keepdims=True)


def softmax_logaddexp(scores):
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))


class SoftmaxObject:
    def __call__(self, scores, /):
        return softmax(scores)


def softmax_sorted(scores):
    order = scores.argsort(-1)
    ordered = np.take_along_axis(scores, order, -1)
    e = np.exp(ordered - ordered[..., -1:])
    e = e / e.sum(-1, keepdims=True)
    weights = np.empty_like(e)
    np.put_along_axis(weights, order, e, -1)
    return weights


RIGHT_SOFTMAX = (
    softmax,
    softmax_loops,
    softmax_log_sum_exp,
    softmax_newaxis,
    softmax_float32,
    softmax_along_axis,
    softmax_flat_rows,
    softmax_ratios,
    softmax_transposed,
    softmax_any_shift,
    softmax_logaddexp,
    SoftmaxObject(),
    softmax_sorted,
    functools.partial(lambda axis, scores: softmax(np.moveaxis(scores, axis, -1)), -1),
    lambda scores, temperature=1.0: softmax(scores / temperature),
    lambda scores: np.asfortranarray(softmax(scores)),
    lambda scores: softmax(scores).astype(np.longdouble),
    lambda scores: (
        np.exp2((scores - scores.max(-1, keepdims=True)) / np.log(2))
        / np.exp2((scores - scores.max(-1, keepdims=True)) / np.log(2)).sum(-1, keepdims=True)
    ),
    lambda scores: np.ma.masked_array(softmax(scores)),
)


# ---- right attention_scores ------------------------------------------------------------------


def scores_loops(queries, keys):
    if queries.ndim > 2:
        return [scores_loops(q, k) for q, k in zip(queries, keys, strict=True)]
    return [[sum(a * b for a, b in zip(q, k, strict=True)) for k in keys] for q in queries]


def scores_feature_by_feature(queries, keys):
    total = 0
    for feature in range(queries.shape[-1]):
        total = total + queries[..., :, None, feature] * keys[..., None, :, feature]
    return total


def scores_exact(queries, keys):
    if queries.ndim > 2:
        return [scores_exact(q, k) for q, k in zip(queries, keys, strict=True)]
    return [
        [sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(q, k, strict=True)) for k in keys] for q in queries
    ]


def scores_from_lengths(queries, keys):
    """q·k from |q + k|² = |q|² + 2 q·k + |k|²."""
    q, k = queries[..., :, None, :].astype(float), keys[..., None, :, :].astype(float)
    return (((q + k) ** 2).sum(-1) - (q**2).sum(-1) - (k**2).sum(-1)) / 2


def scores_flat_batch(queries, keys):
    *batch, n_queries, d = queries.shape
    flat = zip(queries.reshape(-1, n_queries, d), keys.reshape(-1, *keys.shape[-2:]), strict=True)
    return np.array([q.dot(k.T) for q, k in flat]).reshape(*batch, n_queries, keys.shape[-2])


RIGHT_SCORES = (
    attention_scores,
    scores_loops,
    scores_feature_by_feature,
    scores_exact,
    scores_from_lengths,
    scores_flat_batch,
    lambda queries, keys: np.einsum("...qd,...kd->...qk", queries, keys),
    lambda queries, keys: (keys @ np.swapaxes(queries, -1, -2)).swapaxes(-1, -2),
    lambda queries, keys: np.matmul(queries, np.moveaxis(keys, -1, -2)),
    lambda q, k: (q[..., :, np.newaxis, :] * k[..., np.newaxis, :, :]).sum(axis=-1),
    lambda q, k: np.matmul(q.astype(np.float32), k.swapaxes(-2, -1).astype(np.float32)),
    lambda q, k: q @ k.mT,
    lambda q, k: np.vectorize(np.dot, signature="(q,d),(d,k)->(q,k)")(q, k.swapaxes(-1, -2)),
    lambda q, k: np.ascontiguousarray(q @ k.swapaxes(-1, -2)).tolist(),
    lambda q, k: q @ k.transpose(*range(k.ndim - 2), k.ndim - 1, k.ndim - 2),
)


# ---- right dot_product_attention -------------------------------------------------------------


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


RIGHT_ATTENTION = (
    attention_loops,
    attention_einsum,
    attention_online,
    attention_late_division,
    lambda q, k, v: (softmax(attention_scores(q, k)) @ v, softmax(attention_scores(q, k))),
    lambda q, k, v: ((softmax(attention_scores(q, k)) @ v).astype(np.float32), softmax_float32(attention_scores(q, k))),
    lambda q, k, v: ((v.swapaxes(-1, -2) @ softmax(attention_scores(q, k)).swapaxes(-1, -2)).swapaxes(-1, -2),
                     softmax(attention_scores(q, k))),
)  # fmt: skip


# ---- wrong answers beyond the catalogue ------------------------------------------------------


def softmax_only_matrices(scores):
    n_rows, n_keys = scores.shape
    return softmax(scores).reshape(n_rows, n_keys)


def softmax_first_row_max(scores):
    e = np.exp(scores - scores[..., :1, :].max(axis=-1, keepdims=True)) if scores.ndim > 1 else softmax(scores)
    return e / e.sum(-1, keepdims=True)


def softmax_in_place(scores):
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(-1, keepdims=True)
    return scores


class CountsItsCalls:
    calls = 0

    def __init__(self, right_until):
        self.right_until = right_until

    def __call__(self, scores):
        self.calls += 1
        return softmax(scores) if self.calls <= self.right_until else scores


def softmax_first_batch_item(scores):
    return np.broadcast_to(softmax(scores[0]), scores.shape) if scores.ndim > 2 else softmax(scores)


def softmax_no_return(scores):
    softmax(scores)


def softmax_string(scores):
    return "softmax"


def softmax_rounded(scores):
    return softmax(scores).round(3)


WRONG_SOFTMAX = (
    softmax_only_matrices,
    softmax_first_row_max,
    softmax_in_place,
    softmax_first_batch_item,
    softmax_no_return,
    softmax_string,
    softmax_rounded,
    lambda scores: softmax(scores / 2),
    lambda scores: softmax(scores**2),
    lambda scores: softmax(np.abs(scores)),
    lambda scores: softmax(np.maximum(scores, 0)),
    lambda scores: softmax(np.clip(scores, -2, 2)),
    lambda scores: softmax(np.clip(scores, -50, 50)),
    lambda scores: softmax(scores).swapaxes(-1, -2) if scores.ndim > 1 else softmax(scores),
    lambda scores: softmax(scores)[..., ::-1],
    lambda scores: softmax(scores.astype(np.float16).astype(int)),
    lambda scores: np.exp(scores - scores.mean(-1, keepdims=True))
    / np.exp(scores - scores.mean(-1, keepdims=True)).sum(-1, keepdims=True),
    lambda scores: np.exp(scores - scores.min(-1, keepdims=True))
    / np.exp(scores - scores.min(-1, keepdims=True)).sum(-1, keepdims=True),
    lambda scores: np.exp(scores) / (np.exp(scores).sum(-1, keepdims=True) + 1),
    lambda scores: np.exp(scores) / np.linalg.norm(np.exp(scores), axis=-1, keepdims=True),
    lambda scores: np.exp(scores) / np.exp(scores).max(-1, keepdims=True),
    lambda scores: np.exp(scores) / np.exp(scores).mean(-1, keepdims=True),
    lambda scores: np.nan_to_num(np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)),
    lambda scores: (scores - scores.min(-1, keepdims=True)) / np.ptp(scores, axis=-1, keepdims=True),
    lambda scores: np.maximum(scores, 0) / np.maximum(scores, 0).sum(-1, keepdims=True),
    lambda scores: np.full(scores.shape, 1 / scores.shape[-1]),
    lambda scores: np.where(scores == scores.max(), 1.0, 0.0),
    lambda scores: scores,
    lambda scores: np.tanh(scores),
    lambda scores: softmax(scores).sum(-1, keepdims=True),
    lambda scores: softmax(scores).sum(-1),
    lambda scores: softmax(scores)[None],
    lambda scores: softmax(scores).ravel(),
    lambda scores: (softmax(scores), scores),
    lambda scores: {"weights": softmax(scores)},
    lambda scores: iter(softmax(scores)),
    lambda scores: softmax(scores) + 0j,
    lambda scores: softmax(scores).astype(str),
    lambda scores: softmax(scores) > 0.5,
    lambda scores: float(scores),
    lambda scores: softmax(unknown_name),  # noqa: F821
    lambda: 1,
    lambda scores, axis: softmax(scores),
    lambda scores: 1 / 0,
    lambda scores: [][0],
    lambda scores: exit(),
    lambda scores: softmax_loops(scores[0]),
    lambda scores: np.array([softmax(row.ravel()).reshape(row.shape) for row in np.atleast_2d(scores)]).reshape(scores.shape),
    lambda scores: softmax(scores - scores.max(-1)) if scores.ndim == 2 else softmax(scores),
    lambda scores: softmax(scores) if scores.dtype == np.float64 else scores,
    lambda scores: softmax(scores.reshape(scores.shape[::-1])).reshape(scores.shape),
    lambda scores: softmax(scores.ravel("K").reshape(scores.shape)),
)  # fmt: skip

WRONG_SCORES = (
    lambda queries, keys: -attention_scores(queries, keys),
    lambda queries, keys: 2 * attention_scores(queries, keys),
    lambda queries, keys: attention_scores(queries, keys) + 1,
    lambda queries, keys: attention_scores(queries, keys) / queries.shape[-1],
    lambda queries, keys: attention_scores(queries, keys) / math.sqrt(keys.shape[-2]),
    lambda queries, keys: attention_scores(queries, keys).swapaxes(-1, -2),
    lambda queries, keys: np.abs(attention_scores(queries, keys)),
    lambda queries, keys: np.maximum(attention_scores(queries, keys), 0),
    lambda queries, keys: attention_scores(queries, keys) ** 2,
    lambda queries, keys: attention_scores(queries, keys).round(1),
    lambda queries, keys: attention_scores(queries, keys)[..., ::-1],
    lambda queries, keys: attention_scores(queries, keys[..., ::-1, :]),
    lambda queries, keys: attention_scores(queries[..., :-1], keys[..., :-1]),
    lambda queries, keys: attention_scores(queries - queries.mean(-1, keepdims=True), keys),
    lambda queries, keys: -np.linalg.norm(queries[..., :, None, :] - keys[..., None, :, :], axis=-1),
    lambda queries, keys: np.abs(queries[..., :, None, :] - keys[..., None, :, :]).sum(-1),
    lambda queries, keys: np.tril(attention_scores(queries, keys)),
    lambda queries, keys: attention_scores(queries, keys)[..., 0],
    lambda queries, keys: attention_scores(queries, keys).mean(-3, keepdims=True) if queries.ndim > 2 else attention_scores(queries, keys),
    lambda queries, keys: attention_scores(queries, keys[:1]) if queries.ndim > 2 else attention_scores(queries, keys),
    lambda queries, keys: attention_scores(queries, keys[::-1]) if queries.ndim > 2 else attention_scores(queries, keys),
    lambda queries, keys: np.einsum("bqd,bkd->bqk", queries, keys),
    lambda queries, keys: np.einsum("qd,kd->qk", queries, keys),
    lambda queries, keys: np.inner(queries, keys),
    lambda queries, keys: np.outer(queries, keys),
    lambda queries, keys: np.cross(queries, keys),
    lambda queries, keys: np.kron(queries, keys),
    lambda queries, keys: queries @ np.linalg.pinv(keys) if keys.ndim == 2 else attention_scores(queries, keys),
    lambda queries, keys: queries @ keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2]),
    lambda queries, keys: queries @ np.rot90(keys, axes=(-2, -1)),
    lambda queries, keys: attention_scores(queries.astype(int), keys.astype(int)),
    lambda queries, keys: attention_scores(queries, keys).astype(np.float16),
    lambda queries, keys: attention_scores(softmax(queries), softmax(keys)),
    lambda queries, keys: sum(attention_scores(queries, keys)),
    lambda queries, keys: queries,
    lambda queries: queries,
)  # fmt: skip


def _attention(queries, keys, values):
    weights = softmax(attention_scores(queries, keys))
    return weights @ values, weights


def _then(change):
    return lambda q, k, v: change(*_attention(q, k, v))


def attention_writes_values(queries, keys, values):
    context, weights = _attention(queries, keys, values)
    values *= 0
    return context, weights


WRONG_ATTENTION = (
    attention_writes_values,
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
    lambda q, k, v: (_attention(q, k, v)[0], attention_scores(q, k)),
    lambda q, k, v: (v, _attention(q, k, v)[1]),
    lambda q, k, v: (_attention(q, k, v)[1] @ v + q[..., :1], _attention(q, k, v)[1]),
    lambda q, k, v: _attention(q, v, k) if v.shape[-1] == q.shape[-1] else _attention(q, k, v),
    lambda q, k, v: _attention(k, q, v) if k.shape == q.shape else _attention(q, k, v),
    lambda q, k, v: _attention(2 * q, k, v),
    lambda q, k, v: _attention(q / np.linalg.norm(q, axis=-1, keepdims=True), k, v),
    lambda q, k, v: _attention(q, k, v - v.mean(-2, keepdims=True)),
    lambda q, k, v: _attention(q, k, softmax(v)),
    lambda q, k, v: _attention(q[:1], k[:1], v[:1]) if q.ndim > 2 else _attention(q, k, v),
    lambda q, k, v: (np.tril(_attention(q, k, v)[1]) @ v, np.tril(_attention(q, k, v)[1])),
    lambda q, k, v: _attention(q, k, v)[::-1] if q.ndim > 2 else _attention(q, k, v),
    lambda q, k, v: _attention(q.astype(np.float16), k.astype(np.float16), v),
    lambda q, k, v: (softmax(_attention(q, k, v)[0]), _attention(q, k, v)[1]),
    lambda q, k, v: (softmax(_attention(q, k, v)[1]) @ v, softmax(_attention(q, k, v)[1])),
    lambda q, k, v: (q, k),
    lambda q, k, v: (q, k, v),
    lambda q, k: (q, k),
    lambda q, k, v: q @ k @ v,
)
