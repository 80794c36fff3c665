"""The mistakes that people make in `previous_token_score`."""

import numpy as np

from function_judge.catalogue import Mistake
from mha_helpers.exercises.mistakes.catalogue import also
from mha_helpers.exercises.real_model.mistakes.measured_weights import one_head_of_all, only_so_many_axes, over_heads
from mha_helpers.measures import previous_token_score


def _below(weights):
    """What each token but the first gives to the one before it: (..., n_tokens - 1)."""
    return _diagonal(weights, -1)


def _diagonal(weights, offset):
    return np.diagonal(weights, offset=offset, axis1=-2, axis2=-1)


def _is_largest(weights):
    return weights == weights.max(axis=-1, keepdims=True)


def _places(weights):
    """The rows and columns just below the diagonal."""
    i = np.arange(1, weights.shape[-1])
    return i, i - 1


def _pairs_in_front(weights, n_tokens):
    """Take tokens for the first axes: what each gives to the one before it."""
    return [weights[i][i - 1] for i in range(1, n_tokens)]


def _inside(weights):
    """Take the first token and the last out of the weights, and let the rows sum to 1 again."""
    inside = weights[..., 1:-1, 1:-1]
    return inside / inside.sum(axis=-1, keepdims=True)


@also(
    lambda weights: (np.roll(weights, -1, axis=-1) * np.eye(weights.shape[-1])).sum(axis=(-2, -1)) / weights.shape[-1],
    lambda weights: _diagonal(weights, 1).sum(axis=-1) / weights.shape[-1],
)
def previous_next(weights):
    """That is the weight on the *next* token, above the diagonal. Rows are queries, so what token i gives to the one
    before it is weights[..., i, i - 1]: one step below the diagonal, offset=-1."""
    return _diagonal(weights, 1).mean(axis=-1)


@also(
    lambda weights: _diagonal(weights, 0)[..., 1:].mean(axis=-1), lambda weights: np.trace(weights, axis1=-2, axis2=-1)
)
def previous_itself(weights):
    """That is the weight that tokens give to themselves, the diagonal. The token before is one step below it:
    weights[..., i, i - 1]."""
    return _diagonal(weights, 0).mean(axis=-1)


@also(lambda weights: (_below(weights).sum(axis=-1) + weights[..., 0, -1]) / (weights.shape[-1] - 1))
def previous_wraparound(weights):
    """You count token 0, too, and take weights[..., 0, -1] for it, but in Python, -1 means the *last* token. There is
    no token before token 0: begin with token 1."""
    return (_below(weights).sum(axis=-1) + weights[..., 0, -1]) / weights.shape[-1]


@also(
    lambda weights: _below(weights).sum(axis=-1) / weights.shape[-1] ** 2,
    lambda weights: _below(weights).sum(axis=-1) / (weights.shape[-1] - 1) ** 2,
    lambda weights: _below(weights).sum(axis=-1) / (weights.shape[-1] - 2),
    lambda weights: _below(weights).sum(axis=-1) / (weights.shape[-1] + 1),
    lambda weights: _below(weights).sum(axis=-1) / np.tril(np.ones(weights.shape[-2:]), -1).sum(),
)
def previous_divisor(weights):
    """The sum is right, but you divide it by the wrong number. Token 0 has no token before it, so there are n_tokens -
    1 weights in the sum: divide by that."""
    return _below(weights).sum(axis=-1) / weights.shape[-1]


def previous_summed(weights):
    """You add the weights up. Their mean does not grow with the sentence: divide by how many there are, n_tokens - 1,
    or take .mean(axis=-1)."""
    return _below(weights).sum(axis=-1)


@also(
    lambda weights: np.concatenate([weights[..., :1, -1], _below(weights)], axis=-1),
    lambda weights: np.concatenate([0 * weights[..., :1, 0], _below(weights)], axis=-1),
    lambda weights: (weights * np.eye(weights.shape[-1], k=-1)).sum(axis=-2),
    lambda weights: weights * np.eye(weights.shape[-1], k=-1),
)
def previous_not_averaged(weights):
    """These are the weights themselves, one for each token. Give one number for each head: their mean,
    .mean(axis=-1)."""
    return _below(weights)


def previous_listed(weights):
    """You collect one array for each token in a list, so the tokens' axis comes *first*: take the mean over axis 0, not
    over the last one, which holds the heads."""
    return np.mean([weights[..., i, i - 1] for i in range(1, weights.shape[-1])], axis=-1)


@also(lambda weights: _below(weights).min(axis=-1), lambda weights: np.median(_below(weights), axis=-1))
def previous_one_of_them(weights):
    """You return one of the weights: the largest, the smallest, or the one in the middle. Take the mean of them all: a
    head that looks back just once doesn't do so in general."""
    return _below(weights).max(axis=-1)


@also(lambda weights: weights[..., 1, 0], lambda weights: weights[..., -1, -2] / (weights.shape[-1] - 1))
def previous_one_token(weights):
    """You look at one token only, the last or the first that has one before it. Take the mean over all tokens but token
    0."""
    return weights[..., -1, -2]


@also(
    lambda weights: _below(_is_largest(weights)).sum(axis=-1) / weights.shape[-1],
    lambda weights: _below(_is_largest(weights)).sum(axis=-1),
    lambda weights: (_below(weights) > 0.5).mean(axis=-1),
    lambda weights: (_below(weights) * _below(_is_largest(weights))).mean(axis=-1),
)
def previous_how_often(weights):
    """You count how often the token before gets the largest weight (or more than half). Give how *much* it gets: the
    mean of the weights themselves."""
    return _below(_is_largest(weights)).mean(axis=-1)


def _mean_but_for_the_first(sums):
    return sums[..., 1:].mean(axis=-1)


@also(
    finish=(
        _mean_but_for_the_first,
        lambda sums: sums.mean(axis=-1),
        lambda sums: sums.sum(axis=-1),
        lambda sums: sums.mean(axis=-1) / sums.shape[-1],
        lambda sums: sums.sum(axis=-1) / np.tri(sums.shape[-1], k=-1).sum(),
        lambda sums: sums.sum(axis=-1) / np.tri(sums.shape[-1]).sum(),
    ),
    offset=(-1, 0),
)
def previous_all_before(weights, finish=_mean_but_for_the_first, offset=-1):
    """You take all tokens that come before, a triangle of the weights. Only the one *right* before counts, weights[...,
    i, i - 1]."""
    return finish(np.tril(weights, offset).sum(axis=-1))


@also(lambda weights: (_below(weights).sum(axis=-1) + _diagonal(weights, -2).sum(axis=-1)) / (weights.shape[-1] - 1))
def previous_two_before(weights):
    """You look two tokens back. The one right before token i is i - 1: offset=-1."""
    return _diagonal(weights, -2).mean(axis=-1)


@also(
    lambda weights: (_below(weights).mean(axis=-1) + _diagonal(weights, 1).mean(axis=-1)) / 2,
    lambda weights: _below(weights).mean(axis=-1) - _diagonal(weights, 1).mean(axis=-1),
)
def previous_both_neighbours(weights):
    """You count both neighbours, the token before and the one after. Only the one before is asked for."""
    return _below(weights).mean(axis=-1) + _diagonal(weights, 1).mean(axis=-1)


@also(
    lambda weights: weights[..., 1:, :-1].sum(axis=-1).mean(axis=-1),
    lambda weights: weights[..., 1:, :-1],
    lambda weights: weights[..., 1:, :-1].mean(axis=-1),
)
def previous_block(weights):
    """weights[..., 1:, :-1] is a whole block: tokens 1 to the last, each with *every* token but the last. What each
    gives to the one before it is the diagonal of this block."""
    return weights[..., 1:, :-1].mean(axis=(-2, -1))


def previous_whole_matrix(weights):
    """You average over every query and every key. Each row sums to 1, so this is 1 / n_tokens whatever the head looks
    at. Take out the diagonal below the main one first: weights[..., i, i - 1]."""
    return weights.mean(axis=(-2, -1))


@also(lambda weights: weights[..., 1:, 0].mean(axis=-1))
def previous_first_token(weights):
    """That is the weight on the first token, whoever looks. The token before moves along: for token i it is
    weights[..., i, i - 1]."""
    return weights[..., 0].mean(axis=-1)


@also(
    lambda weights: _diagonal(weights[..., ::-1], 0).mean(axis=-1),
    lambda weights: _diagonal(weights[..., ::-1], 1).mean(axis=-1),
)
def previous_other_diagonal(weights):
    """You walk down the other diagonal, from right to left. Token i's weight on the one before it is weights[..., i, i
    - 1]."""
    return _below(weights[..., ::-1]).mean(axis=-1)


@also(
    lambda weights: _below(weights)[..., 1:].mean(axis=-1),
    lambda weights: _below(weights)[..., :-1].mean(axis=-1),
    lambda weights: _below(_inside(weights)).mean(axis=-1),
)
def previous_ends_dropped(weights):
    """You leave out a token at one or both ends ([CLS] and [SEP], say). That may be wise, but here every token that has
    one before it counts: token 1 to the last, [SEP] included."""
    return _below(weights)[..., 1:-1].mean(axis=-1)


@also(
    lambda weights: np.log(_below(weights)).mean(axis=-1),
    lambda weights: -np.log(_below(weights)).mean(axis=-1),
    lambda weights: np.exp(np.log(_below(weights)).mean(axis=-1)),
    lambda weights: np.log(_below(weights)).sum(axis=-1),
    lambda weights: (_below(weights) ** 2).mean(axis=-1),
    lambda weights: np.sqrt((_below(weights) ** 2).mean(axis=-1)),
)
def previous_other_mean(weights):
    """You take another mean: a product, or a mean of logarithms. The plain one is asked for, .mean(axis=-1)."""
    return _below(weights).prod(axis=-1)


def previous_percent(weights):
    """That is in percent. A mean of weights is a number between 0 and 1."""
    return 100 * _below(weights).mean(axis=-1)


@also(lambda weights: _below(weights).mean(axis=-1)[..., None, None])
def previous_kept_axis(weights):
    """The number is right, but an axis of length 1 is left over. Both axes of tokens should go: leave keepdims=True
    out."""
    return _below(weights).mean(axis=-1, keepdims=True)


PREVIOUS_HEADS_AVERAGED = Mistake(
    "previous-heads-averaged",
    "You average over heads as well, or add them up. Measure each head by itself: only the last two axes go, and "
    "all those before them stay. .mean(axis=-1) leaves them alone.",
    tuple(over_heads(previous_token_score)),
)


PREVIOUS_ONE_HEAD = Mistake(
    "previous-one-head",
    "You measure only one head, the first or the last. There may be more, and each needs a number. `...` in an "
    "index stands for all the axes in front: weights[..., i, i - 1].",
    tuple(one_head_of_all(previous_token_score)),
)


@also(
    lambda weights: np.diagonal(weights, offset=-1).mean(),
    lambda weights: np.mean(_pairs_in_front(weights, len(weights)), axis=0),
    lambda weights: sum(_pairs_in_front(weights, len(weights))) / (len(weights) - 1),
    lambda weights: weights[np.arange(1, len(weights)), np.arange(len(weights) - 1)].mean(axis=-1),
    lambda weights: np.mean(_pairs_in_front(weights, weights.shape[-1])),
    lambda weights: np.mean(_pairs_in_front(weights, weights.shape[-1]), axis=0),
    lambda weights: weights[_places(weights)].mean(axis=-1),
    lambda weights: np.trace(weights, offset=-1) / (weights.shape[-1] - 1),
    lambda weights: _below(weights).mean(axis=0),
    lambda weights: sum(weights[..., i, i - 1] for i in range(1, len(weights))) / (len(weights) - 1),
)
def previous_first_axes(weights):
    """You go along the first axes, but if there are layers and heads, these are the first axes. The tokens are the
    *last* two: weights[..., i, i - 1], or np.diagonal with axis1=-2, axis2=-1; and n_tokens is weights.shape[-1]."""
    return np.diagonal(weights, offset=-1).mean(axis=-1)


PREVIOUS_FIXED_AXES = Mistake(
    "previous-fixed-axes",
    "It fits one number of axes only. There may be layers and heads in front, sentences too, or nothing: `...` "
    "stands for all of them, as in weights[..., i, i - 1], and n_tokens is weights.shape[-1].",
    (
        *only_so_many_axes(previous_token_score),
        lambda weights: np.diag(weights, k=-1).mean(),
        lambda weights: np.diagonal(weights, -1, 1, 2).mean(axis=-1),
        lambda weights: np.diagonal(weights, -1, 2, 3).mean(axis=-1),
        lambda weights: np.mean([weights[:, i, i - 1] for i in range(1, weights.shape[-1])], axis=0),
        lambda weights: np.mean([weights[:, :, i, i - 1] for i in range(1, weights.shape[-1])], axis=0),
        lambda weights: weights[:, :, *_places(weights)].mean(axis=-1),
        lambda weights: [[np.diag(head, k=-1).mean() for head in layer] for layer in weights],
        lambda weights: [np.diag(head, k=-1).mean() for head in weights],
    ),
)
