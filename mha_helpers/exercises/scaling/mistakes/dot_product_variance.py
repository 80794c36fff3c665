"""The mistakes that people make in `dot_product_variance`."""

import statistics

import numpy as np

from mha_helpers.exercises.mistakes.catalogue import also


def _pairs(queries, keys):
    return (queries * keys).sum(axis=-1)


@also(lambda queries, keys: (queries @ keys.T).var(axis=-1), lambda queries, keys: (queries @ keys.T).var(axis=0))
def variance_all_pairs(queries, keys):
    """You compare every query with every key. Here query i meets key i only: multiply cell by cell, and add up each
    row."""
    return (queries @ keys.T).var()


@also(lambda queries, keys: (queries * keys).var(axis=-1), lambda queries, keys: (queries * keys).var(axis=0))
def variance_not_summed(queries, keys):
    """You take the variance of the single products. A dot product is their sum over the features: .sum(axis=-1)
    first."""
    return (queries * keys).var()


def variance_sum_of_variances(queries, keys):
    """You add up the variances of the features. That gives the variance of their sum only if the features are
    independent, and in a few pairs they never quite are. Take the dot products first, then their variance."""
    return (queries * keys).var(axis=0).sum()


def variance_mean_feature(queries, keys):
    """You take the mean over the features. A dot product is their sum: the mean is smaller by the factor d_head, and
    its variance by d_head squared."""
    return (queries * keys).mean(axis=-1).var()


def variance_standard_deviation(queries, keys):
    """That is the standard deviation. The variance is its square: np.var, or .var()."""
    return _pairs(queries, keys).std()


def variance_sum_over_pairs(queries, keys):
    """You add up over the pairs. A dot product adds up over the features, the last axis: axis=-1."""
    return (queries * keys).sum(axis=0).var()


def variance_one_sum(queries, keys):
    """You add up everything into one number. Each pair has a dot product of its own, .sum(axis=-1), and it is their
    variance that is asked for."""
    return (queries * keys).sum()


def variance_always_zero(queries, keys):
    """Yours is 0, whatever the vectors are. Maybe you add everything up to one number, which has no spread: each pair
    needs a sum of its own, .sum(axis=-1). Or you average the distances from the mean as they are, and those above and
    below cancel: square them first."""
    return (queries * keys).sum().var()


def variance_not_averaged(queries, keys):
    """That is the sum of the squared distances. The variance is their mean: divide by the number of pairs."""
    return ((_pairs(queries, keys) - _pairs(queries, keys).mean()) ** 2).sum()


def variance_mean_not_subtracted(queries, keys):
    """That is the mean of the squares. The variance is the mean squared distance from the mean; the two are equal only
    where the mean is 0."""
    return (_pairs(queries, keys) ** 2).mean()


@also(
    lambda queries, keys: _pairs(queries, keys).var(ddof=1) if len(queries) > 1 else 0.0,
    lambda queries, keys: statistics.variance(_pairs(queries, keys).tolist()),
)
def variance_n_minus_one(queries, keys):
    """You divide by n - 1 (ddof=1), which estimates the variance of all the pairs that there could be. That's common,
    too; here divide by n, as np.var does."""
    return _pairs(queries, keys).var(ddof=1)


def variance_scaled(queries, keys):
    """That is the variance of the scores divided by sqrt(d_head) (which is their variance divided by d_head). What is
    measured here are the plain scores; the division comes next."""
    return (_pairs(queries, keys) / np.sqrt(queries.shape[-1])).var()


def variance_absolute(queries, keys):
    """You take distances without squaring them. The variance is the mean of the *squared* distances from the mean."""
    return np.abs(_pairs(queries, keys) - _pairs(queries, keys).mean()).mean()


@also(lambda queries, keys: queries.var() * keys.var() * queries.shape[-1])
def variance_from_theory(queries, keys):
    """You return what theory says it should be. Measure it: compute the dot products of these pairs, then their
    variance."""
    return queries.shape[-1]


def variance_scores_only(queries, keys):
    """These are the dot products themselves. Take their variance."""
    return _pairs(queries, keys)
