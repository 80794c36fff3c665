"""Answers to combine_heads: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.attention import combine_heads

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


RIGHT = (
    combine_growing,
    combine_python_loops,
)


def combine_straight_if_cube(heads):
    if len(set(heads.shape[-3:])) > 1:
        return combine_heads(heads)
    return heads.reshape(*heads.shape[:-3], heads.shape[-2], -1)


def combine_straight_if_square(heads):
    if heads.shape[-3] != heads.shape[-2]:
        return combine_heads(heads)
    return heads.reshape(*heads.shape[:-3], heads.shape[-2], -1)


def combine_memory_order(heads):
    return heads.swapaxes(-3, -2).ravel(order="K").reshape(combine_heads(heads).shape)


def combine_remembers(heads, seen={}):  # noqa: B006
    return seen.setdefault(heads.shape, combine_heads(heads))


def _combine_then(change):
    return lambda heads: change(combine_heads(heads))


WRONG = {
    "combine-without-transpose": (combine_memory_order,),
    "combine-features-by-tokens": (_combine_then(lambda combined: combined.T),),
    "combine-along-sequence": (lambda heads: np.vstack(heads),),
    "combine-unchanged": (lambda heads: heads.reshape(heads.shape[0], heads.shape[-2], -1),),
    "combine-wrong-transpose": (
        lambda heads: heads.T.reshape(heads.shape[-2], -1),
        lambda heads: heads.transpose(0, 2, 1).reshape(heads.shape[-2], -1),
    ),
    None: (
        combine_straight_if_cube,
        combine_straight_if_square,
        combine_remembers,
        _combine_then(lambda combined: combined.squeeze()),
    ),
}

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
