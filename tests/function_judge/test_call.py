"""Calling a function safely, reading what it returns, and comparing two outcomes."""

import numpy as np
import pytest

from function_judge.call import Outcome, agree, arrays_in, as_array, call, is_refusal, same
from function_judge.time_limit import TimedOut

ROWS = [np.ones(2), np.ones(3)]  # fit into no single array
ROW = {"row": np.array([2.0, 1.0])}


def outcome(function, **options):
    return call(function, ROW, options, read=arrays_in)


def test_a_function_gets_copies_and_what_it_writes_into_is_named():
    def sorted_in_place(row, *, also):
        row.sort()
        return row

    found = outcome(sorted_in_place, also=np.zeros(1))
    assert found.arrays[0].tolist() == [1.0, 2.0]
    assert found.changed == "row"
    assert ROW["row"].tolist() == [2.0, 1.0]
    assert outcome(lambda row: np.sort(row)).changed is None


def test_an_error_is_an_outcome():
    found = outcome(lambda row: row[5])
    assert isinstance(found.error, IndexError)
    assert found.arrays is None


def test_even_what_is_no_exception_is_an_outcome():
    def leaves(row):
        raise SystemExit

    assert isinstance(outcome(leaves).error, SystemExit)


def test_a_coroutine_is_closed_and_cannot_be_read(recwarn):
    async def later(row):
        return row

    assert outcome(later).arrays is None
    assert not recwarn.list


def test_several_outputs_may_be_a_list_or_a_tuple():
    assert [array.tolist() for array in arrays_in([[1], [2, 3]], n_outputs=2)] == [[1.0], [2.0, 3.0]]
    assert len(arrays_in(([1], [2]), n_outputs=3)) == 2
    assert arrays_in([[1], [2]])[0].shape == (2, 1)


@pytest.mark.parametrize("part", ["text", None, [None, 1.0], ..., [[1], [1, 2]]])
def test_what_is_no_array_of_numbers_is_not_read(part):
    assert as_array(part) is None


def test_of_too_many_entries_only_the_shape_is_kept():
    array = as_array(np.zeros((3, 4)), max_entries=10)
    assert array.shape == (3, 4)
    assert np.isnan(array).all()


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        (None, None, True),
        (ROWS, [np.ones(2), np.ones(3)], True),
        (ROWS, [np.ones(2), np.zeros(3)], False),
        (ROWS, ROWS[:1], False),
        (ROWS, [*ROWS, np.ones(4)], False),
        (ROWS, None, False),
        (None, ROWS, False),
        (ROWS, ["a", "b"], False),
        ("a", "a", False),
    ],
)
def test_what_cannot_be_read_is_the_same_only_part_by_part(first, second, alike):
    assert same(Outcome(returned=first), Outcome(returned=second)) is alike


def test_two_errors_are_the_same_by_their_type_and_a_value_error_by_its_text():
    assert same(Outcome(error=KeyError("a")), Outcome(error=KeyError("b")))
    assert not same(Outcome(error=KeyError("a")), Outcome(error=IndexError("a")))
    assert not same(Outcome(error=ValueError("a")), Outcome(error=ValueError("b")))
    assert not same(Outcome(error=KeyError("a")), outcome(np.sort))


def test_booleans_are_wanted_where_the_reference_gives_booleans():
    numbers, booleans = outcome(lambda row: (row > 1) * 1.0), outcome(lambda row: row > 1)
    assert agree(booleans, numbers)
    assert not agree(numbers, booleans)


def test_a_shape_is_whole_numbers():
    assert agree(outcome(lambda row: (2, 1)), outcome(lambda row: (2, 1)))
    assert not agree(outcome(lambda row: (2.0, 1.0)), outcome(lambda row: (2, 1)))


def test_where_the_reference_refuses_any_refusal_will_do():
    def on_purpose(row):
        raise KeyError("no such row")

    wanted = Outcome(error=ValueError("it can't be done"))
    assert agree(outcome(lambda row: np.ones(2) + np.ones(3)), wanted)
    assert agree(outcome(on_purpose), wanted)
    assert not agree(outcome(lambda row: row[7]), wanted)
    assert not agree(outcome(np.sort), wanted)


def test_running_out_of_time_is_no_refusal():
    def endless(row):
        while True:
            pass

    found = call(endless, ROW, read=arrays_in, seconds=0.02)
    assert isinstance(found.error, TimedOut)
    assert not is_refusal(found.error)
