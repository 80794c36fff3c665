"""The exercise `composed_QK`: whom a head asks for, by the notes of a head below."""

from mha_helpers.circuits import composed_QK as reference
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.heads_that_learn.mistakes import composed_QK as wrong
from mha_helpers.exercises.inputs import draws, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in


def _case(trait, seed, n_tokens, d_model, d_below, d_head, dtype=float):
    shapes = {"E": (n_tokens, d_model), "W_V0": (d_model, d_below), "W_O0": (d_below, d_model)}
    drawn = draws(seed, **shapes, W_Q1=(d_model, d_head), W_K1=(d_model, d_head))
    drawn |= {name: (drawn[name] / 2).round(2) for name in ("W_Q1", "W_K1")}  # scores that spread by 1 to 3
    return Case(trait, {name: array.astype(dtype) for name, array in drawn.items()})


# One token's score is its own transpose, and between matrices of one size a wrong width can't show.
PROBES = (_case("one token", 6, 1, 5, 3, 2), _case("all of one size, once more", 7, 4, 4, 4, 4))


# What the exercise asks, without the refusals of the course's own.
def composed_QK(E, W_V0, W_O0, W_Q1, W_K1):
    notes = E @ W_V0 @ W_O0
    queries, keys = E @ W_Q1, notes @ W_K1
    return queries @ keys.T / np.sqrt(W_K1.shape[1])  # noqa: F821 - the notebook's


exercise = Exercise(
    reference=reference,
    outputs=("scores",),
    cases=(
        _case("five tokens", 0, 5, 6, 3, 2),
        _case("three tokens", 1, 3, 8, 2, 5),
        _case("heads of one width", 2, 5, 6, 3, 3),
        _case("all of one size", 3, 4, 4, 4, 4),
        _case("float32", 5, 4, 6, 3, 2, dtype="float32"),
        whole_numbers(_case("", 4, 5, 6, 3, 2).arguments),
    ),
    probes=PROBES,
    mistakes=mistakes_in(wrong),
    hints=(
        "Three rows of reasoning: what the head below writes when it attends to a token, the key that the head above "
        "makes of this note, and the query that it makes of a token itself.",
        "notes = E @ W_V0 @ W_O0, one row for each token. Keys come from the notes, queries from E.",
        "(E @ W_Q1) @ (notes @ W_K1).T, divided by the square root of the number of columns of W_K1.",
    ),
    on_success="The cell below asks the heads of your model whom they look for.",
    model_answer=composed_QK,
)
