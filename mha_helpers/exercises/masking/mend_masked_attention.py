"""The exercise `mend_masked_attention`: hiding with a number that scores can undercut, to find and repair."""

import numpy as np

from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import attention_arguments, in_float32, whole_numbers
from mha_helpers.exercises.masking.mistakes import mend_masked_attention as wrong
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.properties import context_is_not_the_mixture, hidden_keys_have_weight
from mha_helpers.masks import causal_mask


def mend_masked_attention(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    scores = np.where(mask, scores, np.finfo(scores.dtype).min)  # finite, so that an empty row is not NaN
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    weights = np.where(mask, weights, 0)
    context = weights @ values
    return context, weights


SEVERAL = np.array([[1, 0, 1, 1], [0, 1, 1, 0], [1, 1, 0, 0]], bool)
ONE_EMPTY = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 0, 0]], bool)


def _with(mask, arguments):
    return arguments | {"mask": np.array(mask)}


def _low_scores(distance):
    """Two queries whose scores all lie about so far below 0 (or above it), and differ by a little."""
    queries = np.array([[1.0, 0.0], [0.0, 1.0]])
    keys = -distance * np.sqrt(2) + np.array([[0.0, 1.0], [1.0, -0.5], [-1.0, 0.25]])
    values = np.array([[1.0, 2.0], [-3.0, 4.0], [5.0, -6.0]])
    return {"queries": queries, "keys": keys, "values": values}


TWO_OF_THREE = [[True, True, False], [True, False, True]]
CASES = (
    Case("a causal mask", _with(causal_mask(4), attention_arguments(0, (), 4, 4, 3, 2))),
    Case("scattered holes", _with(SEVERAL, attention_arguments(1, (), 3, 4, 5, 2))),
    Case("a row that sees nothing", _with(ONE_EMPTY, attention_arguments(2, (), 3, 4, 5, 2))),
    in_float32(_with(SEVERAL, attention_arguments(3, (), 3, 4, 2, 5))),
    Case("scores around -150", _with(TWO_OF_THREE, _low_scores(150)), edge=True),
    Case("scores around -20,000", _with(TWO_OF_THREE, _low_scores(20_000)), edge=True),
    Case("scores around 1,000", _with(TWO_OF_THREE, _low_scores(-1000)), edge=True),
    Case("scores around -1e10", _with(TWO_OF_THREE, _low_scores(1e10)), edge=True),
)


exercise = Exercise(
    reference=mend_masked_attention,
    outputs=("context", "weights"),
    cases=(*CASES, whole_numbers(CASES[1].arguments)),
    mistakes=mistakes_in(wrong),
    broken_version=wrong.mend_masked_attention,
    wrong_at_edges="It is right for ordinary scores, but goes wrong when all of them are very low or very high.",
    properties=(hidden_keys_have_weight, context_is_not_the_mixture),
    hints=(
        "There are two faults. For the first one: what if the visible scores lie below -100? For the second one: what "
        "if a row of the mask is False throughout?",
        "The number that hides must lie below every score that there can be, and a row without any visible key must "
        "end up with zeros.",
        "-np.inf lies below every score. Afterwards, before the values are mixed, np.where(mask, weights, 0) clears "
        "the rows that see nothing.",
    ),
    on_success="You can hide a key so that it gets no weight at all, whatever the scores are.",
)
