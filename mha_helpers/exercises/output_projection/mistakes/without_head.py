"""The mistakes that people make in `without_head`."""

import functools
import itertools

import numpy as np

from function_judge.catalogue import Mistake
from mha_helpers.exercises.mistakes.catalogue import also, maker


def _own(W_O, head, n_heads):
    d_head = len(W_O) // n_heads
    return np.arange(head * d_head, (head + 1) * d_head)


def _deleted(W, places, axis):
    return W.copy() if axis is None else np.delete(W, places, axis=axis)


def _sliced(W, places, axis):
    """Leave out by slices: they forgive places beyond the end."""
    if axis is None:
        return W
    before, after = np.arange(W.shape[axis]) < places[0], np.arange(W.shape[axis]) > places[-1]
    return np.compress(before | after, W, axis=axis)


def _concatenated(W, places, axis):
    turned = W.T if axis == 1 else W
    kept = np.concatenate([turned[: places.start], turned[places.stop :]])
    return kept.T if axis == 1 else kept


def _block_after(step):
    """Return the places of the head that stands so many behind, as a slice: beyond an end there is nothing."""

    def own(W_O, head, n_heads):
        d_head = len(W_O) // n_heads
        return slice((head + step) * d_head, (head + step + 1) * d_head)

    return own


def _zeroed(W, places, axis):
    W = W.copy()
    if axis is not None:
        W[(slice(None), places) if axis == 1 else places] = 0
    return W


RIGHT = (1, 1, 1, 0)


def _without(W_Q, W_K, W_V, W_O, head, n_heads, axes=RIGHT, leave_out=_deleted, own=_own):
    """Leave out `own` along an axis of each of the four matrices; None keeps one whole."""
    places = own(W_O, head, n_heads)
    return tuple(leave_out(W, places, axis) for W, axis in zip((W_Q, W_K, W_V, W_O), axes, strict=True))


def _along(*axes, leave_out=_deleted):
    return [functools.partial(_without, axes=each, leave_out=leave_out) for each in axes]


@maker
def _leaving_out(own):
    """Return a function that leaves out own(W_O, head, n_heads) in place of the head's columns and rows."""
    return functools.partial(_without, own=own)


_ROWS = ((0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 0, None), (0, 1, 1, 0), (1, 0, 1, 0), (1, 1, 0, 0))
_OUTPUT_COLUMNS = ((1, 1, 1, 1), (None, None, None, 1))


WITHOUT_HEAD_ROWS = Mistake(
    "without-head-rows",
    "You leave rows out of W_Q, W_K or W_V. Their rows belong to the features of X, which every head sees. A "
    "head's queries, keys and values are made by its columns.",
    (
        *_along(*_ROWS),
        *_along(*_ROWS, leave_out=_sliced),
    ),
)


WITHOUT_HEAD_OUTPUT_COLUMNS = Mistake(
    "without-head-output-columns",
    "You leave columns out of W_O. Its columns are the features of the output, and those must stay. The heads "
    "come in through its rows, so that is where you leave out this head's block.",
    (
        *_along(*_OUTPUT_COLUMNS),
        *_along(*_OUTPUT_COLUMNS, leave_out=_sliced),
    ),
)


WITHOUT_HEAD_OUTPUT_WHOLE = Mistake(
    "without-head-output-whole",
    "W_O is still whole. The removed head's rows of W_O would now meet another head, or nothing: leave them out, too.",
    tuple(_along((1, 1, 1, None))),
)


WITHOUT_HEAD_SOME_WHOLE = Mistake(
    "without-head-some-whole",
    "At least one of W_Q, W_K and W_V is still whole. The head has columns in all three.",
    tuple(_along(*((*axes, 0) for axes in itertools.product((None, 1), repeat=3) if None in axes))),
)


WITHOUT_HEAD_TWO_WHOLE = Mistake(
    "without-head-two-whole",
    "W_O is still whole, and so is at least one of W_Q, W_K and W_V. The head has columns in these three, and "
    "rows in W_O.",
    tuple(_along(*((*axes, None) for axes in itertools.product((1, None), repeat=3) if None in axes))),
)


WITHOUT_HEAD_FLATTENED = Mistake(
    "without-head-flattened",
    "Without an axis, np.delete makes one long row of the matrix. Name the axis: axis=1 leaves out columns, and "
    "axis=0 rows.",
    tuple(_along((1, 1, 1, None), (None, None, None, 0), (None, None, None, None), leave_out=np.delete)),
)


WITHOUT_HEAD_ZEROS = Mistake(
    "without-head-zeros",
    "You fill the head with zeros. It then adds nothing, but the layer is as large and as slow as before. Leave "
    "its columns and rows out altogether.",
    tuple(_along(RIGHT, (None, None, None, 0), (None, None, 1, None), (None, None, 1, 0), leave_out=_zeroed)),
)


def without_head_only_it(W_Q, W_K, W_V, W_O, head, n_heads):
    """You keep the head that should go, and leave out the others."""
    places = _own(W_O, head, n_heads)
    return W_Q[:, places], W_K[:, places], W_V[:, places], W_O[places]


@also(*(functools.partial(_without, own=_block_after(-1), leave_out=way) for way in (_deleted, _concatenated)))
@_leaving_out
def without_head_counted_from_one(W_O, head, n_heads):
    """You take out the head before the one that was asked for: heads are counted from 0."""
    return _own(W_O, head - 1, n_heads)


@also(functools.partial(_without, own=_block_after(1)))
@_leaving_out
@also(
    lambda W_O, head, n_heads: _own(W_O, n_heads - 1 - head, n_heads),
    lambda W_O, head, n_heads: _own(W_O, 0, n_heads),
    lambda W_O, head, n_heads: _own(W_O, n_heads - 1, n_heads),
)
def without_head_another(W_O, head, n_heads):
    """You take out another head than the one that was asked for. Head i has the columns from i * d_head on."""
    return _own(W_O, (head + 1) % n_heads, n_heads)


@_leaving_out
def without_head_one_feature(W_O, head, n_heads):
    """You leave out a single column, number `head`. A head is d_head columns wide: those from head * d_head on."""
    return [head]


@_leaving_out
def without_head_strided(W_O, head, n_heads):
    """You leave out every n_heads-th column. A head's columns stand together: d_head of them, from head * d_head on."""
    return np.arange(head, len(W_O), n_heads)


def without_head_one_by_one(W_Q, W_K, W_V, W_O, head, n_heads):
    """You leave out one column (or row) at a time. After each, those behind it move up, so that the next number means
    another one. Leave out the whole block at once: np.delete(W_Q, own, axis=1) takes many places."""
    for place in _own(W_O, head, n_heads):
        W_Q, W_K, W_V = (np.delete(W, place, axis=1) for W in (W_Q, W_K, W_V))
        W_O = np.delete(W_O, place, axis=0)
    return W_Q, W_K, W_V, W_O


@_leaving_out
@also(lambda W_O, head, n_heads: np.arange(head, head + len(W_O) // n_heads))
def without_head_width(W_O, head, n_heads):
    """Your block is n_heads columns wide, or it begins at column `head`. A head is d_head columns wide, the whole width
    divided by n_heads, and begins at head * d_head."""
    return np.arange(head * n_heads, min((head + 1) * n_heads, len(W_O)))


@_leaving_out
def without_head_width_of_the_rest(W_O, head, n_heads):
    """You divide by the number of heads that stay. The matrices still hold all of them when you cut: a head is their
    width divided by n_heads."""
    d_head = len(W_O) // (n_heads - 1)
    return np.arange(head * d_head, min((head + 1) * d_head, len(W_O)))


@_leaving_out
def without_head_from_d_model(W_O, head, n_heads):
    """You take d_head from the number of output features. But the heads together needn't be as wide as the model:
    divide the number of rows of W_O by n_heads."""
    d_head = W_O.shape[1] // n_heads
    return np.arange(head * d_head, (head + 1) * d_head)
