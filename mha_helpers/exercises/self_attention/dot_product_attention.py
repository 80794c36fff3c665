"""The exercise `dot_product_attention`."""

from mha_helpers.attention import dot_product_attention
from mha_helpers.exercises.engine import Exercise
from mha_helpers.exercises.inputs import NEEDS_THE_ROWS_MAXIMUM, attention_cases
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.mistakes.steps import WEIGHTS
from mha_helpers.exercises.properties import OF_ATTENTION
from mha_helpers.exercises.self_attention.mistakes import dot_product_attention as wrong

exercise = Exercise(
    reference=dot_product_attention,
    outputs=("context", "weights"),
    first_output=WEIGHTS,
    cases=attention_cases(),
    mistakes=mistakes_in(wrong),
    wrong_at_edges=NEEDS_THE_ROWS_MAXIMUM,
    properties=OF_ATTENTION,
    hints=(
        "Three steps: scores, then weights, then the mixture. For the first two, you have written a function each.",
        "The context of a query is the average of the values under its weights: one matrix product.",
        "weights = softmax(attention_scores(queries, keys)), then weights @ values. Return both, the context first.",
    ),
    on_success="You have written self-attention. The labs below run on your function.",
)
