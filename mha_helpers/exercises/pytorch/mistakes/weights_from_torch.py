"""The mistakes that people make in `weights_from_torch`."""

import itertools

import numpy as np

from mha_helpers.exercises.mistakes.catalogue import also, maker


@maker
def _per_head(d_head_of):
    """Read the rows as [query, key, value] of the first head, then of the next."""

    def wrong_weights(weight):
        d_model = weight.shape[1]
        rows = weight.reshape(-1, 3, d_head_of(d_model), d_model)
        return tuple(rows[:, i].reshape(d_model, d_model).T for i in range(3))

    return wrong_weights


def fused_transpose_forgotten(weight):
    """The transpose is forgotten. PyTorch keeps a row for each *output*, and multiplies by the transpose; the course's
    X @ W_Q needs a column for each output: .T of each third."""
    return tuple(np.split(weight, 3))


@also(order=list(itertools.permutations(range(3)))[1:], is_turned=(True, False))
def fused_thirds_exchanged(weight, order=(1, 0, 2), is_turned=True):
    """The thirds are exchanged. From the top they are queries, keys, values."""
    thirds = np.split(weight, 3)
    return tuple(thirds[i].T if is_turned else thirds[i] for i in order)


@also(lambda weight: tuple(weight[i::3] for i in range(3)))
def fused_interleaved(weight):
    """You take every third row, as if query, key and value took turns. All queries come first, then all keys, then all
    values: three blocks of d_model rows."""
    return tuple(weight[i::3].T for i in range(3))


@_per_head
@also(lambda d_model: d_model // 2)
def fused_per_head(d_model):
    """You read the rows head by head (queries, keys and values of head 0, then of head 1), as some models store them.
    Here all heads' queries come first."""
    return 2


@also(
    lambda weight: tuple(part.T for part in np.split(weight, 3, axis=1)),
    lambda weight: tuple(np.array_split(weight, 3, axis=1)),
    lambda weight: tuple(part.T for part in np.array_split(weight, 3, axis=1)),
)
def fused_cut_by_columns(weight):
    """You cut right through all three matrices. They stand below each other in the weight: cut its rows (axis=0). After
    .T they stand side by side: cut the columns there (axis=1)."""
    return tuple(np.split(weight, 3, axis=1))


def fused_reshaped(weight):
    """A reshape does not transpose: it reads the numbers row by row into another form, and mixes the three matrices.
    Cut the rows into thirds, then take .T of each."""
    return tuple(weight.T.reshape(3, weight.shape[1], -1))
