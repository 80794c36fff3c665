"""The mistakes that people make in `dot_product_variance`."""

import statistics

import numpy as np

from mha_helpers.exercises.engine import Mistake


def _pairs(queries, keys):
    return (queries * keys).sum(axis=-1)


VARIANCE_MISTAKES = (
    Mistake(
        "variance-all-pairs",
        "You compare every query with every key. Here query i meets key i only: multiply cell by cell, and add up each "
        "row.",
        (
            lambda queries, keys: (queries @ keys.T).var(),
            lambda queries, keys: (queries @ keys.T).var(axis=-1),
            lambda queries, keys: (queries @ keys.T).var(axis=0),
        ),
    ),
    Mistake(
        "variance-not-summed",
        "You take the variance of the single products. A dot product is their sum over the features: "
        ".sum(axis=-1) first.",
        (
            lambda queries, keys: (queries * keys).var(),
            lambda queries, keys: (queries * keys).var(axis=-1),
            lambda queries, keys: (queries * keys).var(axis=0),
        ),
    ),
    Mistake(
        "variance-sum-of-variances",
        "You add up the variances of the features. That gives the variance of their sum only if the features are "
        "independent, and in a few pairs they never quite are. Take the dot products first, then their variance.",
        (lambda queries, keys: (queries * keys).var(axis=0).sum(),),
    ),
    Mistake(
        "variance-mean-feature",
        "You take the mean over the features. A dot product is their sum: the mean is smaller by the factor d_head, "
        "and its variance by d_head squared.",
        (lambda queries, keys: (queries * keys).mean(axis=-1).var(),),
    ),
    Mistake(
        "variance-standard-deviation",
        "That is the standard deviation. The variance is its square: np.var, or .var().",
        (lambda queries, keys: _pairs(queries, keys).std(),),
    ),
    Mistake(
        "variance-sum-over-pairs",
        "You add up over the pairs. A dot product adds up over the features, the last axis: axis=-1.",
        (lambda queries, keys: (queries * keys).sum(axis=0).var(),),
    ),
    Mistake(
        "variance-one-sum",
        "You add up everything into one number. Each pair has a dot product of its own, .sum(axis=-1), and it is their "
        "variance that is asked for.",
        (lambda queries, keys: (queries * keys).sum(),),
    ),
    Mistake(
        "variance-always-zero",
        "Yours is 0, whatever the vectors are. Maybe you add everything up to one number, which has no spread: each "
        "pair needs a sum of its own, .sum(axis=-1). Or you average the distances from the mean as they are, and "
        "those above and below cancel: square them first.",
        (
            lambda queries, keys: (queries * keys).sum().var(),
            lambda queries, keys: (_pairs(queries, keys) - _pairs(queries, keys).mean()).mean(),
        ),
    ),
    Mistake(
        "variance-not-averaged",
        "That is the sum of the squared distances. The variance is their mean: divide by the number of pairs.",
        (lambda queries, keys: ((_pairs(queries, keys) - _pairs(queries, keys).mean()) ** 2).sum(),),
    ),
    Mistake(
        "variance-mean-not-subtracted",
        "That is the mean of the squares. The variance is the mean squared distance from the mean; the two are equal "
        "only where the mean is 0.",
        (lambda queries, keys: (_pairs(queries, keys) ** 2).mean(),),
    ),
    Mistake(
        "variance-n-minus-one",
        "You divide by n - 1 (ddof=1), which estimates the variance of all the pairs that there could be. That's "
        "common, too; here divide by n, as np.var does.",
        (
            lambda queries, keys: _pairs(queries, keys).var(ddof=1),
            lambda queries, keys: _pairs(queries, keys).var(ddof=1) if len(queries) > 1 else 0.0,
            lambda queries, keys: statistics.variance(_pairs(queries, keys).tolist()),
        ),
    ),
    Mistake(
        "variance-scaled",
        "That is the variance of the scores divided by sqrt(d_head) (which is their variance divided by d_head). What "
        "is measured here are the plain scores; the division comes next.",
        (lambda queries, keys: (_pairs(queries, keys) / np.sqrt(queries.shape[-1])).var(),),
    ),
    Mistake(
        "variance-absolute",
        "You take distances without squaring them. The variance is the mean of the *squared* distances from the mean.",
        (lambda queries, keys: np.abs(_pairs(queries, keys) - _pairs(queries, keys).mean()).mean(),),
    ),
    Mistake(
        "variance-from-theory",
        "You return what theory says it should be. Measure it: compute the dot products of these pairs, then their "
        "variance.",
        (
            lambda queries, keys: queries.shape[-1],
            lambda queries, keys: queries.var() * keys.var() * queries.shape[-1],
        ),
    ),
    Mistake(
        "variance-scores-only",
        "These are the dot products themselves. Take their variance.",
        (_pairs,),
    ),
)
