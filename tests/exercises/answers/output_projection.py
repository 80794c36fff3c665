"""Answers to notebook 05's exercises: right ones in many styles, and wrong ones beyond the catalogue."""

import itertools
import math

import numpy as np

from mha_helpers.attention import (
    combine_heads,
    folded_attention,
    head_contributions,
    masked_attention,
    multi_head_attention,
    scaled_dot_product_attention,
    softmax,
    softmax_or_zeros,
    split_heads,
)
from mha_helpers.exercises.output_projection.judge_step import judge_step

# ---- right multi_head_attention --------------------------------------------------------------


def mha_by_hand(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    *batch, seq_len, d_model = X.shape
    d_head = d_model // n_heads

    def split(Y):
        return Y.reshape(*batch, seq_len, n_heads, d_head).swapaxes(-3, -2)

    q, k, v = split(X @ W_Q), split(X @ W_K), split(X @ W_V)
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(d_head)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax_or_zeros(scores)
    context = (weights @ v).swapaxes(-3, -2).reshape(*batch, seq_len, d_model)
    return context @ W_O, weights


def _mask_of(mask, head):
    """One head's part of a mask."""
    if mask is None or mask.ndim < 3:
        return mask
    return mask[..., head if mask.shape[-3] > 1 else 0, :, :]


def mha_loop_over_heads(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    d_head = X.shape[-1] // n_heads
    contexts, weights = [], []
    for h in range(n_heads):
        c = slice(h * d_head, (h + 1) * d_head)
        context, w = scaled_dot_product_attention(X @ W_Q[:, c], X @ W_K[:, c], X @ W_V[:, c], _mask_of(mask, h))
        contexts.append(context)
        weights.append(w)
    return np.concatenate(contexts, axis=-1) @ W_O, np.stack(weights, axis=-3)


def mha_sum_of_contributions(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    queries, keys, values = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    heads, weights = scaled_dot_product_attention(queries, keys, values, mask)
    return head_contributions(heads, W_O).sum(axis=-3), weights


def mha_adding_up(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    d_head = X.shape[-1] // n_heads
    weights = np.zeros((*X.shape[:-2], n_heads, X.shape[-2], X.shape[-2]))
    output = np.zeros(X.shape)
    for h in range(n_heads):
        c = slice(h * d_head, (h + 1) * d_head)
        context, weights[..., h, :, :] = scaled_dot_product_attention(
            X @ W_Q[:, c], X @ W_K[:, c], X @ W_V[:, c], _mask_of(mask, h)
        )
        output += context @ W_O[c]
    return output, weights


def mha_einsum(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    d_model = X.shape[-1]
    Q, K, V = (W.reshape(d_model, n_heads, -1) for W in (W_Q, W_K, W_V))
    q, k, v = (np.einsum("...sm,mhd->...hsd", X, W) for W in (Q, K, V))
    scores = np.einsum("...hqd,...hkd->...hqk", q, k) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax_or_zeros(scores)
    return np.einsum("...hqk,...hkd,hdm->...qm", weights, v, W_O.reshape(n_heads, -1, d_model)), weights


def mha_circuits(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Each head as two matrices: what it looks at, and what it writes."""
    Q, K, V = (np.stack(np.split(W, n_heads, axis=1)) for W in (W_Q, W_K, W_V))
    rows = np.stack(np.split(W_O, n_heads))
    QK, OV = Q @ K.swapaxes(1, 2), V @ rows
    Y = X[..., None, :, :]
    scores = Y @ QK @ Y.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax_or_zeros(scores if mask is None else np.where(mask, scores, -np.inf))
    return (weights @ Y @ OV).sum(axis=-3), weights


def mha_stacked_projection(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """One product for all three, as in GPT-2."""
    projected = X @ np.concatenate([W_Q, W_K, W_V], axis=1)
    q, k, v = (split_heads(Y, n_heads) for Y in np.split(projected, 3, axis=-1))
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return combine_heads(heads) @ W_O, weights


def mha_masked(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    if mask is None:
        mask = np.ones((X.shape[-2], X.shape[-2]), dtype=bool)
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    heads, weights = masked_attention(q, k, v, mask)
    return combine_heads(heads) @ W_O, weights


def mha_additive(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    bias = 0.0 if mask is None else np.where(mask, 0.0, -np.inf)
    weights = softmax_or_zeros(q @ k.mT * q.shape[-1] ** -0.5 + bias)
    return combine_heads(weights @ v) @ W_O, weights


def mha_lowest_number(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    scores = q @ k.mT / np.sqrt(q.shape[-1])
    visible = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = softmax(np.where(visible, scores, np.finfo(scores.dtype).min)) * visible
    return combine_heads(weights @ v) @ W_O, weights


def mha_folded(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Heads and all batch axes in one."""
    heads = [split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V)]
    shape = heads[0].shape
    q, k, v = (Y.reshape(-1, *shape[-2:]) for Y in heads)
    if mask is not None:
        mask = np.broadcast_to(mask, (*shape[:-1], shape[-2])).reshape(len(q), shape[-2], shape[-2])
    context, weights = scaled_dot_product_attention(q, k, v, mask)
    return combine_heads(context.reshape(shape)) @ W_O, weights.reshape(*shape[:-1], shape[-2])


def mha_folded_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Notebook 04's where it can be had, and the weights on the side."""
    output, weights = multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    if X.ndim == 3 and mask is None:
        output = folded_attention(X @ W_Q, X @ W_K, X @ W_V, n_heads) @ W_O
    return output, weights


def mha_recursive(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    if X.ndim > 2:
        masks = [mask] * len(X) if mask is None or mask.ndim <= X.ndim - 1 else mask
        pairs = [mha_recursive(x, W_Q, W_K, W_V, W_O, n_heads, m) for x, m in zip(X, masks, strict=True)]
        return np.array([output for output, _ in pairs]), np.array([weights for _, weights in pairs])
    return mha_by_hand(X, W_Q, W_K, W_V, W_O, n_heads, mask)


def mha_python_loops(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    *batch, seq_len, d_model = X.shape
    d_head = d_model // n_heads
    q, k, v = X @ W_Q, X @ W_K, X @ W_V
    weights = np.zeros((*batch, n_heads, seq_len, seq_len))
    visible = np.broadcast_to(True if mask is None else mask, weights.shape)
    combined = np.zeros(X.shape)
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


def mha_weights_through_W_O_first(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """The values go through W_O before they are mixed."""
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    _, weights = scaled_dot_product_attention(q, k, v, mask)
    written = v @ W_O.reshape(n_heads, -1, X.shape[-1])
    return (weights @ written).sum(axis=-3), weights


def mha_strided_everywhere(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Columns and rows are shuffled first, so that strided heads are the right ones."""
    d_head = X.shape[-1] // n_heads
    order = np.arange(X.shape[-1]).reshape(n_heads, d_head).T.ravel()
    q, k, v = (np.stack([(X @ W[:, order])[..., h::n_heads] for h in range(n_heads)], axis=-3) for W in (W_Q, W_K, W_V))
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    combined = np.moveaxis(heads, -3, -1).reshape(X.shape)
    return combined @ W_O[order], weights


RIGHT_MULTI_HEAD = (
    multi_head_attention,
    mha_by_hand,
    mha_loop_over_heads,
    mha_sum_of_contributions,
    mha_adding_up,
    mha_einsum,
    mha_circuits,
    mha_stacked_projection,
    mha_masked,
    mha_additive,
    mha_lowest_number,
    mha_folded,
    mha_folded_attention,
    mha_recursive,
    mha_python_loops,
    mha_weights_through_W_O_first,
    mha_strided_everywhere,
    lambda *given, mask=None: [array.astype(np.float32) for array in multi_head_attention(*given, mask)],
    lambda *given, **named: tuple(array.tolist() for array in multi_head_attention(*given, **named)),
    lambda X, Q, K, V, out, h, mask=None, is_causal=False, dropout=0.0: mha_by_hand(X, Q, K, V, out, h, mask),
)  # fmt: skip

# ---- wrong multi_head_attention --------------------------------------------------------------


def _heads_of(X, W_Q, W_K, W_V, n_heads, mask=None):
    return scaled_dot_product_attention(*(split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V)), mask)


def mha_no_mask_argument(X, W_Q, W_K, W_V, W_O, n_heads):
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads)


def mha_always_causal(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask, is_causal=True)


def mha_any_mask_is_causal(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, is_causal=mask is not None)


def mha_if_mask(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask if mask else None)


def mha_mask_writes(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    result = multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    if mask is not None:
        mask |= True
    return result


def mha_scales_in_place(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    result = multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    W_Q /= math.sqrt(X.shape[-1] // n_heads)
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


def mha_right_without_mask(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    if mask is None:
        return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads)
    return X @ W_V @ W_O, np.ones((*X.shape[:-2], n_heads, X.shape[-2], X.shape[-2])) / X.shape[-2]


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


def mha_last_head_only(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = _heads_of(X, W_Q, W_K, W_V, n_heads, mask)
    return head_contributions(heads, W_O)[..., -1, :, :], weights


def mha_contributions_not_summed(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = _heads_of(X, W_Q, W_K, W_V, n_heads, mask)
    return head_contributions(heads, W_O), weights


def mha_contributions_averaged(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = _heads_of(X, W_Q, W_K, W_V, n_heads, mask)
    return head_contributions(heads, W_O).mean(axis=-3), weights


def mha_strided_rows_of_W_O(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = _heads_of(X, W_Q, W_K, W_V, n_heads, mask)
    return sum(heads[..., h, :, :] @ W_O[h::n_heads] for h in range(n_heads)), weights


def mha_columns_of_W_O(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = _heads_of(X, W_Q, W_K, W_V, n_heads, mask)
    d = heads.shape[-1]
    return sum(heads[..., h, :, :] @ W_O[:, h * d : (h + 1) * d].T for h in range(n_heads)), weights


def mha_concatenate_first_axis(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = _heads_of(X, W_Q, W_K, W_V, n_heads, mask)
    return np.concatenate(list(heads), axis=-1) @ W_O, weights


def mha_loop_stacks_first(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    output, weights = mha_loop_over_heads(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    return output, list(np.moveaxis(weights, -3, 0))


def mha_one_head_if_square(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = _heads_of(X, W_Q, W_K, W_V, n_heads, mask)
    if n_heads == X.shape[-2]:
        return heads.reshape(X.shape) @ W_O, weights
    return combine_heads(heads) @ W_O, weights


def mha_residual_before_W_O(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    heads, weights = _heads_of(X, W_Q, W_K, W_V, n_heads, mask)
    return (combine_heads(heads) + X) @ W_O, weights


def mha_normalised(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    output, weights = multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask)
    return (output - output.mean(-1, keepdims=True)) / (output.std(-1, keepdims=True) + 1e-5), weights


def mha_cosine(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    q, k = (Y / np.linalg.norm(Y, axis=-1, keepdims=True) for Y in (q, k))
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return combine_heads(heads) @ W_O, weights


def mha_constant_scale(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    heads, weights = scaled_dot_product_attention(q, k, v, mask, scale=1 / 8)
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


def mha_value_heads_rolled(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    heads, weights = scaled_dot_product_attention(q, k, np.roll(v, 1, axis=-3), mask)
    return combine_heads(heads) @ W_O, weights


def mha_values_not_projected(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    return multi_head_attention(X, W_Q, W_K, np.eye(X.shape[-1]), W_O, n_heads, mask)


def mha_keys_cut_straight(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    q, k, v = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    heads, weights = scaled_dot_product_attention(q, (X @ W_K).reshape(k.shape), v, mask)
    return combine_heads(heads) @ W_O, weights


def _after(change):
    return lambda *given, mask=None: change(*multi_head_attention(*given, mask), *given)


WRONG_MULTI_HEAD = (
    mha_no_mask_argument,
    mha_always_causal,
    mha_any_mask_is_causal,
    mha_if_mask,
    mha_mask_writes,
    mha_scales_in_place,
    mha_mask_needs_head_axis,
    mha_mask_of_first_head,
    mha_mask_on_output_only,
    mha_weights_unmasked,
    mha_future_in_values,
    mha_right_without_mask,
    mha_head_split_twice,
    mha_full_width_heads,
    mha_last_head_only,
    mha_contributions_not_summed,
    mha_contributions_averaged,
    mha_strided_rows_of_W_O,
    mha_columns_of_W_O,
    mha_concatenate_first_axis,
    mha_loop_stacks_first,
    mha_one_head_if_square,
    mha_residual_before_W_O,
    mha_normalised,
    mha_cosine,
    mha_constant_scale,
    mha_weights_unscaled,
    mha_max_of_all,
    mha_query_heads_rolled,
    mha_value_heads_rolled,
    mha_values_not_projected,
    mha_keys_cut_straight,
    _after(lambda output, weights, *given: (output, weights, given[0])),
    _after(lambda output, weights, *given: (output[..., ::-1, :], weights)),
    _after(lambda output, weights, *given: (output, weights[..., ::-1, :, :])),
    _after(lambda output, weights, *given: (output, weights.max(axis=-3))),
    _after(lambda output, weights, *given: (split_heads(output, given[5]), weights)),
    _after(lambda output, weights, *given: (output, weights.swapaxes(-1, -2))),
    _after(lambda output, weights, *given: (output, weights.round(2))),
    _after(lambda output, weights, *given: (output @ given[4], weights)),
    _after(lambda output, weights, *given: (output, weights.squeeze())),
    _after(lambda output, weights, *given: (output * (np.ndim(given[0]) < 4), weights)),
    _after(lambda output, weights, *given: (output.sum(axis=-2), weights)),
    lambda X, Q, K, V, out, h, mask=None: multi_head_attention(X, Q, K, V, out, 1, mask),
    lambda X, Q, K, V, out, h, mask=None: multi_head_attention(X, Q, K, V, out, 2, mask),
    lambda X, Q, K, V, out, h, mask=None: multi_head_attention(X, Q, K, V, out, X.shape[-1] // h, mask),
    lambda X, Q, K, V, out, h, mask=None: multi_head_attention(X, Q, K, V, out, h, None if mask is None else mask & np.tri(X.shape[-2], dtype=bool)),
    lambda X, Q, K, V, out, h, mask=None: multi_head_attention(X, Q, K, V, out, h, None if mask is None else mask | np.eye(X.shape[-2], dtype=bool)),
    lambda X, Q, K, V, out, h, mask=None: multi_head_attention(X @ Q, Q, K, V, out, h, mask),
    lambda X, Q, K, V, out, h, mask=None: multi_head_attention(X, Q, K, out, V, h, mask),
)  # fmt: skip

# ---- right head_contributions ----------------------------------------------------------------


def contributions_loop(heads, W_O):
    n_heads, _, d_head = heads.shape[-3:]
    parts = []
    for h in range(n_heads):
        parts.append(heads[..., h, :, :] @ W_O[h * d_head : (h + 1) * d_head])
    return np.stack(parts, axis=-3)


def contributions_filling(heads, W_O):
    *batch, n_heads, seq_len, d_head = heads.shape
    result = np.zeros((*batch, n_heads, seq_len, W_O.shape[-1]))
    for h in range(n_heads):
        result[..., h, :, :] = heads[..., h, :, :] @ W_O[h * d_head : (h + 1) * d_head, :]
    return result


def contributions_one_head_at_a_time(heads, W_O):
    """All other heads 0, and the whole projection."""
    parts = []
    for h in range(heads.shape[-3]):
        alone = np.zeros_like(heads)
        alone[..., h, :, :] = heads[..., h, :, :]
        parts.append(combine_heads(alone) @ W_O)
    return np.stack(parts, axis=-3)


def contributions_without_the_others(heads, W_O):
    whole = combine_heads(heads) @ W_O
    parts = []
    for h in range(heads.shape[-3]):
        others = heads.copy()
        others[..., h, :, :] = 0
        parts.append(whole - combine_heads(others) @ W_O)
    return np.stack(parts, axis=-3)


def contributions_rows_zeroed(heads, W_O):
    n_heads, _, d_head = heads.shape[-3:]
    owner = np.arange(len(W_O)) // d_head
    masked = np.where(owner == np.arange(n_heads)[:, None], 1, 0)[..., None] * W_O
    return combine_heads(heads)[..., None, :, :] @ masked


def contributions_recursive(heads, W_O):
    if heads.ndim > 3:
        return [contributions_recursive(item, W_O) for item in heads]
    return [head @ rows for head, rows in zip(heads, np.split(W_O, len(heads)), strict=True)]


def contributions_python_loops(heads, W_O):
    *outer, seq_len, d_head = heads.shape
    result = np.zeros((*outer, seq_len, W_O.shape[1]))
    for place in itertools.product(*map(range, outer), range(seq_len), range(W_O.shape[1])):
        h = place[len(outer) - 1]
        token, feature = place[:-1], place[-1]
        result[place] = sum(heads[(*token, j)] * W_O[h * d_head + j, feature] for j in range(d_head))
    return result


def contributions_running_difference(heads, W_O):
    sums = [0 * heads[..., 0, :, :] @ W_O[: heads.shape[-1]]]
    for h in range(heads.shape[-3]):
        d = heads.shape[-1]
        sums.append(combine_heads(heads[..., : h + 1, :, :]) @ W_O[: (h + 1) * d])
    return np.diff(np.stack(sums, axis=-3), axis=-3)


def contributions_block_diagonal_matrix(heads, W_O):
    """W_O's blocks of rows side by side in the columns, and then cut."""
    n_heads, _, d_head = heads.shape[-3:]
    wide = np.zeros((len(W_O), n_heads * W_O.shape[1]))
    for h in range(n_heads):
        rows = slice(h * d_head, (h + 1) * d_head)
        wide[rows, h * W_O.shape[1] : (h + 1) * W_O.shape[1]] = W_O[rows]
    return split_heads(combine_heads(heads) @ wide, n_heads)


RIGHT_CONTRIBUTIONS = (
    head_contributions,
    contributions_loop,
    contributions_filling,
    contributions_one_head_at_a_time,
    contributions_without_the_others,
    contributions_rows_zeroed,
    contributions_recursive,
    contributions_python_loops,
    contributions_running_difference,
    contributions_block_diagonal_matrix,
    lambda heads, W_O: heads @ W_O.reshape(heads.shape[-3], heads.shape[-1], -1),
    lambda heads, W_O: heads @ np.stack(np.split(W_O, heads.shape[-3])),
    lambda heads, W_O: np.einsum("...hsd,hdm->...hsm", heads, W_O.reshape(heads.shape[-3], heads.shape[-1], W_O.shape[-1])),
    lambda heads, W_O: np.einsum("...hsd,hdm->...hsm", heads, np.array(np.vsplit(W_O, heads.shape[-3])), optimize=True),
    lambda heads, W_O: np.matmul(heads, split_heads(W_O.T, heads.shape[-3]).swapaxes(-1, -2)),
    lambda heads, W_O: (heads[..., None] * W_O.reshape(heads.shape[-3], 1, heads.shape[-1], -1)).sum(axis=-2),
    lambda heads, W_O: np.moveaxis([head @ rows for head, rows in zip(np.moveaxis(heads, -3, 0), np.split(W_O, heads.shape[-3]), strict=True)], 0, -3),
    lambda heads, W_O: (W_O.reshape(heads.shape[-3], heads.shape[-1], -1).swapaxes(-1, -2) @ heads.swapaxes(-1, -2)).swapaxes(-1, -2),
    lambda heads, W_O: head_contributions(heads, W_O).astype(np.float32),
    lambda Z, W, /: head_contributions(Z, W).tolist(),
)  # fmt: skip

# ---- wrong head_contributions ----------------------------------------------------------------


def contributions_with_bias(heads, W_O):
    return head_contributions(heads, W_O) + W_O[0]


def contributions_remainder_in_last(heads, W_O):
    """They sum to the output, and the last one holds all of it."""
    parts = np.zeros_like(head_contributions(heads, W_O))
    parts[..., -1, :, :] = combine_heads(heads) @ W_O
    return parts


def contributions_centred(heads, W_O):
    """They sum to the output, and yet each is another."""
    parts = head_contributions(heads, W_O)
    return parts + np.roll(parts, 1, axis=-3) - np.roll(parts, 2, axis=-3)


def contributions_scaled(heads, W_O):
    return head_contributions(heads, W_O) / heads.shape[-3]


def contributions_next_block(heads, W_O):
    return heads @ np.roll(W_O.reshape(heads.shape[-3], heads.shape[-1], -1), 1, axis=0)


def contributions_block_by_index(heads, W_O):
    """Rows i to i + d_head."""
    d = heads.shape[-1]
    return np.stack([heads[..., i, :, :] @ W_O[i : i + d] for i in range(heads.shape[-3])], axis=-3)


def contributions_rows_by_n_heads(heads, W_O):
    return np.stack([heads[..., i, :, :] @ W_O[i :: heads.shape[-3]] for i in range(heads.shape[-3])], axis=-3)


def contributions_columns_raw(heads, W_O):
    d = heads.shape[-1]
    return np.stack([heads[..., i, :, :] @ W_O[:, i * d : (i + 1) * d] for i in range(heads.shape[-3])], axis=-3)


def contributions_whole_W_O(heads, W_O):
    return np.stack([combine_heads(heads) @ W_O for _ in range(heads.shape[-3])], axis=-3)


def contributions_straight_in_batches(heads, W_O):
    if heads.ndim == 3:
        return head_contributions(heads, W_O)
    return (heads.reshape(*heads.shape[:-3], heads.shape[-2], -1) @ W_O)[..., None, :, :] * np.ones(
        (heads.shape[-3], 1, 1)
    )


def contributions_in_place(heads, W_O):
    result = head_contributions(heads, W_O)
    W_O[0] = 0
    return result


def contributions_transposed_if_square(heads, W_O):
    return head_contributions(heads, W_O.T if heads.shape[-3] == heads.shape[-1] else W_O)


def contributions_batches_shared(heads, W_O):
    """Every sentence gets the first one's."""
    parts = head_contributions(heads, W_O)
    return np.broadcast_to(parts[:1], parts.shape) if heads.ndim > 3 else parts


def contributions_remembers(heads, W_O, seen={}):  # noqa: B006
    return seen.setdefault((heads.shape, heads.dtype.str, heads.flags.c_contiguous), head_contributions(heads, W_O))


def _contributions_then(change):
    return lambda heads, W_O: change(head_contributions(heads, W_O))


WRONG_CONTRIBUTIONS = (
    contributions_with_bias,
    contributions_remainder_in_last,
    contributions_centred,
    contributions_scaled,
    contributions_next_block,
    contributions_block_by_index,
    contributions_rows_by_n_heads,
    contributions_columns_raw,
    contributions_whole_W_O,
    contributions_straight_in_batches,
    contributions_in_place,
    contributions_transposed_if_square,
    contributions_batches_shared,
    contributions_remembers,
    _contributions_then(lambda parts: np.abs(parts)),
    _contributions_then(lambda parts: -parts),
    _contributions_then(lambda parts: parts[..., ::-1]),
    _contributions_then(lambda parts: parts[..., ::-1, :]),
    _contributions_then(lambda parts: parts.sum(axis=-1)),
    _contributions_then(lambda parts: np.linalg.norm(parts, axis=-1)),
    _contributions_then(lambda parts: parts / np.linalg.norm(parts, axis=-1, keepdims=True)),
    _contributions_then(lambda parts: parts.squeeze()),
    _contributions_then(lambda parts: parts.round(1)),
    _contributions_then(lambda parts: parts[0]),
    _contributions_then(lambda parts: (parts, parts.sum(axis=-3))),
    _contributions_then(lambda parts: parts.reshape(*parts.shape[:-3], -1, parts.shape[-1])),
    _contributions_then(lambda parts: combine_heads(parts)),
    _contributions_then(lambda parts: parts - parts.mean(axis=-3, keepdims=True)),
    _contributions_then(lambda parts: parts.argmax(axis=-3)),
    _contributions_then(lambda parts: parts > 0),
    _contributions_then(lambda parts: np.sort(parts, axis=-3)),
    _contributions_then(lambda parts: np.repeat(parts.mean(axis=-3, keepdims=True), parts.shape[-3], axis=-3)),
    _contributions_then(lambda parts: dict(enumerate(parts))),
    lambda heads, W_O: heads @ W_O.reshape(heads.shape[-3], -1, heads.shape[-1]),
    lambda heads, W_O: heads @ W_O.reshape(heads.shape[-1], heads.shape[-3], -1).swapaxes(0, 1),
    lambda heads, W_O: heads @ W_O.reshape(-1, heads.shape[-3], heads.shape[-1]).transpose(1, 2, 0),
    lambda heads, W_O: W_O @ heads,
    lambda heads, W_O: heads * W_O,
    lambda heads, W_O: np.dot(combine_heads(heads), W_O),
    lambda heads, W_O: np.einsum("...hsd,hdm->...sm", heads, W_O.reshape(heads.shape[-3], heads.shape[-1], -1)),
    lambda heads, W_O: np.einsum("...hsd,hdm->...shm", heads, W_O.reshape(heads.shape[-3], heads.shape[-1], -1)),
    lambda heads, W_O: heads @ W_O.reshape(heads.shape[-3], heads.shape[-1], -1)[0],
    lambda heads, W_O: heads @ np.linalg.pinv(W_O).reshape(heads.shape[-3], heads.shape[-1], -1),
    lambda heads, W_O, n_heads: head_contributions(heads, W_O),
    lambda heads: heads,
)  # fmt: skip

# ---- right judge_step ------------------------------------------------------------------------


def judge_by_hand(printed, right, given, half_unit):
    wrong = (abs(printed - right) > half_unit).any(axis=-1)
    slip = wrong & (abs(printed - given) > half_unit).any(axis=-1)
    return wrong, slip


def judge_in_loops(printed, right, given, half_unit):
    wrong, slip = [], []
    for i in range(len(printed)):
        agrees = follows = True
        for j in range(len(printed[i])):
            if abs(printed[i][j] - right[i][j]) > half_unit:
                agrees = False
            if abs(printed[i][j] - given[i][j]) > half_unit:
                follows = False
        wrong.append(not agrees)
        slip.append(not agrees and not follows)
    return wrong, slip


def judge_row_by_row(printed, right, given, half_unit):
    def far(row, other):
        return any(abs(a - b) > half_unit for a, b in zip(row, other, strict=True))

    wrong = [far(*rows) for rows in zip(printed, right, strict=True)]
    astray = [far(*rows) for rows in zip(printed, given, strict=True)]
    return wrong, [a and b for a, b in zip(wrong, astray, strict=True)]


def judge_by_sets(printed, right, given, half_unit):
    rows = range(len(printed))
    wrong = {i for i in rows if np.max(np.abs(printed[i] - right[i])) > half_unit}
    slip = wrong - {i for i in rows if np.max(np.abs(printed[i] - given[i])) <= half_unit}
    return tuple([i in found for i in rows] for found in (wrong, slip))


def judge_by_row_numbers(printed, right, given, half_unit):
    wrong, slip = np.zeros((2, len(printed)), dtype=bool)
    wrong[np.where(abs(printed - right) > half_unit)[0]] = True
    slip[[i for i in np.flatnonzero(wrong) if (abs(printed[i] - given[i]) > half_unit).any()]] = True
    return wrong, slip


def judge_by_zeros(printed, right, given, half_unit):
    wrong = np.zeros(printed.shape[0])
    slip = np.zeros(printed.shape[0])
    for i, (p, r, g) in enumerate(zip(printed, right, given, strict=True)):
        wrong[i] = max(abs(p - r)) > half_unit
        slip[i] = wrong[i] and max(abs(p - g)) > half_unit
    return wrong == 1, slip == 1


def judge_vectorized(printed, right, given, half_unit):
    far = np.vectorize(lambda a, b: abs(a - b) > half_unit)
    wrong = far(printed, right).any(1)
    return wrong, np.where(wrong, far(printed, given).any(1), False)


def judge_column_by_column(printed, right, given, half_unit):
    wrong = astray = False
    for p, r, g in zip(printed.T, right.T, given.T, strict=True):
        wrong = wrong | (abs(p - r) > half_unit)
        astray = astray | (abs(p - g) > half_unit)
    return wrong, wrong & astray


def judge_by_rounding(printed, right, given, half_unit):
    decimals = round(-np.log10(2 * half_unit))
    wrong = (np.round(right, decimals) != np.round(printed, decimals)).any(axis=1)
    return wrong, wrong & (np.round(given, decimals) != np.round(printed, decimals)).any(axis=1)


def judge_by_verdict(printed, right, given, half_unit):
    def verdict(p, r, g):
        if np.allclose(p, r, rtol=0, atol=half_unit):
            return "agrees"
        return "carried" if np.allclose(p, g, rtol=0, atol=half_unit) else "wrong here"

    verdicts = np.array([verdict(*rows) for rows in zip(printed, right, given, strict=True)])
    return verdicts != "agrees", verdicts == "wrong here"


def judge_by_lists(printed, right, given, half_unit):
    p, r, g = (matrix.tolist() for matrix in (printed, right, given))
    wrong = [
        not all(b - half_unit <= a <= b + half_unit for a, b in zip(*rows, strict=True))
        for rows in zip(p, r, strict=True)
    ]
    astray = [
        not all(b - half_unit <= a <= b + half_unit for a, b in zip(*rows, strict=True))
        for rows in zip(p, g, strict=True)
    ]
    return np.array(wrong), np.logical_and(wrong, astray)


def judge_stacked(printed, right, given, half_unit):
    wrong, astray = (abs(np.stack([right, given]) - printed) > half_unit).any(axis=-1)
    return wrong, wrong & astray


RIGHT_JUDGE = (
    judge_step,
    judge_by_hand,
    judge_in_loops,
    judge_row_by_row,
    judge_by_sets,
    judge_by_row_numbers,
    judge_by_zeros,
    judge_vectorized,
    judge_column_by_column,
    judge_by_rounding,
    judge_by_verdict,
    judge_by_lists,
    judge_stacked,
    lambda p, r, g, h, /: (np.max(np.abs(p - r), axis=1) > h, np.minimum(np.max(np.abs(p - r), axis=1), np.max(np.abs(p - g), axis=1)) > h),
    lambda p, r, g, h: (wrong := ~np.all(np.abs(r - p) <= h, axis=-1), np.logical_and(wrong, ~np.all(np.abs(g - p) <= h, axis=-1))),
    lambda p, r, g, h: (wrong := ~np.isclose(p, r, rtol=0, atol=h).all(axis=-1), wrong > np.isclose(p, g, rtol=0, atol=h).all(axis=-1)),
    lambda p, r, g, h: (wrong := (~np.isclose(p, r, atol=h)).any(-1), wrong & (~np.isclose(p, g, atol=h)).any(-1)),
    lambda p, r, g, h: (wrong := ((p - r) ** 2 > h**2).any(-1), wrong * ((p - g) ** 2 > h**2).any(-1)),
    lambda p, r, g, h: (wrong := np.any((p > r + h) | (p < r - h), axis=1), wrong & np.any((p > g + h) | (p < g - h), axis=1)),
    lambda p, r, g, h: (wrong := np.linalg.norm(p - r, ord=np.inf, axis=-1) >= h, wrong & (np.linalg.norm(p - g, ord=np.inf, axis=-1) >= h)),
    lambda p, r, g, h: (wrong := (abs(p - r) > h + 1e-9).sum(axis=-1) > 0, wrong & ((abs(p - g) > h + 1e-9).sum(axis=-1) > 0)),
    lambda p, r, g, h: (wrong := (abs(p - r) / h > 1).any(-1), wrong & (abs(p - g) / h > 1).any(-1)),
    lambda p, r, g, h: (wrong := np.logical_or.reduce(abs(p - r) > h, axis=-1), ~(~wrong | (abs(p - g) <= h).all(-1))),
    lambda p, r, g, h: [part.tolist() for part in judge_step(p, r, g, h)],
    lambda p, r, g, h: tuple(part.astype(object) for part in judge_step(p, r, g, h)),
    lambda p, r, g, h: judge_step(p.astype(np.float32), r.astype(np.float32), g.astype(np.float32), np.float32(h)),
    lambda p, r, g, h: judge_step(*(matrix[:, ::-1] for matrix in (p, r, g)), h),
    lambda p, r, g, h: judge_step(*(np.asfortranarray(matrix) for matrix in (p, r, g)), h),
)  # fmt: skip

# ---- wrong judge_step ------------------------------------------------------------------------


def judge_neighbours(printed, right, given, half_unit):
    """A slip only where the row above is no slip."""
    wrong, slip = judge_step(printed, right, given, half_unit)
    return wrong, slip & ~np.concatenate([[False], slip[:-1]])


def judge_off_by_one(printed, right, given, half_unit):
    """The last row is left out."""
    wrong, slip = judge_step(printed, right, given, half_unit)
    wrong[-1] = slip[-1] = False
    return wrong, slip


def judge_from_second_column(printed, right, given, half_unit):
    wrong = (abs(printed - right)[:, 1:] > half_unit).any(axis=-1)
    return wrong, wrong & (abs(printed - given)[:, 1:] > half_unit).any(axis=-1)


def judge_last_number_wins(printed, right, given, half_unit):
    """Each number's verdict takes the place of the one before."""
    wrong, slip = [False] * len(printed), [False] * len(printed)
    for i in range(len(printed)):
        for j in range(printed.shape[1]):
            wrong[i] = abs(printed[i, j] - right[i, j]) > half_unit
            slip[i] = wrong[i] and abs(printed[i, j] - given[i, j]) > half_unit
    return wrong, slip


def judge_early_return(printed, right, given, half_unit):
    for p, r, g in zip(printed, right, given, strict=True):
        wrong = (abs(p - r) > half_unit).any()
        slip = wrong & (abs(p - g) > half_unit).any()
        return wrong, slip


def judge_majority(printed, right, given, half_unit):
    wrong = (abs(printed - right) > half_unit).mean(axis=-1) > 0.5
    return wrong, wrong & ((abs(printed - given) > half_unit).mean(axis=-1) > 0.5)


def judge_more_than_one(printed, right, given, half_unit):
    wrong = (abs(printed - right) > half_unit).sum(axis=-1) > 1
    return wrong, wrong & ((abs(printed - given) > half_unit).sum(axis=-1) > 1)


def judge_cut_off(printed, right, given, half_unit):
    """Digits cut off where they are rounded."""
    unit = 2 * half_unit
    wrong = (np.round(printed / unit) != np.trunc(right / unit)).any(axis=-1)
    return wrong, wrong & (np.round(printed / unit) != np.trunc(given / unit)).any(axis=-1)


def judge_only_finds_larger_error(printed, right, given, half_unit):
    """A slip only where it makes the error larger."""
    wrong, slip = judge_step(printed, right, given, half_unit)
    return wrong, slip & (abs(printed - right).max(axis=-1) > abs(given - right).max(axis=-1))


def judge_in_place(printed, right, given, half_unit):
    right -= printed
    given -= printed
    wrong = (abs(right) > half_unit).any(axis=-1)
    return wrong, wrong & (abs(given) > half_unit).any(axis=-1)


def judge_remembers(printed, right, given, half_unit, seen={}):  # noqa: B006
    key = (printed.shape, printed.dtype.str, half_unit, printed.flags.c_contiguous)
    key += (float(printed[0, 0]),) if printed.shape != (3, 2) else ()
    return seen.setdefault(key, judge_step(printed, right, given, half_unit))


def judge_by_shape(printed, right, given, half_unit):
    """Along the columns where there are as many as rows."""
    if printed.shape[0] == printed.shape[1]:
        printed, right, given = printed.T, right.T, given.T
    return judge_step(printed, right, given, half_unit)


def judge_all_rows_if_any(printed, right, given, half_unit):
    wrong, slip = judge_step(printed, right, given, half_unit)
    return wrong, wrong & slip.any()


def judge_with_and(printed, right, given, half_unit):
    wrong = (abs(printed - right) > half_unit).any(axis=-1)
    return wrong, wrong and (abs(printed - given) > half_unit).any(axis=-1)


def judge_without_brackets(printed, right, given, half_unit):
    wrong = (abs(printed - right) > half_unit).any(axis=-1)
    slip = wrong & abs(printed - given) > half_unit
    return wrong, slip


def judge_whole_array_in_if(printed, right, given, half_unit):
    wrong = []
    for p, r in zip(printed, right, strict=True):
        if abs(p - r) > half_unit:
            wrong.append(True)
    return wrong, wrong


def judge_appends_only_wrong(printed, right, given, half_unit):
    wrong, slip = [], []
    for p, r, g in zip(printed, right, given, strict=True):
        if (abs(p - r) > half_unit).any():
            wrong.append(True)
            slip.append(bool((abs(p - g) > half_unit).any()))
    return wrong, slip


def judge_in_words(printed, right, given, half_unit):
    wrong, slip = judge_step(printed, right, given, half_unit)
    return np.where(slip, "slip", np.where(wrong, "carried", "agrees"))


def _judged_then(change):
    return lambda printed, right, given, half_unit: change(*judge_step(printed, right, given, half_unit))


WRONG_JUDGE = (
    judge_neighbours,
    judge_off_by_one,
    judge_from_second_column,
    judge_last_number_wins,
    judge_early_return,
    judge_majority,
    judge_more_than_one,
    judge_cut_off,
    judge_only_finds_larger_error,
    judge_in_place,
    judge_remembers,
    judge_by_shape,
    judge_all_rows_if_any,
    judge_with_and,
    judge_without_brackets,
    judge_whole_array_in_if,
    judge_appends_only_wrong,
    judge_in_words,
    _judged_then(lambda wrong, slip: wrong),
    _judged_then(lambda wrong, slip: slip),
    _judged_then(lambda wrong, slip: np.stack([wrong, slip])),
    _judged_then(lambda wrong, slip: (wrong, wrong & ~slip, slip)),
    _judged_then(lambda wrong, slip: {"wrong": wrong, "slip": slip}),
    _judged_then(lambda wrong, slip: (wrong[::-1], slip[::-1])),
    _judged_then(lambda wrong, slip: (np.roll(wrong, 1), np.roll(slip, 1))),
    _judged_then(lambda wrong, slip: (np.sort(wrong), np.sort(slip))),
    _judged_then(lambda wrong, slip: (wrong, np.zeros_like(slip))),
    _judged_then(lambda wrong, slip: (np.ones_like(wrong), slip)),
    _judged_then(lambda wrong, slip: (wrong.sum(), slip.sum())),
    _judged_then(lambda wrong, slip: (set(np.flatnonzero(wrong)), set(np.flatnonzero(slip)))),
    _judged_then(lambda wrong, slip: (wrong.astype(np.uint8), slip.astype(np.float32))),
    _judged_then(lambda wrong, slip: (~wrong.astype(int), ~slip.astype(int))),
    _judged_then(lambda wrong, slip: (wrong - 1.0, slip - 1.0)),
    _judged_then(lambda wrong, slip: (wrong.any, slip.any)),
    _judged_then(lambda wrong, slip: (wrong[None], slip[None])),
    _judged_then(lambda wrong, slip: (wrong, ~wrong)),
    _judged_then(lambda wrong, slip: (slip, ~slip)),
    _judged_then(lambda wrong, slip: (wrong, wrong & (np.arange(len(wrong)) == 1))),
    lambda p, r, g, h: judge_step(r, p, g, h),
    lambda p, r, g, h: judge_step(p, r, g, h**2),
    lambda p, r, g, h: judge_step(p, r, g, 3 * h),
    lambda p, r, g, h: judge_step(p, r, g, 0.9 * h),
    lambda p, r, g, h: judge_step(p, r, (r + g) / 2, h),
    lambda p, r, g, h: judge_step(p, np.round(r), np.round(g), h),
    lambda p, r, g, h: judge_step(p, r, np.roll(g, 1, axis=0), h),
    lambda p, r, g, h: (abs(p - r).max() > h * np.ones(len(p)), abs(p - g).max() > h * np.ones(len(p))),
    lambda p, r, g, h: (((p - r) > h).any(-1) & ((r - p) > h).any(-1), ((p - g) > h).any(-1) & ((g - p) > h).any(-1)),
    lambda p, r, g, h: (wrong := (p.max(-1) - r.max(-1)) > h, wrong & ((p.max(-1) - g.max(-1)) > h)),
    lambda p, r, g, h: (wrong := p.argmax(-1) != r.argmax(-1), wrong & (p.argmax(-1) != g.argmax(-1))),
    lambda p, r, g, h: (wrong := (p.std(-1) - r.std(-1)) > h, wrong & ((p.std(-1) - g.std(-1)) > h)),
    lambda p, r, g, h: (wrong := (np.prod(p, -1) - np.prod(r, -1)) > h, wrong & ((np.prod(p, -1) - np.prod(g, -1)) > h)),
    lambda p, r, g: judge_step(p, r, g, 0.005),
    lambda p, r, h: judge_step(p, r, r, h),
)  # fmt: skip
