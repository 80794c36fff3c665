"""The exercise `full_OV`: what a head hands on, read off its matrices."""

from mha_helpers.circuits import full_OV as reference
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.heads_that_learn.mistakes import full_OV as wrong
from mha_helpers.exercises.inputs import draws, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in


def _case(trait, seed, n_tokens, d_model, d_head, n_outputs=None, dtype=float):
    shapes = {"E": (n_tokens, d_model), "W_V": (d_model, d_head), "W_O": (d_head, d_model)}
    drawn = draws(seed, **shapes, U=(d_model, n_outputs or n_tokens))
    return Case(trait, {name: array.astype(dtype) for name, array in drawn.items()})


# As the exercise wants it: the course's own also refuses arguments that don't fit together.
def full_OV(E, W_V, W_O, U):
    return E @ W_V @ W_O @ U


exercise = Exercise(
    reference=reference,
    outputs=("logits",),
    cases=(
        _case("five tokens", 0, 5, 6, 3),
        _case("three tokens", 1, 3, 8, 2),
        _case("as wide as the model", 2, 5, 4, 4),
        _case("all of one size", 3, 4, 4, 4),
        _case("other tokens in the end", 4, 3, 6, 2, n_outputs=7),
        _case("float32", 6, 4, 6, 3, dtype="float32"),
        whole_numbers(_case("", 5, 5, 6, 3).arguments),
    ),
    mistakes=mistakes_in(wrong),
    hints=(
        "Follow a token that gets all the weight: its vector, its value, what the head adds to the row, and what the "
        "logits make of that. It is one matrix product after another.",
        "E holds a row for each token. Rows are multiplied from the right: first W_V, then W_O, then U.",
        "E @ W_V @ W_O @ U.",
    ),
    on_success="The cell below reads the heads of your model with it.",
    model_answer=full_OV,
)
