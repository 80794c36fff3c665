"""Right answers in styles that nobody thinks of first."""

import array
import collections
import functools
import itertools
import math
import operator
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mha_helpers.attention import attention_scores, softmax

# ---- softmax ---------------------------------------------------------------------------------


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


class Row(NamedTuple):
    first: object
    rest: object


def softmax_buffer(scores):
    """A row as array.array, rows in a deque."""
    if scores.ndim > 1:
        return collections.deque(softmax_buffer(row) for row in scores)
    return array.array("d", softmax(scores))


RIGHT_SOFTMAX = (
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


# ---- attention_scores ------------------------------------------------------------------------


def scores_letters(queries, keys):
    return np.einsum({2: "qd,kd->qk", 3: "bqd,bkd->bqk", 4: "bhqd,bhkd->bhqk"}[queries.ndim], queries, keys)


def scores_indices(queries, keys):
    scores = np.empty((*queries.shape[:-1], keys.shape[-2]))
    for *batch, i, j in np.ndindex(scores.shape):
        scores[(*batch, i, j)] = sum(map(operator.mul, queries[(*batch, i)], keys[(*batch, j)]))
    return scores


def scores_recursive(queries, keys):
    return queries @ keys.T if queries.ndim == 2 else np.stack(list(map(scores_recursive, queries, keys)))


def scores_block_product(queries, keys):
    """The upper right block of the product of [queries; keys] with its own transpose."""
    both = np.concatenate([queries, keys], axis=-2)
    n = queries.shape[-2]
    return (both @ both.swapaxes(-1, -2))[..., :n, n:]


def scores_kahan(queries, keys):
    if queries.ndim > 2:
        return [scores_kahan(q, k) for q, k in zip(queries, keys, strict=True)]
    return [[math.fsum((q * k).tolist()) for k in keys] for q in queries]


def scores_divide_and_conquer(queries, keys):
    d = queries.shape[-1]
    if d == 1:
        return queries * keys.swapaxes(-1, -2)
    half = d // 2
    return scores_divide_and_conquer(queries[..., :half], keys[..., :half]) + scores_divide_and_conquer(
        queries[..., half:], keys[..., half:]
    )


class Scores(NamedTuple):
    rows: object


RIGHT_SCORES = (
    scores_letters,
    scores_indices,
    scores_recursive,
    scores_block_product,
    scores_kahan,
    scores_divide_and_conquer,
    np.vectorize(lambda q, k: q @ k.T, signature="(q,d),(k,d)->(q,k)"),
    np.vectorize(np.inner, signature="(q,d),(k,d)->(q,k)"),
    lambda q, k: np.linalg.matmul(q, np.linalg.matrix_transpose(k)),
    lambda q, k: np.linalg.vecdot(q[..., :, None, :], k[..., None, :, :]),
    lambda q, k: np.vecdot(q[..., :, None, :], k[..., None, :, :]),
    lambda q, k: np.add.reduce(q[..., :, None, :] * k[..., None, :, :], axis=-1),
    lambda q, k: np.stack([(q * k[..., j : j + 1, :]).sum(-1) for j in range(k.shape[-2])], axis=-1),
    lambda q, k: np.stack([(q[..., i : i + 1, :] * k).sum(-1) for i in range(q.shape[-2])], axis=-2),
    lambda q, k: np.stack([(k @ q[..., i, :, None])[..., 0] for i in range(q.shape[-2])], axis=-2),
    lambda q, k: np.tensordot(q, k, (-1, -1)) if q.ndim == 2 else np.stack([a @ b.mT for a, b in zip(q, k, strict=True)]),
    lambda q, k: np.einsum(q, [..., 0, 2], k, [..., 1, 2], [..., 0, 1]),
    lambda q, k: np.einsum("...id,...dj", q, k.swapaxes(-1, -2)),  # no arrow: alphabetical, so i before j
    lambda q, k: (q @ k.mT).astype(np.longdouble),
    lambda q, k: q.astype(np.longdouble) @ k.mT.astype(np.longdouble),
    lambda q, k: (q @ k.mT + 0j).real,
    lambda q, k: np.asmatrix(q) * np.asmatrix(k).T if q.ndim == 2 else q @ k.mT,
    lambda q, k: np.ma.array((q @ k.mT).filled() if hasattr(q, "filled") else q @ k.mT),
    lambda q, k: tuple(map(tuple, (q @ k.mT).tolist())),
    lambda q, k: Tensor(q @ k.mT),
    lambda q, k: ((q[..., :, None, :] + k[..., None, :, :]) ** 2 - (q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(-1) / 4,
    lambda q, k: np.linalg.norm(q, axis=-1)[..., :, None] * np.einsum("...qd,...kd->...qk", q / np.linalg.norm(q, axis=-1, keepdims=True), k),
    lambda queries, keys, *, scale=1.0: queries @ keys.swapaxes(-1, -2) * scale,
    lambda *qk: qk[0] @ qk[1].mT,
    functools.partial(lambda scale, q, k: scale * q @ k.mT, 1),
    lambda q, k: np.array([[[float(a @ b) for b in y] for a in x] for x, y in zip(q.reshape(-1, *q.shape[-2:]), k.reshape(-1, *k.shape[-2:]), strict=True)]).reshape(*q.shape[:-1], k.shape[-2]),
    lambda q, k: np.array([[Decimal(float(a)) for a in row] for row in (q @ k.mT)]) if q.ndim == 2 else q @ k.mT,
)  # fmt: skip


# ---- dot_product_attention -------------------------------------------------------------------


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


RIGHT_ATTENTION = (
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
