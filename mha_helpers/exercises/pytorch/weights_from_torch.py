"""The exercise `weights_from_torch`: from PyTorch's fused, transposed weight to W_Q, W_K and W_V."""

import numpy as np

from mha_helpers.exercises.engine import Case, Exercise, Mistake
from mha_helpers.exercises.inputs import draws
from mha_helpers.maths import fused

OUTPUTS = ("W_Q", "W_K", "W_V")


def _case(trait, seed, d_model, dtype=np.float64):
    return Case(trait, {"weight": draws(seed, weight=(3 * d_model, d_model))["weight"].astype(dtype)})


def _thirds(weight):
    return np.split(weight, 3)


def _ordered(*order):
    return lambda weight: tuple(_thirds(weight)[i].T for i in order)


def _per_head(d_head_of):
    """Read the rows as [query, key, value] of the first head, then of the next."""

    def wrong_weights(weight):
        d_model = weight.shape[1]
        rows = weight.reshape(-1, 3, d_head_of(d_model), d_model)
        return tuple(rows[:, i].reshape(d_model, d_model).T for i in range(3))

    return wrong_weights


FUSED_MISTAKES = (
    Mistake(
        "fused-transpose-forgotten",
        "The transpose is forgotten. PyTorch keeps a row for each *output*, and multiplies by the transpose; the "
        "course's X @ W_Q needs a column for each output: .T of each third.",
        (
            lambda weight: tuple(_thirds(weight)),
            lambda weight: tuple(weight.reshape(3, -1, weight.shape[1])),
        ),
    ),
    Mistake(
        "fused-thirds-exchanged",
        "The thirds are exchanged. From the top they are queries, keys, values.",
        (
            *(_ordered(*order) for order in ((1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1))),
            *(
                lambda weight, order=order: tuple(_thirds(weight)[i] for i in order)
                for order in ((1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1))
            ),
        ),
    ),
    Mistake(
        "fused-interleaved",
        "You take every third row, as if query, key and value took turns. All queries come first, then all keys, then "
        "all values: three blocks of d_model rows.",
        (
            lambda weight: tuple(weight[i::3].T for i in range(3)),
            lambda weight: tuple(weight[i::3] for i in range(3)),
        ),
    ),
    Mistake(
        "fused-per-head",
        "You read the rows head by head (queries, keys and values of head 0, then of head 1), as some models store "
        "them. Here all heads' queries come first.",
        (
            _per_head(lambda d_model: 2),
            _per_head(lambda d_model: d_model // 2),
        ),
    ),
    Mistake(
        "fused-cut-by-columns",
        "You cut right through all three matrices. They stand below each other in the weight: cut its rows (axis=0). "
        "After .T they stand side by side: cut the columns there (axis=1).",
        (
            lambda weight: tuple(np.split(weight, 3, axis=1)),
            lambda weight: tuple(part.T for part in np.split(weight, 3, axis=1)),
            lambda weight: tuple(np.array_split(weight, 3, axis=1)),
            lambda weight: tuple(part.T for part in np.array_split(weight, 3, axis=1)),
        ),
    ),
    Mistake(
        "fused-reshaped",
        "A reshape does not transpose: it reads the numbers row by row into another form, and mixes the three "
        "matrices. Cut the rows into thirds, then take .T of each.",
        (lambda weight: tuple(weight.T.reshape(3, weight.shape[1], -1)),),
    ),
)


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
        _case("float32", 2, 8, np.float32),
        _case("two features", 3, 2),
        _case("twelve features", 4, 12),
    ),
    mistakes=FUSED_MISTAKES,
    hints=(
        "weight has 3 * d_model rows: first those of the queries, then of the keys, then of the values.",
        "nn.Linear computes x @ weight.T. What you multiply by in X @ W_Q is the transpose of the first third.",
        "np.split(weight, 3) cuts the rows into thirds; return .T of each.",
    ),
    on_success="You can run these weights, trained in PyTorch, on your own function.",
    model_answer=weights_from_torch,
)
