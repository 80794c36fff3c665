"""Multi-head attention in NumPy: the maths, and only the maths.

Row vectors throughout: `X` is (..., seq_len, d_model) and `queries = X @ W_Q`. Weights are
(..., n_queries, n_keys), and heads are an axis before the sequence:
(..., n_heads, seq_len, d_head). What the literature calls d_k is `d_head` here.

Arguments that do not fit are refused everywhere, by `@checked`: a ValueError says what was given,
what was wanted and what to do. float32 in, float32 out; float64 likewise; whole numbers are read as
float64. Inputs are never changed, but what is returned may be a view of them. NaN is not refused: it
spreads to what was computed from it, and so stays visible (a hidden value, too: its weight is 0, and
0 x NaN is NaN).

Vaswani et al. (2017), "Attention Is All You Need", https://arxiv.org/abs/1706.03762.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mha_helpers.masks import apply_mask, causal_mask, check_mask, hide
from mha_helpers.shapes import Array, checked


@checked(scores="... n_keys")
def softmax(scores: Array) -> Array:
    """Turn each row of scores into positive weights that sum to 1.

    Parameters
    ----------
    scores : array_like, shape (..., n_keys)
        -inf stands for a hidden key. In a row with NaN or +inf, or of only -inf, every weight is NaN;
        `softmax_or_zeros` gives zeros for the last of these.

    Returns
    -------
    ndarray, shape (..., n_keys)
        Weights over the last axis.

    Notes
    -----
    exp(s_j) / sum_k exp(s_k). Subtracting the row's maximum first changes nothing in exact
    arithmetic, and keeps exp from overflowing (Milakov and Gimelshein 2018, arXiv:1805.02867).

    Examples
    --------
    >>> softmax([0.0, 1.0, 2.0]).round(4)
    array([0.09  , 0.2447, 0.6652])
    """
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))  # (..., n_keys)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)  # each row by its sum, (..., 1)


@checked(scores="... n_keys")
def softmax_or_zeros(scores: Array) -> Array:
    """Softmax in which a row of only -inf, with nothing to attend to, gets zeros.

    Parameters
    ----------
    scores : array_like, shape (..., n_keys)
        -inf stands for a hidden key.

    Returns
    -------
    ndarray, shape (..., n_keys)
        Weights over the last axis.

    Examples
    --------
    >>> softmax_or_zeros([[0.0, -np.inf], [-np.inf, -np.inf]])
    array([[1., 0.],
           [0., 0.]])
    """
    return _into_weights(scores.copy())


def _into_weights(scores):
    """Turn scores into weights in place: in long sequences, new arrays for each step would take most of the time."""
    top = scores.max(axis=-1, keepdims=True)  # (..., 1)
    top[np.isneginf(top)] = 0  # nothing to see: all of e^-inf is 0, and the weights stay so
    scores -= top
    np.exp(scores, out=scores)
    total = scores.sum(axis=-1, keepdims=True)
    total[total == 0] = 1
    scores /= total
    return scores


@checked(queries="... n_queries d_head", keys="... n_keys d_head")
def attention_scores(queries: Array, keys: Array) -> Array:
    """Compare every query with every key: their dot products, unscaled.

    Parameters
    ----------
    queries : array_like, shape (..., n_queries, d_head)
    keys : array_like, shape (..., n_keys, d_head)

    Returns
    -------
    ndarray, shape (..., n_queries, n_keys)
        Row i holds query i's score with each key.

    Notes
    -----
    Q K^T of Vaswani et al. (2017), equation 1.

    Examples
    --------
    >>> attention_scores([[1, 0], [1, 2]], [[3, 1], [0, 1], [1, 1]])
    array([[3., 0., 1.],
           [5., 2., 3.]])
    """
    # Swap only the last two axes of the keys: `keys.T` would reverse the batch axes too.
    return queries @ keys.swapaxes(-1, -2)  # (..., n_queries, d_head) @ (..., d_head, n_keys)


@checked(queries="... n_queries d_head", keys="... n_keys d_head", values="... n_keys d_value")
def dot_product_attention(queries: Array, keys: Array, values: Array) -> tuple[Array, Array]:
    """Mix the values, each query with its own weights; without the division by sqrt(d_head).

    Parameters
    ----------
    queries : array_like, shape (..., n_queries, d_head)
    keys : array_like, shape (..., n_keys, d_head)
    values : array_like, shape (..., n_keys, d_value)

    Returns
    -------
    context : ndarray, shape (..., n_queries, d_value)
        Row i is the average of the values under row i of the weights.
    weights : ndarray, shape (..., n_queries, n_keys)

    Notes
    -----
    softmax(Q K^T) V: "dot-product attention" in Vaswani et al. (2017), section 3.2.1.

    Examples
    --------
    >>> context, weights = dot_product_attention([[1, 0]], [[2, 0], [0, 2]], [[10, 0], [0, 10]])
    >>> weights.round(4), context.round(4)
    (array([[0.8808, 0.1192]]), array([[8.808, 1.192]]))
    """
    weights = softmax(attention_scores(queries, keys))  # (..., n_queries, n_keys)
    context = weights @ values  # (..., n_queries, n_keys) @ (..., n_keys, d_value)
    return context, weights


@checked(queries="... n_queries d_head", keys="... n_keys d_head", values="... n_keys d_value", scale="number")
def scaled_dot_product_attention(
    queries: Array,
    keys: Array,
    values: Array,
    mask: Array | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
) -> tuple[Array, Array]:
    """Dot-product attention with scores divided by sqrt(d_head), and with masks.

    Parameters
    ----------
    queries : array_like, shape (..., n_queries, d_head)
    keys : array_like, shape (..., n_keys, d_head)
    values : array_like, shape (..., n_keys, d_value)
    mask : array_like of bool or float, broadcastable to (..., n_queries, n_keys), optional
        Boolean: True where a query may attend to a key. Float: added to the scaled scores.
    is_causal : bool, optional
        Let query i see keys 0 to i only, both counted from the start. Combines with `mask`.
    scale : float, optional
        What the scores are multiplied by: 1 / sqrt(d_head) unless given.

    Returns
    -------
    context : ndarray, shape (..., n_queries, d_value)
    weights : ndarray, shape (..., n_queries, n_keys)
        A query from which everything is hidden gets zero weights and a zero context.

    Notes
    -----
    softmax(Q K^T / sqrt(d_k)) V: Vaswani et al. (2017), equation 1.

    Examples
    --------
    >>> context, weights = scaled_dot_product_attention(np.eye(2), np.eye(2), np.eye(2), is_causal=True)
    >>> weights.round(4)
    array([[1.    , 0.    ],
           [0.3302, 0.6698]])
    """
    if scale is None:
        scale = queries.shape[-1] ** -0.5
    # The queries times the scale give the same as the scores times the scale, and are fewer.
    scores = attention_scores(queries * scale, keys)  # (..., n_queries, n_keys)
    if mask is not None:
        scores = hide(scores, check_mask(mask, scores.shape))
    if is_causal:
        n_queries, n_keys = scores.shape[-2:]
        scores = hide(scores, causal_mask(max(n_queries, n_keys))[:n_queries, :n_keys])
    weights = _into_weights(scores)
    context = weights @ values  # (..., n_queries, d_value)
    return context, weights


@checked(queries="... n_queries d_head", keys="... n_keys d_head", values="... n_keys d_value")
def masked_attention(queries: Array, keys: Array, values: Array, mask: Array) -> tuple[Array, Array]:
    """Scaled dot-product attention in which each query sees only the keys that its mask allows.

    Parameters
    ----------
    queries : array_like, shape (..., n_queries, d_head)
    keys : array_like, shape (..., n_keys, d_head)
    values : array_like, shape (..., n_keys, d_value)
    mask : array_like of bool or float, broadcastable to (..., n_queries, n_keys)
        Boolean: True where a query may attend to a key. Float: added to the scaled scores.

    Returns
    -------
    context : ndarray, shape (..., n_queries, d_value)
    weights : ndarray, shape (..., n_queries, n_keys)
        A query from which everything is hidden gets zero weights and a zero context.

    Notes
    -----
    Vaswani et al. (2017), section 3.2.3: hidden scores become -inf *before* the softmax.

    Examples
    --------
    >>> context, weights = masked_attention([[1, 0]], np.eye(2), [[10, 0], [0, 10]], [[False, True]])
    >>> weights, context
    (array([[0., 1.]]), array([[ 0., 10.]]))
    """
    scores = attention_scores(queries, keys) * queries.shape[-1] ** -0.5  # (..., n_queries, n_keys)
    weights = softmax_or_zeros(apply_mask(scores, mask))
    context = weights @ values  # (..., n_queries, d_value)
    return context, weights


@checked(p="n_keys")
def softmax_jacobian(p: Array) -> Array:
    """How each weight of one row moves when each score moves.

    Parameters
    ----------
    p : array_like, shape (n_keys,)
        One row of weights, as `softmax` returns it.

    Returns
    -------
    ndarray, shape (n_keys, n_keys)
        Entry (i, j) is d p[i] / d scores[j].

    Notes
    -----
    diag(p) - p^T p (p is a row), by the quotient rule.

    Examples
    --------
    >>> softmax_jacobian([0.25, 0.75])
    array([[ 0.1875, -0.1875],
           [-0.1875,  0.1875]])
    """
    return np.diag(p) - np.outer(p, p)  # (n_keys, n_keys)


@checked(X="... seq_len d_model", n_heads="divides d_model")
def split_heads(X: Array, n_heads: int) -> Array:
    """Cut each token's features into heads, and put the heads before the tokens.

    Parameters
    ----------
    X : array_like, shape (..., seq_len, d_model)
    n_heads : int
        A divisor of d_model.

    Returns
    -------
    ndarray, shape (..., n_heads, seq_len, d_head)
        Head i holds features i * d_head to (i + 1) * d_head of every token.

    Examples
    --------
    >>> split_heads([[0, 1, 2, 3], [10, 11, 12, 13]], n_heads=2)
    array([[[ 0.,  1.],
            [10., 11.]],
           [[ 2.,  3.],
            [12., 13.]]])
    """
    *batch, seq_len, d_model = X.shape
    X = X.reshape(*batch, seq_len, n_heads, d_model // n_heads)  # (..., seq_len, n_heads, d_head)
    # Reshaping straight to (n_heads, seq_len, d_head) would mix tokens: only a transpose moves an axis.
    return X.swapaxes(-3, -2)  # (..., n_heads, seq_len, d_head)


@checked(heads="... n_heads seq_len d_head")
def combine_heads(heads: Array) -> Array:
    """Put each token's heads side by side again: the inverse of `split_heads`.

    Parameters
    ----------
    heads : array_like, shape (..., n_heads, seq_len, d_head)

    Returns
    -------
    ndarray, shape (..., seq_len, n_heads * d_head)

    Examples
    --------
    >>> combine_heads([[[0, 1], [10, 11]], [[2, 3], [12, 13]]])
    array([[ 0.,  1.,  2.,  3.],
           [10., 11., 12., 13.]])
    """
    *batch, n_heads, seq_len, d_head = heads.shape
    heads = heads.swapaxes(-3, -2)  # (..., seq_len, n_heads, d_head)
    return heads.reshape(*batch, seq_len, n_heads * d_head)


@checked(
    queries="batch seq_len d_model",
    keys="batch seq_len d_model",
    values="batch seq_len d_model",
    n_heads="divides d_model",
)
def folded_attention(queries: Array, keys: Array, values: Array, n_heads: int) -> Array:
    """Attend in each head, with the heads folded into the batch axis.

    Parameters
    ----------
    queries, keys, values : array_like, shape (batch, seq_len, d_model)
    n_heads : int
        A divisor of d_model.

    Returns
    -------
    ndarray, shape (batch, seq_len, d_model)
        The heads' contexts side by side, as `combine_heads` puts them.

    Notes
    -----
    Attention treats every leading axis alike, so that "batch * n_heads sentences" and "n_heads heads in each
    of batch sentences" give the same numbers. Slides and older code write it (B h, S, d/h).

    Examples
    --------
    >>> X = np.eye(2)[None]
    >>> folded_attention(X, X, X, n_heads=2).round(4)
    array([[[0.7311, 0.5   ],
            [0.5   , 0.7311]]])
    """
    batch, seq_len, d_model = queries.shape
    folded = (batch * n_heads, seq_len, d_model // n_heads)
    # Split first: reshaping straight to (batch * n_heads, seq_len, d_head) would mix tokens.
    queries, keys, values = (split_heads(X, n_heads).reshape(folded) for X in (queries, keys, values))
    context, _ = scaled_dot_product_attention(queries, keys, values)  # (batch * n_heads, seq_len, d_head)
    return combine_heads(context.reshape(batch, n_heads, seq_len, d_model // n_heads))  # (batch, seq_len, d_model)


@checked(
    X="... seq_len d_model",
    context_X="... n_keys d_context or X",
    W_Q="d_model d_inner",
    W_K="d_context d_inner",
    W_V="d_context d_inner_values",
    W_O="d_inner_values d_output",
    b_Q="d_inner",
    b_K="d_inner",
    b_V="d_inner_values",
    b_O="d_output",
    n_heads="divides d_inner d_inner_values",
)
def multi_head_attention(
    X: Array,
    W_Q: Array,
    W_K: Array,
    W_V: Array,
    W_O: Array,
    n_heads: int,
    mask: Array | None = None,
    *,
    is_causal: bool = False,
    context_X: Array | None = None,
    b_Q: Array | float = 0,
    b_K: Array | float = 0,
    b_V: Array | float = 0,
    b_O: Array | float = 0,
) -> tuple[Array, Array]:
    """Project, split into heads, attend in each, combine the heads and project once more.

    Parameters
    ----------
    X : array_like, shape (..., seq_len, d_model)
    W_Q, W_K, W_V : array_like, shape (d_model, d_model)
        The heads' projections side by side: head i has columns i * d_head to (i + 1) * d_head. Their
        width need not be d_model, only the same for W_Q and W_K. For cross-attention W_K and W_V have
        as many rows as `context_X` has features.
    W_O : array_like, shape (d_model, d_model)
        As many rows as W_V has columns; its columns are the output's features.
    n_heads : int
        A divisor of the projections' width.
    mask : array_like of bool or float, broadcastable to (..., n_heads, n_queries, n_keys), optional
        Boolean: True where a query may attend to a key. Float: added to the scaled scores.
    is_causal : bool, optional
        Let query i see keys 0 to i only. Combines with `mask`.
    context_X : array_like, shape (..., n_keys, d_context), optional
        Where keys and values come from (cross-attention): X unless given.
    b_Q, b_K, b_V, b_O : array_like, shape (d_model,), optional
        Biases, one number for each column of the matrix of the same letter; none unless given.

    Returns
    -------
    output : ndarray, shape (..., seq_len, d_model)
    weights : ndarray, shape (..., n_heads, seq_len, n_keys)

    Notes
    -----
    Concat(head_1, ..., head_h) W_O: Vaswani et al. (2017), section 3.2.2.

    Examples
    --------
    >>> X = np.eye(2)
    >>> output, weights = multi_head_attention(X, np.eye(2), np.eye(2), np.eye(2), np.eye(2), n_heads=2)
    >>> output.round(4)
    array([[0.7311, 0.5   ],
           [0.5   , 0.7311]])
    """
    if context_X is None:
        context_X = X
    queries = split_heads(X @ W_Q + b_Q, n_heads)  # (..., n_heads, seq_len, d_head)
    keys = split_heads(context_X @ W_K + b_K, n_heads)  # (..., n_heads, n_keys, d_head)
    values = split_heads(context_X @ W_V + b_V, n_heads)  # (..., n_heads, n_keys, d_head of the values)
    heads, weights = scaled_dot_product_attention(queries, keys, values, mask, is_causal=is_causal)
    output = combine_heads(heads) @ W_O + b_O  # (..., seq_len, n_heads * d_head) @ W_O
    return output, weights


@checked(heads="... n_heads seq_len d_head", W_O="n_heads*d_head d_output")
def head_contributions(heads: Array, W_O: Array) -> Array:
    """What each head adds to the output: the heads, each through its own rows of W_O.

    Parameters
    ----------
    heads : array_like, shape (..., n_heads, seq_len, d_head)
    W_O : array_like, shape (n_heads * d_head, d_model)

    Returns
    -------
    ndarray, shape (..., n_heads, seq_len, d_model)
        Their sum over the heads is `combine_heads(heads) @ W_O`.

    Notes
    -----
    Elhage et al. (2021), "A Mathematical Framework for Transformer Circuits",
    https://transformer-circuits.pub/2021/framework/.

    Examples
    --------
    >>> heads = [[[1.0, 2.0]], [[3.0, 4.0]]]
    >>> head_contributions(heads, np.eye(4))
    array([[[1., 2., 0., 0.]],
           [[0., 0., 3., 4.]]])
    """
    n_heads, _, d_head = heads.shape[-3:]
    # Rows i * d_head to (i + 1) * d_head of W_O meet head i, and no other.
    blocks_of_rows = W_O.reshape(n_heads, d_head, -1)  # (n_heads, d_head, d_model)
    return heads @ blocks_of_rows  # (..., n_heads, seq_len, d_model)


@checked(W_O="d_inner d_model", n_heads="divides d_inner", heads="among n_heads")
def knock_out(W_O: Array, heads: Sequence[int] | Array, n_heads: int) -> Array:
    """Switch heads off: a W_O through which they add nothing to the output.

    Parameters
    ----------
    W_O : array_like, shape (n_heads * d_head, d_model)
    heads : array_like of int, shape (n_off,)
        The heads to switch off, counted from 0, in any order. There may be none.
    n_heads : int
        A divisor of the number of rows.

    Returns
    -------
    ndarray, shape (n_heads * d_head, d_model)
        A new matrix: the rows of these heads are 0, the others as they were.

    Notes
    -----
    Michel et al. (2019), "Are Sixteen Heads Really Better than One?", arXiv:1905.10650, multiply a head's output by
    0, which comes to the same.

    Examples
    --------
    >>> knock_out(np.ones((4, 3)), [1], n_heads=2)
    array([[1., 1., 1.],
           [1., 1., 1.],
           [0., 0., 0.],
           [0., 0., 0.]])
    """
    blocks_of_rows = W_O.reshape(n_heads, -1, W_O.shape[-1]).copy()  # (n_heads, d_head, d_model)
    blocks_of_rows[heads] = 0
    return blocks_of_rows.reshape(W_O.shape)
