"""Answers to softmax: right ones in many styles, and wrong ones."""

import array
import collections
import functools
import itertools
import math
import operator
from decimal import Decimal
from fractions import Fraction

import numpy as np

from mha_helpers.maths.attention import softmax

CATALOGUE = (
    "softmax-over-queries",
    "softmax-global",
    "softmax-no-exp",
    "softmax-no-max",
    "softmax-hard-max",
    "softmax-keepdims",
)

TELLING_CASE = ("a batch with heads", 4)


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


def softmax_generators(scores):
    if scores.ndim > 1:
        return list(softmax_generators(row) for row in scores)
    top = functools.reduce(max, scores.tolist())
    powers = list(math.exp(x - top) for x in scores.tolist())
    return list(p / math.fsum(powers) for p in powers)


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


def softmax_fraction(scores):
    if scores.ndim > 1:
        return [softmax_fraction(row) for row in scores]
    powers = [Fraction(math.exp(x - max(scores))) for x in scores]
    return [p / sum(powers) for p in powers]


def softmax_object_array(scores):
    return np.array(softmax_fraction(scores), dtype=object)


def softmax_online(scores):
    top, total = np.full(scores.shape[:-1], -np.inf), np.zeros(scores.shape[:-1])
    for j in range(scores.shape[-1]):
        new = np.maximum(top, scores[..., j])
        total = total * np.exp(top - new) + np.exp(scores[..., j] - new)
        top = new
    return np.exp(scores - top[..., None]) / total[..., None]


def softmax_halves(scores):
    """Recursion over halves of a row: each returns its exponentials, its maximum and its sum."""

    def part(row):
        if row.shape[-1] == 1:
            return np.ones_like(row), row, np.ones_like(row)
        middle = row.shape[-1] // 2
        (a, top_a, sum_a), (b, top_b, sum_b) = part(row[..., :middle]), part(row[..., middle:])
        top = np.maximum(top_a, top_b)
        a, b = a * np.exp(top_a - top), b * np.exp(top_b - top)
        return np.concatenate([a, b], -1), top, sum_a * np.exp(top_a - top) + sum_b * np.exp(top_b - top)

    e, _, total = part(scores)
    return e / total


def softmax_sigmoid_pairs(scores):
    """1 / sum_k exp(s_k - s_j), with the sum through logaddexp."""
    return np.exp(-np.logaddexp.reduce(scores[..., None, :] - scores[..., :, None], axis=-1))


def softmax_nditer(scores):
    weights = np.empty(scores.shape)
    for index in itertools.product(*map(range, scores.shape[:-1])):
        e = np.exp(scores[index] - scores[index].max())
        weights[index] = e / e.sum()
    return weights


def softmax_tanh(scores):
    """e^x = (1 + tanh(x/2)) / (1 - tanh(x/2)), for x of 0 and less."""
    t = np.tanh((scores - scores.max(-1, keepdims=True)) / 2)
    e = (1 + t) / (1 - t)
    return e / e.sum(-1, keepdims=True)


def softmax_hypot(scores):
    e = np.exp((scores - scores.max(-1, keepdims=True)) / 2)
    return (e / np.linalg.norm(e, axis=-1, keepdims=True)) ** 2


def softmax_diag(scores):
    flat = scores.reshape(-1, scores.shape[-1])
    e = np.exp(flat - flat.max(1)[:, None])
    return (np.diag(1 / e.sum(1)) @ e).reshape(scores.shape)


def softmax_bincount(scores):
    flat = scores.reshape(-1, scores.shape[-1])
    e = np.exp(flat - flat.max(1, keepdims=True))
    rows = np.repeat(np.arange(len(flat)), flat.shape[1])
    return (e.ravel() / np.bincount(rows, e.ravel())[rows]).reshape(scores.shape)


def softmax_ones_matrix(scores):
    e = np.exp(scores - np.max(scores, axis=scores.ndim - 1, keepdims=True))
    return e / (e @ np.ones((scores.shape[-1], scores.shape[-1])))


def softmax_try_then_stable(scores):
    try:
        with np.errstate(all="raise"):
            e = np.exp(scores)
            return e / e.sum(-1, keepdims=True)
    except FloatingPointError:
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)


def softmax_where(scores):
    e = np.exp(scores - np.nanmax(scores, axis=-1, keepdims=True))
    return np.divide(e, e.sum(-1, keepdims=True), out=np.zeros_like(e), where=e.sum(-1, keepdims=True) > 0)


def softmax_positional_only(scores, /, *, axis=-1, keepdims=True):
    e = np.exp(scores - scores.max(axis=axis, keepdims=keepdims))
    return e / e.sum(axis=axis, keepdims=keepdims)


def softmax_star(*arguments, **options):
    return softmax(arguments[0])


def logged(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        call.count += 1
        return function(*args, **kwargs)

    call.count = 0
    return call


@logged
def softmax_decorated(scores):
    return softmax_nditer(scores)


class Tensor:
    """A torch-like class."""

    def __init__(self, data):
        self.data = np.asarray(data)
        self.shape = self.data.shape

    def __array__(self, dtype=None, copy=None):
        return np.array(self.data, dtype=dtype)


class OldTensor:
    """A class whose __array__ knows neither dtype nor copy."""

    def __init__(self, data):
        self.data = data

    def __array__(self):
        return np.array(self.data)


class Layer:
    def forward(self, scores):
        return softmax_online(scores)

    __call__ = forward

    @staticmethod
    def static(scores):
        return softmax_online(scores)

    @classmethod
    def of_class(cls, scores):
        return softmax_online(scores)


class SoftmaxArray(np.ndarray):
    """A class that *is* the function: `SoftmaxArray(scores)`."""

    def __new__(cls, scores):
        return softmax(scores).view(cls)


def softmax_buffer(scores):
    """A row as array.array, rows in a deque."""
    if scores.ndim > 1:
        return collections.deque(softmax_buffer(row) for row in scores)
    return array.array("d", softmax(scores))


RIGHT = (
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
    softmax_generators,
    softmax_nested_tuples,
    softmax_decimal,
    softmax_fraction,
    softmax_object_array,
    softmax_online,
    softmax_halves,
    softmax_sigmoid_pairs,
    softmax_nditer,
    softmax_tanh,
    softmax_hypot,
    softmax_diag,
    softmax_bincount,
    softmax_ones_matrix,
    softmax_try_then_stable,
    softmax_where,
    softmax_positional_only,
    softmax_star,
    softmax_decorated,
    softmax_buffer,
    Layer(),
    Layer().forward,
    Layer.static,
    Layer.of_class,
    SoftmaxArray,
    np.vectorize(softmax, signature="(k)->(k)"),
    functools.partial(softmax_positional_only, axis=-1),
    functools.lru_cache(maxsize=None)(lambda: softmax_online)(),
    lambda scores: Tensor(softmax(scores)),
    lambda scores: OldTensor(softmax(scores)),
    lambda scores, axis=-1: np.exp(scores - scores.max(axis, keepdims=True)) / np.exp(scores - scores.max(axis, keepdims=True)).sum(axis, keepdims=True),
    lambda scores: np.matrix(softmax(scores)) if scores.ndim == 2 else softmax(scores),
    lambda scores: np.ma.masked_less(softmax(scores), 0),
    lambda scores: memoryview(np.ascontiguousarray(softmax(scores))),
    lambda scores: softmax(scores).tolist(),
    lambda scores: list(softmax(scores)),
    lambda scores: softmax(scores).astype(">f8"),
    lambda scores: softmax(scores.astype(np.longdouble)),
    lambda scores: softmax(scores).astype(object),
    lambda scores: np.exp(scores - scores.max(-1, keepdims=True) - np.log(np.sum(np.exp(scores - scores.max(-1, keepdims=True)), -1, keepdims=True))),
    lambda scores: np.power(np.e, scores - scores.max(-1, keepdims=True)) / np.power(np.e, scores - scores.max(-1, keepdims=True)).sum(-1, keepdims=True),
    lambda scores: (lambda e: (e.T / e.T.sum(0)).T)(np.exp(scores - scores.max(-1, keepdims=True))),
    lambda scores: (lambda e: np.einsum("...k,...->...k", e, 1 / e.sum(-1)))(np.exp(scores - scores.max(-1)[..., None])),
    lambda scores: (lambda s: np.exp(s) / np.exp(s).sum(-1, keepdims=True))(scores - np.sort(scores, -1)[..., -1:]),
    lambda scores: (lambda s: np.exp(s) / np.exp(s).sum(-1, keepdims=True))(scores - np.partition(scores, -1, -1)[..., -1:]),
    lambda scores: (lambda s: np.exp(s) / np.exp(s).sum(-1, keepdims=True))(scores - np.take_along_axis(scores, scores.argmax(-1)[..., None], -1)),
    lambda scores: np.moveaxis(np.array(list(map(functools.partial(operator.getitem, np.moveaxis(softmax(scores), -1, 0)), range(scores.shape[-1])))), 0, -1),
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


def softmax_median_subtracted(scores):
    e = np.exp(scores - np.median(scores, axis=-1, keepdims=True))
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


def softmax_divided_until_it_fits(scores):
    top = np.abs(scores).max()
    if top > 700:
        scores = scores / top * 700
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def softmax_cached_by_shape(scores, cache={}):  # noqa: B006
    if scores.shape not in cache:
        cache[scores.shape] = softmax(scores)
    return cache[scores.shape]


def softmax_max_by_abs(scores):
    top = np.take_along_axis(scores, np.abs(scores).argmax(axis=-1)[..., None], axis=-1)
    e = np.exp(scores - top)
    return e / e.sum(axis=-1, keepdims=True)


def softmax_running_max(scores):
    """Accumulate instead of reduce: each score meets the largest so far."""
    e = np.exp(scores - np.maximum.accumulate(scores, axis=-1))
    return e / e.sum(axis=-1, keepdims=True)


def softmax_cumulative(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.cumsum(axis=-1)


def softmax_others_only(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / (e.sum(axis=-1, keepdims=True) - e)


def softmax_distinct_scores(scores):
    """A dictionary by score, summed over its keys: equal scores count once."""
    if scores.ndim > 1:
        return [softmax_distinct_scores(row) for row in scores]
    weights = {float(score): math.exp(score - max(scores)) for score in scores}
    return [weights[float(score)] / sum(weights.values()) for score in scores]


def softmax_temperature(scores):
    return softmax(scores / np.sqrt(scores.shape[-1]))


def softmax_sum_shared(scores):
    """`total` is not set back to 0 for the next row."""
    rows, total = [], 0
    for row in scores.reshape(-1, scores.shape[-1]):
        e = np.exp(row - row.max())
        total = total + e.sum()
        rows.append(e / total)
    return np.array(rows).reshape(scores.shape)


def softmax_off_by_one(scores):
    e = np.exp(scores - scores[..., :-1].max(axis=-1, keepdims=True))
    return e / e[..., :-1].sum(axis=-1, keepdims=True)


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


def softmax_taylor(scores):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    e = 1 + shifted + shifted**2 / 2
    return e / e.sum(axis=-1, keepdims=True)


def softmax_inf_caught(scores):
    """Overflow is mended afterwards: infinite becomes 1, the rest 0."""
    e = np.exp(scores)
    w = e / e.sum(axis=-1, keepdims=True)
    return np.where(np.isnan(w), np.isinf(e), w)


def softmax_equal_if_nan(scores):
    e = np.exp(scores)
    return np.nan_to_num(e / e.sum(axis=-1, keepdims=True), nan=1 / scores.shape[-1])


WRONG = {
    "input-changed": (softmax_in_place,),
    "softmax-not-normalised": (
        lambda scores: np.exp(scores) / np.exp(scores).max(-1, keepdims=True),
        lambda scores: softmax(scores) / softmax(scores).max(-1, keepdims=True),
    ),
    "softmax-no-max": (
        lambda scores: np.nan_to_num(np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)),
        lambda scores: np.exp(scores) / (np.exp(scores).sum(-1, keepdims=True) + 1e-9),
        lambda scores: np.exp(np.minimum(scores, 700)) / np.exp(np.minimum(scores, 700)).sum(-1, keepdims=True),
        lambda scores: (np.exp(scores).T / sum(np.exp(scores).T)).T,
    ),
    "softmax-keepdims": (lambda scores: softmax(scores - scores.max(-1)) if scores.ndim == 2 else softmax(scores),),
    "softmax-max-axis": (
        _shifted_by(lambda s: s.max(axis=0)),
        _shifted_by(lambda s: s.max(axis=0, keepdims=True)),
        _shifted_by(lambda s: s.max(axis=-2, keepdims=True) if s.ndim > 1 else s.max()),
    ),
    "softmax-over-queries": (lambda scores: np.exp(scores) / sum(np.exp(scores)),),
    "softmax-global": (lambda scores: np.exp(scores - scores.max()) / np.sum(np.exp(scores - scores.max())),),
    "softmax-axis-1": (lambda scores: np.exp(scores) / np.sum(np.exp(scores), axis=1, keepdims=True),),
    "softmax-no-exp": (lambda scores: np.abs(scores) / np.abs(scores).sum(-1, keepdims=True),),
    "softmax-sigmoid": (lambda scores: 1 / (1 + np.exp(-scores)) / (1 / (1 + np.exp(-scores))).sum(-1, keepdims=True),),
    "softmax-base": (lambda scores: 10.0**scores / (10.0**scores).sum(-1, keepdims=True),),
    None: (
        softmax_only_matrices,
        softmax_first_row_max,
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
        lambda scores: np.exp(scores) / np.exp(scores).mean(-1, keepdims=True),
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
        lambda scores: softmax(scores) if scores.dtype == np.float64 else scores,
        lambda scores: softmax(scores.reshape(scores.shape[::-1])).reshape(scores.shape),
        lambda scores: softmax(scores.ravel("K").reshape(scores.shape)),
        softmax_first_score_subtracted,  # [[0, 1000]]: NaN
        softmax_median_subtracted,  # [[0, 0, 1000]]: NaN
        softmax_squeezed,  # shape (1, 3, 5), (2, 1, 5), (2, 1)
        softmax_max_only_if_above_700,  # [[-1000, -1001]] with no row of very large scores beside it: NaN
        softmax_max_only_if_large,  # float32 [[100, 99]]: NaN
        softmax_cached_by_shape,  # two inputs of one shape
        _shifted_by(lambda s: s[..., 1:2]),  # the second score instead of the largest
        lambda scores: softmax(scores).astype(object).astype(str).astype(object),  # objects that are text
        lambda scores: np.exp(scores - scores[..., :1]) / np.exp(scores - scores[..., :1]).sum(-1, keepdims=True),
        softmax_divided_until_it_fits,
        softmax_max_by_abs,
        softmax_running_max,
        softmax_cumulative,
        softmax_others_only,
        softmax_distinct_scores,
        softmax_temperature,
        softmax_sum_shared,
        softmax_off_by_one,
        softmax_two_nested_loops,
        softmax_taylor,
        softmax_inf_caught,
        softmax_equal_if_nan,
        _shifted_by(lambda s: s.min(axis=-1, keepdims=True)),
        _shifted_by(lambda s: s[..., -1:]),
        _shifted_by(lambda s: s.sum(axis=-1, keepdims=True)),
        _shifted_by(lambda s: np.abs(s).max(axis=-1, keepdims=True)),
        _shifted_by(lambda s: s.max() / 2),
        _shifted_by(lambda s: 700),
        _shifted_by(lambda s: s.max(axis=min(1, s.ndim - 1), keepdims=True)),
        _shifted_by(lambda s: s[:1].max(axis=-1, keepdims=True)),
        _shifted_by(lambda s: s[-1].max()),
        _shifted_by(lambda s: np.maximum(s.max(axis=-1, keepdims=True), 0)),
        _shifted_by(lambda s: np.linalg.norm(s, axis=-1, keepdims=True)),
        lambda scores: softmax(np.clip(scores, -700, 700)),
        lambda scores: softmax(np.clip(scores, -88, 88)),
        lambda scores: softmax(np.clip(scores, -5, 5)),
        lambda scores: softmax(np.clip(scores, 0, None)),
        lambda scores: softmax(np.clip(scores - scores.max(-1, keepdims=True), -3, 0)),
        lambda scores: np.round(softmax(scores), 4),
        lambda scores: softmax(scores.round(1)),
        lambda scores: softmax(scores.astype(np.float16)),
        lambda scores: softmax(scores).astype(np.float16),
        lambda scores: softmax(scores.astype(int)),
        lambda scores: softmax(10 * scores),
        lambda scores: softmax(np.sort(scores, axis=-1)),
        lambda scores: softmax(np.tril(scores)) if scores.ndim > 1 else softmax(scores),
        lambda scores: softmax(scores) * (softmax(scores) > 0.01),
        lambda scores: (np.exp(scores).T / np.exp(scores).sum(axis=-1)).T,
        lambda scores: np.array([np.exp(r - r.max()) / np.exp(r - r.max()).sum() for r in scores]),
        lambda scores: np.log1p(np.exp(scores)) / np.log1p(np.exp(scores)).sum(-1, keepdims=True),
        lambda scores: (scores**2) / (scores**2).sum(-1, keepdims=True),
        lambda scores: np.expm1(scores) / np.expm1(scores).sum(-1, keepdims=True),
        lambda scores: 2.718 ** (scores - scores.max(-1, keepdims=True)) * 1.0,
        lambda scores: 2.7 ** (scores - scores.max(-1, keepdims=True))
        / (2.7 ** (scores - scores.max(-1, keepdims=True))).sum(-1, keepdims=True),
        lambda scores: np.random.default_rng(0).permuted(softmax(scores), axis=-1),
        lambda scores: np.random.default_rng().dirichlet(np.ones(scores.shape[-1]), scores.shape[:-1]),
        lambda scores: softmax(scores) * np.random.default_rng().binomial(1, 0.9, scores.shape) / 0.9,
        lambda scores: softmax(scores) if scores.ndim < 4 else softmax(scores.swapaxes(1, 2)).swapaxes(1, 2).reshape(scores.shape)[::-1],
        lambda scores: np.exp(scores - scores.max(-1, keepdims=True)) / len(scores),
        lambda scores: softmax(scores.reshape(-1, scores.shape[0])).reshape(scores.shape),
        lambda scores: softmax(scores)[..., :-1],
        lambda scores: softmax(np.atleast_2d(scores)),
        lambda scores: softmax(scores).tolist()[0],
    ),
}  # fmt: skip


def softmax_of_rows_run_together(scores):
    weights = []
    for row in scores:
        weights.extend(np.exp(row) / np.exp(row).sum())
    return np.array(weights)


TOLD = ((softmax_of_rows_run_together, "one by one: weights.append(...) puts in the row."),)
