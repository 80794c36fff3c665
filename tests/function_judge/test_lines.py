"""The line at which a wrong function goes wrong, writes into its argument, or stops."""

import functools
import inspect

import numpy as np
import pytest
import tables

from function_judge.lines import (
    FaultyLines,
    Line,
    common,
    faulty_lines,
    first_written_line,
    from_here,
    line_of_definition,
    line_of_error,
)


def lines_of(function):
    asked = {"is_right": tables.run(function)[1], "subject": tables.TASK.subject}
    return faulty_lines(function, [tables.CASE.copy()["table"]], tables.KNOWN, **asked)


def test_it_is_the_faulty_line_of_the_file():
    [line] = lines_of(tables.spread_of_what_is_not_centred).lines
    first = inspect.getsourcelines(tables.spread_of_what_is_not_centred)[1]
    assert line.text == "spread = np.sqrt((table**2).mean(axis=0))"
    assert (line.path, line.number) == (tables.__file__, first + 2)
    assert line.place.endswith(f"tables.py:{first + 2}")


def test_of_a_right_function_nothing_is_said():
    assert not lines_of(tables.standardized).lines


def test_what_stops_has_no_wrong_line():
    def stops(table):
        raise ValueError

    assert not lines_of(stops).lines


def test_it_may_be_between_two_lines():
    def forgets_to_divide(table):
        centred = table - table.mean(axis=0)
        return centred

    found = lines_of(forgets_to_divide)
    assert [line.text for line in found.lines] == ["centred = table - table.mean(axis=0)", "return centred"]
    assert found.first_is_right


def test_the_line_that_writes_into_an_argument():
    def in_place(table):
        table = table[:]
        centred = table - table.mean(axis=0)
        table -= table.mean(axis=0)
        return centred / table.std(axis=0)

    def asked(function):
        return first_written_line(function, [np.eye(3)], read=tables.as_array, written_in=function)

    assert asked(in_place).text == "table -= table.mean(axis=0)"
    assert asked(tables.standardized) is None


def test_the_line_of_an_error_is_the_last_of_their_own():
    def stops(table):
        return np.linalg.inv(table)

    with pytest.raises(np.linalg.LinAlgError) as raised:
        stops(np.zeros((2, 2)))
    assert line_of_error(raised.value, stops).text == "return np.linalg.inv(table)"


def test_a_line_of_a_cell_is_named_by_its_number():
    assert Line("<cell>", 3, "row = 1").place == "Line 3 of the cell"


def test_lines_of_several_calls_are_those_that_all_have():
    first, second, third = (Line("<cell>", number, "") for number in (1, 2, 3))
    assert common([FaultyLines((first, second)), FaultyLines((second, third))]).lines == (second,)
    assert common([FaultyLines((first,)), FaultyLines((third,))]).lines == ()
    assert common([FaultyLines((first, second), True), FaultyLines((second,))]).lines == ()
    assert common([]).lines == ()


def test_the_line_of_a_decorated_definition_is_its_def():
    @functools.lru_cache
    def doubled(row):
        return 2 * row

    assert line_of_definition(doubled).text == "def doubled(row):"
    assert line_of_definition(len) is None


def test_a_path_is_told_from_where_one_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert from_here(str(tmp_path / "homework.py")) == "homework.py"
    assert from_here("/elsewhere/homework.py") == "/elsewhere/homework.py"
