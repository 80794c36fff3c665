"""Answers to masked_attention: right ones in many styles, and wrong ones."""

import itertools
import math
import warnings

import numpy as np

from mha_helpers.maths.attention import attention_scores, masked_attention, softmax

CATALOGUE = (
    "mask-ignored",
    "mask-inverted",
    "mask-score-zero",
    "mask-tiny-number",
    "mask-after-softmax",
    "mask-full-row-nan",
    "mask-full-row-uniform",
    "mask-added-boolean",
    "mask-minus-minus-inf",
)

TELLING_CASE = ("a mask for each head", 6)


def _scaled(queries, keys):
    return queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])


def _mixed(weights, values):
    return weights @ values, weights


def masked_lowest_then_zeros(queries, keys, values, mask):
    scores = np.where(mask, _scaled(queries, keys), np.finfo(np.float64).min)
    return _mixed(np.where(mask, softmax(scores), 0), values)


def masked_lowest_of_the_dtype(queries, keys, values, mask):
    scores = _scaled(queries, keys)
    scores = np.where(mask, scores, np.finfo(scores.dtype).min)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = e.sum(axis=-1, keepdims=True)
    return _mixed(e / np.where(total == 0, 1, total), values)


def masked_nan_to_num(queries, keys, values, mask):
    weights = softmax(np.where(mask, _scaled(queries, keys), -np.inf))
    return _mixed(np.nan_to_num(weights), values)


def masked_nan_to_zero(queries, keys, values, mask):
    weights = softmax(np.where(mask, _scaled(queries, keys), -np.inf))
    weights[np.isnan(weights)] = 0
    return _mixed(weights, values)


def masked_additive(queries, keys, values, mask):
    bias = np.zeros(mask.shape)
    bias[~mask] = -np.inf
    weights = softmax(_scaled(queries, keys) + bias)
    return _mixed(np.where(mask.any(axis=-1, keepdims=True), weights, 0), values)


def masked_in_place(queries, keys, values, mask):
    scores = _scaled(queries, keys)
    scores[~np.broadcast_to(mask, scores.shape)] = -np.inf
    top = scores.max(axis=-1, keepdims=True)
    top[np.isneginf(top)] = 0
    scores -= top
    np.exp(scores, out=scores)
    total = scores.sum(axis=-1, keepdims=True)
    scores /= np.where(total > 0, total, 1)
    return scores @ values, scores


def masked_putmask(queries, keys, values, mask):
    scores = _scaled(queries, keys)
    np.putmask(scores, np.broadcast_to(~mask, scores.shape), -np.inf)
    return _mixed(np.nan_to_num(softmax(scores)), values)


def masked_copyto(queries, keys, values, mask):
    scores = _scaled(queries, keys)
    np.copyto(scores, -np.inf, where=np.logical_not(mask))
    weights = softmax(scores)
    np.copyto(weights, 0, where=~mask)
    return _mixed(weights, values)


def masked_numpy_ma(queries, keys, values, mask):
    scores = _scaled(queries, keys)
    scores = np.ma.masked_array(scores, np.broadcast_to(~mask, scores.shape))
    e = np.ma.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = (e / e.sum(axis=-1, keepdims=True)).filled(0)
    return _mixed(weights, values)


def masked_returns_masked_array(queries, keys, values, mask):
    """The weights are a masked array, with 0 beneath its own mask."""
    context, weights = masked_attention(queries, keys, values, mask)
    return context, np.ma.masked_array(weights, np.broadcast_to(~mask, weights.shape))


def masked_where_arguments(queries, keys, values, mask):
    """NumPy's own where= and initial=."""
    scores = _scaled(queries, keys)
    mask = np.broadcast_to(mask, scores.shape)
    top = scores.max(axis=-1, keepdims=True, where=mask, initial=-np.inf)
    e = np.exp(scores - top, where=mask, out=np.zeros_like(scores))
    total = e.sum(axis=-1, keepdims=True)
    weights = np.divide(e, total, where=total > 0, out=np.zeros_like(e))
    return _mixed(weights, values)


def masked_log_sum_exp(queries, keys, values, mask):
    scores = np.where(mask, _scaled(queries, keys), -np.inf)
    log_total = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(log_total), 0, log_total))
    return _mixed(weights, values)


def masked_queries_first(queries, keys, values, mask):
    scores = attention_scores(queries / math.sqrt(queries.shape[-1]), keys)
    return _mixed(np.nan_to_num(softmax(np.where(mask, scores, -np.inf)), nan=0.0), values)


def masked_fourth_root(queries, keys, values, mask):
    root = keys.shape[-1] ** 0.25
    scores = (queries / root) @ (keys / root).swapaxes(-1, -2)
    return _mixed(np.nan_to_num(softmax(np.where(mask, scores, -np.inf))), values)


def masked_float32(queries, keys, values, mask):
    queries, keys, values = (array.astype(np.float32) for array in (queries, keys, values))
    scores = np.where(mask, _scaled(queries, keys), np.float32(-np.inf))
    return _mixed(np.nan_to_num(softmax(scores)), values)


def masked_visible_keys_only(queries, keys, values, mask):
    """Each query takes its visible keys out, and attends to nothing else."""
    if queries.ndim > 2:
        mask = np.broadcast_to(mask, (*queries.shape[:-1], keys.shape[-2]))
        items = [masked_visible_keys_only(*item) for item in zip(queries, keys, values, mask, strict=True)]
        return np.array([context for context, _ in items]), np.array([weights for _, weights in items])
    weights = np.zeros((len(queries), len(keys)))
    for i, query in enumerate(queries):
        visible = np.flatnonzero(np.broadcast_to(mask, weights.shape)[i])
        if len(visible):
            weights[i, visible] = softmax(keys[visible] @ query / np.sqrt(len(query)))
    return weights @ values, weights


def masked_python_loops(queries, keys, values, mask):
    *batch, n_queries, d_head = queries.shape
    n_keys, d_value = values.shape[-2:]
    mask = np.broadcast_to(mask, (*batch, n_queries, n_keys))
    weights, context = np.zeros((*batch, n_queries, n_keys)), np.zeros((*batch, n_queries, d_value))
    for place in itertools.product(*map(range, batch), range(n_queries)):
        inside = place[:-1]
        scores = {
            j: sum(float(a) * float(b) for a, b in zip(queries[place], keys[(*inside, j)], strict=True)) / d_head**0.5
            for j in range(n_keys)
            if mask[(*place, j)]
        }
        top = max(scores.values(), default=0)
        total = sum(math.exp(score - top) for score in scores.values())
        for j, score in scores.items():
            weights[(*place, j)] = math.exp(score - top) / total
            context[place] += weights[(*place, j)] * values[(*inside, j)]
    return context, weights


def masked_online(queries, keys, values, mask):
    """One pass over the keys; hidden ones are left out of the running sum."""
    scores = _scaled(queries, keys)
    mask = np.broadcast_to(mask, scores.shape)
    top, total = np.full(scores.shape[:-1], -np.inf), np.zeros(scores.shape[:-1])
    for j in range(scores.shape[-1]):
        new = np.where(mask[..., j], np.maximum(top, scores[..., j]), top)
        safe = np.where(np.isneginf(new), 0, new)
        total = total * np.exp(top - safe) + mask[..., j] * np.exp(np.where(mask[..., j], scores[..., j] - safe, 0))
        top = new
    safe = np.where(np.isneginf(top), 0, top)[..., None]
    weights = np.exp(np.where(mask, scores - safe, -np.inf)) / np.where(total > 0, total, 1)[..., None]
    return weights @ values, weights


def masked_max_of_visible(queries, keys, values, mask):
    """The visible maximum is subtracted, and the exponentials are multiplied by the mask."""
    scores = _scaled(queries, keys)
    top = np.where(mask, scores, -np.inf).max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    e = np.exp(np.where(mask, scores - top, 0)) * mask
    return _mixed(e / np.maximum(e.sum(axis=-1, keepdims=True), 1e-300), values)


def masked_sink(queries, keys, values, mask):
    """An empty row gets one more key, which takes all its weight and is thrown away."""
    scores = np.where(mask, _scaled(queries, keys), -np.inf)
    empty = ~np.broadcast_to(mask, scores.shape).any(axis=-1, keepdims=True)
    weights = softmax(np.concatenate([scores, np.where(empty, 0, -np.inf)], axis=-1))[..., :-1]
    return _mixed(weights, values)


def masked_einsum(queries, keys, values, mask):
    scores = np.einsum("...qd,...kd->...qk", queries, keys) * queries.shape[-1] ** -0.5
    weights = np.nan_to_num(softmax(np.where(mask, scores, -np.inf)))
    return np.einsum("...qk,...kv->...qv", weights, values), weights


def masked_select(queries, keys, values, mask):
    scores = np.select([mask], [_scaled(queries, keys)], default=-np.inf)
    return _mixed(np.choose(np.broadcast_to(mask, scores.shape).astype(int), [0.0, softmax(scores)]), values)


def masked_with_bias(queries, keys, values, mask):
    """An additive mask, as many codebases convert to first; log(0) is -inf."""
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = softmax(_scaled(queries, keys) + np.log(mask))
    return _mixed(np.where(np.isnan(weights), 0, weights), values)


def masked_vectorised(queries, keys, values, mask):
    mask = np.broadcast_to(mask, (*queries.shape[:-1], keys.shape[-2]))
    return np.vectorize(masked_nan_to_num, signature="(q,d),(k,d),(k,v),(q,k)->(q,v),(q,k)")(
        queries, keys, values, mask
    )


def masked_warnings_as_usual(queries, keys, values, mask):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return masked_nan_to_num(queries, keys, values, mask)


class MaskedObject:
    def __call__(self, queries, keys, values, mask=None, dropout=0.0):
        return list(masked_nan_to_num(queries, keys, values, mask))


RIGHT = (
    masked_attention,
    masked_lowest_then_zeros,
    masked_lowest_of_the_dtype,
    masked_nan_to_num,
    masked_nan_to_zero,
    masked_additive,
    masked_in_place,
    masked_putmask,
    masked_copyto,
    masked_numpy_ma,
    masked_returns_masked_array,
    masked_where_arguments,
    masked_log_sum_exp,
    masked_queries_first,
    masked_fourth_root,
    masked_float32,
    masked_visible_keys_only,
    masked_python_loops,
    masked_online,
    masked_max_of_visible,
    masked_sink,
    masked_einsum,
    masked_select,
    masked_with_bias,
    masked_vectorised,
    masked_warnings_as_usual,
    MaskedObject(),
    lambda q, k, v, mask: tuple(array.tolist() for array in masked_attention(q, k, v, mask)),
    lambda q, k, v, mask: tuple(array.astype(object) for array in masked_attention(q, k, v, mask)),
    lambda q, k, v, mask: tuple(map(np.asfortranarray, masked_attention(q, k, v, mask))),
    lambda q, k, v, mask: masked_nan_to_num(q, k, v, np.array(mask, dtype=object).astype(bool)),
    lambda q, k, v, mask: masked_nan_to_num(q, k, v, mask == 1),
    lambda q, k, v, mask: masked_nan_to_num(q, k, v, mask.astype(int)),
    lambda q, k, v, mask: masked_nan_to_num(q, k, v, mask.astype(float)),
    lambda q, k, v, mask=None, scale=None: masked_nan_to_num(q, k, v, mask),
)


def _masking(change):
    """Right attention with change(mask, queries, keys) for a mask."""
    return lambda q, k, v, mask: masked_attention(q, k, v, change(mask, q, k))


def _hiding(hide, finish=lambda weights, mask: np.where(mask, weights, 0)):
    def wrong(queries, keys, values, mask):
        return _mixed(finish(softmax(hide(_scaled(queries, keys), mask)), mask), values)

    return wrong


def _finishing(finish):
    """Hidden with -inf, and the empty rows mended in another way."""
    return _hiding(lambda scores, mask: np.where(mask, scores, -np.inf), finish)


def _after(change):
    return lambda q, k, v, mask: change(*masked_attention(q, k, v, mask))


def _full(mask, queries, keys):
    return np.broadcast_to(mask, (*queries.shape[:-1], keys.shape[-2]))


def masked_one_mask_for_all_heads(queries, keys, values, mask):
    """Takes the first head's mask for every head."""
    if mask.ndim == 4:
        mask = mask[:, :1]
    return masked_attention(queries, keys, values, mask)


def masked_one_mask_for_the_batch(queries, keys, values, mask):
    return masked_attention(queries, keys, values, mask[:1] if mask.ndim > 2 else mask)


def masked_first_row_for_all(queries, keys, values, mask):
    """Takes a mask of one row for granted, as for padding."""
    return masked_attention(queries, keys, values, mask[..., :1, :] if mask.ndim == 4 else mask)


def masked_all_or_nothing(queries, keys, values, mask):
    """Tidies up only where the whole matrix is NaN."""
    weights = softmax(np.where(mask, _scaled(queries, keys), -np.inf))
    if np.isnan(weights).all():
        weights = np.zeros_like(weights)
    return _mixed(weights, values)


def masked_unless_all_is_hidden(low):
    def attention(queries, keys, values, mask):
        if not mask.any():
            shape = queries.shape[:-1]
            return np.zeros((*shape, values.shape[-1])), np.zeros((*shape, keys.shape[-2]))
        return _mixed(softmax(np.where(mask, _scaled(queries, keys), low)), values)

    return attention


def masked_weights_become_one_zero(queries, keys, values, mask):
    weights = softmax(np.where(mask, _scaled(queries, keys), -np.inf))
    if np.isnan(weights).any():
        weights = 0
    return weights @ values, weights


def masked_empty_rows_of_the_first_axis(queries, keys, values, mask):
    weights = softmax(np.where(mask, _scaled(queries, keys), -np.inf))
    for i in range(len(mask)):
        if not mask[i].any():
            weights[i] = 0
    return _mixed(weights, values)


def masked_choice_not_kept(queries, keys, values, mask):
    weights = softmax(np.where(mask, _scaled(queries, keys), -np.inf))
    np.where(mask, weights, 0)
    return _mixed(weights, values)


def masked_any_empty_zeroes_all(queries, keys, values, mask):
    weights = softmax(np.where(mask, _scaled(queries, keys), -np.inf))
    if np.isnan(weights).any():
        weights = np.zeros_like(weights)
    return _mixed(weights, values)


def masked_empty_query_in_any_head(queries, keys, values, mask):
    """A query that is empty in one head is emptied in all of them."""
    context, weights = masked_attention(queries, keys, values, mask)
    if weights.ndim == 4:
        seen = _full(mask, queries, keys).any(axis=-1, keepdims=True).all(axis=1, keepdims=True)
        context, weights = context * seen, weights * seen
    return context, weights


def masked_shared_keys(queries, keys, values, mask):
    """A key is hidden from all where it is hidden from one."""
    return masked_attention(queries, keys, values, _full(mask, queries, keys).all(axis=-2, keepdims=True))


def masked_union_of_keys(queries, keys, values, mask):
    return masked_attention(queries, keys, values, _full(mask, queries, keys).any(axis=-2, keepdims=True))


def masked_writes_mask(queries, keys, values, mask):
    context, weights = masked_attention(queries, keys, values, mask)
    np.logical_not(mask, out=mask)
    return context, weights


def masked_writes_queries(queries, keys, values, mask):
    queries /= np.sqrt(queries.shape[-1])
    return _mixed(np.nan_to_num(softmax(np.where(mask, attention_scores(queries, keys), -np.inf))), values)


def masked_writes_values(queries, keys, values, mask):
    context, weights = masked_attention(queries, keys, values, mask)
    values[..., 0] = 0
    return context, weights


def masked_opens_empty_rows_in_place(queries, keys, values, mask):
    """So that softmax is not NaN, an empty row is opened; in the caller's mask."""
    empty = ~mask.any(axis=-1)
    mask[empty] = True
    weights = softmax(np.where(mask, _scaled(queries, keys), -np.inf))
    mask[empty] = False
    weights = np.where(mask, weights, 0)
    mask[empty] = True
    return _mixed(weights, values)


def masked_cached_mask(queries, keys, values, mask, kept={}):  # noqa: B006
    return masked_attention(queries, keys, values, kept.setdefault(mask.shape, mask.copy()))


def masked_if_any(queries, keys, values, mask):
    """`if mask.any()`: a mask without a True in it is taken for no mask."""
    if mask.any():
        return masked_attention(queries, keys, values, mask)
    return masked_attention(queries, keys, values, np.ones_like(mask))


def masked_empty_gets_first_key(queries, keys, values, mask):
    weights = softmax(np.where(mask, _scaled(queries, keys), -np.inf))
    first = np.arange(weights.shape[-1]) == 0
    return _mixed(np.where(np.isnan(weights), first, weights), values)


def masked_empty_gets_mean(queries, keys, values, mask):
    """The weights are zeros, but the context the mean of the values."""
    context, weights = masked_attention(queries, keys, values, mask)
    empty = ~_full(mask, queries, keys).any(axis=-1, keepdims=True)
    return np.where(empty, values.mean(axis=-2, keepdims=True), context), weights


def masked_empty_context_nan(queries, keys, values, mask):
    context, weights = masked_attention(queries, keys, values, mask)
    return np.where(~_full(mask, queries, keys).any(axis=-1, keepdims=True), np.nan, context), weights


def masked_empty_weights_nan(queries, keys, values, mask):
    """The context is mended, and the weights are not."""
    weights = softmax(np.where(mask, _scaled(queries, keys), -np.inf))
    return np.nan_to_num(weights @ values), weights


def masked_squeezed(queries, keys, values, mask):
    context, weights = masked_attention(queries, keys, values, mask)
    return context.squeeze(), weights


def masked_weights_squeezed(queries, keys, values, mask):
    context, weights = masked_attention(queries, keys, values, mask)
    return context, weights.squeeze()


def masked_one_key_short_cut(queries, keys, values, mask):
    """With one key there is nothing to choose from, so its weight is always 1."""
    if keys.shape[-2] == 1:
        weights = np.ones((*queries.shape[:-1], 1))
        return _mixed(weights, values)
    return masked_attention(queries, keys, values, mask)


def masked_causal_instead(queries, keys, values, mask):
    return masked_attention(queries, keys, values, np.tri(*_full(mask, queries, keys).shape[-2:], dtype=bool))


def masked_causal_too(queries, keys, values, mask):
    return masked_attention(queries, keys, values, mask & np.tri(queries.shape[-2], keys.shape[-2], dtype=bool))


def masked_causal_if_square(queries, keys, values, mask):
    if queries.shape[-2] == keys.shape[-2]:
        mask = mask & np.tri(queries.shape[-2], dtype=bool)
    return masked_attention(queries, keys, values, mask)


def masked_transposed_if_square(queries, keys, values, mask):
    return masked_attention(queries, keys, values, mask.swapaxes(-1, -2) if mask.shape[-1] == mask.shape[-2] else mask)


def masked_max_before_mask(queries, keys, values, mask):
    """The maximum that is subtracted may be a hidden score's."""
    scores = _scaled(queries, keys)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = e.sum(axis=-1, keepdims=True)
    return _mixed(np.divide(e, total, where=total > 0, out=np.zeros_like(e)), values)


def masked_no_max(queries, keys, values, mask):
    e = np.exp(_scaled(queries, keys)) * mask
    total = e.sum(axis=-1, keepdims=True)
    return _mixed(np.divide(e, total, where=total > 0, out=np.zeros_like(e)), values)


def masked_max_of_zeroed(queries, keys, values, mask):
    """Hidden scores are 0 where the maximum is taken."""
    scores = _scaled(queries, keys)
    e = np.exp(scores - (scores * mask).max(axis=-1, keepdims=True)) * mask
    total = e.sum(axis=-1, keepdims=True)
    return _mixed(np.divide(e, total, where=total > 0, out=np.zeros_like(e)), values)


def masked_added_epsilon(queries, keys, values, mask):
    scores = np.where(mask, _scaled(queries, keys), -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0))
    return _mixed(e / (e.sum(axis=-1, keepdims=True) + 1e-3), values)


def masked_lowest_of_the_scores(queries, keys, values, mask):
    """Hidden scores become the lowest of all."""
    scores = _scaled(queries, keys)
    return _mixed(softmax(np.where(mask, scores, scores.min())), values)


def masked_far_below_the_lowest(queries, keys, values, mask):
    """Far enough below: right by value, but for the empty row."""
    scores = _scaled(queries, keys)
    return _mixed(softmax(np.where(mask, scores, scores.min() - 1e5)), values)


def masked_float32_lowest(queries, keys, values, mask):
    scores = _scaled(queries, keys)
    return _mixed(softmax(np.where(mask, scores, np.finfo(np.float32).min)), values)


def masked_minus_infinity_twice(queries, keys, values, mask):
    """Hides among the weights' logarithms as well; NaN stays."""
    scores = np.where(mask, _scaled(queries, keys), -np.inf)
    return _mixed(np.exp(np.log(softmax(scores))), values)


def masked_scale_by_visible(queries, keys, values, mask):
    """Divides by the root of how many keys are visible."""
    scores = attention_scores(queries, keys) / np.sqrt(np.maximum(mask.sum(axis=-1, keepdims=True), 1))
    return _mixed(np.nan_to_num(softmax(np.where(mask, scores, -np.inf))), values)


def masked_matrix_only(queries, keys, values, mask):
    n_queries, _ = queries.shape
    n_keys, _ = keys.shape
    return masked_attention(queries, keys, values, mask.reshape(-1, n_keys) & np.ones((n_queries, n_keys), bool))


def masked_batch_zip(queries, keys, values, mask):
    """Goes through the batch and its masks side by side, also where one mask is there for all."""
    if queries.ndim > 2:
        items = [masked_batch_zip(*item) for item in zip(queries, keys, values, mask, strict=False)]
        return np.array([context for context, _ in items]), np.array([weights for _, weights in items])
    return masked_attention(queries, keys, values, np.atleast_2d(mask))


def masked_numpy_ma_filled_with_nan(queries, keys, values, mask):
    scores = _scaled(queries, keys)
    scores = np.ma.masked_array(scores, np.broadcast_to(~mask, scores.shape))
    e = np.ma.exp(scores - scores.max(axis=-1, keepdims=True))
    return _mixed((e / e.sum(axis=-1, keepdims=True)).filled(np.nan), values)


def masked_numpy_ma_without_where(queries, keys, values, mask):
    """np.ma's mask hides where True."""
    scores = _scaled(queries, keys)
    scores = np.ma.masked_array(scores, np.broadcast_to(mask, scores.shape))
    e = np.ma.exp(scores - scores.max(axis=-1, keepdims=True))
    return _mixed((e / e.sum(axis=-1, keepdims=True)).filled(0), values)


def masked_same_number_of_keys(queries, keys, values, mask):
    """Takes the visible keys of the first query out for all."""
    if queries.ndim > 2:
        return masked_attention(queries, keys, values, mask)
    visible = np.flatnonzero(_full(mask, queries, keys)[0])
    weights = np.zeros((len(queries), len(keys)))
    weights[:, visible] = softmax(_scaled(queries, keys[visible]))
    return _mixed(weights, values)


def weights_changed(change):
    """Return masked attention that mixes the values with change(weights, mask)."""

    def changed(queries, keys, values, mask):
        weights = change(masked_attention(queries, keys, values, mask)[1], mask)
        return weights @ values, weights

    return changed


def context_changed(change):
    """Return masked attention with right weights and the context change(weights, values)."""

    def changed(queries, keys, values, mask):
        weights = masked_attention(queries, keys, values, mask)[1]
        return change(weights, values), weights

    return changed


def masked_in_brackets(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    scores[mask == False] = -np.inf  # noqa: E712 - as learners write it
    weights = np.nan_to_num(softmax(scores))
    return weights @ values, weights


def _visible(scores, mask):
    return np.where(mask, scores, -np.inf)


def _hidden_in_vain(scores, mask):
    scores = np.where(mask, scores, -np.inf)


def masked_by_a_function_in_vain(queries, keys, values, mask):
    scores = attention_scores(queries, keys) / np.sqrt(queries.shape[-1])
    _visible(scores, mask)
    weights = softmax(scores)
    return weights @ values, weights


def masked_by_a_function_without_return(queries, keys, values, mask):
    scores = attention_scores(queries, keys) / np.sqrt(queries.shape[-1])
    scores = _hidden_in_vain(scores, mask)
    weights = softmax(scores)
    return weights @ values, weights


def masked_in_a_loop_in_vain(queries, keys, values, mask):
    scores = attention_scores(queries, keys) / np.sqrt(queries.shape[-1])
    for row, visible in zip(scores, mask, strict=False):
        row = np.where(visible, row, -np.inf)
    weights = softmax(scores)
    return weights @ values, weights


def masked_under_a_name_that_is_not_used(queries, keys, values, mask):
    scores = attention_scores(queries, keys) / np.sqrt(queries.shape[-1])
    masked = np.where(mask, scores, -np.inf)  # noqa: F841
    weights = softmax(scores)
    return weights @ values, weights


def masked_only_without_a_mask(queries, keys, values, mask):
    scores = attention_scores(queries, keys) / np.sqrt(queries.shape[-1])
    if mask is None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ values, weights


def masked_infinity_times_zero_made_zero(queries, keys, values, mask):
    scores = attention_scores(queries, keys) / np.sqrt(queries.shape[-1])
    weights = np.nan_to_num(softmax(scores + ~mask * -np.inf))
    return weights @ values, weights


def masked_rows_of_different_lengths(queries, keys, values, mask):
    scores = attention_scores(queries, keys) / np.sqrt(queries.shape[-1])
    weights = [softmax(row[visible]) for row, visible in zip(scores, mask, strict=False)]
    return np.array([row @ values[visible] for row, visible in zip(weights, mask, strict=False)]), weights


WRONG = {
    "mask-full-row-all-at-once": (
        masked_all_or_nothing,
        masked_any_empty_zeroes_all,
        masked_unless_all_is_hidden(-np.inf),
        masked_unless_all_is_hidden(-1e9),
        masked_weights_become_one_zero,
    ),
    "mask-in-brackets": (masked_in_brackets,),
    "mask-rows-emptied": (_hiding(lambda scores, mask: scores - 1e9 * mask),),
    "mask-causal-on-top": (masked_causal_too,),
    "mask-causal-instead": (masked_causal_instead,),
    "input-changed": (
        masked_writes_mask,
        masked_writes_queries,
        masked_writes_values,
        masked_opens_empty_rows_in_place,
    ),
    "mask-full-row-uniform": (
        masked_empty_gets_mean,
        masked_far_below_the_lowest,
        masked_float32_lowest,
        _finishing(lambda weights, mask: np.nan_to_num(weights, nan=1 / weights.shape[-1])),
    ),
    "mask-full-row-nan": (
        masked_empty_context_nan,
        masked_empty_weights_nan,
        masked_minus_infinity_twice,
    ),
    "mask-renormalised": (
        masked_max_before_mask,
        masked_max_of_zeroed,
    ),
    "mask-inverted": (
        masked_numpy_ma_without_where,
    ),
    "mask-ignored": (
        _masking(lambda mask, q, k: mask if mask.ndim == 4 else np.ones_like(mask)),
        masked_by_a_function_in_vain,
        masked_in_a_loop_in_vain,
        masked_under_a_name_that_is_not_used,
    ),
    "wrong-condition": (masked_only_without_a_mask,),
    "zero-times-inf": (masked_infinity_times_zero_made_zero,),
    "mask-full-row-unmasked": (_masking(lambda mask, q, k: np.where(mask.any(-1, keepdims=True), mask, True)),),
    "mask-tiny-number": (
        _hiding(lambda scores, mask: np.where(mask, scores, scores - 1e3)),
        _hiding(lambda scores, mask: np.where(mask, scores, -1e3)),
        _hiding(lambda scores, mask: np.where(mask, scores, -1e6)),
        _hiding(lambda scores, mask: np.where(mask, scores, np.finfo(np.float16).min)),
        _hiding(lambda scores, mask: scores + 1e9 * mask),
    ),
    "mask-minus-minus-inf": (_hiding(lambda scores, mask: np.where(mask, scores, None).astype(float)),),
    "mask-after-softmax": (_hiding(lambda scores, mask: scores, lambda weights, mask: weights * mask),),
    None: (
        masked_one_mask_for_all_heads,
        masked_one_mask_for_the_batch,
        masked_first_row_for_all,
        masked_empty_rows_of_the_first_axis,
        masked_empty_query_in_any_head,
        masked_shared_keys,
        masked_union_of_keys,
        masked_cached_mask,
        masked_if_any,
        masked_empty_gets_first_key,
        masked_squeezed,
        masked_weights_squeezed,
        masked_one_key_short_cut,
        masked_causal_if_square,
        masked_transposed_if_square,
        masked_no_max,
        masked_added_epsilon,
        masked_lowest_of_the_scores,
        masked_scale_by_visible,
        masked_matrix_only,
        masked_batch_zip,
        masked_numpy_ma_filled_with_nan,
        masked_same_number_of_keys,
        _masking(lambda mask, q, k: mask | np.eye(q.shape[-2], k.shape[-2], dtype=bool)),
        _masking(lambda mask, q, k: mask & ~np.eye(q.shape[-2], k.shape[-2], dtype=bool)),
        _masking(lambda mask, q, k: mask | (np.arange(k.shape[-2]) == 0)),
        _masking(lambda mask, q, k: _full(mask, q, k)[..., ::-1]),
        _masking(lambda mask, q, k: _full(mask, q, k)[..., ::-1, :]),
        _masking(lambda mask, q, k: _full(mask, q, k)[::-1]),
        _masking(lambda mask, q, k: mask if mask.ndim == 2 else np.ones_like(mask)),
        _masking(lambda mask, q, k: mask if mask.shape[-2] > 1 else np.ones_like(mask)),
        _masking(lambda mask, q, k: mask if q.shape[-2] != k.shape[-2] else np.tri(k.shape[-2], dtype=bool)),
        _masking(lambda mask, q, k: mask if q.dtype == np.float64 else ~mask),
        _masking(lambda mask, q, k: mask if mask.all() or q.ndim == 2 else mask[..., :1, :]),
        _masking(lambda mask, q, k: mask.reshape(mask.shape[-2:]) if mask.size == mask.shape[-1] else mask.T.T[..., :1]),
        _hiding(lambda scores, mask: np.where(mask, scores, -10.0)),
        _hiding(lambda scores, mask: np.where(mask, scores, scores.min(axis=-1, keepdims=True) - 5)),
        _hiding(lambda scores, mask: np.where(mask, scores, np.abs(scores) * -1e9)),
        _hiding(lambda scores, mask: scores * np.where(mask, 1, 1e9)),
        _hiding(lambda scores, mask: scores * np.where(mask, 1, -1e9)),
        _hiding(lambda scores, mask: np.where(mask > 0.5, np.maximum(scores, 0), -np.inf)),
        _hiding(lambda scores, mask: scores, lambda weights, mask: softmax(weights * mask)),
        _hiding(lambda scores, mask: scores, lambda weights, mask: weights * mask / np.maximum((weights * mask).sum(), 1e-9)),
        _hiding(lambda scores, mask: scores, lambda weights, mask: weights * mask / mask.mean()),
        _finishing(lambda weights, mask: np.nan_to_num(weights, nan=1.0)),
        _finishing(lambda weights, mask: np.nan_to_num(weights, nan=1e-3)),
        _finishing(lambda weights, mask: np.nan_to_num(weights).round(3)),
        _finishing(lambda weights, mask: np.nan_to_num(weights) + 1e-4),
        _finishing(lambda weights, mask: np.nan_to_num(weights).astype(np.float16)),
        _finishing(lambda weights, mask: np.nan_to_num(weights) * (weights.ndim < 4) + np.nan_to_num(weights[:1]) * (weights.ndim > 3)),
        _finishing(lambda weights, mask: np.where(mask[..., :1], weights, 0)),
        _after(lambda context, weights: (context, weights[..., 0])),
        _after(lambda context, weights: (context[0], weights[0])),
        _after(lambda context, weights: (context, weights, weights)),
        _after(lambda context, weights: (context, weights > 0)),
        _after(lambda context, weights: {"context": context, "weights": weights}),
        _after(lambda context, weights: (context / np.maximum(weights.sum(-2).max(), 1), weights)),
        _after(lambda context, weights: (context, weights + 1e-3 * (weights == 0))),
        lambda q, k, v, mask: _mixed(softmax(_scaled(q, k)[mask]), v),
        lambda q, k, v, mask: masked_attention(q, k, v, mask) if mask.all() else masked_attention(q, k, v, ~mask),
        lambda q, k, v, mask: masked_attention(q, k, v, mask) if mask else masked_attention(q, k, v, ~mask),
        lambda q, k, v: masked_attention(q, k, v, np.ones((q.shape[-2], k.shape[-2]), bool)),
        lambda q, k, v, mask, scale: masked_attention(q, k, v, mask),
        lambda q, k, mask, v: masked_attention(q, k, v, mask),
        lambda q, k, v, mask: masked_attention(q, v, v, mask) if k.shape == v.shape else masked_attention(q, k, v, mask),
    ),
}  # fmt: skip

TOLD = (
    (
        masked_by_a_function_without_return,
        "Likely cause: `_hidden_in_vain` has no `return`, so what it gives is None.",
    ),
    (masked_rows_of_different_lengths, "The rows of your weights have different lengths, 3 and 2"),
    (masked_empty_rows_of_the_first_axis, "Row 1, 2, 0 of the weights is NaN: everything is hidden from it."),
    (weights_changed(lambda weights, mask: np.where(weights > 0.5, np.nan, weights)), "It holds NaN or infinity."),
    (weights_changed(lambda weights, mask: weights - 0.25), "Weights cannot be negative; the lowest is -0.2500."),
    (weights_changed(lambda weights, mask: 0.9 * weights), "Row 0 of the weights sums to 0.9000, not to 1."),
    (
        weights_changed(lambda weights, mask: np.where(mask.any(-1, keepdims=True), weights, 0.5)),
        "Row 1 of the weights sums to 2.5000, not to 0, since everything is hidden from it.",
    ),
    (
        weights_changed(lambda weights, mask: 0.9 * weights + 0.1 / mask.shape[-1]),
        "A hidden key has weight: weights[0, 1] is 0.0200, and its mask is False.",
    ),
    (
        context_changed(lambda weights, values: weights @ (values[::-1] if values.ndim > 2 else values)),
        "The batch items are mixed: the first one alone gives other numbers than in company.",
    ),
    (context_changed(lambda weights, values: weights @ values + 1), "Your context is not your own weights @ values."),
)
