"""PyTorch's modules: right ones in well-known styles are healthy, and their bugs get their names."""

import threading

import pytest

torch = pytest.importorskip("torch")

import torch_styles  # noqa: E402
from torch import nn  # noqa: E402

from mha_helpers import doctor  # noqa: E402


@pytest.mark.parametrize("style", torch_styles.HEALTHY)
def test_well_known_styles_are_healthy(style):
    torch.manual_seed(0)
    report = doctor.examine(torch_styles.HEALTHY[style]())
    assert report.healthy, report
    assert len(str(report).splitlines()) <= 25


@pytest.mark.parametrize("style", torch_styles.WRONG)
def test_their_mistakes_are_named(style):
    torch.manual_seed(0)
    make, name = torch_styles.WRONG[style]
    assert [finding.name for finding in doctor.examine(make()).findings] == [name]


def test_the_kernel_is_healthy_with_masks_and_flag():
    report = doctor.examine(nn.functional.scaled_dot_product_attention)
    assert report.healthy, report


def test_an_error_in_a_librarys_module_has_no_line_of_the_doctors():
    report = doctor.examine(nn.MultiheadAttention(64, 4, batch_first=True))
    assert "the flag is_causal without a mask (it stops with RuntimeError: Need attn_mask" in report.verdict
    assert "pytorch.py" not in report.verdict


def test_a_module_stays_as_it_was():
    module = torch_styles.NanoGPT()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    doctor.examine(module)
    assert module.training
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items())


class Uncopyable(torch_styles.NanoGPT):
    """It holds something that no copy can be made of, and numbers of several types."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()
        self.register_buffer("steps", torch.arange(3, dtype=torch.float64))
        self.double()


@pytest.mark.parametrize("training", [True, False])
def test_a_module_that_cannot_be_copied_is_put_back_as_it_was(training):
    module = Uncopyable().train(training)
    before = {name: (id(value), value.dtype, value.clone()) for name, value in module.named_parameters()}
    before |= {name: (id(value), value.dtype, value.clone()) for name, value in module.named_buffers()}
    assert doctor.examine(module).healthy
    assert all(owner.training is training for owner in module.modules())
    for name, value in [*module.named_parameters(), *module.named_buffers()]:
        assert (id(value), value.dtype) == before[name][:2], name
        assert torch.equal(value, before[name][2]), name


class Changed(torch_styles.Timm):
    """The vision style with a bug; `weigh` and `merge` are the parts to exchange."""

    def __init__(self, scale=None, weigh=None, merge=None, dim=64, num_heads=8):
        super().__init__(dim, num_heads)
        self.scale = self.scale if scale is None else scale
        self.weigh = weigh or (lambda scores: scores.softmax(-1))
        self.merge = merge or (lambda heads: heads.transpose(1, 2).flatten(2))

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)
        return self.proj(self.merge(self.weigh(q @ k.mT * self.scale) @ v))


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"scale": 64**-0.5}, ["mha-scale-d-model"]),
        ({"scale": 1.0}, ["scale-missing"]),
        ({"weigh": lambda scores: scores.softmax(1)}, ["mha-softmax-over-heads"]),
        ({"weigh": lambda scores: scores.softmax(-2)}, ["softmax-over-queries"]),
        ({"merge": lambda heads: heads.reshape(len(heads), -1, 64)}, ["mha-combine-without-transpose"]),
        (
            {"scale": 64**-0.5, "merge": lambda heads: heads.reshape(len(heads), -1, 64)},
            ["mha-scale-d-model", "mha-combine-without-transpose"],
        ),
        ({"weigh": lambda scores: nn.functional.dropout(scores.softmax(-1), 0.3)}, ["dropout-always-on"]),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, list) else None,
)
def test_a_modules_bugs_are_named(options, names):
    report = doctor.examine(Changed(**options))
    assert report.healthy is False
    assert set(report.names) == set(names), report


class Hinted(nn.Module):
    """Tells PyTorch's own layer that it is causal."""

    def __init__(self, with_mask):
        super().__init__()
        self.with_mask, self.attn = with_mask, nn.MultiheadAttention(64, 4, batch_first=True)

    def forward(self, x):
        hidden = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1) if self.with_mask else None
        return self.attn(x, x, x, attn_mask=hidden, is_causal=True, need_weights=False)[0]


@pytest.mark.parametrize(("with_mask", "names"), [(True, []), (False, ["causal-ignored"])])
def test_a_hint_needs_its_mask(with_mask, names):
    """Without gradients PyTorch's fast path doesn't look at the hint, and says nothing."""
    assert doctor.examine(Hinted(with_mask)).names == names
