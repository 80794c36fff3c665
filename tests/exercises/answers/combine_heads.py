"""Answers to combine_heads: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.attention import combine_heads

CATALOGUE = (
    "combine-without-transpose",
    "combine-reversed-heads",
    "combine-sum",
    "combine-along-sequence",
    "combine-interleaved",
)

TELLING_CASE = ("two batch axes", 5)


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


RIGHT = (
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


WRONG = {
    "combine-sizes-after-swap": (lambda heads: heads.swapaxes(-3, -2).reshape(*heads.shape[:-2], -1),),
    "combine-interleaved": (
        combine_overwriting,
        combine_fortran,
    ),
    "input-changed": (combine_writes,),
    "combine-without-transpose": (combine_memory_order,),
    "combine-features-by-tokens": (_combine_then(lambda combined: combined.T),),
    "combine-first-axis": (lambda heads: np.hstack(heads),),
    "combine-along-sequence": (
        lambda heads: np.vstack(heads),
        lambda heads: np.concatenate(heads),
    ),
    "combine-unchanged": (
        lambda heads: np.concatenate([heads], axis=-1),
        lambda heads: heads.reshape(heads.shape[0], heads.shape[-2], -1),
    ),
    "combine-wrong-transpose": (
        lambda heads: heads.T.reshape(heads.shape[-2], -1),
        lambda heads: heads.transpose(0, 2, 1).reshape(heads.shape[-2], -1),
    ),
    "combine-fixed-axes": (lambda heads: heads.transpose(0, 2, 1, 3).reshape(heads.shape[0], heads.shape[2], -1),),
    "fractions-lost": (_combine_then(lambda combined: combined.astype(int)),),
    None: (
        combine_straight_in_batches,
        combine_straight_if_cube,
        combine_straight_if_square,
        combine_without_last_head,
        combine_head_zero_everywhere,
        combine_one_cell,
        combine_remembers,
        _combine_then(lambda combined: combined[..., ::-1]),
        _combine_then(lambda combined: combined[..., ::-1, :]),
        _combine_then(lambda combined: combined[::-1]),
        _combine_then(lambda combined: np.roll(combined, 1, axis=-1)),
        _combine_then(lambda combined: combined.squeeze()),
        _combine_then(lambda combined: combined.round(1)),
        _combine_then(lambda combined: combined / combined.shape[-1]),
        _combine_then(lambda combined: (combined, combined)),
        _combine_then(lambda combined: combined[None]),
        _combine_then(lambda combined: combined.ravel()),
        _combine_then(lambda combined: np.sort(combined, axis=-1)),
        _combine_then(lambda combined: combined @ np.ones(combined.shape[-1])),
        _combine_then(lambda combined: combined.shape),
        lambda heads: heads.prod(axis=-3),
        lambda heads: heads.mean(axis=1),
        lambda heads: heads.transpose(1, 2).reshape(heads.shape[-2], -1),
        lambda heads: heads.swapaxes(-3, -2).contiguous().view(heads.shape[0], -1),
        lambda heads, n_heads: combine_heads(heads),
    ),
}  # fmt: skip

TOLD = (
    (lambda heads: combine_heads(heads) / 2, "Your result holds other numbers than the heads."),
    (
        lambda heads: combine_heads(heads)[..., ::-1, :],
        "Tokens are mixed: row 4 changes when only token 0 changes in the heads.",
    ),
    (
        lambda heads: np.roll(combine_heads(heads), 1, axis=-1),
        "Head 0 must fill columns 0 to 3, and nothing else; with yours it changes columns 1, 2, 3, 4.",
    ),
    (
        lambda heads: combine_heads(heads if heads.ndim == 3 else heads[::-1]),
        "The batch items are mixed: the first one alone gives other numbers than in company.",
    ),
)
