"""Cross-attention: one sequence asks, another one is attended to.

Vaswani et al. (2017), "Attention Is All You Need", https://arxiv.org/abs/1706.03762, section 3.2.3.
"""

from __future__ import annotations

from mha_helpers.attention import multi_head_attention
from mha_helpers.masks import padding_mask
from mha_helpers.shapes import Array


def cross_attention(
    X: Array,
    context_X: Array,
    W_Q: Array,
    W_K: Array,
    W_V: Array,
    W_O: Array,
    n_heads: int,
    context_mask: Array | None = None,
) -> tuple[Array, Array]:
    """Multi-head attention whose queries come from one sequence, and whose keys and values from another.

    Parameters
    ----------
    X : array_like, shape (..., n_queries, d_model)
        The sequence that asks: in a translation, the one that is being written.
    context_X : array_like, shape (..., n_keys, d_context)
        The sequence that is attended to: in a translation, the source.
    W_Q : array_like, shape (d_model, d_inner)
    W_K, W_V : array_like, shape (d_context, d_inner)
    W_O : array_like, shape (d_inner, d_model)
    n_heads : int
        A divisor of d_inner.
    context_mask : array_like of 1 and 0, shape (batch, n_keys), optional
        1 for a token of `context_X`, 0 for its padding. With it, X and `context_X` have one batch axis.

    Returns
    -------
    output : ndarray, shape (..., n_queries, d_model)
    weights : ndarray, shape (..., n_heads, n_queries, n_keys)

    Raises
    ------
    ValueError
        If the shapes do not fit, n_heads does not divide d_inner, or the mask has entries other than 1 and 0.

    Notes
    -----
    The context is finished before anything is asked of it, so there is no causal mask, and its keys and values can be
    computed once for all queries that will ever come.

    Examples
    --------
    >>> import numpy as np
    >>> X, context_X = [[1.0, 0.0]], [[2.0, 0.0], [0.0, 2.0], [0.0, 0.0]]
    >>> output, weights = cross_attention(X, context_X, *[np.eye(2)] * 4, n_heads=1)
    >>> output.round(2), weights.shape
    (array([[1.35, 0.33]]), (1, 1, 3))
    """
    mask = None if context_mask is None else padding_mask(context_mask)
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask, context_X=context_X)
