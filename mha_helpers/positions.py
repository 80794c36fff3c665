"""Telling a token where it stands."""

from __future__ import annotations

import numpy as np

from mha_helpers.shapes import Array, check_count


def sinusoidal_positions(seq_len: int, d_model: int) -> Array:
    """Return the vectors that are added to the embeddings to mark their positions.

    Parameters
    ----------
    seq_len : int
        How many positions, counted from 0.
    d_model : int
        The embeddings' width.

    Returns
    -------
    ndarray, shape (seq_len, d_model)
        Even features are sines, odd ones cosines, of position / 10000^(feature / d_model), where
        each pair shares the even feature's wavelength (2 pi to 10000 x 2 pi positions).

    Raises
    ------
    ValueError
        If a size is not a whole number of 1 or more.

    Notes
    -----
    Vaswani et al. (2017), section 3.5, https://arxiv.org/abs/1706.03762.

    Examples
    --------
    >>> sinusoidal_positions(2, 4).round(4)
    array([[0.    , 1.    , 0.    , 1.    ],
           [0.8415, 0.5403, 0.01  , 1.    ]])
    """
    seq_len, d_model = check_count("seq_len", seq_len), check_count("d_model", d_model)
    features = np.arange(d_model)
    angles = np.arange(seq_len)[:, None] / 10_000 ** (features // 2 * 2 / d_model)
    return np.where(features % 2 == 0, np.sin(angles), np.cos(angles))
