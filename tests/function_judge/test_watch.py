"""Watching a call: what its variables hold, what each array was made of, and where it ends."""

import numpy as np
import pytest
import tables

from function_judge import watch as module
from function_judge.recognition import AUXILIARY, OUTPUT, STAGE, UNKNOWN, WRONG, TooMuchError
from function_judge.watch import Watch

TABLE = tables.CASE.arguments["table"]


def statuses(watch):
    """Return by variable what it held at last."""
    return {change.name: change.node.status for change in watch.changes if change.node is not None}


def test_each_variable_is_what_it_holds():
    watch = tables.watched(tables.centred_by_the_median)
    assert statuses(watch) == {"middle": UNKNOWN, "centred": WRONG, "spread": STAGE}
    assert [node.status for node in watch.outputs] == [WRONG]
    assert watch.ended.statement.number == tables.centred_by_the_median.__code__.co_firstlineno + 4


def test_a_right_function_gives_the_output():
    watch = tables.watched(tables.standardized)
    assert [node.status for node in watch.outputs] == [OUTPUT]
    assert statuses(watch) == {"centred": STAGE, "spread": STAGE}


def test_an_array_knows_what_it_was_made_of():
    [output] = tables.watched(tables.standardized).outputs
    assert {node.seen.name for node in output.before} == {"centred", "spread"}
    centred = next(node for node in output.before if node.seen.name == "centred")
    assert [(node.is_given, node.seen.name) for node in centred.before] == [(True, "table")]


def less_mean(table, axis=0):
    middle = table.mean(axis=axis)
    return table - middle


def test_what_a_helper_returns_belongs_to_where_it_was_made():
    def with_helper(table):
        centred = less_mean(table)
        return centred / np.sqrt((centred**2).mean(axis=0))

    watch = tables.watched(with_helper)
    [centred] = [change for change in watch.changes if change.name == "centred"]
    assert centred.node.place.code is less_mean.__code__
    assert centred.place.code is with_helper.__code__


def test_single_numbers_are_noted_without_a_node():
    def sized(table):
        n, d = table.shape
        return table * n + d

    changes = [(change.name, change.value, change.node) for change in tables.watched(sized).changes]
    assert [change for change in changes if change[0] in "nd"] == [("n", 5, None), ("d", 3, None)]


def test_an_uninitialised_array_holds_nan_until_it_is_filled():
    def half_filled(table):
        room = np.empty_like(table)
        room[:2] = table[:2]
        return room

    watch = Watch(tables.KNOWN, tables.as_array, half_filled.__code__)
    assert np.isnan(watch.run(half_filled, [TABLE.copy()], {})[2:]).all()


def test_a_statement_that_leaves_a_variable_as_it_was_is_idle():
    def turned_in_vain(table):
        row = table.mean(axis=0)
        row = row * 1
        return row

    [idle] = tables.watched(turned_in_vain).idle
    assert idle.statement.number == turned_in_vain.__code__.co_firstlineno + 2


def test_recursion_is_seen():
    def by_recursion(table):
        return table if len(table) < 3 else by_recursion(table[1:])

    assert tables.watched(by_recursion).calls_itself
    assert not tables.watched(tables.standardized).calls_itself


def test_what_an_object_keeps_is_there_from_the_beginning():
    class Scaled:
        def __init__(self):
            self.factors = np.array([1.0, 2.0, 4.0])

        def call(self, table):
            return table * self.factors

    watch = Watch(tables.KNOWN, tables.as_array, Scaled.call.__code__)
    watch.run(Scaled().call, [TABLE.copy()], {})
    assert any(node.is_given and node.shape == (3,) for node in watch.outputs[0].before)


def test_where_it_writes_into_an_argument():
    def in_place(table):
        centre = table.mean(axis=0)
        table -= centre
        return table

    watch = Watch([], tables.as_array, in_place.__code__)
    watch.run(in_place, [TABLE.copy()], {})
    assert watch.written_at.statement.number == in_place.__code__.co_firstlineno + 2


def test_a_part_of_the_way_is_auxiliary():
    def squares_first(table):
        squares = (table - table.mean(axis=0)) ** 2
        return squares

    assert statuses(tables.watched(squares_first)) == {"squares": AUXILIARY}


def test_a_call_that_never_ends_is_given_up(monkeypatch):
    def endless(table):
        while True:
            pass

    monkeypatch.setattr(module, "MAX_EVENTS", 50)
    with pytest.raises(TooMuchError):
        tables.watched(endless)
