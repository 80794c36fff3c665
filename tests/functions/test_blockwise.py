import tracemalloc

import numpy as np
import oracle
import pytest
from numpy.testing import assert_allclose

from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.blockwise import blockwise_attention
from mha_helpers.masks import causal_mask

BLOCK_SIZES = (1, 2, 3, 5, 128)


def draw(*batch, n_queries=4, n_keys=5, d_head=3, d_value=2, spread=1.0):
    rng = np.random.default_rng(0)
    queries = spread * rng.normal(size=(*batch, n_queries, d_head))
    return queries, rng.normal(size=(*batch, n_keys, d_head)), rng.normal(size=(*batch, n_keys, d_value))


SCATTERED = np.array([[0, 0, 1, 1, 0], [0, 1, 1, 0, 1], [0, 0, 0, 0, 0], [0, 0, 0, 1, 1]], bool)
OPTIONS = {
    "plain": {},
    "causal": {"is_causal": True},
    "first blocks and a row hidden": {"mask": SCATTERED},
    "padding": {"mask": np.array([[True, True, True, False, False]])},
    "one column for all keys": {"mask": np.array([[True], [True], [False], [True]])},
    "numbers, and causal": {"mask": np.where(SCATTERED, 0.5 - np.arange(5), -np.inf), "is_causal": True},
    # Cut into blocks, only zeros and ones are left in the first of them.
    "zeros and ones in a block": {"mask": np.array([[0.0, 1.0, 0.0, 0.5, -np.inf]])},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_context_is_that_of_all_scores_at_once(options):
    for batch in ((), (2, 3)):
        arrays = draw(*batch)
        wanted, _ = oracle.attention(*arrays, **options)
        for block_size in BLOCK_SIZES:
            found = blockwise_attention(*arrays, **options, block_size=block_size)
            assert_allclose(found, wanted, rtol=1e-10, atol=1e-12, err_msg=f"batch {batch}, blocks of {block_size}")


def test_large_scores_do_not_overflow():
    arrays = draw(spread=2000)
    wanted, _ = scaled_dot_product_attention(*arrays)
    for block_size in BLOCK_SIZES:
        assert_allclose(blockwise_attention(*arrays, block_size=block_size), wanted, rtol=1e-8)


def test_batches_broadcast():
    queries, keys, values = draw(2, 3)
    wanted, _ = scaled_dot_product_attention(queries, keys[0], values[:, :1], is_causal=True)
    found = blockwise_attention(queries, keys[0], values[:, :1], is_causal=True, block_size=2)
    assert_allclose(found, wanted)


def test_float32_stays_float32():
    arrays = [array.astype(np.float32) for array in draw(2)]
    assert blockwise_attention(*arrays, block_size=2).dtype == np.float32
    assert blockwise_attention(*arrays, SCATTERED[None], block_size=2).dtype == np.float32


def peak_bytes(attend, n, **options):
    arrays = np.random.default_rng(0).normal(size=(3, n, 8))
    tracemalloc.start()
    attend(*arrays, **options)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("options", [{}, {"is_causal": True}], ids=str)
def test_memory_grows_with_the_length_and_not_with_its_square(options):
    small, large = (peak_bytes(blockwise_attention, n, **options, block_size=32) for n in (512, 2048))
    assert large < 4.5 * small
    small, large = (peak_bytes(scaled_dot_product_attention, n, **options) for n in (512, 2048))
    assert large > 12 * small


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"block_size": 0}, "block_size=0 is not possible; give an int of 1 or more"),
        ({"block_size": 2.5}, "block_size=2.5 is not a whole number"),
        ({"mask": np.ones((4, 5))}, "the mask holds only 1.0 and 0.0"),
        ({"mask": causal_mask(3)}, r"the mask has shape \(3, 3\), which does not broadcast to the scores' \(4, 5\)"),
    ],
)
def test_impossible_wishes_are_refused(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        blockwise_attention(*draw(), **options)
