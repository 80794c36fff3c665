"""Answers to causal_mask: right ones in many styles, and wrong ones."""

import numpy as np

TELLING_CASE = None


def causal_loops(n):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(i + 1):
            mask[i, j] = True
    return mask


def causal_from_smaller(n):
    """One token more: a row and a column around the mask of the tokens before it."""
    if n == 1:
        return np.array([[True]])
    return np.pad(causal_from_smaller(n - 1), ((0, 1), (0, 1))) | (np.arange(n) == n - 1)[:, None]


RIGHT = (
    causal_loops,
    causal_from_smaller,
    lambda n: [[j <= i for j in range(n)] for i in range(n)],
    lambda n: tuple((True,) * (i + 1) + (False,) * (n - i - 1) for i in range(n)),
    lambda n: np.ma.masked_array(np.tri(n, dtype=bool)),
)


BUFFER = {size: np.tri(size, dtype=bool) for size in (4, 8, 16)}


def causal_none_for_one(n):
    return np.tri(n, dtype=bool) if n > 1 else None


def causal_by_a_question_without_an_answer(n):
    def sees(i, j):
        j <= i  # noqa: B015

    return np.array([[sees(i, j) for j in range(n)] for i in range(n)])


WRONG = {
    "held-as-objects": (lambda n: np.array([[j <= i for j in range(n)] for i in range(n)], dtype=object),),
    None: (
        causal_none_for_one,
        lambda n: BUFFER[8][:n, :n],
        lambda n: np.tri(n, dtype=bool) if n > 1 else np.array([[False]]),
        lambda n: np.ones((n, n), bool) if n < 3 else np.tri(n, dtype=bool),
        lambda n: np.tril(n),
    ),
}

TOLD = (
    (causal_by_a_question_without_an_answer, "`sees` has no `return`, so what it gives is None."),
    (
        lambda n: [[True] * (i + 1) for i in range(n)],
        "The rows of your mask have different lengths, 1, 2, 3 and 4; in an array all are equally long.",
    ),
    (lambda n: 2 * np.tri(n), "A mask here holds only booleans: True where a query may attend"),
    (lambda n: ~np.tri(n, dtype=int), "~1 is -2, and ~0 is -1. Make booleans first."),
    (lambda n: np.tri(n, dtype=bool)[:, ::-1], "Query 0 sees key 3, which comes after it."),
    (lambda n: np.tri(n, dtype=bool) & (np.arange(n) < n - 1), "Query 3 does not see itself."),
    (
        lambda n: np.tri(n, dtype=bool) & ~np.tri(n, k=-2, dtype=bool),
        "Query 2 does not see key 0, which comes before it.",
    ),
)
