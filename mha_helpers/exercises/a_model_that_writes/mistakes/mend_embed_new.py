"""The function that `mend_embed_new` asks to repair, and the ways in which people repair it wrongly."""

import numpy as np

from mha_helpers.exercises.mistakes.catalogue import also, maker


def mend_embed_new(codes, characters, positions, n_old):
    n_new = len(codes)
    return characters[codes] + positions[:n_new]  # what each character is, and its position


@maker
def _at(places):
    """Return vectors of which each has the position places(codes, n_old, n_positions) gives."""

    def wrong_vectors(codes, characters, positions, n_old):
        return characters[codes] + positions[places(codes, n_old, len(positions))]

    return wrong_vectors


@_at
def position_not_moved(codes, n_old, n):
    """The position is not moved on: each new character gets the place that it has among the new ones, which for one at
    a time is always 0. Start at n_old."""
    return np.arange(len(codes))


@_at
@also(lambda codes, n_old, n: slice(n_old - len(codes), n_old))
def position_of_the_old(codes, n_old, n):
    """Those are the positions of the old characters: positions[:n_old] ends before n_old. The new ones come after them,
    so begin at n_old: positions[n_old : n_old + n_new]."""
    return slice(0, n_old)


@_at
@also(
    lambda codes, n_old, n: slice(len(codes), len(codes) + n_old),
    lambda codes, n_old, n: slice(len(codes), 2 * len(codes)),
)
def position_from_n_new(codes, n_old, n):
    """The slice begins at n_new, how many new characters there are. It is the old ones that come first: begin after
    them, positions[n_old : n_old + n_new]."""
    return slice(len(codes), None)


def position_number_added(codes, characters, positions, n_old):
    """You add the number n_old to the vectors themselves. What moves on is the place in the table: positions[n_old :
    n_old + n_new]."""
    return characters[codes] + positions[: len(codes)] + n_old


def position_added_to_codes(codes, characters, positions, n_old):
    """You add n_old to the codes, which makes other characters of them. What moves on is the place in the table of
    positions: positions[n_old : n_old + n_new]."""
    return characters[codes + n_old] + positions[: len(codes)]


@also(lambda codes, characters, positions, n_old: characters[codes[n_old:]] + positions[: len(codes)])
def position_codes_cut(codes, characters, positions, n_old):
    """You cut the codes at n_old. But they are the codes of the new characters alone: use them all."""
    return characters[codes[n_old:]] + positions[n_old:][: len(codes)]


@also(lambda codes, characters, positions, n_old: characters[codes] + positions[n_old + 1 :][: len(codes)])
@_at
@also(lambda codes, n_old, n: np.arange(n_old + 1, n_old + 1 + len(codes)))
def position_one_late(codes, n_old, n):
    """All positions are one too high. Positions count from 0, so that the first character after n_old old ones has the
    position n_old."""
    return np.arange(n_old + 1, n_old + 1 + len(codes)) % n


@_at
@also(
    lambda codes, n_old, n: slice(n_old - 1, n_old - 1 + len(codes)),
    lambda codes, n_old, n: slice(max(n_old - 1, 0), max(n_old - 1, 0) + len(codes)),
)
def position_one_early(codes, n_old, n):
    """All positions are one too low: the first new character gets the place of the last old one."""
    return np.arange(n_old - 1, n_old - 1 + len(codes))


@_at
def position_slice_open(codes, n_old, n):
    """The slice begins at the right place, but it has no end, so it goes on to the end of the table. End it after the
    n_new new characters: positions[n_old : n_old + n_new]."""
    return slice(n_old, None)


@_at
@also(
    lambda codes, n_old, n: slice(n_old, -len(codes)),
    lambda codes, n_old, n: slice(n_old, n_old + len(codes) - 1),
    lambda codes, n_old, n: slice(n_old, n_old + len(codes) + 1),
)
def position_slice_end(codes, n_old, n):
    """The slice begins at the right place and ends at the wrong one. positions[start:end] ends before `end`, which is
    counted from the table's beginning, too: n_new positions from n_old on are positions[n_old : n_old + n_new]."""
    return slice(n_old, len(codes))


@_at
@also(
    lambda codes, n_old, n: slice(n_old - 1, n_old + len(codes)),
    lambda codes, n_old, n: slice(n_old + 1, n_old + len(codes)),
)
def position_slice_start(codes, n_old, n):
    """The slice ends at the right place and begins at the wrong one. The first new character has the position n_old:
    begin there."""
    return slice(0, n_old + len(codes))


@_at
@also(lambda codes, n_old, n: n_old, lambda codes, n_old, n: n_old + len(codes) - 1)
def position_same_for_all(codes, n_old, n):
    """All new characters get the same position. The first has n_old, the next one more, and so on."""
    return 0


@_at
@also(lambda codes, n_old, n: codes + n_old)
def position_by_character(codes, n_old, n):
    """You look the position up by the character. Where a character stands has nothing to do with which it is."""
    return codes


@_at
def position_from_the_end(codes, n_old, n):
    """You take the last positions of the table. The new characters stand behind the old ones, wherever the table
    ends."""
    return np.arange(n - len(codes), n)


def position_missing(codes, characters, positions, n_old):
    """The positions are missing: without them the model cannot tell one place from another."""
    return characters[codes]
