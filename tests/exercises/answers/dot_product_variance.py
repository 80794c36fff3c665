"""Answers to dot_product_variance: right ones in many styles, and wrong ones."""

import statistics
from fractions import Fraction

import numpy as np

TELLING_CASE = ("many pairs", 2)


def variance_loops(queries, keys):
    scores = []
    for query, key in zip(queries, keys, strict=True):
        score = 0
        for a, b in zip(query, key, strict=True):
            score += a * b
        scores.append(score)
    mean = sum(scores) / len(scores)
    return sum((score - mean) ** 2 for score in scores) / len(scores)


def variance_fractions(queries, keys):
    scores = [
        sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(*pair, strict=True))
        for pair in zip(queries, keys, strict=True)
    ]
    return statistics.pvariance(scores)


def variance_float32(queries, keys):
    return np.var(np.sum(queries.astype(np.float32) * keys.astype(np.float32), axis=1))


RIGHT = (
    variance_loops,
    variance_fractions,
    variance_float32,
    lambda queries, keys: float(np.ma.masked_array((queries * keys).sum(-1)).var()),
)


def variance_by_first_shape(queries, keys, kept={}):  # noqa: B006
    return kept.setdefault(queries.shape, (queries * keys).sum(-1).var())


def variance_of_a_sample(queries, keys):
    """A single pair has none, and stops with an error of its own."""
    return statistics.variance([float(query @ key) for query, key in zip(queries, keys, strict=True)])


WRONG = {
    "variance-n-minus-one": (variance_of_a_sample,),
    "variance-first-pairs": (
        lambda queries, keys: np.var((queries * keys)[:, :4].sum(-1)),
        lambda queries, keys: (queries * keys).sum(axis=-1)[:100].var(),
        lambda queries, keys: (queries * keys).sum(axis=-1)[:20].var(),
    ),
    "not-repeatable": (variance_by_first_shape,),
    None: (
        lambda queries, keys: (queries * keys).sum(-1).var() if len(queries) > 1 else float("nan"),
        lambda queries, keys: (queries * keys).sum(-1).var() if queries.shape[-1] > 1 else queries.var(),
        lambda queries, keys: (queries * keys).sum(-1).var() if queries.dtype == np.float64 else 0,
        lambda queries, keys: (queries.ravel("K") * keys.ravel("K")).reshape(len(queries), -1).sum(-1).var(),
    ),
}

TOLD = (
    (
        lambda queries, keys: -(queries * keys).sum(axis=-1).var(),
        "A variance is a mean of squares and cannot be negative.",
    ),
)
