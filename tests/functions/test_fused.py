import numpy as np
import pytest
from numpy.testing import assert_allclose

from mha_helpers.attention import multi_head_attention
from mha_helpers.fused import weights_from_torch


def test_the_thirds_are_queries_keys_and_values_transposed():
    weight = np.arange(27.0).reshape(9, 3)
    for found, rows in zip(weights_from_torch(weight), (slice(0, 3), slice(3, 6), slice(6, 9)), strict=True):
        assert_allclose(found, weight[rows].T)


def test_it_runs_torchs_own_attention():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    theirs = torch.nn.MultiheadAttention(12, 3, bias=False, batch_first=True)
    X = torch.randn(2, 5, 12)
    with torch.no_grad():
        wanted, _ = theirs(X, X, X, attn_mask=~torch.ones(5, 5, dtype=torch.bool).tril())
    W_Q, W_K, W_V = weights_from_torch(theirs.in_proj_weight.detach().numpy())
    W_O = theirs.out_proj.weight.detach().numpy().T
    output, _ = multi_head_attention(X.numpy(), W_Q, W_K, W_V, W_O, 3, is_causal=True)
    assert_allclose(output, wanted.numpy(), atol=1e-6)


def test_what_is_not_three_in_one_is_refused():
    with pytest.raises(ValueError, match=r"^the weight has shape \(3, 9\); .*\(27, 9\): transpose GPT-2's own"):
        weights_from_torch(np.zeros((3, 9)))
