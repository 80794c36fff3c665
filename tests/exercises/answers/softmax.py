"""Answers to softmax: right ones in many styles, and wrong ones."""

import functools
import itertools
import math
from decimal import Decimal

import numpy as np

from mha_helpers.maths.attention import softmax

TELLING_CASE = ("a batch with heads", 4)


def softmax_float32(scores):
    scores = scores.astype(np.float32)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / np.einsum("...k->...", e)[..., np.newaxis]


def softmax_nested_tuples(scores):
    if scores.ndim > 1:
        return tuple(map(softmax_nested_tuples, scores))
    e = [math.e ** (x - max(scores.tolist())) for x in scores.tolist()]
    return tuple(x / sum(e) for x in e)


def softmax_decimal(scores):
    if scores.ndim > 1:
        return [softmax_decimal(row) for row in scores]
    powers = [Decimal(float(x)).exp() for x in scores]  # Decimal has room for exp(1000)
    return [p / sum(powers) for p in powers]


def softmax_nditer(scores):
    weights = np.empty(scores.shape)
    for index in itertools.product(*map(range, scores.shape[:-1])):
        e = np.exp(scores[index] - scores[index].max())
        weights[index] = e / e.sum()
    return weights


def softmax_diag(scores):
    flat = scores.reshape(-1, scores.shape[-1])
    e = np.exp(flat - flat.max(1)[:, None])
    return (np.diag(1 / e.sum(1)) @ e).reshape(scores.shape)


def softmax_try_then_stable(scores):
    try:
        with np.errstate(all="raise"):
            e = np.exp(scores)
            return e / e.sum(-1, keepdims=True)
    except FloatingPointError:
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)


class SoftmaxArray(np.ndarray):
    """A class that *is* the function: `SoftmaxArray(scores)`."""

    def __new__(cls, scores):
        return softmax(scores).view(cls)


RIGHT = (
    softmax_float32,
    functools.partial(lambda axis, scores: softmax(np.moveaxis(scores, axis, -1)), -1),
    lambda scores: np.ma.masked_array(softmax(scores)),
    softmax_nested_tuples,
    softmax_decimal,
    softmax_nditer,
    softmax_diag,
    softmax_try_then_stable,
    SoftmaxArray,
    lambda scores: np.matrix(softmax(scores)) if scores.ndim == 2 else softmax(scores),
)  # fmt: skip


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


def _shifted_by(shift):
    """Softmax with another number subtracted than the row's largest score."""

    def wrong(scores):
        e = np.exp(scores - shift(scores))
        return e / e.sum(axis=-1, keepdims=True)

    return wrong


def softmax_first_score_subtracted(scores):
    e = np.exp(scores - scores[..., :1])
    return e / e.sum(axis=-1, keepdims=True)


def softmax_squeezed(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.squeeze(e / e.sum(axis=-1, keepdims=True))


def softmax_max_only_if_large(scores):
    """Guards against float64's limit, 709; float32 overflows at 88.7."""
    if scores.max() > 700 or scores.min() < -700:
        scores = scores - scores.max(axis=-1, keepdims=True)
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def softmax_max_only_if_above_700(scores):
    """Looks for large scores only, not for very low ones."""
    if (scores > 700).any():
        scores = scores - scores.max(axis=-1, keepdims=True)
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def softmax_cached_by_shape(scores, cache={}):  # noqa: B006
    if scores.shape not in cache:
        cache[scores.shape] = softmax(scores)
    return cache[scores.shape]


def softmax_max_by_abs(scores):
    top = np.take_along_axis(scores, np.abs(scores).argmax(axis=-1)[..., None], axis=-1)
    e = np.exp(scores - top)
    return e / e.sum(axis=-1, keepdims=True)


def softmax_distinct_scores(scores):
    """A dictionary by score, summed over its keys: equal scores count once."""
    if scores.ndim > 1:
        return [softmax_distinct_scores(row) for row in scores]
    weights = {float(score): math.exp(score - max(scores)) for score in scores}
    return [weights[float(score)] / sum(weights.values()) for score in scores]


def softmax_two_nested_loops(scores):
    """Loops for a matrix; a batch's second axis is taken for its last."""
    if scores.ndim == 1:
        return softmax(scores)
    weights = np.zeros(scores.shape)
    for i in range(scores.shape[0]):
        total = sum(np.exp(scores[i, j] - scores[i].max()) for j in range(scores.shape[1]))
        for j in range(scores.shape[1]):
            weights[i, j] = np.exp(scores[i, j] - scores[i].max()) / total
    return weights


def softmax_inf_caught(scores):
    """Overflow is mended afterwards: infinite becomes 1, the rest 0."""
    e = np.exp(scores)
    w = e / e.sum(axis=-1, keepdims=True)
    return np.where(np.isnan(w), np.isinf(e), w)


WRONG = {
    "input-changed": (softmax_in_place,),
    "softmax-not-normalised": (lambda scores: np.exp(scores) / np.exp(scores).max(-1, keepdims=True),),
    "softmax-keepdims": (lambda scores: softmax(scores - scores.max(-1)) if scores.ndim == 2 else softmax(scores),),
    "softmax-max-axis": (_shifted_by(lambda s: s.max(axis=0)),),
    "softmax-over-queries": (lambda scores: np.exp(scores) / sum(np.exp(scores)),),
    "softmax-axis-1": (lambda scores: np.exp(scores) / np.sum(np.exp(scores), axis=1, keepdims=True),),
    None: (
        softmax_only_matrices,
        softmax_first_row_max,
        softmax_first_batch_item,
        softmax_no_return,
        softmax_string,
        softmax_rounded,
        lambda scores: softmax(scores / 2),
        lambda scores: softmax(np.clip(scores, -50, 50)),
        lambda scores: softmax(scores).swapaxes(-1, -2) if scores.ndim > 1 else softmax(scores),
        lambda scores: np.exp(scores - scores.mean(-1, keepdims=True))
        / np.exp(scores - scores.mean(-1, keepdims=True)).sum(-1, keepdims=True),
        lambda scores: scores,
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
        lambda scores: softmax(scores) if scores.dtype == np.float64 else scores,
        lambda scores: softmax(scores.ravel("K").reshape(scores.shape)),
        softmax_first_score_subtracted,  # [[0, 1000]]: NaN
        softmax_squeezed,  # shape (1, 3, 5), (2, 1, 5), (2, 1)
        softmax_max_only_if_above_700,  # [[-1000, -1001]] with no row of very large scores beside it: NaN
        softmax_max_only_if_large,  # float32 [[100, 99]]: NaN
        softmax_cached_by_shape,  # two inputs of one shape
        lambda scores: softmax(scores).astype(object).astype(str).astype(object),  # objects that are text
        softmax_max_by_abs,
        softmax_distinct_scores,
        softmax_two_nested_loops,
        softmax_inf_caught,
        _shifted_by(lambda s: 700),
        lambda scores: softmax(np.clip(scores, -700, 700)),
        lambda scores: softmax(scores).astype(np.float16),
        lambda scores: softmax(scores) * (softmax(scores) > 0.01),
        lambda scores: (np.exp(scores).T / np.exp(scores).sum(axis=-1)).T,
        lambda scores: np.array([np.exp(r - r.max()) / np.exp(r - r.max()).sum() for r in scores]),
        lambda scores: softmax(scores) if scores.ndim < 4 else softmax(scores.swapaxes(1, 2)).swapaxes(1, 2).reshape(scores.shape)[::-1],
        lambda scores: softmax(np.atleast_2d(scores)),
    ),
}  # fmt: skip


def softmax_of_rows_run_together(scores):
    weights = []
    for row in scores:
        weights.extend(np.exp(row) / np.exp(row).sum())
    return np.array(weights)


TOLD = ((softmax_of_rows_run_together, "one by one: weights.append(...) puts in the row."),)
