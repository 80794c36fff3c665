"""The function that `mend_multi_head_attention` asks to repair."""

import numpy as np

from mha_helpers.attention import softmax, split_heads


# What the notebook gives to be repaired, somebody's layer: hides after the softmax, and merges by a reshape alone.
def mend_multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    if mask is not None:
        weights = np.where(mask, weights, 0)
    heads = weights @ V
    output = heads.reshape(*X.shape[:-1], -1) @ W_O
    return output, weights
