"""Attention whose query heads share heads of keys and values, so that a cache holds less.

Shazeer (2019), "Fast Transformer Decoding", https://arxiv.org/abs/1911.02150: one head of keys and values for all.
Ainslie et al. (2023), "GQA", https://arxiv.org/abs/2305.13245: one for each group of query heads.
"""

from __future__ import annotations

import numpy as np

from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.shapes import Array, as_float_array


def grouped_attention(queries: Array, keys: Array, values: Array, mask: Array | None = None) -> tuple[Array, Array]:
    """Scaled dot-product attention with fewer heads of keys and values than of queries.

    Parameters
    ----------
    queries : array_like, shape (..., n_heads, n_queries, d_head)
    keys : array_like, shape (..., n_kv_heads, n_keys, d_head)
        n_kv_heads divides n_heads: neighbouring query heads share one.
    values : array_like, shape (..., n_kv_heads, n_keys, d_value)
    mask : array_like of bool, broadcastable to (..., n_heads, n_queries, n_keys), optional
        True where a query may attend to a key.

    Returns
    -------
    context : ndarray, shape (..., n_heads, n_queries, d_value)
    weights : ndarray, shape (..., n_heads, n_queries, n_keys)

    Raises
    ------
    ValueError
        If the shapes do not fit, or n_kv_heads does not divide n_heads.

    Examples
    --------
    >>> queries, keys, values = np.zeros((4, 1, 2)), np.zeros((2, 3, 2)), np.arange(6.0).reshape(2, 3, 1)
    >>> context, weights = grouped_attention(queries, keys, values)
    >>> context[:, 0, 0], weights.shape
    (array([1., 1., 4., 4.]), (4, 1, 3))
    """
    arrays = {"queries": queries, "keys": keys, "values": values}
    queries, keys, values = (as_float_array(name, array) for name, array in arrays.items())
    for name, array in zip(arrays, (queries, keys, values), strict=True):
        if array.ndim < 3:
            raise ValueError(f"{name} has shape {array.shape}; its last axes must be (heads, tokens, features)")
    n_heads, n_kv_heads = queries.shape[-3], keys.shape[-3]
    if values.shape[-3] != n_kv_heads:
        raise ValueError(f"there are {n_kv_heads} heads of keys and {values.shape[-3]} of values; give as many of both")
    if n_heads % n_kv_heads:
        raise ValueError(
            f"n_heads={n_heads} is not divisible by n_kv_heads={n_kv_heads}; each head of keys and values must serve "
            "the same number of query heads"
        )
    keys, values = (np.repeat(array, n_heads // n_kv_heads, axis=-3) for array in (keys, values))
    return scaled_dot_product_attention(queries, keys, values, mask)
