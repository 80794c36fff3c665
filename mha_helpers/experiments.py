"""Experiments that are too long for a notebook's cell."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mha_helpers.attention import attention_scores, softmax
from mha_helpers.shapes import Array, check_count, check_number

N_ROWS, N_KEYS, D_VALUE = 1000, 8, 4


class Learned(NamedTuple):
    """The outcome of learning to attend to one key.

    Parameters
    ----------
    losses : ndarray, shape (n_steps + 1, n_rows)
        Each row's loss before every step, and after the last.
    first_gradients : ndarray, shape (n_rows,)
        How large each row's gradient is at the start: the root of the sum of its squares.
    """

    losses: np.ndarray
    first_gradients: np.ndarray


def learn_one_key(
    d_k: int,
    divisor: float,
    *,
    step_on: str = "scores",
    n_steps: int = 30,
    step: float = 0.5,
    query_size: float = 1.0,
) -> Learned:
    """Let queries learn, by gradient steps, to copy the value of one key.

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
    query_size : float, optional
        The spread of the queries' entries before the first step.

    Returns
    -------
    Learned

    Raises
    ------
    ValueError
        If `step_on` is neither "scores" nor "queries", or a width, a number of steps or a divisor is not one.

    Notes
    -----
    The draws are always the same. What comes back to the scores is the softmax's Jacobian, diag(p) - p^T p,
    times what comes back to the weights; to a query, that times its keys, over the divisor. So dividing by r is the
    same as queries that start r times smaller and take steps r^2 times smaller.

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
    queries = query_size * rng.normal(size=(N_ROWS, 1, d_k))
    keys, values = rng.normal(size=(N_ROWS, N_KEYS, d_k)), rng.normal(size=(N_ROWS, N_KEYS, D_VALUE))
    scores = attention_scores(queries, keys) / divisor  # (n_rows, 1, n_keys)
    losses: list[Any] = []
    first_gradients: Any = None
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


SEQ_LEN, D_MODEL, N_HEADS, BATCH = 6, 16, 4, 32
D_HEAD = D_MODEL // N_HEADS
WAYS, TASKS = ("right", "wrong"), ("copy", "previous")


def train_layer(*, split: str, merge: str, task: str, n_steps: int = 1000, rate: float = 0.01) -> Array:
    """Train one multi-head attention layer, with its transposes or without them, on a task about token contents.

    Each token is its position (one-hot, six features) beside ten random numbers, its content. The layer is to
    return at every token the content of the token itself, or of the one before it.

    Parameters
    ----------
    split, merge : {"right", "wrong"}
        Whether the heads are split, and merged, with the transpose, or by a reshape alone.
    task : {"copy", "previous"}
        Whose content is wanted: the token's own, or that of the one before it (of the last, for the first).
    n_steps : int, optional
    rate : float, optional
        The learning rate.

    Returns
    -------
    ndarray, shape (n_steps,)
        The mean squared error before each step.

    Raises
    ------
    ValueError
        If an argument is none of those named.

    Notes
    -----
    Steps by Adam (Kingma and Ba 2014, arXiv:1412.6980) on fresh random contents each time; the draws are always the
    same. The gradients are those of `multi_head_attention`, written out.

    Examples
    --------
    >>> train_layer(split="right", merge="right", task="copy", n_steps=101)[[0, 100]].round(1)
    array([1.3, 0.1])
    """
    for name, value, choices in (("split", split, WAYS), ("merge", merge, WAYS), ("task", task, TASKS)):
        if value not in choices:
            raise ValueError(f"{name}={value!r} is not possible; give {' or '.join(map(repr, choices))}")
    n_steps = check_count("n_steps", n_steps)
    rng = np.random.default_rng(0)
    weights = [rng.normal(scale=D_MODEL**-0.5, size=(D_MODEL, D_MODEL)) for _ in range(4)]
    means, squares = ([np.zeros_like(W) for W in weights] for _ in range(2))
    positions = np.broadcast_to(3 * np.eye(SEQ_LEN), (BATCH, SEQ_LEN, SEQ_LEN))
    losses = []
    for step in range(1, n_steps + 1):
        content = rng.normal(size=(BATCH, SEQ_LEN, D_MODEL - SEQ_LEN))
        X = np.concatenate([positions, content], axis=-1)
        wanted = content if task == "copy" else np.roll(content, 1, axis=1)
        error, gradients = _error_and_gradients(X, wanted, weights, split, merge)
        losses.append((error**2).mean())
        for i, gradient in enumerate(gradients):
            means[i] = 0.9 * means[i] + 0.1 * gradient
            squares[i] = 0.99 * squares[i] + 0.01 * gradient**2
            size = np.sqrt(squares[i] / (1 - 0.99**step)) + 1e-8
            weights[i] = weights[i] - rate * means[i] / (1 - 0.9**step) / size
    return np.array(losses)


def _split(X, way):
    if way == "wrong":
        return X.reshape(BATCH, N_HEADS, SEQ_LEN, D_HEAD)
    return X.reshape(BATCH, SEQ_LEN, N_HEADS, D_HEAD).swapaxes(1, 2)


def _merge(heads, way):
    return (heads if way == "wrong" else heads.swapaxes(1, 2)).reshape(BATCH, SEQ_LEN, D_MODEL)


def _error_and_gradients(X, wanted, weights, split, merge):
    """Run the layer forwards and backwards: each way of splitting is undone by the merge of the same kind."""
    W_Q, W_K, W_V, W_O = weights
    queries, keys, values = (_split(X @ W, split) for W in (W_Q, W_K, W_V))
    shares = softmax(attention_scores(queries, keys) / D_HEAD**0.5)
    merged = _merge(shares @ values, merge)
    error = (merged @ W_O)[..., SEQ_LEN:] - wanted
    by_output = np.concatenate([np.zeros((BATCH, SEQ_LEN, SEQ_LEN)), 2 * error / (BATCH * SEQ_LEN)], axis=-1)
    by_context = _split(by_output @ W_O.T, merge)
    by_share = by_context @ values.swapaxes(-1, -2)
    by_score = shares * (by_share - (shares * by_share).sum(axis=-1, keepdims=True)) / D_HEAD**0.5
    by_projection = by_score @ keys, by_score.swapaxes(-1, -2) @ queries, shares.swapaxes(-1, -2) @ by_context
    of_projections = [np.einsum("bnd,bne->de", X, _merge(gradient, split)) for gradient in by_projection]
    return error, [*of_projections, np.einsum("bnd,bne->de", merged, by_output)]
