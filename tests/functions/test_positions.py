import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from mha_helpers.positions import sinusoidal_positions

SIZES = st.integers(1, 12)
PAIRS = st.integers(1, 6)


@given(SIZES, SIZES)
def test_positions_agree_with_the_formula_of_the_paper(seq_len, d_model):
    positions = sinusoidal_positions(seq_len, d_model)
    assert positions.shape == (seq_len, d_model)
    assert positions.dtype == np.float64
    for position, feature in np.ndindex(positions.shape):
        pair = feature // 2
        wave = math.cos if feature % 2 else math.sin
        assert math.isclose(
            positions[position, feature], wave(position / 10_000 ** (2 * pair / d_model)), abs_tol=1e-12
        ), f"position {position}, feature {feature}"


@given(SIZES, PAIRS)
def test_all_positions_are_equally_long(seq_len, n_pairs):
    assert_allclose(np.square(sinusoidal_positions(seq_len, 2 * n_pairs)).sum(axis=-1), n_pairs)


@given(SIZES, PAIRS)
def test_dot_products_depend_on_the_distance_only(seq_len, n_pairs):
    positions = sinusoidal_positions(seq_len, 2 * n_pairs)
    products = positions @ positions.T
    for distance in range(seq_len):
        assert_allclose(np.diagonal(products, distance), products[0, distance], atol=1e-9)


def test_positions_do_not_depend_on_the_length_and_all_differ():
    positions = sinusoidal_positions(1000, 8)
    assert_array_equal(sinusoidal_positions(10, 8), positions[:10])
    assert len(np.unique(positions.round(6), axis=0)) == 1000


@pytest.mark.parametrize("size", [0, -1, 2.5, "2", None, True])
def test_sizes_are_whole_numbers_of_1_or_more(size):
    complaint = f"={size!r} is not (possible|a whole number); give an int of 1 or more$"
    with pytest.raises(ValueError, match=f"^seq_len{complaint}"):
        sinusoidal_positions(size, 4)
    with pytest.raises(ValueError, match=f"^d_model{complaint}"):
        sinusoidal_positions(4, size)
