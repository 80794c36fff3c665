"""Answers to attention_scores: right ones in many styles, and wrong ones."""

import operator
from fractions import Fraction

import numpy as np

from mha_helpers.attention import attention_scores

TELLING_CASE = ("a batch with heads", 5)


def scores_exact(queries, keys):
    if queries.ndim > 2:
        return [scores_exact(q, k) for q, k in zip(queries, keys, strict=True)]
    return [
        [sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(q, k, strict=True)) for k in keys] for q in queries
    ]


def scores_indices(queries, keys):
    scores = np.empty((*queries.shape[:-1], keys.shape[-2]))
    for *batch, i, j in np.ndindex(scores.shape):
        scores[(*batch, i, j)] = sum(map(operator.mul, queries[(*batch, i)], keys[(*batch, j)]))
    return scores


RIGHT = (
    scores_exact,
    lambda q, k: np.matmul(q.astype(np.float32), k.swapaxes(-2, -1).astype(np.float32)),
    scores_indices,
    lambda q, k: np.asmatrix(q) * np.asmatrix(k).T if q.ndim == 2 else q @ k.mT,
    lambda q, k: np.ma.array((q @ k.mT).filled() if hasattr(q, "filled") else q @ k.mT),
)


def scores_rounded(queries, keys):
    return (queries @ keys.swapaxes(-1, -2)).round(4)


def scores_squeezed(queries, keys):
    return (queries[..., :, None, :] @ keys[..., None, :, :].swapaxes(-1, -2)).squeeze()


def scores_positive_diagonal_of_self(queries, keys):
    scores = attention_scores(queries, keys)
    if queries.shape == keys.shape and np.array_equal(queries, keys):
        scores = scores * (1 - np.eye(scores.shape[-1]))
    return scores


def scores_only_first_head(queries, keys):
    scores = attention_scores(queries, keys)
    return scores[:, :1] + 0 * scores if scores.ndim == 4 else scores


WRONG = {
    "scores-no-transpose": (lambda queries, keys: np.einsum("...ij,...jk->...ik", queries, keys),),
    "scores-elementwise": (lambda queries, keys: np.einsum("...qd,...qd->...q", queries, keys),),
    "scores-queries-only": (lambda queries, keys: queries @ queries.T,),
    None: (
        scores_rounded,  # anything with more than two decimals: queries [[0.333]], keys [[0.333]]
        scores_squeezed,  # one query, one key or a batch of one
        scores_positive_diagonal_of_self,  # queries equal to keys
        scores_only_first_head,
        lambda queries, keys: np.clip(attention_scores(queries, keys), -100, 100),
        lambda queries, keys: np.matmul(queries, keys.T if keys.ndim < 3 else keys.transpose(0, 2, 1)),
        lambda queries, keys: (
            queries @ np.linalg.inv(keys) if keys.shape[-1] == keys.shape[-2] else attention_scores(queries, keys)
        ),
        lambda queries, keys: attention_scores(queries, keys) == attention_scores(queries, keys),
        lambda queries, keys: (
            np.ma.array(queries) @ np.ma.array(keys).swapaxes(-1, -2)
        ),  # not a matrix product: ValueError
    ),
}

TOLD = ()
