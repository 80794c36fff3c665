"""Right PyTorch modules whose heads are written in an unusual way; some were taken for bugs."""

import math

import torch
from torch import einsum, nn
from torch.nn import functional as F

from .case import Register
from .layouts import Layout, build, heads_in_a_list, linears, matrices

CASES = Register(build)


@CASES.right(
    "lucidrains/imagen-pytorch/issues/255",
    layout=Layout(
        matrices(
            lambda m: [
                m.to_q.weight.T,
                *(part.T.repeat(1, m.heads) for part in m.to_kv.weight.chunk(2)),
                m.to_out.weight.T,
            ]
        )
    ),
    reported=True,
)
class OneHeadOfKeys(nn.Module):
    """One head of keys and values serves all queries; a reader takes it for a slip, and it is multi-query attention."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, dim_head = heads, dim // heads
        self.scale = dim_head**-0.5
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_kv = nn.Linear(dim, dim_head * 2, bias=False)
        self.to_out = nn.Linear(dim, dim, bias=False)

    def forward(self, x, mask=None):
        q, (k, v) = self.to_q(x).unflatten(-1, (self.heads, -1)).transpose(1, 2), self.to_kv(x).chunk(2, dim=-1)
        sim = einsum("b h i d, b j d -> b h i j", q * self.scale, k)
        if mask is not None:
            sim = sim.masked_fill(~mask, -torch.finfo(sim.dtype).max)
        out = einsum("b h i j, b j d -> b h i d", sim.softmax(dim=-1), v)
        return self.to_out(out.transpose(1, 2).flatten(2))


@CASES.right(
    "pbloem/former/issues/8", layout=Layout(linears("toqueries", "tokeys", "tovalues", "unifyheads")), takes=()
)
class HeadsAsWideAsTheEmbedding(nn.Module):
    """Every head is as wide as the embedding; the author meant to do otherwise, but it is attention with wide heads."""

    def __init__(self, emb, heads):
        super().__init__()
        self.emb, self.heads = emb, heads
        self.tokeys, self.toqueries, self.tovalues = (nn.Linear(emb, emb * heads, bias=False) for _ in range(3))
        self.unifyheads = nn.Linear(heads * emb, emb)

    def forward(self, x):
        b, t, e = x.size()
        h = self.heads
        keys, queries, values = (
            f(x).view(b, t, h, e).transpose(1, 2).contiguous().view(b * h, t, e)
            for f in (self.tokeys, self.toqueries, self.tovalues)
        )
        queries, keys = queries / (e ** (1 / 4)), keys / (e ** (1 / 4))
        dot = F.softmax(torch.bmm(queries, keys.transpose(1, 2)), dim=2)
        out = torch.bmm(dot, values).view(b, h, t, e)
        return self.unifyheads(out.transpose(1, 2).contiguous().view(b, t, h * e))


@CASES.right(
    "tatp22/linformer-pytorch/issues/6",
    layout=Layout(
        matrices(
            lambda m: [
                *(
                    to.weight.T @ torch.block_diag(*(w.weight.T for w in inner))
                    for to, inner in ((m.to_q, m.w_q), (m.to_k, m.w_k), (m.to_v, m.w_v))
                ),
                m.w_o.weight.T,
            ]
        )
    ),
    takes=(),
    reported=True,
)
class LinearAfterLinear(nn.Module):
    """Two linear layers follow each other without anything between them; that is one linear layer, written as two."""

    def __init__(self, channels, nhead):
        super().__init__()
        self.dim = channels // nhead
        self.to_q, self.to_k, self.to_v, self.w_o = (nn.Linear(channels, channels, bias=False) for _ in range(4))
        self.w_q, self.w_k, self.w_v = (
            nn.ModuleList([nn.Linear(self.dim, self.dim, bias=False) for _ in range(nhead)]) for _ in range(3)
        )

    def forward(self, x):
        heads = []
        for parts in zip(
            *(to(x).split(self.dim, -1) for to in (self.to_q, self.to_k, self.to_v)),
            self.w_q,
            self.w_k,
            self.w_v,
            strict=True,
        ):
            Q, K, V = (w(part) for part, w in zip(parts[:3], parts[3:], strict=True))
            P_bar = torch.matmul(Q, K.transpose(1, 2)) / math.sqrt(self.dim)
            heads.append(torch.matmul(P_bar.softmax(dim=-1), V))
        return self.w_o(torch.cat(heads, dim=-1))


@CASES.right(
    "awf/functional-transformer/issues/8",
    layout=Layout(
        matrices(lambda m: [*(W.permute(1, 0, 2).flatten(1) for W in (m.W_Q, m.W_K, m.W_V)), m.W_O.flatten(0, 1)])
    ),
    reported=True,
)
class ParametersByHead(nn.Module):
    """Heads are added, not concatenated; since each has a part of W_O of its own, this is the same."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.d_head = d_model // n_heads
        self.W_Q, self.W_K, self.W_V = (
            nn.Parameter(torch.randn(n_heads, d_model, self.d_head) / d_model**0.5) for _ in range(3)
        )
        self.W_O = nn.Parameter(torch.randn(n_heads, self.d_head, d_model) / d_model**0.5)

    def forward(self, x, mask=None):
        result = 0
        for i in range(len(self.W_Q)):
            scores = (x @ self.W_Q[i]) @ (x @ self.W_K[i]).mT / self.d_head**0.5
            if mask is not None:
                allowed = mask.expand(len(x), len(self.W_Q), x.shape[1], x.shape[1])[:, i]
                scores = torch.where(allowed, scores, -1e30)
            result = result + scores.softmax(-1) @ (x @ self.W_V[i]) @ self.W_O[i]
        return result


@CASES.right(
    "huggingface/transformers/issues/999",
    layout=Layout(heads_in_a_list("heads", "q", "k", "v", "output_linear")),
    takes=("padding", "pairs", "causal"),
    reported=True,
)
class OneModuleForEachHead(nn.Module):
    """Heads look like slices of the features; they are slices of the projections, here with a list of heads."""

    class Head(nn.Module):
        def __init__(self, embed_dim, head_dim):
            super().__init__()
            self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in range(3))

        def forward(self, hidden_state, mask):
            if mask is not None:
                mask = mask.expand(len(hidden_state), 1, -1, -1)[:, 0] if mask.ndim == 4 else mask
            return F.scaled_dot_product_attention(
                self.q(hidden_state), self.k(hidden_state), self.v(hidden_state), attn_mask=mask
            )

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.heads = nn.ModuleList([self.Head(embed_dim, embed_dim // num_heads) for _ in range(num_heads)])
        self.output_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, hidden_state, mask=None):
        return self.output_linear(torch.cat([h(hidden_state, mask) for h in self.heads], dim=-1))
