"""Answers to head_contributions: right ones in many styles, and wrong ones."""

import itertools

import numpy as np

from mha_helpers.maths.attention import combine_heads, head_contributions, split_heads

TELLING_CASE = ("two batch axes", 6)


def contributions_loop(heads, W_O):
    n_heads, _, d_head = heads.shape[-3:]
    parts = []
    for h in range(n_heads):
        parts.append(heads[..., h, :, :] @ W_O[h * d_head : (h + 1) * d_head])
    return np.stack(parts, axis=-3)


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


RIGHT = (
    contributions_loop,
    contributions_recursive,
    contributions_python_loops,
    lambda heads, W_O: np.einsum("...hsd,hdm->...hsm", heads, W_O.reshape(heads.shape[-3], heads.shape[-1], W_O.shape[-1])),
    lambda heads, W_O: np.matmul(heads, split_heads(W_O.T, heads.shape[-3]).swapaxes(-1, -2)),
    lambda heads, W_O: np.moveaxis([head @ rows for head, rows in zip(np.moveaxis(heads, -3, 0), np.split(W_O, heads.shape[-3]), strict=True)], 0, -3),
)  # fmt: skip


def contributions_with_bias(heads, W_O):
    return head_contributions(heads, W_O) + W_O[0]


def contributions_remainder_in_last(heads, W_O):
    """They sum to the output, and the last one holds all of it."""
    parts = np.zeros_like(head_contributions(heads, W_O))
    parts[..., -1, :, :] = combine_heads(heads) @ W_O
    return parts


def contributions_scaled(heads, W_O):
    return head_contributions(heads, W_O) / heads.shape[-3]


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


def contributions_remembers(heads, W_O, seen={}):  # noqa: B006
    return seen.setdefault((heads.shape, heads.dtype.str, heads.flags.c_contiguous), head_contributions(heads, W_O))


def _contributions_then(change):
    return lambda heads, W_O: change(head_contributions(heads, W_O))


def contributions_as_wide_as_the_heads(heads, W_O):
    n_heads, _, d_head = heads.shape[-3:]
    d_model = n_heads * d_head
    return heads @ W_O.reshape(n_heads, d_head, d_model)


WRONG = {
    "contributions-width-of-the-heads": (
        contributions_as_wide_as_the_heads,
        lambda heads, W_O: heads @ W_O.reshape(heads.shape[-3], W_O.shape[-1] // heads.shape[-3], -1),
    ),
    "input-changed": (contributions_in_place,),
    "not-repeatable": (contributions_remembers,),
    "contributions-one-head": (_contributions_then(lambda parts: parts[0]),),
    None: (
        contributions_with_bias,
        contributions_remainder_in_last,
        contributions_scaled,
        contributions_straight_in_batches,
        contributions_transposed_if_square,
        _contributions_then(lambda parts: parts[..., ::-1, :]),
        _contributions_then(lambda parts: parts.sum(axis=-1)),
        _contributions_then(lambda parts: parts.squeeze()),
        _contributions_then(lambda parts: (parts, parts.sum(axis=-3))),
        _contributions_then(lambda parts: parts > 0),
        _contributions_then(lambda parts: dict(enumerate(parts))),
        lambda heads, W_O: heads @ W_O.reshape(heads.shape[-3], -1, heads.shape[-1]),
        lambda heads, W_O: heads * W_O,
        lambda heads, W_O, n_heads: head_contributions(heads, W_O),
        lambda heads: heads,
    ),
}  # fmt: skip

TOLD = (
    (
        lambda heads, W_O: -head_contributions(heads, W_O),
        "Added up over the heads, your contributions are not the output",
    ),
    (
        lambda heads, W_O: head_contributions(heads, W_O)[..., ::-1, :],
        "Tokens are mixed: row 4 changes when only token 0 changes.",
    ),
    (
        lambda heads, W_O: head_contributions(heads, W_O) - head_contributions(heads, W_O).mean(axis=-3, keepdims=True),
        "Heads are mixed: the contribution of head 1 changes when only head 0 does.",
    ),
    (
        lambda heads, W_O: head_contributions(heads, W_O + 0.1 * np.roll(W_O, heads.shape[-1], axis=0)),
        "Rows 0 to 2 of W_O are head 0's alone; with yours head 1 changes with them.",
    ),
)
