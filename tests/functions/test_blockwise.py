import tracemalloc

import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from strategies import masked_attention_inputs

from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.blockwise import blockwise_attention
from mha_helpers.masks import causal_mask


@given(
    masked_attention_inputs(batches_differ=True),
    st.booleans(),
    st.sampled_from([1, 2, 3, 128]),
    st.sampled_from([1, 2000]),
)
def test_the_context_is_that_of_all_scores_at_once(inputs, is_causal, block_size, spread):
    inputs["queries"] *= spread
    wanted, _ = oracle.attention(**inputs, is_causal=is_causal)
    found = blockwise_attention(**inputs, is_causal=is_causal, block_size=block_size)
    assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_a_float_mask_may_have_only_zeros_and_ones_in_a_block():
    arrays = draw()
    mask = np.array([[0.0, 1.0, 0.0, 0.5, -np.inf]])
    wanted, _ = oracle.attention(*arrays, mask)
    assert_allclose(blockwise_attention(*arrays, mask, block_size=3), wanted)


def draw(*batch, n_queries=4, n_keys=5, d_head=3, d_value=2):
    normal = np.random.default_rng(0).normal
    return [normal(size=(*batch, *shape)) for shape in ((n_queries, d_head), (n_keys, d_head), (n_keys, d_value))]


def test_float32_stays_float32():
    arrays = [array.astype(np.float32) for array in draw(2)]
    assert blockwise_attention(*arrays, block_size=2).dtype == np.float32
    assert blockwise_attention(*arrays, causal_mask(5)[None, :4], block_size=2).dtype == np.float32


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
