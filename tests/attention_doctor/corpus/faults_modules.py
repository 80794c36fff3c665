"""Real faults, as PyTorch modules with parameters of their own."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from .case import Input, Register, varied
from .layouts import Layout, build, fused, heads_in_a_list, interleaved, linears

CASES = Register(build)
PLAIN = Input(n_heads=4, d_head=4)
CAUSAL = varied(PLAIN, is_causal=True)


@CASES.fault(
    "huggingface/transformers/pull/38290",
    "scale-twice",
    layout=Layout(linears("q_proj", "k_proj", "v_proj", "out_proj"), mask="add"),
)
class ScaledByUsAndByTheKernel(nn.Module):
    """The queries are scaled, and the kernel that they go to scales them once more."""

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
    "mlc-ai/mlc-llm/pull/3426", "scale-missing", layout=Layout(linears("query", "key", "value", "dense"), mask="add")
)
class FallbackWithoutScale(nn.Module):
    """A fallback for machines without the fast kernel leaves its scale at 1; embeddings came out wrong on them
    alone.
    """

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
    "Graylab/DL4Proteins-notebooks/issues/12",
    "scale-d-model",
    shows=CAUSAL,
    hides=varied(CAUSAL, n_heads=1),
    layout=Layout(heads_in_a_list("heads", "query", "key", "value", "proj"), is_causal=True),
)
class HeadsInAList(nn.Module):
    """Every head scales by the width of the whole embedding, 64, where each head is 16 wide."""

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
    "labmlai/annotated_deep_learning_paper_implementations/issues/146",
    "softmax-over-queries",
    layout=Layout(interleaved("projection", "output")),
)
class SoftmaxOverTheFirstOfTwo(nn.Module):
    """The softmax runs over the queries; the author calls it a big bug, and the pictures were as good as without it."""

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
    "meta-pytorch/opacus/pull/825",
    "combine-without-transpose",
    hides=varied(PLAIN, n_heads=1),
    layout=Layout(linears("qlinear", "klinear", "vlinear", "out_proj"), inputs=3),
)
class ViewedBackWithTheBatchFirst(nn.Module):
    """With the batch first, the output is viewed back without a transpose: heads land among the tokens."""

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
    "xieenze/Trans2Seg/issues/4",
    "combine-without-transpose",
    hides=varied(PLAIN, n_heads=1),
    layout=Layout(fused("qkv", "proj")),
)
class TrainsAndTestsWell(nn.Module):
    """A reader misses a transpose before the reshape; the author answers that it trains and tests well."""

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
    "suno-ai/bark/pull/662", "dropout-always-on", shows=CAUSAL, layout=Layout(fused("c_attn", "c_proj"), is_causal=True)
)
class DropoutInEvaluation(nn.Module):
    """The functional kernel gets the dropout whether the module is in training or not: inference is random."""

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
    "awslabs/keys_values/issues/45",
    "not-repeatable",
    shows=varied(PLAIN, calls=2),
    hides=PLAIN,
    layout=Layout(linears("wq", "wk", "wv", "wo")),
)
class CacheNeverReset(nn.Module):
    """The cache is not reset before a new sequence, which then attends to the one before it."""

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
    "huggingface/text-generation-inference/issues/1036",
    "output-bias-repeated|contributions-not-additive",
    hides=varied(PLAIN, n_heads=1),
    layout=Layout(fused("qkv", "dense")),
)
class BiasOnceForEveryShard(nn.Module):
    """The heads' shares of the output are added up, and each share carries the whole bias."""

    def __init__(self, hidden_size, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv, self.dense = nn.Linear(hidden_size, 3 * hidden_size), nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_states):
        partial = []
        shards = [t.chunk(self.num_heads, dim=-1) for t in self.qkv(hidden_states).chunk(3, dim=-1)]
        for q, k, v, weight in zip(*shards, self.dense.weight.chunk(self.num_heads, dim=1), strict=True):
            context = F.scaled_dot_product_attention(q, k, v)
            partial.append(F.linear(context, weight, self.dense.bias))
        return torch.stack(partial).sum(0)  # all_reduce
