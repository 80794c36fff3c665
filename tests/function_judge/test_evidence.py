"""What was tried, the first thing that is wrong, and where an answer is right."""

from dataclasses import replace

import numpy as np
import pytest
import tables

from function_judge.evidence import (
    at_this_line,
    broken_property,
    holds_nan_or_zeros,
    is_single,
    lines_at_fault,
    what_happened,
    where_right,
)
from function_judge.task import Case, Task

TABLE = {"table": np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 0.0]])}
CASE = Case("a table", TABLE)


def told(reference, function, outputs=("sums",), case=CASE, **options):
    task = Task(reference=reference, outputs=outputs, cases=(case,), mistakes=())
    return what_happened(task, function, task.trial(function, case), is_named=False, **options)


def sums(table):
    return table.sum(axis=0)


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda table: table.sum(axis=0) + np.arange(2), "sums[1] should be 12.0000; yours is 13.0000."),
        (lambda table: table.sum(axis=1), "Expected sums of shape (2,); got (3,)."),
        (lambda table: print(), "It returned None: is the `return` line missing?"),
        (lambda table: "12", "It returned a str, which cannot be read as numbers; `return sums`."),
        (lambda table: table[9], "Python said IndexError: index 9 is out of bounds"),
    ],
    ids=["number", "shape", "none", "text", "error"],
)
def test_what_happened(function, sentence):
    assert told(sums, function).startswith(f"Tried a table: table (3, 2). {sentence}")


def test_the_output_that_is_computed_first_is_shown_and_the_right_one_is_praised():
    def both(table):
        total = table.sum(axis=0)
        return total / 2, total

    wrong_total = told(both, lambda table: (both(table)[0] + 1, both(table)[1] + 1), ("halves", "totals"))
    assert "totals[0] should be 7.0000" in wrong_total
    assert "Right: totals. halves[0] should be" in told(
        both, lambda table: (sums(table), sums(table)), ("halves", "totals")
    )


def test_a_cell_that_is_talked_of_is_the_one_that_is_shown():
    assert "sums[1] should be" in told(sums, lambda table: np.zeros(2), place=(1,))


def test_types_that_are_asked_for():
    assert "give booleans" in told(lambda table: table > 2, lambda table: (table > 2) * 1.0)
    assert "not all of them are whole numbers" in told(lambda table: table.shape, lambda table: (3.0, 2.0))
    assert "should be a shape" in told(lambda table: table.shape, lambda table: table)
    assert "should have 2 axes; yours has 1." in told(lambda table: table.shape, lambda table: (3,))
    assert ", a single number; got (2,)." in told(lambda table: table.sum(), sums)


def test_what_should_be_refused():
    def refuses(table):
        raise ValueError("no")

    assert told(refuses, sums).endswith("Expected a ValueError, as this cannot be done. Got sums of shape (2,).")
    assert told(refuses, lambda table: "no").endswith("It returned 'no'.")


def trials(task, function):
    return [task.trial(function, case) for case in task.cases]


def test_where_an_answer_is_right():
    cases = (CASE, Case("a batch", {"table": np.arange(12.0).reshape(2, 3, 2)}), Case("no rows", TABLE, edge=True))
    task = Task(reference=lambda table: table.sum(axis=-2), outputs=("sums",), cases=cases, mistakes=())
    task = replace(task, wrong_at_edges="Only at the edge.")
    wrong_in_batch = trials(task, sums)
    assert where_right(task, wrong_in_batch) == "It is right on the other cases, but goes wrong with a batch."
    assert where_right(task, wrong_in_batch[:1]) == "Only at the edge."
    more = replace(task, cases=(*cases, Case("a larger batch", {"table": np.ones((4, 3, 2))})))
    assert where_right(more, trials(more, sums)).startswith("It is right for one matrix")
    assert where_right(task, trials(task, lambda table: table.sum(axis=-1))) is None
    assert [is_single(task, case) for case in cases] == [True, False, True]


def test_where_only_an_option_goes_wrong_nothing_is_said_of_a_batch():
    def scaled(table, by=1):
        return by * table

    batch = {"table": np.ones((4, 3, 2))}
    cases = (CASE, Case("a batch", batch), *(Case(f"by {n}", batch, options={"by": n}) for n in (2, 3)))
    task = Task(reference=scaled, outputs=("scaled",), cases=cases, mistakes=())
    sentence = where_right(task, trials(task, lambda table, by=1: table))
    assert sentence == "It is right wherever no by is given, in a batch, too. Look at what you do with by."
    never_in_a_batch = trials(task, lambda table, by=1: table + table.ndim - 2)
    assert where_right(task, never_in_a_batch).startswith("It is right for one matrix")


def test_a_property_that_is_broken_and_what_is_never_filled():
    def too_large(call, arguments, arrays):
        return "It grows.", (1,)

    task = Task(reference=sums, outputs=("sums",), cases=(CASE,), mistakes=(), properties=(too_large,))
    assert broken_property(task, np.ones, task.trial(lambda table: sums(table) + 1, CASE)) == ("It grows.", (1,))
    empty = task.trial(lambda table: np.zeros(2), CASE)
    assert broken_property(task, np.zeros, empty)[0].startswith("Every entry of your sums is 0.")
    assert holds_nan_or_zeros(task, empty)
    assert holds_nan_or_zeros(task, task.trial(lambda table: np.full(2, np.nan), CASE))
    assert not holds_nan_or_zeros(task, task.trial(lambda table: np.ones(2), CASE))


def pointed_at(function, **options):
    found = lines_at_fault(function, tables.CASE, tables.KNOWN, tables.run(function)[1])
    return at_this_line(found, **options)


def test_the_line_is_pointed_at_in_long_and_in_brief():
    function = tables.spread_of_what_is_not_centred
    line = "spread = np.sqrt((table**2).mean(axis=0))"
    assert pointed_at(function).endswith(f"`{line}`: up to there every number is right.")
    assert pointed_at(function, brief=True).endswith(f"`{line}`.")


def test_of_a_single_statement_there_is_nothing_to_point_at():
    assert pointed_at(tables.by_n_minus_1) is None
