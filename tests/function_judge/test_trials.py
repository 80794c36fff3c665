"""Running a function again with some of its variables replaced."""

import numpy as np
import pytest
import tables

from function_judge import trials as module
from function_judge.recognition import TooMuchError
from function_judge.trials import Trials

SPREAD = next(stage.array for stage in tables.KNOWN if stage.name == "spread")


def trials(function):
    return Trials(function.__code__, *tables.run(function))


def replaced(function, name, value):
    """Return by step what replaces a variable's first value."""
    change = next(change for change in tables.watched(function).changes if change.name == name)
    return {change.step: {name: value}}


def test_with_the_right_numbers_it_passes_and_with_others_it_does_not():
    function = tables.spread_of_what_is_not_centred
    assert trials(function).passes_with(replaced(function, "spread", SPREAD))
    assert not trials(function).passes_with(replaced(function, "spread", SPREAD * 2))
    assert not trials(function).passes_with({})
    assert trials(tables.standardized).passes_with({})


def test_a_step_is_the_same_moment_in_helpers_and_loops():
    def helped(table):
        def less(row):
            middle = row * 0
            return row - middle

        rows = [less(row) for row in table.T]
        total = np.zeros_like(table)
        for i, row in enumerate(rows):
            total[:, i] = row
        spread = table.std(axis=0) + 1
        return (total - total.mean(axis=0)) / spread

    assert trials(helped).passes_with(replaced(helped, "spread", SPREAD))


def test_what_an_object_keeps_can_be_replaced():
    class Scaled:
        def __init__(self):
            self.spread = 2 * SPREAD

        def call(self, table):
            centred = table - table.mean(axis=0)
            return centred / self.spread

    run, is_right = tables.run(lambda table: Scaled().call(table))
    asked = Trials(Scaled.call.__code__, run, is_right)
    assert any(asked.passes_with({step: {"self.spread": SPREAD}}) for step in range(12))


def test_an_error_or_a_warning_is_no_pass(recwarn):
    def stops(table):
        np.zeros(1) / np.zeros(1)
        raise KeyError

    assert not trials(stops).passes_with({})
    assert not recwarn.list


@pytest.mark.parametrize(("limit", "value", "n_calls"), [("MAX_TRIALS", 2, 2), ("MAX_TRIED_EVENTS", 3, 1)])
def test_trials_are_counted_and_there_is_an_end_of_them(limit, value, n_calls, monkeypatch):
    monkeypatch.setattr(module, limit, value)
    asked = trials(tables.standardized)
    for _ in range(n_calls):
        asked.passes_with({})
    with pytest.raises(TooMuchError):
        asked.passes_with({})
