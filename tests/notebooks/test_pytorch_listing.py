"""The PyTorch listing that notebook B explains line by line computes what the course's attention computes."""

import re

import numpy as np
import pytest

from mha_helpers.attention import multi_head_attention
from mha_helpers.fused import weights_from_torch
from tools.writing.notebooks import NOTEBOOKS, read

torch = pytest.importorskip("torch", reason="tests/model-requirements.txt is not installed")


@pytest.fixture(scope="module")
def module():
    prose = "\n".join(cell.source for cell in read(NOTEBOOKS / "B_pytorch.ipynb").cells)
    [listing] = [code for code in re.findall(r"```python\n(.*?)```", prose, re.DOTALL) if "nn.Module" in code]
    names = {}
    exec(listing, names)
    torch.manual_seed(0)
    return names["CausalSelfAttention"](d_model=12, n_heads=3, context_length=7).double().eval()


@pytest.mark.parametrize("seq_len", [1, 5, 7])
def test_the_listing_and_the_course_agree(module, seq_len):
    X = np.random.default_rng(seq_len).normal(size=(2, seq_len, 12))
    W_Q, W_K, W_V = weights_from_torch(module.c_attn.weight.detach().numpy())
    ours, _ = multi_head_attention(X, W_Q, W_K, W_V, module.c_proj.weight.detach().numpy().T, 3, is_causal=True)
    np.testing.assert_allclose(module(torch.from_numpy(X)).detach().numpy(), ours, atol=1e-12)


def test_dropout_in_training_mode_is_all_that_differs(module):
    X = torch.from_numpy(np.random.default_rng(0).normal(size=(1, 5, 12)))
    still = module(X)
    module.train()
    assert torch.equal(module(X), still)  # dropout=0.0
    module.eval()


def test_it_refuses_heads_that_do_not_divide(module):
    with pytest.raises(AssertionError):
        type(module)(d_model=12, n_heads=5, context_length=7)
