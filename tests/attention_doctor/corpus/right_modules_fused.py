"""Right PyTorch modules with one layer for queries, keys and values; some were taken for bugs."""

import math
from types import SimpleNamespace

import torch
from torch import einsum, nn
from torch.nn import functional as F

from .case import Register
from .layouts import Layout, build, fused, interleaved, matrices

CASES = Register(build)


@CASES.right(
    "karpathy/nanoGPT/issues/170",
    build=lambda cls: lambda d_model, n_heads: cls(SimpleNamespace(n_embd=d_model, n_head=n_heads, block_size=32)),
    layout=Layout(fused("c_attn", "c_proj"), is_causal=True),
    takes=(),
    reported=True,
)
class CausalSelfAttention(nn.Module):
    """A lower triangle of ones is taken for the part that is hidden; what is filled is where it is zero."""

    def __init__(self, config):
        super().__init__()
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd)
        self.n_head, self.n_embd = config.n_head, config.n_embd
        ones = torch.ones(config.block_size, config.block_size)
        self.register_buffer("bias", torch.tril(ones).view(1, 1, config.block_size, config.block_size))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class Conv1D(nn.Module):
    """A linear layer whose weight is (inputs, outputs)."""

    def __init__(self, nf, nx):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(nx, nf) / nx**0.5), nn.Parameter(torch.randn(nf) / 4)

    def forward(self, x):
        return torch.addmm(self.bias, x.reshape(-1, x.size(-1)), self.weight).view(*x.shape[:-1], -1)


def _conv1d(module):
    qkv, (W_O, b_O) = (module.c_attn.weight, module.c_attn.bias), (module.c_proj.weight, module.c_proj.bias)
    return [*zip(qkv[0].chunk(3, 1), qkv[1].chunk(3), strict=True), (W_O, b_O)]


@CASES.right(
    "huggingface/transformers/issues/311",
    layout=Layout(matrices(_conv1d), mask="add", is_causal=True),
    takes=("padding",),
)
class TransposedWeights(nn.Module):
    """A reader asks whether these should not be linear layers; they are, with the weight the other way round."""

    def __init__(self, nx, n_head, n_ctx=64):
        super().__init__()
        self.n_head, self.split_size = n_head, nx
        self.register_buffer("bias", torch.tril(torch.ones(n_ctx, n_ctx)).view(1, 1, n_ctx, n_ctx))
        self.c_attn, self.c_proj = Conv1D(nx * 3, nx), Conv1D(nx, nx)

    def _heads(self, x):
        return x.view(*x.shape[:-1], self.n_head, -1).permute(0, 2, 1, 3)

    def forward(self, x, attention_mask=None):
        query, key, value = (self._heads(t) for t in self.c_attn(x).split(self.split_size, dim=2))
        w = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(value.size(-1))
        b = self.bias[:, :, : w.size(-2), : w.size(-1)]
        w = w * b - 1e10 * (1 - b)
        if attention_mask is not None:
            w = w + attention_mask
        a = torch.matmul(w.softmax(-1), value).permute(0, 2, 1, 3).contiguous()
        return self.c_proj(a.view(x.shape))


@CASES.right("VITA-Group/TransGAN/issues/14", layout=Layout(fused("qkv", "proj")), takes=(), reported=True)
class VisionAttention(nn.Module):
    """A reader asks why there is a projection after the values; it is W_O."""

    def __init__(self, dim, num_heads=8, qkv_bias=False, attn_drop=0.1, proj_drop=0.1):
        super().__init__()
        self.num_heads, self.scale = num_heads, (dim // num_heads) ** -0.5
        self.qkv, self.proj = nn.Linear(dim, dim * 3, bias=qkv_bias), nn.Linear(dim, dim)
        self.attn_drop, self.proj_drop = nn.Dropout(attn_drop), nn.Dropout(proj_drop)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        attn = self.attn_drop(((q @ k.transpose(-2, -1)) * self.scale).softmax(dim=-1))
        return self.proj_drop(self.proj((attn @ v).transpose(1, 2).reshape(B, N, C)))


@CASES.right(
    "Oneflow-Inc/libai/issues/146",
    layout=Layout(interleaved("query_key_value", "dense"), mask="numbers"),
    takes=("padding", "pairs", "causal"),
    reported=True,
)
class InterleavedHeads(nn.Module):
    """Every head has its own q, k and v side by side in the fused layer; with another library's weights it differs."""

    def __init__(self, hidden_size, num_attention_heads):
        super().__init__()
        self.num_heads, self.head_size = num_attention_heads, hidden_size // num_attention_heads
        self.norm_factor = 1.0 / math.sqrt(float(self.head_size))
        self.query_key_value = nn.Linear(hidden_size, hidden_size * 3)
        self.dense = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_states, attention_mask=None):
        bsz, tgt_len = hidden_states.size()[:2]
        qkv = self.query_key_value(hidden_states).view(bsz, -1, self.num_heads, 3 * self.head_size).permute(0, 2, 1, 3)
        query, key, value = torch.chunk(qkv, chunks=3, dim=-1)
        attention_scores = torch.matmul(query, key.transpose(-1, -2)) * self.norm_factor
        if attention_mask is not None:
            attention_scores = torch.mul(attention_scores, attention_mask)
            attention_scores = attention_scores - 1e10 * (1 - attention_mask)
        context = torch.matmul(torch.softmax(attention_scores, dim=-1), value)
        return self.dense(context.transpose(1, 2).reshape(bsz, tgt_len, -1))


@CASES.right(
    "NVIDIA/TransformerEngine/issues/195",
    layout=Layout(interleaved("qkv", "proj"), order="sequence first", mask="hide"),
    takes=("padding", "pairs", "causal"),
)
class SequenceFirst(nn.Module):
    """The sequence comes first, then the batch, with heads and samples folded for a batched product."""

    def __init__(self, hidden_size, num_attention_heads):
        super().__init__()
        self.np, self.hn = num_attention_heads, hidden_size // num_attention_heads
        self.qkv, self.proj = nn.Linear(hidden_size, 3 * hidden_size), nn.Linear(hidden_size, hidden_size)

    def forward(self, x, attention_mask=None):
        sq, b, h = x.shape
        query, key, value = self.qkv(x).view(sq, b, self.np, 3 * self.hn).split(self.hn, dim=-1)
        query, key, value = (t.reshape(sq, b * self.np, self.hn) for t in (query, key, value))
        bmm1 = torch.bmm(query.transpose(0, 1), key.transpose(0, 1).transpose(1, 2)) / self.hn**0.5
        scores = bmm1.view(b, self.np, sq, sq)
        if attention_mask is not None:
            scores = scores.masked_fill(attention_mask, torch.finfo(scores.dtype).min)
        probs = scores.softmax(dim=-1).view(b * self.np, sq, sq)
        context = torch.bmm(probs, value.transpose(0, 1)).view(b, self.np, sq, self.hn)
        return self.proj(context.permute(2, 0, 1, 3).reshape(sq, b, h))


@CASES.right(
    "jsbaan/transformer-from-scratch/issues/1",
    layout=Layout(fused("qkv_proj", "o_proj", order="QVK"), mask="allow", is_causal=False),
    reported=True,
)
class QueriesValuesKeys(nn.Module):
    """The parts of the fused projection come in another order than their names say; it is a matter of names."""

    def __init__(self, hidden_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv_proj = nn.Linear(hidden_dim, 3 * hidden_dim, bias=False)
        self.o_proj = nn.Linear(hidden_dim, hidden_dim, bias=False)

    def forward(self, x, mask=None):
        batch_size, length, hidden_dim = x.size()
        parts = self.qkv_proj(x).view(batch_size, length, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        q, v, k = parts
        logits = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
        if mask is not None:
            logits = logits.masked_fill(~mask, -9e15)
        values = torch.matmul(F.softmax(logits, dim=-1), v)
        return self.o_proj(values.permute(0, 2, 1, 3).reshape(batch_size, length, hidden_dim))


@CASES.right(
    "openai/point-e/issues/75",
    layout=Layout(interleaved("qkv", "proj_out"), order="channels first"),
    takes=(),
    reported=True,
)
class ChannelsFirst(nn.Module):
    """Channels come before the length, convolutions of width 1 project, and the scale is on both sides."""

    def __init__(self, channels, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Conv1d(channels, channels * 3, 1)
        self.proj_out = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        bs, width, length = x.shape
        ch = width // self.num_heads
        q, k, v = self.qkv(x).reshape(bs * self.num_heads, ch * 3, length).split(ch, dim=1)
        scale = 1 / math.sqrt(math.sqrt(ch))
        weight = torch.softmax(einsum("bct,bcs->bts", q * scale, k * scale), dim=-1)
        return self.proj_out(einsum("bts,bcs->bct", weight, v).reshape(bs, -1, length))
