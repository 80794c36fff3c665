"""What notebook B says of PyTorch is so: its listing, its comparison, and the traps that it names."""

import copy
import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mha_helpers import doctor, exercises
from mha_helpers.attention import multi_head_attention, scaled_dot_product_attention
from mha_helpers.fused import weights_from_torch
from mha_helpers.masks import causal_mask
from tools.writing.notebooks import NOTEBOOKS, read

LISTING = Path(__file__).parents[2] / "mha_helpers" / "torch_listing.py"
B = read(NOTEBOOKS / "B_pytorch.ipynb")


def with_torch():
    return pytest.importorskip("torch", reason="tests/model-requirements.txt is not installed")


def made(d_model=12, n_heads=3, context_length=7, seed=0, **options):
    torch = with_torch()
    from mha_helpers.torch_listing import CausalSelfAttention

    torch.manual_seed(seed)
    return CausalSelfAttention(d_model, n_heads, context_length, **options).double().eval()


def draws(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def test_the_listing_is_the_one_that_runs():
    prose = "\n".join(cell.source for cell in B.cells if cell.cell_type == "markdown")
    assert re.findall(r"```python\n(.*?)```", prose, re.DOTALL) == [LISTING.read_text(encoding="utf-8")]


@pytest.mark.parametrize("seq_len", [1, 5, 7])
def test_the_listing_and_the_course_agree(seq_len):
    torch, module = with_torch(), made()
    X = draws(seq_len, 2, seq_len, 12)
    W_Q, W_K, W_V = weights_from_torch(module.c_attn.weight.detach().numpy())
    ours, _ = multi_head_attention(X, W_Q, W_K, W_V, module.c_proj.weight.detach().numpy().T, 3, is_causal=True)
    assert_allclose(module(torch.from_numpy(X)).detach().numpy(), ours, atol=1e-12)


def test_the_notebook_compares_with_the_listing_where_torch_is(capsys):
    """The notebooks' own tests run the cell without PyTorch: here with it, on a right function and on a wrong one."""
    with_torch()
    [compare] = [cell.source for cell in B.cells if "working_version(weights_from_torch)" in cell.source]
    names = {"importlib": importlib, "np": np, "exercises": exercises, "causal_mask": causal_mask}
    names |= {"weights_from_torch": weights_from_torch, "multi_head_attention": multi_head_attention}
    exec(compare, names)
    assert capsys.readouterr().out.endswith("\nlargest difference from PyTorch: 0.000\n")
    # No wrong function gets past its check: so one whose check is passed by.
    wrong = SimpleNamespace(working_version=lambda function: lambda *arguments: (np.zeros((1, 3, 4)), None))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        exec(
            compare,
            names
            | {
                "exercises": SimpleNamespace(
                    multi_head_attention=wrong, weights_from_torch=exercises.weights_from_torch
                )
            },
        )


def test_dropout_is_all_that_differs_in_training():
    torch, module = with_torch(), made(dropout=0.5)
    X = torch.from_numpy(draws(0, 1, 5, 12))
    still = module(X)
    assert torch.equal(module(X), still)
    module.train()
    assert not torch.allclose(module(X), still)
    module.dropout.p = 0.0
    assert torch.equal(module(X), still)


def test_dropout_as_an_argument_is_not_switched_off_by_eval():
    torch = with_torch()
    torch.manual_seed(0)
    q = torch.from_numpy(draws(0, 1, 2, 5, 4))
    once, again = (torch.nn.functional.scaled_dot_product_attention(q, q, q, dropout_p=0.5) for _ in range(2))
    assert not torch.allclose(once, again)


def test_it_refuses_heads_that_do_not_divide():
    with pytest.raises(AssertionError):
        made(d_model=12, n_heads=5)


def test_view_refuses_what_contiguous_makes_possible():
    heads = with_torch().zeros(2, 3, 5, 4).transpose(1, 2)
    with pytest.raises(RuntimeError, match="view"):
        heads.view(2, 5, 12)
    assert heads.contiguous().view(2, 5, 12).shape == heads.reshape(2, 5, 12).shape


# ---- one new query, five keys: the corner of the triangle

KEYS, VALUES = np.zeros((5, 4)), np.arange(1.0, 6)[:, None]


@pytest.mark.parametrize(("n_new", "wanted"), [(1, [3.0]), (2, [2.5, 3.0])])
def test_is_causal_with_a_cache_starts_in_the_wrong_corner(n_new, wanted):
    queries = np.zeros((n_new, 4))
    from_the_first_key = [1.0, 1.5][:n_new]
    last_rows = np.tri(5, dtype=bool)[-n_new:]
    ours = [
        scaled_dot_product_attention(queries, KEYS, VALUES, **mask)[0][:, 0]
        for mask in ({"is_causal": True}, {"mask": last_rows})
    ]
    assert_allclose(ours, [from_the_first_key, wanted])

    torch = with_torch()
    q, k, v = (torch.from_numpy(array)[None, None] for array in (queries, KEYS, VALUES))
    theirs = [
        torch.nn.functional.scaled_dot_product_attention(q, k, v, **mask)[0, 0, :, 0]
        for mask in ({"is_causal": True}, {"attn_mask": torch.from_numpy(last_rows)})
    ]
    assert_allclose(theirs, ours)


# ---- FlexAttention


def test_flex_attention_takes_the_notebooks_functions_and_agrees_with_its_masks():
    torch = with_torch()
    flex = pytest.importorskip("torch.nn.attention.flex_attention")
    names = {"np": np}
    exec(next(cell.source for cell in B.cells if cell.id == "flex-attention-code"), names)
    queries, keys, values = draws(0, 2, 2, 8), draws(1, 2, 5, 8), draws(2, 2, 5, 4)
    q, k, v = (torch.from_numpy(array)[None] for array in (queries, keys, values))

    for mask_mod in (names["from_the_top_left"], names["after_the_cache"], names["window"], lambda b, h, i, j: j < 0):
        ours = np.broadcast_to(mask_mod(0, 0, names["q_idx"], names["kv_idx"]), (2, 5))
        blocks = flex.create_block_mask(mask_mod, B=None, H=None, Q_LEN=2, KV_LEN=5, device="cpu")
        expected, _ = scaled_dot_product_attention(queries, keys, values, ours)
        assert_allclose(flex.flex_attention(q, k, v, block_mask=blocks)[0], expected, atol=1e-12)

    heads = np.arange(2)[:, None, None]
    added = names["farther_is_less"](np.zeros((2, 2, 5)), 0, heads, names["q_idx"], names["kv_idx"])
    expected, _ = scaled_dot_product_attention(queries, keys, values, added)
    assert_allclose(flex.flex_attention(q, k, v, score_mod=names["farther_is_less"])[0], expected, atol=1e-12)


def test_a_librarys_cache_changes_when_it_is_used():
    torch = with_torch()
    caches = pytest.importorskip("transformers.cache_utils", reason="transformers is not installed")
    cache, new = caches.DynamicCache(), torch.zeros(1, 2, 3, 4)
    keys, _ = cache.update(new, new, 0)
    other = copy.deepcopy(cache)
    assert (keys.shape[-2], cache.get_seq_length()) == (3, 3)
    keys, _ = cache.update(new, new, 0)
    assert (keys.shape[-2], cache.get_seq_length(), other.get_seq_length()) == (6, 6, 3)


# ---- nn.MultiheadAttention


def test_multihead_attention_differs_in_what_the_notebook_names():
    torch = with_torch()
    module = torch.nn.MultiheadAttention(12, 3).double()
    assert_array_equal(module.in_proj_bias.shape, [36])
    for bias in (module.in_proj_bias, module.out_proj.bias):
        torch.nn.init.normal_(bias)
    X, visible = draws(0, 5, 2, 12), draws(1, 5, 5) > -0.5
    visible[:, 0] = True
    x = torch.from_numpy(X)  # (seq_len, batch, d_model)
    output, weights = module(x, x, x, attn_mask=torch.from_numpy(~visible), average_attn_weights=False)
    _, averaged = module(x, x, x, attn_mask=torch.from_numpy(~visible))
    biases = dict(zip(("b_Q", "b_K", "b_V"), np.split(module.in_proj_bias.detach().numpy(), 3), strict=True))
    ours, our_weights = multi_head_attention(
        X.swapaxes(0, 1),
        *weights_from_torch(module.in_proj_weight.detach().numpy()),
        module.out_proj.weight.detach().numpy().T,
        3,
        visible,
        **biases,
        b_O=module.out_proj.bias.detach().numpy(),
    )
    assert_allclose(output.detach().numpy().swapaxes(0, 1), ours, atol=1e-12)
    assert_allclose(weights.detach().numpy(), our_weights, atol=1e-12)
    assert_allclose(averaged.detach().numpy(), our_weights.mean(axis=1), atol=1e-12)
    assert torch.nn.MultiheadAttention(12, 3, bias=False).in_proj_bias is None


# ---- the doctor


def test_the_doctor_finds_the_missing_tilde_in_the_module_too(tmp_path, monkeypatch):
    assert doctor.examine(made()).healthy is True
    (tmp_path / "without_the_tilde.py").write_text(LISTING.read_text(encoding="utf-8").replace("~", ""))
    monkeypatch.syspath_prepend(tmp_path)
    from without_the_tilde import CausalSelfAttention

    [finding] = doctor.examine(CausalSelfAttention(12, 3, 7)).findings
    assert finding.name == "causal-inverted"
    in_numpy = "".join(
        out.text for cell in B.cells if "doctor.examine" in cell.source for out in cell.get("outputs", ())
    )
    assert in_numpy == f"{finding.name}\n{finding.sentence}\nRepair: {finding.repair}\n"
