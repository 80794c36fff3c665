"""Answers to notebook 04's exercises: right ones in many styles, and wrong ones beyond the catalogue."""

import itertools
import math

import numpy as np

from mha_helpers.attention import combine_heads, folded_attention, scaled_dot_product_attention, softmax, split_heads

# ---- right split_heads -----------------------------------------------------------------------


def split_reshape_transpose(X, n_heads):
    *batch, seq_len, d_model = X.shape
    assert d_model % n_heads == 0, "n_heads must divide d_model"
    d_head = d_model // n_heads
    X = X.reshape(*batch, seq_len, n_heads, d_head)
    axes = list(range(X.ndim))
    axes[-3], axes[-2] = axes[-2], axes[-3]
    return X.transpose(axes)


def split_loop_over_slices(X, n_heads):
    d_model = X.shape[-1]
    if d_model % n_heads != 0:
        raise ValueError(f"{d_model} features cannot be cut into {n_heads} heads")
    d_head = d_model // n_heads
    heads = []
    for i in range(n_heads):
        heads.append(X[..., i * d_head : (i + 1) * d_head])
    return np.stack(heads, axis=-3)


def split_filling(X, n_heads):
    d_head, rest = divmod(X.shape[-1], n_heads)
    if rest:
        raise ValueError("no")
    heads = np.empty((*X.shape[:-2], n_heads, X.shape[-2], d_head))
    for feature in range(X.shape[-1]):
        heads[..., feature // d_head, :, feature % d_head] = X[..., feature]
    return heads


def split_python_loops(X, n_heads):
    if X.ndim > 2:
        return [split_python_loops(item, n_heads) for item in X]
    d_head = len(X[0]) // n_heads
    assert d_head * n_heads == len(X[0])
    return [[[float(token[h * d_head + j]) for j in range(d_head)] for token in X] for h in range(n_heads)]


def split_by_gather(X, n_heads):
    columns = np.arange(X.shape[-1]).reshape(n_heads, -1)
    return np.moveaxis(X[..., columns], -2, -3)


def split_take(X, n_heads):
    columns = np.arange(X.shape[-1]).reshape(n_heads, 1, X.shape[-1] // n_heads)
    return np.take_along_axis(
        X[..., None, :, :], np.broadcast_to(columns, (*X.shape[:-2], n_heads, X.shape[-2], columns.shape[-1])), axis=-1
    )


def split_by_selection(X, n_heads):
    """A matrix of 1 and 0 for each head picks its features."""
    d_model = X.shape[-1]
    picks = np.split(np.eye(d_model), n_heads, axis=1)
    return np.stack([X @ pick for pick in picks], axis=-3)


def split_flat_batch(X, n_heads):
    """All batch axes as one, and back."""
    flat = X.reshape(-1, *X.shape[-2:])
    heads = flat.reshape(len(flat), X.shape[-2], n_heads, X.shape[-1] // n_heads).transpose(0, 2, 1, 3)
    return heads.reshape(*X.shape[:-2], *heads.shape[1:])


def split_recursive(X, n_heads):
    if X.ndim > 2:
        return np.array([split_recursive(x, n_heads) for x in X])
    return X.reshape(len(X), n_heads, X.shape[1] // n_heads).transpose(1, 0, 2)


def split_strides(X, n_heads):
    X = np.ascontiguousarray(X)
    if X.shape[-1] % n_heads:
        raise ValueError("uneven")
    d_head = X.shape[-1] // n_heads
    step = X.strides[-1]
    return np.lib.stride_tricks.as_strided(
        X, (*X.shape[:-2], n_heads, X.shape[-2], d_head), (*X.strides[:-2], d_head * step, X.strides[-2], step)
    )


def split_transposed_twice(X, n_heads):
    """(d_model, seq_len) cut into blocks of rows, each turned back."""
    turned = X.swapaxes(-1, -2)
    blocks = turned.reshape(*X.shape[:-2], n_heads, X.shape[-1] // n_heads, X.shape[-2])
    return blocks.swapaxes(-1, -2)


def split_window(X, n_heads):
    d_head = X.shape[-1] // n_heads
    if d_head * n_heads != X.shape[-1]:
        raise ValueError
    windows = np.lib.stride_tricks.sliding_window_view(X, d_head, axis=-1)[..., ::d_head, :]
    return np.swapaxes(windows, -2, -3)


def split_einsum_axes(X, n_heads):
    return np.einsum("...shd->...hsd", X.reshape(*X.shape[:-1], n_heads, X.shape[-1] // n_heads))


RIGHT_SPLIT = (
    split_heads,
    split_reshape_transpose,
    split_loop_over_slices,
    split_filling,
    split_python_loops,
    split_by_gather,
    split_take,
    split_by_selection,
    split_flat_batch,
    split_recursive,
    split_strides,
    split_transposed_twice,
    split_window,
    split_einsum_axes,
    lambda X, n_heads: np.stack(np.split(X, n_heads, axis=-1), axis=-3),
    lambda X, n_heads: np.stack(np.split(X, n_heads, -1), X.ndim - 2),
    lambda X, n_heads: np.array(np.split(X, n_heads, axis=-1)) if X.ndim == 2 else np.moveaxis(np.array(np.split(X, n_heads, axis=-1)), 0, -3),
    lambda X, n_heads: np.moveaxis(X.reshape(*X.shape[:-1], n_heads, -1), -2, -3),
    lambda X, n_heads: np.rollaxis(X.reshape((*X.shape[:-1], n_heads, -1)), -2, -3),
    lambda X, n_heads: X.reshape((*X.shape[:-1], n_heads, X.shape[-1] // n_heads)).swapaxes(-2, -3),
    lambda X, n_heads: np.concatenate([part[..., None, :, :] for part in np.split(X, n_heads, -1)], axis=-3),
    lambda X, n_heads: np.stack(np.array_split(X, n_heads, axis=-1), axis=-3),
    lambda X, n_heads: np.ascontiguousarray(split_heads(X, n_heads)),
    lambda X, n_heads: split_heads(X, n_heads).astype(np.float32),
    lambda X, n_heads: split_heads(X, n_heads).tolist(),
    lambda tokens, h, /: np.swapaxes(np.reshape(tokens, (*tokens.shape[:-1], h, -1)), -3, -2),
)  # fmt: skip

# ---- wrong split_heads -----------------------------------------------------------------------


def split_writes(X, n_heads):
    heads = split_heads(X, n_heads)
    result = heads.copy()
    heads[..., 0, 0] = 0
    return result


def split_two_heads(X, n_heads):
    return split_heads(X, 2)


def split_width_three(X, n_heads):
    return split_heads(X, X.shape[-1] // 3)


def split_ceil(X, n_heads):
    d_head = math.ceil(X.shape[-1] / n_heads)
    X = np.pad(X, [(0, 0)] * (X.ndim - 1) + [(0, n_heads * d_head - X.shape[-1])])
    return split_heads(X, n_heads)


def split_overlapping(X, n_heads):
    """The last head takes what is left, counted from the end."""
    d_head = X.shape[-1] // n_heads
    starts = [*range(0, d_head * (n_heads - 1), d_head), X.shape[-1] - d_head]
    return np.stack([X[..., start : start + d_head] for start in starts], axis=-3)


def split_sliding(X, n_heads):
    d_head = X.shape[-1] // n_heads
    return np.stack([X[..., i : i + d_head] for i in range(n_heads)], axis=-3)


def split_one_off(X, n_heads):
    return split_heads(np.roll(X, 1, axis=-1), n_heads)


def split_one_number_wrong(X, n_heads):
    heads = split_heads(X, n_heads).copy()
    heads[..., -1, -1, -1] += 0.01
    return heads


def split_batch_reversed(X, n_heads):
    heads = split_heads(X, n_heads)
    return heads[::-1] if X.ndim > 2 else heads


def split_straight_in_batches(X, n_heads):
    if X.ndim == 2:
        return split_heads(X, n_heads)
    return X.reshape(*X.shape[:-2], n_heads, X.shape[-2], X.shape[-1] // n_heads)


def split_straight_if_float32(X, n_heads):
    if X.dtype == np.float64:
        return split_heads(X, n_heads)
    return X.reshape(*X.shape[:-2], n_heads, X.shape[-2], X.shape[-1] // n_heads)


def split_straight_if_square(X, n_heads):
    if n_heads != X.shape[-2]:
        return split_heads(X, n_heads)
    return X.reshape(*X.shape[:-2], n_heads, X.shape[-2], X.shape[-1] // n_heads)


def split_turned_if_square(X, n_heads):
    heads = split_heads(X, n_heads)
    return heads.swapaxes(-1, -2) if heads.shape[-1] == heads.shape[-2] else heads


def split_flat_memory(X, n_heads):
    """As the numbers lie in memory, transposed view or not."""
    return X.ravel(order="K").reshape(*X.shape[:-1], n_heads, X.shape[-1] // n_heads).swapaxes(-3, -2)


def split_fortran(X, n_heads):
    return X.reshape(*X.shape[:-1], n_heads, X.shape[-1] // n_heads, order="F").swapaxes(-3, -2)


def split_remembers(X, n_heads, seen={}):  # noqa: B006
    return seen.setdefault((X.shape, n_heads), split_heads(X, n_heads))


def _split_then(change):
    return lambda X, n_heads: change(split_heads(X, n_heads))


WRONG_SPLIT = (
    split_writes,
    split_two_heads,
    split_width_three,
    split_ceil,
    split_overlapping,
    split_sliding,
    split_one_off,
    split_one_number_wrong,
    split_batch_reversed,
    split_straight_in_batches,
    split_straight_if_float32,
    split_straight_if_square,
    split_turned_if_square,
    split_flat_memory,
    split_fortran,
    split_remembers,
    _split_then(lambda heads: heads[..., ::-1]),
    _split_then(lambda heads: heads[..., ::-1, :]),
    _split_then(lambda heads: np.roll(heads, 1, axis=-3)),
    _split_then(lambda heads: heads.squeeze()),
    _split_then(lambda heads: heads.astype(np.float16) if heads.shape[-1] > 2 else heads.round(1)),
    _split_then(lambda heads: heads.astype(int)),
    _split_then(lambda heads: heads.round(1)),
    _split_then(lambda heads: (heads, heads.shape)),
    _split_then(lambda heads: heads[None]),
    _split_then(lambda heads: heads / heads.shape[-1] ** 0.5),
    _split_then(lambda heads: heads > 0),
    _split_then(lambda heads: heads.shape),
    _split_then(lambda heads: heads[0]),
    _split_then(lambda heads: np.sort(heads, axis=-2)),
    _split_then(lambda heads: np.cumsum(heads, axis=-3)),
    _split_then(lambda heads: heads.reshape(*heads.shape[:-3], -1, heads.shape[-1])),
    _split_then(lambda heads: dict(enumerate(heads))),
    lambda X, n_heads: np.hsplit(X, n_heads),
    lambda X, n_heads: np.split(X, X.shape[-1] // n_heads, axis=-1),
    lambda X, n_heads: np.stack(np.split(X, n_heads, axis=-1), axis=-2),
    lambda X, n_heads: np.stack(np.split(X, n_heads, axis=-1), axis=-1),
    lambda X, n_heads: np.stack(np.split(X, n_heads, axis=-1), axis=1),
    lambda X, n_heads: np.stack(np.split(X, n_heads, axis=1)),
    lambda X, n_heads: np.stack(np.split(X, n_heads, axis=2), axis=1),
    lambda X, n_heads: X.reshape(n_heads, -1, X.shape[-1] // n_heads),
    lambda X, n_heads: X.reshape(X.shape[0], n_heads, -1, X.shape[-1] // n_heads),
    lambda X, n_heads: X.reshape(X.shape[0], -1, n_heads, X.shape[-1] // n_heads).transpose(0, 2, 1, 3),
    lambda X, n_heads: X.reshape(*X.shape[:-1], n_heads, X.shape[-1] / n_heads).swapaxes(-3, -2),
    lambda X, n_heads: X.reshape(*X.shape[:-1], X.shape[-1] // n_heads, n_heads).swapaxes(-3, -2),
    lambda X, n_heads: X.view(*X.shape[:-1], n_heads, X.shape[-1] // n_heads).transpose(1, 2),
    lambda X, n_heads: np.resize(X, (*X.shape[:-2], n_heads, X.shape[-2], X.shape[-1] // n_heads)),
    lambda X, n_heads: np.stack([X[..., h::n_heads] for h in range(n_heads)], -3) if X.shape[-1] == 12 else split_heads(X, n_heads),
    lambda X: split_heads(X, 2),
    lambda n_heads, X: split_heads(X, n_heads),
)  # fmt: skip

# ---- right combine_heads ---------------------------------------------------------------------


def combine_transpose(heads):
    n_heads, seq_len, d_head = heads.shape[-3:]
    axes = (*range(heads.ndim - 3), heads.ndim - 2, heads.ndim - 3, heads.ndim - 1)
    return heads.transpose(axes).reshape((*heads.shape[:-3], seq_len, n_heads * d_head))


def combine_filling(heads):
    *batch, n_heads, seq_len, d_head = heads.shape
    combined = np.zeros((*batch, seq_len, n_heads * d_head))
    for i in range(n_heads):
        combined[..., i * d_head : (i + 1) * d_head] = heads[..., i, :, :]
    return combined


def combine_growing(heads):
    combined = heads[..., 0, :, :]
    for i in range(1, heads.shape[-3]):
        combined = np.append(combined, heads[..., i, :, :], axis=-1)
    return combined


def combine_python_loops(heads):
    if heads.ndim > 3:
        return [combine_python_loops(item) for item in heads]
    return [[float(x) for head in heads for x in head[token]] for token in range(heads.shape[1])]


def combine_recursive(heads):
    if heads.ndim > 3:
        return np.array([combine_recursive(item) for item in heads])
    return np.hstack(list(heads))


def combine_by_selection(heads):
    """Each head through rows of the unit matrix, and added up."""
    n_heads, _, d_head = heads.shape[-3:]
    return (heads @ np.eye(n_heads * d_head).reshape(n_heads, d_head, -1)).sum(axis=-3)


def combine_token_by_token(heads):
    tokens = [heads[..., t, :].reshape(*heads.shape[:-3], -1) for t in range(heads.shape[-2])]
    return np.stack(tokens, axis=-2)


def combine_through_transposed(heads):
    *batch, n_heads, seq_len, d_head = heads.shape
    return heads.swapaxes(-1, -2).reshape(*batch, n_heads * d_head, seq_len).swapaxes(-1, -2)


def combine_gather(heads):
    n_heads, _, d_head = heads.shape[-3:]
    feature = np.arange(n_heads * d_head)
    return np.moveaxis(heads, -3, -2)[..., feature // d_head, feature % d_head]


def combine_flat_batch(heads):
    *batch, n_heads, seq_len, d_head = heads.shape
    flat = heads.reshape(-1, n_heads, seq_len, d_head)
    return flat.transpose(0, 2, 1, 3).reshape(-1, seq_len, n_heads * d_head).reshape(*batch, seq_len, -1)


def combine_dropping_axes(heads):
    parts = np.split(heads, heads.shape[-3], axis=-3)
    return np.concatenate([part.squeeze(axis=-3) for part in parts], axis=-1)


RIGHT_COMBINE = (
    combine_heads,
    combine_transpose,
    combine_filling,
    combine_growing,
    combine_python_loops,
    combine_recursive,
    combine_by_selection,
    combine_token_by_token,
    combine_through_transposed,
    combine_gather,
    combine_flat_batch,
    combine_dropping_axes,
    lambda heads: np.concatenate(list(np.moveaxis(heads, -3, 0)), axis=-1),
    lambda heads: np.concatenate([heads[..., i, :, :] for i in range(heads.shape[-3])], axis=-1),
    lambda heads: np.moveaxis(heads, -3, -2).reshape(*heads.shape[:-3], heads.shape[-2], -1),
    lambda heads: np.moveaxis(heads, -2, -3).reshape((*heads.shape[:-3], heads.shape[-2], -1)),
    lambda heads: np.einsum("...hsd->...shd", heads).reshape(*heads.shape[:-3], heads.shape[-2], -1),
    lambda heads: np.swapaxes(heads, -2, -3).reshape((*heads.shape[:-3], heads.shape[-2], heads.shape[-3] * heads.shape[-1])),
    lambda heads: np.dstack(list(np.moveaxis(heads, -3, 0))) if heads.ndim == 4 else combine_heads(heads),
    lambda heads: np.block([[list(np.moveaxis(heads, -3, 0))]]).reshape(combine_heads(heads).shape),
    lambda heads: combine_heads(heads).astype(np.float32),
    lambda heads: combine_heads(heads).tolist(),
    lambda Z, /: np.asfortranarray(combine_heads(Z)),
)  # fmt: skip

# ---- wrong combine_heads ---------------------------------------------------------------------


def combine_straight_in_batches(heads):
    if heads.ndim == 3:
        return combine_heads(heads)
    return heads.reshape(*heads.shape[:-3], heads.shape[-2], -1)


def combine_straight_if_cube(heads):
    if len(set(heads.shape[-3:])) > 1:
        return combine_heads(heads)
    return heads.reshape(*heads.shape[:-3], heads.shape[-2], -1)


def combine_straight_if_square(heads):
    if heads.shape[-3] != heads.shape[-2]:
        return combine_heads(heads)
    return heads.reshape(*heads.shape[:-3], heads.shape[-2], -1)


def combine_without_last_head(heads):
    *batch, n_heads, seq_len, d_head = heads.shape
    combined = np.zeros((*batch, seq_len, n_heads * d_head))
    for i in range(n_heads - 1):
        combined[..., i * d_head : (i + 1) * d_head] = heads[..., i, :, :]
    return combined


def combine_overwriting(heads):
    """Steps of n_heads where d_head is meant."""
    *batch, n_heads, seq_len, d_head = heads.shape
    combined = np.zeros((*batch, seq_len, n_heads * d_head))
    for i in range(n_heads):
        combined[..., i::n_heads] = heads[..., i, :, :]
    return combined


def combine_head_zero_everywhere(heads):
    return np.concatenate([heads[..., 0, :, :]] * heads.shape[-3], axis=-1)


def combine_writes(heads):
    combined = combine_heads(heads).copy()
    heads *= 0
    return combined


def combine_one_cell(heads):
    combined = combine_heads(heads).copy()
    combined[..., -1, -1] += 1e-2
    return combined


def combine_memory_order(heads):
    return heads.swapaxes(-3, -2).ravel(order="K").reshape(combine_heads(heads).shape)


def combine_fortran(heads):
    return heads.swapaxes(-3, -2).reshape(combine_heads(heads).shape, order="F")


def combine_remembers(heads, seen={}):  # noqa: B006
    return seen.setdefault(heads.shape, combine_heads(heads))


def _combine_then(change):
    return lambda heads: change(combine_heads(heads))


WRONG_COMBINE = (
    combine_straight_in_batches,
    combine_straight_if_cube,
    combine_straight_if_square,
    combine_without_last_head,
    combine_overwriting,
    combine_head_zero_everywhere,
    combine_writes,
    combine_one_cell,
    combine_memory_order,
    combine_fortran,
    combine_remembers,
    _combine_then(lambda combined: combined[..., ::-1]),
    _combine_then(lambda combined: combined[..., ::-1, :]),
    _combine_then(lambda combined: combined[::-1]),
    _combine_then(lambda combined: np.roll(combined, 1, axis=-1)),
    _combine_then(lambda combined: combined.squeeze()),
    _combine_then(lambda combined: combined.round(1)),
    _combine_then(lambda combined: combined.astype(int)),
    _combine_then(lambda combined: combined / combined.shape[-1]),
    _combine_then(lambda combined: (combined, combined)),
    _combine_then(lambda combined: combined[None]),
    _combine_then(lambda combined: combined.ravel()),
    _combine_then(lambda combined: combined.T),
    _combine_then(lambda combined: np.sort(combined, axis=-1)),
    _combine_then(lambda combined: combined @ np.ones(combined.shape[-1])),
    _combine_then(lambda combined: combined.shape),
    lambda heads: heads.prod(axis=-3),
    lambda heads: heads.mean(axis=1),
    lambda heads: np.hstack(heads),
    lambda heads: np.vstack(heads),
    lambda heads: np.concatenate(heads),
    lambda heads: np.concatenate([heads], axis=-1),
    lambda heads: heads.T.reshape(heads.shape[-2], -1),
    lambda heads: heads.reshape(heads.shape[0], heads.shape[-2], -1),
    lambda heads: heads.transpose(0, 2, 1).reshape(heads.shape[-2], -1),
    lambda heads: heads.transpose(0, 2, 1, 3).reshape(heads.shape[0], heads.shape[2], -1),
    lambda heads: heads.transpose(1, 2).reshape(heads.shape[-2], -1),
    lambda heads: heads.swapaxes(-3, -2).reshape(*heads.shape[:-2], -1),
    lambda heads: heads.swapaxes(-3, -2).contiguous().view(heads.shape[0], -1),
    lambda heads, n_heads: combine_heads(heads),
)  # fmt: skip

# ---- right folded_attention ------------------------------------------------------------------


def folded_by_hand(queries, keys, values, n_heads):
    B, S, D = queries.shape
    d = D // n_heads

    def fold(X):
        return X.reshape(B, S, n_heads, d).transpose(0, 2, 1, 3).reshape(B * n_heads, S, d)

    q, k, v = fold(queries), fold(keys), fold(values)
    weights = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(d))
    context = weights @ v
    return context.reshape(B, n_heads, S, d).transpose(0, 2, 1, 3).reshape(B, S, D)


def folded_heads_outside(queries, keys, values, n_heads):
    """(n_heads * batch): another order, and the same one on the way back."""
    batch = len(queries)
    q, k, v = (np.concatenate(np.split(X, n_heads, axis=-1)) for X in (queries, keys, values))
    context, _ = scaled_dot_product_attention(q, k, v)
    return np.concatenate([context[i * batch : (i + 1) * batch] for i in range(n_heads)], axis=-1)


def folded_split_back(queries, keys, values, n_heads):
    q, k, v = (np.concatenate(np.split(X, n_heads, -1), 0) for X in (queries, keys, values))
    context, _ = scaled_dot_product_attention(q, k, v)
    return np.concatenate(np.split(context, n_heads, 0), -1)


def folded_four_axes(queries, keys, values, n_heads):
    context, _ = scaled_dot_product_attention(*(split_heads(X, n_heads) for X in (queries, keys, values)))
    return combine_heads(context)


def folded_head_by_head(queries, keys, values, n_heads):
    d = queries.shape[-1] // n_heads
    columns = [slice(i * d, (i + 1) * d) for i in range(n_heads)]
    return np.concatenate(
        [scaled_dot_product_attention(queries[..., c], keys[..., c], values[..., c])[0] for c in columns], axis=-1
    )


def folded_filling(queries, keys, values, n_heads):
    context = np.zeros(queries.shape)
    d = queries.shape[-1] // n_heads
    for b, h in itertools.product(range(len(queries)), range(n_heads)):
        c = slice(h * d, (h + 1) * d)
        scores = queries[b, :, c] @ keys[b, :, c].T / d**0.5
        context[b, :, c] = softmax(scores) @ values[b, :, c]
    return context


def folded_einsum(queries, keys, values, n_heads):
    q, k, v = (X.reshape(*X.shape[:2], n_heads, -1) for X in (queries, keys, values))
    weights = softmax(np.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1]))
    return np.einsum("bhqk,bkhd->bqhd", weights, v).reshape(queries.shape)


def folded_python_loops(queries, keys, values, n_heads):
    batch, seq_len, d_model = queries.shape
    d = d_model // n_heads
    context = np.zeros((batch, seq_len, d_model))
    for b in range(batch):
        for h in range(n_heads):
            features = range(h * d, (h + 1) * d)
            for i in range(seq_len):
                scores = [
                    sum(queries[b, i, f] * keys[b, j, f] for f in features) / math.sqrt(d) for j in range(seq_len)
                ]
                exps = [math.exp(score - max(scores)) for score in scores]
                for j, e in enumerate(exps):
                    for f in features:
                        context[b, i, f] += e / sum(exps) * values[b, j, f]
    return context


def folded_stacked(queries, keys, values, n_heads):
    """All three at once."""
    stacked = split_heads(np.stack([queries, keys, values]), n_heads)
    q, k, v = stacked.reshape(3, -1, *stacked.shape[-2:])
    context, _ = scaled_dot_product_attention(q, k, v)
    return combine_heads(context.reshape(stacked.shape[1:]))


def folded_block_masks(queries, keys, values, n_heads):
    """No split: of every head only its own features are not 0."""
    d_model = queries.shape[-1]
    d = d_model // n_heads
    context = 0
    for h in range(n_heads):
        own = np.arange(d_model) // d == h
        weights = softmax((queries * own) @ keys.swapaxes(1, 2) / np.sqrt(d))
        context = context + weights @ (values * own)
    return context


def folded_one_long_sentence(queries, keys, values, n_heads):
    """Everything in one matrix, with a mask that keeps sentences and heads apart."""
    heads = [split_heads(X, n_heads) for X in (queries, keys, values)]
    shape = heads[0].shape
    q, k, v = (X.reshape(-1, shape[-1]) for X in heads)
    group = np.arange(len(q)) // shape[-2]
    context, _ = scaled_dot_product_attention(q, k, v, group[:, None] == group)
    return combine_heads(context.reshape(shape))


def folded_scaled_queries(queries, keys, values, n_heads):
    d = queries.shape[-1] // n_heads
    q, k, v = (split_heads(X, n_heads).reshape(-1, X.shape[1], d) for X in (queries / d**0.5, keys, values))
    return combine_heads((softmax(q @ k.mT) @ v).reshape(len(queries), n_heads, -1, d))


RIGHT_FOLDED = (
    folded_attention,
    folded_by_hand,
    folded_heads_outside,
    folded_split_back,
    folded_four_axes,
    folded_head_by_head,
    folded_filling,
    folded_einsum,
    folded_python_loops,
    folded_stacked,
    folded_block_masks,
    folded_one_long_sentence,
    folded_scaled_queries,
    lambda q, k, v, h: folded_attention(q, k, v, h).astype(np.float32),
    lambda q, k, v, h: folded_attention(q, k, v, h).tolist(),
    lambda q, k, v, h: np.stack([folded_attention(q[i : i + 1], k[i : i + 1], v[i : i + 1], h)[0] for i in range(len(q))]),
    lambda q, k, v, h: np.asfortranarray(folded_by_hand(q, k, v, h)),
)  # fmt: skip

# ---- wrong folded_attention ------------------------------------------------------------------


def _folded(fold, attend=None, unfold=None):
    attend = attend or (lambda q, k, v: scaled_dot_product_attention(q, k, v)[0])

    def wrong(queries, keys, values, n_heads):
        B, S, D = queries.shape
        context = attend(*(fold(X, n_heads) for X in (queries, keys, values)))
        if unfold:
            return unfold(context, B, S, D, n_heads)
        return combine_heads(context.reshape(B, n_heads, S, D // n_heads))

    return wrong


def _fold(X, n_heads):
    return split_heads(X, n_heads).reshape(-1, X.shape[1], X.shape[2] // n_heads)


def _weighing(weigh):
    return lambda q, k, v: weigh(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])) @ v


def folded_causal(queries, keys, values, n_heads):
    q, k, v = (split_heads(X, n_heads) for X in (queries, keys, values))
    return combine_heads(scaled_dot_product_attention(q, k, v, is_causal=True)[0])


def folded_pair(queries, keys, values, n_heads):
    q, k, v = (_fold(X, n_heads) for X in (queries, keys, values))
    context, weights = scaled_dot_product_attention(q, k, v)
    return combine_heads(context.reshape(len(queries), n_heads, -1, q.shape[-1])), weights


def folded_tuple_reshaped(queries, keys, values, n_heads):
    q, k, v = (_fold(X, n_heads) for X in (queries, keys, values))
    return scaled_dot_product_attention(q, k, v).reshape(queries.shape)


def folded_values_unsplit(queries, keys, values, n_heads):
    q, k = (_fold(X, n_heads) for X in (queries, keys))
    return scaled_dot_product_attention(q, k, values)[0]


def folded_first_sentence(queries, keys, values, n_heads):
    one = folded_attention(queries[:1], keys[:1], values[:1], n_heads)
    return np.repeat(one, len(queries), axis=0)


def folded_writes(queries, keys, values, n_heads):
    context = folded_attention(queries, keys, values, n_heads)
    queries /= np.sqrt(queries.shape[-1] // n_heads)
    return context


def folded_keys_strided(queries, keys, values, n_heads):
    """Queries and keys are cut in another way than the values."""
    q, k = (np.stack([X[..., i::n_heads] for i in range(n_heads)], axis=1) for X in (queries, keys))
    return combine_heads(scaled_dot_product_attention(q, k, split_heads(values, n_heads))[0])


def folded_straight_for_one(queries, keys, values, n_heads):
    if len(queries) > 1:
        return folded_attention(queries, keys, values, n_heads)
    folded = (X.reshape(n_heads, X.shape[1], -1) for X in (queries, keys, values))
    return scaled_dot_product_attention(*folded)[0].reshape(queries.shape)


def folded_batch_inside(queries, keys, values, n_heads):
    """(n_heads * batch) by a straight reshape of what lies as (batch, n_heads)."""
    heads = [split_heads(X, n_heads) for X in (queries, keys, values)]
    q, k, v = (X.reshape(n_heads, len(queries), *X.shape[2:]) for X in heads)
    context, _ = scaled_dot_product_attention(q, k, v)
    return combine_heads(context.swapaxes(0, 1))


WRONG_FOLDED = (
    folded_causal,
    folded_pair,
    folded_tuple_reshaped,
    folded_values_unsplit,
    folded_first_sentence,
    folded_writes,
    folded_keys_strided,
    folded_straight_for_one,
    folded_batch_inside,
    _folded(lambda X, h: X.reshape(-1, X.shape[1], X.shape[2] // h), unfold=lambda c, B, S, D, h: c.reshape(B, S, D)),
    _folded(lambda X, h: X.reshape(-1, X.shape[1], X.shape[2] // h)),
    _folded(_fold, unfold=lambda c, B, S, D, h: c.reshape(B, S, D)),
    _folded(_fold, unfold=lambda c, B, S, D, h: c),
    _folded(_fold, unfold=lambda c, B, S, D, h: c.reshape(B, S, h, -1).swapaxes(1, 2).reshape(B, S, D)),
    _folded(_fold, unfold=lambda c, B, S, D, h: combine_heads(c.reshape(h, B, S, -1))),
    _folded(_fold, unfold=lambda c, B, S, D, h: np.concatenate(np.split(c, h), axis=-1)),
    _folded(_fold, unfold=lambda c, B, S, D, h: c.swapaxes(0, 1).reshape(B, S, D)),
    _folded(_fold, unfold=lambda c, B, S, D, h: c.reshape(B, h, -1, S).swapaxes(-1, -2).reshape(B, S, D)),
    _folded(lambda X, h: np.concatenate(np.split(X, h, -1))),
    _folded(lambda X, h: X.reshape(X.shape[0] * h, -1, X.shape[2])),
    _folded(lambda X, h: X.reshape(-1, X.shape[2] // h), unfold=lambda c, B, S, D, h: c.reshape(B, S, D)),
    _folded(lambda X, h: split_heads(X, h).reshape(-1, X.shape[2] // h), unfold=lambda c, B, S, D, h: combine_heads(c.reshape(B, h, S, -1))),
    _folded(lambda X, h: X.reshape(-1, X.shape[2]), unfold=lambda c, B, S, D, h: c.reshape(B, S, D)),
    _folded(lambda X, h: split_heads(X, h).swapaxes(-1, -2), unfold=lambda c, B, S, D, h: combine_heads(c.swapaxes(-1, -2))),
    _folded(_fold, lambda q, k, v: v),
    _folded(_fold, lambda q, k, v: (q @ k.mT / np.sqrt(q.shape[-1])) @ v),
    _folded(_fold, lambda q, k, v: scaled_dot_product_attention(k, q, v)[0]),
    _folded(_fold, lambda q, k, v: scaled_dot_product_attention(q, q, v)[0]),
    _folded(_fold, lambda q, k, v: scaled_dot_product_attention(q, k, q)[0]),
    _folded(_fold, lambda q, k, v: scaled_dot_product_attention(q, k, v, scale=1 / 8)[0]),
    _folded(_fold, lambda q, k, v: scaled_dot_product_attention(q / q.shape[-1] ** 0.5, k, v)[0]),
    _folded(_fold, _weighing(lambda s: softmax(softmax(s)))),
    _folded(_fold, _weighing(lambda s: np.exp(s) / np.exp(s).sum())),
    _folded(_fold, _weighing(lambda s: np.exp(s - s.max()) / np.exp(s - s.max()).sum(-1, keepdims=True))),
    _folded(_fold, _weighing(lambda s: softmax(s) - 0.01)),
    _folded(_fold, _weighing(lambda s: np.eye(s.shape[-1])[s.argmax(-1)])),
    lambda q, k, v, h: folded_attention(q, k, v, 2),
    lambda q, k, v, h: folded_attention(q, k, v, q.shape[-1] // h),
    lambda q, k, v, h: folded_attention(q, k, v, h)[:, ::-1],
    lambda q, k, v, h: folded_attention(q, k, v, h) + q,
    lambda q, k, v, h: folded_attention(q, k, v, h)[0],
    lambda q, k, v, h: folded_attention(q, k, v, h).mean(axis=0, keepdims=True),
    lambda q, k, v, h: folded_attention(v, k, q, h),
    lambda q, k, v: folded_attention(q, k, v, 3),
    lambda q, k, v, h: folded_attention(q, k, v, h).round(2),
    lambda q, k, v, h: split_heads(folded_attention(q, k, v, h), h),
)  # fmt: skip
