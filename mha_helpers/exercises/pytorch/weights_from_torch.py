"""The exercise `weights_from_torch`: from PyTorch's fused, transposed weight to W_Q, W_K and W_V."""

import numpy as np

from mha_helpers import fused
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.pytorch.mistakes import weights_from_torch as wrong

OUTPUTS = ("W_Q", "W_K", "W_V")


def _case(trait, seed, d_model):
    return Case(trait, {"weight": draws(seed, weight=(3 * d_model, d_model))["weight"]})


# What the exercise asks, without the refusal of the course's own.
def weights_from_torch(weight):
    W_Q, W_K, W_V = np.split(weight, 3)
    return W_Q.T, W_K.T, W_V.T


exercise = Exercise(
    reference=fused.weights_from_torch,
    outputs=OUTPUTS,
    cases=(
        _case("four features", 0, 4),
        _case("six features", 1, 6),
        in_float32(_case("", 2, 8).arguments),
        _case("two features", 3, 2),
        _case("twelve features", 4, 12),
    ),
    mistakes=mistakes_in(wrong),
    hints=(
        "weight has 3 * d_model rows: first those of the queries, then of the keys, then of the values.",
        "nn.Linear computes x @ weight.T. What you multiply by in X @ W_Q is the transpose of the first third.",
        "np.split(weight, 3) cuts the rows into thirds; return .T of each.",
    ),
    on_success="You can run these weights, trained in PyTorch, on your own function.",
    model_answer=weights_from_torch,
)
