"""Which statement is at fault, or between which two it goes wrong."""

import ast
from dataclasses import replace

import numpy as np
import tables

from function_judge import trials
from function_judge.localiser import find_fault


def at_fault(function, task=tables.TASK):
    fault = find_fault(tables.watched(function, task), *tables.run(function, task))
    return [ast.unparse(place.statement.node) for place in fault.places]


def test_the_statement_whose_right_result_makes_it_right():
    assert at_fault(tables.spread_of_what_is_not_centred) == ["spread = np.sqrt((table ** 2).mean(axis=0))"]


def test_nothing_is_said_of_a_right_function():
    assert at_fault(tables.standardized) == []


def test_the_statement_that_returns_may_be_the_one():
    def multiplies(table):
        centred = table - table.mean(axis=0)
        spread = np.sqrt((centred**2).mean(axis=0))
        return centred * spread

    assert at_fault(multiplies) == ["return centred * spread"]


def test_what_is_missing_is_between_two_statements():
    def forgets_to_divide(table):
        centred = table - table.mean(axis=0)
        return centred

    assert at_fault(forgets_to_divide) == ["centred = table - table.mean(axis=0)", "return centred"]


def test_a_stage_under_another_ones_name_is_at_fault():
    def squares_forgotten(table):
        centred = table - table.mean(axis=0)
        sigma = centred
        return centred / sigma

    assert at_fault(squares_forgotten) == ["sigma = centred"]


def test_what_was_computed_on_the_side_may_have_been_meant_otherwise():
    def summed(table):
        centred = table - table.mean(axis=0)
        squares = centred**2
        variance = squares.sum(axis=0)
        return centred / np.sqrt(variance)

    assert at_fault(summed) == ["squares = centred ** 2", "variance = squares.sum(axis=0)"]


def by_recursion(table):
    if table.shape[1] == 1:
        return (table - table.mean(axis=0)) / (table.std(axis=0) + 1)
    return np.concatenate([by_recursion(table[:, :1]), by_recursion(table[:, 1:])], axis=1)


def two_mistakes(table):
    centred = table - np.median(table, axis=0)
    spread = np.sqrt((table**2).mean(axis=0))
    return centred / spread


def test_in_any_doubt_nothing_is_said():
    assert at_fault(by_recursion) == []


def test_two_statements_that_can_only_be_repaired_together_are_both_named():
    assert at_fault(two_mistakes) == [
        "centred = table - np.median(table, axis=0)",
        "spread = np.sqrt((table ** 2).mean(axis=0))",
    ]


def test_what_was_passed_something_wrong_is_named_beside_what_passed_it():
    def by_a_number_of_its_own(table):
        centred = table - table.mean(axis=0)
        spread = centred**2 + 7
        return centred / spread.sum()

    assert at_fault(by_a_number_of_its_own) == ["spread = centred ** 2 + 7", "return centred / spread.sum()"]


def test_a_helper_that_is_called_once_is_named_beside_its_call():
    def halved(row):
        return row / 2

    def halves_the_table(table):
        centred = halved(table - table.mean(axis=0))
        return centred / table.std(axis=0)

    assert at_fault(halves_the_table) == ["return row / 2", "centred = halved(table - table.mean(axis=0))"]


def test_a_condition_that_was_not_met_is_named_beside_the_end():
    def ends_too_late(table):
        if table.ndim > 2:
            return table * 0
        centred = table - table.mean(axis=0)
        return centred * table.std(axis=0)

    guard, end = at_fault(ends_too_late)
    assert guard.startswith("if table.ndim > 2:")
    assert end == "return centred * table.std(axis=0)"


def test_nobody_can_tell_where_an_unused_number_is_missing():
    def forgets_the_power(table):
        power = 0.5  # noqa: F841
        centred = table - table.mean(axis=0)
        return centred / (centred**2).mean(axis=0)

    assert at_fault(forgets_the_power) == []


def test_many_statements_of_which_one_is_at_fault_are_not_named():
    def far_off(table):
        first = table + 1.5
        second = first * 3
        third = second - 1
        fourth = third * third
        return fourth / 7

    assert at_fault(far_off) == []


def test_a_factor_that_is_wrong():
    def scaled(table):
        root = np.sqrt(table.shape[-1])
        centred = table - table.mean(axis=0)
        return centred / root

    def root_forgotten(table):
        root = table.shape[-1]
        centred = table - table.mean(axis=0)
        return centred / root

    task = replace(tables.TASK, reference=scaled, outputs=("scaled",), mistakes=())
    assert at_fault(root_forgotten, task) == ["root = table.shape[-1]"]


def test_there_is_an_end_of_trials(monkeypatch):
    monkeypatch.setattr(trials, "MAX_TRIALS", 1)
    assert at_fault(tables.spread_of_what_is_not_centred) == []
