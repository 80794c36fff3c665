"""Whether an array holds known numbers, and each where it belongs."""

import numpy as np
import pytest

from function_judge.known_numbers import Known, in_grid, is_in_order, is_the_same, layouts_of

NUMBERS = np.random.default_rng(0).normal(size=(2, 3, 4))
STAGE = Known("numbers", NUMBERS, ("block", "row", "column"))


def order(array, known=STAGE, unfilled=None):
    return is_in_order(array, known, np.zeros(array.shape, bool) if unfilled is None else unfilled)


@pytest.mark.parametrize(
    ("array", "is_right"),
    [
        (NUMBERS, True),
        (NUMBERS.astype(np.float32), True),
        (NUMBERS.transpose(2, 0, 1), True),
        (NUMBERS.reshape(6, 4), True),
        (NUMBERS[0], True),
        (NUMBERS[:, :, ::2], True),
        (NUMBERS.reshape(2, 4, 3), False),
        (NUMBERS[:, [2, 0, 1]], False),
        (np.where(NUMBERS > 0, NUMBERS, 0.5), None),
        (NUMBERS + 1e-3, None),
    ],
    ids=["same", "float32", "turned", "merged", "block", "slice", "reshaped", "shuffled", "in part", "moved"],
)
def test_by_position_in_whatever_layout(array, is_right):
    assert order(array) is is_right


def test_entries_that_are_not_filled_yet_do_not_count():
    unfilled = np.zeros(NUMBERS.shape, bool)
    unfilled[1] = True
    assert order(np.where(unfilled, 0.0, NUMBERS), unfilled=unfilled) is True


def test_an_exact_stage_counts_in_its_own_layout_but_a_part_of_it_in_any():
    exact = Known("numbers", NUMBERS, STAGE.axes, exact=True)
    assert order(NUMBERS[None], exact) is True
    assert order(NUMBERS.transpose(1, 0, 2), exact) is None
    assert order(NUMBERS[0].T, exact) is True


def test_of_two_nested_axes_the_first_is_the_outer_one():
    nested = Known("numbers", NUMBERS, STAGE.axes, nested=("block", "column"))
    assert order(NUMBERS.transpose(1, 0, 2).reshape(3, 8), nested) is True
    assert order(NUMBERS.transpose(1, 2, 0).reshape(3, 8), nested) is False


def test_of_a_grid_it_is_told_whether_it_is_turned_or_in_part():
    grid = Known("numbers", NUMBERS[0], ("row", "column"), grid=("row", "column"))
    filled = np.zeros((3, 4), bool)
    assert in_grid(NUMBERS[0], grid, filled) == (False, False)
    assert in_grid(NUMBERS[0].T, grid, filled.T) == (True, False)
    assert in_grid(NUMBERS[0][:, :2], grid, filled[:, :2]) == (False, True)
    assert in_grid(NUMBERS[0], STAGE, filled) == (False, False)


def test_what_stands_outside_a_pattern_may_be_anything_very_small():
    pattern = np.tri(4, dtype=bool)
    square = np.random.default_rng(1).normal(size=(4, 4))
    known = Known("square", square, ("row", "column"), pattern=pattern)
    assert order(np.where(pattern, square, -1e9), known) is True
    assert order(np.where(pattern, square, -np.inf), known) is True
    assert order(np.where(np.tri(4, k=-1, dtype=bool), square, -1e9), known) is False


@pytest.mark.parametrize(
    ("array", "stage", "are_the_same"),
    [
        ([1.0, 2.0], [[1.0, 2.0]], True),
        ([1.0, 2.0], [2.0, 1.0], False),
        ([1.0, np.nan], [1.0, np.nan], True),
        ([True, False], [False, True], True),
        ([True, True], [False, True], False),
        ([1, 2], [1, 2], True),
        ([1.0, 0.0], [True, False], False),
    ],
)
def test_in_the_stages_own_layout(array, stage, are_the_same):
    array, stage = np.array(array), np.array(stage)
    known = Known("stage", stage, ("a",) * stage.ndim)
    assert is_the_same(array, known, np.zeros(array.shape, bool)) is are_the_same


def test_numbers_are_looked_up_by_their_place():
    known = Known("numbers", np.array([3.0, 1.0, 2.0, 1.0]), ("i",))
    assert known.find(np.array([3.0, 2.0, 1.0, 7.0])).tolist() == [0, 2, -1, -2]


def test_the_layouts_that_fit_into_a_shape():
    layouts = list(layouts_of(NUMBERS, (4, 6)))
    assert [layout.shape for layout in layouts] == [(4, 6)] * 2
    assert any(np.array_equal(layout, NUMBERS.transpose(2, 0, 1).reshape(4, 6)) for layout in layouts)
    assert not list(layouts_of(NUMBERS, (5, 5)))
