"""Right PyTorch modules with a layer each for queries, keys and values; some were taken for bugs."""

import copy
import math

import torch
from torch import nn
from torch.nn import functional as F

from .case import Register
from .layouts import (
    Layout,
    build,
    linears,
    torch_attention,
)

CASES = Register(build)


@CASES.right(
    "huggingface/transformers/issues/1935",
    layout=Layout(linears("self.query", "self.key", "self.value", "output"), mask="add"),
    reported=True,
)
class MaskThatIsAdded(nn.Module):
    """The mask is added where a reader expects a product; it holds 0 and large negative numbers."""

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
    "harvardnlp/annotated-transformer/issues/98",
    layout=Layout(linears("linears.0", "linears.1", "linears.2", "linears.3"), mask="numbers", inputs=3),
    takes=("pairs", "causal"),
    reported=True,
)
class FourClones(nn.Module):
    """Four clones of a linear layer look like one too many; `zip` stops after three, and the last one is the
    output's.
    """

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
    "shinseung428/pix2seq-pytorch/issues/7",
    layout=Layout(torch_attention("attn"), mask="hidden keys"),
    takes=("padding",),
    reported=True,
)
class TransposedAroundTheClass(nn.Module):
    """The tokens are moved in front of the batch, to a reader's surprise; the class inside wants them there."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.attn = nn.MultiheadAttention(embed_dim, num_heads)

    def forward(self, x, key_padding_mask=None):
        x = x.permute(1, 0, 2)
        x, _ = self.attn(x, x, x, key_padding_mask=key_padding_mask, need_weights=False)
        return x.permute(1, 0, 2)


@CASES.right(
    "NVIDIA-NeMo/Speech/issues/9515",
    layout=Layout(linears("linear_q", "linear_k", "linear_v", "linear_out"), mask="hide", inputs=3),
    takes=("pairs", "causal"),
    reported=True,
)
class TrueHides(nn.Module):
    """A reader would have the mask turned round; here True hides, and its weights are zeroed after the softmax as
    well.
    """

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
            attn = torch.softmax(scores.masked_fill(mask, torch.finfo(scores.dtype).min), dim=-1).masked_fill(mask, 0.0)
        else:
            attn = torch.softmax(scores, dim=-1)
        return self.linear_out(torch.matmul(attn, v).transpose(1, 2).reshape(n_batch, -1, self.h * self.d_k))


@CASES.right(
    "d2l-ai/d2l-en/pull/1886",
    layout=Layout(linears("W_q", "W_k", "W_v", "W_o"), mask="lengths", inputs=3),
    takes=("padding",),
)
class LengthsForTheSamples(nn.Module):
    """The mask is a length for each sample; heads are folded into the batch, and the lengths repeated for them."""

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
            scores[(torch.arange(n) >= valid_lens[:, None])[:, None].expand_as(scores)] = -1e12
        output = torch.bmm(F.softmax(scores, dim=-1), values)
        return self.W_o(output.reshape(b, self.num_heads, n, -1).permute(0, 2, 1, 3).reshape(b, n, d))


@CASES.right(
    "bentrevett/pytorch-seq2seq/issues/119",
    layout=Layout(linears("fc_q", "fc_k", "fc_v", "fc_o"), inputs=3),
    takes=("padding", "pairs", "causal"),
    reported=True,
)
class OnlyKeysAreHidden(nn.Module):
    """Rows of padded queries are not hidden, which worries a reader; only keys need to be."""

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
