"""The mistakes that people make in `causal_mask`."""

import numpy as np

from mha_helpers.exercises.mistakes.catalogue import also
from mha_helpers.exercises.mistakes.steps import HIDING_NUMBERS
from mha_helpers.masks import causal_mask


def causal_inverted(n):
    """Your mask is True where a key is *hidden*. In this course, as in PyTorch's scaled_dot_product_attention, True
    means: may attend. Put ~ before it. (As it is, each query sees only the future.)"""
    return ~causal_mask(n)


def causal_transposed(n):
    """Each query sees itself and the *future*, which is above the diagonal (np.triu). (Rows are queries, columns are
    keys.)

    The past is below it: np.tril, or j <= i."""
    return causal_mask(n).T


def causal_strict(n):
    """You hide the diagonal, too: a token may attend to itself. As it is, the first row is empty, and has nothing to
    average."""
    return np.tri(n, k=-1, dtype=bool)


def causal_off_by_one(n):
    """Each query sees one key of the future, the token right after it: the diagonal is shifted by one. For predicting
    the next word that gives the answer away."""
    return np.tri(n, k=1, dtype=bool)


@also(hiding=HIDING_NUMBERS)
def causal_additive(n, hiding=-np.inf):
    """Those are numbers to be added to the scores, 0 and -inf (or very low). Give a boolean mask: True where a query
    may attend, False where it may not."""
    return np.where(causal_mask(n), 0.0, hiding)


@also(lambda n: causal_mask(n) * -np.inf)
def causal_zero_times_inf(n):
    """0 * inf is NaN, so the visible places hold NaN. Instead of multiplying, choose with np.where, and give a boolean
    mask: True where a query may attend, False where it may not."""
    return ~causal_mask(n) * -np.inf


def causal_numbers(n):
    """The pattern is right, but it is made of the numbers 1 and 0. Give booleans, True where a query may attend, False
    where it may not: numbers would be added to the scores by PyTorch, and hide nothing. `.astype(bool)`, or
    dtype=bool."""
    return causal_mask(n).astype(float)


def causal_everything(n):
    """Your mask hides nothing. Query i may attend to keys 0 to i only."""
    return np.ones((n, n), bool)


def causal_diagonal_only(n):
    """Each token sees only itself. It may also see everything before it."""
    return np.eye(n, dtype=bool)


@also(lambda n: np.ones((1, n), bool))
def causal_one_row(n):
    """You return one row. Every query needs a row of its own: (n, n)."""
    return np.ones(n, bool)


@also(lambda n: causal_mask(n)[None])
def causal_extra_axes(n):
    """The pattern is right, but there are axes of length 1 in front. Give (n, n); two axes broadcast over batch and
    heads by themselves."""
    return causal_mask(n)[None, None]
