"""Answers to weights_from_torch: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.fused import weights_from_torch

TELLING_CASE = ("six features", 2)

RIGHT = (
    weights_from_torch,
    lambda weight: np.hsplit(weight.transpose(), 3),
)


def transposed_in_vain(weight):
    W_Q, W_K, W_V = np.split(weight, 3)
    W_Q.T  # noqa: B018
    W_K.T  # noqa: B018
    W_V.T  # noqa: B018
    return W_Q, W_K, W_V


def taken_apart_by_features(weight):
    W_Q, W_K, W_V = np.array(np.split(weight, 3)).T
    return W_Q, W_K, W_V


WRONG = {
    None: (lambda weight: (weight[:4].T, weight[4:8].T, weight[8:].T),),
}

TOLD = ((taken_apart_by_features, "An array is taken apart along its first axis; print its shape."),)
