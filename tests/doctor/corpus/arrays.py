"""What the NumPy entries have in common: a right softmax, a right split and a right merge."""

import numpy as np


def softmax(scores, axis=-1):
    """Weights along one axis; a row of -inf alone gives NaN, as it does in most libraries."""
    exponentials = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def split(X, W, n_heads):
    """Project and split: (batch, tokens, features) to (batch, heads, tokens, d_head)."""
    return (X @ W).reshape(*X.shape[:2], n_heads, -1).transpose(0, 2, 1, 3)


def merge(heads, W_O):
    """Merge and project: (batch, heads, tokens, d_head) to (batch, tokens, features)."""
    b, h, n, d = heads.shape
    return heads.transpose(0, 2, 1, 3).reshape(b, n, h * d) @ W_O
