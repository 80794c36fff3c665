"""Answers to full_OV: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.circuits import full_OV

TELLING_CASE = ("other tokens in the end", 4)

RIGHT = (
    full_OV,
    lambda E, W_V, W_O, U: [(one @ W_V @ W_O @ U).tolist() for one in E],
    lambda E, W_V, W_O, U: (E @ W_V @ W_O @ U).astype(np.float32),
)

WRONG = {
    None: (lambda E, W_V, W_O, U: E @ W_O @ W_V @ U,),
}

TOLD = ()
