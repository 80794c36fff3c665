"""What the names of variables say, and which numbers right code computes with."""

import numpy as np
import pytest
import tables

from function_judge.clues import Clues, fits
from function_judge.known_numbers import Known
from function_judge.subject import Subject
from function_judge.watch import Watch

STEP = Known("step", np.array(0.5), (), exact=True)


def clues(*known, function=tables.standardized, subject=tables.TASK.subject):
    watch = Watch([*tables.KNOWN, *known], tables.as_array, function.__code__, subject)
    watch.run(function, [tables.CASE.copy()["table"]], {})
    return Clues(watch)


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("centred", "centred"),
        ("diff", "centred"),
        ("SIGMA", "spread"),
        ("scores", "scores"),
        ("table", "table"),
        ("something", None),
    ],
    ids=["its own name", "alias", "in capitals", "output", "argument", "unknown"],
)
def test_what_a_variable_should_hold_by_its_name(name, stage):
    assert clues().hint_of(name) == stage


def test_a_stage_fits_its_name_with_marks_and_a_functions_result_that_functions():
    assert fits("centred", "centred'")
    assert fits("cos", "np.cos(angles)")
    assert not fits("cos", "np.sin(angles)")
    assert not fits("centred", "spread")
    assert not fits(None, "spread")


def test_what_the_function_has_made():
    assert {"scores", "centred", "spread"} <= clues().made
    assert "spread" not in clues(function=lambda table: table - table.mean(axis=0)).made


def test_factors_are_the_references_own_numbers():
    assert clues(STEP).factors == (0.5, 2.0)
    assert clues(STEP).is_a_factor(2.0)
    assert not clues(STEP).is_a_factor(3.0)


def test_factors_are_what_lies_between_two_stages():
    scaled = Subject(scaled=("centred", "a quarter"))
    quarter = Known("a quarter", next(k.array for k in tables.KNOWN if k.name == "centred") / 4, ("row", "column"))
    assert clues(quarter, subject=scaled).factors == pytest.approx((0.25, 4.0, 0.5, 2.0))


@pytest.mark.parametrize(
    ("number", "is_harmless"),
    [
        (np.int64(7), True),
        (np.bool_(True), False),
        (1.0, True),
        (0.5, True),
        (-1e9, True),
        (np.inf, True),
        (0.3, False),
    ],
)
def test_numbers_with_which_nothing_is_wrong(number, is_harmless):
    assert clues(STEP).is_harmless(number) is is_harmless


def test_what_a_number_could_be_instead():
    def with_numbers(table):
        step = 0.4
        n = 3
        root = 7
        shape = (5, 3)
        return table * step * n * root + shape[0]

    found = clues(STEP, function=with_numbers)
    others = {change.name: found.other_numbers(change) for change in found.watch.changes if change.node is None}
    assert others == {"step": [0.5, 2.0], "n": [], "root": [0.5, 2.0], "shape": []}
