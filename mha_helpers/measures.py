"""Measuring attention: how far scores spread, how sharp weights are, how far back they reach, what a gradient can move.

Each takes NumPy arrays and returns numbers; nothing is drawn. The questions come from Vaswani et al. (2017),
section 3.2.1 and its footnote 4, and those about a trained model's heads from Clark et al. (2019), section 3.
"""

from __future__ import annotations

import numpy as np

from mha_helpers.shapes import Array, as_float_array, check_count, checked


@checked(queries="n_pairs d_head", keys="n_pairs d_head")
def dot_product_variance(queries: Array, keys: Array) -> np.floating:
    """Measure how far the scores of pairs spread: the variance of their dot products.

    Parameters
    ----------
    queries, keys : array_like, shape (n_pairs, d_head)
        Row i of one is compared with row i of the other, and with no other row.

    Returns
    -------
    NumPy float, of the arrays' type
        The mean squared distance from the mean. It is d_head where all entries are independent, with mean 0
        and variance 1.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> float(dot_product_variance([[1, 2], [3, 1]], [[1, 1], [1, 2]]))
    1.0
    """
    scores = (queries * keys).sum(axis=-1)
    return scores.var()


@checked(weights="... n_queries n_keys")
def attention_received(weights: Array) -> Array:
    """Measure how much attention each key receives from all queries together.

    Parameters
    ----------
    weights : array_like, shape (..., n_queries, n_keys)
        Rows that sum to 1.

    Returns
    -------
    ndarray, shape (..., n_keys)
        It adds up to n_queries, since each query gives away 1.

    Raises
    ------
    ValueError
        If the weights have fewer than two axes, or are not real numbers.

    Examples
    --------
    >>> attention_received([[0.75, 0.25], [0.5, 0.5]])
    array([1.25, 0.75])
    """
    return weights.sum(axis=-2)  # down the columns: over the queries, who give


@checked(weights="... n_keys")
def entropy(weights: Array) -> Array:
    """Measure how evenly each row of weights is spread.

    Parameters
    ----------
    weights : array_like, shape (..., n_keys)
        Rows that sum to 1.

    Returns
    -------
    ndarray, shape (...)
        In nats: 0 where one key has everything, log(n_keys) where all have the same.

    Raises
    ------
    ValueError
        If the weights are not real numbers, or negative, or there are none.

    Notes
    -----
    -sum_j p_j log(p_j), where a weight of 0 adds 0 (Shannon 1948).

    Examples
    --------
    >>> entropy([[0.5, 0.5], [1.0, 0.0]]).round(4)
    array([0.6931, 0.    ])
    """
    _check_positive(weights)
    logarithms = np.log(np.where(weights > 0, weights, 1))
    return 0 - (weights * logarithms).sum(axis=-1)


@checked(weights="... n_queries n_keys")
def head_entropy(weights: Array) -> Array:
    """Measure how evenly each head spreads its attention: the mean entropy of its rows of weights.

    Parameters
    ----------
    weights : array_like, shape (..., n_queries, n_keys)
        Rows that sum to 1.

    Returns
    -------
    ndarray, shape (...)
        In nats: 0 where every query attends to one key, log(n_keys) where all attend to all keys alike.

    Raises
    ------
    ValueError
        If the weights are not real numbers, or negative, or there are none.

    Notes
    -----
    Clark et al. (2019), "What Does BERT Look At?", arXiv:1906.04341, section 3.3, compare heads by it.

    Examples
    --------
    >>> head_entropy([[[0.5, 0.5], [1.0, 0.0]], [[0.5, 0.5], [0.5, 0.5]]]).round(4)
    array([0.3466, 0.6931])
    """
    return entropy(weights).mean(axis=-1)


@checked(weights="... n_tokens n_tokens")
def previous_token_score(weights: Array) -> Array:
    """Measure how much each head looks one token back: the mean weight that a token gives to the one before it.

    Parameters
    ----------
    weights : array_like, shape (..., n_tokens, n_tokens)
        Of two tokens or more.

    Returns
    -------
    ndarray, shape (...)
        The mean over all tokens but the first, which has none before it: between 0 and 1.

    Raises
    ------
    ValueError
        If the weights are not square, or of one token only.

    Notes
    -----
    Clark et al. (2019), arXiv:1906.04341, section 3.1, find heads that attend to the token before by its mean.

    Examples
    --------
    >>> float(previous_token_score([[1.0, 0.0, 0.0], [0.75, 0.25, 0.0], [0.5, 0.25, 0.25]]))
    0.5
    """
    if weights.shape[-1] < 2:
        raise ValueError(f"weights has shape {weights.shape}, and one token has none before it; give two or more")
    # Weight (i, i - 1) is what token i gives to the one before it: one step below the diagonal.
    return np.diagonal(weights, offset=-1, axis1=-2, axis2=-1).mean(axis=-1)


@checked(weights="... n_keys")
def jacobian_norm(weights: Array) -> Array:
    """Measure how much each row of weights can still be moved: the size of its softmax Jacobian.

    Parameters
    ----------
    weights : array_like, shape (..., n_keys)
        Rows as `softmax` returns them.

    Returns
    -------
    ndarray, shape (...)
        The Frobenius norm (the root of the sum of all squared entries) of d weights / d scores: 0 where one
        key has everything, and then no gradient passes to the scores.

    Raises
    ------
    ValueError
        If the weights are not real numbers, or negative, or there are none.

    Examples
    --------
    >>> jacobian_norm([[0.5, 0.5], [1.0, 0.0]])
    array([0.5, 0. ])
    """
    _check_positive(weights)
    diagonal = np.eye(weights.shape[-1], dtype=weights.dtype)
    jacobians = diagonal * weights[..., None] - weights[..., :, None] * weights[..., None, :]
    return np.linalg.norm(jacobians, axis=(-2, -1))


def _check_positive(weights):
    if (weights < 0).any():
        raise ValueError(f"a weight is {weights.min()}; give weights as softmax returns them, 0 or more")


def search_heads(shifts: Array, n_searched: int) -> tuple[int, float, float]:
    """Choose the head with the largest mean on some sentences, and measure it on the others.

    Parameters
    ----------
    shifts : array_like, shape (n_sentences, n_heads)
        What was measured of each head in each sentence.
    n_searched : int
        How many sentences, from the first on, the search may see. The others are held out.

    Returns
    -------
    head : int
        The best one, counted from 0.
    found : float
        Its mean over the sentences that were searched: the highest of all heads, if only by luck.
    held_out : float
        Its mean over the others.

    Raises
    ------
    ValueError
        If shifts is not a table, or no sentence would be searched or held out.

    Examples
    --------
    >>> search_heads([[0.1, 0.9], [0.2, 0.5], [0.3, 0.0]], n_searched=2)
    (1, 0.7, 0.0)
    """
    shifts, n_searched = as_float_array("shifts", shifts), check_count("n_searched", n_searched)
    if shifts.ndim != 2 or n_searched >= len(shifts):
        raise ValueError(
            f"shifts has shape {shifts.shape} and n_searched={n_searched}; give a row for each sentence and a column "
            "for each head, and hold out at least one sentence"
        )
    means = shifts[:n_searched].mean(axis=0)
    head = int(means.argmax())
    return head, float(means[head]), float(shifts[n_searched:, head].mean())
