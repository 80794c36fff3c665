"""Looking into a function: its text, its code, the names that it uses."""

import functools

import numpy as np
import pytest

from function_judge.source import (
    code_of,
    does_nothing,
    global_names,
    last_line,
    other_arguments,
    outside_arrays,
    same_code,
    shortened,
    source_of,
)

TABLE = np.ones((2, 2))


def uses_the_table(row):
    def inner():
        return TABLE @ row

    return np.sum(inner())


def stub(row):
    """Say what it should do."""


def test_the_text_of_a_function_or_nothing():
    assert source_of(stub).startswith("def stub(row):")
    assert source_of(np.sum) == source_of(len) == source_of(functools.partial(stub)) == ""
    assert code_of(len) is None


def test_names_from_around_it_also_those_of_inner_functions():
    assert global_names(uses_the_table.__code__) == {"TABLE", "np"}
    assert outside_arrays(uses_the_table) == ["TABLE"]
    assert outside_arrays(stub) == outside_arrays(len) == []


def test_arguments_in_another_arguments():
    def swapped(step, row):
        return row

    assert other_arguments(swapped, ["row", "step"]) == ["step", "row"]
    assert other_arguments(swapped, ["step", "row"]) == []
    assert other_arguments(swapped, ["row", "size"]) == []


def test_the_last_line_of_the_file_that_an_error_came_through():
    def stops(row):
        return np.linalg.inv(row)

    with pytest.raises(np.linalg.LinAlgError) as raised:
        stops(np.zeros((2, 2)))
    number, line = last_line(raised.value, stops)
    assert line == "return np.linalg.inv(row)"
    assert number == stops.__code__.co_firstlineno + 1
    assert last_line(raised.value, len) == (0, "")


def test_an_empty_body_does_nothing():
    assert does_nothing(stub)
    assert does_nothing(lambda row: ...)
    assert not does_nothing(lambda row: row)
    assert not does_nothing(len)


def test_the_same_code_but_for_comments_and_place():
    def first(row):
        return [np.exp(x) for x in row]

    def second(row):
        # a comment
        return [np.exp(x) for x in row]

    def third(row):
        return [np.exp(-x) for x in row]

    assert same_code(first, second)
    assert not same_code(first, third)
    assert not same_code(len, len)


def test_a_long_text_is_cut_after_a_word():
    assert shortened("a long text", 20) == "a long text"
    assert shortened("a long text", 8) == "a long ..."
    assert shortened("longword", 4) == "long..."
