"""The mistakes that people make in `split_heads`."""

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.steps import cut, cut_only, cut_straight, every_nth, reversed_heads, swap
from mha_helpers.maths.attention import split_heads


def _split(X, n_heads):
    return np.split(X, n_heads, axis=-1)


def _dropping_the_rest(X, n_heads):
    d_head = X.shape[-1] // n_heads
    return split_heads(X[..., : n_heads * d_head], n_heads)


def _three_axes_only(X, n_heads):
    _batch, _seq_len, _d_model = X.shape
    return split_heads(X, n_heads)


def _one_batch_axis(X, n_heads):
    return X.reshape(X.shape[0], X.shape[-2], n_heads, X.shape[-1] // n_heads).swapaxes(-3, -2)


def _two_axes_only(X, n_heads):
    _seq_len, _d_model = X.shape
    return split_heads(X, n_heads)


def _one_sentence(tokens, features, move):
    """Reshape to (seq_len, n_heads, d_head), with sizes taken from two axes of X, or the last left open."""

    def wrong_split(X, n_heads):
        d_head = -1 if features is None else X.shape[features] // n_heads
        return move(X.reshape(X.shape[tokens], n_heads, d_head))

    return wrong_split


def _second_axis_sliced(stacked_along):
    """Slice axis 1, which holds the features only where there is no batch."""

    def wrong_split(X, n_heads):
        d_head = X.shape[-1] // n_heads
        return np.stack([X[:, head * d_head : (head + 1) * d_head] for head in range(n_heads)], axis=stacked_along)

    return wrong_split


def _second_axis_listed(X, n_heads):
    d_head = X.shape[-1] // n_heads
    return [X[:, head * d_head : (head + 1) * d_head] for head in range(n_heads)]


def _slices_from_head(X, n_heads):
    d_head = X.shape[-1] // n_heads
    return np.stack([X[..., head : head + d_head] for head in range(n_heads)], axis=-3)


def _own_features_only(X, n_heads):
    """Full width, and 0 at the features of the other heads."""
    return np.stack([cut_only(X, n_heads, head) for head in range(n_heads)], axis=-3)


def _cut_turned_round(X, n_heads):
    return swap(X).reshape(*X.shape[:-2], n_heads, X.shape[-2], X.shape[-1] // n_heads)


SPLIT_MISTAKES = (
    Mistake(
        "split-without-transpose",
        "You reshape straight to (n_heads, seq_len, d_head). The shape is right, but reshape doesn't move any "
        "numbers. It reads all of the first token before the second, so head 0 gets whole tokens, cut into pieces. "
        "Reshape to (seq_len, n_heads, d_head), then swap two axes.",
        (cut_straight,),
    ),
    Mistake(
        "split-axis-not-moved",
        "The features are cut, but the heads come after the tokens: (..., seq_len, n_heads, d_head). Attention works "
        "on the last two axes, so swap the second and the third from the end: swapaxes(-3, -2).",
        (cut,),
    ),
    Mistake(
        "split-strided",
        "Head i gets features i, i + n_heads, and so on. Heads are neighbouring features: head i has i * d_head to "
        "(i + 1) * d_head. Reshape d_model to (n_heads, d_head), in this order.",
        (every_nth,),
    ),
    Mistake(
        "split-wrong-transpose",
        "You swap the wrong axes, so a head's features are no longer the last axis. From (seq_len, n_heads, d_head) "
        "to (n_heads, seq_len, d_head) it is the first two: swapaxes(-3, -2).",
        (
            lambda X, n_heads: swap(split_heads(X, n_heads)),
            lambda X, n_heads: swap(cut(X, n_heads)),
            lambda X, n_heads: cut(X, n_heads).swapaxes(-3, -1),
            lambda X, n_heads: np.moveaxis(cut(X, n_heads), -1, -3),
            lambda X, n_heads: cut(X, n_heads).T,
            lambda X, n_heads: swap(every_nth(X, n_heads)),
        ),
    ),
    Mistake(
        "split-transposed-first",
        "You transpose X before you reshape it. Then each row of a head holds one feature of several tokens. Reshape "
        "first, and swap axes afterwards.",
        (_cut_turned_round,),
    ),
    Mistake(
        "split-full-width",
        "Each head keeps all d_model features. Together the heads have as many as X: each is d_model // n_heads wide.",
        (
            lambda X, n_heads: np.stack([X] * n_heads, axis=-3),
            lambda X, n_heads: np.stack([X] * n_heads),
            _own_features_only,
        ),
    ),
    Mistake(
        "split-second-axis-sliced",
        "It is right for one sentence. With a batch, X[:, own], np.hsplit and axis=1 cut the second axis, which then "
        "holds the tokens. X[..., own] and axis=-1 cut the last one, however many there are; stack the heads along "
        "axis=-3.",
        (
            *map(_second_axis_sliced, (0, -3)),
            _second_axis_listed,
            lambda X, n_heads: np.stack(np.split(X, n_heads, axis=1)),
            lambda X, n_heads: np.stack(np.hsplit(X, n_heads), axis=-3),
        ),
    ),
    Mistake(
        "split-slices-from-head",
        "Your slices begin at i, the number of the head, and so overlap. Each head before it has d_head features: "
        "begin at i * d_head, and end at (i + 1) * d_head.",
        (_slices_from_head,),
    ),
    Mistake(
        "split-floor",
        "If n_heads doesn't divide d_model, // rounds down, and the last features silently get lost. Raise a "
        "ValueError in that case; reshape does it by itself, slices don't.",
        (_dropping_the_rest,),
    ),
    Mistake(
        "split-folded",
        "Your heads and your batch share one axis: (batch * n_heads, seq_len, d_head). Keep them apart: (..., n_heads, "
        "seq_len, d_head).",
        (lambda X, n_heads: split_heads(X, n_heads).reshape(-1, X.shape[-2], X.shape[-1] // n_heads),),
    ),
    Mistake(
        "split-tokens",
        "You cut the tokens into n_heads groups. Every head sees every token; it's the features that are cut, axis=-1.",
        (
            lambda X, n_heads: np.stack(np.split(X, n_heads, axis=-2), axis=-3),
            lambda X, n_heads: X.reshape(*X.shape[:-2], n_heads, X.shape[-2] // n_heads, X.shape[-1]),
            lambda X, n_heads: np.stack(np.split(X, n_heads, axis=-2)),
        ),
    ),
    Mistake(
        "split-width-for-count",
        "You make heads that are n_heads wide, d_model // n_heads of them. It is the other way round: n_heads heads, "
        "each d_model // n_heads wide.",
        (
            lambda X, n_heads: split_heads(X, X.shape[-1] // n_heads),
            lambda X, n_heads: cut(X, X.shape[-1] // n_heads),
        ),
    ),
    Mistake(
        "split-heads-before-batch",
        "Your heads come before the batch: (n_heads, ..., seq_len, d_head). They belong right before the tokens; "
        "np.stack puts its new axis there with axis=-3. (A list of parts counts as stacked along the first axis.)",
        (lambda X, n_heads: np.stack(_split(X, n_heads)),),
    ),
    Mistake(
        "split-axes-from-front",
        "You count axes from the front. A batch shifts them by one, and you swap another pair. Counted from the end, "
        "it is always swapaxes(-3, -2).",
        (
            lambda X, n_heads: cut(X, n_heads).swapaxes(0, 1),
            lambda X, n_heads: cut(X, n_heads).swapaxes(1, 2),
        ),
    ),
    Mistake(
        "split-fixed-axes",
        "It fits one number of axes only. X may have batch axes in front, one or more, or none: `*batch, seq_len, "
        "d_model = X.shape` takes them all. reshape(*batch, seq_len, n_heads, d_head) keeps them, and swapaxes(-3, -2) "
        "always swaps the same two.",
        (
            *(
                _one_sentence(n_tokens, n_features, move)
                for n_tokens, n_features in ((0, None), (0, -1), (0, 1), (-2, None), (-2, -1))
                for move in (
                    lambda heads: heads.swapaxes(0, 1),
                    lambda heads: heads.swapaxes(-3, -2),
                )
            ),
            _one_batch_axis,
            _three_axes_only,
            _two_axes_only,
            lambda X, n_heads: cut(X, n_heads).transpose(0, 2, 1, 3),
            lambda X, n_heads: X.reshape(X.shape[0], X.shape[1], n_heads, -1).transpose(0, 2, 1, 3),
            lambda X, n_heads: X.reshape(X.shape[0], X.shape[1], n_heads, X.shape[2] // n_heads).swapaxes(1, 2),
            lambda X, n_heads: cut(X, n_heads).transpose(1, 0, 2),
        ),
    ),
    Mistake(
        "split-concatenated",
        "You put the heads below one another, along the tokens: (..., n_heads * seq_len, d_head). Give them an axis of "
        "their own: np.stack, not np.concatenate.",
        (lambda X, n_heads: np.concatenate(_split(X, n_heads), axis=-2),),
    ),
    Mistake(
        "split-unchanged",
        "What you return is X itself. Its features must be cut into heads: reshape to (..., seq_len, n_heads, d_head).",
        (lambda X, n_heads: X, lambda X, n_heads: X[..., None, :, :]),
    ),
    Mistake(
        "split-one-head",
        "You return one head. Return all n_heads of them, on an axis of their own before the tokens.",
        (
            lambda X, n_heads: _split(X, n_heads)[0],
            lambda X, n_heads: _split(X, n_heads)[-1],
            lambda X, n_heads: split_heads(X, n_heads)[..., :1, :, :],
        ),
    ),
    Mistake(
        "split-reversed-heads",
        "Your heads are in reverse order. Head 0 has the first features.",
        (lambda X, n_heads: reversed_heads(split_heads(X, n_heads)),),
    ),
)
