"""Right implementations in unusual styles, as NumPy functions; some of them were publicly reported as bugs."""

import math

import numpy as np

from .arrays import softmax
from .case import Register

CASES = Register()


@CASES.right(
    "https://github.com/openai/guided-diffusion/issues/38",
    "Two square roots look like a slip; the scale is applied to queries and to keys, so they make one.",
    takes=(),
    reported=True,
)
def fourth_root_on_both_sides(qkv_in, W_Q, W_K, W_V, W_O, num_heads):
    bs, length, width = qkv_in.shape
    ch = width // num_heads
    q, k, v = ((qkv_in @ W).transpose(0, 2, 1).reshape(bs * num_heads, ch, length) for W in (W_Q, W_K, W_V))
    scale = 1 / math.sqrt(math.sqrt(ch))
    weight = softmax(np.einsum("bct,bcs->bts", q * scale, k * scale))
    a = np.einsum("bts,bcs->bct", weight, v)
    return a.reshape(bs, -1, length).transpose(0, 2, 1) @ W_O


@CASES.right(
    "https://github.com/fundamentalvision/Deformable-DETR/issues/15",
    "Heads are summed, each through its own part of the output projection; the author: the same as concatenating them.",
    reported=True,
)
def heads_that_are_summed(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    batch, n, d = X.shape
    d_head = d // n_heads
    mask = None if mask is None else np.broadcast_to(mask, (batch, n_heads, n, n))
    output = np.zeros_like(X)
    for m in range(n_heads):
        part = slice(m * d_head, (m + 1) * d_head)
        scores = (X @ W_Q[:, part]) @ (X @ W_K[:, part]).swapaxes(1, 2) / math.sqrt(d_head)
        if mask is not None:
            scores = np.where(mask[:, m], scores, -np.inf)
        output += softmax(scores) @ (X @ W_V[:, part] @ W_O[part])
    return output


@CASES.right(
    "https://github.com/bytedance/lightseq/issues/91",
    "A reader finds no division after the product; the queries are scaled before it.",
    reported=True,
)
def queries_scaled_beforehand(x, wq, wk, wv, wo, n_head, attention_mask=None):
    b, n, d = x.shape
    q = (x @ (wq * (d // n_head) ** -0.5)).reshape(b, n, n_head, -1).transpose(0, 2, 1, 3)
    k, v = ((x @ w).reshape(b, n, n_head, -1).transpose(0, 2, 1, 3) for w in (wk, wv))
    scores = q @ k.transpose(0, 1, 3, 2)
    if attention_mask is not None:
        scores += np.where(attention_mask, 0, np.finfo(scores.dtype).min)
    return (softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(b, n, d) @ wo


@CASES.right(
    "https://github.com/abisee/pointer-generator/issues/88",
    "The mask comes after the softmax, the rows are normalised again; the reporter saw that it is right.",
    reported=True,
)
def masked_and_renormalised(queries, keys, values, mask=None):
    attn_dist = softmax(np.einsum("...qd,...kd->...qk", queries, keys) / math.sqrt(queries.shape[-1]))
    if mask is not None:
        attn_dist = attn_dist * mask
        masked_sums = attn_dist.sum(axis=-1, keepdims=True)
        attn_dist = attn_dist / masked_sums
    return attn_dist @ values, attn_dist


@CASES.right(
    "https://github.com/flagos-ai/FlagGems/pull/236",
    "A reviewer asks why the scores are multiplied by 1.44269504: it is log2(e), for the powers of two that follow.",
    reported=True,
)
def powers_of_two(q, k, v, attn_mask=None):
    qk = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
    if attn_mask is not None:
        qk = np.where(attn_mask, qk, -1.0e30)
    qk = qk * 1.4426950408889634
    p = np.exp2(qk - qk.max(axis=-1, keepdims=True))
    return (p @ v) / p.sum(axis=-1, keepdims=True)


@CASES.right(
    "https://transformer-circuits.pub/2021/framework/index.html",
    "W_Q and W_K appear only as their product, and so do W_V and W_O; the article works with these merged matrices.",
)
def merged_matrices(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    d = X.shape[-1]
    d_head = d // n_heads
    QK = np.einsum("ahd,bhd->hab", W_Q.reshape(d, n_heads, d_head), W_K.reshape(d, n_heads, d_head))
    OV = np.einsum("ahd,hdb->hab", W_V.reshape(d, n_heads, d_head), W_O.reshape(n_heads, d_head, d))
    scores = np.einsum("bqx,hxy,bky->bhqk", X, QK, X, optimize=True) / d_head**0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    return np.einsum("bhqk,bkx,hxy->bqy", softmax(scores), X, OV, optimize=True)


@CASES.right(
    "https://github.com/Dao-AILab/flash-attention/issues/192",
    "Padding is taken out: keys are gathered by the mask, and attention runs over what is left.",
    takes=("padding", "pairs", "causal"),
)
def gathered_keys(queries, keys, values, mask=None):
    mask = np.ones(1, bool) if mask is None else mask
    mask = np.broadcast_to(mask, (*queries.shape[:-1], keys.shape[-2]))
    out = np.zeros(queries.shape[:-1] + values.shape[-1:], queries.dtype)
    for place in np.ndindex(*queries.shape[:-1]):
        (seen,) = np.nonzero(mask[place])
        k, v = keys[place[:-1]][seen], values[place[:-1]][seen]
        out[place] = softmax(k @ queries[place] / math.sqrt(len(queries[place]))) @ v
    return out


@CASES.right(
    "https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/80",
    "Heads are folded before the samples; a reader doubts that this is multi-head attention, and it is.",
    reported=True,
)
def heads_folded_before_samples(x, w_qs, w_ks, w_vs, fc, n_head, mask=None):
    sz_b, len_q, d_model = x.shape
    q, k, v = ((x @ w).reshape(sz_b, len_q, n_head, -1).transpose(2, 0, 1, 3).reshape(-1, len_q, d_model // n_head)
               for w in (w_qs, w_ks, w_vs))  # fmt: skip
    attn = np.matmul(q, k.transpose(0, 2, 1)) / np.power(d_model // n_head, 0.5)
    if mask is not None:
        hidden = ~np.broadcast_to(mask, (sz_b, n_head, len_q, len_q)).swapaxes(0, 1).reshape(-1, len_q, len_q)
        attn[hidden] = -np.inf
    output = np.matmul(softmax(attn, axis=2), v).reshape(n_head, sz_b, len_q, -1)
    return output.transpose(1, 2, 0, 3).reshape(sz_b, len_q, -1) @ fc


@CASES.right(
    "https://github.com/karpathy/llm.c/pull/531",
    "Keys times queries instead of queries times keys; the library counts columns first, so there was no bug.",
    reported=True,
)
def keys_times_queries(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    b, n, d = X.shape
    q, k, v = ((X @ W).reshape(b, n, n_heads, -1).transpose(0, 2, 3, 1) for W in (W_Q, W_K, W_V))  # tokens last
    scores = k.swapaxes(-1, -2) @ q / math.sqrt(d // n_heads)  # (batch, heads, keys, queries)
    if mask is not None:
        scores = np.where(np.swapaxes(np.broadcast_to(mask, (b, n_heads, n, n)), -1, -2), scores, -np.inf)
    weights = softmax(scores, axis=-2)
    return (v @ weights).reshape(b, d, n).transpose(0, 2, 1) @ W_O


@CASES.right(
    "https://github.com/fzh0917/SparseTT/issues/6",
    "A reader fears that subtracting the maximum before the softmax makes the weights too small; it changes nothing.",
    reported=True,
)
def maximum_subtracted_twice(q, k, v, mask=None):
    scores = np.einsum("...id,...jd->...ij", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    return softmax(scores - scores.max(-1, keepdims=True)) @ v


@CASES.right(
    "https://github.com/raoyongming/DynamicViT/issues/22",
    "The softmax is written out, so that a policy of ones and zeros can multiply the exponentials.",
    reported=True,
)
def policy_times_exponentials(q, k, v, policy=None, mask=None):
    attn = q @ k.swapaxes(-2, -1) * q.shape[-1] ** -0.5
    policy = np.ones(1) if mask is None else np.asarray(mask, float)
    attn = np.exp(attn - attn.max(axis=-1, keepdims=True)) * policy
    return attn / attn.sum(axis=-1, keepdims=True) @ v


@CASES.right(
    "https://github.com/open-mmlab/mmdetection/issues/11803",
    "The mask adds 1 to every score that may be attended to; several readers are puzzled, the softmax is not.",
    reported=True,
)
def one_added_to_every_score(x, w_q, w_k, w_v, w_o, num_heads, attention_mask=None):
    bsz, n, d = x.shape
    q, k, v = ((x @ w).reshape(bsz, n, num_heads, -1).transpose(0, 2, 1, 3) for w in (w_q, w_k, w_v))
    attn_weights = q * (d // num_heads) ** -0.5 @ k.swapaxes(2, 3)
    if attention_mask is not None:
        attention_mask = attention_mask.astype(float)
        attention_mask[attention_mask == 0] = -9e15
        attn_weights = attn_weights + attention_mask
    return (softmax(attn_weights) @ v).transpose(0, 2, 1, 3).reshape(bsz, n, d) @ w_o


@CASES.right(
    "https://github.com/flashinfer-ai/flashinfer/pull/348",
    "A contributor reads the condition (key > keys + query - queries) as off by one; it isn't.",
    takes=("is_causal", "pairs"),
    reported=True,
)
def causal_counted_from_the_end(q, k, v, mask=None, is_causal=False):
    qo_len, kv_len = q.shape[-2], k.shape[-2]
    att = np.einsum("...qd,...kd->...qk", q, k) / math.sqrt(q.shape[-1])
    q_idx, kv_idx = np.arange(qo_len)[:, None], np.arange(kv_len)[None]
    if is_causal:
        att = np.where(kv_idx > kv_len + q_idx - qo_len, -np.inf, att)
    if mask is not None:
        att = np.where(mask, att, -np.inf)
    return softmax(att) @ v


@CASES.right(
    "https://github.com/PaddleJitLab/CUDATutorial/issues/69",
    "The running sum is multiplied where a reader sees no reason for it; it follows the paper, block by block.",
    takes=("is_causal",),
    reported=True,
)
def blocks_with_a_running_mean(X, W_Q, W_K, W_V, W_O, n_heads, is_causal=False, block=4):
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


@CASES.right(
    "https://github.com/facebookresearch/esm/issues/57",
    "Heads first, then columns, batch and rows; a reader asks for another softmax axis, but this is right.",
    reported=True,
)
def heads_first_batch_third(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    batch, rows, dim = x.shape
    x = x.transpose(1, 0, 2)[:, None]  # rows, columns (one), batch, features
    q, k, v = ((x @ w).reshape(rows, 1, batch, num_heads, -1) for w in (w_q, w_k, w_v))
    attn_weights = np.einsum("icnhd,jcnhd->hcnij", q * (dim // num_heads) ** -0.5, k)
    if mask is not None:
        allowed = np.broadcast_to(mask, (batch, num_heads, rows, rows)).transpose(1, 0, 2, 3)[:, None]
        attn_weights = np.where(allowed, attn_weights, -10000)
    context = np.einsum("hcnij,jcnhd->icnhd", softmax(attn_weights), v)
    return (context.reshape(rows, 1, batch, dim) @ w_o)[:, 0].transpose(1, 0, 2)


@CASES.right(
    "https://github.com/lucidrains/perceiver-pytorch/issues/46",
    "A reader expects the softmax over the whole matrix of a head; over its last axis is right.",
    reported=True,
)
def rows_and_not_the_matrix(x, to_q, to_k, to_v, to_out, heads, mask=None):
    b, n, width = x.shape
    q, k, v = (
        (x @ w).reshape(b, n, heads, -1).transpose(0, 2, 1, 3).reshape(b * heads, n, -1) for w in (to_q, to_k, to_v)
    )
    sim = np.einsum("bid,bjd->bij", q, k) * (width // heads) ** -0.5
    if mask is not None:
        mask = np.broadcast_to(mask, (b, heads, n, n)).reshape(b * heads, n, n)
        sim = np.where(mask, sim, -np.finfo(sim.dtype).max)
    out = np.einsum("bij,bjd->bid", softmax(sim), v)
    return out.reshape(b, heads, n, -1).transpose(0, 2, 1, 3).reshape(b, n, width) @ to_out


@CASES.right(
    "https://github.com/rasbt/LLMs-from-scratch/issues/279",
    "The lower triangle of the finished weights is divided by its row sums; a reader proposes `tril` for it.",
    takes=("is_causal",),
)
def triangle_of_the_weights(queries, keys, values, is_causal=False):
    attn_weights = softmax(queries @ np.swapaxes(keys, -1, -2) / keys.shape[-1] ** 0.5)
    if is_causal:
        masked_simple = np.tril(attn_weights)
        attn_weights = masked_simple / masked_simple.sum(axis=-1, keepdims=True)
    return attn_weights @ values


@CASES.right(
    "https://github.com/probml/pml-book/issues/707",
    "Tokens are columns: the matrices stand on the left, and each column of weights adds up to one.",
    takes=("padding", "pairs"),
    reported=True,
)
def tokens_as_columns(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
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


@CASES.right(
    "https://github.com/SamLynnEvans/Transformer/issues/4",
    "One projection cut into heads is said not to be the paper's; loops over heads and queries show that it is.",
    reported=True,
)
def plain_loops(X, W_Q, W_K, W_V, W_O, n_heads, mask=None, is_causal=False):
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


@CASES.right(
    "https://github.com/apple/axlearn/pull/842",
    "Keys' heads are repeated next to themselves, as the first version did, for grouped queries.",
    takes=("padding", "pairs"),
)
def repeated_key_heads(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, mask=None):
    b, n, d = x.shape
    q = (x @ w_q).reshape(b, n, n_kv_heads, n_heads // n_kv_heads, -1)
    k, v = ((x @ w).reshape(b, n, n_kv_heads, -1) for w in (w_k, w_v))
    scores = np.einsum("bikgd,bjkd->bkgij", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        full = np.broadcast_to(mask, (b, n_heads, n, n))
        scores = np.where(full.reshape(b, n_kv_heads, -1, n, n), scores, -np.inf)
    return np.einsum("bkgij,bjkd->bikgd", softmax(scores), v).reshape(b, n, d) @ w_o
