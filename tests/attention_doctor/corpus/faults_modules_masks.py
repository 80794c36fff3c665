"""Real faults in masks, as PyTorch modules with parameters of their own."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from .case import Input, Register, varied
from .layouts import Layout, build, fused, linears, torch_attention

CASES = Register(build)
PLAIN = Input(n_heads=4, d_head=4)
PADDED, CAUSAL = varied(PLAIN, mask="padding"), varied(PLAIN, is_causal=True)


@CASES.fault(
    "line/lighthouse/pull/77",
    "mask-tiled-over-heads",
    shows=PADDED,
    hides=varied(PADDED, batch=1),
    layout=Layout(torch_attention("self_attn"), mask="hidden keys", order="sequence first"),
)
class MaskTiledOverTheHeads(nn.Module):
    """A mask for each sample is tiled over the heads where it should be repeated: heads get another sample's
    padding.
    """

    def __init__(self, d_model, nhead):
        super().__init__()
        self.nhead = nhead
        self.self_attn = nn.MultiheadAttention(d_model, nhead)

    def forward(self, src, src_key_padding_mask=None):
        src_mask = None
        if src_key_padding_mask is not None:
            length = src.shape[0]
            src_mask = src_key_padding_mask.unsqueeze(1).expand(-1, length, -1).repeat(self.nhead, 1, 1)
        return self.self_attn(src, src, value=src, attn_mask=src_mask)[0]


@CASES.fault(
    "ArrowLuo/CLIP4Clip/issues/22",
    "mask-tiled-over-heads",
    shows=PADDED,
    hides=varied(PADDED, n_heads=1),
    layout=Layout(fused("in_proj", "out_proj"), mask="keys"),
)
class AdditiveMaskTiledOverTheHeads(nn.Module):
    """`repeat` in place of `repeat_interleave`: padding is not hidden where it should be."""

    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head = n_head
        self.in_proj, self.out_proj = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)

    def forward(self, x, attention_mask=None):
        b, n, d = x.shape
        q, k, v = (
            t.reshape(b, n, self.n_head, -1).transpose(1, 2).reshape(b * self.n_head, n, -1)
            for t in self.in_proj(x).chunk(3, -1)
        )
        scores = q @ k.mT / math.sqrt(d // self.n_head)
        if attention_mask is not None:
            extended = (1.0 - attention_mask.unsqueeze(1).to(x.dtype)) * -1000000.0
            scores = scores + extended.expand(-1, n, -1).repeat(self.n_head, 1, 1)
        out = scores.softmax(-1) @ v
        return self.out_proj(out.reshape(b, self.n_head, n, -1).transpose(1, 2).reshape(b, n, d))


@CASES.fault(
    "hyunwoongko/transformer/pull/40",
    "padding-on-queries|mask-transposed",
    also=["mask-tiny-number"],
    shows=PADDED,
    hides=PLAIN,
    layout=Layout(linears("w_q", "w_k", "w_v", "w_concat"), mask="keys"),
)
class PaddingAlongTheQueries(nn.Module):
    """The padding mask stands along the queries; with -10000 in place of minus infinity no NaN gave it away."""

    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head = n_head
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.w_concat = nn.Linear(d_model, d_model)

    def forward(self, x, pad_mask=None):
        b, n, d = x.size()
        q, k, v = (
            w(x).view(b, n, self.n_head, d // self.n_head).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v)
        )
        score = q @ k.transpose(2, 3) / math.sqrt(d // self.n_head)
        if pad_mask is not None:
            mask = pad_mask.unsqueeze(1).unsqueeze(3)
            score = score.masked_fill(mask == 0, -10000)
        out = torch.softmax(score, dim=-1) @ v
        return self.w_concat(out.transpose(1, 2).contiguous().view(b, n, d))


@CASES.fault(
    "rasbt/LLMs-from-scratch/pull/1062",
    "causal-inverted|causal-transposed|mask-inverted",
    shows=CAUSAL,
    layout=Layout(fused("qkv", "proj"), is_causal=True),
)
class OnlyWhatComesLater(nn.Module):
    """A mask that is True above the diagonal goes where True means may attend: tokens see only what comes later."""

    def __init__(self, d_in, num_heads, context_length=128):
        super().__init__()
        self.num_heads = num_heads
        self.qkv, self.proj = nn.Linear(d_in, 3 * d_in, bias=False), nn.Linear(d_in, d_in)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1).bool())

    def forward(self, x):
        b, n, d = x.shape
        queries, keys, values = self.qkv(x).view(b, n, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        context = F.scaled_dot_product_attention(queries, keys, values, attn_mask=self.mask[:n, :n])
        return self.proj(context.transpose(1, 2).contiguous().view(b, n, d))


@CASES.fault(
    "AI-Hypercomputer/maxtext/issues/878",
    "mask-ignored",
    shows=varied(CAUSAL, mask="padding"),
    hides=CAUSAL,
    layout=Layout(linears("query", "key", "value", "out"), is_causal=True, inputs=1),
)
class MaskIgnoredByTheKernel(nn.Module):
    """The kernel is told that its mask is causal, and ignores the one that is passed along."""

    def __init__(self, features, num_query_heads):
        super().__init__()
        self.num_query_heads = num_query_heads
        self.query, self.key, self.value, self.out = (nn.Linear(features, features, bias=False) for _ in range(4))

    def forward(self, inputs, decoder_mask=None):
        b, n, _ = inputs.shape
        q, k, v = (
            f(inputs).unflatten(-1, (self.num_query_heads, -1)).transpose(1, 2)
            for f in (self.query, self.key, self.value)
        )
        if decoder_mask is not None:
            decoder_mask = decoder_mask.expand(b, 1, n, n)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


@CASES.fault(
    "pytorch/executorch/pull/21749",
    "cache-differs",
    shows=varied(CAUSAL, first_part=2),
    hides=CAUSAL,
    layout=Layout(linears("wq", "wk", "wv", "wo"), is_causal=True),
)
class TriangleThatForgetsTheCache(nn.Module):
    """With a cache, the causal triangle starts in the upper left: the first new token sees the first old one alone."""

    def __init__(self, dim, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def forward(self, x, past=None):
        q, k, v = (w(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=x.shape[1] > 1)
        return self.wo(y.transpose(1, 2).flatten(2)), (k, v)
