"""The exercise `softmax_jacobian`."""

import numpy as np

from function_judge.properties import not_finite
from mha_helpers.attention import softmax, softmax_jacobian
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.scaling.mistakes import softmax_jacobian as wrong


def _jacobian_cases():
    def row(seed, n_keys):
        return {"p": softmax(draws(seed, scores=n_keys)["scores"])}

    return (
        Case("four keys", row(0, 4)),
        Case("seven keys", row(1, 7)),
        Case("two keys", {"p": np.array([0.25, 0.75])}),
        Case("equal weights", {"p": np.full(5, 0.2)}),
        in_float32(row(2, 6)),
        Case("all weight on one key", {"p": np.array([0.0, 1.0, 0.0])}),
        Case("one key", {"p": np.array([1.0])}),
    )


def _nudged(call, arguments, arrays):
    """In float32 a small nudge is lost in rounding: what is right in float64 then goes wrong there alone."""
    p = arguments["p"] / arguments["p"].sum(dtype=np.float64)
    finer = None if arguments["p"].dtype == np.float64 else call(p=p)
    if finer is None or not np.allclose(finer[0], softmax_jacobian(p), atol=1e-4):
        return None
    return (
        "Do you nudge the scores? That is only approximate, and in float32 a small nudge is lost in rounding. Compute "
        "the entries from p alone, without the scores."
    )


def _rows_do_not_cancel(call, arguments, arrays):
    sums = arrays[0].sum(axis=-1)
    rows = np.flatnonzero(~np.isclose(sums, 0, atol=1e-4))
    if not len(rows):
        return None
    return (
        "Weights always sum to 1, so what one gains the others lose: every row and column must sum to 0. "
        f"Your row {rows[0]} sums to {sums[rows[0]]:.4f}."
    )


def _not_symmetric(call, arguments, arrays):
    if np.allclose(arrays[0], arrays[0].T, atol=1e-5):
        return None
    return "The matrix must be symmetric: p[i] p[j] is p[j] p[i]."


exercise = Exercise(
    reference=softmax_jacobian,
    outputs=("jacobian",),
    cases=_jacobian_cases(),
    mistakes=mistakes_in(wrong),
    properties=(not_finite, _nudged, _rows_do_not_cancel, _not_symmetric),
    hints=(
        "Off the diagonal, multiply two of the weights: 0.665 × 0.245 is 0.163. And what is its sign?",
        "Weights always sum to 1, so each column sums to 0: the entry on the diagonal is what the others lose "
        "together, p[i] - p[i]^2.",
        "Both in one: p[i] p[j] is subtracted everywhere, and p[i] is added on the diagonal. np.diag(p) is a matrix "
        "with p on its diagonal; np.outer(p, p) holds every product p[i] p[j].",
    ),
    on_success="You can tell how sensitive any row of weights is to its scores.",
)
