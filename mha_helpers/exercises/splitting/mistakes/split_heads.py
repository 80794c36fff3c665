"""The mistakes that people make in `split_heads`."""

import numpy as np

from mha_helpers.attention import split_heads
from mha_helpers.exercises.mistakes.catalogue import also
from mha_helpers.exercises.mistakes.steps import (
    every_nth,
    heads_not_moved,
    others_zeroed,
    reversed_heads,
    split_straight,
    swap,
)


def _split(X, n_heads):
    return np.split(X, n_heads, axis=-1)


def _three_axes_only(X, n_heads):
    _batch, _seq_len, _d_model = X.shape
    return split_heads(X, n_heads)


def _one_batch_axis(X, n_heads):
    return X.reshape(X.shape[0], X.shape[-2], n_heads, X.shape[-1] // n_heads).swapaxes(-3, -2)


def _two_axes_only(X, n_heads):
    _seq_len, _d_model = X.shape
    return split_heads(X, n_heads)


def _own_features_only(X, n_heads):
    """Full width, and 0 at the features of the other heads."""
    return np.stack([others_zeroed(X, n_heads, head) for head in range(n_heads)], axis=-3)


def split_without_transpose(X, n_heads):
    """You reshape straight to (n_heads, seq_len, d_head). The shape is right, but reshape doesn't move any numbers. It
    reads all of the first token before the second, so head 0 gets whole tokens, cut into pieces.

    Reshape to (seq_len, n_heads, d_head), then swap two axes."""
    return split_straight(X, n_heads)


def split_axis_not_moved(X, n_heads):
    """The features are cut, but the heads come after the tokens: (..., seq_len, n_heads, d_head). Attention works on
    the last two axes, which must be those of the tokens and the features.

    Swap the second and the third from the end: swapaxes(-3, -2)."""
    return heads_not_moved(X, n_heads)


def split_strided(X, n_heads):
    """Head i gets features i, i + n_heads, and so on. Heads are neighbouring features: head i has i * d_head to (i + 1)
    * d_head. Reshape d_model to (n_heads, d_head), in this order."""
    return every_nth(X, n_heads)


@also(
    lambda X, n_heads: swap(heads_not_moved(X, n_heads)),
    lambda X, n_heads: heads_not_moved(X, n_heads).swapaxes(-3, -1),
    lambda X, n_heads: np.moveaxis(heads_not_moved(X, n_heads), -1, -3),
    lambda X, n_heads: swap(every_nth(X, n_heads)),
)
def split_wrong_transpose(X, n_heads):
    """You swap the wrong axes, so that a head's features no longer come last. After the reshape the axes are
    (seq_len, n_heads, d_head).

    Heads and tokens change places, and the features stay where they are: swapaxes(-3, -2)."""
    return swap(split_heads(X, n_heads))


def split_reshaped_in_the_wrong_order(X, n_heads):
    """You reshape to (n_heads, seq_len, d_head), which mixes tokens and features, and then swap the two axes. It is the
    order in the reshape that's wrong.

    Reshape to (seq_len, n_heads, d_head); the swap then brings the heads to the front."""
    return split_straight(X, n_heads).swapaxes(-3, -2)


def split_transposed_first(X, n_heads):
    """You transpose X before you reshape it. Then each row of a head holds one feature of several tokens. Reshape
    first, and swap axes afterwards."""
    return swap(X).reshape(*X.shape[:-2], n_heads, X.shape[-2], X.shape[-1] // n_heads)


@also(_own_features_only)
def split_full_width(X, n_heads):
    """Each head keeps all d_model features. Together the heads have as many as X: each is d_model // n_heads wide."""
    return np.stack([X] * n_heads, axis=-3)


def _second_axis_sliced(X, n_heads):
    d_head = X.shape[-1] // n_heads
    return [X[:, head * d_head : (head + 1) * d_head] for head in range(n_heads)]


@also(
    _second_axis_sliced,
    lambda X, n_heads: np.stack(np.split(X, n_heads, axis=1)),
    lambda X, n_heads: np.stack(np.hsplit(X, n_heads), axis=-3),
)
def split_second_axis_sliced(X, n_heads):
    """It is right for one sentence. With a batch, X[:, own], np.hsplit and axis=1 cut the second axis, which then holds
    the tokens. X[..., own] and axis=-1 cut the last one, however many there are; stack the heads along axis=-3."""
    return np.stack(_second_axis_sliced(X, n_heads))


def split_slices_from_head(X, n_heads):
    """Your slices begin at i, the number of the head, and so overlap. Each head before it has d_head features: begin at
    i * d_head, and end at (i + 1) * d_head."""
    d_head = X.shape[-1] // n_heads
    return np.stack([X[..., head : head + d_head] for head in range(n_heads)], axis=-3)


def split_floor(X, n_heads):
    """If n_heads doesn't divide d_model, // rounds down, and the last features silently get lost. Raise a ValueError in
    that case; reshape does it by itself, slices don't."""
    d_head = X.shape[-1] // n_heads
    return split_heads(X[..., : n_heads * d_head], n_heads)


def split_folded(X, n_heads):
    """Your heads and your batch share one axis: (batch * n_heads, seq_len, d_head). Keep them apart: (..., n_heads,
    seq_len, d_head)."""
    return split_heads(X, n_heads).reshape(-1, X.shape[-2], X.shape[-1] // n_heads)


@also(lambda X, n_heads: np.stack(np.split(X, n_heads, axis=-2)))
def split_tokens(X, n_heads):
    """You cut the tokens into n_heads groups. Every head sees every token; it's the features that are cut, axis=-1."""
    return np.stack(np.split(X, n_heads, axis=-2), axis=-3)


@also(lambda X, n_heads: heads_not_moved(X, X.shape[-1] // n_heads))
def split_width_for_count(X, n_heads):
    """You make heads that are n_heads wide, d_model // n_heads of them. It is the other way round: n_heads heads, each
    d_model // n_heads wide."""
    return split_heads(X, X.shape[-1] // n_heads)


def split_heads_before_batch(X, n_heads):
    """Your heads come before the batch: (n_heads, ..., seq_len, d_head). They belong right before the tokens; np.stack
    puts its new axis there with axis=-3. (A list of parts counts as stacked along the first axis.)"""
    return np.stack(_split(X, n_heads))


@also(lambda X, n_heads: heads_not_moved(X, n_heads).swapaxes(1, 2))
def split_axes_from_front(X, n_heads):
    """You count axes from the front. A batch shifts them by one, and you swap another pair. Counted from the end, it is
    always swapaxes(-3, -2)."""
    return heads_not_moved(X, n_heads).swapaxes(0, 1)


@also(
    _one_batch_axis,
    _three_axes_only,
    _two_axes_only,
    lambda X, n_heads: heads_not_moved(X, n_heads).transpose(0, 2, 1, 3),
    lambda X, n_heads: X.reshape(X.shape[0], X.shape[1], n_heads, -1).transpose(0, 2, 1, 3),
    lambda X, n_heads: X.reshape(X.shape[0], X.shape[1], n_heads, X.shape[2] // n_heads).swapaxes(1, 2),
    lambda X, n_heads: heads_not_moved(X, n_heads).transpose(1, 0, 2),
    n_tokens=(0, -2),
    n_features=(None, -1, 1),
)
def split_fixed_axes(X, n_heads, n_tokens=0, n_features=None):
    """It fits one number of axes only. X may have batch axes in front, one or more, or none: `*batch, seq_len, d_model
    = X.shape` takes them all. reshape(*batch, seq_len, n_heads, d_head) keeps them, and swapaxes(-3, -2) always swaps
    the same two."""
    d_head = -1 if n_features is None else X.shape[n_features] // n_heads
    return X.reshape(X.shape[n_tokens], n_heads, d_head).swapaxes(0, 1)


def split_concatenated(X, n_heads):
    """You put the heads below one another, along the tokens: (..., n_heads * seq_len, d_head). Give them an axis of
    their own: np.stack, not np.concatenate."""
    return np.concatenate(_split(X, n_heads), axis=-2)


@also(lambda X, n_heads: X[..., None, :, :])
def split_unchanged(X, n_heads):
    """What you return is X itself. Its features must be cut into heads: reshape to (..., seq_len, n_heads, d_head)."""
    return X


@also(lambda X, n_heads: _split(X, n_heads)[-1], lambda X, n_heads: split_heads(X, n_heads)[..., :1, :, :])
def split_one_head(X, n_heads):
    """You return one head. Return all n_heads of them, on an axis of their own before the tokens."""
    return _split(X, n_heads)[0]


def split_reversed_heads(X, n_heads):
    """Your heads are in reverse order. Head 0 has the first features."""
    return reversed_heads(split_heads(X, n_heads))
