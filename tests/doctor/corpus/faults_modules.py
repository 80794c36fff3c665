"""Real faults, as PyTorch modules with parameters of their own."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from .case import Input, Register, varied
from .layouts import Layout, build, fused, heads_in_a_list, interleaved, linears, torch_attention

CASES = Register(build)
PLAIN = Input(n_heads=4, d_head=4)
PADDED, CAUSAL = varied(PLAIN, mask="padding"), varied(PLAIN, is_causal=True)


@CASES.fault(
    "https://github.com/huggingface/transformers/pull/38290",
    "The queries are scaled, and the kernel that they go to scales them once more.",
    ["scale-twice"],
    layout=Layout(linears("q_proj", "k_proj", "v_proj", "out_proj"), mask="add"),
)
class ScaledByUsAndByTheKernel(nn.Module):
    def __init__(self, embed_dim, num_heads, bias=True):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.scaling = self.head_dim**-0.5
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(embed_dim, embed_dim, bias) for _ in range(4))

    def forward(self, hidden_states, attention_mask=None):
        shape = (*hidden_states.shape[:2], self.num_heads, self.head_dim)
        query_states = (self.q_proj(hidden_states) * self.scaling).view(shape).transpose(1, 2)
        key_states = self.k_proj(hidden_states).view(shape).transpose(1, 2)
        value_states = self.v_proj(hidden_states).view(shape).transpose(1, 2)
        attn = F.scaled_dot_product_attention(query_states, key_states, value_states, attn_mask=attention_mask)
        return self.out_proj(attn.transpose(1, 2).reshape(hidden_states.shape))


@CASES.fault(
    "https://github.com/mlc-ai/mlc-llm/pull/3426",
    "A fallback for machines without the fast kernel leaves its scale at 1; embeddings came out wrong on them alone.",
    ["scale-missing"],
    layout=Layout(linears("query", "key", "value", "dense"), mask="add"),
)
class FallbackWithoutScale(nn.Module):
    def __init__(self, hidden_size, num_attention_heads):
        super().__init__()
        self.num_attention_heads = num_attention_heads
        self.query, self.key = nn.Linear(hidden_size, hidden_size), nn.Linear(hidden_size, hidden_size)
        self.value, self.dense = nn.Linear(hidden_size, hidden_size), nn.Linear(hidden_size, hidden_size)

    def _prefill(self, q, k, v, mask, sm_scale=1.0):
        scores = torch.einsum("bihd,bjhd->bhij", q, k) * sm_scale
        if mask is not None:
            scores = scores + mask
        return torch.einsum("bhij,bjhd->bihd", scores.softmax(-1), v)

    def forward(self, hidden_states, attention_mask=None):
        b, n, d = hidden_states.size()
        q, k, v = (
            f(hidden_states).view(b, n, self.num_attention_heads, -1) for f in (self.query, self.key, self.value)
        )
        return self.dense(self._prefill(q, k, v, attention_mask).reshape(b, n, d))


@CASES.fault(
    "https://github.com/Graylab/DL4Proteins-notebooks/issues/12",
    "Every head scales by the whole embedding's width, as in the lecture that the workshop follows.",
    ["scale-d-model"],
    shows=CAUSAL,
    hides=varied(CAUSAL, n_heads=1),
    layout=Layout(heads_in_a_list("heads", "query", "key", "value", "proj"), is_causal=True),
)
class HeadsInAList(nn.Module):
    class Head(nn.Module):
        def __init__(self, n_embd, head_size, block_size=128):
            super().__init__()
            self.key = nn.Linear(n_embd, head_size, bias=False)
            self.query = nn.Linear(n_embd, head_size, bias=False)
            self.value = nn.Linear(n_embd, head_size, bias=False)
            self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))

        def forward(self, x):
            _, T, C = x.shape
            k, q = self.key(x), self.query(x)
            wei = q @ k.transpose(-2, -1) * C**-0.5
            wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
            return F.softmax(wei, dim=-1) @ self.value(x)

    def __init__(self, n_embd, num_heads):
        super().__init__()
        self.heads = nn.ModuleList([self.Head(n_embd, n_embd // num_heads) for _ in range(num_heads)])
        self.proj = nn.Linear(n_embd, n_embd)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


@CASES.fault(
    "https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/146",
    "The softmax runs over the queries; the author calls it a big bug, and the pictures were as good as without it.",
    ["softmax-over-queries"],
    layout=Layout(interleaved("projection", "output")),
)
class SoftmaxOverTheFirstOfTwo(nn.Module):
    def __init__(self, n_channels, n_heads):
        super().__init__()
        self.n_heads, self.d_k = n_heads, n_channels // n_heads
        self.projection = nn.Linear(n_channels, n_heads * self.d_k * 3)
        self.output = nn.Linear(n_heads * self.d_k, n_channels)
        self.scale = self.d_k**-0.5

    def forward(self, x):
        batch_size, length, _ = x.shape
        qkv = self.projection(x).view(batch_size, length, self.n_heads, 3 * self.d_k)
        q, k, v = torch.chunk(qkv, 3, dim=-1)
        attn = torch.einsum("bihd,bjhd->bijh", q, k) * self.scale
        attn = attn.softmax(dim=1)
        res = torch.einsum("bijh,bjhd->bihd", attn, v)
        return self.output(res.reshape(batch_size, length, self.n_heads * self.d_k))


@CASES.fault(
    "https://github.com/line/lighthouse/pull/77",
    "A mask for each sample is tiled over the heads where it should be repeated: heads get another sample's padding.",
    ["mask-of-another-sample|mask-repeat-order|mask-tiled|mask-repeated-in-the-wrong-order|mask-folded-otherwise"],
    shows=PADDED,
    hides=varied(PADDED, batch=1),
    layout=Layout(torch_attention("self_attn"), mask="hidden keys", order="sequence first"),
)
class MaskTiledOverTheHeads(nn.Module):
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
    "https://github.com/ArrowLuo/CLIP4Clip/issues/22",
    "`repeat` in place of `repeat_interleave`: padding is not hidden where it should be.",
    ["mask-of-another-sample|mask-repeat-order|mask-tiled|mask-repeated-in-the-wrong-order|mask-folded-otherwise"],
    shows=PADDED,
    hides=varied(PADDED, n_heads=1),
    layout=Layout(fused("in_proj", "out_proj"), mask="keys"),
)
class AdditiveMaskTiledOverTheHeads(nn.Module):
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
    "https://github.com/hyunwoongko/transformer/pull/40",
    "The padding mask stands along the queries; with -10000 in place of minus infinity no NaN gave it away.",
    ["padding-on-queries|mask-transposed|mask-on-queries"],
    shows=PADDED,
    hides=PLAIN,
    layout=Layout(linears("w_q", "w_k", "w_v", "w_concat"), mask="keys"),
)
class PaddingAlongTheQueries(nn.Module):
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
    "https://github.com/meta-pytorch/opacus/pull/825",
    "With the batch first, the output is viewed back without a transpose: heads land among the tokens.",
    ["combine-without-transpose"],
    hides=varied(PLAIN, n_heads=1),
    layout=Layout(linears("qlinear", "klinear", "vlinear", "out_proj"), inputs=3),
)
class ViewedBackWithTheBatchFirst(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.qlinear, self.klinear, self.vlinear = (nn.Linear(embed_dim, embed_dim) for _ in range(3))
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key, value):
        bsz, tgt_len, embed_dim = query.size()
        q, k, v = (
            f(t)
            .view(bsz, -1, self.num_heads, self.head_dim)
            .transpose(1, 2)
            .reshape(bsz * self.num_heads, -1, self.head_dim)
            for f, t in ((self.qlinear, query), (self.klinear, key), (self.vlinear, value))
        )
        q = q * float(self.head_dim) ** -0.5
        attn_output = torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)), dim=-1), v)
        return self.out_proj(attn_output.view(bsz, tgt_len, embed_dim))


@CASES.fault(
    "https://github.com/xieenze/Trans2Seg/issues/4",
    "A reader misses a transpose before the reshape; the author answers that it trains and tests well.",
    ["combine-without-transpose"],
    hides=varied(PLAIN, n_heads=1),
    layout=Layout(fused("qkv", "proj")),
)
class TrainsAndTestsWell(nn.Module):
    def __init__(self, dim, num_heads=8, qkv_bias=True):
        super().__init__()
        self.num_heads, self.scale = num_heads, (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        attn = ((q @ k.transpose(-2, -1)) * self.scale).softmax(dim=-1)
        return self.proj((attn @ v).reshape(B, N, C))


@CASES.fault(
    "https://github.com/rasbt/LLMs-from-scratch/pull/1062",
    "A mask that is True above the diagonal goes where True means may attend: tokens see only what comes later.",
    ["causal-inverted|causal-transposed|mask-inverted"],
    shows=CAUSAL,
    layout=Layout(fused("qkv", "proj"), is_causal=True),
)
class OnlyWhatComesLater(nn.Module):
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
    "https://github.com/suno-ai/bark/pull/662",
    "The functional kernel gets the dropout whether the module is in training or not: inference is random.",
    ["dropout-in-evaluation|dropout-at-inference|dropout-always|dropout-in-eval|not-deterministic|random"],
    shows=CAUSAL,
    layout=Layout(fused("c_attn", "c_proj"), is_causal=True),
)
class DropoutInEvaluation(nn.Module):
    def __init__(self, n_embd, n_head, dropout=0.1, bias=False):
        super().__init__()
        self.n_head, self.dropout = n_head, dropout
        self.c_attn = nn.Linear(n_embd, 3 * n_embd, bias=bias)
        self.c_proj = nn.Linear(n_embd, n_embd, bias=bias)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (t.view(B, T, self.n_head, -1).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


@CASES.fault(
    "https://github.com/AI-Hypercomputer/maxtext/issues/878",
    "The kernel is told that its mask is causal, and ignores the one that is passed along.",
    ["mask-ignored"],
    shows=varied(CAUSAL, mask="padding"),
    hides=CAUSAL,
    layout=Layout(linears("query", "key", "value", "out"), is_causal=True, inputs=1),
)
class MaskIgnoredByTheKernel(nn.Module):
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
    "https://github.com/awslabs/keys_values/issues/45",
    "The cache is not reset before a new sequence, which then attends to the one before it.",
    ["state-kept|cache-not-reset|state-from-call-to-call|remembers-the-last-call|stateful|keeps-state"],
    shows=varied(PLAIN, calls=2),
    hides=PLAIN,
    layout=Layout(linears("wq", "wk", "wv", "wo")),
)
class CacheNeverReset(nn.Module):
    def __init__(self, dim, n_heads):
        super().__init__()
        self.n_heads, self.cache = n_heads, None
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (w(x).view(b, n, self.n_heads, -1).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        if self.cache is not None and self.cache[0].shape[0] == b:
            k, v = torch.cat([self.cache[0], k], dim=2), torch.cat([self.cache[1], v], dim=2)
        self.cache = (k.detach(), v.detach())
        scores = q @ k.transpose(2, 3) / math.sqrt(d // self.n_heads)
        return self.wo((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))


@CASES.fault(
    "https://github.com/pytorch/executorch/pull/21749",
    "With a cache, the causal triangle starts in the upper left: the first new token sees the first old one alone.",
    ["cache-causal-offset|causal-with-cache|cache-causal-top-left|causal-offset|cache-mask-offset|cache-disagrees"],
    shows=varied(CAUSAL, first_part=2),
    hides=CAUSAL,
    layout=Layout(linears("wq", "wk", "wv", "wo"), is_causal=True),
)
class TriangleThatForgetsTheCache(nn.Module):
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
