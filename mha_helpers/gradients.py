"""Attention backwards: how the loss changes with queries, keys and values, by the chain rule and nothing else.

`d_context` is the loss's derivative by each entry of the context, and so for the others: every `d_...` has the shape
of what it is named after.

Vaswani et al. (2017), "Attention Is All You Need", https://arxiv.org/abs/1706.03762, equation 1, differentiated as in
Dao et al. (2022), "FlashAttention", https://arxiv.org/abs/2205.14135, appendix B.2.
"""

from __future__ import annotations

from mha_helpers.attention import attention_scores, scaled_dot_product_attention
from mha_helpers.shapes import Array, checked


@checked(
    queries="... n_queries d_head",
    keys="... n_keys d_head",
    values="... n_keys d_value",
    d_context="... n_queries d_value",
    scale="number",
)
def attention_gradients(
    queries: Array,
    keys: Array,
    values: Array,
    d_context: Array,
    mask: Array | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
) -> tuple[Array, Array, Array]:
    """Go backwards through scaled dot-product attention.

    Parameters
    ----------
    queries : array_like, shape (..., n_queries, d_head)
    keys : array_like, shape (..., n_keys, d_head)
    values : array_like, shape (..., n_keys, d_value)
    d_context : array_like, shape (..., n_queries, d_value)
        How the loss changes with each entry of the context.
    mask, is_causal, scale
        As `scaled_dot_product_attention` was given them.

    Returns
    -------
    d_queries, d_keys, d_values : ndarray
        How the loss changes with each entry of the queries, keys and values, in their shapes. What was used for a
        whole batch, without the batch's axes, collects its gradient from all of it.

    Raises
    ------
    ValueError
        If the shapes do not fit, the mask is of the wrong shape or kind, or the scale is not a number.

    Notes
    -----
    With P the weights: dV = P^T dC, dP = dC V^T, dS = P * (dP - rowsum(P * dP)), which is `softmax_jacobian` times
    dP for each row, dQ = scale dS K and dK = scale dS^T Q. A hidden key needs no line of its own: its weight
    is 0, and so is what comes back through it.

    Examples
    --------
    >>> d_queries, d_keys, d_values = attention_gradients([[2.0]], [[1.0], [0.0]], [[1.0], [0.0]], [[1.0]])
    >>> d_queries.round(4), d_values.round(4)
    (array([[0.105]]), array([[0.8808],
           [0.1192]]))
    """
    if scale is None:
        scale = queries.shape[-1] ** -0.5
    _, weights = scaled_dot_product_attention(queries, keys, values, mask, is_causal=is_causal, scale=scale)
    d_values = weights.swapaxes(-1, -2) @ d_context
    d_weights = attention_scores(d_context, values)  # d_context @ values^T
    # The softmax's Jacobian, diag(p) - p^T p, times each row of d_weights.
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    d_queries = scale * d_scores @ keys
    d_keys = scale * d_scores.swapaxes(-1, -2) @ queries
    return sum_to(d_queries, queries.shape), sum_to(d_keys, keys.shape), sum_to(d_values, values.shape)


def sum_to(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Add up a gradient over the axes along which its array was repeated.

    Parameters
    ----------
    gradient : ndarray
    shape : tuple of int
        That of the array before it was broadcast.

    Returns
    -------
    ndarray, of the given shape

    Examples
    --------
    >>> import numpy as np
    >>> sum_to(np.ones((3, 2, 4)), (1, 4))
    array([[6., 6., 6., 6.]])
    """
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    repeated = tuple(axis for axis, size in enumerate(shape) if size == 1 and gradient.shape[axis] != 1)
    return gradient.sum(axis=repeated, keepdims=True)
