"""PyTorch modules with one fault each, in the manner of published code; the line that is faulty ends with `# here`.

Where two lines can be called the faulty one, both end so. `build(module)` makes one of them.
"""

import math

import pytest

torch = pytest.importorskip("torch", reason="tests/model-requirements.txt is not installed")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

MODULES = []


def faulty(kind):
    MODULES.append(kind)
    return kind


def build(kind, width=24, n_heads=3):
    torch.manual_seed(0)
    return kind(width, n_heads)


class Fused(nn.Module):
    def __init__(self, n_embd, n_head, block_size=160):
        super().__init__()
        self.n_head, self.n_embd = n_head, n_embd
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.register_buffer("bias", torch.tril(torch.ones(block_size, block_size)).view(1, 1, block_size, block_size))


class Separate(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h, self.d_k = n_heads, d_model // n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))


@faulty
class ScaledByTheEmbedding(Fused):
    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(C))  # here
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y)


@faulty
class ScaleKeptByTheConstructor(Separate):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        self.scale = d_model**-0.5  # here

    def forward(self, x):
        q, k, v = (w(x).unflatten(-1, (self.h, self.d_k)).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        weights = (q @ k.transpose(-2, -1) * self.scale).softmax(dim=-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(2))


@faulty
class NeverTransposedBack(Fused):
    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        q, k, v = (t.view(B, T, self.n_head, -1).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.contiguous().view(B, T, C)  # here
        return self.c_proj(y)


@faulty
class SoftmaxOverTheQueries(Fused):
    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).reshape(B, T, 3, self.n_head, -1).permute(2, 0, 3, 1, 4).unbind(0)
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-2)  # here
        return self.c_proj((att @ v).transpose(1, 2).reshape(B, T, C))


@faulty
class SeesOneTokenAhead(Fused):
    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (t.view(B, T, self.n_head, -1).transpose(1, 2) for t in self.c_attn(x).chunk(3, dim=-1))
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        mask = torch.ones(T, T, device=x.device).triu(2).bool()  # here
        att = att.masked_fill(mask, float("-inf"))
        att = att.softmax(dim=-1)
        return self.c_proj((att @ v).transpose(1, 2).reshape(B, T, C))


@faulty
class MaskedAfterTheSoftmax(Fused):
    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (t.view(B, T, self.n_head, -1).transpose(1, 2) for t in self.c_attn(x).chunk(3, dim=-1))
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        att = att.softmax(dim=-1)  # here
        att = att * self.bias[:, :, :T, :T]  # here
        return self.c_proj((att @ v).transpose(1, 2).reshape(B, T, C))


@faulty
class QueriesAndValuesSwappedInTheSplit(Separate):
    def forward(self, query, key, value, mask=None):
        n = query.size(0)
        query, key, value = (
            layer(x).view(n, -1, self.h, self.d_k).transpose(1, 2)
            for layer, x in zip((self.w_q, self.w_k, self.w_v), (query, key, value), strict=True)
        )
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        p_attn = F.softmax(scores, dim=-1)
        x = torch.matmul(p_attn, key)  # here
        x = x.transpose(1, 2).contiguous().view(n, -1, self.h * self.d_k)
        return self.w_o(x)


@faulty
class MaskTheWrongWayRound(Separate):
    def forward(self, query, key, value, mask=None):
        n = query.size(0)
        query = self.w_q(query).view(n, -1, self.h, self.d_k).transpose(1, 2)
        key = self.w_k(key).view(n, -1, self.h, self.d_k).transpose(1, 2)
        value = self.w_v(value).view(n, -1, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, 1e-9)  # here
        p_attn = F.softmax(scores, dim=-1)
        x = torch.matmul(p_attn, value)
        x = x.transpose(1, 2).contiguous().view(n, -1, self.h * self.d_k)
        return self.w_o(x)


@faulty
class OutputNeverProjected(Separate):
    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (layer(x).view(b, n, self.h, self.d_k) for layer in (self.w_q, self.w_k, self.w_v))
        energy = torch.einsum("nqhd,nkhd->nhqk", [q, k])
        attention = torch.softmax(energy / self.d_k**0.5, dim=3)
        out = torch.einsum("nhql,nlhd->nqhd", [attention, v]).reshape(b, n, d)
        self.w_o(out)
        return out  # here


@faulty
class KeysViewedInPlaceOfTransposed(Separate):
    def forward(self, x):
        b, n, d = x.shape
        q = self.w_q(x).view(b, n, self.h, self.d_k).transpose(1, 2)
        k = self.w_k(x).view(b, n, self.h, self.d_k).transpose(1, 2)
        v = self.w_v(x).view(b, n, self.h, self.d_k).transpose(1, 2)
        k_t = k.reshape(b, self.h, self.d_k, n)  # here
        score = (q @ k_t) / math.sqrt(self.d_k)
        score = torch.softmax(score, dim=-1)
        v = score @ v
        return self.w_o(v.transpose(1, 2).contiguous().view(b, n, d))


@faulty
class ScaledTwice(Separate):
    def forward(self, x, attn_mask=None):
        b, n, d = x.shape
        q, k, v = (f(x).view(b, n, self.h, self.d_k).transpose(1, 2) for f in (self.w_q, self.w_k, self.w_v))
        q = q * self.d_k**-0.5  # here
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask)  # here
        return self.w_o(out.transpose(1, 2).reshape(b, n, d))


@faulty
class HeadsTimesBatchUnfolded(Separate):
    def forward(self, x):
        b, n, _ = x.shape
        fold = lambda t: t.view(b, n, self.h, self.d_k).permute(2, 0, 1, 3).reshape(-1, n, self.d_k)  # noqa: E731
        q, k, v = fold(self.w_q(x)), fold(self.w_k(x)), fold(self.w_v(x))
        attn = torch.bmm(q, k.transpose(1, 2)) / self.d_k**0.5
        attn = torch.softmax(attn, dim=2)
        output = torch.bmm(attn, v)
        output = output.view(b, self.h, n, self.d_k)  # here
        output = output.permute(0, 2, 1, 3).contiguous().view(b, n, -1)
        return self.w_o(output)


@faulty
class Unscaled(Separate):
    def forward(self, hidden_states, attention_mask=None):
        query_layer = self.transpose_for_scores(self.w_q(hidden_states))
        key_layer = self.transpose_for_scores(self.w_k(hidden_states))
        value_layer = self.transpose_for_scores(self.w_v(hidden_states))
        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))  # here
        if attention_mask is not None:
            attention_scores = attention_scores + attention_mask
        attention_probs = nn.functional.softmax(attention_scores, dim=-1)
        context_layer = torch.matmul(attention_probs, value_layer)
        context_layer = context_layer.permute(0, 2, 1, 3).contiguous()
        return self.w_o(context_layer.view(*context_layer.size()[:-2], -1))

    def transpose_for_scores(self, x):
        return x.view(*x.size()[:-1], self.h, self.d_k).permute(0, 2, 1, 3)


@faulty
class HeadsOneByOne(nn.Module):
    class Head(nn.Module):
        def __init__(self, n_embd, head_size):
            super().__init__()
            self.key, self.query, self.value = (nn.Linear(n_embd, head_size, bias=False) for _ in range(3))

        def forward(self, x):
            k, q, v = self.key(x), self.query(x), self.value(x)
            wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
            wei = F.softmax(wei, dim=1)  # here
            return wei @ v

    def __init__(self, n_embd, num_heads):
        super().__init__()
        self.heads = nn.ModuleList([self.Head(n_embd, n_embd // num_heads) for _ in range(num_heads)])
        self.proj = nn.Linear(n_embd, n_embd)

    def forward(self, x):
        out = torch.cat([h(x) for h in self.heads], dim=-1)
        return self.proj(out)


class Grouped(nn.Module):
    def __init__(self, dim, n_heads):
        super().__init__()
        self.n_heads, self.n_kv_heads = 4, 2
        self.head_dim = dim // 4
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, self.n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, self.n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)


@faulty
class KeyHeadsTiled(Grouped):
    def forward(self, x):
        b, n, _ = x.shape
        q = self.wq(x).view(b, n, self.n_heads, self.head_dim).transpose(1, 2)
        k = self.wk(x).view(b, n, self.n_kv_heads, self.head_dim).transpose(1, 2)
        v = self.wv(x).view(b, n, self.n_kv_heads, self.head_dim).transpose(1, 2)
        k = k.repeat(1, self.n_heads // self.n_kv_heads, 1, 1)  # here
        v = v.repeat(1, self.n_heads // self.n_kv_heads, 1, 1)
        scores = q @ k.transpose(2, 3) / math.sqrt(self.head_dim)
        return self.wo((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, -1))


@faulty
class GroupedScaledByItsKeys(Grouped):
    def forward(self, x):
        b, n, _ = x.shape
        q = self.wq(x).view(b, n, self.n_heads, self.head_dim).transpose(1, 2)
        k = self.wk(x).view(b, n, self.n_kv_heads, self.head_dim).transpose(1, 2)
        v = self.wv(x).view(b, n, self.n_kv_heads, self.head_dim).transpose(1, 2)
        k, v = (t.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1) for t in (k, v))
        scores = q @ k.transpose(2, 3) / self.head_dim  # here
        weights = scores.softmax(-1)
        return self.wo((weights @ v).transpose(1, 2).reshape(b, n, -1))


@faulty
class ResidualInside(Separate):
    def forward(self, x, mask=None):
        b, n, d = x.shape
        q, k, v = (f(x).reshape(b, n, self.h, -1).permute(0, 2, 1, 3) for f in (self.w_q, self.w_k, self.w_v))
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * self.d_k**-0.5
        if mask is not None:
            dots.masked_fill_(~mask, torch.finfo(dots.dtype).min)
        attn = dots.softmax(dim=-1)
        out = torch.einsum("bhij,bhjd->bhid", attn, v)
        out = out + q  # here
        return self.w_o(out.permute(0, 2, 1, 3).reshape(b, n, d))


@faulty
class CausalMaskAlongTheQueries(Separate):
    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (f(x).reshape(b, n, self.h, -1).permute(0, 2, 1, 3) for f in (self.w_q, self.w_k, self.w_v))
        sim = q @ k.mT * self.d_k**-0.5
        i = torch.arange(n)
        causal = i[:, None] > i[None, :]  # here
        sim = sim.masked_fill(causal, -torch.finfo(sim.dtype).max)
        attn = sim.softmax(dim=-1)
        return self.w_o((attn @ v).transpose(1, 2).reshape(b, n, d))


@faulty
class SequenceFirstScoresAcrossTheBatch(Separate):
    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (f(x).view(b, n, self.h, self.d_k) for f in (self.w_q, self.w_k, self.w_v))
        attn = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)  # here
        attn = torch.softmax(attn, dim=-1)
        out = attn @ v
        return self.w_o(out.reshape(b, n, d))


def rotated(x, base=10000):
    *_, n, d = x.shape
    angles = torch.arange(n)[:, None] / base ** (torch.arange(0, d, 2) / d)
    cos, sin = (torch.cat([table, table], -1) for table in (angles.cos(), angles.sin()))
    x1, x2 = x.chunk(2, -1)
    return x * cos + torch.cat([-x2, x1], -1) * sin


@faulty
class RotaryAndScaledByTheModel(Separate):
    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (f(x).view(b, n, self.h, self.d_k).transpose(1, 2) for f in (self.w_q, self.w_k, self.w_v))
        q = rotated(q)
        k = rotated(k)
        att = (q @ k.transpose(-1, -2)) / math.sqrt(d)  # here
        att = att.softmax(-1)
        return self.w_o((att @ v).transpose(1, 2).reshape(b, n, d))


@faulty
class RotaryOnQueriesAlone(Separate):
    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (f(x).view(b, n, self.h, self.d_k).transpose(1, 2) for f in (self.w_q, self.w_k, self.w_v))
        q = rotated(q)
        att = (q @ k.transpose(-1, -2)) / math.sqrt(self.d_k)  # here
        att = att.softmax(-1)
        return self.w_o((att @ v).transpose(1, 2).reshape(b, n, d))


@faulty
class CacheWithATriangleFromTheCorner(Separate):
    def forward(self, x, past=None):
        b, n, d = x.shape
        q, k, v = (f(x).view(b, n, self.h, self.d_k).transpose(1, 2) for f in (self.w_q, self.w_k, self.w_v))
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        att = (q @ k.transpose(-1, -2)) / math.sqrt(self.d_k)
        seen = torch.ones(n, k.shape[2]).tril().bool()  # here
        att = att.masked_fill(~seen, float("-inf"))  # here
        att = att.softmax(-1)
        return self.w_o((att @ v).transpose(1, 2).reshape(b, n, d)), (k, v)


@faulty
class FusedWithItsAxesPermutedWrongly(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads, self.scale = num_heads, (dim // num_heads) ** -0.5
        self.qkv, self.proj = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 1, 3, 4)  # here
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = (q @ k.transpose(-2, -1)) * self.scale  # here
        attn = attn.softmax(dim=-1)
        x = (attn @ v).reshape(B, N, C)
        return self.proj(x)


@faulty
class SoftmaxOfTheSoftmax(Separate):
    def forward(self, x, key_padding_mask=None):
        b, n, d = x.shape
        q = self.w_q(x).reshape(b, n, self.h, self.d_k).permute(0, 2, 1, 3)
        k = self.w_k(x).reshape(b, n, self.h, self.d_k).permute(0, 2, 3, 1)
        v = self.w_v(x).reshape(b, n, self.h, self.d_k).permute(0, 2, 1, 3)
        w = torch.matmul(q, k) / math.sqrt(self.d_k)
        if key_padding_mask is not None:
            w = w.masked_fill(key_padding_mask[:, None, None, :], float("-inf"))
        w = torch.softmax(w, -1)
        w = torch.softmax(w, -1)  # here
        o = torch.matmul(w, v).permute(0, 2, 1, 3).contiguous().view(b, n, d)
        return self.w_o(o)


@faulty
class FilledAndForgotten(Separate):
    def forward(self, x, key_padding_mask=None):
        b, n, d = x.shape
        q, k, v = (f(x).view(b, n, self.h, self.d_k).transpose(1, 2) for f in (self.w_q, self.w_k, self.w_v))
        w = q @ k.mT / math.sqrt(self.d_k)
        if key_padding_mask is not None:
            w.masked_fill(key_padding_mask[:, None, None, :], float("-inf"))  # here
        w = torch.softmax(w, -1)  # here
        return self.w_o((w @ v).transpose(1, 2).reshape(b, n, d))


@faulty
class PaddingAlongTheQueries(Separate):
    def forward(self, x, attention_mask=None):
        b, n, d = x.shape
        q, k, v = (f(x).view(b, n, self.h, self.d_k).transpose(1, 2) for f in (self.w_q, self.w_k, self.w_v))
        s = q @ k.mT / self.d_k**0.5
        if attention_mask is not None:
            bias = (1.0 - attention_mask.float())[:, None, :, None] * -10000.0  # here
            s = s + bias  # here
        return self.w_o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))


@faulty
class OneSetOfWeightsForAllHeads(Separate):
    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (f(x).view(b, n, self.h, self.d_k).transpose(1, 2) for f in (self.w_q, self.w_k, self.w_v))
        p = (q @ k.mT / self.d_k**0.5).softmax(-1)
        p = p.mean(1, keepdim=True)  # here
        return self.w_o((p @ v).transpose(1, 2).reshape(b, n, d))


@faulty
class NormalisedAlongTheTokens(Separate):
    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (f(x).view(b, n, self.h, self.d_k).transpose(1, 2) for f in (self.w_q, self.w_k, self.w_v))
        q = q / q.norm(dim=-2, keepdim=True)  # here
        s = q @ k.mT / self.d_k**0.5
        return self.w_o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))


@faulty
class ValuesFromTheKeysLayer(Separate):
    def forward(self, x):
        b, n, d = x.shape
        q = self.w_q(x).view(b, n, self.h, self.d_k).transpose(1, 2)
        k = self.w_k(x).view(b, n, self.h, self.d_k).transpose(1, 2)
        v = self.w_k(x).view(b, n, self.h, self.d_k).transpose(1, 2)  # here
        s = q @ k.mT / self.d_k**0.5
        return self.w_o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))


@faulty
class OneHeadOfKeysScaledByTheModel(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.hd = h, d // h
        self.c_attn, self.c_proj = nn.Linear(d, d + 2 * self.hd), nn.Linear(d, d)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.c_attn(x).split([d, self.hd, self.hd], dim=-1)
        q = q.view(b, n, self.h, self.hd).transpose(1, 2)
        k, v = k.unsqueeze(1), v.unsqueeze(1)
        s = torch.matmul(q, k.transpose(-1, -2))
        s = s / math.sqrt(d)  # here
        return self.c_proj(torch.matmul(torch.softmax(s, -1), v).transpose(1, 2).reshape(b, n, d))


@faulty
class ToldToBeCausalAndIsNot(Separate):
    def forward(self, x, is_causal=True):
        b, n, d = x.shape
        q, k, v = (f(x).view(b, n, self.h, self.d_k).transpose(1, 2) for f in (self.w_q, self.w_k, self.w_v))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.0)  # here
        return self.w_o(y.transpose(1, 2).reshape(b, n, d))


@faulty
class SequenceFirstAndNeverTurnedBack(Separate):
    def forward(self, query, key, value, attn_mask=None):
        L, N, E = query.shape
        q = self.w_q(query).contiguous().view(L, N * self.h, self.d_k).transpose(0, 1)
        k = self.w_k(key).contiguous().view(-1, N * self.h, self.d_k).transpose(0, 1)
        v = self.w_v(value).contiguous().view(-1, N * self.h, self.d_k).transpose(0, 1)
        w = torch.bmm(q, k.transpose(1, 2)) * self.d_k**-0.5
        if attn_mask is not None:
            w = w + attn_mask
        w = F.softmax(w, dim=-1)
        o = torch.bmm(w, v)
        o = o.contiguous().view(L, N, E)  # here
        return self.w_o(o)


@faulty
class DividedInAStatementOfSeveralLines(Fused):
    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (t.view(B, T, self.n_head, -1).transpose(1, 2) for t in self.c_attn(x).split(self.n_embd, dim=2))
        att = torch.matmul(
            q,
            k.transpose(-2, -1),
        ) / (
            math.sqrt(C)  # here
        )
        y = att.softmax(-1) @ v
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


@faulty
class MaskedInAnArrayThatNobodyKeeps(Separate):
    def forward(self, x, mask=None):
        q, k, v = (w(x).unflatten(-1, (self.h, self.d_k)).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        scores = q @ k.mT / self.d_k**0.5
        if mask is not None:
            scores.masked_fill(~mask, -1e9)  # here
        weights = scores.softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(2))
