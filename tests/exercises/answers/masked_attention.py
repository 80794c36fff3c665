"""Answers to masked_attention: right ones in many styles, and wrong ones."""

import itertools
import math

import numpy as np

from mha_helpers.maths.attention import attention_scores, masked_attention, softmax

TELLING_CASE = ("a mask for each head", 6)


def _scaled(queries, keys):
    return queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])


def _mixed(weights, values):
    return weights @ values, weights


def masked_nan_to_num(queries, keys, values, mask):
    weights = softmax(np.where(mask, _scaled(queries, keys), -np.inf))
    return _mixed(np.nan_to_num(weights), values)


def masked_fourth_root(queries, keys, values, mask):
    root = keys.shape[-1] ** 0.25
    scores = (queries / root) @ (keys / root).swapaxes(-1, -2)
    return _mixed(np.nan_to_num(softmax(np.where(mask, scores, -np.inf))), values)


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


class MaskedObject:
    def __call__(self, queries, keys, values, mask=None, dropout=0.0):
        return list(masked_nan_to_num(queries, keys, values, mask))


RIGHT = (
    masked_fourth_root,
    masked_visible_keys_only,
    masked_python_loops,
    MaskedObject(),
    lambda q, k, v, mask: tuple(array.tolist() for array in masked_attention(q, k, v, mask)),
    lambda q, k, v, mask: tuple(array.astype(object) for array in masked_attention(q, k, v, mask)),
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


def masked_unless_all_is_hidden(low):
    def attention(queries, keys, values, mask):
        if not mask.any():
            shape = queries.shape[:-1]
            return np.zeros((*shape, values.shape[-1])), np.zeros((*shape, keys.shape[-2]))
        return _mixed(softmax(np.where(mask, _scaled(queries, keys), low)), values)

    return attention


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


def masked_squeezed(queries, keys, values, mask):
    context, weights = masked_attention(queries, keys, values, mask)
    return context.squeeze(), weights


def masked_weights_squeezed(queries, keys, values, mask):
    context, weights = masked_attention(queries, keys, values, mask)
    return context, weights.squeeze()


def masked_causal_if_square(queries, keys, values, mask):
    if queries.shape[-2] == keys.shape[-2]:
        mask = mask & np.tri(queries.shape[-2], dtype=bool)
    return masked_attention(queries, keys, values, mask)


def masked_transposed_if_square(queries, keys, values, mask):
    return masked_attention(queries, keys, values, mask.swapaxes(-1, -2) if mask.shape[-1] == mask.shape[-2] else mask)


def masked_no_max(queries, keys, values, mask):
    e = np.exp(_scaled(queries, keys)) * mask
    total = e.sum(axis=-1, keepdims=True)
    return _mixed(np.divide(e, total, where=total > 0, out=np.zeros_like(e)), values)


def masked_added_epsilon(queries, keys, values, mask):
    scores = np.where(mask, _scaled(queries, keys), -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0))
    return _mixed(e / (e.sum(axis=-1, keepdims=True) + 1e-3), values)


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
    "mask-full-row-all-at-once": (masked_unless_all_is_hidden(-1e9),),
    "input-changed": (masked_writes_mask,),
    "mask-ignored": (
        _masking(lambda mask, q, k: mask if mask.ndim == 4 else np.ones_like(mask)),
        masked_by_a_function_in_vain,
        masked_in_a_loop_in_vain,
        masked_under_a_name_that_is_not_used,
    ),
    "wrong-condition": (masked_only_without_a_mask,),
    "zero-times-inf": (masked_infinity_times_zero_made_zero,),
    "mask-full-row-unmasked": (_masking(lambda mask, q, k: np.where(mask.any(-1, keepdims=True), mask, True)),),
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
        masked_causal_if_square,
        masked_transposed_if_square,
        masked_no_max,
        masked_added_epsilon,
        masked_scale_by_visible,
        masked_matrix_only,
        masked_batch_zip,
        masked_numpy_ma_filled_with_nan,
        masked_same_number_of_keys,
        _masking(lambda mask, q, k: mask | (np.arange(k.shape[-2]) == 0)),
        _masking(lambda mask, q, k: _full(mask, q, k)[::-1]),
        _masking(lambda mask, q, k: mask if mask.ndim == 2 else np.ones_like(mask)),
        _masking(lambda mask, q, k: mask if mask.shape[-2] > 1 else np.ones_like(mask)),
        _masking(lambda mask, q, k: mask if q.shape[-2] != k.shape[-2] else np.tri(k.shape[-2], dtype=bool)),
        _masking(lambda mask, q, k: mask if q.dtype == np.float64 else ~mask),
        _masking(lambda mask, q, k: mask if mask.all() or q.ndim == 2 else mask[..., :1, :]),
        _hiding(lambda scores, mask: np.where(mask, scores, np.abs(scores) * -1e9)),
        _finishing(lambda weights, mask: np.nan_to_num(weights) * (weights.ndim < 4) + np.nan_to_num(weights[:1]) * (weights.ndim > 3)),
        _finishing(lambda weights, mask: np.where(mask[..., :1], weights, 0)),
        _after(lambda context, weights: (context, weights, weights)),
        _after(lambda context, weights: (context, weights > 0)),
        _after(lambda context, weights: {"context": context, "weights": weights}),
        _after(lambda context, weights: (context / np.maximum(weights.sum(-2).max(), 1), weights)),
        _after(lambda context, weights: (context, weights + 1e-3 * (weights == 0))),
        lambda q, k, v, mask: _mixed(softmax(_scaled(q, k)[mask]), v),
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
