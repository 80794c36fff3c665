"""The exercise `scaled_dot_product_attention`."""

from dataclasses import replace

import numpy as np

from mha_helpers import attention
from mha_helpers.attention import attention_scores, softmax
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import (
    NEEDS_THE_ROWS_MAXIMUM,
    attention_arguments,
    attention_cases,
    draws,
    opposite_tokens,
    single_query,
)
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.mistakes.steps import WEIGHTS, root
from mha_helpers.exercises.properties import OF_ATTENTION
from mha_helpers.exercises.scaling.mistakes import scaled_dot_product_attention as wrong


def _scaled_cases():
    plain = [case for case in attention_cases() if not case.edge]
    # Twice as large, so that they are still too large once they are divided.
    too_large = [
        replace(case, arguments=case.arguments | {"queries": 2 * case.arguments["queries"]})
        for case in attention_cases()
        if case.edge
    ]
    three = attention_arguments
    return (
        *plain,
        Case("a scale of 0.3", three(20, (), 3, 5, 4, 2), options={"scale": 0.3}),
        Case("a scale of 0.7 with heads", three(21, (2, 3), 4, 5, 6, 7), options={"scale": 0.7}),
        # Not a stand-in for "no scale": neither 1 nor 0.
        Case("a scale of 1", three(24, (), 4, 3, 5, 2), options={"scale": 1.0}),
        Case("a scale of 0", three(22, (), 3, 4, 2, 5), options={"scale": 0.0}),
        Case("heads of one feature", three(23, (2, 3), 4, 5, 1, 6)),
        *too_large,
    )


def _probes():
    """Return cases in which a mistake shows alone, whatever is wrong with another step."""
    other_scale = {"scale": 0.3}
    alike = attention_arguments(53, (), 3, 3, 5, 5)
    # The scores of three tokens in a ring are the same along both axes, and not symmetric.
    ring = {"queries": np.eye(3), "keys": np.array([[1.0, 0.5, -1.0], [-1.0, 1.0, 0.5], [0.5, -1.0, 1.0]])}
    huge = opposite_tokens(1)
    return (
        Case("queries of one feature", attention_arguments(51, (), 3, 3, 1, 2)),
        Case("opposite tokens", opposite_tokens(5)),
        Case("opposite tokens, and a scale", opposite_tokens(5), options=other_scale),
        Case("one query", single_query(5, 3)),
        Case("one query, and a scale", single_query(5, 3), options=other_scale),
        Case("one query of one feature", single_query(1, 3)),
        Case("tokens in a ring", ring | draws(52, values=(3, 2)), options={"scale": 1.0}),
        Case("values that are the keys", alike | {"values": alike["keys"]}),
        Case("opposite tokens, far apart", huge | {"queries": 2000 * huge["queries"]}),
    )


def _wrong_temperature(call, arguments, arrays):
    """Where only the divisor is unknown, the weights' ratios give it away."""
    scores = attention_scores(arguments["queries"], arguments["keys"])
    with np.errstate(all="ignore"):
        logarithms = np.log(arrays[1])
    steps, wanted = np.diff(logarithms, axis=-1).ravel(), np.diff(scores, axis=-1).ravel()
    if not np.isfinite(steps).all() or not wanted.any():
        return None
    factor = (steps @ wanted) / (wanted @ wanted)
    if not np.allclose(steps, factor * wanted, atol=1e-3):
        return "Your weights are not the softmax of Q K^T times a number. The same number must multiply all scores."
    scale = arguments.get("scale")
    due = f"{root(arguments['queries']):.4f}, 1 / sqrt(d_head)" if scale is None else f"{scale}, the scale given"
    return f"Your weights are the softmax of Q K^T times {factor + 0.0:.4f}; it should be times {due}."


# What the exercise asks, without the masks of the course's own.
def scaled_dot_product_attention(queries, keys, values, scale=None):
    if scale is None:
        scale = 1 / np.sqrt(queries.shape[-1])
    weights = softmax(attention_scores(queries, keys) * scale)
    return weights @ values, weights


exercise = Exercise(
    reference=attention.scaled_dot_product_attention,
    outputs=("context", "weights"),
    first_output=WEIGHTS,
    cases=_scaled_cases(),
    probes=_probes(),
    mistakes=mistakes_in(wrong),
    wrong_at_edges=NEEDS_THE_ROWS_MAXIMUM,
    properties=(*OF_ATTENTION, _wrong_temperature),
    hints=(
        "It is notebook 01's dot_product_attention, with one more step between scores and softmax.",
        "d_head is the last axis of queries and keys: queries.shape[-1]. Its root: np.sqrt(...).",
        "`if scale is None: scale = 1 / np.sqrt(queries.shape[-1])`. Then multiply the scores by scale.",
    ),
    on_success="You have written equation 1 of Vaswani et al. (2017).",
    model_answer=scaled_dot_product_attention,
)
