"""Classes of code that a blind trial found the doctor wrong on: each is a style of many, right or with one fault."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from mha_helpers import doctor  # noqa: E402

WIDTH, HEADS = 64, 4


class Separate(nn.Module):
    """What all of these begin with: `change` makes scores of scores, `weigh` weights of these."""

    def __init__(self):
        super().__init__()
        self.num_heads = HEADS
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def change(self, scores):
        return scores

    def weigh(self, scores):
        return scores.softmax(-1)

    def forward(self, x):
        q, k, v = (one(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for one in (self.q_proj, self.k_proj, self.v_proj))
        weights = self.weigh(self.change(q @ k.mT / 4))
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2))


class Epsilon(Separate):
    def weigh(self, scores):
        weights = scores.softmax(-1) + 1e-6
        return weights / weights.sum(-1, keepdim=True)


class Slots(Separate):
    def __init__(self, inverted_attention=True):
        super().__init__()
        self.inverted_attention = inverted_attention

    def weigh(self, scores):
        weights = scores.softmax(-2)
        return weights / weights.sum(-1, keepdim=True)


class BooleanTriangle(Separate):
    def change(self, scores):
        mask = torch.ones(scores.shape[-2:]).tril().bool()
        return scores + mask.masked_fill(~mask, float("-inf")).masked_fill(mask, 0.0)


class MaskedButUnused(Separate):
    def __init__(self):
        super().__init__()
        self.triangle = torch.triu(torch.ones(128, 128), diagonal=1)


class NotNormalised(Separate):
    def weigh(self, scores):
        return scores.softmax(-1) * scores.shape[-1] ** 0.3


class LearntTemperature(Separate):
    def __init__(self):
        super().__init__()
        self.temperature = nn.Parameter(torch.ones(HEADS, 1, 1))

    def change(self, scores):
        return scores * self.temperature


class Window(nn.Module):
    """Swin's: as many tokens as a window has, and features before heads before queries, keys and values."""

    def __init__(self, window_size=3):
        super().__init__()
        self.num_heads, self.window_size, self.scale = HEADS, window_size, 16**-0.5
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.relative_position_bias = nn.Parameter(torch.zeros(HEADS, window_size**2, window_size**2))

    def forward(self, x, mask):
        q, k, v = self.qkv(x).unflatten(-1, (16, HEADS, 3)).permute(4, 0, 3, 1, 2)
        scores = q @ k.mT * self.scale + self.relative_position_bias
        scores = scores if mask is None else scores + mask[:, None]
        return self.proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class BandAndMask(Separate):
    """Three tokens back, and no padding."""

    window = 3

    def forward(self, x, mask=None):
        steps = torch.arange(x.shape[1])[:, None] - torch.arange(x.shape[1])
        self.seen = (steps >= 0) & (steps <= self.window) & (torch.tensor(True) if mask is None else mask.bool())
        return super().forward(x)

    def change(self, scores):
        return scores.masked_fill(~self.seen, -1e9)


class FourAxesDropped(Separate):
    def forward(self, x, mask=None):
        self.mask = None
        if mask is not None and mask.ndim < 4:
            self.mask = mask[:, None, None] if mask.ndim == 2 else mask[:, None]
        return super().forward(x)

    def change(self, scores):
        return scores if self.mask is None else scores.masked_fill(self.mask == 0, -1e9)


class PyTorchsOwnWithin(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x, src_key_padding_mask=None, src_mask=None):
        output, _ = self.attention(x, x, x, attn_mask=src_mask, key_padding_mask=src_key_padding_mask)
        return self.norm(x + output)


class ToAContext(nn.Module):
    """The names say which is which: what isn't the encoder's asks."""

    def __init__(self):
        super().__init__()
        self.num_heads = HEADS
        self.q, self.kv, self.out = nn.Linear(WIDTH, WIDTH), nn.Linear(48, 2 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, encoder_states, decoder):
        q, k, v = self.q(decoder), *self.kv(encoder_states).chunk(2, dim=-1)
        q, k, v = (one.unflatten(-1, (HEADS, -1)).transpose(1, 2) for one in (q, k, v))
        return self.out(((q @ k.mT / 4).softmax(-1) @ v).transpose(1, 2).flatten(2))


class OfAnImage(nn.Module):
    """A group norm, convolutions of one pixel, and the input added."""

    def __init__(self, channels=32):
        super().__init__()
        self.norm = nn.GroupNorm(8, channels)
        self.q, self.k, self.v, self.proj_out = (nn.Conv2d(channels, channels, 1) for _ in range(4))

    def forward(self, x):
        q, k, v = (one(self.norm(x)).flatten(2).mT for one in (self.q, self.k, self.v))
        mixed = (q @ k.mT * q.shape[-1] ** -0.5).softmax(-1) @ v
        return x + self.proj_out(mixed.mT.reshape(x.shape))


class Dense:
    """With what an optimiser keeps, and a bias that is never added."""

    def __init__(self, rng):
        self.w, self.b = rng.normal(size=(WIDTH, WIDTH)) / 8, np.zeros(WIDTH)
        self.v, self.m, self.vb, self.mb = (np.zeros_like(one) for one in (self.w, self.w, self.b, self.b))

    def forward(self, X):
        return X @ self.w


class OfDense:
    def __init__(self):
        rng = np.random.default_rng(0)
        self.heads_num = HEADS
        self.Q_linear, self.K_linear, self.V_linear, self.O_linear = (Dense(rng) for _ in range(4))

    def forward(self, x):
        layers = (self.Q_linear, self.K_linear, self.V_linear)
        q, k, v = (one.forward(x).reshape(*x.shape[:2], HEADS, 16).swapaxes(1, 2) for one in layers)
        exponentials = np.exp(q @ k.mT / 4)
        mixed = exponentials / exponentials.sum(-1, keepdims=True) @ v
        return self.O_linear.forward(mixed.swapaxes(1, 2).reshape(x.shape))


@pytest.mark.parametrize(
    ("make", "verdict", "names"),
    [
        (Epsilon, True, []),
        (Slots, None, []),
        (BooleanTriangle, False, ["mask-added-boolean"]),
        (MaskedButUnused, False, ["causal-ignored"]),
        (NotNormalised, False, ["softmax-not-normalised"]),
        (LearntTemperature, True, []),
        (Window, True, []),
        (BandAndMask, True, []),
        (FourAxesDropped, False, ["mask-ignored"]),
        (PyTorchsOwnWithin, True, []),
        (ToAContext, True, []),
        (OfAnImage, True, []),
        (OfDense, False, ["softmax-no-max"]),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_students_styles(make, verdict, names):
    report = doctor.examine(make())
    assert (report.healthy, report.names) == (verdict, names), report


def test_what_is_built_and_never_used_has_its_line():
    [finding] = doctor.examine(MaskedButUnused()).findings
    assert finding.line.text.startswith("self.triangle")
