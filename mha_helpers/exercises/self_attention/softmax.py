"""The exercise `softmax`."""

import numpy as np

from function_judge.properties import batch_mixed
from mha_helpers.attention import softmax
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import NEEDS_THE_ROWS_MAXIMUM, draws, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.properties import OF_WEIGHTS
from mha_helpers.exercises.self_attention.mistakes import softmax as wrong


def _softmax_cases():
    def scores(seed, *shape):
        return {"scores": 1.5 * draws(seed, scores=shape)["scores"]}

    def extreme(trait, rows, dtype=np.float64):
        return Case(trait, {"scores": np.array(rows, dtype)}, edge=True)

    # Only the row's own maximum, subtracted from every row, passes all of these: not the mean, not another
    # row's maximum, not a clipped score, not a shift for scores above some limit.
    apart = [[1000.0, 999.0, 998.0, -2000.0], [-1000.0, -1001.0, -999.0, -1003.0], [0.5, 1.5, -0.5, 1.0]]
    return (
        Case("a matrix", scores(0, 3, 5)),
        Case("one row", scores(1, 4)),
        Case("a square matrix", scores(2, 4, 4)),
        Case("a batch", scores(3, 2, 3, 5)),
        Case("a batch with heads", scores(4, 2, 3, 4, 5)),
        Case("a batch of one row", scores(7, 1, 1, 4)),
        in_float32(scores(5, 4, 6)),
        Case("a transposed view", {"scores": scores(6, 5, 4)["scores"].T}),
        whole_numbers(scores(8, 2, 3, 4)),
        extreme("very large scores", apart),
        extreme("very large scores in a batch", [apart[::-1], apart]),
        extreme("one very large score", [[0.25, 0.75, 1000.0, -1000.0], [0.0, 1.0, 2.0, 3.0]]),
        extreme("very low scores", [[-1000.0, -1001.0, -999.0], [-2000.0, -2000.5, -1999.0]]),
        extreme("large float32 scores", [[100.0, 99.0, 98.0], [-200.0, -201.0, -199.0]], np.float32),
    )


def _unsuited_to_a_row(call, arguments, arrays):
    if not np.isnan(arrays[0]).any():
        return None
    return (
        "Some weights are NaN (not a number): in their row, every exp rounds to 0, or one is too large for any float. "
        "What you add to a row before exp has to suit that row's own scores."
    )


def _wrong_ratios(call, arguments, arrays):
    differences = np.diff(np.log(arrays[0]), axis=-1) - np.diff(arguments["scores"], axis=-1)
    if np.allclose(differences, 0, atol=1e-3):
        return None
    return "Two weights of a row must have the ratio exp(difference of their scores); these do not."


exercise = Exercise(
    reference=softmax,
    outputs=("weights",),
    cases=_softmax_cases(),
    mistakes=mistakes_in(wrong),
    wrong_at_edges=NEEDS_THE_ROWS_MAXIMUM,
    properties=(_unsuited_to_a_row, *OF_WEIGHTS, batch_mixed(), _wrong_ratios),
    hints=(
        "Two steps: make every score positive with exp, then divide by a sum so that each row adds up to 1.",
        "The sum is over the last axis. With `axis=-1, keepdims=True` it keeps an axis of length 1 and lines up with "
        "its own row, in a matrix and in a batch alike.",
        "exp(1000) overflows. Subtract `scores.max(axis=-1, keepdims=True)` first. That divides every exponential of "
        "a row by the same number, which cancels in the division.",
    ),
    on_success="You can turn any scores into weights, at any size, for any number of leading axes.",
)
