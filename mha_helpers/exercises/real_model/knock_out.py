"""The exercise `knock_out`."""

import numpy as np

from mha_helpers.attention import knock_out
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.mistakes.steps import rows_of
from mha_helpers.exercises.real_model.mistakes import knock_out as wrong


def _arguments(seed, shape, heads, n_heads):
    return draws(seed, W_O=shape) | {"heads": np.array(heads, dtype=int), "n_heads": n_heads}


def _knock_out_cases():
    views = _arguments(14, (10, 12), [2, 1], 4)
    return (
        Case("one head of three", _arguments(0, (12, 12), [1], 3)),
        Case("two heads of five", _arguments(1, (15, 15), [1, 3], 5)),
        Case("heads in any order", _arguments(2, (15, 15), [4, 0, 2], 5)),
        Case("the first head", _arguments(3, (6, 6), [0], 2)),
        Case("the last head", _arguments(4, (12, 12), [3], 4)),
        Case("a head named twice", _arguments(5, (16, 16), [2, 0, 2], 4)),
        Case("no heads", _arguments(6, (12, 12), [], 3)),
        Case("all heads", _arguments(7, (6, 6), [0, 1, 2], 3)),
        Case("the only head", _arguments(8, (4, 4), [0], 1)),
        Case("heads of one feature", _arguments(9, (5, 5), [1, 4], 5)),
        Case("twelve heads", _arguments(10, (24, 24), [11, 7, 0], 12)),
        Case("ten heads of twelve", _arguments(15, (24, 24), [11, 10, 9, 8, 6, 5, 4, 3, 1, 0], 12)),
        Case("more rows than columns", _arguments(11, (21, 8), [2, 5], 7)),
        Case("fewer rows than columns", _arguments(12, (6, 20), [1], 2)),
        in_float32(_arguments(13, (15, 15), [0, 3], 5)),
        Case("transposed views", views | {"W_O": views["W_O"].T}),
    )


def _first_wrong_row(call, arguments, arrays):
    """Say whose row is the first that is wrong, and what is wrong with it."""
    W_O, heads, n_heads = arguments.values()
    off = rows_of(heads, len(W_O), n_heads)
    wrong = ~np.isclose(arrays[0], np.where(off[:, None], 0, W_O), atol=1e-5).all(axis=-1)
    if not wrong.any():
        return None
    row = wrong.argmax()
    head = row * n_heads // len(W_O)
    due = "which is switched off: it must be 0" if off[row] else "which stays on: it must be as it was"
    return f"Row {row} is one of head {head}'s, {due}."


exercise = Exercise(
    reference=knock_out,
    outputs=("new_W_O",),
    cases=_knock_out_cases(),
    mistakes=mistakes_in(wrong),
    properties=(_first_wrong_row,),
    hints=(
        "What a head adds to the output is its numbers times its own rows of W_O. What must these rows be for it to "
        "add nothing? And whose matrix do you write into?",
        "Head i has rows i * d_head to (i + 1) * d_head, with d_head = W_O.shape[0] // n_heads. Write into a copy, "
        "W_O.copy(), for each head in turn.",
        "In a loop over heads: result[head * d_head : (head + 1) * d_head] = 0. Or all at once: blocks = "
        "W_O.reshape(n_heads, d_head, -1).copy(), then blocks[heads] = 0, and back to W_O.shape.",
    ),
    on_success="The cells below switch heads of a trained model off with your function.",
)
