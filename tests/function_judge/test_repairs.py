"""What the variables of a suspect could hold instead."""

import numpy as np
import tables

from function_judge.clues import Clues
from function_judge.known_numbers import Known
from function_judge.repairs import MAX_TRIALS_PER_STATEMENT, Repairs
from function_judge.suspects import suspects_of
from function_judge.watch import Watch

STAGES = {stage.name: stage.array for stage in tables.KNOWN}


def repairs(function, known=tables.KNOWN, arguments=None):
    """Return by variable the values that the first suspect's could hold, in the order in which they are tried."""
    watch = Watch(known, tables.as_array, function.__code__, tables.TASK.subject)
    watch.run(function, arguments or [tables.CASE.copy()["table"]], {})
    clues = Clues(watch)
    found = {}
    for repair in Repairs(watch, clues).of(suspects_of(watch, clues)[0]):
        for values in repair.values():
            for name, value in values.items():
                found.setdefault(name, []).append(value)
    return found


def wrong_name_first(table):
    diff = table - np.median(table, axis=0)
    return diff


def test_first_comes_the_stage_that_the_name_says():
    assert np.array_equal(repairs(wrong_name_first)["diff"][0], STAGES["centred"])


def test_of_a_right_number_only_another_stage_is_a_repair():
    def named_otherwise(table):
        sigma = table - table.mean(axis=0)
        return sigma

    found = repairs(named_otherwise)["sigma"]
    assert any(np.array_equal(value, STAGES["spread"]) for value in found)
    assert not any(np.array_equal(value, STAGES["centred"]) for value in found)


def test_each_round_of_a_loop_gets_its_own_part():
    def row_by_row(table):
        rows = []
        for row in table:
            moved = row - 1.0
            rows.append(moved)
        return np.array(rows)

    watch = Watch(tables.KNOWN, tables.as_array, row_by_row.__code__, tables.TASK.subject)
    watch.run(row_by_row, [tables.CASE.copy()["table"]], {})
    clues = Clues(watch)
    suspect = next(found for found in suspects_of(watch, clues) if found.changes[0].name == "moved")
    each = [[values["moved"] for values in repair.values()] for repair in Repairs(watch, clues).of(suspect)]
    assert any(np.array_equal(np.array(rows), STAGES["centred"]) for rows in each)


def test_lists_are_repaired_as_lists():
    def in_lists(table):
        centred = [[x - 1.0 for x in row] for row in table.tolist()]
        return centred

    value = repairs(in_lists)["centred"][0]
    assert isinstance(value, list)
    assert np.array_equal(value, STAGES["centred"])


def test_an_array_of_another_shape_may_be_the_whole_stage():
    def reduced(table):
        centred = table.sum(axis=0) * np.ones((2, 3))
        return centred

    assert repairs(reduced)["centred"][0].shape == (5, 3)


def test_a_pattern_is_repaired_in_its_own_form():
    square = np.random.default_rng(0).normal(size=(4, 4))
    known = [Known("square", square, ("row", "column"), pattern=np.tri(4, dtype=bool), rank=1)]

    def wrong_pattern(table):
        small = np.where(np.tri(4, k=1), 0.0, -9.0)
        return table + small

    values = repairs(wrong_pattern, known, [square])["small"]
    assert np.array_equal(values[0], np.where(np.tri(4), 0.0, -9.0))
    assert np.array_equal(values[1], np.where(np.tri(4), -9.0, 0.0))


def test_only_so_many_are_tried():
    def two_at_once(table):
        centred, spread = table * 2.0, table * 3.0
        return centred / spread

    assert len(repairs(two_at_once)["centred"]) <= MAX_TRIALS_PER_STATEMENT
