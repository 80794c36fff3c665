"""The example that the course carries from notebook to notebook.

*The cat sat on the mat because it was ...*, and now "tired" or "soft"? Five of its words, four features with names, and
matrices made by hand so that every effect is large enough to see and every product can be done in the head. A trained
model learns its matrices (notebook 07); here they are chosen, and the features mean what their names say. Sitting is
something that happens, and only the living do it. "Because" belongs to what happens.

Head 0 has columns 0 and 1 of W_Q, W_K and W_V and rows 0 and 1 of W_O; head 1 has the rest. W_V makes head 0's values
of alive and thing, head 1's of happens and alive; W_O sends each of them to the feature it is about, so that what both
heads found alive adds up. Notebooks 01 to 03 use head 0 alone: `first_head()`.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from mha_helpers import attention
from mha_helpers.shapes import Array


def _fixed(*rows):
    """Make a matrix that nobody changes by accident."""
    matrix = np.array(rows, dtype=float)
    matrix.setflags(write=False)
    return matrix


SENTENCE = "The cat sat on the mat because it was tired."
TOKENS = ("cat", "sat", "mat", "because", "it")
FEATURES = ("alive", "thing", "happens", "points back")
N_HEADS = 2

X = _fixed([1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1])
W_Q = _fixed([1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 2], [1, 3, 2, 0])
W_K = _fixed([3, 0, 2, 0], [-1, 0, 0, 2], [0, -1, 2, 0], [0, -1, 0, 0])
W_V = _fixed([1, 0, 0, 1], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0])
W_O = _fixed([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0])

# Two ways to go on: "tired" is said of what is alive, "soft" of a thing, but not of a living one.
ENDINGS = ("tired", "soft")
ENDING_VECTORS = _fixed([2, 0, 0, 0], [-2, 1, 0, 0])


def first_head() -> tuple[Array, ...]:
    """Return head 0's own W_Q, W_K and W_V.

    Returns
    -------
    tuple of ndarray, shape (4, 2)

    Examples
    --------
    >>> head_Q, head_K, head_V = first_head()
    >>> context, weights = attention.dot_product_attention(X @ head_Q, X @ head_K, X @ head_V)
    >>> float(weights[TOKENS.index("it"), TOKENS.index("cat")].round(2))
    0.83
    """
    return W_Q[:, :2], W_K[:, :2], W_V[:, :2]


class Stages(NamedTuple):
    """Every tensor of multi-head attention on the running example, in the order in which they come to be.

    Parameters
    ----------
    X : ndarray, shape (5, 4)
    queries, keys, values : ndarray, shape (5, 4)
    head_queries, head_keys, head_values : ndarray, shape (2, 5, 2)
    scores : ndarray, shape (2, 5, 5)
        Divided by the root of the heads' width.
    weights : ndarray, shape (2, 5, 5)
    contexts : ndarray, shape (2, 5, 2)
    concat : ndarray, shape (5, 4)
    contributions : ndarray, shape (2, 5, 4)
        What each head adds to the output.
    output : ndarray, shape (5, 4)
    """

    X: np.ndarray
    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    head_queries: np.ndarray
    head_keys: np.ndarray
    head_values: np.ndarray
    scores: np.ndarray
    weights: np.ndarray
    contexts: np.ndarray
    concat: np.ndarray
    contributions: np.ndarray
    output: np.ndarray


@functools.cache
def stages() -> Stages:
    """Compute the whole block on the running example, and keep everything on the way.

    Returns
    -------
    Stages

    Examples
    --------
    >>> stages().output[TOKENS.index("it")].round(2)
    array([1.82, 1.58, 1.88, 0.  ])
    """
    projected = [X @ W for W in (W_Q, W_K, W_V)]
    heads = [attention.split_heads(part, N_HEADS) for part in projected]
    contexts, weights = attention.scaled_dot_product_attention(*heads)
    scores = attention.attention_scores(heads[0], heads[1]) / np.sqrt(X.shape[1] // N_HEADS)
    contributions = attention.head_contributions(contexts, W_O)
    concat = attention.combine_heads(contexts)
    found = Stages._make((X, *projected, *heads, scores, weights, contexts, concat, contributions, concat @ W_O))
    for array in found:
        array.setflags(write=False)
    return found
