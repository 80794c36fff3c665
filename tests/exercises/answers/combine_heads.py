"""Answers to combine_heads: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.attention import combine_heads

TELLING_CASE = ("two batch axes", 5)


def combine_growing(heads):
    combined = heads[..., 0, :, :]
    for i in range(1, heads.shape[-3]):
        combined = np.append(combined, heads[..., i, :, :], axis=-1)
    return combined


def combine_python_loops(heads):
    if heads.ndim > 3:
        return [combine_python_loops(item) for item in heads]
    return [[float(x) for head in heads for x in head[token]] for token in range(heads.shape[1])]


def combine_dropping_axes(heads):
    parts = np.split(heads, heads.shape[-3], axis=-3)
    return np.concatenate([part.squeeze(axis=-3) for part in parts], axis=-1)


RIGHT = (
    combine_growing,
    combine_python_loops,
    combine_dropping_axes,
    lambda heads: np.moveaxis(heads, -3, -2).reshape(*heads.shape[:-3], heads.shape[-2], -1),
    lambda heads: np.einsum("...hsd->...shd", heads).reshape(*heads.shape[:-3], heads.shape[-2], -1),
    lambda heads: np.swapaxes(heads, -2, -3).reshape((*heads.shape[:-3], heads.shape[-2], heads.shape[-3] * heads.shape[-1])),
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


def combine_writes(heads):
    combined = combine_heads(heads).copy()
    heads *= 0
    return combined


def combine_memory_order(heads):
    return heads.swapaxes(-3, -2).ravel(order="K").reshape(combine_heads(heads).shape)


def combine_remembers(heads, seen={}):  # noqa: B006
    return seen.setdefault(heads.shape, combine_heads(heads))


def _combine_then(change):
    return lambda heads: change(combine_heads(heads))


WRONG = {
    "input-changed": (combine_writes,),
    "combine-without-transpose": (combine_memory_order,),
    "combine-features-by-tokens": (_combine_then(lambda combined: combined.T),),
    "combine-along-sequence": (lambda heads: np.vstack(heads),),
    "combine-unchanged": (lambda heads: heads.reshape(heads.shape[0], heads.shape[-2], -1),),
    "combine-wrong-transpose": (
        lambda heads: heads.T.reshape(heads.shape[-2], -1),
        lambda heads: heads.transpose(0, 2, 1).reshape(heads.shape[-2], -1),
    ),
    "fractions-lost": (_combine_then(lambda combined: combined.astype(int)),),
    None: (
        combine_straight_in_batches,
        combine_straight_if_cube,
        combine_straight_if_square,
        combine_without_last_head,
        combine_remembers,
        _combine_then(lambda combined: combined[..., ::-1]),
        _combine_then(lambda combined: combined.squeeze()),
        _combine_then(lambda combined: (combined, combined)),
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
