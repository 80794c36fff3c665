"""Arrays of two values, compared with a pattern that was asked for."""

import numpy as np
import pytest

from function_judge.patterns import is_the_pattern

TRIANGLE = np.tri(4, dtype=bool)
COLUMNS = np.tile([True, False, True], (3, 1))
BATCH = np.stack([COLUMNS, np.tile([True, True, False], (3, 1))])


@pytest.mark.parametrize(
    ("array", "wanted", "is_right"),
    [
        (TRIANGLE, TRIANGLE, True),
        (~TRIANGLE, TRIANGLE, True),
        (np.where(TRIANGLE, 0.0, -np.inf), TRIANGLE, True),
        (np.where(TRIANGLE, 5, 2)[None], TRIANGLE, True),
        (TRIANGLE.T, TRIANGLE, True),
        (np.tri(4, k=1), TRIANGLE, False),
        (np.ones((4, 4)), TRIANGLE, None),
        (np.array([True, False]), TRIANGLE, None),
        (np.array([[True, False], [False, True]]), COLUMNS, None),
    ],
    ids=["same", "inverted", "infinite", "in a batch", "turned", "shifted", "full", "a row", "another size"],
)
def test_whichever_value_stands_for_true(array, wanted, is_right):
    assert is_the_pattern(array, wanted) is is_right


def test_one_may_serve_a_batch_whose_items_share_it():
    shared = np.broadcast_to(TRIANGLE, (3, 4, 4))
    assert is_the_pattern(TRIANGLE, shared) is True
    assert is_the_pattern(np.tri(4, k=1), shared) is False
    assert is_the_pattern(COLUMNS, BATCH) is None


def test_the_corner_of_a_longer_triangle_is_right():
    assert is_the_pattern(np.tri(9, dtype=bool), np.broadcast_to(TRIANGLE, (2, 4, 4))) is True
    assert is_the_pattern(np.tri(9, k=1, dtype=bool), np.broadcast_to(TRIANGLE, (2, 4, 4))) is False


def test_part_of_a_pattern_that_is_no_triangle_may_be_completed_later():
    shared = np.broadcast_to(COLUMNS & np.tri(3, dtype=bool), (2, 3, 3))
    assert is_the_pattern(COLUMNS, shared) is None
    assert is_the_pattern(np.eye(3, k=2, dtype=bool), shared) is None
    assert is_the_pattern(np.eye(3, dtype=bool)[::-1], shared) is False
