import hypothesis.strategies as st
import numpy as np
import oracle
from hypothesis import given
from numpy.testing import assert_allclose

from mha_helpers.latent import latent_attention
from mha_helpers.masks import causal_mask

sizes = st.integers(1, 4)


@given(sizes, sizes, sizes, sizes, sizes, sizes, st.sampled_from([(), (2,), (3, 2)]), st.booleans())
def test_it_is_attention_to_the_unfolded_keys_and_values(n_heads, n, d_head, d_kept, d_value, seed, batch, masked):
    normal = np.random.default_rng(seed).normal
    queries, kept = normal(size=(*batch, n_heads, n, d_head)), normal(size=(*batch, n, d_kept))
    unfold_K, unfold_V = normal(size=(n_heads, d_kept, d_head)), normal(size=(n_heads, d_kept, d_value))
    mask = causal_mask(n) if masked else None
    shared = kept[..., None, :, :]
    wanted = oracle.attention(queries, shared @ unfold_K, shared @ unfold_V, mask)
    for found, expected in zip(latent_attention(queries, kept, unfold_K, unfold_V, mask), wanted, strict=True):
        assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
