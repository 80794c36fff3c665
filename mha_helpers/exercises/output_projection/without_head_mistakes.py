"""The mistakes that people make in `without_head`."""

import itertools

import numpy as np

from mha_helpers.exercises.engine import Mistake


def _own(W_O, head, n_heads):
    d_head = len(W_O) // n_heads
    return np.arange(head * d_head, (head + 1) * d_head)


def _leaving_out(axes, own=_own):
    """Return a function that leaves out `own` along an axis of each of the four matrices; None keeps one whole."""

    def wrong(W_Q, W_K, W_V, W_O, head, n_heads):
        places = own(W_O, head, n_heads)
        matrices = zip((W_Q, W_K, W_V, W_O), axes, strict=True)
        return tuple(W.copy() if axis is None else np.delete(W, places, axis=axis) for W, axis in matrices)

    return wrong


def _sliced(axes):
    """Do as `_leaving_out`, by slices: they forgive places beyond the end."""

    def wrong(W_Q, W_K, W_V, W_O, head, n_heads):
        first, *_, last = [*_own(W_O, head, n_heads)] * 2
        found = []
        for W, axis in zip((W_Q, W_K, W_V, W_O), axes, strict=True):
            turned = W.T if axis == 1 else W
            kept = turned if axis is None else np.concatenate([turned[:first], turned[last + 1 :]])
            found.append(kept.T if axis == 1 else kept)
        return tuple(found)

    return wrong


def _zeroed(axes):
    def wrong(W_Q, W_K, W_V, W_O, head, n_heads):
        places = _own(W_O, head, n_heads)
        found = []
        for W, axis in zip((W_Q, W_K, W_V, W_O), axes, strict=True):
            W = W.copy()
            if axis is not None:
                W[(slice(None), places) if axis == 1 else places] = 0
            found.append(W)
        return tuple(found)

    return wrong


def _flattened(axes):
    """Do as `_leaving_out`, without an axis: np.delete then makes one long row of the matrix."""
    leaving_out = _leaving_out(axes)

    def wrong(W_Q, W_K, W_V, W_O, head, n_heads):
        places = _own(W_O, head, n_heads)
        found = zip(leaving_out(W_Q, W_K, W_V, W_O, head, n_heads), (W_Q, W_K, W_V, W_O), axes, strict=True)
        return tuple(np.delete(W, places) if axis is None else left for left, W, axis in found)

    return wrong


def _one_by_one(W_Q, W_K, W_V, W_O, head, n_heads):
    for place in _own(W_O, head, n_heads):
        W_Q, W_K, W_V = (np.delete(W, place, axis=1) for W in (W_Q, W_K, W_V))
        W_O = np.delete(W_O, place, axis=0)
    return W_Q, W_K, W_V, W_O


def _only_the_head(W_Q, W_K, W_V, W_O, head, n_heads):
    places = _own(W_O, head, n_heads)
    return W_Q[:, places], W_K[:, places], W_V[:, places], W_O[places]


RIGHT = (1, 1, 1, 0)
WITHOUT_HEAD_MISTAKES = (
    Mistake(
        "without-head-rows",
        "You leave rows out of W_Q, W_K or W_V. Their rows belong to the features of X, which every head sees. A "
        "head's queries, keys and values are made by its columns.",
        tuple(
            leaving_out(axes)
            for leaving_out in (_leaving_out, _sliced)
            for axes in ((0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 0, None), (0, 1, 1, 0), (1, 0, 1, 0), (1, 1, 0, 0))
        ),
    ),
    Mistake(
        "without-head-output-columns",
        "You leave columns out of W_O. Its columns are the features of the output, and those must stay. The heads "
        "come in through its rows, so that is where you leave out this head's block.",
        tuple(
            leaving_out(axes)
            for leaving_out in (_leaving_out, _sliced)
            for axes in ((1, 1, 1, 1), (None, None, None, 1))
        ),
    ),
    Mistake(
        "without-head-output-whole",
        "W_O is still whole. The removed head's rows of W_O would now meet another head, or nothing: leave them out, "
        "too.",
        (_leaving_out((1, 1, 1, None)),),
    ),
    Mistake(
        "without-head-some-whole",
        "At least one of W_Q, W_K and W_V is still whole. The head has columns in all three.",
        tuple(
            map(
                _leaving_out,
                (
                    (None, None, None, 0),
                    (None, None, 1, 0),
                    (1, None, None, 0),
                    (None, 1, None, 0),
                    (1, 1, None, 0),
                    (1, None, 1, 0),
                    (None, 1, 1, 0),
                ),
            )
        ),
    ),
    Mistake(
        "without-head-two-whole",
        "W_O is still whole, and so is at least one of W_Q, W_K and W_V. The head has columns in these three, and rows "
        "in W_O.",
        tuple(_leaving_out((*axes, None)) for axes in itertools.product((1, None), repeat=3) if None in axes),
    ),
    Mistake(
        "without-head-flattened",
        "Without an axis, np.delete makes one long row of the matrix. Name the axis: axis=1 leaves out columns, and "
        "axis=0 rows.",
        tuple(map(_flattened, ((1, 1, 1, None), (None, None, None, 0), (None, None, None, None)))),
    ),
    Mistake(
        "without-head-zeros",
        "You fill the head with zeros. It then adds nothing, but the layer is as large and as slow as before. Leave "
        "its columns and rows out altogether.",
        tuple(map(_zeroed, (RIGHT, (None, None, None, 0), (None, None, 1, None), (None, None, 1, 0)))),
    ),
    Mistake(
        "without-head-only-it",
        "You keep the head that should go, and leave out the others.",
        (_only_the_head,),
    ),
    Mistake(
        "without-head-counted-from-one",
        "You take out the head before the one that was asked for: heads are counted from 0.",
        (_leaving_out(RIGHT, lambda W_O, head, n_heads: _own(W_O, head - 1, n_heads)),),
    ),
    Mistake(
        "without-head-another",
        "You take out another head than the one that was asked for. Head i has the columns from i * d_head on.",
        (
            _leaving_out(RIGHT, lambda W_O, head, n_heads: _own(W_O, (head + 1) % n_heads, n_heads)),
            _leaving_out(RIGHT, lambda W_O, head, n_heads: _own(W_O, n_heads - 1 - head, n_heads)),
            _leaving_out(RIGHT, lambda W_O, head, n_heads: _own(W_O, 0, n_heads)),
            _leaving_out(RIGHT, lambda W_O, head, n_heads: _own(W_O, n_heads - 1, n_heads)),
        ),
    ),
    Mistake(
        "without-head-one-feature",
        "You leave out a single column, number `head`. A head is d_head columns wide: those from head * d_head on.",
        (_leaving_out(RIGHT, lambda W_O, head, n_heads: [head]),),
    ),
    Mistake(
        "without-head-strided",
        "You leave out every n_heads-th column. A head's columns stand together: d_head of them, from head * d_head "
        "on.",
        (_leaving_out(RIGHT, lambda W_O, head, n_heads: np.arange(head, len(W_O), n_heads)),),
    ),
    Mistake(
        "without-head-one-by-one",
        "You leave out one column (or row) at a time. After each, those behind it move up, so that the next number "
        "means another one. Leave out the whole block at once: np.delete(W_Q, own, axis=1) takes many places.",
        (_one_by_one,),
    ),
    Mistake(
        "without-head-width",
        "Your block is n_heads columns wide, or it begins at column `head`. A head is d_head columns wide, the whole "
        "width divided by n_heads, and begins at head * d_head.",
        (
            _leaving_out(
                RIGHT, lambda W_O, head, n_heads: [c for c in np.arange(n_heads) + head * n_heads if c < len(W_O)]
            ),
            _leaving_out(RIGHT, lambda W_O, head, n_heads: np.arange(head, head + len(W_O) // n_heads)),
        ),
    ),
    Mistake(
        "without-head-from-d-model",
        "You take d_head from the number of output features. But the heads together needn't be as wide as the model: "
        "divide the number of rows of W_O by n_heads.",
        (
            lambda W_Q, W_K, W_V, W_O, head, n_heads: _leaving_out(
                RIGHT,
                lambda W_O, head, n_heads: np.arange(
                    head * (W_O.shape[1] // n_heads), (head + 1) * (W_O.shape[1] // n_heads)
                ),
            )(W_Q, W_K, W_V, W_O, head, n_heads),
        ),
    ),
)
