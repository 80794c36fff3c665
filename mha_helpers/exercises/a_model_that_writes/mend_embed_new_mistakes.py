"""The function that `mend_embed_new` asks to mend, and the ways in which people mend it wrongly."""

import numpy as np

from mha_helpers.exercises.engine import Mistake


def mend_embed_new(codes, characters, positions, n_old):
    n_new = len(codes)
    return characters[codes] + positions[:n_new]  # what each character is, and its position


def _at(places):
    """Return vectors of which each has the position places(codes, n_old, n_positions) gives."""

    def wrong_vectors(codes, characters, positions, n_old):
        return characters[codes] + positions[places(codes, n_old, len(positions))]

    return wrong_vectors


MEND_MISTAKES = (
    Mistake(
        "position-not-moved",
        "The position is not moved on: each new character gets the place that it has among the new ones, which for one "
        "at a time is always 0. Start at n_old.",
        (_at(lambda codes, n_old, n: np.arange(len(codes))),),
    ),
    Mistake(
        "position-of-the-old",
        "Those are the positions of the old characters: positions[:n_old] ends before n_old. The new ones come after "
        "them, so begin at n_old: positions[n_old : n_old + n_new].",
        (
            _at(lambda codes, n_old, n: slice(0, n_old)),
            _at(lambda codes, n_old, n: slice(n_old - len(codes), n_old)),
        ),
    ),
    Mistake(
        "position-from-n-new",
        "The slice begins at n_new, how many new characters there are. It is the old ones that come first: begin after "
        "them, positions[n_old : n_old + n_new].",
        (
            _at(lambda codes, n_old, n: slice(len(codes), None)),
            _at(lambda codes, n_old, n: slice(len(codes), len(codes) + n_old)),
            _at(lambda codes, n_old, n: slice(len(codes), 2 * len(codes))),
        ),
    ),
    Mistake(
        "position-number-added",
        "You add the number n_old to the vectors themselves. What moves on is the place in the table: positions[n_old "
        ": n_old + n_new].",
        (lambda codes, characters, positions, n_old: characters[codes] + positions[: len(codes)] + n_old,),
    ),
    Mistake(
        "position-added-to-codes",
        "You add n_old to the codes, which makes other characters of them. What moves on is the place in the table of "
        "positions: positions[n_old : n_old + n_new].",
        (
            lambda codes, characters, positions, n_old: characters[codes + n_old] + positions[: len(codes)],
            lambda codes, characters, positions, n_old: characters[codes + n_old] + positions[n_old:][: len(codes)],
        ),
    ),
    Mistake(
        "position-codes-cut",
        "You cut the codes at n_old. But they are the codes of the new characters alone: use them all.",
        (
            lambda codes, characters, positions, n_old: characters[codes[n_old:]] + positions[n_old:][: len(codes)],
            lambda codes, characters, positions, n_old: characters[codes[n_old:]] + positions[: len(codes)],
        ),
    ),
    Mistake(
        "position-one-late",
        "All positions are one too high. Positions count from 0, so that the first character after n_old old ones "
        "has the position n_old.",
        (
            _at(lambda codes, n_old, n: np.arange(n_old + 1, n_old + 1 + len(codes)) % n),
            # The table ends before the last of them.
            lambda codes, characters, positions, n_old: characters[codes] + positions[n_old + 1 :][: len(codes)],
        ),
    ),
    Mistake(
        "position-one-early",
        "All positions are one too low: the first new character gets the place of the last old one.",
        (
            _at(lambda codes, n_old, n: np.arange(n_old - 1, n_old - 1 + len(codes))),
            _at(lambda codes, n_old, n: slice(n_old - 1, n_old - 1 + len(codes))),  # empty where n_old is 0
        ),
    ),
    Mistake(
        "position-slice-end",
        "The slice begins at the right place and ends at the wrong one. positions[start:end] ends before `end`, which "
        "is counted from the table's beginning, too: n_new positions from n_old on are positions[n_old : n_old + "
        "n_new].",
        (
            _at(lambda codes, n_old, n: slice(n_old, len(codes))),
            _at(lambda codes, n_old, n: slice(n_old, None)),
            _at(lambda codes, n_old, n: slice(n_old, -len(codes))),
            _at(lambda codes, n_old, n: slice(n_old, n_old + len(codes) - 1)),
            _at(lambda codes, n_old, n: slice(n_old, n_old + len(codes) + 1)),
        ),
    ),
    Mistake(
        "position-slice-start",
        "The slice ends at the right place and begins at the wrong one. The first new character has the position "
        "n_old: begin there.",
        (
            _at(lambda codes, n_old, n: slice(0, n_old + len(codes))),
            _at(lambda codes, n_old, n: slice(n_old - 1, n_old + len(codes))),
            _at(lambda codes, n_old, n: slice(n_old + 1, n_old + len(codes))),
        ),
    ),
    Mistake(
        "position-same-for-all",
        "All new characters get the same position. The first has n_old, the next one more, and so on.",
        (
            _at(lambda codes, n_old, n: 0),
            _at(lambda codes, n_old, n: n_old),
            _at(lambda codes, n_old, n: n_old + len(codes) - 1),
        ),
    ),
    Mistake(
        "position-by-character",
        "You look the position up by the character. Where a character stands has nothing to do with which it is.",
        (_at(lambda codes, n_old, n: codes), _at(lambda codes, n_old, n: codes + n_old)),
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
        (lambda codes, characters, positions, n_old: characters[codes],),
    ),
)
