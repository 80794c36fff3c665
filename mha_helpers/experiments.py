"""Experiments that are too long for a notebook's cell."""

from typing import NamedTuple

import numpy as np

from mha_helpers.attention import attention_scores, softmax
from mha_helpers.shapes import check_count, check_number

N_ROWS, N_KEYS, D_VALUE = 1000, 8, 4


class Learned(NamedTuple):
    """What came of learning to attend to one key.

    Parameters
    ----------
    losses : ndarray, shape (n_steps + 1, n_rows)
        Each row's loss before every step, and after the last.
    first_gradients : ndarray, shape (n_rows,)
        How large each row's gradient is at the start: the root of the sum of its squares.
    """

    losses: np.ndarray
    first_gradients: np.ndarray


def learn_one_key(d_k, divisor, *, step_on="scores", n_steps=100, step=0.5):
    """Let queries learn, by gradient steps, to take over the value of one key.

    Each of 1000 queries has 8 keys of its own, all with independent normal entries, and its context is to become
    the value of key 0. The loss is the squared distance between the two.

    Parameters
    ----------
    d_k : int
        The width of queries and keys.
    divisor : float
        What the scores are divided by.
    step_on : {"scores", "queries"}, optional
        What is changed: the scores that enter the softmax, or the queries.
    n_steps : int, optional
    step : float, optional
        What the gradient is multiplied by in each step.

    Returns
    -------
    Learned

    Raises
    ------
    ValueError
        If `step_on` is neither "scores" nor "queries", or a width, a number of steps or a divisor is not one.

    Notes
    -----
    The draws are always the same. What comes back to the scores is the softmax's Jacobian, diag(p) - p p^T,
    times what comes back to the weights; to a query, that times its keys, over the divisor.

    Examples
    --------
    >>> learn_one_key(4, 2.0, n_steps=10).losses.mean(axis=1)[[0, 10]].round(2)
    array([3.9 , 0.47])
    """
    if step_on not in ("scores", "queries"):
        raise ValueError(f"step_on={step_on!r} is not possible; give 'scores' or 'queries'")
    d_k, n_steps, divisor = check_count("d_k", d_k), check_count("n_steps", n_steps), check_number("divisor", divisor)
    if not divisor:
        raise ValueError("divisor=0 is not possible; give 1 for no division")
    rng = np.random.default_rng(1)
    queries = rng.normal(size=(N_ROWS, 1, d_k))
    keys, values = rng.normal(size=(N_ROWS, N_KEYS, d_k)), rng.normal(size=(N_ROWS, N_KEYS, D_VALUE))
    scores = attention_scores(queries, keys) / divisor  # (n_rows, 1, n_keys)
    losses, first_gradients = [], None
    for _ in range(n_steps + 1):
        weights = softmax(scores)
        error = weights @ values - values[:, :1]
        losses.append((error**2).sum(axis=(1, 2)))
        by_weight = 2 * error @ values.swapaxes(-1, -2)
        by_score = weights * (by_weight - (weights * by_weight).sum(axis=-1, keepdims=True))
        by_query = by_score @ keys / divisor
        gradient = by_score if step_on == "scores" else by_query
        if first_gradients is None:
            first_gradients = np.linalg.norm(gradient, axis=(1, 2))
        if step_on == "scores":
            scores = scores - step * gradient
        else:
            queries = queries - step * gradient
            scores = attention_scores(queries, keys) / divisor
    return Learned(np.array(losses), first_gradients)
