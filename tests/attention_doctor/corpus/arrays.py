"""What the NumPy entries have in common: a right softmax, a right split and a right merge."""

import numpy as np


def softmax(scores, axis=-1):
    """Weights along one axis; where all scores are -inf they are zeros, so that no entry is NaN by accident."""
    top = scores.max(axis=axis, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isneginf(top), 0, top))
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def split(X, W, n_heads):
    """Project and split: (batch, tokens, features) to (batch, heads, tokens, d_head)."""
    return (X @ W).reshape(*X.shape[:2], n_heads, -1).transpose(0, 2, 1, 3)


def merge(heads, W_O):
    """Merge and project: (batch, heads, tokens, d_head) to (batch, tokens, features)."""
    b, h, n, d = heads.shape
    return heads.transpose(0, 2, 1, 3).reshape(b, n, h * d) @ W_O
