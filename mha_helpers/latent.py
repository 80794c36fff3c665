"""Attention to short vectors, from which keys and values could be made, and needn't be.

DeepSeek-AI (2024), "DeepSeek-V2", https://arxiv.org/abs/2405.04434, section 2.1: multi-head latent attention.
"""

from __future__ import annotations

from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.shapes import Array, checked


@checked(
    queries="... n_heads n_queries d_head",
    kept="... n_keys d_kept",
    unfold_K="n_heads d_kept d_head",
    unfold_V="n_heads d_kept d_value",
)
def latent_attention(
    queries: Array, kept: Array, unfold_K: Array, unfold_V: Array, mask: Array | None = None
) -> tuple[Array, Array]:
    """Attend in each head to one short vector for each token, whose keys and values are never made.

    Parameters
    ----------
    queries : array_like, shape (..., n_heads, n_queries, d_head)
    kept : array_like, shape (..., n_keys, d_kept)
        What a cache holds: one vector for each token, for all heads together.
    unfold_K : array_like, shape (n_heads, d_kept, d_head)
        Head i's keys would be `kept @ unfold_K[i]`.
    unfold_V : array_like, shape (n_heads, d_kept, d_value)
        And its values `kept @ unfold_V[i]`.
    mask : array_like of bool, broadcastable to (..., n_heads, n_queries, n_keys), optional
        True where a query may attend to a key.

    Returns
    -------
    context : ndarray, shape (..., n_heads, n_queries, d_value)
    weights : ndarray, shape (..., n_heads, n_queries, n_keys)

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Notes
    -----
    q (c U)^T = (q U^T) c^T, and w (c U) = (w c) U: the matrices move to the queries and to the context, of which there
    are few. The scores are still divided by sqrt(d_head), because they are the same scores.

    Examples
    --------
    >>> import numpy as np
    >>> queries, kept = np.ones((2, 1, 3)), np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> unfold_K, unfold_V = np.zeros((2, 2, 3)), np.arange(4.0).reshape(2, 2, 1)
    >>> context, weights = latent_attention(queries, kept, unfold_K, unfold_V)
    >>> context[:, 0, 0], weights.shape
    (array([0.5, 2.5]), (2, 1, 2))
    """
    kept = kept[..., None, :, :]  # (..., 1, n_keys, d_kept): the same for all heads
    queries_of_kept = queries @ unfold_K.swapaxes(-1, -2)  # (..., n_heads, n_queries, d_kept)
    mixed, weights = scaled_dot_product_attention(queries_of_kept, kept, kept, mask, scale=queries.shape[-1] ** -0.5)
    return mixed @ unfold_V, weights  # (..., n_heads, n_queries, d_kept) @ (n_heads, d_kept, d_value)
