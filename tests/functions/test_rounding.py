import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import array_shapes, arrays

from mha_helpers.exercises.what_a_cache_keeps.round_to_bits import exercise
from mha_helpers.rounding import round_to_bits

numbers = arrays(float, array_shapes(max_dims=3, max_side=5), elements=st.floats(-1e6, 1e6, width=32))


@given(numbers, st.integers(2, 10))
def test_every_number_goes_to_the_nearest_of_as_many_levels_as_the_bits_tell_apart(X, bits):
    rounded = round_to_bits(X, bits)
    step = np.abs(X).max(axis=-1, keepdims=True) / (2 ** (bits - 1) - 1)
    assert (np.abs(rounded - X) <= 0.5 * step * (1 + 1e-9)).all()
    assert all(len(np.unique(row)) < 2**bits for row in rounded.reshape(-1, X.shape[-1]))
    np.testing.assert_allclose(np.abs(rounded).max(axis=-1), np.abs(X).max(axis=-1))  # the largest stays


@pytest.mark.parametrize("bits", [1, 0, 2.5])
def test_bits_that_leave_no_level_are_refused(bits):
    with pytest.raises(ValueError, match=r"bits=.* (not possible|not a whole number)"):
        round_to_bits(np.ones(3), bits)


def test_float32_stays_float32():
    assert round_to_bits(np.ones((2, 3), np.float32), 4).dtype == np.float32


def test_no_number_of_the_exercise_lies_between_two_levels():
    """Then rounding up would be as right as rounding down."""
    for case in exercise.cases:
        X, bits = np.asarray(case.arguments["X"], float), case.arguments["bits"]
        step = np.abs(X).max(axis=-1, keepdims=True) / (2 ** (bits - 1) - 1)
        levels = X / np.where(step == 0, 1, step)
        assert (np.abs(np.abs(levels - np.floor(levels)) - 0.5) > 0.05).all(), case.trait
