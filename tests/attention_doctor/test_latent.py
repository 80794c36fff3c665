"""Multi-head latent attention (MLA): read in the names of the paper and of DeepSeek's code, right and wrong."""

import pytest

torch = pytest.importorskip("torch", reason="tests/model-requirements.txt is not installed")
from torch import nn  # noqa: E402

from mha_helpers import doctor  # noqa: E402


def turned(X):
    """Rotary positions, in pairs."""
    angles = torch.arange(X.shape[-2])[:, None] / 10000 ** (torch.arange(0, X.shape[-1], 2) / X.shape[-1])
    even, odd = X[..., ::2], X[..., 1::2]
    cos, sin = angles.cos(), angles.sin()
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


class OfThePaper(nn.Module):
    """Every matrix apart, as the paper names them; the rotated keys come from the token itself."""

    def __init__(self, d_model=64, n_heads=4, narrow=16, d_head=8, d_rope=4):
        super().__init__()
        self.n_heads, self.d_rope = n_heads, d_rope

        def linear(n_inputs, n_outputs):
            return nn.Linear(n_inputs, n_outputs, bias=False)

        self.W_DQ, self.W_UQ, self.W_QR = (
            linear(d_model, narrow), linear(narrow, n_heads * d_head), linear(narrow, n_heads * d_rope),
        )  # fmt: skip
        self.W_DKV, self.W_UK, self.W_UV, self.W_KR = (
            linear(d_model, narrow), linear(narrow, n_heads * d_head), linear(narrow, n_heads * d_head),
            linear(d_model, d_rope),
        )  # fmt: skip
        self.W_O = linear(n_heads * d_head, d_model)

    def heads(self, X):
        return X.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def projected(self, x):
        asks, latent = self.W_DQ(x), self.W_DKV(x)
        q, k, v = self.heads(self.W_UQ(asks)), self.heads(self.W_UK(latent)), self.heads(self.W_UV(latent))
        return q, self.heads(self.W_QR(asks)), k, self.W_KR(x)[:, None], v

    def forward(self, x, mask=None):
        q, q_rope, k, k_rope, v = self.projected(x)
        q = torch.cat([q, turned(q_rope)], dim=-1)
        k = torch.cat([k, turned(k_rope).expand(*k.shape[:-1], -1)], dim=-1)
        scores = self.scaled(q @ k.mT, q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return self.W_O((self.weighed(scores) @ v).transpose(1, 2).flatten(2))

    def scaled(self, scores, width):
        return scores / width**0.5

    def weighed(self, scores):
        return scores.softmax(dim=-1)


class OfTheCode(OfThePaper):
    """Fused as in DeepSeek's own code, with norms of the narrow vectors."""

    def __init__(self, d_model=64, n_heads=4, rank=16, d_head=8, d_rope=4):
        nn.Module.__init__(self)
        self.n_heads, self.qk_rope_head_dim, self.kv_lora_rank = n_heads, d_rope, rank
        self.wq = nn.Linear(d_model, n_heads * (d_head + d_rope), bias=False)
        self.wkv_a = nn.Linear(d_model, rank + d_rope)
        self.kv_norm = nn.RMSNorm(rank, eps=1e-6)
        self.wkv_b = nn.Linear(rank, n_heads * 2 * d_head, bias=False)
        self.W_O = nn.Linear(n_heads * d_head, d_model)

    def projected(self, x):
        q, q_rope = self.heads(self.wq(x)).tensor_split([-self.qk_rope_head_dim], dim=-1)
        latent, k_rope = self.wkv_a(x).tensor_split([self.kv_lora_rank], dim=-1)
        k, v = self.heads(self.wkv_b(self.kv_norm(latent))).chunk(2, dim=-1)
        return q, q_rope, k, k_rope[:, None], v


class NotDivided(OfTheCode):
    def scaled(self, scores, width):
        return scores


class OverTheQueries(OfThePaper):
    def weighed(self, scores):
        return scores.softmax(dim=-2)


@pytest.mark.parametrize("design", [OfThePaper, OfTheCode])
def test_it_is_read_and_compared(design):
    report = doctor.examine(design())
    assert report.healthy is True, report
    assert "latent attention (MLA)" in report.layout
    assert "`mask` is read as" in str(report)


@pytest.mark.parametrize(("wrong", "name"), [(NotDivided, "scale-missing"), (OverTheQueries, "softmax-over-queries")])
def test_its_mistakes_have_their_names(wrong, name):
    assert doctor.examine(wrong()).verdict == f"sick: {name}"


def test_the_width_of_a_part_in_the_scale_is_found():
    class ByAPart(OfTheCode):
        def scaled(self, scores, width):
            return scores / (width - self.qk_rope_head_dim) ** 0.5

    assert doctor.examine(ByAPart()).healthy is not True
