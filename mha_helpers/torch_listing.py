"""Causal multi-head attention in PyTorch, as small GPTs write it."""

import torch
import torch.nn.functional as F
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, context_length, dropout=0.0):
        super().__init__()
        assert d_model % n_heads == 0
        self.n_heads = n_heads
        self.c_attn = nn.Linear(d_model, 3 * d_model, bias=False)  # queries, keys and values in one
        self.c_proj = nn.Linear(d_model, d_model, bias=False)  # W_O
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("visible", torch.ones(context_length, context_length).tril().bool())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.c_attn(x).split(C, dim=2)
        q, k, v = (t.view(B, T, self.n_heads, C // self.n_heads).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / (C // self.n_heads) ** 0.5
        scores = scores.masked_fill(~self.visible[:T, :T], float("-inf"))
        weights = self.dropout(F.softmax(scores, dim=-1))
        y = weights @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y)
