"""Attention over one block of keys at a time: the same context, without all the scores in memory at once.

Milakov and Gimelshein (2018), "Online normalizer calculation for softmax", https://arxiv.org/abs/1805.02867; Rabe and
Staats (2021), "Self-attention Does Not Need O(n^2) Memory", https://arxiv.org/abs/2112.05682. Dao et al. (2022),
"FlashAttention", https://arxiv.org/abs/2205.14135, make it fast on a GPU.
"""

from __future__ import annotations

import numpy as np

from mha_helpers.attention import attention_scores
from mha_helpers.masks import check_mask, hide
from mha_helpers.shapes import Array, checked


@checked(queries="... n_queries d_head", keys="... n_keys d_head", values="... n_keys d_value", block_size="count")
def blockwise_attention(
    queries: Array,
    keys: Array,
    values: Array,
    mask: Array | None = None,
    *,
    is_causal: bool = False,
    block_size: int = 128,
) -> Array:
    """Scaled dot-product attention whose memory grows with the sequence length, not with its square.

    Parameters
    ----------
    queries : array_like, shape (..., n_queries, d_head)
    keys : array_like, shape (..., n_keys, d_head)
    values : array_like, shape (..., n_keys, d_value)
    mask : array_like of bool or float, broadcastable to (..., n_queries, n_keys), optional
        Boolean: True where a query may attend to a key. Float: added to the scaled scores.
    is_causal : bool, optional
        Let query i see keys 0 to i only, both counted from the start. Combines with `mask`.
    block_size : int, optional
        How many keys are looked at together.

    Returns
    -------
    ndarray, shape (..., n_queries, d_value)
        The context of `scaled_dot_product_attention`. There are no weights to return: they are never all there.

    Raises
    ------
    ValueError
        If the shapes do not fit, the mask is of the wrong shape or kind, or the block size is not a whole number
        of 1 or more.

    Notes
    -----
    After each block, with m the highest score so far: total = sum exp(s - m) and context = sum exp(s - m) v. When a
    later block has a higher score, both are multiplied by exp(m_before - m), as if it had been known from the start.

    Examples
    --------
    >>> queries, keys, values = np.eye(2), np.eye(2), np.eye(2)
    >>> blockwise_attention(queries, keys, values, block_size=1).round(4)
    array([[0.6698, 0.3302],
           [0.3302, 0.6698]])
    """
    n_queries, n_keys = queries.shape[-2], keys.shape[-2]
    if mask is not None:
        batch = np.broadcast_shapes(queries.shape[:-2], keys.shape[:-2])
        mask = check_mask(mask, (*batch, n_queries, n_keys))
    queries = queries * queries.shape[-1] ** -0.5
    top, total, context = -np.inf, 0.0, 0.0  # each row's so far: highest score, sum of exponentials, sum of values
    for start in range(0, n_keys, block_size):
        block = slice(start, start + block_size)
        scores = attention_scores(queries, keys[..., block, :])
        if mask is not None:
            scores = hide(scores, mask if mask.shape[-1] == 1 else mask[..., block])
        if is_causal:
            scores = hide(scores, np.arange(n_keys)[block] <= np.arange(n_queries)[:, None])
        new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        shift = np.where(np.isneginf(new_top), 0, new_top)  # a row that has seen nothing yet
        scores -= shift
        np.exp(scores, out=scores)
        correction = np.exp(top - shift)
        total = total * correction + scores.sum(axis=-1, keepdims=True)
        context = context * correction + scores @ values[..., block, :]
        top = new_top
    return context / np.where(total == 0, 1, total)
