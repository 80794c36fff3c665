"""Right attention in which masks meet each other, causality and a cache, in as many idioms as there are classes.

What is changed to make a mistake of it stands in test_masks_that_meet.py. At the end are those that need a caveat.
"""

import torch
from torch import nn
from torch.nn import functional as F


class Projected(nn.Module):
    def __init__(self, d_model=64, n_heads=4):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))

    def heads(self, x, past):
        q, k, v = (
            p(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj)
        )
        if past is not None:
            k, v = torch.cat((past[0], k), dim=-2), torch.cat((past[1], v), dim=-2)
        return q, k, v

    def merge(self, heads):
        return self.out_proj(heads.transpose(1, 2).flatten(2))


class PairsAndPadding(Projected):
    def forward(self, x, attn_mask=None, key_padding_mask=None, past=None):
        q, k, v = self.heads(x, past)
        scores = q @ k.mT * q.shape[-1] ** -0.5
        hidden = torch.zeros_like(scores, dtype=torch.bool)
        if attn_mask is not None:
            hidden = hidden | attn_mask
        if key_padding_mask is not None:
            hidden = hidden | key_padding_mask[:, None, None]
        weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        return self.merge(weights @ v), (k, v)


class CausalAndPadding(Projected):
    def forward(self, x, key_padding_mask=None, past=None):
        q, k, v = self.heads(x, past)
        n, m = q.shape[-2], k.shape[-2]
        allowed = torch.ones(n, m, dtype=torch.bool).tril(m - n)
        if key_padding_mask is not None:
            allowed = allowed & ~key_padding_mask[:, None, None]
        return self.merge(F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)), (k, v)


class TwoThatShow(Projected):
    """In both, True means: may attend."""

    def forward(self, x, mask=None, padding_mask=None, past=None):
        q, k, v = self.heads(x, past)
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
        if padding_mask is not None:
            both = padding_mask[:, None, None, :]
            mask = both if mask is None else mask & both
        if mask is not None:
            scores = torch.where(mask, scores, -torch.inf)
        weights = scores.softmax(-1)
        return self.merge(torch.einsum("bhqk,bhkd->bhqd", weights, v)), (k, v)


class AddedAndPadding(Projected):
    """The mask of pairs is added."""

    def forward(self, hidden_states, attention_mask=None, key_padding_mask=None, layer_past=None):
        q, k, v = self.heads(hidden_states, layer_past)
        scores = q @ k.transpose(-1, -2) / q.size(-1) ** 0.5
        added = torch.zeros(()) if attention_mask is None else attention_mask
        if key_padding_mask is not None:
            added = added + key_padding_mask[:, None, None] * torch.finfo(scores.dtype).min
        scores = scores + added
        weights = F.softmax(scores, dim=-1)
        return self.merge(weights @ v), (k, v)


class PairsAndLengths(Projected):
    def forward(self, x, mask=None, valid_lens=None, past=None):
        q, k, v = self.heads(x, past)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        hidden = torch.zeros_like(scores, dtype=torch.bool) if mask is None else ~mask
        if valid_lens is not None:
            hidden = hidden | (torch.arange(k.shape[-2]) >= valid_lens[:, None, None, None])
        scores = scores.masked_fill(hidden, -1e9)
        weights = scores.softmax(-1)
        return self.merge(weights @ v), (k, v)


class FlagAndPadding(Projected):
    def forward(self, x, key_padding_mask=None, is_causal=False, past=None):
        q, k, v = self.heads(x, past)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        hidden = torch.zeros(scores.shape[-2:], dtype=torch.bool)
        if is_causal:
            hidden = torch.ones_like(hidden).triu(1 + hidden.shape[1] - hidden.shape[0])
        if key_padding_mask is not None:
            hidden = hidden | key_padding_mask[:, None, None]
        scores[hidden.expand_as(scores)] = -torch.inf
        weights = scores.softmax(-1)
        return self.merge(weights @ v), (k, v)


class CausalAndTwo(Projected):
    def forward(self, x, attn_mask=None, key_padding_mask=None, past=None):
        q, k, v = self.heads(x, past)
        n, m = q.shape[-2], k.shape[-2]
        added = torch.zeros(n, m).masked_fill(torch.ones(n, m, dtype=torch.bool).triu(m - n + 1), -torch.inf)
        for mask in (attn_mask, None if key_padding_mask is None else key_padding_mask[:, None, None]):
            if mask is not None:
                added = added + torch.zeros(mask.shape).masked_fill(mask, -torch.inf)
        scores = torch.baddbmm(
            added.expand(len(q), self.n_heads, n, m).flatten(0, 1), q.flatten(0, 1), k.flatten(0, 1).mT,
            alpha=q.shape[-1] ** -0.5,
        )  # fmt: skip
        weights = scores.softmax(-1)
        return self.merge((weights @ v.flatten(0, 1)).unflatten(0, (-1, self.n_heads))), (k, v)


class KeptInside(Projected):
    def __init__(self, d_model=64, n_heads=4):
        super().__init__(d_model, n_heads)
        self.kept = None

    def forward(self, x, start_pos, key_padding_mask=None):
        q, k, v = self.heads(x, self.kept if start_pos else None)
        self.kept = k, v
        allowed = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril(start_pos)
        if key_padding_mask is not None:
            allowed = allowed & ~key_padding_mask[:, None, None]
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~allowed, float("-inf"))
        weights = scores.softmax(-1)
        return self.merge(weights @ v)


class SecondMaskStops(Projected):
    def forward(self, x, mask=None, context_mask=None):
        q, k, v = self.heads(x, None)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        if context_mask is not None:
            scores = scores.masked_fill(~context_mask[:, None, None], -torch.inf).view(-1, 3)
        return self.merge(scores.softmax(-1) @ v)


class BehindAnArgument(Projected):
    def forward(self, x, fast=False, fast_mask=None):
        q, k, v = self.heads(x, None)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if fast and fast_mask is not None:
            scores = self.fast(scores, fast_mask)
        return self.merge(scores.softmax(-1) @ v)

    def fast(self, scores, mask):
        return scores.masked_fill(~mask[:, None, None, :], -torch.inf)


class BehindAMissingKernel(BehindAnArgument):
    def fast(self, scores, mask):
        raise ImportError("no kernel here")


class BehindAnAttribute(Projected):
    def __init__(self, d_model=64, n_heads=4, mask_flag=False):
        super().__init__(d_model, n_heads)
        self.mask_flag = mask_flag

    def forward(self, x, mask=None):
        q, k, v = self.heads(x, None)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if self.mask_flag:
            scores = scores.masked_fill(~mask, -torch.inf)
        return self.merge(scores.softmax(-1) @ v)


class OnlyNearlyHidden(Projected):
    """What it hides has no influence, but what is seen has other weights than softmax's."""

    def forward(self, x, mask=None):
        q, k, v = self.heads(x, None)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = (0.5 * scores).masked_fill(~mask, -torch.inf)
        return self.merge(scores.softmax(-1) @ v)


class OverflowsInHalf(Projected):
    """Causal, so that beside a mask some query sees nothing; -1e9 is too low for half precision."""

    def forward(self, x, mask=None):
        q, k, v = self.heads(x, None)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        scores = scores + torch.ones(q.shape[-2], k.shape[-2]).triu(1).to(scores.dtype) * -6e4
        if mask is not None:
            scores = scores + torch.full((), -1e9, dtype=scores.dtype) * ~mask
        return self.merge(scores.softmax(-1) @ v)


class RunningMaximum(Projected):
    """As in kernels that go through the keys in blocks: no score is as low as where the maximum begins."""

    def forward(self, x):
        q, k, v = self.heads(x, None)
        hidden = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(hidden, -torch.inf)
        exponentials = (scores - scores.amax(-1, keepdim=True).clamp(min=-1e5)).exp()
        return self.merge(exponentials / exponentials.sum(-1, keepdim=True) @ v)


class GatedAndNarrow(nn.Module):
    """SAGAN's: keys of an eighth of the width, no scale, and a learnt gate that begins shut."""

    def __init__(self, width=64):
        super().__init__()
        self.query, self.key = nn.Linear(width, width // 8), nn.Linear(width, width // 8)
        self.value = nn.Linear(width, width)
        self.gamma = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        scores = self.query(x) @ self.key(x).mT
        return self.gamma * (scores.softmax(-1) @ self.value(x)) + x


class ToAContext(Projected):
    """`lost` names the mask that is not used where there is a context."""

    def __init__(self, d_model=64, n_heads=4, lost=""):
        super().__init__(d_model, n_heads)
        self.lost = lost

    def forward(self, x, context=None, mask=None, context_mask=None):
        q, k, v = self.heads(x, None)
        if context is not None:
            _, k, v = self.heads(context, None)
        masks = {"mask": mask, "context_mask": None if context_mask is None else context_mask[:, None, None]}
        scores = q @ k.mT / q.shape[-1] ** 0.5
        for name, allowed in masks.items():
            if allowed is not None and not (context is not None and name == self.lost):
                scores = scores.masked_fill(~allowed, -torch.inf)
        return self.merge(scores.softmax(-1) @ v)


class OneOfEach(Projected):
    """Each sequence has a mask of its own, and attention is causal in its own (lucidrains/x-transformers)."""

    def forward(self, x, context=None, mask=None, context_mask=None):
        source = x if context is None else context
        q, k, v = (
            p(tokens).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for p, tokens in ((self.q_proj, x), (self.k_proj, source), (self.v_proj, source))
        )
        scores = q @ k.mT * q.shape[-1] ** -0.5
        low = -torch.finfo(scores.dtype).max
        visible = mask if context is None else context_mask
        if visible is not None:
            scores = scores.masked_fill(~visible[:, None, None], low)
        if context is None:
            ahead = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(ahead, low)
        return self.merge(scores.softmax(-1) @ v)


class Encoders(Projected):
    """Both masks are added, and a context's has another name than usual (Hugging Face's BERT)."""

    def forward(self, hidden_states, attention_mask=None, encoder_hidden_states=None, encoder_attention_mask=None):
        source = hidden_states
        if encoder_hidden_states is not None:
            source, attention_mask = encoder_hidden_states, encoder_attention_mask
        q, k, v = (
            p(tokens).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for p, tokens in ((self.q_proj, hidden_states), (self.k_proj, source), (self.v_proj, source))
        )
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if attention_mask is not None:
            scores = scores + attention_mask
        return self.merge(scores.softmax(-1) @ v)


class ThreeSequences(Projected):
    """(The Annotated Transformer)"""

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            p(tokens).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for p, tokens in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask.unsqueeze(1) == 0, -1e9)
        return self.merge(scores.softmax(-1) @ v)


class OfItsContext(ThreeSequences):
    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        return super().forward(x, context, context, mask)
