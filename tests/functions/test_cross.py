import numpy as np
import oracle
import pytest
from numpy.testing import assert_allclose

from mha_helpers.attention import combine_heads, scaled_dot_product_attention, split_heads
from mha_helpers.cross import cross_attention

RNG = np.random.default_rng(0)
X, SOURCE = RNG.normal(size=(2, 3, 8)), RNG.normal(size=(2, 5, 6))
MATRICES = [RNG.normal(size=size) for size in ((8, 8), (6, 8), (6, 8), (8, 8))]
PADDED = np.array([[1, 1, 1, 0, 0], [0, 0, 0, 0, 0]])


@pytest.mark.parametrize("context_mask", [None, PADDED], ids=["whole", "padded"])
def test_it_is_attention_in_plain_loops_with_keys_and_values_of_another_sequence(context_mask):
    mask = None if context_mask is None else context_mask.astype(bool)[:, None, None]
    wanted = oracle.multi_head_attention(X, *MATRICES, 4, mask, context_X=SOURCE)
    for found, expected in zip(cross_attention(X, SOURCE, *MATRICES, 4, context_mask), wanted, strict=True):
        assert_allclose(found, expected, atol=1e-12)


def test_keys_and_values_of_the_source_serve_every_word_that_is_written_later():
    W_Q, W_K, W_V, W_O = MATRICES
    keys, values = (split_heads(SOURCE @ W, 4) for W in (W_K, W_V))
    whole, _ = cross_attention(X, SOURCE, *MATRICES, 4)
    for word in range(X.shape[-2]):
        query = split_heads(X[:, [word]] @ W_Q, 4)
        heads, _ = scaled_dot_product_attention(query, keys, values)
        assert_allclose(combine_heads(heads) @ W_O, whole[:, [word]], atol=1e-12)


def test_a_mask_of_other_numbers_than_1_and_0_is_refused():
    with pytest.raises(ValueError, match="1 \\(token\\) and 0 \\(padding\\)"):
        cross_attention(X, SOURCE, *MATRICES, 4, 2 * PADDED)
