"""The exercise `attention_received`: which axis?"""

import numpy as np

from function_judge.properties import not_finite
from mha_helpers.attention import softmax
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.self_attention.mistakes import attention_received as wrong
from mha_helpers.measures import attention_received


def _weights(seed, *shape):
    return {"weights": softmax(1.5 * draws(seed, scores=shape)["scores"])}


CASES = (
    Case("four queries and five keys", _weights(0, 4, 5)),
    Case("more queries than keys", _weights(1, 5, 3)),
    Case("a square matrix", _weights(2, 4, 4)),
    Case("one query", _weights(3, 1, 4)),
    Case("a batch", _weights(4, 2, 3, 5)),
    Case("two axes in front", _weights(5, 2, 3, 4, 5)),
    Case("a cube", _weights(6, 3, 3, 3)),
    in_float32(_weights(7, 4, 6)),
    Case("a transposed view", {"weights": softmax(draws(8, scores=(3, 5))["scores"]).T.copy().T}),
)


def _total_changed(call, arguments, arrays):
    n_queries = arguments["weights"].shape[-2]
    totals = arrays[0].sum(axis=-1)
    if np.allclose(totals, n_queries, atol=1e-3):
        return None
    return (
        f"Each of the {n_queries} queries gives away 1, so what the keys receive must add up to {n_queries}; "
        f"yours adds up to {totals.flat[0]:.4f}."
    )


exercise = Exercise(
    reference=attention_received,
    outputs=("received",),
    cases=CASES,
    mistakes=mistakes_in(wrong),
    properties=(not_finite, _total_changed),
    hints=(
        "Rows are queries, which give; columns are keys, which receive. What does one key receive: a row or a column?",
        "It is a column. You add up down the queries, so the queries' axis is the one that disappears.",
        "In weights of shape (..., n_queries, n_keys) the queries are the second axis from the end: "
        "weights.sum(axis=-2).",
    ),
    on_success="You can say which token a sentence listens to most.",
)
