"""Right NumPy implementations that go through the numbers in an unusual order; some were taken for bugs."""

import math

import numpy as np

from .arrays import softmax
from .case import Register

CASES = Register()


@CASES.right("Dao-AILab/flash-attention/issues/192", takes=("padding", "pairs", "causal"))
def gathered_keys(queries, keys, values, mask=None):
    """Padding is taken out: keys are gathered by the mask, and attention runs over what is left."""
    mask = np.ones(1, bool) if mask is None else mask
    mask = np.broadcast_to(mask, (*queries.shape[:-1], keys.shape[-2]))
    out = np.zeros(queries.shape[:-1] + values.shape[-1:], queries.dtype)
    for place in np.ndindex(*queries.shape[:-1]):
        (seen,) = np.nonzero(mask[place])
        k, v = keys[place[:-1]][seen], values[place[:-1]][seen]
        if len(seen) == 0:
            continue
        out[place] = softmax(k @ queries[place] / math.sqrt(len(queries[place]))) @ v
    return out


@CASES.right("jadore801120/attention-is-all-you-need-pytorch/issues/80", reported=True)
def heads_folded_before_samples(x, w_qs, w_ks, w_vs, fc, n_head, mask=None):
    """Heads are folded before the samples; a reader doubts that this is multi-head attention, and it is."""
    sz_b, len_q, d_model = x.shape
    q, k, v = ((x @ w).reshape(sz_b, len_q, n_head, -1).transpose(2, 0, 1, 3).reshape(-1, len_q, d_model // n_head)
               for w in (w_qs, w_ks, w_vs))  # fmt: skip
    attn = np.matmul(q, k.transpose(0, 2, 1)) / np.power(d_model // n_head, 0.5)
    if mask is not None:
        hidden = ~np.broadcast_to(mask, (sz_b, n_head, len_q, len_q)).swapaxes(0, 1).reshape(-1, len_q, len_q)
        attn[hidden] = -np.inf
    output = np.matmul(softmax(attn, axis=2), v).reshape(n_head, sz_b, len_q, -1)
    return output.transpose(1, 2, 0, 3).reshape(sz_b, len_q, -1) @ fc


@CASES.right("karpathy/llm.c/pull/531", reported=True)
def keys_times_queries(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Keys times queries instead of queries times keys; the library counts columns first, so there was no bug."""
    b, n, d = X.shape
    q, k, v = ((X @ W).reshape(b, n, n_heads, -1).transpose(0, 2, 3, 1) for W in (W_Q, W_K, W_V))  # tokens last
    scores = k.swapaxes(-1, -2) @ q / math.sqrt(d // n_heads)  # (batch, heads, keys, queries)
    if mask is not None:
        scores = np.where(np.swapaxes(np.broadcast_to(mask, (b, n_heads, n, n)), -1, -2), scores, -np.inf)
    weights = softmax(scores, axis=-2)
    return (v @ weights).reshape(b, d, n).transpose(0, 2, 1) @ W_O


@CASES.right("PaddleJitLab/CUDATutorial/issues/69", takes=("is_causal",), reported=True)
def blocks_with_a_running_mean(X, W_Q, W_K, W_V, W_O, n_heads, is_causal=False, block=4):
    """The running sum is multiplied where a reader sees no reason for it; it follows the paper, block by block."""
    b, n, d = X.shape
    q, k, v = ((X @ W).reshape(b, n, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_Q, W_K, W_V))
    m, mass, mean = np.full((b, n_heads, n, 1), -np.inf), np.zeros((b, n_heads, n, 1)), np.zeros_like(q)
    for j in range(0, n, block):
        s = q @ k[:, :, j : j + block].swapaxes(-1, -2) / math.sqrt(d // n_heads)
        if is_causal:
            s = np.where(np.arange(n)[:, None] >= np.arange(j, min(j + block, n)), s, -np.inf)
        m_new = np.maximum(m, s.max(-1, keepdims=True))
        p, old = np.exp(s - m_new), mass * np.exp(m - m_new)
        mass = old + p.sum(-1, keepdims=True)
        mean, m = (old * mean + p @ v[:, :, j : j + block]) / mass, m_new
    return mean.transpose(0, 2, 1, 3).reshape(b, n, d) @ W_O


@CASES.right("facebookresearch/esm/issues/57", reported=True)
def heads_first_batch_third(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """Heads first, then columns, batch and rows; a reader asks for another softmax axis, but this is right."""
    batch, rows, dim = x.shape
    x = x.transpose(1, 0, 2)[:, None]  # rows, columns (one), batch, features
    q, k, v = ((x @ w).reshape(rows, 1, batch, num_heads, -1) for w in (w_q, w_k, w_v))
    attn_weights = np.einsum("icnhd,jcnhd->hcnij", q * (dim // num_heads) ** -0.5, k)
    if mask is not None:
        allowed = np.broadcast_to(mask, (batch, num_heads, rows, rows)).transpose(1, 0, 2, 3)[:, None]
        attn_weights = np.where(allowed, attn_weights, -1e20)
    context = np.einsum("hcnij,jcnhd->icnhd", softmax(attn_weights), v)
    return (context.reshape(rows, 1, batch, dim) @ w_o)[:, 0].transpose(1, 0, 2)


@CASES.right("probml/pml-book/issues/707", takes=("padding", "pairs"), reported=True)
def tokens_as_columns(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Tokens are columns: the matrices stand on the left, and each column of weights adds up to one."""
    outputs = []
    for b, sequence in enumerate(X):
        Z = sequence.T  # features by tokens
        hidden = None if mask is None else ~np.broadcast_to(mask, (len(X), n_heads, Z.shape[1], Z.shape[1]))[b]
        rows = []
        for h, (Wq, Wk, Wv) in enumerate(zip(*(np.split(W.T, n_heads) for W in (W_Q, W_K, W_V)), strict=True)):
            A = (Wk @ Z).T @ (Wq @ Z) / len(Wq) ** 0.5
            if hidden is not None:
                A[hidden[h].T] = -np.inf
            rows.append(Wv @ Z @ softmax(A, axis=0))
        outputs.append((W_O.T @ np.vstack(rows)).T)
    return np.stack(outputs)


@CASES.right("SamLynnEvans/Transformer/issues/4", reported=True)
def plain_loops(X, W_Q, W_K, W_V, W_O, n_heads, mask=None, is_causal=False):
    """One projection cut into heads is said not to be the paper's; loops over heads and queries show that it is."""
    batch, n, d = X.shape
    width = d // n_heads
    allowed = np.broadcast_to(True if mask is None else mask, (batch, n_heads, n, n))
    context = np.zeros((batch, n, d))
    for b in range(batch):
        for h in range(n_heads):
            own = slice(h * width, h * width + width)
            K, V = X[b] @ W_K[:, own], X[b] @ W_V[:, own]
            for i in range(n):
                seen = [j for j in range(n) if allowed[b, h, i, j] and not (is_causal and j > i)]
                scores = [float(X[b, i] @ W_Q[:, own] @ K[j]) / width**0.5 for j in seen]
                shares = [math.exp(s - max(scores)) for s in scores]
                for j, share in zip(seen, shares, strict=True):
                    context[b, i, own] += share / sum(shares) * V[j]
    return context @ W_O


@CASES.right("apple/axlearn/pull/842", takes=("padding", "pairs"))
def repeated_key_heads(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, mask=None):
    """Keys' heads are repeated next to themselves, as the first version did, for grouped queries."""
    b, n, d = x.shape
    q = (x @ w_q).reshape(b, n, n_kv_heads, n_heads // n_kv_heads, -1)
    k, v = ((x @ w).reshape(b, n, n_kv_heads, -1) for w in (w_k, w_v))
    scores = np.einsum("bikgd,bjkd->bkgij", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        full = np.broadcast_to(mask, (b, n_heads, n, n))
        scores = np.where(full.reshape(b, n_kv_heads, -1, n, n), scores, -np.inf)
    return np.einsum("bkgij,bjkd->bikgd", softmax(scores), v).reshape(b, n, d) @ w_o
