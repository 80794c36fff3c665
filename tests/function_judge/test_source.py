"""Looking into a function: its text, its code, the names that it uses."""

import functools
import linecache

import numpy as np
import pytest

from function_judge.source import (
    as_written,
    code_of,
    does_nothing,
    global_names,
    is_current,
    last_line,
    other_arguments,
    other_defaults,
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


def test_what_somebody_wrote_is_found_behind_what_wraps_it():
    class Doubling:
        def __call__(self, row):
            return 2 * row

        def double(self, row):
            return 2 * row

    @functools.wraps(stub)
    def wrapper(*arguments):
        return stub(*arguments)

    assert as_written(functools.partial(wrapper)) is stub
    assert as_written(Doubling()) is Doubling.__call__
    assert as_written(Doubling().double) is Doubling.double
    assert as_written(len) is len


def test_a_text_that_has_changed_since_is_not_quoted(tmp_path):
    file = tmp_path / "homework.py"
    file.write_text("def doubled(row):\n    return 2 * row\n")
    namespace = {}
    exec(compile(file.read_text(), file, "exec"), namespace)
    doubled = namespace["doubled"]
    assert is_current(doubled.__code__)
    assert source_of(doubled).startswith("def doubled")
    file.write_text("# a line more\ndef doubled(row):\n    return 2 * row\n")
    linecache.checkcache(str(file))
    assert not is_current(doubled.__code__)
    assert source_of(doubled) == ""


def test_defaults_that_differ():
    assert other_defaults(lambda a, b=1, c=2: a, lambda a, b=1, c=3: a) == {"c": (2, 3)}
    assert other_defaults(len, lambda a=1: a) == {}
