"""The exercise `multi_head_shapes`: notebook 06's warm-up."""

from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.real_model.mistakes import multi_head_shapes as wrong


def multi_head_shapes(batch, seq_len, d_model, n_heads):
    queries_in_heads = (batch, n_heads, seq_len, d_model // n_heads)
    weights = (batch, n_heads, seq_len, seq_len)
    concatenation = (batch, seq_len, d_model)
    return queries_in_heads, weights, concatenation


COUNTED = {
    "queries_in_heads": "sentences, heads, tokens, and the features of one head",
    "weights": "sentences, heads, queries and keys",
    "concatenation": "sentences, tokens and features",
}


def _axis_of_something_else(call, arguments, arrays):
    """Say what the axes count in the array that the check goes on to show: the last that is wrong."""
    right = multi_head_shapes(**arguments)
    [*_, name] = [name for name, got, want in zip(COUNTED, arrays, right, strict=True) if tuple(got) != want]
    return f"In order, the axes of {name} count {COUNTED[name]}."


exercise = Exercise(
    reference=multi_head_shapes,
    outputs=("queries_in_heads", "weights", "concatenation"),
    cases=(
        Case("two sentences", {"batch": 2, "seq_len": 5, "d_model": 12, "n_heads": 3}),
        Case("this notebook's model", {"batch": 1, "seq_len": 13, "d_model": 384, "n_heads": 12}),
        Case("one head", {"batch": 3, "seq_len": 4, "d_model": 6, "n_heads": 1}),
    ),
    mistakes=mistakes_in(wrong),
    properties=(_axis_of_something_else,),
    hints=(
        "Say what each axis counts: sentences, heads, tokens, features. Which of them does this array have?",
        "Queries in heads and weights have an axis of heads in front of the tokens. The concatenation has none.",
    ),
    on_success="You know every shape in the layer that you are about to put into a real model.",
)
