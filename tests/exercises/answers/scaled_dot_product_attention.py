"""Answers to scaled_dot_product_attention: right ones in many styles, and wrong ones."""

import math

import numpy as np

from mha_helpers.attention import attention_scores, dot_product_attention, softmax

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


class ScaledObject:
    def __call__(self, queries, keys, values, scale=None):
        return list(scaled_plainly(queries, keys, values, scale))


RIGHT = (
    scaled_recursion,
    ScaledObject(),
    np.vectorize(scaled_plainly, signature="(q,d),(k,d),(k,v)->(q,v),(q,k)", excluded={"scale"}),
)


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


def scaled_squeezed(queries, keys, values, scale=None):
    context, weights = scaled_plainly(queries, keys, values, scale)
    return context.squeeze(), weights


def scaled_only_batches(queries, keys, values, scale=None):
    if queries.ndim == 2:
        return dot_product_attention(queries, keys, values)
    return scaled_plainly(queries, keys, values, scale)


def scaled_norms(queries, keys, values, scale=None):
    """Divides by the vectors' lengths."""
    return scaled_plainly(
        queries / np.linalg.norm(queries, axis=-1, keepdims=True),
        keys / np.linalg.norm(keys, axis=-1, keepdims=True),
        values,
        scale,
    )


WRONG = {
    "scale-fixed-above": (_by(lambda q, k, v: min(q.shape[-1], 8) ** -0.5),),
    "scale-constant": (_by(lambda q, k, v: 1 / np.sqrt(q.ndim)),),
    "scale-missing": (scaled_only_batches,),
    "softmax-not-normalised": (_after(lambda context, weights: (context, weights / weights.max(-1, keepdims=True))),),
    None: (
        scaled_default_one,
        scaled_squeezed,
        scaled_norms,
        _by(lambda q, k, v: _root(q) if q.shape[-1] > 1 else 0),
        _by(lambda q, k, v: _root(q) if q.dtype == np.float64 else 1),
        _given(lambda scale: scale**2),
        _given(lambda scale: scale if scale < 0.5 else 0.5),
        _weighing(lambda s: softmax(s).swapaxes(-1, -2) if s.shape[-1] == s.shape[-2] else softmax(s)),
        lambda q, k, v, scale=None: (
            scaled_plainly(q, v, v, scale) if k.shape == v.shape else scaled_plainly(q, k, v, scale)
        ),
    ),
}

TOLD = ()
