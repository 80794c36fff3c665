"""The exercise `head_entropy`."""

import math
from dataclasses import replace

import numpy as np

from function_judge.properties import batch_mixed, not_finite
from mha_helpers import measures
from mha_helpers.attention import softmax
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import in_float32
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.real_model.measured_weights import hundredths, in_another_order
from mha_helpers.exercises.real_model.mistakes import head_entropy as wrong
from mha_helpers.masks import causal_mask


# What the exercise asks for, without the checks: the reference stands on another function.
def head_entropy(weights):
    logarithms = np.log(np.where(weights > 0, weights, 1))  # log 1 = 0, so that a weight of 0 adds nothing
    entropies = -(weights * logarithms).sum(axis=-1)
    return entropies.mean(axis=-1)


# What the notebook gives to be repaired, somebody's entropy: 0 times log 0 is NaN, and all heads become one.
def _for_one_head(weights):
    terms = weights * np.log(weights)
    entropy_of_rows = -terms.sum(axis=-1)
    return entropy_of_rows.mean()


def _entropy_cases():
    rng = np.random.default_rng(5)
    uneven = softmax(3 * rng.normal(size=(3, 5)))
    tiny = np.array([[1e-30, 1e-12, 0.25, 0.75 - 1e-12], [1e-6, 0.5, 1e-3, 0.499 - 1e-6]])
    certain = np.array([[0, 1, 0, 0, 0], [0.1, 0.3, 0.2, 0.2, 0.2], [0, 0.5, 0, 0.25, 0.25]])
    hidden = {"weights": hundredths(6, 4, 6, visible=rng.random((4, 6)) < 0.7)["weights"]}
    return (
        Case("one head", hundredths(0, 4, 6)),
        Case("layers and heads", hundredths(1, 2, 3, 4, 6)),
        Case("three heads", hundredths(2, 3, 4, 5)),
        Case("sentences with layers and heads", hundredths(3, 3, 2, 5, 4, 6)),
        Case("uneven rows", {"weights": uneven}),
        Case("even rows", {"weights": np.full((2, 3, 4), 0.25)}),
        Case("another head", hundredths(7, 4, 6)),
        Case("one query", hundredths(8, 3, 1, 5)),
        Case("one key", hundredths(9, 3, 4, 1)),
        Case("as many heads as queries as keys", hundredths(10, 4, 4, 4)),
        Case("one layer of one head", hundredths(11, 1, 1, 5, 7)),
        in_float32(hundredths(12, 2, 4, 3, 5)),
        Case("transposed views", in_another_order(hundredths(13, 2, 3, 4, 6))),
        Case("weights of 0", hidden, edge=True),
        Case("weights of 1", {"weights": certain}, edge=True),
        Case("causal weights", hundredths(14, 2, 3, 6, 6, visible=causal_mask(6)), edge=True),
        replace(in_float32(hundredths(15, 2, 5, 5, visible=causal_mask(5))), trait="causal float32", edge=True),
        Case("tiny weights", {"weights": tiny}, edge=True),
    )


def _out_of_bounds(call, arguments, arrays):
    if (arrays[0] < -1e-6).any():
        return "An entropy is 0 or more; yours is negative."
    most = math.log(arguments["weights"].shape[-1])
    if (arrays[0] > most + 1e-4).any():
        return f"An entropy cannot be above log(n_keys), {most:.4f} here; yours is {arrays[0].max():.4f}."
    return None


def _depends_on_the_order(call, arguments, arrays):
    weights = arguments["weights"]
    for turned, what in ((weights[..., ::-1, :], "queries"), (weights[..., ::-1], "keys")):
        changed = call(weights=turned)
        if changed is None or changed[0].shape != arrays[0].shape:
            return None
        if not np.allclose(changed[0], arrays[0], atol=1e-4):
            return f"Your entropy changes when only the order of the {what} does; it must not depend on that."
    return None


exercise = Exercise(
    reference=measures.head_entropy,
    outputs=("entropy",),
    cases=_entropy_cases(),
    mistakes=mistakes_in(wrong),
    broken_version=_for_one_head,
    wrong_at_edges="Right where no weight is 0, or nearly 0. A weight of 0 must add 0, and np.log(0) is -infinity.",
    properties=(not_finite, _out_of_bounds, batch_mixed(n_axes=2), _depends_on_the_order),
    hints=(
        "Each row of weights has an entropy, -sum p log(p) over its keys. A head's is the mean over its rows.",
        "Two steps, and two axes: add up -p log(p) over the keys, .sum(axis=-1), then .mean(axis=-1) over the queries. "
        "What does np.log make of a weight of 0, and 0 times that?",
        "np.log(np.where(weights > 0, weights, 1)) is 0 where a weight is 0, so that its term is 0. Multiply this by "
        "-weights, add up, and average.",
    ),
    on_success="The cell below measures all 72 heads with it.",
    model_answer=head_entropy,
)
