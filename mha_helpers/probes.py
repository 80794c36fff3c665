"""Probes: questions about any implementation of attention that its shapes cannot answer.

Each takes a function and calls it; none looks inside. Wrap what you want to ask about, so that it maps
token vectors to outputs: `lambda X: masked_attention(X @ W_Q, X @ W_K, X @ W_V, mask)[0]`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mha_helpers.shapes import Array, as_float_array


def leaks(attend: Callable[..., Any], X: Array) -> Array:
    """Change one token at a time, always in the same way, and measure which outputs move.

    Parameters
    ----------
    attend : callable
        From X to outputs, one row a token.
    X : array_like, shape (seq_len, d_model)

    Returns
    -------
    ndarray, shape (seq_len, seq_len)
        Entry (i, j) is how far output i moves, in the feature that moves most, when token j is changed. Under
        a causal mask everything above the diagonal is 0: the future moves nothing.

    Raises
    ------
    ValueError
        If X is not one sequence, or `attend` does not return one row for each token, or returns NaN or infinity.

    Examples
    --------
    >>> running_sum = lambda X: X.cumsum(axis=0)
    >>> leaks(running_sum, np.zeros((3, 2))) > 0
    array([[ True, False, False],
           [ True,  True, False],
           [ True,  True,  True]])
    """
    X = _one_sequence(X)
    # A change of every feature, each by another amount: a projection that is blind to it would be a rare chance.
    change = np.random.default_rng(0).uniform(0.5, 1.5, X.shape[1])
    before = _outputs(attend, X)
    moved = np.zeros((len(X), len(X)))
    for j in range(len(X)):
        changed = X.copy()
        changed[j] += change
        moved[:, j] = np.abs(_outputs(attend, changed) - before).max(axis=-1)
    return moved


def permutation_gap(attend: Callable[..., Any], X: Array, order: Sequence[int]) -> float:
    """Shuffle the tokens, and measure whether the outputs are only shuffled, too.

    Parameters
    ----------
    attend : callable
        From X to outputs, one row a token.
    X : array_like, shape (seq_len, d_model)
    order : sequence of int
        Each position once.

    Returns
    -------
    float
        The largest difference between the outputs of X[order] and those of X, put in the same order. 0 for
        attention without positions or a mask.

    Raises
    ------
    ValueError
        If X is not one sequence, `order` is not a permutation of its positions, or `attend` does not
        return one row for each token, or returns NaN or infinity.

    Examples
    --------
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> permutation_gap(lambda X: 2 * X, X, [2, 0, 1]), permutation_gap(lambda X: X.cumsum(axis=0), X, [2, 0, 1])
    (0.0, 5.0)
    """
    X = _one_sequence(X)
    places = np.asarray(list(order))
    if places.dtype.kind not in "iu" or sorted(places.tolist()) != list(range(len(X))):
        wanted = f"each of the positions 0 to {len(X) - 1} once"
        raise ValueError(f"order={places.tolist()} is no permutation; give {wanted}")
    return largest_gap(_outputs(attend, X[places]), _outputs(attend, X)[places])


def largest_gap(first: Any, second: Any) -> float:
    """Compare what two implementations returned.

    Parameters
    ----------
    first, second : array_like, or tuples of array_like
        Such as (context, weights); a list is read as one array.

    Returns
    -------
    float
        The largest difference between two entries in the same place; NaN where only one of them is NaN,
        while NaN in both, or the same infinity, is no difference.

    Raises
    ------
    ValueError
        If there are not equally many arrays, or their shapes differ.

    Examples
    --------
    >>> largest_gap(([1.0, 2.0], [0.5]), ([1.0, 2.5], [0.5]))
    0.5
    """
    firsts, seconds = (value if isinstance(value, tuple) else (value,) for value in (first, second))
    if len(firsts) != len(seconds) or not firsts:
        raise ValueError(f"one returned {len(firsts)} arrays and the other {len(seconds)}; compare the same outputs")
    gaps = []
    for a, b in zip(firsts, seconds, strict=True):
        a, b = as_float_array("one output", a), as_float_array("the other output", b)
        if a.shape != b.shape or not a.size:
            raise ValueError(f"one output has shape {a.shape} and the other {b.shape}; compare the same outputs")
        agree = (a == b) | (np.isnan(a) & np.isnan(b))
        with np.errstate(invalid="ignore", over="ignore"):
            gaps.append(np.where(agree, 0, np.abs(a - b)).max())
    return float(np.max(gaps))


def _one_sequence(X):
    X = as_float_array("X", X)
    if X.ndim != 2 or X.size == 0:
        raise ValueError(f"X has shape {X.shape}; give one sequence, (seq_len, d_model)")
    return X


def _outputs(attend, X):
    returned = attend(X.copy())
    if isinstance(returned, tuple):
        raise ValueError(
            f"the function returned {len(returned)} things; wrap it so that it returns the outputs alone, such as "
            "lambda X: attention(X, X, X)[0]"
        )
    outputs = as_float_array("the output", returned)
    if outputs.ndim != 2 or len(outputs) != len(X):
        raise ValueError(
            f"the function returned shape {outputs.shape} for X of shape {X.shape}; wrap it so that it returns one row "
            "for each token, such as lambda X: attention(X, X, X)[0]"
        )
    if not np.isfinite(outputs).all():
        raise ValueError(
            "the function returned NaN or infinity, so nothing can be measured; first make it return numbers in the "
            "rows that see nothing"
        )
    return outputs
