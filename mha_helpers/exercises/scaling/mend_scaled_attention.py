"""The exercise `mend_scaled_attention`: a divisor with two faults, to find and repair."""

from function_judge.properties import batch_mixed, not_finite
from mha_helpers.attention import softmax
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import attention_arguments, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.mistakes.steps import WEIGHTS
from mha_helpers.exercises.properties import context_is_not_the_mixture, rows_do_not_sum_to_one
from mha_helpers.exercises.scaling.mistakes import mend_scaled_attention as wrong


def mend_scaled_attention(queries, keys, values):
    width = queries.shape[-1]
    divisor = width**0.5
    weights = softmax(queries @ keys.swapaxes(-1, -2) / divisor)
    return weights @ values, weights


CASES = (
    Case("one sentence, three features", attention_arguments(0, (), 5, 5, 3, 2)),
    Case("one sentence, four features", attention_arguments(1, (), 3, 5, 4, 2)),
    Case("a batch, four features", attention_arguments(2, (2,), 3, 5, 4, 6)),
    Case("a batch, six features", attention_arguments(3, (2,), 5, 4, 6, 3)),
    Case("two axes in front", attention_arguments(4, (2, 3), 4, 5, 6, 7)),
    in_float32(attention_arguments(5, (), 3, 4, 5, 2)),
)


exercise = Exercise(
    reference=mend_scaled_attention,
    outputs=("context", "weights"),
    first_output=WEIGHTS,
    cases=(*CASES, whole_numbers(CASES[1].arguments)),
    mistakes=mistakes_in(wrong),
    broken_version=wrong.mend_scaled_attention,
    properties=(not_finite, rows_do_not_sum_to_one, batch_mixed(), context_is_not_the_mixture),
    hints=(
        "There are two faults, both in the first two lines. The example hides them: it has one sentence, and four "
        "features.",
        "What is 9 ** 1 / 2 in Python? And what is shape[1] of a batch, (batch, n_queries, d_head)?",
        "Powers bind before divisions, so `width ** 1 / 2` is half of width: write `width**0.5` or np.sqrt(width). The "
        "features are always the last axis: queries.shape[-1].",
    ),
    on_success="You fixed two bugs that neither shapes nor row sums would reveal.",
)
