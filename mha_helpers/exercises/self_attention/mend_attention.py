"""The exercise `mend_attention`: a softmax over the wrong axis, to find and repair."""

import numpy as np

from function_judge.properties import not_finite
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import attention_arguments, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.mistakes.steps import WEIGHTS
from mha_helpers.exercises.properties import context_is_not_the_mixture, rows_do_not_sum_to_one
from mha_helpers.exercises.self_attention.mistakes import mend_attention as wrong


def mend_attention(queries, keys, values):
    weights = np.exp(queries @ keys.swapaxes(-1, -2))
    for i in range(len(queries)):
        weights[i] = weights[i] / weights[i].sum()
    return weights @ values, weights


def _arguments(seed, n_queries, n_keys, d_head, d_value):
    return attention_arguments(seed, (), n_queries, n_keys, d_head, d_value)


CASES = (
    Case("four tokens", _arguments(0, 4, 4, 3, 2)),
    Case("more keys than queries", _arguments(1, 3, 5, 4, 2)),
    Case("more queries than keys", _arguments(2, 5, 3, 4, 6)),
    Case("one query", _arguments(3, 1, 4, 2, 3)),
    in_float32(_arguments(4, 3, 4, 2, 5)),
)


exercise = Exercise(
    reference=mend_attention,
    outputs=("context", "weights"),
    first_output=WEIGHTS,
    cases=(*CASES, whole_numbers(CASES[1].arguments)),
    mistakes=mistakes_in(wrong),
    broken_version=wrong.mend_attention,
    properties=(not_finite, rows_do_not_sum_to_one, context_is_not_the_mixture),
    hints=(
        "In the example, every row and every column holds the same numbers, so their sums agree. Try it on the "
        "course's queries and keys, and add up each row.",
        "The rows don't sum to 1. Who shares out the attention here: the queries (rows) or the keys (columns)?",
        "The loop goes over the keys, and divides columns by their sums. It must go over the queries, and divide rows.",
    ),
    on_success="You can tell a softmax over the wrong axis by its rows: they no longer sum to 1 (except in lucky "
    "examples, like the one above).",
)
