"""The exercise `mend_embed_new`: writing with a cache in which the position is not moved on, to be repaired."""

import numpy as np

from mha_helpers.exercises.a_model_that_writes.mistakes import mend_embed_new as wrong
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32
from mha_helpers.exercises.mistakes.catalogue import mistakes_in


def mend_embed_new(codes, characters, positions, n_old):
    n_new = len(codes)
    return characters[codes] + positions[n_old : n_old + n_new]


def _case(trait, seed, codes, n_old, *, n_characters=5, length=9, d_model=4):
    arrays = draws(seed, characters=(n_characters, d_model), positions=(length, d_model))
    return Case(trait, {"codes": np.array(codes)} | arrays | {"n_old": n_old})


exercise = Exercise(
    reference=mend_embed_new,
    outputs=("X_new",),
    cases=(
        _case("three after two", 0, [3, 0, 4], 2),
        _case("one after four", 1, [2], 4),
        _case("the first five", 2, [1, 1, 4, 0, 3], 0),
        _case("up to the last place", 3, [0, 3], 7),
        _case("many characters", 4, [6, 2, 6, 11], 3, n_characters=12, length=8, d_model=5),
        in_float32(_case("", 5, [4, 2, 2], 3).arguments),
    ),
    mistakes=mistakes_in(wrong),
    broken_version=wrong.mend_embed_new,
    hints=(
        "With a cache only the new characters come in. Which place does the first of them have in the whole text?",
        "n_old characters were there before it, at the places 0 to n_old - 1. Slice the positions from n_old on.",
    ),
    on_success="Your cache and your positions agree, so that the model writes the same with a cache as without.",
)
