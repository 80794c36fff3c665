"""Answers to composed_QK: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.circuits import composed_QK

TELLING_CASE = ("five tokens", 4)


RIGHT = (
    composed_QK,
    lambda E, V, W, Q, K: (E @ (Q / np.sqrt(Q.shape[1])) @ (E @ (V @ W) @ K).T).tolist(),
)

WRONG = {
    None: (lambda E, V, W, Q, K: E @ Q @ (E @ V @ K).T,),
}

TOLD = ()
