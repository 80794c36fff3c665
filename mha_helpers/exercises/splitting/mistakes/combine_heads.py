"""The mistakes that people make in `combine_heads`."""

import numpy as np

from mha_helpers.attention import combine_heads
from mha_helpers.exercises.mistakes.catalogue import also
from mha_helpers.exercises.mistakes.steps import joined_features_first, joined_straight, reversed_heads, swap


def _reshaped(heads):
    *batch, n_heads, seq_len, d_head = heads.shape
    return (*batch, seq_len, n_heads * d_head)


def _four_axes_only(heads):
    _batch, _n_heads, _seq_len, _d_head = heads.shape
    return combine_heads(heads)


def combine_without_transpose(heads):
    """You reshape straight to (seq_len, n_heads * d_head). The shape is right, but reshape doesn't move any numbers:
    your first row is made of several tokens of head 0.

    Swap heads and tokens first, swapaxes(-3, -2)."""
    return joined_straight(heads)


def combine_reversed_heads(heads):
    """Your heads are side by side in reverse order. Head 0 comes first."""
    return combine_heads(reversed_heads(heads))


@also(lambda heads: heads.mean(axis=-3), lambda heads: heads.max(axis=-3))
def combine_sum(heads):
    """You add the heads up, average them, or keep the largest. Then nothing can tell them apart any more. Put them side
    by side: each token gets n_heads * d_head features."""
    return heads.sum(axis=-3)


@also(lambda heads: heads.swapaxes(-3, -2).reshape(*heads.shape[:-3], -1, heads.shape[-1]))
def combine_along_sequence(heads):
    """You put the heads below one another, which makes n_heads * seq_len tokens. Put them side by side, along the
    features: axis=-1."""
    return heads.reshape(*heads.shape[:-3], -1, heads.shape[-1])


def combine_interleaved(heads):
    """The features of the heads are interleaved: feature 0 of every head, then feature 1 of every head. Keep each
    head's features together: before the last reshape the axes must be (seq_len, n_heads, d_head)."""
    return joined_features_first(heads)


@also(
    lambda heads: heads.swapaxes(-3, -1).reshape(_reshaped(heads)),
    lambda heads: np.moveaxis(heads, -1, -3).reshape(_reshaped(heads)),
)
def combine_wrong_transpose(heads):
    """You swap the wrong axes before the reshape, so that tokens get mixed.

    Before it, the axes must be (seq_len, n_heads, d_head): swapaxes(-3, -2)."""
    return swap(heads).reshape(_reshaped(heads))


@also(
    lambda heads: swap(joined_features_first(heads)),
    lambda heads: heads.reshape(*heads.shape[:-3], -1, heads.shape[-2]),
)
def combine_features_by_tokens(heads):
    """Your result is transposed: its rows are features, and its columns are tokens. Each row must be a token."""
    return swap(combine_heads(heads))


@also(lambda heads: np.moveaxis(heads, -3, -1))
def combine_not_merged(heads):
    """The heads come after the tokens now, but they still have an axis of their own. Merge the last two axes:
    reshape(..., seq_len, n_heads * d_head)."""
    return heads.swapaxes(-3, -2)


def combine_sizes_after_swap(heads):
    """Swapping the axes swaps the sizes, too: after swapaxes(-3, -2) the shape is (..., seq_len, n_heads, d_head).
    Unpack the shape before you swap, or in this order."""
    heads = heads.swapaxes(-3, -2)
    *batch, n_heads, seq_len, d_head = heads.shape
    return heads.reshape(*batch, seq_len, n_heads * d_head)


@also(lambda heads: heads.swapaxes(-2, -1).reshape(heads.shape))
def combine_old_shape(heads):
    """After the swap, you give the array the shape that `heads` had, which still has an axis of heads. Each token gets
    one row: (..., seq_len, n_heads * d_head)."""
    return heads.swapaxes(-3, -2).reshape(heads.shape)


def combine_unchanged(heads):
    """What you return is `heads` itself. Each token's heads must be side by side in one row."""
    return heads


@also(lambda heads: heads[..., -1, :, :])
def combine_one_head(heads):
    """You return one head and drop the others. All of them belong side by side."""
    return heads[..., 0, :, :]


@also(lambda heads: heads.swapaxes(0, 1).reshape(_reshaped(heads)), lambda heads: np.concatenate(heads, axis=1))
def combine_first_axis(heads):
    """You put together what lies along the first axis. In a batch those are the sentences. The heads are always third
    from the end: swapaxes(-3, -2), and then a reshape."""
    return np.concatenate(heads, axis=-1)


@also(lambda heads: heads.swapaxes(-3, -2).reshape(-1, heads.shape[-3] * heads.shape[-1]))
def combine_batch_lost(heads):
    """Your reshape swallows the batch axes, too. Keep them in front: `*batch, n_heads, seq_len, d_head = heads.shape`,
    and reshape(*batch, seq_len, n_heads * d_head)."""
    return heads.swapaxes(-3, -2).reshape(heads.shape[-2], -1)


@also(
    _four_axes_only,
    lambda heads: heads.transpose(1, 0, 2).reshape(_reshaped(heads)),
    lambda heads: heads.transpose(0, 2, 1, 3).reshape(_reshaped(heads)),
    lambda heads: heads.swapaxes(1, 2).reshape(_reshaped(heads)),
)
def combine_fixed_axes(heads):
    """It fits one number of axes only. There may be batch axes in front, one or more, or none: `*batch, n_heads,
    seq_len, d_head = heads.shape` takes them all, and swapaxes(-3, -2) always swaps the same two."""
    _n_heads, _seq_len, _d_head = heads.shape
    return combine_heads(heads)
