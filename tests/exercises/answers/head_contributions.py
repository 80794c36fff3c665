"""Answers to head_contributions: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.attention import head_contributions

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


RIGHT = (
    contributions_loop,
    contributions_recursive,
)


def contributions_transposed_if_square(heads, W_O):
    return head_contributions(heads, W_O.T if heads.shape[-3] == heads.shape[-1] else W_O)


def _contributions_then(change):
    return lambda heads, W_O: change(head_contributions(heads, W_O))


WRONG = {
    "contributions-width-of-the-heads": (
        lambda heads, W_O: heads @ W_O.reshape(heads.shape[-3], W_O.shape[-1] // heads.shape[-3], -1),
    ),
    "contributions-one-head": (_contributions_then(lambda parts: parts[0]),),
    None: (
        contributions_transposed_if_square,
        _contributions_then(lambda parts: parts.squeeze()),
        lambda heads, W_O: heads @ W_O.reshape(heads.shape[-3], -1, heads.shape[-1]),
    ),
}

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
