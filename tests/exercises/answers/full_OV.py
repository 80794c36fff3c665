"""Answers to full_OV: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.attention import softmax
from mha_helpers.maths.circuits import full_OV

CATALOGUE = ("ov-transposed", "ov-no-value", "ov-logits-left-out")

TELLING_CASE = ("other tokens in the end", 4)

RIGHT = (
    full_OV,
    lambda E, W_V, W_O, U: (E @ W_V) @ (W_O @ U),
    lambda E, W_V, W_O, U: np.linalg.multi_dot([E, W_V, W_O, U]),
    lambda E, W_V, W_O, U: np.einsum("tm,md,dn,no->to", E, W_V, W_O, U),
    lambda E, W_V, W_O, U: np.array([[row @ W_V @ W_O @ column for column in U.T] for row in E]),
    lambda E, W_V, W_O, U: (U.T @ W_O.T @ W_V.T @ E.T).T,
    lambda E, W_V, W_O, U: [(one @ W_V @ W_O @ U).tolist() for one in E],
    lambda E, W_V, W_O, U: (E @ W_V @ W_O @ U).astype(np.float32),
)

WRONG = {
    "ov-transposed": (lambda E, W_V, W_O, U: U.T @ W_O.T @ W_V.T @ E.T,),
    "ov-no-value": (lambda E, W_V, W_O, U: np.dot(E, U),),
    "ov-logits-left-out": (lambda E, W_V, W_O, U: (E @ W_V) @ W_O,),
    "ov-embedding-in-the-end": (lambda E, W_V, W_O, U: E @ W_V @ W_O @ np.transpose(E),),
    "ov-own-row-added": (lambda E, W_V, W_O, U: E @ U + E @ W_V @ W_O @ U,),
    "ov-softmax": (lambda E, W_V, W_O, U: softmax(full_OV(E, W_V, W_O, U)),),
    "ov-scaled": (lambda E, W_V, W_O, U: full_OV(E, W_V, W_O, U) / W_V.shape[1] ** 0.5,),
    "ov-diagonal-only": (lambda E, W_V, W_O, U: np.diagonal(full_OV(E, W_V, W_O, U)),),
    "ov-embedding-left-out": (lambda E, W_V, W_O, U: W_V @ (W_O @ U),),
    None: (
        lambda E, W_V, W_O, U: E @ W_V,
        lambda E, W_V, W_O, U: E @ W_O @ W_V @ U,
        lambda E, W_V, W_O, U: np.abs(full_OV(E, W_V, W_O, U)),
        lambda E, W_V, W_O, U: full_OV(E, W_V, W_O, U).sum(axis=1),
        lambda E, W_V, W_O, U: full_OV(E, W_V, W_O, U) > 0,
        lambda E, W_V, W_O, U: 2 * full_OV(E, W_V, W_O, U),
        lambda E, W_V, W_O: E @ W_V @ W_O,
        lambda E, W_V, W_O, U: E * W_V @ W_O @ U,
        lambda E, W_V, W_O, U: full_OV(E, W_V, W_O, U)[0],
        lambda E, W_V, W_O, U: (E @ W_V, W_O @ U),
    ),
}

TOLD = ()
