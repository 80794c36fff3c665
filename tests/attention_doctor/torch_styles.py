"""Right attention in the manner of well-known repositories, written from their public descriptions.

The corpus has more of them, where somebody took one for a mistake.
"""

import math

import pytest

torch = pytest.importorskip("torch", reason="tests/model-requirements.txt is not installed")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402


class NanoGPT(nn.Module):
    """One projection for all three, always causal, the kernel of PyTorch."""

    def __init__(self, n_embd=64, n_head=8, dropout=0.1):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(n_embd, 3 * n_embd), nn.Linear(n_embd, n_embd)
        self.n_head, self.n_embd, self.dropout = n_head, n_embd, dropout

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (
            part.view(B, T, self.n_head, -1).transpose(1, 2) for part in self.c_attn(x).split(self.n_embd, dim=2)
        )
        p = self.dropout if self.training else 0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class Timm(nn.Module):
    """Vision: one projection, no mask, the scale on the queries, norms of queries and keys if asked for."""

    def __init__(self, dim=64, num_heads=8, qkv_bias=True, qk_norm=False):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, dim // num_heads
        self.scale = self.head_dim**-0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.q_norm = nn.LayerNorm(self.head_dim) if qk_norm else nn.Identity()
        self.k_norm = nn.LayerNorm(self.head_dim) if qk_norm else nn.Identity()
        self.attn_drop, self.proj, self.proj_drop = nn.Dropout(0.0), nn.Linear(dim, dim), nn.Dropout(0.0)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4).unbind(0)
        attn = (self.q_norm(q) * self.scale) @ self.k_norm(k).transpose(-2, -1)
        x = self.attn_drop(attn.softmax(dim=-1)) @ v
        return self.proj_drop(self.proj(x.transpose(1, 2).reshape(B, N, C)))


class BertSelfAttention(nn.Module):
    """No output projection: that is another module's. The mask is added."""

    def __init__(self, hidden_size=64, num_attention_heads=8):
        super().__init__()
        self.num_attention_heads, self.attention_head_size = num_attention_heads, hidden_size // num_attention_heads
        self.query, self.key, self.value = (nn.Linear(hidden_size, hidden_size) for _ in range(3))
        self.dropout = nn.Dropout(0.1)

    def transpose_for_scores(self, x):
        return x.view(*x.size()[:-1], self.num_attention_heads, self.attention_head_size).permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask=None):
        q, k, v = (self.transpose_for_scores(layer(hidden_states)) for layer in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.attention_head_size)
        if attention_mask is not None:
            scores = scores + attention_mask
        context = torch.matmul(self.dropout(nn.functional.softmax(scores, dim=-1)), v).permute(0, 2, 1, 3).contiguous()
        return (context.view(*context.size()[:-2], -1),)


class Conv1D(nn.Module):
    """A linear layer whose weight is stored transposed."""

    def __init__(self, nf, nx):
        super().__init__()
        self.nf, self.weight, self.bias = nf, nn.Parameter(torch.randn(nx, nf) * 0.02), nn.Parameter(torch.zeros(nf))

    def forward(self, x):
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(*x.shape[:-1], self.nf)


class GPT2Attention(nn.Module):
    """Transposed weights, a triangle, the lowest number of the type, an added mask, a cache."""

    def __init__(self, embed_dim=64, num_heads=8, max_positions=128):
        super().__init__()
        self.register_buffer("bias", torch.tril(torch.ones(max_positions, max_positions, dtype=torch.bool))[None, None])
        self.num_heads, self.head_dim, self.split_size = num_heads, embed_dim // num_heads, embed_dim
        self.c_attn, self.c_proj = Conv1D(3 * embed_dim, embed_dim), Conv1D(embed_dim, embed_dim)

    def forward(self, hidden_states, layer_past=None, attention_mask=None, use_cache=False):
        shape = (*hidden_states.shape[:-1], -1, self.head_dim)
        query, key, value = (
            part.view(shape).transpose(1, 2) for part in self.c_attn(hidden_states).split(self.split_size, dim=2)
        )
        if layer_past is not None:
            key, value = torch.cat((layer_past[0], key), dim=-2), torch.cat((layer_past[1], value), dim=-2)
        present = (key, value) if use_cache else None
        weights = torch.matmul(query, key.transpose(-1, -2)) / value.size(-1) ** 0.5
        n, m = query.size(-2), key.size(-2)
        weights = torch.where(self.bias[:, :, m - n : m, :m], weights, torch.finfo(weights.dtype).min)
        if attention_mask is not None:
            weights = weights + attention_mask
        output = (
            torch.matmul(nn.functional.softmax(weights, dim=-1), value).transpose(1, 2).reshape(hidden_states.shape)
        )
        return self.c_proj(output), present


class Head(nn.Module):
    def __init__(self, n_embd, head_size, block_size):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(n_embd, head_size, bias=False) for _ in range(3))
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))

    def forward(self, x):
        _, T, _ = x.shape
        k, q, v = self.key(x), self.query(x), self.value(x)
        wei = (q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5).masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return F.softmax(wei, dim=-1) @ v


class LlamaStyle(nn.Module):
    """Rotary positions, and key heads that serve a group of query heads."""

    def __init__(self, dim=64, n_heads=8, n_kv_heads=2, by_halves=True):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.head_dim, self.by_halves = n_heads, n_kv_heads, dim // n_heads, by_halves
        self.wq, self.wo = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.wk, self.wv = (nn.Linear(dim, n_kv_heads * self.head_dim, bias=False) for _ in range(2))

    def rotary(self, x):
        half = self.head_dim // 2
        angle = torch.arange(x.shape[2])[:, None] * 10000.0 ** (-torch.arange(half) / half)
        cos, sin = angle.cos(), angle.sin()
        if self.by_halves:
            one, other = x[..., :half], x[..., half:]
            return torch.cat([one * cos - other * sin, other * cos + one * sin], -1)
        one, other = x[..., ::2], x[..., 1::2]
        return torch.stack([one * cos - other * sin, other * cos + one * sin], -1).flatten(-2)

    def forward(self, x):
        b, n, _ = x.shape
        q = self.rotary(self.wq(x).view(b, n, self.n_heads, -1).transpose(1, 2))
        k = self.rotary(self.wk(x).view(b, n, self.n_kv_heads, -1).transpose(1, 2))
        v = self.wv(x).view(b, n, self.n_kv_heads, -1).transpose(1, 2)
        k, v = (t.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(b, n, -1))


class Alibi(nn.Module):
    """A slope times the distance, subtracted from the scores."""

    def __init__(self, dim=64, heads=8):
        super().__init__()
        self.heads, self.to_qkv, self.to_out = heads, nn.Linear(dim, dim * 3, bias=False), nn.Linear(dim, dim)
        self.register_buffer("slopes", 2.0 ** (-8 * torch.arange(1, heads + 1) / heads))

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        i = torch.arange(n)
        sim = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 - self.slopes[:, None, None] * (i[:, None] - i).abs()
        return self.to_out((sim.softmax(-1) @ v).transpose(1, 2).reshape(b, n, -1))


class CrossAttention(nn.Module):
    """Queries from one sequence, keys and values from another of another width."""

    def __init__(self, query_dim=64, context_dim=48, heads=4):
        super().__init__()
        self.heads, self.scale = heads, (query_dim // heads) ** -0.5
        self.to_q = nn.Linear(query_dim, query_dim, bias=False)
        self.to_kv = nn.Linear(context_dim, 2 * query_dim, bias=False)
        self.to_out = nn.Sequential(nn.Linear(query_dim, query_dim), nn.Dropout(0.0))

    def forward(self, x, context):
        b, h = x.shape[0], self.heads
        q, (k, v) = self.to_q(x), self.to_kv(context).chunk(2, dim=-1)
        q, k, v = (t.view(b, -1, h, t.shape[-1] // h).transpose(1, 2).flatten(0, 1) for t in (q, k, v))
        out = (torch.einsum("bid,bjd->bij", q, k) * self.scale).softmax(-1) @ v
        return self.to_out(out.unflatten(0, (b, h)).transpose(1, 2).flatten(2))


class PreNormBlock(nn.Module):
    """The norm before attention and the sum after it are in the same module."""

    def __init__(self, d_model=64, nhead=8):
        super().__init__()
        self.norm, self.nhead = nn.LayerNorm(d_model), nhead
        self.query, self.key, self.value, self.out = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x):
        y = self.norm(x)
        q, k, v = (
            layer(y).unflatten(-1, (self.nhead, -1)).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )
        weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return x + self.out((weights @ v).transpose(1, 2).flatten(2))


class PostNorm(nn.Module):
    """A residual and a norm after attention; padded keys are given as lengths."""

    def __init__(self, d_model=64, n_head=4):
        super().__init__()
        self.n_head, self.layer_norm = n_head, nn.LayerNorm(d_model, eps=1e-6)
        self.w_qs, self.w_ks, self.w_vs, self.fc = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def forward(self, q, k, v, valid_lens=None):
        residual, b, n = q, len(q), q.shape[1]
        q, k, v = (
            w(t).view(b, t.shape[1], self.n_head, -1).transpose(1, 2)
            for w, t in ((self.w_qs, q), (self.w_ks, k), (self.w_vs, v))
        )
        scores = q @ k.transpose(2, 3) / k.shape[-1] ** 0.5
        if valid_lens is not None:
            seen = torch.arange(k.shape[2])[None] < valid_lens[:, None]
            scores = scores.masked_fill(~seen[:, None, None], -1e6)
        out = (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, -1)
        return self.layer_norm(self.fc(out) + residual)


class LuongStyleSingle(nn.Module):
    """One head without an output projection."""

    def __init__(self, d_in=32, d_out=16):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Parameter(torch.rand(d_in, d_out)) for _ in range(3))

    def forward(self, x):
        keys, queries, values = x @ self.W_key, x @ self.W_query, x @ self.W_value
        return torch.softmax(queries @ keys.transpose(-1, -2) / keys.shape[-1] ** 0.5, dim=-1) @ values


class Product(nn.Module):
    """One matrix stands for W_Q @ W_K.T."""

    def __init__(self, dim=16, power=0.5):
        super().__init__()
        self.Wq_Wk, self.Wv, self.power = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False), power

    def forward(self, x):
        scores = self.Wq_Wk(x) @ x.transpose(1, 2) / x.shape[-1] ** self.power
        return scores.softmax(dim=-1) @ self.Wv(x)


class OfAGrid(nn.Module):
    """Of ten tokens only: one for the class, and nine of a grid."""

    def __init__(self, dim=32, heads=4, axis=-1):
        super().__init__()
        self.heads, self.axis, self.qkv, self.proj = heads, axis, nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.relative_bias = nn.Parameter(torch.zeros(heads, 10, 10))

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5 + self.relative_bias
        return self.proj((scores.softmax(dim=self.axis) @ v).transpose(1, 2).flatten(2))


class GivenPositions(nn.Module):
    """Rotary and causal; the numbers of the positions are one row for all sequences."""

    def __init__(self, dim=32, heads=4, longest=256, past=0):
        super().__init__()
        self.heads, self.past = heads, past
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        half = dim // heads // 2
        angles = torch.arange(longest)[:, None] / 10000 ** (torch.arange(half) / half)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def turned(self, x, places):
        cos, sin, (even, odd) = self.cos[places], self.sin[places], x.unflatten(-1, (-1, 2)).unbind(-1)
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)

    def forward(self, x, token_positions):
        q, k, v = (
            w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for w in (self.q_proj, self.k_proj, self.v_proj)
        )
        scores = self.turned(q, token_positions) @ self.turned(k, token_positions).mT / q.shape[-1] ** 0.5
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1 + self.past)
        weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2))


class OfItsTable(GivenPositions):
    """As many tokens as its table has rows, which no argument tells."""

    def forward(self, x):
        return super().forward(x, slice(None))


class InOtherWords(nn.Module):
    """What attends is x1, what it attends to x2; `head_size` is the number of heads, and True hides padding."""

    def __init__(self, dim=64, head_size=4, multiplies=False):
        super().__init__()
        self.head_size, self.att_size, self.multiplies = head_size, dim // head_size, multiplies
        self.ql, self.kv_w, self.out = nn.Linear(dim, dim), nn.Linear(dim, 2 * dim), nn.Linear(dim, dim)

    def forward(self, x1, x2, x2_mask=None):
        q, (k, v) = self.ql(x1), self.kv_w(x2).chunk(2, dim=-1)
        q, k, v = (one.unflatten(-1, (self.head_size, self.att_size)).transpose(1, 2) for one in (q, k, v))
        scores = q @ k.transpose(-2, -1) / self.att_size**0.5
        if x2_mask is not None:
            hidden = x2_mask[:, None, None]
            scores = scores * ~hidden if self.multiplies else scores.masked_fill(hidden, -1e9)
        return self.out((scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(2))


HEALTHY = {
    "multihead attention": lambda: nn.MultiheadAttention(64, 8),
    "multihead attention, batch first": lambda: nn.MultiheadAttention(64, 8, batch_first=True),
    "multihead attention, other widths": lambda: nn.MultiheadAttention(64, 8, kdim=32, vdim=48, bias=False),
    "nanoGPT": NanoGPT,
    "timm": Timm,
    "timm with norms": lambda: Timm(qk_norm=True),
    "BERT": BertSelfAttention,
    "GPT-2": GPT2Attention,
    "one of a list of heads": lambda: Head(64, 16, 96),
    "rotary, halves, grouped": LlamaStyle,
    "rotary, pairs": lambda: LlamaStyle(n_kv_heads=8, by_halves=False),
    "ALiBi": Alibi,
    "cross-attention": CrossAttention,
    "norm before": PreNormBlock,
    "norm after, lengths": PostNorm,
    "one head": LuongStyleSingle,
    "in other words": InOtherWords,
    "a product in place of two matrices": Product,
    "a fixed number of tokens": OfAGrid,
    "positions given": GivenPositions,
    "as many tokens as its table": OfItsTable,
}

WRONG = {  # the same with a mistake, and its name
    "in other words": (lambda: InOtherWords(multiplies=True), "mask-score-zero"),
    "a product, no root": (lambda: Product(power=1), "scale-no-root"),
    "a product, no scale": (lambda: Product(power=0), "scale-missing"),
    "a fixed number of tokens": (lambda: OfAGrid(axis=-2), "softmax-over-queries"),
    "positions given": (lambda: GivenPositions(past=1), "causal-off-by-one"),
    "as many tokens as its table": (lambda: OfItsTable(longest=48, past=1), "causal-off-by-one"),
}
