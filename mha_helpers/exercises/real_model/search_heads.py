"""The exercise `search_heads`: the best of many heads, measured where it was not searched for."""

from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.real_model.mistakes import search_heads as wrong
from mha_helpers.measures import search_heads as reference


def _case(trait, seed, n_sentences, n_heads, n_searched, dtype=float):
    shifts = draws(seed, shifts=(n_sentences, n_heads))["shifts"].astype(dtype)
    return Case(trait, {"shifts": shifts, "n_searched": n_searched})


# What the exercise asks, without the refusals of the course's own.
def search_heads(shifts, n_searched):
    means = shifts[:n_searched].mean(axis=0)
    head = means.argmax()
    return head, means[head], shifts[n_searched:, head].mean()


exercise = Exercise(
    reference=reference,
    outputs=("head", "found", "held_out"),
    cases=(
        _case("seven sentences, five heads", 0, 7, 5, 3),
        _case("nine sentences, four heads", 1, 9, 4, 2),
        _case("one sentence searched", 2, 6, 8, 1),
        _case("one sentence held out", 3, 5, 6, 4),
        _case("more heads than sentences", 4, 4, 12, 2),
        _case("float32", 6, 8, 5, 3, dtype="float32"),
        _case("as many as in the model", 5, 28, 72, 4),
    ),
    mistakes=mistakes_in(wrong),
    hints=(
        "Two tables: the rows that the search may see, and the others. The first gives the head, and both a mean.",
        "shifts[:n_searched].mean(axis=0) holds a mean for each head. argmax tells which is the largest.",
        "means = shifts[:n_searched].mean(axis=0); head = means.argmax(); then means[head], and "
        "shifts[n_searched:, head].mean().",
    ),
    on_success="You can search 72 heads without being fooled by the luck of the search.",
    model_answer=search_heads,
)
