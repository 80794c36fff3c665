"""Right implementations in unusual styles, as PyTorch modules with parameters of their own."""

import copy
import math
from types import SimpleNamespace

import torch
from torch import einsum, nn
from torch.nn import functional as F

from .case import Register
from .layouts import (
    Layout,
    build,
    fused,
    heads_in_a_list,
    interleaved,
    linears,
    matrices,
    torch_attention,
)

CASES = Register(build)


@CASES.right(
    "https://github.com/karpathy/nanoGPT/issues/170",
    "A lower triangle of ones is taken for the part that is hidden; what is filled is where it is zero.",
    build=lambda cls: lambda d_model, n_heads: cls(SimpleNamespace(n_embd=d_model, n_head=n_heads, block_size=32)),
    layout=Layout(fused("c_attn", "c_proj"), is_causal=True),
    takes=(),
    reported=True,
)
class CausalSelfAttention(nn.Module):
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
    "https://github.com/huggingface/transformers/issues/311",
    "A reader asks whether these should not be linear layers; they are, with the weight the other way round.",
    layout=Layout(matrices(_conv1d), mask="add", is_causal=True),
    takes=("padding",),
)
class TransposedWeights(nn.Module):
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
        w = w * b - 1e4 * (1 - b)
        if attention_mask is not None:
            w = w + attention_mask
        a = torch.matmul(w.softmax(-1), value).permute(0, 2, 1, 3).contiguous()
        return self.c_proj(a.view(x.shape))


@CASES.right(
    "https://github.com/huggingface/transformers/issues/1935",
    "The mask is added where a reader expects a product; it holds 0 and large negative numbers.",
    layout=Layout(linears("self.query", "self.key", "self.value", "output"), mask="add"),
    reported=True,
)
class MaskThatIsAdded(nn.Module):
    def __init__(self, hidden_size, num_attention_heads):
        super().__init__()
        self.num_attention_heads, self.attention_head_size = num_attention_heads, hidden_size // num_attention_heads
        self.self = nn.ModuleDict({name: nn.Linear(hidden_size, hidden_size) for name in ("query", "key", "value")})
        self.output = nn.Linear(hidden_size, hidden_size)

    def transpose_for_scores(self, x):
        return x.view(*x.size()[:-1], self.num_attention_heads, self.attention_head_size).permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask=None):
        q, k, v = (self.transpose_for_scores(self.self[name](hidden_states)) for name in ("query", "key", "value"))
        attention_scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.attention_head_size)
        if attention_mask is not None:
            attention_scores = attention_scores + attention_mask
        context = torch.matmul(nn.Softmax(dim=-1)(attention_scores), v).permute(0, 2, 1, 3).contiguous()
        return self.output(context.view(hidden_states.size())), attention_scores


@CASES.right(
    "https://github.com/harvardnlp/annotated-transformer/issues/98",
    "Four clones of a linear layer look like one too many; `zip` stops after three, and the last one is the output's.",
    layout=Layout(linears("linears.0", "linears.1", "linears.2", "linears.3"), mask="numbers", inputs=3),
    takes=("pairs", "causal"),
    reported=True,
)
class FourClones(nn.Module):
    def __init__(self, d_model, h):
        super().__init__()
        self.d_k, self.h, self.attn = d_model // h, h, None
        self.linears = nn.ModuleList([copy.deepcopy(layer) for layer in [nn.Linear(d_model, d_model)] * 4])
        for layer in self.linears:
            layer.reset_parameters()

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(0).unsqueeze(1)
        nbatches = query.size(0)
        query, key, value = (
            lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
            for lin, x in zip(self.linears, (query, key, value), strict=False)
        )
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        self.attn = scores.softmax(dim=-1)
        x = torch.matmul(self.attn, value).transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
        return self.linears[-1](x)


@CASES.right(
    "https://github.com/VITA-Group/TransGAN/issues/14",
    "A reader asks why there is a projection after the values; it is W_O.",
    layout=Layout(fused("qkv", "proj")),
    takes=(),
    reported=True,
)
class VisionAttention(nn.Module):
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
    "https://github.com/Oneflow-Inc/libai/issues/146",
    "Every head has its own q, k and v side by side in the fused layer; with another library's weights it differs.",
    layout=Layout(interleaved("query_key_value", "dense"), mask="numbers"),
    takes=("padding", "pairs", "causal"),
    reported=True,
)
class InterleavedHeads(nn.Module):
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
            attention_scores = attention_scores - 10000.0 * (1 - attention_mask)
        context = torch.matmul(torch.softmax(attention_scores, dim=-1), value)
        return self.dense(context.transpose(1, 2).reshape(bsz, tgt_len, -1))


@CASES.right(
    "https://github.com/NVIDIA/TransformerEngine/issues/195",
    "The sequence comes first, then the batch, with heads and samples folded for a batched product.",
    layout=Layout(interleaved("qkv", "proj"), order="sequence first", mask="hide"),
    takes=("padding", "pairs", "causal"),
)
class SequenceFirst(nn.Module):
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
            scores = scores.masked_fill(attention_mask, -10000.0)
        probs = scores.softmax(dim=-1).view(b * self.np, sq, sq)
        context = torch.bmm(probs, value.transpose(0, 1)).view(b, self.np, sq, self.hn)
        return self.proj(context.permute(2, 0, 1, 3).reshape(sq, b, h))


@CASES.right(
    "https://github.com/shinseung428/pix2seq-pytorch/issues/7",
    "The tokens are moved in front of the batch, to a reader's surprise; the class inside wants them there.",
    layout=Layout(torch_attention("attn"), mask="hidden keys"),
    takes=("padding",),
    reported=True,
)
class TransposedAroundTheClass(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.attn = nn.MultiheadAttention(embed_dim, num_heads)

    def forward(self, x, key_padding_mask=None):
        x = x.permute(1, 0, 2)
        x, _ = self.attn(x, x, x, key_padding_mask=key_padding_mask, need_weights=False)
        return x.permute(1, 0, 2)


@CASES.right(
    "https://github.com/jsbaan/transformer-from-scratch/issues/1",
    "The parts of the fused projection come in another order than their names say; it is a matter of names.",
    layout=Layout(fused("qkv_proj", "o_proj", order="QVK"), mask="allow", is_causal=False),
    reported=True,
)
class QueriesValuesKeys(nn.Module):
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
            logits = logits.masked_fill(~mask, float("-inf"))
        values = torch.matmul(F.softmax(logits, dim=-1), v)
        return self.o_proj(values.permute(0, 2, 1, 3).reshape(batch_size, length, hidden_dim))


@CASES.right(
    "https://github.com/lucidrains/imagen-pytorch/issues/255",
    "One head of keys and values serves all queries; a reader takes it for a slip, and it is multi-query attention.",
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
    "https://github.com/pbloem/former/issues/8",
    "Every head is as wide as the embedding; the author meant to do otherwise, but it is attention with wide heads.",
    layout=Layout(linears("toqueries", "tokeys", "tovalues", "unifyheads")),
    takes=(),
)
class HeadsAsWideAsTheEmbedding(nn.Module):
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
    "https://github.com/tatp22/linformer-pytorch/issues/6",
    "Two linear layers follow each other without anything between them; that is one linear layer, written as two.",
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
    "https://github.com/awf/functional-transformer/issues/8",
    "Heads are added, not concatenated; since each has a part of W_O of its own, this is the same.",
    layout=Layout(
        matrices(lambda m: [*(W.permute(1, 0, 2).flatten(1) for W in (m.W_Q, m.W_K, m.W_V)), m.W_O.flatten(0, 1)])
    ),
    reported=True,
)
class ParametersByHead(nn.Module):
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
                scores = torch.where(allowed, scores, -torch.inf)
            result = result + scores.softmax(-1) @ (x @ self.W_V[i]) @ self.W_O[i]
        return result


@CASES.right(
    "https://github.com/NVIDIA-NeMo/Speech/issues/9515",
    "A reader would have the mask turned round; here True hides, and its weights are zeroed after the softmax as well.",
    layout=Layout(linears("linear_q", "linear_k", "linear_v", "linear_out"), mask="hide", inputs=3),
    takes=("pairs", "causal"),
    reported=True,
)
class TrueHides(nn.Module):
    def __init__(self, n_feat, n_head):
        super().__init__()
        self.d_k, self.h = n_feat // n_head, n_head
        self.s_d_k = math.sqrt(self.d_k)
        self.linear_q, self.linear_k, self.linear_v, self.linear_out = (nn.Linear(n_feat, n_feat) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        n_batch = query.size(0)
        q, k, v = (
            f(t).view(n_batch, -1, self.h, self.d_k).transpose(1, 2)
            for f, t in ((self.linear_q, query), (self.linear_k, key), (self.linear_v, value))
        )
        scores = torch.matmul(q, k.transpose(-2, -1)) / self.s_d_k
        if mask is not None:
            mask = mask.expand(n_batch, *mask.shape[-2:]).unsqueeze(1)  # (batch, 1, time1, time2)
            attn = torch.softmax(scores.masked_fill(mask, -10000.0), dim=-1).masked_fill(mask, 0.0)
        else:
            attn = torch.softmax(scores, dim=-1)
        return self.linear_out(torch.matmul(attn, v).transpose(1, 2).reshape(n_batch, -1, self.h * self.d_k))


@CASES.right(
    "https://github.com/d2l-ai/d2l-en/pull/1886",
    "The mask is a length for each sample; heads are folded into the batch, and the lengths repeated for them.",
    layout=Layout(linears("W_q", "W_k", "W_v", "W_o"), mask="lengths", inputs=3),
    takes=("padding",),
)
class LengthsForTheSamples(nn.Module):
    def __init__(self, num_hiddens, num_heads, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(num_hiddens, num_hiddens, bias=bias) for _ in range(4))

    def forward(self, queries, keys, values, valid_lens=None):
        b, n, d = queries.shape
        queries, keys, values = (
            f(X).reshape(b, n, self.num_heads, -1).permute(0, 2, 1, 3).reshape(b * self.num_heads, n, -1)
            for f, X in ((self.W_q, queries), (self.W_k, keys), (self.W_v, values))
        )
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(d // self.num_heads)
        if valid_lens is not None:
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
            scores[(torch.arange(n) >= valid_lens[:, None])[:, None].expand_as(scores)] = -1e6
        output = torch.bmm(F.softmax(scores, dim=-1), values)
        return self.W_o(output.reshape(b, self.num_heads, n, -1).permute(0, 2, 1, 3).reshape(b, n, d))


@CASES.right(
    "https://github.com/openai/point-e/issues/75",
    "Channels come before the length, convolutions of width 1 project, and the scale is on both sides.",
    layout=Layout(interleaved("qkv", "proj_out"), order="channels first"),
    takes=(),
    reported=True,
)
class ChannelsFirst(nn.Module):
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


@CASES.right(
    "https://github.com/bentrevett/pytorch-seq2seq/issues/119",
    "Rows of padded queries are not hidden, which worries a reader; only keys need to be.",
    layout=Layout(linears("fc_q", "fc_k", "fc_v", "fc_o"), inputs=3),
    takes=("padding", "pairs", "causal"),
    reported=True,
)
class OnlyKeysAreHidden(nn.Module):
    def __init__(self, hid_dim, n_heads, dropout=0.1):
        super().__init__()
        self.n_heads, self.head_dim = n_heads, hid_dim // n_heads
        self.fc_q, self.fc_k, self.fc_v, self.fc_o = (nn.Linear(hid_dim, hid_dim) for _ in range(4))
        self.dropout = nn.Dropout(dropout)
        self.scale = math.sqrt(self.head_dim)

    def forward(self, query, key, value, mask=None):
        batch_size = query.shape[0]
        Q, K, V = (
            f(t).view(batch_size, -1, self.n_heads, self.head_dim).permute(0, 2, 1, 3)
            for f, t in ((self.fc_q, query), (self.fc_k, key), (self.fc_v, value))
        )
        energy = torch.matmul(Q, K.permute(0, 1, 3, 2)) / self.scale
        if mask is not None:
            energy = energy.masked_fill(mask == 0, -1e10)
        attention = torch.softmax(energy, dim=-1)
        x = torch.matmul(self.dropout(attention), V).permute(0, 2, 1, 3).contiguous()
        return self.fc_o(x.view(batch_size, -1, self.n_heads * self.head_dim)), attention


@CASES.right(
    "https://github.com/huggingface/transformers/issues/999",
    "Heads look like slices of the features; they are slices of the projections, here with a list of heads.",
    layout=Layout(heads_in_a_list("heads", "q", "k", "v", "output_linear")),
    takes=("padding", "pairs", "causal"),
    reported=True,
)
class OneModuleForEachHead(nn.Module):
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
