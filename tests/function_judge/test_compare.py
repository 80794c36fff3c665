"""Arrays that are equal to rounding, and the first cell that isn't."""

import numpy as np
import pytest

from function_judge.compare import close, differing, equal, first_difference, first_place, fits

NAN, INF = np.nan, np.inf


def test_rounding_is_close_and_a_mistake_is_not():
    wanted = np.array([1.0, 100.0, 0.0])
    assert close(wanted * (1 + 5e-5), wanted).all()
    assert not close(np.array([1.001, 100.1, 0.001]), wanted).any()


@pytest.mark.parametrize(
    ("got", "wanted", "are_close"),
    [(NAN, NAN, True), (NAN, 1.0, False), (INF, INF, True), (INF, -INF, False), (1e300, INF, False)],
)
def test_nan_and_infinity_are_close_to_themselves_alone(got, wanted, are_close):
    assert close(np.array([got]), np.array([wanted])).all() == are_close


def test_equal_arrays_have_one_shape():
    assert equal(np.ones((2, 1)), np.ones((2, 1)))
    assert not equal(np.ones((2, 1)), np.ones(2))


def test_a_row_that_is_predicted_as_nan_may_hold_anything():
    predicted = np.array([[1.0, 2.0], [3.0, 4.0], [NAN, NAN]])
    assert fits(np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 7.0]]), predicted)
    assert not fits(np.array([[1.0, 2.0], [3.0, 4.1], [0.0, 7.0]]), predicted)
    assert not fits(None, predicted)
    assert not fits(predicted[:2], predicted)


def test_where_most_is_predicted_as_nan_it_must_be_nan():
    predicted = np.array([[1.0, 2.0], [NAN, NAN], [NAN, NAN], [NAN, NAN]])
    filled = np.where(np.isnan(predicted), 0.0, predicted)
    assert fits(predicted, predicted)
    assert not fits(filled, predicted)
    assert fits(filled, predicted, vacuous=True)


def test_the_tolerance_is_a_share_of_the_largest_number():
    predicted = np.array([1000.0, 1.0])
    assert differing(np.array([1000.0, 1.05]), predicted).tolist() == [False, False]
    assert differing(np.array([1000.0, 1.5]), predicted).tolist() == [False, True]


def test_the_first_place_is_the_first_in_reading_order():
    assert first_place(np.array([[False, True], [True, True]])) == (0, 1)


@pytest.mark.parametrize(
    ("got", "wanted", "told"),
    [
        ([2.0, 1.0], [2.0, 1.5], "scores[1] should be 1.5000; yours is 1.0000."),
        ([0.123456], [0.123457], "scores[0] should be 0.123457; yours is 0.123456."),
        ([-0.0], [1.0], "scores[0] should be 1.0000; yours is 0.0000."),
        ([2e9], [1e9], "scores[0] should be 1e+09; yours is 2e+09."),
        ([True], [False], "scores[0] should be False; yours is True."),
        ([2], [3], "scores[0] should be 3; yours is 2."),
        (5.0, 6.0, "scores should be 6.0000; yours is 5.0000."),
    ],
)
def test_the_first_difference_shows_as_many_decimals_as_it_takes(got, wanted, told):
    got, wanted = np.array(got), np.array(wanted)
    assert first_difference("scores", got, wanted, got != wanted) == told


def test_of_a_shape_the_cells_are_axes():
    told = first_difference("shape", np.array([2, 4]), np.array([2, 3]), np.array([False, True]), of_shape=True)
    assert told == "Axis 1 of shape should be 3; yours is 4."
