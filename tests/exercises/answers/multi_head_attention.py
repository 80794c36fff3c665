"""Answers to multi_head_attention: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.attention import (
    combine_heads,
    multi_head_attention,
    scaled_dot_product_attention,
    softmax,
    softmax_or_zeros,
    split_heads,
)

TELLING_CASE = ("two batch axes", 6)


def _mask_of(mask, head):
    """One head's part of a mask."""
    if mask is None or mask.ndim < 3:
        return mask
    return mask[..., head if mask.shape[-3] > 1 else 0, :, :]


def mha_loop_over_heads(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    d_head = W_Q.shape[-1] // n_heads
    contexts, weights = [], []
    for h in range(n_heads):
        c = slice(h * d_head, (h + 1) * d_head)
        context, w = scaled_dot_product_attention(X @ W_Q[:, c], X @ W_K[:, c], X @ W_V[:, c], _mask_of(mask, h))
        contexts.append(context)
        weights.append(w)
    return np.concatenate(contexts, axis=-1) @ W_O, np.stack(weights, axis=-3)


RIGHT = (mha_loop_over_heads,)


def mha_as_wide_as_X(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    *batch, seq_len, d_model = X.shape
    d_head = d_model // n_heads
    q, k, v = ((X @ W).reshape(*batch, seq_len, n_heads, d_head).swapaxes(-3, -2) for W in (W_Q, W_K, W_V))
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return heads.swapaxes(-3, -2).reshape(*batch, seq_len, d_model) @ W_O, weights


def _heads_of(X, W_Q, W_K, W_V, n_heads, mask=None):
    return scaled_dot_product_attention(*(split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V)), mask)


def mha_mask_of_first_head(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    if mask is not None and mask.ndim > 2:
        mask = mask[..., :1, :, :]
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)


def mha_weights_unmasked(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    output, _ = multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    return output, multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads)[1]


def mha_columns_of_W_O(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = _heads_of(X, W_Q, W_K, W_V, n_heads, mask)
    d = heads.shape[-1]
    return sum(heads[..., h, :, :] @ W_O[:, h * d : (h + 1) * d].T for h in range(n_heads)), weights


def mha_one_head_if_square(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = _heads_of(X, W_Q, W_K, W_V, n_heads, mask)
    if n_heads == X.shape[-2]:
        return heads.reshape(X.shape) @ W_O, weights
    return combine_heads(heads) @ W_O, weights


def own_scaled_attention(queries, keys, values, scale=None):
    """Notebook 02's: the fourth argument is the scale."""
    if scale is None:
        scale = 1 / np.sqrt(queries.shape[-1])
    weights = softmax(scale * (queries @ keys.swapaxes(-1, -2)))
    return weights @ values, weights


def mha_mask_is_inverted_by_a_tilde(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    weights = softmax_or_zeros(np.where(~mask, -np.inf, scores))
    return combine_heads(weights @ v) @ W_O, weights


def mha_mask_or_all(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    seen = mask or np.ones((X.shape[-2], X.shape[-2]), bool)
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, seen)


def mha_mask_compared_with_none(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    if mask != None:  # noqa: E711 - as learners write it
        return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads)


def mha_if_a_mask(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    if mask:
        return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads)


def mha_mask_by_name(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    heads, weights = own_scaled_attention(q, k, v, mask=mask)
    return combine_heads(heads) @ W_O, weights


def mha_scale_in_the_masks_place(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    heads, weights = scaled_dot_product_attention(q, k, v, 1 / np.sqrt(q.shape[-1]))
    return combine_heads(heads) @ W_O, weights


def mha_heads_in_the_masks_place(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    heads, weights = scaled_dot_product_attention(q, k, v, n_heads)
    return combine_heads(heads) @ W_O, weights


def _after(change):
    return lambda *given, mask=None: change(*multi_head_attention(*given, mask), *given)


def mixed_evenly(weights, share):
    return (1 - share) * weights + share / weights.shape[-1]


def multi_head_changed(change):
    """Return multi-head attention that gives change(output, weights, X, W_V)."""

    def changed(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        return change(*multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask), X, W_V)

    return changed


def mha_mask_with_another_axis(place):
    def attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        queries, keys, values = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
        if mask is not None:
            mask = mask[place]
        heads, weights = scaled_dot_product_attention(queries, keys, values, mask)
        return combine_heads(heads) @ W_O, weights

    return attention


def mha_mask_only_where_it_is_none(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    queries, keys, values = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    if mask is None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return combine_heads(weights @ values) @ W_O, weights


def mha_taken_apart_swapped(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    weights, context = _heads_of(X, W_Q, W_K, W_V, n_heads, mask)
    return combine_heads(context) @ W_O, weights


WRONG = {
    "mha-attention-taken-apart-swapped": (mha_taken_apart_swapped,),
    "mha-width-of-X": (mha_as_wide_as_X,),
    "mha-mask-ignored": (mha_weights_unmasked,),
    "mha-output-projection-transposed": (mha_columns_of_W_O,),
    None: (
        mha_mask_of_first_head,
        mha_one_head_if_square,
        _after(lambda output, weights, *given: (output, weights.squeeze())),
        _after(lambda output, weights, *given: (output * (np.ndim(given[0]) < 4), weights)),
        lambda X, Q, K, V, out, h, mask=None: multi_head_attention(
            X, Q, K, V, out, h, None if mask is None else mask & np.tri(X.shape[-2], dtype=bool)
        ),
    ),
}

ASK_WHETHER = "To ask whether a mask was given, write `mask is not None`"
TOLD = (
    (mha_if_a_mask, ASK_WHETHER),
    (mha_mask_compared_with_none, ASK_WHETHER),
    (mha_mask_or_all, ASK_WHETHER),
    (mha_mask_is_inverted_by_a_tilde, "where no mask is given, `mask` is None. Ask first, `if mask is not None:`."),
    (mha_mask_by_name, "a function in that line takes other arguments. It has none called mask."),
    (mha_scale_in_the_masks_place, "A scale is passed by its name, scale=...; n_heads is for split_heads."),
    (mha_heads_in_the_masks_place, "n_heads stands in the place of the mask"),
    (
        multi_head_changed(lambda output, weights, X, W_V: (output, 0.9 * weights)),
        "Row 0, 0 of the weights sums to 0.9000, not to 1.",
    ),
    (
        multi_head_changed(lambda output, weights, X, W_V: (output, weights[..., ::-1, :, :])),
        "Heads are mixed: the weights of head 1 change when only head 0's columns of W_Q do.",
    ),
    (multi_head_changed(lambda output, weights, X, W_V: (X @ W_V, weights)), "Your output does not depend on W_O."),
    (
        multi_head_changed(lambda output, weights, X, W_V: (output + 0.1, weights)),
        "Your output is not the sum of what the heads contribute",
    ),
    (
        multi_head_changed(lambda output, weights, X, W_V: (output, mixed_evenly(weights, np.tanh(W_V[0, 0] ** 2)))),
        "Your weights change when only W_V changes.",
    ),
    (
        lambda *given, mask=None: (multi_head_attention(*given)[0], multi_head_attention(*given, mask)[1]),
        "Token 3 leaks: it is hidden from token 0, whose output changes with it all the same.",
    ),
    (
        lambda *given, mask=None: multi_head_attention(
            *given, mask if mask is None else np.tri(len(mask), k=1, dtype=bool)
        ),
        "A hidden key has weight: weights[0, 0, 1] is ",
    ),
)
