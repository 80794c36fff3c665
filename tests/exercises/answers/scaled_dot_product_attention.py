"""Answers to scaled_dot_product_attention: right ones in many styles, and wrong ones."""

import math

import numpy as np

from mha_helpers.maths.attention import attention_scores, dot_product_attention, softmax

TELLING_CASE = ("a batch with heads", 6)


def _root(queries):
    return 1 / np.sqrt(queries.shape[-1])


def _scale(queries, scale):
    return _root(queries) if scale is None else scale


def scaled_plainly(queries, keys, values, scale=None):
    if scale is None:
        scale = 1 / math.sqrt(queries.shape[-1])
    weights = softmax(attention_scores(queries, keys) * scale)
    return weights @ values, weights


def scaled_recursion(queries, keys, values, *, scale=None):
    if queries.ndim > 2:
        items = [scaled_recursion(*item, scale=scale) for item in zip(queries, keys, values, strict=True)]
        return tuple(map(np.stack, zip(*items, strict=True)))
    scores = np.array([[sum(q * k) for k in keys] for q in queries])
    scores = scores / math.sqrt(len(queries[0])) if scale is None else scores * scale
    e = np.exp(scores - scores.max(1)[:, None])
    weights = e / e.sum(1)[:, None]
    return np.dot(weights, values), weights


def scaled_in_place(queries, keys, values, scale=None):
    scores = np.matmul(queries, np.swapaxes(keys, -1, -2))
    scores *= _scale(queries, scale)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores @ values, scores


def scaled_flat_batch(queries, keys, values, scale=None):
    *batch, n_queries, d_head = queries.shape
    q, k, v = (array.reshape(-1, *array.shape[-2:]) for array in (queries, keys, values))
    weights = np.empty((len(q), n_queries, k.shape[1]))
    for i in range(len(q)):
        weights[i] = softmax(q[i] @ k[i].T * (scale if scale is not None else d_head**-0.5))
    context = weights @ v
    return context.reshape(*batch, n_queries, -1), weights.reshape(*batch, n_queries, -1)


class ScaledObject:
    def __call__(self, queries, keys, values, scale=None):
        return list(scaled_plainly(queries, keys, values, scale))


RIGHT = (
    scaled_recursion,
    scaled_in_place,
    scaled_flat_batch,
    ScaledObject(),
    np.vectorize(scaled_plainly, signature="(q,d),(k,d),(k,v)->(q,v),(q,k)", excluded={"scale"}),
    lambda q, k, v, scale=None: tuple(np.ma.masked_array(array) for array in scaled_plainly(q, k, v, scale)),
)  # fmt: skip


def _by(factor, given=None):
    """Scores times factor(q, k, v) where no scale is given, else times given(scale)."""

    def wrong(queries, keys, values, scale=None):
        times = factor(queries, keys, values) if scale is None else given(scale) if given else scale
        return dot_product_attention(queries * times, keys, values)

    return wrong


def _given(given):
    return _by(lambda q, k, v: _root(q), given)


def _after(change):
    return lambda q, k, v, scale=None: change(*scaled_plainly(q, k, v, scale))


def _weighing(weigh):
    def wrong(queries, keys, values, scale=None):
        weights = weigh(attention_scores(queries, keys) * _scale(queries, scale))
        return weights @ values, weights

    return wrong


def scaled_default_one(queries, keys, values, scale=1):
    """Takes 1 for "nothing given"."""
    if scale == 1:
        scale = _root(queries)
    return scaled_plainly(queries, keys, values, scale)


def scaled_default_minus_one(queries, keys, values, scale=-1):
    if scale < 0:
        scale = _root(queries)
    return scaled_plainly(queries, keys, values, scale) if scale else None


def scaled_keeps_given(queries, keys, values, scale=None, kept=[]):  # noqa: B006
    """A scale that was given once stays."""
    if scale is not None:
        kept[:] = [scale]
    return scaled_plainly(queries, keys, values, kept[0] if kept else None)


def scaled_writes_queries(queries, keys, values, scale=None):
    queries *= _scale(queries, scale)
    return dot_product_attention(queries, keys, values)


def scaled_squeezed(queries, keys, values, scale=None):
    context, weights = scaled_plainly(queries, keys, values, scale)
    return context.squeeze(), weights


def scaled_integer_root(queries, keys, values, scale=None):
    return scaled_plainly(queries, keys, values, 1 / math.isqrt(queries.shape[-1]) if scale is None else scale)


def scaled_only_batches(queries, keys, values, scale=None):
    if queries.ndim == 2:
        return dot_product_attention(queries, keys, values)
    return scaled_plainly(queries, keys, values, scale)


def scaled_only_matrices(queries, keys, values, scale=None):
    _, d_head = queries.shape
    return scaled_plainly(queries, keys, values, d_head**-0.5 if scale is None else scale)


def scaled_first_item(queries, keys, values, scale=None):
    weights = softmax(attention_scores(queries, keys) * _scale(queries, scale))
    return weights @ (values[:1] if values.ndim > 2 else values), weights


def scaled_norms(queries, keys, values, scale=None):
    """Divides by the vectors' lengths."""
    return scaled_plainly(
        queries / np.linalg.norm(queries, axis=-1, keepdims=True),
        keys / np.linalg.norm(keys, axis=-1, keepdims=True),
        values,
        scale,
    )


def scaled_max_before_scale(queries, keys, values, scale=None):
    """Divides the scores, and forgets to divide the maximum that it subtracts."""
    scores = attention_scores(queries, keys)
    e = np.exp(scores * _scale(queries, scale) - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ values, weights


def scaled_numerator_only(queries, keys, values, scale=None):
    scores = attention_scores(queries, keys)
    e = np.exp((scores - scores.max(-1, keepdims=True)) * _scale(queries, scale))
    weights = e / np.exp(scores - scores.max(-1, keepdims=True)).sum(axis=-1, keepdims=True)
    return weights @ values, weights


WRONG = {
    "scale-constant": (_by(lambda q, k, v: 1 / np.sqrt(q.ndim)),),
    "input-changed": (scaled_writes_queries,),
    "scale-missing": (scaled_only_batches,),
    "softmax-not-normalised": (_after(lambda context, weights: (context, weights / weights.max(-1, keepdims=True))),),
    None: (
        scaled_default_one,
        scaled_default_minus_one,
        scaled_keeps_given,
        scaled_squeezed,
        scaled_integer_root,
        scaled_only_matrices,
        scaled_first_item,
        scaled_norms,
        scaled_max_before_scale,
        scaled_numerator_only,
        _by(lambda q, k, v: 1 / np.sqrt(max(q.shape))),
        _by(lambda q, k, v: 1 / np.sqrt(min(q.shape))),
        _by(lambda q, k, v: _root(q) if q.shape[-1] > 1 else 0),
        _by(lambda q, k, v: round(float(_root(q)), 1)),
        _by(lambda q, k, v: _root(q) if q.ndim < 4 else 1 / np.sqrt(q.shape[1])),
        _by(lambda q, k, v: _root(q) if q.dtype == np.float64 else 1),
        _given(lambda scale: scale**2),
        _given(lambda scale: 1 - scale),
        _given(lambda scale: scale if scale < 0.5 else 0.5),
        _given(lambda scale: 0.3),
        _weighing(lambda s: softmax(s).swapaxes(-1, -2) if s.shape[-1] == s.shape[-2] else softmax(s)),
        _weighing(lambda s: softmax(np.clip(s, -50, 50))),
        _after(lambda context, weights: (context[0], weights[0])),
        _after(lambda context, weights: (context, weights, weights)),
        _after(lambda context, weights: {"context": context, "weights": weights}),
        _after(lambda context, weights: (context + weights[..., :1], weights)),
        lambda q, k, v, scale: scaled_plainly(q, k, v, scale),
        lambda q, k, v: scaled_plainly(q, k, v),
        lambda q, k, v, scale=None: scaled_plainly(q, v, v, scale) if k.shape == v.shape else scaled_plainly(q, k, v, scale),
    ),
}  # fmt: skip

TOLD = ()
