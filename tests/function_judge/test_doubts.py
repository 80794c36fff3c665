"""Where a statement is not accused, although the function would be right with other numbers in its place."""

import numpy as np
import pytest
import tables

from function_judge.clues import Clues
from function_judge.doubts import Doubts
from function_judge.suspects import suspects_of
from function_judge.trials import Trials


def is_certain(function, name):
    """Tell whether nothing but the statement that sets a variable can be at fault."""
    watch = tables.watched(function)
    clues = Clues(watch)
    doubts = Doubts(watch, clues, Trials(watch.code, *tables.run(function)))
    suspects = suspects_of(watch, clues)
    return doubts.is_certain(next(item for item in suspects if name in {change.name for change in item.changes}))


def reads_what_is_right(table):
    centred = table - table.mean(axis=0)
    spread = (centred**2).mean(axis=0)
    return centred / spread


def reads_what_is_wrong(table):
    centred = table - 1.0
    spread = (centred**2).mean(axis=0)
    return centred / spread


def reads_an_alias(table):
    centred = table - table.mean(axis=0)
    rows = table
    spread = (rows**2).mean(axis=0)
    return centred / spread


def reads_a_computed_number(table):
    centred = table - table.mean(axis=0)
    power = float(len(table)) ** 0.3
    spread = (np.abs(centred) ** power).mean(axis=0)
    return centred / spread


def adds_up(table):
    spread = np.zeros(3)
    for row in table - table.mean(axis=0):
        spread = spread + row**2
    return (table - table.mean(axis=0)) / spread


def under_a_condition(table):
    centred = table - table.mean(axis=0)
    for i in range(3):
        if i > 1:
            spread = centred.std(axis=0) * i
    return centred / spread


def into_room_of_another_shape(table):
    room = np.zeros((7, 3))
    spread = np.sqrt(((table - room[:5]) ** 2).mean(axis=0))
    return (table - table.mean(axis=0)) / spread


def after_an_idle_line(table):
    centred = table - table.mean(axis=0)
    centred = centred * 1
    spread = (centred**2).mean(axis=0)
    return centred / spread


def collected_in_a_loop(table):
    rows = []
    for i in range(4):
        rows.append(table[i])
    spread = np.std(rows, axis=0)
    return (table - table.mean(axis=0)) / spread


@pytest.mark.parametrize(
    ("function", "is_so"),
    [
        (reads_what_is_right, True),
        (reads_what_is_wrong, False),
        (reads_an_alias, False),
        (reads_a_computed_number, False),
        (adds_up, False),
        (under_a_condition, False),
        (into_room_of_another_shape, False),
        (after_an_idle_line, False),
        (collected_in_a_loop, False),
    ],
    ids=lambda item: getattr(item, "__name__", str(item)),
)
def test_any_doubt_is_enough(function, is_so):
    assert is_certain(function, "spread") is is_so


def test_a_size_that_may_be_wrong_instead():
    def divided_by(table):
        n = 4
        spread = np.sqrt(((table - table.mean(axis=0)) ** 2).sum(axis=0) / n)
        return (table - table.mean(axis=0)) / spread

    assert not is_certain(divided_by, "spread"), "with n = 5, one of the table's sizes, it is right"


def test_sizes_that_may_be_mixed_up_instead():
    def unpacked(table):
        d, n = table.shape
        spread = np.sqrt(((table - table.mean(axis=0)) ** 2).sum(axis=0) / n)
        return (table - table.mean(axis=0)) / spread + 0 * d

    assert not is_certain(unpacked, "spread")


def test_a_flag_that_may_be_wrong_instead():
    def flagged(table):
        is_root = False
        spread = table.std(axis=0) ** (1 if is_root else 2)
        return (table - table.mean(axis=0)) / spread

    assert not is_certain(flagged, "spread")
