"""Answers to attention_scores: right ones in many styles, and wrong ones."""

import functools
import itertools
import math
import operator
from decimal import Decimal
from fractions import Fraction

import numpy as np

from answers.softmax import Tensor
from mha_helpers.maths.attention import attention_scores, softmax

CATALOGUE = (
    "scores-keys-by-queries",
    "scores-reversed-axes",
    "scores-feature-by-feature",
    "scores-elementwise",
    "scores-cosine",
    "scores-np-dot",
)

TELLING_CASE = ("a batch with heads", 5)


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


RIGHT = (
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


def scores_rounded(queries, keys):
    return (queries @ keys.swapaxes(-1, -2)).round(4)


def scores_squeezed(queries, keys):
    return (queries[..., :, None, :] @ keys[..., None, :, :].swapaxes(-1, -2)).squeeze()


def scores_column_by_column_squeezed(queries, keys):
    return np.stack([(queries @ keys[..., j, :, None]).squeeze() for j in range(keys.shape[-2])], axis=-1)


def scores_square_buffer(queries, keys):
    """Room for n_keys queries."""
    n_queries, n_keys = queries.shape[-2], keys.shape[-2]
    scores = np.zeros((*queries.shape[:-2], n_keys, n_keys))
    scores[..., : min(n_queries, n_keys), :] = queries[..., :n_keys, :] @ keys.swapaxes(-1, -2)
    return scores[..., :n_queries, :]


def scores_longer_side_is_keys(queries, keys):
    if queries.shape[-2] > keys.shape[-2]:
        queries, keys = keys, queries
    return queries @ keys.swapaxes(-1, -2)


def scores_positive_diagonal_of_self(queries, keys):
    scores = attention_scores(queries, keys)
    if queries.shape == keys.shape and np.array_equal(queries, keys):
        scores = scores * (1 - np.eye(scores.shape[-1]))
    return scores


def scores_cached_first_keys(queries, keys):
    if not hasattr(scores_cached_first_keys, "keys"):
        scores_cached_first_keys.keys = keys.copy()
    return queries @ scores_cached_first_keys.keys.swapaxes(-1, -2)


def scores_only_first_head(queries, keys):
    scores = attention_scores(queries, keys)
    return scores[:, :1] + 0 * scores if scores.ndim == 4 else scores


def scores_swapped_batch_and_heads(queries, keys):
    if queries.ndim == 4:
        return np.einsum("bhqd,bhkd->hbqk", queries, keys)
    return attention_scores(queries, keys)


def scores_keys_reversed_by_flip(queries, keys):
    return queries @ np.flip(keys, axis=-2).swapaxes(-1, -2)


def scores_loop_first_feature_skipped(queries, keys):
    return sum(queries[..., :, None, f] * keys[..., None, :, f] for f in range(1, queries.shape[-1]))


def scores_loop_wrong_index(queries, keys):
    scores = np.zeros((*queries.shape[:-1], keys.shape[-2]))
    for i, j in itertools.product(range(queries.shape[-2]), range(keys.shape[-2])):
        scores[..., j % queries.shape[-2], i] = (queries[..., i, :] * keys[..., j, :]).sum(-1)
    return scores


WRONG = {
    "scores-distance": (lambda queries, keys: -np.linalg.norm(queries[..., :, None, :] - keys[..., None, :, :], axis=-1), lambda queries, keys: (queries[..., :, None, :] + keys[..., None, :, :]).sum(-1),),
    "scores-feature-left-out": (lambda queries, keys: attention_scores(queries[..., :-1], keys[..., :-1]), scores_loop_first_feature_skipped,),
    "scores-clipped": (lambda queries, keys: np.abs(attention_scores(queries, keys)), lambda queries, keys: np.maximum(attention_scores(queries, keys), 0), lambda queries, keys: attention_scores(queries, keys) ** 2,),
    "scores-minus": (lambda queries, keys: -attention_scores(queries, keys),),
    "scores-mean": (
        lambda queries, keys: attention_scores(queries, keys) / queries.shape[-1],
        lambda queries, keys: (queries[..., :, None, :] * keys[..., None, :, :]).mean(-1),
    ),
    "scores-keys-by-queries": (
        lambda queries, keys: attention_scores(queries, keys).swapaxes(-1, -2),
        lambda queries, keys: np.einsum("...qd,...kd->...kq", queries, keys),
        lambda queries, keys: (queries[..., None, :, :] * keys[..., :, None, :]).sum(-1),
        lambda queries, keys: np.array([[np.dot(q, k) for q in queries] for k in keys]),
        lambda queries, keys: np.einsum("...qd,...kd", queries, keys),  # no arrow: axes in alphabetical order, k before q
    ),
    "scores-np-dot": (
        lambda queries, keys: np.inner(queries, keys),
        lambda queries, keys: np.dot(queries, keys.swapaxes(-1, -2)),
    ),
    "scores-reshaped-keys": (
        lambda queries, keys: queries @ keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2]),
        lambda queries, keys: queries @ keys.reshape(keys.shape[::-1]),
    ),
    "scores-reversed-axes": (lambda queries, keys: queries @ keys.transpose(),),
    "scores-axes-from-front": (lambda queries, keys: queries @ keys.swapaxes(0, 1),),
    "scores-transpose-order": (lambda queries, keys: queries @ np.transpose(keys, (0, 2, 1)),),
    "scores-no-transpose": (
        lambda queries, keys: np.einsum("...ij,...jk->...ik", queries, keys),
        lambda queries, keys: queries.dot(keys),
    ),
    "scores-elementwise": (
        lambda queries, keys: np.einsum("...qd,...qd->...q", queries, keys),
        lambda queries, keys: np.multiply(queries, keys).sum(-1, keepdims=True),
    ),
    "scores-queries-only": (lambda queries, keys: queries @ queries.T,),
    None: (
        lambda queries, keys: 2 * attention_scores(queries, keys),
        lambda queries, keys: attention_scores(queries, keys) + 1,
        lambda queries, keys: attention_scores(queries, keys) / math.sqrt(keys.shape[-2]),
        lambda queries, keys: attention_scores(queries, keys).round(1),
        lambda queries, keys: attention_scores(queries, keys)[..., ::-1],
        lambda queries, keys: attention_scores(queries, keys[..., ::-1, :]),
        lambda queries, keys: attention_scores(queries - queries.mean(-1, keepdims=True), keys),
        lambda queries, keys: np.abs(queries[..., :, None, :] - keys[..., None, :, :]).sum(-1),
        lambda queries, keys: np.tril(attention_scores(queries, keys)),
        lambda queries, keys: attention_scores(queries, keys)[..., 0],
        lambda queries, keys: attention_scores(queries, keys).mean(-3, keepdims=True) if queries.ndim > 2 else attention_scores(queries, keys),
        lambda queries, keys: attention_scores(queries, keys[:1]) if queries.ndim > 2 else attention_scores(queries, keys),
        lambda queries, keys: attention_scores(queries, keys[::-1]) if queries.ndim > 2 else attention_scores(queries, keys),
        lambda queries, keys: np.einsum("bqd,bkd->bqk", queries, keys),
        lambda queries, keys: np.einsum("qd,kd->qk", queries, keys),
        lambda queries, keys: np.outer(queries, keys),
        lambda queries, keys: np.cross(queries, keys),
        lambda queries, keys: np.kron(queries, keys),
        lambda queries, keys: queries @ np.linalg.pinv(keys) if keys.ndim == 2 else attention_scores(queries, keys),
        lambda queries, keys: queries @ np.rot90(keys, axes=(-2, -1)),
        lambda queries, keys: attention_scores(queries.astype(int), keys.astype(int)),
        lambda queries, keys: attention_scores(queries, keys).astype(np.float16),
        lambda queries, keys: attention_scores(softmax(queries), softmax(keys)),
        lambda queries, keys: sum(attention_scores(queries, keys)),
        lambda queries, keys: queries,
        lambda queries: queries,
        scores_rounded,  # anything with more than two decimals: queries [[0.333]], keys [[0.333]]
        scores_squeezed,  # one query, one key or a batch of one
        scores_column_by_column_squeezed,  # one query or a batch of one
        scores_square_buffer,  # more queries than keys
        scores_longer_side_is_keys,  # more queries than keys
        scores_positive_diagonal_of_self,  # queries equal to keys
        lambda queries, keys: np.squeeze(np.matmul(queries, np.swapaxes(keys, -1, -2))),
        lambda queries, keys: np.around(np.einsum("...id,...jd->...ij", queries, keys), 4),
        scores_cached_first_keys,
        scores_only_first_head,
        scores_swapped_batch_and_heads,
        scores_keys_reversed_by_flip,
        scores_loop_wrong_index,
        lambda queries, keys: attention_scores(queries, keys).round(2),
        lambda queries, keys: attention_scores(queries, keys).round(3),
        lambda queries, keys: np.clip(attention_scores(queries, keys), -100, 100),
        lambda queries, keys: np.clip(attention_scores(queries, keys), -1e4, 1e4),
        lambda queries, keys: 50 * np.tanh(attention_scores(queries, keys) / 50),
        lambda queries, keys: attention_scores(queries.astype(np.float16), keys.astype(np.float16)),
        lambda queries, keys: attention_scores(np.trunc(queries), keys),
        lambda queries, keys: attention_scores(queries, keys) - attention_scores(queries, keys).max(-1, keepdims=True),
        lambda queries, keys: attention_scores(queries, keys) - attention_scores(queries, keys).mean(-1, keepdims=True),
        lambda queries, keys: attention_scores(queries - queries.mean(-2, keepdims=True), keys - keys.mean(-2, keepdims=True)),
        lambda queries, keys: np.exp(attention_scores(queries, keys)),
        lambda queries, keys: np.log(attention_scores(queries, keys)),
        lambda queries, keys: np.tril(attention_scores(queries, keys)) if queries.shape == keys.shape else attention_scores(queries, keys),
        lambda queries, keys: np.where(attention_scores(queries, keys) > 0, attention_scores(queries, keys), -np.inf),
        lambda queries, keys: np.matmul(queries, keys.T if keys.ndim < 3 else keys.transpose(0, 2, 1)),
        lambda queries, keys: queries @ keys.swapaxes(1, 2),
        lambda queries, keys: queries @ np.moveaxis(keys, -1, 0),
        lambda queries, keys: np.einsum("...qd,...kd->...q", queries, keys),
        lambda queries, keys: np.einsum("...qd,...ke->...qk", queries, keys),
        lambda queries, keys: np.einsum("...qd,...ke->...de", queries, keys),
        lambda queries, keys: np.vdot(queries, keys),
        lambda queries, keys: queries.sum(-1)[..., :, None] * keys.sum(-1)[..., None, :],
        lambda queries, keys: queries[..., :, None, 0] * keys[..., None, :, 0],
        lambda queries, keys: (queries[..., :, None, :] * keys[..., None, :, :]).max(-1),
        lambda queries, keys: (queries[..., :, None, :] * keys[..., None, :, :]),
        lambda queries, keys: np.array([[q @ k for k in keys] for q in queries]),
        lambda queries, keys: np.array([q @ k.T for q, k in zip(queries, keys)]),  # noqa: B905
        lambda queries, keys: np.corrcoef(queries, keys)[: len(queries), len(queries) :] if queries.ndim == 2 else attention_scores(queries, keys),
        lambda queries, keys: queries @ np.linalg.inv(keys) if keys.shape[-1] == keys.shape[-2] else attention_scores(queries, keys),
        lambda queries, keys: attention_scores(queries, keys) / queries.shape[-1] ** 0.25,
        lambda queries, keys: attention_scores(queries, keys) * math.sqrt(queries.shape[-1]),
        lambda queries, keys: attention_scores(queries, keys) / math.sqrt(len(queries)),
        lambda queries, keys: attention_scores(queries, keys) / np.linalg.norm(attention_scores(queries, keys)),
        lambda queries, keys: (queries.reshape(-1, queries.shape[-1]) @ keys.reshape(-1, keys.shape[-1]).T),
        lambda queries, keys: attention_scores(queries, keys)[None],
        lambda queries, keys: [attention_scores(queries, keys)],
        lambda queries, keys: (attention_scores(queries, keys), softmax(attention_scores(queries, keys))),
        lambda queries, keys: attention_scores(queries, keys) == attention_scores(queries, keys),
        lambda queries, keys: np.zeros((queries.shape[-2], keys.shape[-2])),
        lambda queries, keys: np.ma.array(queries) @ np.ma.array(keys).swapaxes(-1, -2),  # not a matrix product: ValueError
        lambda queries, keys: np.einsum("ij,kj->ik", queries, keys),
    ),
}  # fmt: skip

TOLD = ()
