"""Positions by rotation: each pair of a head's features turns with the token's position.

Su et al. (2021), "RoFormer", https://arxiv.org/abs/2104.09864.
"""

from __future__ import annotations

import numpy as np

from mha_helpers.shapes import Array, as_float_array

BASE = 10_000.0  # of the paper, section 3.2.2


def rotate(X: Array, start: int = 0) -> Array:
    """Turn each token's features by its position, pair by pair: features 0 and 1, 2 and 3, and so on.

    Parameters
    ----------
    X : array_like, shape (..., seq_len, d_head)
        Queries or keys. d_head is even.
    start : int, optional
        The first token's position: how many tokens a cache holds already.

    Returns
    -------
    ndarray, shape (..., seq_len, d_head)
        At position m, pair i (x, y) becomes (x cos a - y sin a, x sin a + y cos a), with the angle
        a = m / 10000^(2 i / d_head).

    Raises
    ------
    ValueError
        If X has fewer than two axes, or an odd number of features.

    Notes
    -----
    The score of a rotated query with a rotated key depends on how far apart they stand, and on nothing else about
    their positions. (Some models pair feature i with feature i + d_head / 2 instead: the same idea, other weights.)

    Examples
    --------
    >>> rotate([[1.0, 0.0], [1.0, 0.0]]).round(4)
    array([[1.    , 0.    ],
           [0.5403, 0.8415]])
    """
    X = as_float_array("X", X)
    if X.ndim < 2 or X.shape[-1] % 2:
        raise ValueError(f"X has shape {X.shape}; its last axes must be (tokens, features), the features in pairs")
    n_tokens, d_head = X.shape[-2:]
    angles = (start + np.arange(n_tokens))[:, None] / BASE ** (np.arange(0, d_head, 2) / d_head)
    cos, sin = np.cos(angles).astype(X.dtype), np.sin(angles).astype(X.dtype)
    x, y = X[..., ::2], X[..., 1::2]
    return np.stack([x * cos - y * sin, x * sin + y * cos], axis=-1).reshape(X.shape)
