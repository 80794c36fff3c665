"""The mistakes that people make in `combine_heads`."""

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.steps import joined_features_first, joined_straight, reversed_heads, swap
from mha_helpers.maths.attention import combine_heads


def _reshaped(heads):
    *batch, n_heads, seq_len, d_head = heads.shape
    return (*batch, seq_len, n_heads * d_head)


def _sizes_after_swap(heads):
    heads = heads.swapaxes(-3, -2)
    *batch, n_heads, seq_len, d_head = heads.shape
    return heads.reshape(*batch, seq_len, n_heads * d_head)


def _old_width_after_swap(heads):
    heads = heads.swapaxes(-3, -2)
    return heads.reshape(*heads.shape[:-3], -1, heads.shape[-3] * heads.shape[-1])


def _three_axes_only(heads):
    _n_heads, _seq_len, _d_head = heads.shape
    return combine_heads(heads)


def _four_axes_only(heads):
    _batch, _n_heads, _seq_len, _d_head = heads.shape
    return combine_heads(heads)


COMBINE_MISTAKES = (
    Mistake(
        "combine-without-transpose",
        "You reshape straight to (seq_len, n_heads * d_head). The shape is right, but reshape doesn't move any "
        "numbers: your first row is made of several tokens of head 0. Swap heads and tokens first, swapaxes(-3, -2).",
        (joined_straight,),
    ),
    Mistake(
        "combine-reversed-heads",
        "Your heads are side by side in reverse order. Head 0 comes first.",
        (lambda heads: combine_heads(reversed_heads(heads)),),
    ),
    Mistake(
        "combine-sum",
        "You add the heads up, average them, or keep the largest. Then nothing can tell them apart any more. Put them "
        "side by side: each token gets n_heads * d_head features.",
        (
            lambda heads: heads.sum(axis=-3),
            lambda heads: heads.mean(axis=-3),
            lambda heads: heads.max(axis=-3),
            lambda heads: heads.sum(axis=0),
            lambda heads: heads.mean(axis=0),
        ),
    ),
    Mistake(
        "combine-along-sequence",
        "You put the heads below one another, which makes n_heads * seq_len tokens. Put them side by side, along the "
        "features: axis=-1.",
        (
            lambda heads: heads.reshape(*heads.shape[:-3], -1, heads.shape[-1]),
            lambda heads: heads.swapaxes(-3, -2).reshape(*heads.shape[:-3], -1, heads.shape[-1]),
            lambda heads: np.concatenate(heads, axis=-2),
        ),
    ),
    Mistake(
        "combine-interleaved",
        "The features of the heads are interleaved: feature 0 of every head, then feature 1 of every head. Keep each "
        "head's features together: before the last reshape the axes must be (seq_len, n_heads, d_head).",
        (joined_features_first,),
    ),
    Mistake(
        "combine-wrong-transpose",
        "You swap the wrong axes before the reshape, so that tokens get mixed. Before it, the axes must be (seq_len, "
        "n_heads, d_head): swapaxes(-3, -2).",
        (
            lambda heads: swap(heads).reshape(_reshaped(heads)),
            lambda heads: heads.swapaxes(-3, -1).reshape(_reshaped(heads)),
            lambda heads: np.moveaxis(heads, -1, -3).reshape(_reshaped(heads)),
        ),
    ),
    Mistake(
        "combine-features-by-tokens",
        "Your result is transposed: its rows are features, and its columns are tokens. Each row must be a token.",
        (
            lambda heads: swap(combine_heads(heads)),
            lambda heads: swap(joined_features_first(heads)),
            lambda heads: heads.reshape(*heads.shape[:-3], -1, heads.shape[-2]),
        ),
    ),
    Mistake(
        "combine-not-merged",
        "The heads come after the tokens now, but they still have an axis of their own. Merge the last two axes: "
        "reshape(..., seq_len, n_heads * d_head).",
        (lambda heads: heads.swapaxes(-3, -2), lambda heads: np.moveaxis(heads, -3, -1)),
    ),
    Mistake(
        "combine-sizes-after-swap",
        "Swapping the axes swaps the sizes, too: after swapaxes(-3, -2) the shape is (..., seq_len, n_heads, d_head). "
        "Unpack the shape before you swap, or in this order.",
        (_sizes_after_swap, _old_width_after_swap),
    ),
    Mistake(
        "combine-old-shape",
        "After the swap, you give the array the shape that `heads` had, which still has an axis of heads. Each token "
        "gets one row: (..., seq_len, n_heads * d_head).",
        (
            lambda heads: heads.swapaxes(-3, -2).reshape(heads.shape),
            lambda heads: heads.swapaxes(-2, -1).reshape(heads.shape),
        ),
    ),
    Mistake(
        "combine-unchanged",
        "What you return is `heads` itself. Each token's heads must be side by side in one row.",
        (lambda heads: heads,),
    ),
    Mistake(
        "combine-one-head",
        "You return one head and drop the others. All of them belong side by side.",
        (
            lambda heads: heads[..., 0, :, :],
            lambda heads: heads[..., -1, :, :],
            lambda heads: heads[0],
            lambda heads: heads[-1],
        ),
    ),
    Mistake(
        "combine-first-axis",
        "You put together what lies along the first axis. In a batch those are the sentences. The heads are always "
        "third from the end: swapaxes(-3, -2), and then a reshape.",
        (
            lambda heads: np.concatenate(heads, axis=-1),
            lambda heads: heads.swapaxes(0, 1).reshape(_reshaped(heads)),
            lambda heads: np.concatenate(heads, axis=1),
        ),
    ),
    Mistake(
        "combine-batch-lost",
        "Your reshape swallows the batch axes, too. Keep them in front: `*batch, n_heads, seq_len, d_head = "
        "heads.shape`, and reshape(*batch, seq_len, n_heads * d_head).",
        (
            lambda heads: heads.swapaxes(-3, -2).reshape(heads.shape[-2], -1),
            lambda heads: heads.swapaxes(-3, -2).reshape(-1, heads.shape[-3] * heads.shape[-1]),
        ),
    ),
    Mistake(
        "combine-fixed-axes",
        "It fits one number of axes only. There may be batch axes in front, one or more, or none: `*batch, n_heads, "
        "seq_len, d_head = heads.shape` takes them all, and swapaxes(-3, -2) always swaps the same two.",
        (
            _three_axes_only,
            _four_axes_only,
            lambda heads: heads.transpose(1, 0, 2).reshape(_reshaped(heads)),
            lambda heads: heads.transpose(0, 2, 1, 3).reshape(_reshaped(heads)),
            lambda heads: heads.swapaxes(1, 2).reshape(_reshaped(heads)),
        ),
    ),
)
