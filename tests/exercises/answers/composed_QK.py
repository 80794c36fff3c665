"""Answers to composed_QK: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.attention import softmax
from mha_helpers.maths.circuits import composed_QK

CATALOGUE = ("qk-transposed", "qk-without-the-note", "qk-matrices-exchanged", "qk-not-divided")

TELLING_CASE = ("five tokens", 4)


def pair_by_pair(E, W_V0, W_O0, W_Q1, W_K1):
    scores = np.zeros((len(E), len(E)))
    for i, asking in enumerate(E):
        for j, noted in enumerate(E):
            scores[i, j] = (asking @ W_Q1) @ (noted @ W_V0 @ W_O0 @ W_K1) / W_K1.shape[1] ** 0.5
    return scores


RIGHT = (
    composed_QK,
    pair_by_pair,
    lambda E, V, W, Q, K: E @ Q @ K.T @ W.T @ V.T @ E.T / np.sqrt(K.shape[1]),
    lambda E, V, W, Q, K: np.einsum("tm,mq,nq,sn->ts", E, Q, K, E @ V @ W) / np.sqrt(Q.shape[1]),
    lambda E, V, W, Q, K: ((E @ V @ W @ K) @ (E @ Q).T).T * K.shape[1] ** -0.5,
    lambda E, V, W, Q, K: np.inner(E @ Q, E @ V @ W @ K) / np.sqrt(K.shape[-1]),
    lambda E, V, W, Q, K: (E @ (Q / np.sqrt(Q.shape[1])) @ (E @ (V @ W) @ K).T).tolist(),
)

WRONG = {
    "qk-transposed": (lambda E, V, W, Q, K: (E @ V @ W @ K) @ (E @ Q).T / np.sqrt(K.shape[1]),),
    "qk-without-the-note": (lambda E, V, W, Q, K: E @ Q @ K.T @ E.T / np.sqrt(K.shape[1]),),
    "qk-note-in-the-query": (lambda E, V, W, Q, K: (E @ V @ W @ Q) @ (E @ K).T / np.sqrt(K.shape[1]),),
    "qk-note-on-both-sides": (lambda E, V, W, Q, K: (E @ V @ W @ Q) @ (E @ V @ W @ K).T / np.sqrt(K.shape[1]),),
    "qk-note-and-token": (lambda E, V, W, Q, K: (E @ Q) @ (E @ K + E @ V @ W @ K).T / np.sqrt(K.shape[1]),),
    "qk-matrices-exchanged": (lambda E, V, W, Q, K: composed_QK(E, V, W, K, Q),),
    "qk-not-divided": (lambda E, V, W, Q, K: composed_QK(E, V, W, Q, K) * np.sqrt(K.shape[1]),),
    "qk-scale": (lambda E, V, W, Q, K: composed_QK(E, V, W, Q, K) / np.sqrt(K.shape[1]),),
    "qk-softmax": (lambda E, V, W, Q, K: softmax(composed_QK(E, V, W, Q, K)),),
    None: (
        lambda E, V, W, Q, K: E @ Q @ (E @ V @ K).T,
        lambda E, V, W, Q, K: E @ V @ W,
        lambda E, V, W, Q, K: np.diag(composed_QK(E, V, W, Q, K)),
        lambda E, V, W, Q, K: -composed_QK(E, V, W, Q, K),
        lambda E, V, W, Q, K: composed_QK(E, V, W, Q, K).argmax(axis=1),
        lambda E, V, W, Q, K: np.where(np.tri(len(E)), composed_QK(E, V, W, Q, K), -np.inf),
        lambda E, V, W, Q, K: composed_QK(E, V, W, Q, K) ** 2,
        lambda E, V, W, Q: E @ Q,
        lambda E, V, W, Q, K: (E @ Q, E @ V @ W @ K),
    ),
}

TOLD = ()
