"""The exercise `previous_token_score`."""

import numpy as np

from function_judge.properties import batch_mixed, moved, not_finite, raised
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.real_model.measured_weights import hundredths, in_another_order
from mha_helpers.exercises.real_model.mistakes import previous_token_score as wrong
from mha_helpers.masks import causal_mask
from mha_helpers.measures import previous_token_score


def _previous_cases():
    padded = np.arange(6) < 4
    looks_back = {"weights": 0.25 * hundredths(7, 3, 5, 5)["weights"] + 0.75 * np.eye(5)[[0, 0, 1, 2, 3]]}
    sixteen = hundredths(13, 2, 16, 16)
    sixteen["weights"][0] = np.eye(16)[[0, *range(15)]]  # a head that looks at nothing else
    return (
        Case("one head", hundredths(54, 5, 5)),
        Case("layers and heads", hundredths(1, 2, 3, 5, 5)),
        Case("three heads", hundredths(2, 3, 4, 4)),
        Case("sentences with layers and heads", hundredths(3, 3, 2, 5, 4, 4)),
        Case("causal weights", hundredths(4, 2, 6, 6, visible=causal_mask(6))),
        Case("hidden padding", hundredths(5, 2, 3, 6, 6, visible=padded)),
        Case("two tokens", hundredths(6, 3, 2, 2)),
        Case("heads that look back", looks_back),
        Case("as many heads as tokens", hundredths(8, 4, 4, 4)),
        Case("sixteen tokens", sixteen),
        Case("one layer of one head", hundredths(9, 1, 1, 7, 7)),
        Case("another head", hundredths(10, 5, 5)),
        whole_numbers({"weights": np.eye(5)[[[0, 0, 1, 1, 2], [0, 0, 1, 2, 4], [0, 1, 1, 3, 3]]]}),
        in_float32(hundredths(11, 2, 4, 5, 5)),
        Case("transposed views", in_another_order(hundredths(12, 2, 3, 4, 4))),
    )


def _wrong_cells(call, arguments, arrays):
    """Name the first weight that counts and must not, or the other way round."""
    weights = arguments["weights"]
    for i, j in np.ndindex(weights.shape[-2:]):
        changed = call(weights=raised(weights, (..., i, j)))
        if changed is None or changed[0].shape != arrays[0].shape:
            return None
        counts = moved(changed[0], arrays[0]).any()
        if counts and j != i - 1:
            whom = "itself" if i == j else f"token {j}"
            return f"Your score changes with weights[..., {i}, {j}], what token {i} gives to {whom}: it must not count."
        if j == i - 1 and not counts:
            return f"Your score does not change with weights[..., {i}, {j}], what token {i} gives to the one before it."
    return None


def _not_a_mean_of_weights(call, arguments, arrays):
    if ((arrays[0] >= 0) & (arrays[0] <= 1)).all():
        return None
    return "A mean of weights is between 0 and 1; yours is not."


exercise = Exercise(
    reference=previous_token_score,
    outputs=("score",),
    cases=_previous_cases(),
    mistakes=mistakes_in(wrong),
    properties=(not_finite, _not_a_mean_of_weights, batch_mixed(n_axes=2), _wrong_cells),
    hints=(
        "Rows are queries: where in row i is token i's weight on the token before it? Which row has no such place?",
        "weights[..., i, i - 1], for i from 1 to n_tokens - 1: the diagonal that is one step below the main one. Take "
        "the mean of these n_tokens - 1 weights, for each head by itself.",
        "np.diagonal(weights, offset=-1, axis1=-2, axis2=-1) has them on its last axis; so has "
        "weights[..., i, i - 1] with i = np.arange(1, n_tokens). Then .mean(axis=-1).",
    ),
    on_success="The cell below runs your score over all 72 heads of a trained model.",
)
