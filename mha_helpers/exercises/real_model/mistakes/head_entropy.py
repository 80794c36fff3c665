"""The mistakes that people make in `head_entropy`."""

import math

import numpy as np

from function_judge.catalogue import Mistake
from mha_helpers.attention import softmax
from mha_helpers.exercises.mistakes.catalogue import also
from mha_helpers.exercises.mistakes.steps import normalised, swap
from mha_helpers.exercises.real_model.mistakes.measured_weights import one_head_of_all, only_so_many_axes, over_heads
from mha_helpers.measures import head_entropy


def _logarithms(weights):
    return np.log(np.where(weights > 0, weights, 1))


def _terms(weights):
    return -weights * _logarithms(weights)


def _rows(weights):
    return _terms(weights).sum(axis=-1)


def _naive(weights):
    return -(weights * np.log(weights)).sum(axis=-1)


def _by_single_numbers(weights):
    return -(weights * np.vectorize(math.log)(weights)).sum(axis=-1).mean(axis=-1)


def _most(weights):
    """The largest entropy that a row can have."""
    return math.log(weights.shape[-1])


def _clipped_to_one(weights, epsilon):
    return weights.clip(epsilon, 1 - epsilon)


def _replaced(weights, epsilon):
    return np.where(weights == 0, epsilon, weights)


EPSILONS = (0.1, 0.01, 1e-3, 1e-4, 1e-5)


@also(
    *(lambda weights, epsilon=epsilon: _rows(normalised(weights + epsilon)).mean(axis=-1) for epsilon in EPSILONS),
    epsilon=EPSILONS,
    guard=(np.add, np.maximum, _clipped_to_one, _replaced),
)
@also(epsilon=EPSILONS, guard=(np.add, _clipped_to_one), outside=(lambda weights, guarded: weights,))
def entropy_epsilon(weights, epsilon=0.1, guard=np.add, outside=lambda weights, guarded: guarded):
    """The small number that you add to keep the logarithm away from 0 isn't small enough: it changes the result. 1e-12
    doesn't, and np.log(np.where(weights > 0, weights, 1)) needs none."""
    guarded = guard(weights, epsilon)
    return -(outside(weights, guarded) * np.log(guarded)).sum(axis=-1).mean(axis=-1)


def entropy_float32(weights):
    """It is right in float64 but not in float32, whose smallest number is about 1e-45. A number such as 1e-300 becomes
    0 there, and log(0) is -infinity again. Give np.log a 1 where a weight is 0: np.log(np.where(weights > 0, weights,
    1))."""
    return -(weights * np.log(weights + weights.dtype.type(1e-300))).sum(axis=-1).mean(axis=-1)


@also(_by_single_numbers)
def entropy_nan(weights):
    """Right where no weight is 0. The logarithm of 0 is -infinity, and 0 times that is NaN. But masked weights are 0,
    and must add 0. Give np.log a 1 in its place: np.log(np.where(weights > 0, weights, 1))."""
    return _naive(weights).mean(axis=-1)


@also(
    lambda weights: np.nan_to_num(_naive(weights)).mean(axis=-1),
    lambda weights: np.nan_to_num(_naive(weights).mean(axis=-1)),
)
def entropy_rows_lost(weights):
    """A row with a weight of 0 in it comes out as NaN, and then you leave the whole row out, or call its entropy 0.
    Only the *term* of that weight is 0: set it to 0 before you add up the row."""
    return np.nanmean(_naive(weights), axis=-1)


def entropy_no_minus(weights):
    """The minus is missing: logarithms of numbers below 1 are negative, and an entropy is not. -sum p log(p)."""
    return -_rows(weights).mean(axis=-1)


@also(lambda weights: _rows(weights).mean(axis=-1) / math.log(10))
def entropy_base(weights):
    """You take another logarithm, of base 2 or 10. In nats it is the natural one: np.log."""
    return _rows(weights).mean(axis=-1) / math.log(2)


@also(lambda weights: (weights * np.log1p(weights)).sum(axis=-1).mean(axis=-1))
def entropy_log1p(weights):
    """np.log1p(p) is log(1 + p), which is something else. A weight of 0 needs no 1 added: its term is 0."""
    return -(weights * np.log1p(weights)).sum(axis=-1).mean(axis=-1)


@also(lambda weights: -np.log(weights).mean(axis=-1).mean(axis=-1))
def entropy_without_p(weights):
    """That is the mean (or the sum) of -log(p). Each logarithm counts with its weight: -sum p log(p)."""
    return -np.log(weights).sum(axis=-1).mean(axis=-1)


@also(
    lambda weights: 1 - (weights**2).sum(axis=-1).mean(axis=-1),
    lambda weights: -(weights**2).sum(axis=-1).mean(axis=-1),
    lambda weights: 1 / (weights**2).sum(axis=-1).mean(axis=-1),
    lambda weights: (1 / (weights**2).sum(axis=-1)).mean(axis=-1),
)
def entropy_without_log(weights):
    """Yours has squares and no logarithm: the sum of p * p, or 1 minus that. That measures sharpness, too, but the
    entropy is -sum p log(p)."""
    return (weights**2).sum(axis=-1).mean(axis=-1)


@also(lambda weights: (_terms(weights) + _terms(1 - weights)).mean(axis=-1).mean(axis=-1))
def entropy_both_outcomes(weights):
    """You add -(1 - p) log(1 - p), as you would for the toss of a coin. Here the keys of a row are the outcomes, and
    each of them adds -p log(p) only."""
    return (_rows(weights) + _rows(1 - weights)).mean(axis=-1)


def entropy_of_mean_row(weights):
    """You average the rows first, and take the entropy of that. If each query looks at a key of its own, the rows are
    sharp, but their mean isn't. First take each row's entropy, then the mean."""
    return _rows(weights.mean(axis=-2))


def entropy_summed(weights):
    """You add up over the queries. Their mean does not grow with the sentence: .sum(axis=-1) over the keys, then
    .mean(axis=-1) over the queries."""
    return _rows(weights).sum(axis=-1)


def entropy_mean_over_keys(weights):
    """You average over the keys as well. Over the keys it is a sum, as in -sum p log(p), and over the queries a
    mean."""
    return _terms(weights).mean(axis=(-2, -1))


@also(lambda weights: _rows(swap(normalised(weights, -2))).mean(axis=-1), lambda weights: _terms(weights).sum(axis=-2))
def entropy_over_queries(weights):
    """You add up down the columns, over the queries. Each *row* of weights sums to 1 and has an entropy: .sum(axis=-1)
    first, then the mean over the queries."""
    return _terms(weights).sum(axis=-2).mean(axis=-1)


def entropy_whole_matrix(weights):
    """You treat the whole matrix as one row. Each query has weights of its own that sum to 1: an entropy for each row,
    then the mean."""
    return _terms(weights / weights.shape[-2]).sum(axis=(-2, -1))


@also(_terms)
def entropy_not_averaged(weights):
    """These are the entropies of the rows, one for each query. Give one number for each head: their mean,
    .mean(axis=-1)."""
    return _rows(weights)


@also(lambda weights: _rows(weights)[..., 0])
def entropy_one_query(weights):
    """You look at one query only, the last or the first. Take the mean over all of them."""
    return _rows(weights)[..., -1]


@also(lambda weights: _rows(weights).min(axis=-1), lambda weights: np.median(_rows(weights), axis=-1))
def entropy_one_of_them(weights):
    """You return one of the rows' entropies: the largest, the smallest, or the one in the middle. Take their mean."""
    return _rows(weights).max(axis=-1)


@also(
    lambda weights: np.exp(_rows(weights).mean(axis=-1)),
    lambda weights: 2 ** (_rows(weights).mean(axis=-1) / math.log(2)) - 1,
)
def entropy_perplexity(weights):
    """That is exp of the entropy: the number of keys that share the attention, so to speak. Give the entropy itself;
    leave the exp out."""
    return np.exp(_rows(weights)).mean(axis=-1)


@also(
    lambda weights: 1 - _rows(weights).mean(axis=-1) / np.float64(_most(weights)),
    lambda weights: _rows(weights).mean(axis=-1) / np.log2(weights.shape[-1]),
    lambda weights: _most(weights) - _rows(weights).mean(axis=-1),
)
def entropy_as_a_share(weights):
    """You compare it with the largest entropy there can be, log(n_keys). That's useful for comparing sentences of
    different lengths, but here you should return the plain entropy, in nats."""
    return _rows(weights).mean(axis=-1) / np.float64(_most(weights))


@also(lambda weights: -(weights * np.log(softmax(weights))).sum(axis=-1).mean(axis=-1))
def entropy_softmax_again(weights):
    """You put the weights through softmax once more, which evens them out. They are probabilities already."""
    return _rows(softmax(weights)).mean(axis=-1)


@also(lambda weights: _rows(weights).mean(axis=-1)[..., None, None])
def entropy_kept_axis(weights):
    """The number is right, but an axis of length 1 is left over. The axes of both keys and queries should go: leave
    keepdims=True out."""
    return _rows(weights).mean(axis=-1, keepdims=True)


ENTROPY_HEADS_AVERAGED = Mistake(
    "entropy-heads-averaged",
    "You average over heads as well, or add them up. Measure each head by itself: only the last two axes go, and "
    "all those before them stay. .mean(axis=-1) leaves them alone.",
    tuple(over_heads(head_entropy)),
)


ENTROPY_ONE_HEAD = Mistake(
    "entropy-one-head",
    "You measure only one head, the first or the last. There may be more, and each needs a number.",
    tuple(one_head_of_all(head_entropy)),
)


@also(
    lambda weights: _terms(weights).sum(axis=1).mean(),
    lambda weights: _terms(weights).sum() / len(weights),
    lambda weights: _rows(weights).mean(axis=0),
    lambda weights: [_terms(row).sum() for row in weights],
)
def entropy_first_axes(weights):
    """You count axes from the front, but if there are layers and heads, these come first. The keys are the last axis,
    and the queries are the one before: .sum(axis=-1), then .mean(axis=-1)."""
    return _terms(weights).sum(axis=1).mean(axis=0)


ENTROPY_FIXED_AXES = Mistake(
    "entropy-fixed-axes",
    "It fits one number of axes only. There may be layers and heads in front, sentences too, or nothing: count "
    "axes from the end, as in axis=-1.",
    (
        *only_so_many_axes(head_entropy),
        lambda weights: _terms(weights).sum(axis=2).mean(axis=1),
        lambda weights: _terms(weights).sum(axis=3).mean(axis=2),
        lambda weights: [[_rows(head).mean() for head in layer] for layer in weights],
        lambda weights: [_rows(head).mean() for head in weights],
    ),
)
