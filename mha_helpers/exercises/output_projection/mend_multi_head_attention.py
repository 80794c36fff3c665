"""The exercise `mend_multi_head_attention`: a layer with two faults, to find and repair."""

import dataclasses

import numpy as np

from mha_helpers.attention import combine_heads, softmax, split_heads
from mha_helpers.exercises.output_projection import multi_head_attention
from mha_helpers.exercises.output_projection.mistakes import mend_multi_head_attention as wrong


def mend_multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for W in (W_Q, W_K, W_V))
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, np.finfo(scores.dtype).min)  # lower than any score
    weights = softmax(scores)
    if mask is not None:
        weights = np.where(mask, weights, 0)  # a row in which everything is hidden
    output = combine_heads(weights @ V) @ W_O
    return output, weights


exercise = dataclasses.replace(
    multi_head_attention.exercise,
    reference=mend_multi_head_attention,
    model_answer=None,
    broken_version=wrong.mend_multi_head_attention,
    hints=(
        "It was tested without a mask and with one head. Which lines make no difference in that case?",
        "With a mask, do the rows of the weights sum to 1? And what order are the axes in when the heads are merged?",
        "Hide before the softmax, with np.where(mask, scores, -np.inf), and put zeros into the rows that see nothing. "
        "Merge with combine_heads(heads).",
    ),
    on_success="You found two bugs that shapes and simple tests miss.",
)
