"""Right implementations in unusual styles, as NumPy functions; some were publicly taken for bugs."""

import math

import numpy as np

from .arrays import softmax
from .case import Register

CASES = Register()


@CASES.right("openai/guided-diffusion/issues/38", takes=(), reported=True)
def fourth_root_on_both_sides(qkv_in, W_Q, W_K, W_V, W_O, num_heads):
    """Two square roots look like a slip; the scale is applied to queries and to keys, so they make one."""
    bs, length, width = qkv_in.shape
    ch = width // num_heads
    q, k, v = ((qkv_in @ W).transpose(0, 2, 1).reshape(bs * num_heads, ch, length) for W in (W_Q, W_K, W_V))
    scale = 1 / math.sqrt(math.sqrt(ch))
    weight = softmax(np.einsum("bct,bcs->bts", q * scale, k * scale))
    a = np.einsum("bts,bcs->bct", weight, v)
    return a.reshape(bs, -1, length).transpose(0, 2, 1) @ W_O


@CASES.right("fundamentalvision/Deformable-DETR/issues/15", reported=True)
def heads_that_are_summed(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Heads are summed, each through its own part of the output projection; the author: the same as concatenating
    them.
    """
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


@CASES.right("bytedance/lightseq/issues/91", reported=True)
def queries_scaled_beforehand(x, wq, wk, wv, wo, n_head, attention_mask=None):
    """A reader finds no division after the product; the queries are scaled before it."""
    b, n, d = x.shape
    q = (x @ (wq * (d // n_head) ** -0.5)).reshape(b, n, n_head, -1).transpose(0, 2, 1, 3)
    k, v = ((x @ w).reshape(b, n, n_head, -1).transpose(0, 2, 1, 3) for w in (wk, wv))
    scores = q @ k.transpose(0, 1, 3, 2)
    if attention_mask is not None:
        scores += np.where(attention_mask, 0, np.finfo(scores.dtype).min)
    return (softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(b, n, d) @ wo


@CASES.right("abisee/pointer-generator/issues/88", reported=True)
def masked_and_renormalised(queries, keys, values, mask=None):
    """The mask comes after the softmax, the rows are normalised again; the reporter saw that it is right."""
    attn_dist = softmax(np.einsum("...qd,...kd->...qk", queries, keys) / math.sqrt(queries.shape[-1]))
    if mask is not None:
        attn_dist = attn_dist * mask
        masked_sums = np.maximum(attn_dist.sum(axis=-1, keepdims=True), 1e-300)
        attn_dist = attn_dist / masked_sums
    return attn_dist @ values, attn_dist


@CASES.right("flagos-ai/FlagGems/pull/236", reported=True)
def powers_of_two(q, k, v, attn_mask=None):
    """A reviewer asks why the scores are multiplied by 1.44269504: it is log2(e), for the powers of two that follow."""
    qk = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
    if attn_mask is not None:
        qk = np.where(attn_mask, qk, -1.0e30)
    qk = qk * 1.4426950408889634
    p = np.exp2(qk - qk.max(axis=-1, keepdims=True))
    return (p @ v) / p.sum(axis=-1, keepdims=True)


@CASES.right("https://transformer-circuits.pub/2021/framework/index.html")
def merged_matrices(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """W_Q and W_K appear only as their product, and so do W_V and W_O; the article works with these merged matrices."""
    d = X.shape[-1]
    d_head = d // n_heads
    QK = np.einsum("ahd,bhd->hab", W_Q.reshape(d, n_heads, d_head), W_K.reshape(d, n_heads, d_head))
    OV = np.einsum("ahd,hdb->hab", W_V.reshape(d, n_heads, d_head), W_O.reshape(n_heads, d_head, d))
    scores = np.einsum("bqx,hxy,bky->bhqk", X, QK, X, optimize=True) / d_head**0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    return np.einsum("bhqk,bkx,hxy->bqy", softmax(scores), X, OV, optimize=True)


@CASES.right("fzh0917/SparseTT/issues/6", reported=True)
def maximum_subtracted_twice(q, k, v, mask=None):
    """A reader fears that subtracting the maximum before the softmax makes the weights too small; it changes
    nothing.
    """
    scores = np.einsum("...id,...jd->...ij", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    return softmax(scores - scores.max(-1, keepdims=True)) @ v


@CASES.right("raoyongming/DynamicViT/issues/22", reported=True)
def policy_times_exponentials(q, k, v, policy=None, mask=None):
    """The softmax is written out, so that a policy of ones and zeros can multiply the exponentials."""
    attn = q @ k.swapaxes(-2, -1) * q.shape[-1] ** -0.5
    policy = np.ones(1) if mask is None else np.asarray(mask, float)
    attn = np.exp(attn - attn.max(axis=-1, keepdims=True)) * policy
    return attn / (attn.sum(axis=-1, keepdims=True) + 1e-300) @ v


@CASES.right("open-mmlab/mmdetection/issues/11803", reported=True)
def one_added_to_every_score(x, w_q, w_k, w_v, w_o, num_heads, attention_mask=None):
    """The mask adds 1 to every score that may be attended to; several readers are puzzled, the softmax is not."""
    bsz, n, d = x.shape
    q, k, v = ((x @ w).reshape(bsz, n, num_heads, -1).transpose(0, 2, 1, 3) for w in (w_q, w_k, w_v))
    attn_weights = q * (d // num_heads) ** -0.5 @ k.swapaxes(2, 3)
    if attention_mask is not None:
        attention_mask = attention_mask.astype(float)
        attention_mask[attention_mask == 0] = -9e15
        attn_weights = attn_weights + attention_mask
    return (softmax(attn_weights) @ v).transpose(0, 2, 1, 3).reshape(bsz, n, d) @ w_o


@CASES.right("flashinfer-ai/flashinfer/pull/348", takes=("is_causal", "pairs"), reported=True)
def causal_counted_from_the_end(q, k, v, mask=None, is_causal=False):
    """A contributor reads the condition (key > keys + query - queries) as off by one; it isn't."""
    qo_len, kv_len = q.shape[-2], k.shape[-2]
    att = np.einsum("...qd,...kd->...qk", q, k) / math.sqrt(q.shape[-1])
    q_idx, kv_idx = np.arange(qo_len)[:, None], np.arange(kv_len)[None]
    if is_causal:
        att = np.where(kv_idx > kv_len + q_idx - qo_len, -np.inf, att)
    if mask is not None:
        att = np.where(mask, att, -np.inf)
    return softmax(att) @ v


@CASES.right("lucidrains/perceiver-pytorch/issues/46", reported=True)
def rows_and_not_the_matrix(x, to_q, to_k, to_v, to_out, heads, mask=None):
    """A reader expects the softmax over the whole matrix of a head; over its last axis is right."""
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


@CASES.right("rasbt/LLMs-from-scratch/issues/279", takes=("is_causal",))
def triangle_of_the_weights(queries, keys, values, is_causal=False):
    """The lower triangle of the finished weights is divided by its row sums; a reader proposes `tril` for it."""
    attn_weights = softmax(queries @ np.swapaxes(keys, -1, -2) / keys.shape[-1] ** 0.5)
    if is_causal:
        masked_simple = np.tril(attn_weights)
        attn_weights = masked_simple / masked_simple.sum(axis=-1, keepdims=True)
    return attn_weights @ values
