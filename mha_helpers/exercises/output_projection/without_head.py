"""The exercise `without_head`."""

import numpy as np

from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.output_projection.mistakes import without_head as wrong


def without_head(W_Q, W_K, W_V, W_O, head, n_heads):
    d_head = len(W_O) // n_heads
    own = np.arange(head * d_head, (head + 1) * d_head)
    # The head's columns make its queries, keys and values; its rows carry its findings to the output.
    return (*(np.delete(W, own, axis=1) for W in (W_Q, W_K, W_V)), np.delete(W_O, own, axis=0))


def _arguments(seed, head, n_heads, d_head, d_model=None):
    width = n_heads * d_head
    d_model = d_model or width
    inner = dict.fromkeys(("W_Q", "W_K", "W_V"), (d_model, width))
    return draws(seed, **inner, W_O=(width, d_model)) | {"head": head, "n_heads": n_heads}


def _cases():
    return (
        Case("the second of three heads", _arguments(0, 1, 3, 4)),
        Case("the first head", _arguments(1, 0, 4, 2)),
        Case("the last head", _arguments(2, 3, 4, 3)),
        Case("as many heads as features in each", _arguments(3, 1, 3, 3)),
        Case("heads of one feature", _arguments(4, 2, 5, 1)),
        Case("heads that are wider together than the model", _arguments(6, 1, 3, 4, d_model=5)),
        in_float32(_arguments(5, 1, 3, 4)),
    )


def _changed_matrices(call, arguments, arrays):
    """Say which matrix already fails: what is left of each must be rows or columns of the original."""
    for name, array in zip(("W_Q", "W_K", "W_V", "W_O"), arrays, strict=True):
        if not np.isin(array, arguments[name]).all():
            return f"{name} holds numbers that were not in it. Nothing is computed here: rows or columns are left out."
    return None


exercise = Exercise(
    reference=without_head,
    outputs=("W_Q", "W_K", "W_V", "W_O"),
    cases=_cases(),
    mistakes=mistakes_in(wrong),
    properties=(_changed_matrices,),
    hints=(
        "Follow the head through the layer. Where are its queries in X @ W_Q? And which part of W_O do its findings "
        "meet?",
        "X @ W_Q has the head's features in some of its columns, and they come from the same columns of W_Q. In the "
        "concatenation, those columns meet the same rows of W_O.",
        "With d_head = len(W_O) // n_heads and `own = np.arange(head * d_head, (head + 1) * d_head)`, np.delete(W_Q, "
        "own, axis=1) leaves columns out, and np.delete(W_O, own, axis=0) rows.",
    ),
    on_success="You can make a layer smaller by a head, as Michel et al. (2019) did with trained models.",
)
