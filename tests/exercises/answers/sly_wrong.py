"""Wrong answers that look right: each is wrong in general, and right on inputs that one thinks of first."""

import itertools
import math

import numpy as np

from mha_helpers.attention import attention_scores, softmax

# ---- softmax ---------------------------------------------------------------------------------


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


PASSED_SOFTMAX = (
    softmax_first_score_subtracted,  # [[0, 1000]]: NaN
    softmax_median_subtracted,  # [[0, 0, 1000]]: NaN
    softmax_squeezed,  # shape (1, 3, 5), (2, 1, 5), (2, 1)
    softmax_max_only_if_above_700,  # [[-1000, -1001]] with no row of very large scores beside it: NaN
    softmax_max_only_if_large,  # float32 [[100, 99]]: NaN
    softmax_cached_by_shape,  # two inputs of one shape
    _shifted_by(lambda s: s[..., 1:2]),  # the second score instead of the largest
    lambda scores: softmax(scores).astype(object).astype(str).astype(object),  # objects that are text
    lambda scores: np.exp(scores - scores[..., :1]) / np.exp(scores - scores[..., :1]).sum(-1, keepdims=True),
)

WRONG_SOFTMAX = (
    *PASSED_SOFTMAX,
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
    _shifted_by(lambda s: s.max(axis=0)),
    _shifted_by(lambda s: s.max(axis=0, keepdims=True)),
    _shifted_by(lambda s: s.max(axis=min(1, s.ndim - 1), keepdims=True)),
    _shifted_by(lambda s: s.max(axis=-2, keepdims=True) if s.ndim > 1 else s.max()),
    _shifted_by(lambda s: s[:1].max(axis=-1, keepdims=True)),
    _shifted_by(lambda s: s[-1].max()),
    _shifted_by(lambda s: np.maximum(s.max(axis=-1, keepdims=True), 0)),
    _shifted_by(lambda s: np.linalg.norm(s, axis=-1, keepdims=True)),
    lambda scores: np.exp(scores) / (np.exp(scores).sum(-1, keepdims=True) + 1e-9),
    lambda scores: np.exp(np.minimum(scores, 700)) / np.exp(np.minimum(scores, 700)).sum(-1, keepdims=True),
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
    lambda scores: softmax(scores) / softmax(scores).max(-1, keepdims=True),
    lambda scores: np.exp(scores) / sum(np.exp(scores)),
    lambda scores: (np.exp(scores).T / np.exp(scores).sum(axis=-1)).T,
    lambda scores: (np.exp(scores).T / sum(np.exp(scores).T)).T,
    lambda scores: np.exp(scores - scores.max()) / np.sum(np.exp(scores - scores.max())),
    lambda scores: np.exp(scores) / np.sum(np.exp(scores), axis=1, keepdims=True),
    lambda scores: np.array([np.exp(r - r.max()) / np.exp(r - r.max()).sum() for r in scores]),
    lambda scores: np.log1p(np.exp(scores)) / np.log1p(np.exp(scores)).sum(-1, keepdims=True),
    lambda scores: (scores**2) / (scores**2).sum(-1, keepdims=True),
    lambda scores: np.abs(scores) / np.abs(scores).sum(-1, keepdims=True),
    lambda scores: 1 / (1 + np.exp(-scores)) / (1 / (1 + np.exp(-scores))).sum(-1, keepdims=True),
    lambda scores: np.expm1(scores) / np.expm1(scores).sum(-1, keepdims=True),
    lambda scores: 10.0**scores / (10.0**scores).sum(-1, keepdims=True),
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
)  # fmt: skip


# ---- attention_scores ------------------------------------------------------------------------


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


PASSED_SCORES = (
    scores_rounded,  # anything with more than two decimals: queries [[0.333]], keys [[0.333]]
    scores_squeezed,  # one query, one key or a batch of one
    scores_column_by_column_squeezed,  # one query or a batch of one
    scores_square_buffer,  # more queries than keys
    scores_longer_side_is_keys,  # more queries than keys
    scores_positive_diagonal_of_self,  # queries equal to keys
    lambda queries, keys: np.squeeze(np.matmul(queries, np.swapaxes(keys, -1, -2))),
    lambda queries, keys: np.around(np.einsum("...id,...jd->...ij", queries, keys), 4),
)

WRONG_SCORES = (
    *PASSED_SCORES,
    scores_cached_first_keys,
    scores_only_first_head,
    scores_swapped_batch_and_heads,
    scores_keys_reversed_by_flip,
    scores_loop_first_feature_skipped,
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
    lambda queries, keys: queries @ keys.transpose(),
    lambda queries, keys: np.matmul(queries, keys.T if keys.ndim < 3 else keys.transpose(0, 2, 1)),
    lambda queries, keys: queries @ keys.swapaxes(0, 1),
    lambda queries, keys: queries @ keys.swapaxes(1, 2),
    lambda queries, keys: queries @ np.moveaxis(keys, -1, 0),
    lambda queries, keys: queries @ np.transpose(keys, (0, 2, 1)),
    lambda queries, keys: np.einsum("...ij,...jk->...ik", queries, keys),
    lambda queries, keys: np.einsum("...qd,...kd->...kq", queries, keys),
    lambda queries, keys: np.einsum("...qd,...kd->...q", queries, keys),
    lambda queries, keys: np.einsum("...qd,...ke->...qk", queries, keys),
    lambda queries, keys: np.einsum("...qd,...qd->...q", queries, keys),
    lambda queries, keys: np.einsum("...qd,...ke->...de", queries, keys),
    lambda queries, keys: queries.dot(keys),
    lambda queries, keys: np.dot(queries, keys.swapaxes(-1, -2)),
    lambda queries, keys: np.vdot(queries, keys),
    lambda queries, keys: np.multiply(queries, keys).sum(-1, keepdims=True),
    lambda queries, keys: queries.sum(-1)[..., :, None] * keys.sum(-1)[..., None, :],
    lambda queries, keys: queries[..., :, None, 0] * keys[..., None, :, 0],
    lambda queries, keys: (queries[..., :, None, :] * keys[..., None, :, :]).mean(-1),
    lambda queries, keys: (queries[..., :, None, :] * keys[..., None, :, :]).max(-1),
    lambda queries, keys: (queries[..., :, None, :] * keys[..., None, :, :]),
    lambda queries, keys: (queries[..., :, None, :] + keys[..., None, :, :]).sum(-1),
    lambda queries, keys: (queries[..., None, :, :] * keys[..., :, None, :]).sum(-1),
    lambda queries, keys: np.array([[q @ k for k in keys] for q in queries]),
    lambda queries, keys: np.array([[np.dot(q, k) for q in queries] for k in keys]),
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
    lambda queries, keys: queries @ queries.T,
    lambda queries, keys: np.einsum("...qd,...kd", queries, keys),  # no arrow: axes in alphabetical order, k before q
    lambda queries, keys: np.ma.array(queries) @ np.ma.array(keys).swapaxes(-1, -2),  # not a matrix product: ValueError
    lambda queries, keys: np.einsum("ij,kj->ik", queries, keys),
    lambda queries, keys: queries @ keys.reshape(keys.shape[::-1]),
)  # fmt: skip


# ---- dot_product_attention -------------------------------------------------------------------


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


PASSED_ATTENTION = (
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
)


def _after(change):
    def wrong(queries, keys, values):
        weights = softmax(attention_scores(queries, keys))
        return change(weights @ values, weights)

    return wrong


WRONG_ATTENTION = (
    *PASSED_ATTENTION,
    attention_max_over_axis_1,
    _weighing(_shifted_by(lambda s: s.max(axis=min(1, s.ndim - 1), keepdims=True))),
    attention_mask_if_self,
    attention_causal,
    attention_zero_mask,
    attention_residual,
    attention_no_batch_context,
    attention_first_head_values,
    attention_top_2,
    attention_values_sorted,
    attention_keeps_last,
    _weighing(_shifted_by(lambda s: s.max())),
    _weighing(_shifted_by(lambda s: s[:1].max(axis=-1, keepdims=True))),
    _weighing(_shifted_by(lambda s: np.abs(s).max(axis=-1, keepdims=True))),
    _weighing(lambda s: softmax(np.clip(s, -700, 700))),
    _weighing(lambda s: softmax(np.clip(s, -50, 50))),
    _weighing(lambda s: softmax(s - s.max(-1)) if s.ndim == 2 else softmax(s)),
    _weighing(lambda s: np.exp(s) / (np.exp(s).sum(-1, keepdims=True) + 1e-9)),
    _weighing(lambda s: softmax(s.round(2))),
    _weighing(lambda s: softmax(s).round(4)),
    _weighing(lambda s: softmax(s).astype(np.float16)),
    _weighing(softmax_temperature),
    _weighing(softmax_inf_caught),
    _weighing(softmax_equal_if_nan),
    _weighing(softmax_running_max),
    _weighing(lambda s: softmax(s) * (softmax(s) > 0.05)),
    _weighing(lambda s: np.maximum(s, 0) / np.maximum(s, 0).sum(-1, keepdims=True)),
    _weighing(lambda s: softmax(s - 1e9 * np.eye(*s.shape[-2:]))),
    _weighing(lambda s: np.full(s.shape, 1 / s.shape[-1])),
    _after(lambda context, weights: (context.round(3), weights.round(3))),
    _after(lambda context, weights: (context, weights.mean(-2))),
    _after(lambda context, weights: (context, np.log(weights))),
    _after(lambda context, weights: (context, context)),
    _after(lambda context, weights: (weights, weights)),
    _after(lambda context, weights: (context + weights[..., :1], weights)),
    _after(lambda context, weights: (context / weights.shape[-1], weights)),
    _after(lambda context, weights: (context.swapaxes(-1, -2), weights)),
    _after(lambda context, weights: (context[0], weights[0])),
    _after(lambda context, weights: (context / np.linalg.norm(context, axis=-1, keepdims=True), weights)),
    _after(lambda context, weights: (np.tanh(context), weights)),
    _after(lambda context, weights: np.array([context, context])),
    _after(lambda context, weights: ((context, weights),)),
    _after(lambda context, weights: (context.tolist(), "weights")),
    lambda q, k, v: (np.einsum("...qk,...kv->...kv", softmax(attention_scores(q, k)), v), softmax(attention_scores(q, k))),
    lambda q, k, v: (np.einsum("...kq,...kv->...qv", softmax(attention_scores(q, k)), v), softmax(attention_scores(q, k)))
    if q.shape[-2] == k.shape[-2]
    else _after(lambda c, w: (c, w))(q, k, v),
    lambda q, k, v: (np.dot(softmax(attention_scores(q, k)), v), softmax(attention_scores(q, k))),
    lambda q, k, v: (softmax(attention_scores(q, k))[..., :1] * v[..., :1, :], softmax(attention_scores(q, k))),
    lambda q, k, v: (v[np.arange(v.ndim and 1)], softmax(attention_scores(q, k))),
    lambda q, k, v: (np.take_along_axis(v, softmax(attention_scores(q, k)).argmax(-1)[..., None], axis=-2), softmax(attention_scores(q, k))),
    lambda q, k, v: _weighing(softmax)(k, q, v) if q.shape[-2] == k.shape[-2] else _weighing(softmax)(q, k, v),
    lambda q, k, v: _weighing(softmax)(q, v, v) if k.shape == v.shape else _weighing(softmax)(q, k, v),
    lambda q, k, v: _weighing(softmax)(v, k, q),
    lambda q, k, v: _weighing(softmax)(q, k, v[..., ::-1, :]),
    lambda q, k, v: _weighing(softmax)(softmax(q), softmax(k), v),
    lambda q, k, v: _weighing(softmax)(q, k, v / np.sqrt(v.shape[-1])),
    lambda q, k, v: _weighing(softmax)(q / np.sqrt(q.shape[-1]), k / np.sqrt(k.shape[-1]), v),
    lambda q, k, v: _weighing(softmax)(q / q.shape[-1] ** 0.25, k / k.shape[-1] ** 0.25, v),
    lambda q, k, v: _weighing(softmax)(q / 8, k, v),
    lambda q, k, v: _weighing(softmax)(q.round(1), k.round(1), v.round(1)),
    lambda q, k, v: _weighing(softmax)(q, k + 1e-3, v + 1e-3),
    lambda q, k, v: (softmax(q @ k.swapaxes(-1, -2) @ v), softmax(q @ k.swapaxes(-1, -2))),
    lambda q, k, v: (softmax(q) @ (softmax(k.swapaxes(-1, -2)) @ v), softmax(attention_scores(q, k))),
    lambda q, k, v: (np.stack([w @ v[0] for w in softmax(attention_scores(q, k))]) if q.ndim == 3
                     else softmax(attention_scores(q, k)) @ v, softmax(attention_scores(q, k))),
)  # fmt: skip
