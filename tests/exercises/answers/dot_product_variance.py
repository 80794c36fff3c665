"""Answers to dot_product_variance: right ones in many styles, and wrong ones."""

import statistics
from fractions import Fraction

import numpy as np

from mha_helpers.maths.attention import softmax
from mha_helpers.maths.measures import dot_product_variance

CATALOGUE = ()

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


def variance_welford(queries, keys):
    mean, total = 0.0, 0.0
    for count, (query, key) in enumerate(zip(queries, keys, strict=True), 1):
        score = query @ key
        step = score - mean
        mean += step / count
        total += step * (score - mean)
    return total / count


def variance_from_pairs(queries, keys):
    """Half the mean squared difference of any two."""
    scores = (queries * keys).sum(-1)
    return ((scores[:, None] - scores) ** 2).mean() / 2


def variance_float32(queries, keys):
    return np.var(np.sum(queries.astype(np.float32) * keys.astype(np.float32), axis=1))


RIGHT = (
    dot_product_variance,
    variance_loops,
    variance_fractions,
    variance_welford,
    variance_from_pairs,
    variance_float32,
    lambda queries, keys: np.einsum("pd,pd->p", queries, keys).var(),
    lambda queries, keys: np.var([q @ k for q, k in zip(queries, keys, strict=True)]),
    lambda queries, keys: np.diag(queries @ keys.T).var(),
    lambda queries, keys: np.diagonal(queries.dot(keys.T)).std() ** 2,
    lambda queries, keys: ((queries * keys).sum(1) ** 2).mean() - (queries * keys).sum(1).mean() ** 2,
    lambda queries, keys: np.var((queries[:, None, :] @ keys[:, :, None]).squeeze()),
    lambda queries, keys: np.var((queries[:, None, :] @ keys[:, :, None])[:, 0, 0]),
    lambda queries, keys: np.array((queries * keys).sum(-1).var()),
    lambda queries, keys: np.cov((queries * keys).sum(-1), ddof=0),
    lambda queries, keys: np.mean(np.abs((queries * keys).sum(-1) - (queries * keys).sum(-1).mean()) ** 2),
    lambda queries, keys: statistics.pvariance([float(np.dot(q, k)) for q, k in zip(queries, keys, strict=True)]),
    lambda queries, keys: (queries * keys).dot(np.ones(queries.shape[1])).var(),
    lambda queries, keys: np.vectorize(np.dot, signature="(d),(d)->()")(queries, keys).var(ddof=0),
    lambda queries, keys: float(np.ma.masked_array((queries * keys).sum(-1)).var()),
    lambda queries, keys: np.vecdot(queries, keys).var(),
)  # fmt: skip


def variance_remembers(queries, keys, seen=[]):  # noqa: B006
    seen.extend((queries * keys).sum(-1).tolist())
    return np.var(seen)


def variance_by_first_shape(queries, keys, kept={}):  # noqa: B006
    return kept.setdefault(queries.shape, (queries * keys).sum(-1).var())


def variance_centres_in_place(queries, keys):
    queries *= keys
    return queries.sum(axis=-1).var()


def variance_of_standardised(queries, keys):
    return (((queries - queries.mean()) / queries.std()) * ((keys - keys.mean()) / keys.std())).sum(-1).var()


WRONG = {
    "variance-first-pairs": (lambda queries, keys: np.var((queries * keys)[:, :4].sum(-1)),),
    "not-repeatable": (variance_by_first_shape,),
    "input-changed": (variance_centres_in_place,),
    "variance-always-zero": (
        lambda queries, keys: ((queries * keys).sum(-1) - (queries * keys).sum(-1).mean()).mean(),
        lambda queries, keys: np.var(np.trace(queries @ keys.T)),
    ),
    "variance-not-averaged": (lambda queries, keys: (((queries * keys).sum(-1) - (queries * keys).sum(-1).mean()) ** 2).sum(),),
    "variance-scaled": (lambda queries, keys: (queries * keys).sum(-1).var() / queries.shape[-1],),
    "variance-all-pairs": (lambda queries, keys: np.inner(queries, keys).var(),),
    "variance-sum-of-variances": (lambda queries, keys: (queries.T * keys.T).var(axis=1).sum(),),
    "fractions-lost": (lambda queries, keys: int((queries * keys).sum(-1).var()),),
    None: (
        variance_remembers,
        variance_of_standardised,
        lambda queries, keys: np.var([queries[i] @ keys[i] for i in range(5)]),
        lambda queries, keys: np.var([queries[i] @ keys[i] for i in range(len(queries) - 1)]),
        lambda queries, keys: np.var([queries[i] @ keys[i] for i in range(queries.shape[1])]),
        lambda queries, keys: np.var((queries * keys)[:40].sum(-1).round(1)),
        lambda queries, keys: (queries * keys).sum(-1).var().round(2),
        lambda queries, keys: ((queries - queries.mean(0)) * (keys - keys.mean(0))).sum(-1).var(),
        lambda queries, keys: ((queries * keys).sum(-1) ** 2).mean() - (queries * keys).mean() ** 2,
        lambda queries, keys: ((queries * keys).sum(-1) ** 2).mean() - (queries * keys).sum(-1).mean(),
        lambda queries, keys: (((queries * keys).sum(-1) - np.median((queries * keys).sum(-1))) ** 2).mean(),
        lambda queries, keys: (queries * keys).sum(-1).var(keepdims=True),
        lambda queries, keys: [(queries * keys).sum(-1).var()],
        lambda queries, keys: ((queries * keys).sum(-1).mean(), (queries * keys).sum(-1).var()),
        lambda queries, keys: f"{(queries * keys).sum(-1).var():.4f}",
        lambda queries, keys: (queries * keys).sum(-1).var() * queries.shape[-1],
        lambda queries, keys: (queries * keys).var(axis=-1).mean(),
        lambda queries, keys: queries.var() * keys.var(),
        lambda queries, keys: queries.var() + keys.var(),
        lambda queries, keys: (queries + keys).sum(-1).var(),
        lambda queries, keys: (queries @ keys.T).sum(-1).var(),
        lambda queries, keys: (queries.T @ keys).var(),
        lambda queries, keys: np.cov(queries.ravel(), keys.ravel())[0, 1],
        lambda queries, keys: (queries @ keys).var(),
        lambda queries, keys: np.var(np.abs((queries * keys).sum(-1))),
        lambda queries, keys: np.var(softmax((queries * keys).sum(-1))),
        lambda queries, keys: np.var(np.unique((queries * keys).sum(-1).round(0))),
        lambda queries, keys: np.ptp((queries * keys).sum(-1)) ** 2 / 12,
        lambda queries, keys: np.percentile((queries * keys).sum(-1), 75) - np.percentile((queries * keys).sum(-1), 25),
        lambda queries, keys: (queries * keys).sum(-1).astype(np.float16).var(),
        lambda queries, keys: (queries.astype(int) * keys.astype(int)).sum(-1).var(),
        lambda queries, keys: (queries * keys).sum(-1).var() if len(queries) > 1 else float("nan"),
        lambda queries, keys: (queries * keys).sum(-1).var() if queries.shape[-1] > 1 else queries.var(),
        lambda queries, keys: (queries * keys).sum(-1).var() if queries.dtype == np.float64 else 0,
        lambda queries, keys: (queries * np.sort(keys, axis=0)).sum(-1).var(),
        lambda queries, keys: (queries * keys[::-1]).sum(-1).var(),
        lambda queries, keys: (queries.ravel("K") * keys.ravel("K")).reshape(len(queries), -1).sum(-1).var(),
        lambda queries, keys: np.random.default_rng(0).normal(size=(1000, queries.shape[-1])).sum(-1).var(),
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
