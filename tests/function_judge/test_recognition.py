"""What an array is: the output, a stage on the way, a pattern, wrong, or nothing that can be told."""

import numpy as np
import pytest
import tables

from function_judge import recognition
from function_judge.known_numbers import Known
from function_judge.recognition import (
    AUXILIARY,
    OUTPUT,
    PATTERN,
    STAGE,
    UNKNOWN,
    WRONG,
    Recognizer,
    TooMuchError,
    is_number,
)

TABLE = tables.CASE.arguments["table"]
CENTRED = TABLE - TABLE.mean(axis=0)


def recognizer():
    return Recognizer(tables.KNOWN, tables.as_array)


@pytest.mark.parametrize(
    ("array", "status", "name"),
    [
        (tables.standardized(TABLE), OUTPUT, "scores"),
        (CENTRED, STAGE, "centred"),
        (CENTRED**2, AUXILIARY, "centred ** 2"),
        (CENTRED + 0.1, WRONG, ""),
        (np.arange(6), UNKNOWN, ""),
        (np.array([0.1, 0.2]), UNKNOWN, ""),
        (np.array(["a", "b", "c", "d"]), UNKNOWN, ""),
    ],
    ids=["output", "stage", "on the side", "wrong", "whole numbers", "few", "text"],
)
def test_what_an_array_is(array, status, name):
    seen = recognizer().look_at(array)
    assert (seen.status, seen.name) == (status, name)


def test_an_array_that_is_being_filled_is_what_its_filled_part_is():
    recognizes, room = recognizer(), np.zeros_like(CENTRED)
    recognizes.recognize_all(room)
    room[0] = CENTRED[0]
    assert [seen.name for seen in recognizes.recognize_all(room)] == ["centred"]
    room[1] = CENTRED[1] + 1
    assert [seen.status for seen in recognizes.recognize_all(room)] == [WRONG]


def test_a_pattern_is_right_or_wrong():
    numbers = np.random.default_rng(0).normal(size=(4, 4))
    pattern = np.tri(4, dtype=bool)
    recognizes = Recognizer([Known("square", numbers, ("row", "column"), pattern=pattern)], tables.as_array)
    right, wrong = recognizes.look_at(np.where(pattern, 0.0, -9.0)), recognizes.look_at(np.tri(4, k=1))
    assert [(seen.status, seen.name) for seen in (right, wrong)] == [(AUXILIARY, PATTERN), (WRONG, PATTERN)]


def test_arrays_are_found_in_lists_tuples_and_dictionaries():
    recognizes = recognizer()
    assert len(recognizes.fingerprints([TABLE, {"more": (CENTRED, TABLE)}])) == 3
    assert recognizes.fingerprints([[[[TABLE]]]]) == ()
    assert recognizes.fingerprints("text") == ()


def test_numbers_in_plain_lists_are_an_array():
    [seen] = recognizer().recognize_all(CENTRED.tolist())
    assert (seen.status, seen.name) == (STAGE, "centred")


def test_rows_in_a_list_are_a_stage_together_in_their_order():
    rows = list(CENTRED.repeat(2, axis=1)[:, ::2])
    assert recognizer().are_in_order(rows)
    assert not recognizer().are_in_order(rows[::-1])
    assert not recognizer().are_in_order([TABLE, CENTRED[:2]])


def test_there_is_an_end_of_what_is_compared(monkeypatch):
    monkeypatch.setattr(recognition, "MAX_COMPARED", 2)
    recognizes = recognizer()
    recognizes.recognize_all([TABLE, CENTRED, TABLE])
    with pytest.raises(TooMuchError):
        recognizes.recognize_all(TABLE + 1)


def test_numbers_and_shapes():
    assert all(map(is_number, (1, 0.5, np.float32(1), True, (3, 4))))
    assert not any(map(is_number, ("a", None, (3,), (0.5, 1), TABLE)))
