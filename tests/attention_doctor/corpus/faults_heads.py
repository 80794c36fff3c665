"""Real faults in how heads are split, folded, merged and projected, as NumPy functions."""

import numpy as np

from .arrays import softmax
from .case import Input, Register, varied

CASES = Register()
PLAIN = Input()
ONE_HEAD = varied(PLAIN, n_heads=1, d_head=6)
ALONE = varied(PLAIN, batch=1)


def _attend(q, k, v, mask=None):
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    return softmax(scores if mask is None else np.where(mask, scores, -1e30)) @ v


@CASES.fault("reczoo/FuxiCTR/issues/30", "both-without-transpose", hides=ONE_HEAD)
def viewed_there_and_back(X, W_q, W_k, W_v, W_o, num_heads):
    """Queries, keys and values are viewed as (batch times heads, tokens, d_head), without the transpose."""
    batch_size, seq_len, dim = X.shape
    attention_dim = dim // num_heads
    query, key, value = ((X @ W).reshape(batch_size * num_heads, -1, attention_dim) for W in (W_q, W_k, W_v))
    output = _attend(query, key, value)
    return output.reshape(batch_size, seq_len, dim) @ W_o


@CASES.fault(
    "jsbaan/transformer-from-scratch/pull/6",
    "combine-without-transpose",
    shows=varied(PLAIN, is_causal=True),
    hides=ONE_HEAD,
)
def merged_without_the_permute(x, w_q, w_k, w_v, w_o, num_heads, mask=None, causal=False):
    """The context is reshaped without being permuted first: features of different tokens end up in one token."""
    batch_size, sequence_length, hidden_dim = x.shape
    qkv_dim = hidden_dim // num_heads
    q, k, v = (
        np.stack([x @ w_q, x @ w_k, x @ w_v])
        .reshape(3, batch_size, sequence_length, num_heads, qkv_dim)
        .transpose(0, 1, 3, 2, 4)
    )
    if causal:
        triangle = np.tril(np.ones((sequence_length, sequence_length), bool))
        mask = triangle if mask is None else mask & triangle
    values = _attend(q, k, v, mask)
    return values.reshape(batch_size, sequence_length, hidden_dim) @ w_o


@CASES.fault(
    "hackiey/QAnet-pytorch/issues/2",
    "combine-heads-before-batch|combine-heads-first|combine-without-transpose|heads-before-batch",
    hides=ONE_HEAD,
)
def heads_in_a_list_viewed_as_tokens(x, w_q, w_k, w_v, w_o, n_heads):
    """Heads are collected in (heads, batch, tokens, width), which is viewed as (batch, tokens, everything)."""
    batch_size, length, d = x.shape
    width = d // n_heads
    heads = np.zeros((n_heads, batch_size, length, width), x.dtype)
    for i in range(n_heads):
        columns = slice(i * width, (i + 1) * width)
        heads[i] = _attend(x @ w_q[:, columns], x @ w_k[:, columns], x @ w_v[:, columns])
    return heads.reshape(batch_size, length, -1) @ w_o


@CASES.fault("gazelle93/Transformer-Various-Positional-Encoding/issues/1", "folded-order", hides=ALONE)
def unfolded_in_the_other_order(q_in, W_Q, W_K, W_V, W_O, num_heads):
    """Folded as (batch, heads) and unfolded as (heads, batch): with several samples each gets parts of the others."""
    batch, t, dim = q_in.shape

    def fold(a):
        return a.reshape(batch, t, num_heads, -1).transpose(0, 2, 1, 3).reshape(batch * num_heads, t, -1)

    output = _attend(fold(q_in @ W_Q), fold(q_in @ W_K), fold(q_in @ W_V))
    output = output.reshape(num_heads, batch, t, -1)
    return np.moveaxis(output, 0, 2).reshape(batch, t, dim) @ W_O


@CASES.fault(
    "jadore801120/attention-is-all-you-need-pytorch/issues/7",
    "combine-without-transpose|combine-heads-before-batch|combine-heads-first",
    hides=ONE_HEAD,
)
def head_major_fold_viewed_back(q, w_qs, w_ks, w_vs, w_o, n_head, mask=None):
    """An array of (heads times batch, tokens, width) is viewed as (batch, tokens, everything)."""
    mb_size, len_q, d_model = q.shape
    d_k = d_model // n_head
    projected = []
    for w in (w_qs, w_ks, w_vs):
        per_head = w.reshape(d_model, n_head, d_k).transpose(1, 0, 2)  # n_head x d_model x d_k
        repeated = np.broadcast_to(q.reshape(-1, d_model), (n_head, mb_size * len_q, d_model))
        projected.append((repeated @ per_head).reshape(n_head * mb_size, len_q, d_k))
    if mask is not None:
        full = np.broadcast_to(mask, (mb_size, n_head, len_q, len_q))
        mask = np.moveaxis(full, 1, 0).reshape(-1, len_q, len_q)
    outputs = _attend(*projected, mask)
    return outputs.reshape(mb_size, len_q, -1) @ w_o


@CASES.fault("ajhalthor/Transformer-Neural-Network/issues/8", "combine-without-transpose", hides=ONE_HEAD)
def reshape_before_permute(x, wq, wk, wv, wo, num_heads, mask=None):
    """Each head cuts its q, k and v from a fused projection; the values are reshaped without a permute."""
    b, s, d = x.shape
    hd = d // num_heads
    fused = np.concatenate([w.reshape(d, num_heads, hd) for w in (wq, wk, wv)], axis=-1).reshape(d, 3 * d)
    qkv = (x @ fused).reshape(b, s, num_heads, 3 * hd).transpose(0, 2, 1, 3)
    q, k, v = np.split(qkv, 3, axis=-1)
    return _attend(q, k, v, mask).reshape(b, s, num_heads * hd) @ wo


@CASES.fault("Kyubyong/transformer/issues/117", "no-output-projection", shows=varied(PLAIN, mask="padding"))
def concatenated_and_returned(queries, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    """The heads are concatenated and returned; the linear layer of the paper's figure is missing."""
    Q, K, V = queries @ W_Q, queries @ W_K, queries @ W_V
    N, T, _ = Q.shape
    Q_, K_, V_ = (np.concatenate(np.split(A, num_heads, axis=2), axis=0) for A in (Q, K, V))
    if mask is not None:
        mask = np.concatenate(list(np.broadcast_to(mask, (N, num_heads, T, T)).swapaxes(0, 1)))
    outputs = _attend(Q_, K_, V_, mask)
    return np.concatenate(np.split(outputs, num_heads, axis=0), axis=2)


@CASES.fault("pbloem/former/issues/13", "split-input|block-diagonal", hides=ONE_HEAD)
def narrow_attention(x, Wq, Wk, Wv, Wo, h):
    """The input is cut into heads first and each slice projected by itself, so no head sees the other features."""
    s = x.shape[-1] // h
    out = np.empty_like(x)
    for i in range(h):
        part = slice(i * s, (i + 1) * s)
        xi = x[:, :, part]
        q, k, v = (xi @ W[part, part] for W in (Wq, Wk, Wv))
        out[:, :, part] = _attend(q, k, v)
    return out @ Wo


@CASES.fault(
    "MarcoMeter/episodic-transformer-memory-ppo/pull/22",
    "split-input",
    "shared-head|same-block|heads-share-a-projection",
    hides=ONE_HEAD,
)
def one_small_projection_for_all_heads(x, w_queries, w_keys, w_values, w_out, num_heads):
    """The input is split, and one small projection serves all of the heads."""
    n, length, embed_dim = x.shape
    head_size = embed_dim // num_heads
    pieces = x.reshape(n, length, num_heads, head_size)
    values, keys, queries = (pieces @ w[:head_size, :head_size] for w in (w_values, w_keys, w_queries))
    energy = np.einsum("nqhd,nkhd->nhqk", queries, keys) / head_size**0.5
    out = np.einsum("nhql,nlhd->nqhd", softmax(energy), values)
    return out.reshape(n, length, embed_dim) @ w_out


@CASES.fault(
    "yflyzhang/AnnotatedTransformer/issues/1",
    "values-are-keys|same-matrix|matrices-swapped",
    shows=varied(PLAIN, mask="causal"),
)
def values_through_the_keys_projection(x, W_q, W_k, W_v, W_o, h, mask=None):
    """A typing mistake: the values go through the keys' projection."""
    nbatches, _, d_model = x.shape
    d_k = d_model // h

    def project(W):
        return (x @ W).reshape(nbatches, -1, h, d_k).transpose(0, 2, 1, 3)

    query, key, value = project(W_q), project(W_k), project(W_k)
    x = _attend(query, key, value, mask)
    return x.transpose(0, 2, 1, 3).reshape(nbatches, -1, d_model) @ W_o


@CASES.fault("fchollet/deep-learning-with-python-notebooks/issues/261", "values-are-keys")
def weights_applied_to_the_keys(query, key, value, mask=None):
    """In the book's sketch the weights are applied to the keys."""
    scores = np.einsum("...td,...sd->...ts", query, key)
    if mask is not None:
        scores = scores + np.where(mask, 0.0, -1e30)
    scores = softmax(scores / np.sqrt(query.shape[-1]))
    return np.einsum("...ts,...sd->...td", scores, key)


@CASES.fault("rasbt/LLMs-from-scratch/issues/857", "projection-transposed")
def einsum_with_transposed_matrices(x, W_query, W_key, W_value, W_out, num_heads, mask=None):
    """The einsum multiplies by the transposed matrices; with equal widths nothing stops it."""
    b, n, d = x.shape
    Q = np.einsum("bnd,id->bni", x, W_query).reshape(b, n, num_heads, -1)
    K = np.einsum("bnd,id->bni", x, W_key).reshape(b, n, num_heads, -1)
    V = np.einsum("bnd,id->bni", x, W_value).reshape(b, n, num_heads, -1)
    scores = np.einsum("bqhc,bkhc->bhqk", Q, K) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    context = np.einsum("bhqk,bkhc->bqhc", softmax(scores), V)
    return context.reshape(b, n, d) @ W_out


@CASES.fault("IBM/TabFormer/pull/14", "attention-over-batch", hides=varied(PLAIN, batch=1, tokens=1))
def attends_along_the_batch(x, W_Q, W_K, W_V, W_O, n_heads):
    """The layer takes the first axis for the sequence, and is given the batch there: samples attend to each other."""
    length, bsz, dim = x.shape  # which is how the layer reads it
    q, k, v = ((x @ W).reshape(length, bsz * n_heads, -1).swapaxes(0, 1) for W in (W_Q, W_K, W_V))
    return _attend(q, k, v).swapaxes(0, 1).reshape(length, bsz, dim) @ W_O


@CASES.fault("rish-16/tokenlearner-pytorch/issues/1", "split-heads-over-batch", "combine-batch-lost", hides=ALONE)
def sequence_first_by_a_view(y, W_Q, W_K, W_V, W_O, n_heads):
    """Batch and tokens are exchanged by a view, before attention and after it, where a transpose was meant."""
    batch, tokens, dim = y.shape
    y = y.reshape(tokens, batch, dim)
    q, k, v = ((y @ W).reshape(tokens, batch, n_heads, -1).transpose(1, 2, 0, 3) for W in (W_Q, W_K, W_V))
    y = _attend(q, k, v).transpose(2, 0, 1, 3).reshape(tokens, batch, dim) @ W_O
    return y.reshape(batch, tokens, dim)


@CASES.fault(
    "onnx/onnx/pull/7274",
    "kv-heads-tiled",
    shows=varied(PLAIN, n_heads=4, d_head=2, n_kv_heads=2),
    hides=varied(PLAIN, n_heads=4, d_head=2, n_kv_heads=4),
)
def tiled_key_heads(X, W_Q, W_K, W_V, W_O, n_heads, n_kv_heads):
    """Keys' heads are tiled (0, 1, 0, 1) where each should be repeated next to itself (0, 0, 1, 1)."""
    b, n, d = X.shape
    q = (X @ W_Q).reshape(b, n, n_heads, -1).transpose(0, 2, 1, 3)
    k, v = ((X @ W).reshape(b, n, n_kv_heads, -1).transpose(0, 2, 1, 3) for W in (W_K, W_V))
    repeats = (1, n_heads // n_kv_heads, 1, 1)
    return _attend(q, np.tile(k, repeats), np.tile(v, repeats)).transpose(0, 2, 1, 3).reshape(b, n, d) @ W_O


@CASES.fault("Open-Deep-ML/DML-OpenProblem/issues/424", "weights-transposed")
def weights_transposed_before_the_values(Q, K, V):
    """A test of the exercise expects the weights to be transposed before they meet the values."""
    attention_scores = np.matmul(Q, np.swapaxes(K, -1, -2)) / np.sqrt(Q.shape[-1])
    attention_weights = softmax(attention_scores)
    return np.matmul(np.swapaxes(attention_weights, -1, -2), V)


@CASES.fault("CyberZHG/keras-multi-head/issues/8", "projection-activated")
def activated_everywhere(inputs, wq, wk, wv, wo, head_num):
    """The layer's activation is ReLU unless one says otherwise: projections that the paper calls linear are not."""

    def activation(x):
        return np.maximum(x, 0)

    b, n, d = inputs.shape
    q, k, v = (activation(inputs @ w).reshape(b, n, head_num, -1).transpose(0, 2, 1, 3).reshape(b * head_num, n, -1)
               for w in (wq, wk, wv))  # fmt: skip
    y = _attend(q, k, v).reshape(b, head_num, n, -1).transpose(0, 2, 1, 3).reshape(b, n, d)
    return activation(y @ wo)
