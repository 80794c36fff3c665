"""Answers to softmax: right ones in many styles, and wrong ones."""

import functools
import math
from decimal import Decimal

import numpy as np

from mha_helpers.attention import softmax

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


class SoftmaxArray(np.ndarray):
    """A class that *is* the function: `SoftmaxArray(scores)`."""

    def __new__(cls, scores):
        return softmax(scores).view(cls)


RIGHT = (
    softmax_float32,
    functools.partial(lambda axis, scores: softmax(np.moveaxis(scores, axis, -1)), -1),
    softmax_nested_tuples,
    softmax_decimal,
    SoftmaxArray,
    lambda scores: np.matrix(softmax(scores)) if scores.ndim == 2 else softmax(scores),
)


def softmax_only_matrices(scores):
    n_rows, n_keys = scores.shape
    return softmax(scores).reshape(n_rows, n_keys)


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


def softmax_no_return(scores):
    softmax(scores)


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


def softmax_max_by_abs(scores):
    top = np.take_along_axis(scores, np.abs(scores).argmax(axis=-1)[..., None], axis=-1)
    e = np.exp(scores - top)
    return e / e.sum(axis=-1, keepdims=True)


WRONG = {
    "input-changed": (softmax_in_place,),
    "softmax-not-normalised": (lambda scores: np.exp(scores) / np.exp(scores).max(-1, keepdims=True),),
    "softmax-keepdims": (lambda scores: softmax(scores - scores.max(-1)) if scores.ndim == 2 else softmax(scores),),
    "softmax-max-axis": (_shifted_by(lambda s: s.max(axis=0)),),
    "softmax-over-queries": (lambda scores: np.exp(scores) / sum(np.exp(scores)),),
    "softmax-axis-1": (lambda scores: np.exp(scores) / np.sum(np.exp(scores), axis=1, keepdims=True),),
    "float16": (lambda scores: softmax(scores).astype(np.float16),),
    "softmax-other-shift": (softmax_first_score_subtracted,),  # [[0, 1000]]: NaN
    "softmax-turned-in-a-batch": (lambda scores: (np.exp(scores).T / np.exp(scores).sum(axis=-1)).T,),
    None: (
        softmax_only_matrices,
        softmax_no_return,
        lambda scores: softmax(scores) + 0j,
        lambda: 1,
        lambda scores: softmax(scores.ravel("K").reshape(scores.shape)),
        softmax_squeezed,  # shape (1, 3, 5), (2, 1, 5), (2, 1)
        softmax_max_only_if_large,  # float32 [[100, 99]]: NaN
        softmax_max_by_abs,
        lambda scores: softmax(np.clip(scores, -700, 700)),
        lambda scores: (
            softmax(scores)
            if scores.ndim < 4
            else softmax(scores.swapaxes(1, 2)).swapaxes(1, 2).reshape(scores.shape)[::-1]
        ),
        lambda scores: softmax(np.atleast_2d(scores)),
    ),
}


def softmax_of_rows_run_together(scores):
    weights = []
    for row in scores:
        weights.extend(np.exp(row) / np.exp(row).sum())
    return np.array(weights)


TOLD = ((softmax_of_rows_run_together, "one by one: weights.append(...) puts in the row."),)
