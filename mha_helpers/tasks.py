"""Small tasks for small models: sequences drawn so that each needs one thing of attention, or two."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

SHORTEST_PERIOD = 4


class Batch(NamedTuple):
    """Sequences, and what is to be predicted at each of their places.

    Parameters
    ----------
    tokens : ndarray of int, shape (batch, n)
    targets : ndarray of int, shape (batch, n, n_questions)
    counts : ndarray of bool, shape (batch, n)
        Where the prediction counts: where what is needed has been there.
    periods : ndarray of int, shape (batch,)
        After how many tokens each sequence repeats; 0 where it does not.
    """

    tokens: np.ndarray
    targets: np.ndarray
    counts: np.ndarray
    periods: np.ndarray


class Task(NamedTuple):
    """A kind of sequence: `draw(rng, batch)` returns a `Batch`."""

    n_tokens: int  # how many different tokens there are
    n_questions: int  # how many of them are to be told at each place
    length: int
    draw: Callable[[np.random.Generator, int], Batch]


@functools.cache  # the same task is one that compares equal
def repeated_sequences(n_tokens: int = 16, length: int = 32) -> Task:
    """Predict the next token of sequences that repeat, each after a number of tokens of its own.

    The first part holds different tokens in random order, and then comes again and again: what came before says what
    comes next, from the second time on. With one period for all, "look so many places back" would do.

    Parameters
    ----------
    n_tokens : int, optional
    length : int, optional

    Returns
    -------
    Task

    Raises
    ------
    ValueError
        If there are too few tokens, or the sequences are too short, for periods of 4 and more.

    Examples
    --------
    >>> batch = repeated_sequences(n_tokens=5, length=8).draw(np.random.default_rng(2), 1)
    >>> batch.tokens, batch.targets[..., 0], batch.periods
    (array([[2, 4, 3, 0, 2, 4, 3, 0]]), array([[4, 3, 0, 2, 4, 3, 0, 2]]), array([4]))
    """
    longest = min(n_tokens - 1, length // 2)
    if longest < SHORTEST_PERIOD:
        raise ValueError(
            f"n_tokens={n_tokens} and length={length} leave no room for a period of {SHORTEST_PERIOD}; give at least "
            f"{SHORTEST_PERIOD + 1} tokens and a length of {2 * SHORTEST_PERIOD}"
        )

    def draw(rng, batch):
        periods = rng.integers(SHORTEST_PERIOD, longest + 1, size=batch)
        orders = rng.permuted(np.tile(np.arange(n_tokens), (batch, 1)), axis=1)
        places = np.arange(length + 1) % periods[:, None]
        sequences = np.take_along_axis(orders, places, axis=1)
        seen_before = np.arange(length) >= periods[:, None]
        return Batch(sequences[:, :-1], sequences[:, 1:, None], seen_before, periods)

    return Task(n_tokens, 1, length, draw)


def two_before(n_tokens: int = 6, length: int = 12) -> Task:
    """Tell, at each place of a random sequence, which token came one before, and which two before.

    Two questions at once, two things from the past. A head returns one average: of two tokens it can say which it gave
    more weight, and so the first answer; the other one then cannot be read from it.

    Parameters
    ----------
    n_tokens : int, optional
    length : int, optional

    Returns
    -------
    Task

    Examples
    --------
    >>> batch = two_before(n_tokens=4, length=5).draw(np.random.default_rng(0), 1)
    >>> batch.tokens, batch.targets[batch.counts].tolist()
    (array([[3, 2, 2, 1, 1]]), [[2, 3], [2, 2], [1, 2]])
    """

    def draw(rng, batch):
        tokens = rng.integers(n_tokens, size=(batch, length))
        targets = np.stack([np.roll(tokens, 1, axis=1), np.roll(tokens, 2, axis=1)], axis=-1)
        counts = np.broadcast_to(np.arange(length) >= 2, tokens.shape)
        return Batch(tokens, targets, counts, np.zeros(batch, int))

    return Task(n_tokens, 2, length, draw)
