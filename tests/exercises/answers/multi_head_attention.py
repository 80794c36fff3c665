"""Answers to multi_head_attention: right ones in many styles, and wrong ones."""

import itertools
import math

import numpy as np

from mha_helpers.maths.attention import (
    combine_heads,
    head_contributions,
    masked_attention,
    multi_head_attention,
    scaled_dot_product_attention,
    softmax,
    softmax_or_zeros,
    split_heads,
)

TELLING_CASE = ("two batch axes", 6)


def mha_by_hand(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    d_head = W_Q.shape[-1] // n_heads

    def split(Y):
        return Y.reshape(*X.shape[:-1], n_heads, d_head).swapaxes(-3, -2)

    q, k, v = split(X @ W_Q), split(X @ W_K), split(X @ W_V)
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(d_head)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax_or_zeros(scores)
    context = (weights @ v).swapaxes(-3, -2).reshape(*X.shape[:-1], n_heads * d_head)
    return context @ W_O, weights


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


def mha_circuits(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Each head as two matrices: what it looks at, and what it writes."""
    Q, K, V = (np.stack(np.split(W, n_heads, axis=1)) for W in (W_Q, W_K, W_V))
    rows = np.stack(np.split(W_O, n_heads))
    QK, OV = Q @ K.swapaxes(1, 2), V @ rows
    Y = X[..., None, :, :]
    scores = Y @ QK @ Y.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax_or_zeros(scores if mask is None else np.where(mask, scores, -np.inf))
    return (weights @ Y @ OV).sum(axis=-3), weights


def mha_lowest_number(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    scores = q @ k.mT / np.sqrt(q.shape[-1])
    visible = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = softmax(np.where(visible, scores, np.finfo(scores.dtype).min)) * visible
    return combine_heads(weights @ v) @ W_O, weights


def mha_recursive(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    if X.ndim > 2:
        masks = [mask] * len(X) if mask is None or mask.ndim <= X.ndim - 1 else mask
        pairs = [mha_recursive(x, W_Q, W_K, W_V, W_O, n_heads, m) for x, m in zip(X, masks, strict=True)]
        return np.array([output for output, _ in pairs]), np.array([weights for _, weights in pairs])
    return mha_by_hand(X, W_Q, W_K, W_V, W_O, n_heads, mask)


def mha_python_loops(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    *batch, seq_len, _ = X.shape
    d_head = W_Q.shape[-1] // n_heads
    q, k, v = X @ W_Q, X @ W_K, X @ W_V
    weights = np.zeros((*batch, n_heads, seq_len, seq_len))
    visible = np.broadcast_to(True if mask is None else mask, weights.shape)
    combined = np.zeros(q.shape)
    for place in itertools.product(*map(range, batch), range(n_heads), range(seq_len)):
        *b, h, i = place
        keys = [j for j in range(seq_len) if visible[(*place, j)]]
        scores = {
            j: sum(q[(*b, i, f)] * k[(*b, j, f)] for f in range(h * d_head, (h + 1) * d_head)) / math.sqrt(d_head)
            for j in keys
        }
        top = max(scores.values(), default=0)
        total = sum(math.exp(score - top) for score in scores.values())
        for j, score in scores.items():
            weights[(*place, j)] = math.exp(score - top) / total
            for f in range(h * d_head, (h + 1) * d_head):
                combined[(*b, i, f)] += weights[(*place, j)] * v[(*b, j, f)]
    return combined @ W_O, weights


def mha_strided_everywhere(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Columns and rows are shuffled first, so that strided heads are the right ones."""
    d_head = W_Q.shape[-1] // n_heads
    order = np.arange(W_Q.shape[-1]).reshape(n_heads, d_head).T.ravel()
    q, k, v = (np.stack([(X @ W[:, order])[..., h::n_heads] for h in range(n_heads)], axis=-3) for W in (W_Q, W_K, W_V))
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    combined = np.moveaxis(heads, -3, -1).reshape(*X.shape[:-1], -1)
    return combined @ W_O[order], weights


RIGHT = (
    mha_loop_over_heads,
    mha_circuits,
    mha_lowest_number,
    mha_recursive,
    mha_python_loops,
    mha_strided_everywhere,
    lambda *given, mask=None: [array.astype(np.float32) for array in multi_head_attention(*given, mask)],
)  # fmt: skip


def mha_as_wide_as_X(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    *batch, seq_len, d_model = X.shape
    d_head = d_model // n_heads
    q, k, v = ((X @ W).reshape(*batch, seq_len, n_heads, d_head).swapaxes(-3, -2) for W in (W_Q, W_K, W_V))
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return heads.swapaxes(-3, -2).reshape(*batch, seq_len, d_model) @ W_O, weights


def _heads_of(X, W_Q, W_K, W_V, n_heads, mask=None):
    return scaled_dot_product_attention(*(split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V)), mask)


def mha_no_mask_argument(X, W_Q, W_K, W_V, W_O, n_heads):
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads)


def mha_any_mask_is_causal(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, is_causal=mask is not None)


def mha_if_mask(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask if mask else None)


def mha_mask_writes(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    result = multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    if mask is not None:
        mask |= True
    return result


def mha_mask_needs_head_axis(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Right for masks of two axes, and those with a batch get one axis more."""
    if mask is not None and mask.ndim > 2:
        mask = mask[:, None]
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)


def mha_mask_of_first_head(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    if mask is not None and mask.ndim > 2:
        mask = mask[..., :1, :, :]
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)


def mha_mask_on_output_only(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """The weights that are returned are masked; the output is made with others."""
    output, _ = multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads)
    return output, multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)[1]


def mha_weights_unmasked(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    output, _ = multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    return output, multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads)[1]


def mha_future_in_values(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """The weights are right, and a little of the mean of all tokens leaks into each."""
    output, weights = multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    return output + 0.1 * X.mean(axis=-2, keepdims=True), weights


def mha_head_split_twice(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """X is split, projected by slices of columns and rows both."""
    d = X.shape[-1] // n_heads
    heads, weights = [], []
    for h in range(n_heads):
        c = slice(h * d, (h + 1) * d)
        context, w = scaled_dot_product_attention(
            X[..., c] @ W_Q[c], X[..., c] @ W_K[c], X[..., c] @ W_V[c], _mask_of(mask, h)
        )
        heads.append(context[..., c])
        weights.append(w)
    return np.concatenate(heads, axis=-1) @ W_O, np.stack(weights, axis=-3)


def mha_full_width_heads(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """n_heads times the same, full width, and the mean of it."""
    pairs = [scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V, _mask_of(mask, h)) for h in range(n_heads)]
    return np.mean([c for c, _ in pairs], axis=0) @ W_O, np.stack([w for _, w in pairs], axis=-3)


def mha_contributions_not_summed(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = _heads_of(X, W_Q, W_K, W_V, n_heads, mask)
    return head_contributions(heads, W_O), weights


def mha_columns_of_W_O(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = _heads_of(X, W_Q, W_K, W_V, n_heads, mask)
    d = heads.shape[-1]
    return sum(heads[..., h, :, :] @ W_O[:, h * d : (h + 1) * d].T for h in range(n_heads)), weights


def mha_concatenate_first_axis(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = _heads_of(X, W_Q, W_K, W_V, n_heads, mask)
    return np.concatenate(list(heads), axis=-1) @ W_O, weights


def mha_one_head_if_square(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = _heads_of(X, W_Q, W_K, W_V, n_heads, mask)
    if n_heads == X.shape[-2]:
        return heads.reshape(X.shape) @ W_O, weights
    return combine_heads(heads) @ W_O, weights


def mha_cosine(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    q, k = (Y / np.linalg.norm(Y, axis=-1, keepdims=True) for Y in (q, k))
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return combine_heads(heads) @ W_O, weights


def mha_weights_unscaled(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    output, weights = multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    return output, weights * n_heads


def mha_max_of_all(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    scores = q @ k.mT / np.sqrt(q.shape[-1])
    e = np.exp(scores - scores.max()) * (True if mask is None else mask)
    total = e.sum(-1, keepdims=True)
    weights = e / np.where(total == 0, 1, total)
    return combine_heads(weights @ v) @ W_O, weights


def mha_query_heads_rolled(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Each query meets the next head's keys."""
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    heads, weights = scaled_dot_product_attention(q, np.roll(k, 1, axis=-3), v, mask)
    return combine_heads(heads) @ W_O, weights


def mha_values_not_projected(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return multi_head_attention(X, W_Q, W_K, np.eye(X.shape[-1]), W_O, n_heads, mask)


def mha_own_masked(attend):
    """Notebook 03's function, called with a mask or without one."""

    def own(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
        heads, weights = attend(q, k, v, mask)
        return combine_heads(heads) @ W_O, weights

    return own


def own_masked_attention(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    weights = softmax(np.where(mask, scores, np.finfo(scores.dtype).min))
    weights = np.where(mask, weights, 0)
    return weights @ values, weights


def own_masked_attention_of_infinity(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    weights = softmax_or_zeros(scores + np.where(mask, 0, -np.inf))
    return weights @ values, weights


def own_masked_attention_of_a_billion(queries, keys, values, mask):
    weights = softmax(np.where(mask, queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1]), -1e9))
    return weights @ values, weights


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


def mha_mask_before_n_heads(X, W_Q, W_K, W_V, W_O, mask=None, n_heads=2):
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)


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


def mha_output_not_kept(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    queries, keys, values = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    heads, weights = scaled_dot_product_attention(queries, keys, values, mask)
    combine_heads(heads) @ W_O
    return heads, weights


def mha_mask_only_where_it_is_none(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    queries, keys, values = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    if mask is None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return combine_heads(weights @ values) @ W_O, weights


def mha_mask_passed_on_where_it_is_none(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    queries, keys, values = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    if mask is not None:
        heads, weights = scaled_dot_product_attention(queries, keys, values)
    else:
        heads, weights = scaled_dot_product_attention(queries, keys, values, mask)
    return combine_heads(heads) @ W_O, weights


WRONG = {
    "wrong-condition": (mha_mask_only_where_it_is_none, mha_mask_passed_on_where_it_is_none),
    "result-thrown-away": (mha_output_not_kept,),
    "mha-width-of-X": (mha_as_wide_as_X, ),
    "input-changed": (mha_mask_writes,),
    "mha-mask-ignored": (mha_weights_unmasked,),
    "mha-mask-none": tuple(
        map(
            mha_own_masked,
            (
                masked_attention,
                own_masked_attention,
                own_masked_attention_of_infinity,
                own_masked_attention_of_a_billion,
            ),
        )
    ),
    "arguments-order": (mha_mask_before_n_heads,),
    "mha-output-projection-transposed": (mha_columns_of_W_O,),
    None: (
        mha_no_mask_argument,
        mha_any_mask_is_causal,
        mha_if_mask,
        mha_mask_needs_head_axis,
        mha_mask_of_first_head,
        mha_mask_on_output_only,
        mha_future_in_values,
        mha_head_split_twice,
        mha_full_width_heads,
        mha_contributions_not_summed,
        mha_concatenate_first_axis,
        mha_one_head_if_square,
        mha_cosine,
        mha_weights_unscaled,
        mha_max_of_all,
        mha_query_heads_rolled,
        mha_values_not_projected,
        _after(lambda output, weights, *given: (output, weights, given[0])),
        _after(lambda output, weights, *given: (output, weights[..., ::-1, :, :])),
        _after(lambda output, weights, *given: (output, weights.squeeze())),
        _after(lambda output, weights, *given: (output * (np.ndim(given[0]) < 4), weights)),
        lambda X, Q, K, V, out, h, mask=None: multi_head_attention(X, Q, K, V, out, 2, mask),
        lambda X, Q, K, V, out, h, mask=None: multi_head_attention(X, Q, K, V, out, h, None if mask is None else mask & np.tri(X.shape[-2], dtype=bool)),
    ),
}  # fmt: skip

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
