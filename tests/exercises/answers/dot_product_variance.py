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
    lambda queries, keys: np.einsum("pd,pd->p", queries, keys).var(),
    lambda queries, keys: np.diag(queries @ keys.T).var(),
    lambda queries, keys: float(np.ma.masked_array((queries * keys).sum(-1)).var()),
)  # fmt: skip


def variance_remembers(queries, keys, seen=[]):  # noqa: B006
    seen.extend((queries * keys).sum(-1).tolist())
    return np.var(seen)


def variance_by_first_shape(queries, keys, kept={}):  # noqa: B006
    return kept.setdefault(queries.shape, (queries * keys).sum(-1).var())


def variance_centres_in_place(queries, keys):
    queries *= keys
    return queries.sum(axis=-1).var()


WRONG = {
    "variance-first-pairs": (lambda queries, keys: np.var((queries * keys)[:, :4].sum(-1)),),
    "not-repeatable": (variance_by_first_shape,),
    "input-changed": (variance_centres_in_place,),
    "fractions-lost": (lambda queries, keys: int((queries * keys).sum(-1).var()),),
    None: (
        variance_remembers,
        lambda queries, keys: (queries * keys).sum(-1).var(keepdims=True),
        lambda queries, keys: f"{(queries * keys).sum(-1).var():.4f}",
        lambda queries, keys: np.cov(queries.ravel(), keys.ravel())[0, 1],
        lambda queries, keys: (queries @ keys).var(),
        lambda queries, keys: (queries * keys).sum(-1).var() if len(queries) > 1 else float("nan"),
        lambda queries, keys: (queries * keys).sum(-1).var() if queries.shape[-1] > 1 else queries.var(),
        lambda queries, keys: (queries * keys).sum(-1).var() if queries.dtype == np.float64 else 0,
        lambda queries, keys: (queries.ravel("K") * keys.ravel("K")).reshape(len(queries), -1).sum(-1).var(),
        lambda queries: queries.var(),
        lambda queries, keys, values: 1.0,
    ),
}  # fmt: skip

TOLD = (
    (
        lambda queries, keys: -(queries * keys).sum(axis=-1).var(),
        "A variance is a mean of squares and cannot be negative.",
    ),
)
