"""Numbers of a few bits: what is left of keys and values in a cache that keeps them rounded.

Hooper et al. (2024), "KVQuant", https://arxiv.org/abs/2401.18079, and Liu et al. (2024), "KIVI",
https://arxiv.org/abs/2402.02750, round keys and values of large models to two to four bits, and have more to say about
which numbers should share a scale.
"""

from __future__ import annotations

import numpy as np

from mha_helpers.shapes import Array, as_float_array, check_count


def round_to_bits(X: Array, bits: int) -> Array:
    """Round each token's numbers to few levels, evenly spaced up to the token's own largest.

    Parameters
    ----------
    X : array_like, shape (..., n_tokens, d_head)
    bits : int
        2 or more. There are 2^(bits - 1) - 1 levels on either side of 0, and 0 itself.

    Returns
    -------
    ndarray, shape (..., n_tokens, d_head)
        The levels' values: what is read from a cache that holds a whole number of `bits` bits in place of each
        number, and one scale for each token.

    Raises
    ------
    ValueError
        If X has no axes or holds no real numbers, or bits is not a whole number of 2 or more.

    Examples
    --------
    >>> round_to_bits([[0.0, 0.2, 0.9, -3.0], [0.0, 0.2, 0.9, 1.0]], bits=3)
    array([[ 0.        ,  0.        ,  1.        , -3.        ],
           [ 0.        ,  0.33333333,  1.        ,  1.        ]])
    """
    X, bits = as_float_array("X", X), check_count("bits", bits)
    if not X.ndim:
        raise ValueError(f"X is a single number, {X}; its last axis must be the features of a token")
    if bits < 2:
        raise ValueError("bits=1 is not possible: it leaves no level beside 0; give 2 or more")
    largest = np.abs(X).max(axis=-1, keepdims=True)  # (..., n_tokens, 1)
    step = largest / (2 ** (bits - 1) - 1)
    return np.round(X / np.where(step == 0, 1, step)) * step
