"""Answers to masked_attention: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.attention import attention_scores, masked_attention, softmax

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


class MaskedObject:
    def __call__(self, queries, keys, values, mask=None, dropout=0.0):
        return list(masked_nan_to_num(queries, keys, values, mask))


RIGHT = (
    masked_fourth_root,
    MaskedObject(),
)


def _masking(change):
    """Right attention with change(mask, queries, keys) for a mask."""
    return lambda q, k, v, mask: masked_attention(q, k, v, change(mask, q, k))


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


def masked_cached_mask(queries, keys, values, mask, kept={}):  # noqa: B006
    return masked_attention(queries, keys, values, kept.setdefault(mask.shape, mask.copy()))


def masked_if_any(queries, keys, values, mask):
    """`if mask.any()`: a mask without a True in it is taken for no mask."""
    if mask.any():
        return masked_attention(queries, keys, values, mask)
    return masked_attention(queries, keys, values, np.ones_like(mask))


def masked_squeezed(queries, keys, values, mask):
    context, weights = masked_attention(queries, keys, values, mask)
    return context.squeeze(), weights


def masked_batch_zip(queries, keys, values, mask):
    """Goes through the batch and its masks side by side, also where one mask is there for all."""
    if queries.ndim > 2:
        items = [masked_batch_zip(*item) for item in zip(queries, keys, values, mask, strict=False)]
        return np.array([context for context, _ in items]), np.array([weights for _, weights in items])
    return masked_attention(queries, keys, values, np.atleast_2d(mask))


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


def masked_rows_of_different_lengths(queries, keys, values, mask):
    scores = attention_scores(queries, keys) / np.sqrt(queries.shape[-1])
    weights = [softmax(row[visible]) for row, visible in zip(scores, mask, strict=False)]
    return np.array([row @ values[visible] for row, visible in zip(weights, mask, strict=False)]), weights


WRONG = {
    "mask-full-row-all-at-once": (masked_unless_all_is_hidden(-1e9),),
    "mask-ignored": (
        _masking(lambda mask, q, k: mask if mask.ndim == 4 else np.ones_like(mask)),
        masked_by_a_function_in_vain,
        masked_under_a_name_that_is_not_used,
    ),
    "wrong-condition": (masked_only_without_a_mask,),
    "mask-full-row-unmasked": (_masking(lambda mask, q, k: np.where(mask.any(-1, keepdims=True), mask, True)),),
    None: (
        masked_cached_mask,
        masked_if_any,
        masked_squeezed,
        masked_batch_zip,
        _masking(lambda mask, q, k: mask if q.shape[-2] != k.shape[-2] else np.tri(k.shape[-2], dtype=bool)),
        _masking(lambda mask, q, k: mask if q.dtype == np.float64 else ~mask),
    ),
}

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
