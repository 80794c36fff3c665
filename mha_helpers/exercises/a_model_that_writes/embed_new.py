"""The repair `embed_new`: somebody's writing with a cache, in which the position is not moved on."""

import numpy as np

from mha_helpers import decoding
from mha_helpers.exercises.engine import Case, Exercise, Mistake
from mha_helpers.exercises.inputs import draws


def _case(trait, seed, codes, n_old, *, n_characters=5, length=9, d_model=4, dtype=np.float64):
    arrays = draws(seed, characters=(n_characters, d_model), positions=(length, d_model))
    arrays = {name: array.astype(dtype) for name, array in arrays.items()}
    return Case(trait, {"codes": np.array(codes)} | arrays | {"n_old": n_old})


def _at(places):
    """Return vectors of which each has the position places(codes, n_old, n_positions) gives."""

    def wrong_vectors(codes, characters, positions, n_old=0):
        return characters[codes] + positions[places(codes, n_old, len(positions))]

    return wrong_vectors


EMBEDDING_MISTAKES = (
    Mistake(
        "position-not-moved",
        "The position is not moved on: each new character gets the place that it has among the new ones, which for one "
        "at a time is always 0. Start at n_old.",
        (
            _at(lambda codes, n_old, n: np.arange(len(codes))),
            lambda codes, characters, positions, n_old=0: characters[codes] + positions[0],
        ),
    ),
    Mistake(
        "position-one-late",
        "All positions are one too high. Positions count from 0, so that the first character after n_old old ones "
        "has the position n_old.",
        (_at(lambda codes, n_old, n: np.arange(n_old + 1, n_old + 1 + len(codes)) % n),),
    ),
    Mistake(
        "position-one-early",
        "All positions are one too low: the first new character gets the place of the last old one.",
        (_at(lambda codes, n_old, n: np.arange(n_old - 1, n_old - 1 + len(codes))),),
    ),
    Mistake(
        "position-same-for-all",
        "All new characters get the same position. The first has n_old, the next one more, and so on.",
        (
            _at(lambda codes, n_old, n: n_old),
            _at(lambda codes, n_old, n: n_old + len(codes) - 1),
        ),
    ),
    Mistake(
        "position-by-character",
        "You look the position up by the character. Where a character stands has nothing to do with which it is.",
        (_at(lambda codes, n_old, n: codes),),
    ),
    Mistake(
        "position-from-the-end",
        "You take the last positions of the table. The new characters stand behind the old ones, wherever the table "
        "ends.",
        (_at(lambda codes, n_old, n: np.arange(n - len(codes), n)),),
    ),
    Mistake(
        "position-missing",
        "The positions are missing: without them the model cannot tell one place from another.",
        (lambda codes, characters, positions, n_old=0: characters[codes],),
    ),
)


# What the exercise asks, without the refusal of the course's own.
def embed_new(codes, characters, positions, n_old=0):
    return characters[codes] + positions[n_old : n_old + len(codes)]


exercise = Exercise(
    reference=decoding.embed_new,
    outputs=("X_new",),
    cases=(
        _case("three after two", 0, [3, 0, 4], 2),
        _case("one after four", 1, [2], 4),
        _case("the first five", 2, [1, 1, 4, 0, 3], 0),
        _case("up to the last place", 3, [0, 3], 7),
        _case("many characters", 4, [6, 2, 6, 11], 3, n_characters=12, length=8, d_model=5),
        _case("float32", 5, [4, 2, 2], 3, dtype=np.float32),
    ),
    mistakes=EMBEDDING_MISTAKES,
    hints=(
        "With a cache only the new characters come in. Which place does the first of them have in the whole text?",
        "n_old characters were there before it, at the places 0 to n_old - 1. Slice the positions from n_old on.",
    ),
    on_success="Your cache and your positions agree, so that the model writes the same with a cache as without.",
    model_answer=embed_new,
)
