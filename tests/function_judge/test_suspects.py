"""The statements of a watched call that may be at fault."""

import ast

import numpy as np
import tables

from function_judge.clues import Clues
from function_judge.suspects import suspects_of


def less_median(table):
    middle = np.median(table, axis=0)
    return table - middle


def suspects(function):
    """Return, in their order, the statements that may be at fault, and whether each is wrong."""
    watch = tables.watched(function)
    found = suspects_of(watch, Clues(watch))
    return {ast.unparse(suspect.place.statement.node): suspect.is_wrong for suspect in found}


def test_statements_in_the_order_in_which_they_ran():
    assert suspects(tables.centred_by_the_median) == {
        "middle = np.median(table, axis=0)": True,
        "centred = table - middle": True,
        "spread = np.sqrt(((table - table.mean(axis=0)) ** 2).mean(axis=0))": False,
    }


def test_what_a_helper_has_made_wrong_is_the_helpers():
    def with_helper(table):
        centred = less_median(table)
        return centred / centred.std(axis=0)

    assert suspects(with_helper) == {"middle = np.median(table, axis=0)": True, "return table - middle": True}


def less(table, middle):
    shifted = table - middle
    return shifted


def test_a_helper_that_gave_something_right_as_well_is_right():
    def called_twice(table):
        centred = less(table, table.mean(axis=0))
        other = less(table, 1.0)
        return centred + other

    assert suspects(called_twice)["other = less(table, 1.0)"]


def test_room_for_an_array_and_the_first_line_of_a_loop_are_no_suspects():
    def filled_row_by_row(table):
        centred = np.zeros_like(table)
        for i, row in enumerate(table):
            centred[i] = row - table.mean(axis=0)
        return centred

    assert suspects(filled_row_by_row) == {"centred[i] = row - table.mean(axis=0)": False}


def test_a_statement_in_a_loop_is_one_suspect_with_all_its_changes():
    def shifted(table):
        for i in range(3):
            moved = table + i + 0.5
        return moved

    watch = tables.watched(shifted)
    [suspect] = suspects_of(watch, Clues(watch))
    assert [change.name for change in suspect.changes] == ["moved"] * 3
    assert suspect.first == suspect.changes[0].step
    assert len(suspect.nodes) == 3


def test_a_round_of_a_comprehension_is_part_of_its_statement():
    def by_rows(table):
        rows = [row - row.mean() for row in table]
        return np.array(rows)

    assert list(suspects(by_rows)) == ["rows = [row - row.mean() for row in table]"]


def test_a_whole_number_is_a_suspect_only_with_the_name_of_a_factor():
    def with_numbers(table):
        n = 3
        centred = table - table.mean(axis=0)
        return centred / n

    assert list(suspects(with_numbers)) == ["centred = table - table.mean(axis=0)"]
