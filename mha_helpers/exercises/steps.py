"""Small steps, right and wrong, that catalogued mistakes are made of."""

import numpy as np

from mha_helpers.maths.attention import combine_heads, split_heads


def swap(array):
    return array.swapaxes(-1, -2)


def normalised(exponentials, axis):
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def cut_straight(X, n_heads):
    """Split without the transpose: the right shape, and tokens mixed."""
    *batch, seq_len, d_model = X.shape
    return X.reshape(*batch, n_heads, seq_len, d_model // n_heads)


def joined_straight(heads):
    """Combine without the transpose."""
    *batch, n_heads, seq_len, d_head = heads.shape
    return heads.reshape(*batch, seq_len, n_heads * d_head)


def cut(X, n_heads):
    """Cut the features, and leave the heads where they are: (..., seq_len, n_heads, d_head)."""
    return X.reshape(*X.shape[:-1], n_heads, X.shape[-1] // n_heads)


def every_nth(X, n_heads):
    """Give head i the features i, i + n_heads, i + 2 n_heads, ..."""
    return np.stack([X[..., head::n_heads] for head in range(n_heads)], axis=-3)


def joined_features_first(heads):
    """Put feature 0 of every head first, then feature 1 of every head, ..."""
    *batch, n_heads, seq_len, d_head = heads.shape
    return np.moveaxis(heads, -3, -1).reshape(*batch, seq_len, d_head * n_heads)


def reversed_heads(heads):
    return heads[..., ::-1, :, :]


def cut_only(X, n_heads, head):
    """All of X but the features of one head set to 0."""
    heads = split_heads(X, n_heads)
    return combine_heads(np.where(np.arange(n_heads)[:, None, None] == head, heads, 0))
