"""What a head does, read off its matrices, in a model without MLPs and norms: there the products are exact.

Elhage et al. (2021), "A Mathematical Framework for Transformer Circuits",
https://transformer-circuits.pub/2021/framework/.
"""

from __future__ import annotations

import numpy as np

from mha_helpers.shapes import Array, checked


@checked(E="n_tokens d_model", W_V="d_model d_head", W_O="d_head d_model", U="d_model n_outputs")
def full_OV(E: Array, W_V: Array, W_O: Array, U: Array) -> Array:
    """Return what a head adds to each token's logit, for each token that it could attend to with a weight of 1.

    Parameters
    ----------
    E : array_like, shape (n_tokens, d_model)
        The tokens' vectors.
    W_V : array_like, shape (d_model, d_head)
        The head's own columns.
    W_O : array_like, shape (d_head, d_model)
        The head's own rows.
    U : array_like, shape (d_model, n_tokens)
        The matrix that makes logits.

    Returns
    -------
    ndarray, shape (n_tokens, n_tokens)
        Row: the token attended to. Column: the token whose logit it raises.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> full_OV(np.eye(2), [[1.0], [2.0]], [[3.0, 0.0]], np.eye(2))
    array([[3., 0.],
           [6., 0.]])
    """
    return E @ W_V @ W_O @ U


@checked(
    E="n_tokens d_model",
    W_V0="d_model d_below",
    W_O0="d_below d_model",
    W_Q1="d_model d_head",
    W_K1="d_model d_head",
)
def composed_QK(E: Array, W_V0: Array, W_O0: Array, W_Q1: Array, W_K1: Array) -> Array:
    """Return the scores between each token's query, in one layer, and the notes that a head in the layer below writes.

    Parameters
    ----------
    E : array_like, shape (n_tokens, d_model)
    W_V0, W_O0 : array_like, shapes (d_model, d_head) and (d_head, d_model)
        Of the head below that writes.
    W_Q1, W_K1 : array_like, shape (d_model, d_head)
        Of the head above that reads.

    Returns
    -------
    ndarray, shape (n_tokens, n_tokens)
        Row: the token whose query asks. Column: the token that the note is about. Divided by sqrt(d_head).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> composed_QK(np.eye(2), [[1.0], [2.0]], [[1.0, 0.0]], np.eye(2), np.eye(2)).round(4)
    array([[0.7071, 1.4142],
           [0.    , 0.    ]])
    """
    notes = E @ W_V0 @ W_O0
    return E @ W_Q1 @ (notes @ W_K1).T / np.sqrt(W_K1.shape[1])
