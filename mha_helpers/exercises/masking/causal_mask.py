"""The exercise `causal_mask`."""

import numpy as np

from function_judge.properties import first_marked
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.masking.boolean_masks import not_of_ones_and_zeros, sees_the_future
from mha_helpers.exercises.masking.mistakes import causal_mask as wrong
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.masks import causal_mask

CASES = (
    Case("four tokens", {"n": 4}),
    Case("seven tokens", {"n": 7}),
    Case("two tokens", {"n": 2}),
    Case("one token", {"n": 1}),
    Case("a hundred tokens", {"n": 100}),  # more than a mask made once, and cut to size, may have room for
)


def _misses_the_past(call, arguments, arrays):
    def say(query, key):
        return f"Query {query} does not see {'itself' if query == key else f'key {key}, which comes before it'}."

    return first_marked(np.tril(arrays[0] == 0), say)


exercise = Exercise(
    reference=causal_mask,
    outputs=("mask",),
    cases=CASES,
    mistakes=mistakes_in(wrong),
    properties=(not_of_ones_and_zeros, sees_the_future, _misses_the_past),
    hints=(
        "Row i belongs to query i. Which of the columns 0, 1, 2, ... may it see?",
        "Query i may see key j where j <= i: the diagonal and everything below it.",
        "np.tril keeps that part of a matrix: start from np.ones((n, n), dtype=bool).",
    ),
    on_success="You can keep the future hidden. The leak detector below runs on your mask.",
)
