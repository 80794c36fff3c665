"""The exercise `dot_product_variance`."""

import numpy as np

from function_judge.properties import not_finite
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.scaling.mistakes import dot_product_variance as wrong
from mha_helpers.measures import dot_product_variance

FIRST_PAIRS = (
    "variance-first-pairs",
    "It is right for few pairs, and goes wrong for many: do you use the first ones only, or a number of your own for "
    "how many there are? Use them all; how many there are is len(queries).",
)


def _variance_cases():
    shifted = {name: array + 0.5 for name, array in draws(2, queries=(7, 3), keys=(7, 3)).items()}
    views = {name: array.T for name, array in draws(4, queries=(3, 6), keys=(3, 6)).items()}
    return (
        Case("five pairs", draws(0, queries=(5, 4), keys=(5, 4))),
        Case("many pairs", draws(1, queries=(40, 9), keys=(40, 9)), when_only_these_fail=FIRST_PAIRS),
        Case("250 pairs", draws(8, queries=(250, 3), keys=(250, 3)), when_only_these_fail=FIRST_PAIRS),
        whole_numbers(draws(9, queries=(9, 4), keys=(9, 4))),
        Case("a mean that is not 0", shifted),
        in_float32(draws(3, queries=(8, 4), keys=(8, 4))),
        Case("transposed views", views),
        Case("as many pairs as features", draws(5, queries=(4, 4), keys=(4, 4))),
        Case("one feature", draws(6, queries=(6, 1), keys=(6, 1))),
        Case("one pair", draws(7, queries=(1, 5), keys=(1, 5))),
    )


def _negative(call, arguments, arrays):
    return "A variance is a mean of squares and cannot be negative." if (arrays[0] < 0).any() else None


exercise = Exercise(
    reference=dot_product_variance,
    outputs=("variance",),
    cases=_variance_cases(),
    # A dot product of one feature is its product, and of dot products that are all 0 the spread is its own square.
    probes=(
        Case("one feature, once more", draws(10, queries=(5, 1), keys=(5, 1))),
        Case("products that cancel", {"queries": np.ones((3, 2)), "keys": np.array([[1.0, -1.0]] * 3)}),
    ),
    mistakes=mistakes_in(wrong),
    properties=(not_finite, _negative),
    hints=(
        "Two steps: one dot product for each pair, then the variance of these numbers.",
        "The dot product of a pair: multiply the two rows cell by cell, and add up over the features. For all pairs at "
        "once: (queries * keys).sum(axis=-1).",
        "np.var(a), or a.var(), is the mean squared distance of the numbers in a from their mean.",
    ),
    on_success="You have measured what the first picture shows.",
)
