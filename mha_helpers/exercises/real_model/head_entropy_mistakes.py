"""The mistakes that people make in `head_entropy`."""

import math

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.real_model.measured_weights import one_head_of_all, only_so_many_axes, over_heads
from mha_helpers.exercises.steps import normalised, swap
from mha_helpers.maths.attention import softmax
from mha_helpers.maths.measures import head_entropy


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


def _with(epsilon):
    """Return entropies with a number added to every weight, or put in place of smaller ones."""

    def entropies(inside, outside):
        return lambda weights: -(outside(weights) * np.log(inside(weights))).sum(axis=-1).mean(axis=-1)

    def same(weights):
        return weights

    def added(weights):
        return weights + epsilon

    def clipped(weights):
        return weights.clip(epsilon)

    def clipped_to_one(weights):
        return weights.clip(epsilon, 1 - epsilon)

    def replaced(weights):
        return np.where(weights == 0, epsilon, weights)

    return (
        *(entropies(change, same) for change in (added, clipped_to_one)),
        *(entropies(change, change) for change in (added, clipped, clipped_to_one, replaced)),
        lambda weights: _rows(normalised(weights + epsilon, -1)).mean(axis=-1),
    )


def _in_the_weights_own_type(epsilon):
    """Return entropies guarded by a number that is rounded to the type of the weights."""

    def guarded(guard):
        return lambda weights: -(weights * np.log(guard(weights, weights.dtype.type(epsilon)))).sum(-1).mean(-1)

    return guarded(np.add), guarded(np.maximum), guarded(lambda weights, number: np.where(weights > 0, weights, number))


ENTROPY_MISTAKES = (
    Mistake(
        "entropy-epsilon",
        "The small number that you add to keep the logarithm away from 0 isn't small enough: it changes the result. "
        "1e-12 doesn't, and np.log(np.where(weights > 0, weights, 1)) needs none.",
        tuple(wrong for epsilon in (0.1, 0.01, 1e-3, 1e-4, 1e-5) for wrong in _with(epsilon)),
    ),
    Mistake(
        "entropy-float32",
        "It is right in float64 but not in float32, whose smallest number is about 1e-45. A number such as 1e-300 "
        "becomes 0 there, and log(0) is -infinity again. Give np.log a 1 where a weight is 0: np.log(np.where(weights "
        "> 0, weights, 1)).",
        tuple(wrong for epsilon in (1e-300, 1e-100) for wrong in _in_the_weights_own_type(epsilon)),
    ),
    Mistake(
        "entropy-nan",
        "Right where no weight is 0. The logarithm of 0 is -infinity, and 0 times that is NaN. But masked weights are "
        "0, and must add 0. Give np.log a 1 in its place: np.log(np.where(weights > 0, weights, 1)).",
        (
            lambda weights: _naive(weights).mean(axis=-1),
            _by_single_numbers,
            lambda weights: -(weights * np.where(weights > 0, np.log(weights), -np.inf)).sum(axis=-1).mean(axis=-1),
        ),
    ),
    Mistake(
        "entropy-rows-lost",
        "A row with a weight of 0 in it comes out as NaN, and then you leave the whole row out, or call its entropy 0. "
        "Only the *term* of that weight is 0: set it to 0 before you add up the row.",
        (
            lambda weights: np.nanmean(_naive(weights), axis=-1),
            lambda weights: np.nan_to_num(_naive(weights)).mean(axis=-1),
            lambda weights: np.nan_to_num(_naive(weights).mean(axis=-1)),
        ),
    ),
    Mistake(
        "entropy-no-minus",
        "The minus is missing: logarithms of numbers below 1 are negative, and an entropy is not. -sum p log(p).",
        (lambda weights: -_rows(weights).mean(axis=-1),),
    ),
    Mistake(
        "entropy-base",
        "You take another logarithm, of base 2 or 10. In nats it is the natural one: np.log.",
        (
            lambda weights: _rows(weights).mean(axis=-1) / math.log(2),
            lambda weights: _rows(weights).mean(axis=-1) / math.log(10),
        ),
    ),
    Mistake(
        "entropy-log1p",
        "np.log1p(p) is log(1 + p), which is something else. A weight of 0 needs no 1 added: its term is 0.",
        (
            lambda weights: -(weights * np.log1p(weights)).sum(axis=-1).mean(axis=-1),
            lambda weights: (weights * np.log1p(weights)).sum(axis=-1).mean(axis=-1),
        ),
    ),
    Mistake(
        "entropy-without-p",
        "That is the mean (or the sum) of -log(p). Each logarithm counts with its weight: -sum p log(p).",
        (
            lambda weights: -np.log(weights).sum(axis=-1).mean(axis=-1),
            lambda weights: -np.log(weights).mean(axis=-1).mean(axis=-1),
            lambda weights: -_logarithms(weights).sum(axis=-1).mean(axis=-1),
            lambda weights: -_logarithms(weights).mean(axis=-1).mean(axis=-1),
        ),
    ),
    Mistake(
        "entropy-without-log",
        "Yours has squares and no logarithm: the sum of p * p, or 1 minus that. That measures sharpness, too, but the "
        "entropy is -sum p log(p).",
        (
            lambda weights: (weights**2).sum(axis=-1).mean(axis=-1),
            lambda weights: 1 - (weights**2).sum(axis=-1).mean(axis=-1),
            lambda weights: -(weights**2).sum(axis=-1).mean(axis=-1),
            lambda weights: 1 / (weights**2).sum(axis=-1).mean(axis=-1),
            lambda weights: (1 / (weights**2).sum(axis=-1)).mean(axis=-1),
        ),
    ),
    Mistake(
        "entropy-both-outcomes",
        "You add -(1 - p) log(1 - p), as you would for the toss of a coin. Here the keys of a row are the outcomes, "
        "and each of them adds -p log(p) only.",
        (
            lambda weights: (_rows(weights) + _rows(1 - weights)).mean(axis=-1),
            lambda weights: (_terms(weights) + _terms(1 - weights)).mean(axis=-1).mean(axis=-1),
        ),
    ),
    Mistake(
        "entropy-of-mean-row",
        "You average the rows first, and take the entropy of that. If each query looks at a key of its own, the rows "
        "are sharp, but their mean isn't. First take each row's entropy, then the mean.",
        (lambda weights: _rows(weights.mean(axis=-2)),),
    ),
    Mistake(
        "entropy-summed",
        "You add up over the queries. Their mean does not grow with the sentence: .sum(axis=-1) over the keys, then "
        ".mean(axis=-1) over the queries.",
        (lambda weights: _rows(weights).sum(axis=-1),),
    ),
    Mistake(
        "entropy-mean-over-keys",
        "You average over the keys as well. Over the keys it is a sum, as in -sum p log(p), and over the queries a "
        "mean.",
        (lambda weights: _terms(weights).mean(axis=(-2, -1)),),
    ),
    Mistake(
        "entropy-over-queries",
        "You add up down the columns, over the queries. Each *row* of weights sums to 1 and has an entropy: "
        ".sum(axis=-1) first, then the mean over the queries.",
        (
            lambda weights: _terms(weights).sum(axis=-2).mean(axis=-1),
            lambda weights: _rows(swap(normalised(weights, -2))).mean(axis=-1),
            lambda weights: _terms(weights).sum(axis=-2),
        ),
    ),
    Mistake(
        "entropy-whole-matrix",
        "You treat the whole matrix as one row. Each query has weights of its own that sum to 1: an entropy for each "
        "row, then the mean.",
        (
            lambda weights: _terms(weights / weights.shape[-2]).sum(axis=(-2, -1)),
            lambda weights: _terms(weights / weights.sum()).sum(),
        ),
    ),
    Mistake(
        "entropy-not-averaged",
        "These are the entropies of the rows, one for each query. Give one number for each head: their mean, "
        ".mean(axis=-1).",
        (_rows, _terms),
    ),
    Mistake(
        "entropy-one-query",
        "You look at one query only, the last or the first. Take the mean over all of them.",
        (
            lambda weights: _rows(weights)[..., -1],
            lambda weights: _rows(weights)[..., 0],
        ),
    ),
    Mistake(
        "entropy-one-of-them",
        "You return one of the rows' entropies: the largest, the smallest, or the one in the middle. Take their mean.",
        (
            lambda weights: _rows(weights).max(axis=-1),
            lambda weights: _rows(weights).min(axis=-1),
            lambda weights: np.median(_rows(weights), axis=-1),
        ),
    ),
    Mistake(
        "entropy-perplexity",
        "That is exp of the entropy: the number of keys that share the attention, so to speak. Give the entropy "
        "itself; leave the exp out.",
        (
            lambda weights: np.exp(_rows(weights)).mean(axis=-1),
            lambda weights: np.exp(_rows(weights).mean(axis=-1)),
            lambda weights: 2 ** (_rows(weights).mean(axis=-1) / math.log(2)) - 1,
        ),
    ),
    Mistake(
        "entropy-as-a-share",
        "You compare it with the largest entropy there can be, log(n_keys). That's useful for comparing sentences of "
        "different lengths, but here you should return the plain entropy, in nats.",
        (
            lambda weights: _rows(weights).mean(axis=-1) / np.float64(_most(weights)),
            lambda weights: 1 - _rows(weights).mean(axis=-1) / np.float64(_most(weights)),
            lambda weights: _rows(weights).mean(axis=-1) / (_most(weights) or 1),
            lambda weights: 1 - _rows(weights).mean(axis=-1) / (_most(weights) or 1),
            lambda weights: _rows(weights).mean(axis=-1) / np.log2(weights.shape[-1]),
            lambda weights: _most(weights) - _rows(weights).mean(axis=-1),
        ),
    ),
    Mistake(
        "entropy-softmax-again",
        "You put the weights through softmax once more, which evens them out. They are probabilities already.",
        (
            lambda weights: _rows(softmax(weights)).mean(axis=-1),
            lambda weights: -(weights * np.log(softmax(weights))).sum(axis=-1).mean(axis=-1),
        ),
    ),
    Mistake(
        "entropy-kept-axis",
        "The number is right, but an axis of length 1 is left over. The axes of both keys and queries should go: "
        "leave keepdims=True out.",
        (
            lambda weights: _rows(weights).mean(axis=-1, keepdims=True),
            lambda weights: _rows(weights).mean(axis=-1)[..., None, None],
        ),
    ),
    Mistake(
        "entropy-heads-averaged",
        "You average over heads as well, or add them up. Measure each head by itself: only the last two axes go, and "
        "all those before them stay. .mean(axis=-1) leaves them alone.",
        over_heads(head_entropy),
    ),
    Mistake(
        "entropy-one-head",
        "You measure only one head, the first or the last. There may be more, and each needs a number.",
        one_head_of_all(head_entropy),
    ),
    Mistake(
        "entropy-first-axes",
        "You count axes from the front, but if there are layers and heads, these come first. The keys are the last "
        "axis, and the queries are the one before: .sum(axis=-1), then .mean(axis=-1).",
        (
            lambda weights: _terms(weights).sum(axis=1).mean(axis=0),
            lambda weights: _terms(weights).sum(axis=1).mean(),
            lambda weights: _terms(weights).sum() / len(weights),
            lambda weights: _rows(weights).mean(axis=0),
            lambda weights: [_terms(row).sum() for row in weights],
            lambda weights: np.mean([_terms(row).sum() for row in weights]),
        ),
    ),
    Mistake(
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
    ),
)
