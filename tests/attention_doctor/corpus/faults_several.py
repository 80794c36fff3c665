"""Real implementations with two to four faults at once, as NumPy functions."""

import numpy as np

from .arrays import softmax
from .case import Input, Register, varied

CASES = Register()
PLAIN = Input()


@CASES.fault("ethen8181/machine-learning/issues/13", "scale-missing", "no-output-projection")
def unscaled_and_unprojected(X, W_Q, W_K, W_V, W_O, n_heads):
    """The product of queries and keys is not scaled, and what is returned is the context, not its linear projection."""
    batch_size, seq_len, d = X.shape
    Q, K, V = ((X @ W).reshape(batch_size, seq_len, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_Q, W_K, W_V))
    attn = softmax(np.einsum("bhqd,bhkd->bhqk", Q, K))
    output = np.einsum("bhqk,bhkd->bqhd", attn, V).reshape(batch_size, seq_len, d)
    _ = output @ W_O  # linear_proj, which nobody returns
    return output


@CASES.fault("flexflow/flexflow-train/issues/467", "scores-for-weights|softmax-missing", "scale-missing")
def neither_softmax_nor_scale(hidden, q_weights, k_weights, v_weights, o_weights, num_heads):
    """The softmax is commented out, and the scaling by the square root of kdim is not there either."""
    b, n, d = hidden.shape
    q, k, v = (
        (hidden @ w).reshape(b, n, num_heads, -1).transpose(0, 2, 1, 3) for w in (q_weights, k_weights, v_weights)
    )
    logits = np.matmul(q, k.transpose(0, 1, 3, 2))
    output = np.matmul(logits, v)
    return output.transpose(0, 2, 1, 3).reshape(b, n, d) @ o_weights


@CASES.fault("Kyubyong/transformer/pull/17", "projection-activated", "no-output-projection", "residual-added")
def activated_unprojected_and_added(queries, W_Q, W_K, W_V, W_O, num_heads):
    """The projections go through a ReLU, there is no last projection, and the queries are added."""
    Q, K, V = (np.maximum(queries @ W, 0) for W in (W_Q, W_K, W_V))
    Q_, K_, V_ = (np.concatenate(np.split(A, num_heads, axis=2), axis=0) for A in (Q, K, V))
    outputs = Q_ @ K_.transpose(0, 2, 1) / (K_.shape[-1] ** 0.5)
    outputs = softmax(outputs) @ V_
    outputs = np.concatenate(np.split(outputs, num_heads, axis=0), axis=2)
    return outputs + queries


@CASES.fault("juho-lee/set_transformer/issues/8", "scale-d-model", "queries-added", "no-output-projection")
def set_attention_block(Q, w_q, w_k, w_v, w_o, num_heads):
    """Against the paper, projected queries are added to each head, no W_O mixes them, and dim_V is the scale."""
    Q, K, V = Q @ w_q, Q @ w_k, Q @ w_v
    dim_V = V.shape[2]
    Q_, K_, V_ = (np.concatenate(np.split(A, num_heads, 2), 0) for A in (Q, K, V))
    A = softmax(np.matmul(Q_, K_.transpose(0, 2, 1)) / np.sqrt(dim_V), 2)
    return np.concatenate(np.split(Q_ + A @ V_, num_heads, 0), 2)


@CASES.fault(
    "649453932/Chinese-Text-Classification-Pytorch/issues/53",
    "both-without-transpose",
    "residual-added",
    "mask-ignored",
    shows=varied(PLAIN, mask="padding"),
)
def views_without_mask_and_with_residual(x, fc_Q, fc_K, fc_V, fc, num_head, mask=None):
    """Views in place of transposes on the way in and out, the mask commented out, and the input added at the end."""
    batch_size = x.shape[0]
    dim_head = x.shape[-1] // num_head
    Q, K, V = ((x @ w).reshape(batch_size * num_head, -1, dim_head) for w in (fc_Q, fc_K, fc_V))
    scale = K.shape[-1] ** -0.5
    attention = softmax(np.matmul(Q, K.transpose(0, 2, 1)) * scale)
    context = np.matmul(attention, V).reshape(batch_size, -1, dim_head * num_head)
    return context @ fc + x


@CASES.fault(
    "lsdefine/attention-is-all-you-need-keras/issues/16",
    "scale-d-model",
    "padding-on-queries|mask-transposed",
    shows=varied(PLAIN, mask="padding"),
    hides=varied(PLAIN, n_heads=1, d_head=8),
)
def mask_along_the_queries(q, w_q, w_k, w_v, w_o, n_head, mask=None):
    """The scale is that of the whole model, and the mask is laid along the queries, not along the keys."""
    b, n, d_model = q.shape
    temper = np.sqrt(d_model)
    qs, ks, vs = ((q @ w).reshape(b, n, n_head, -1).transpose(0, 2, 1, 3) for w in (w_q, w_k, w_v))
    attn = np.einsum("bhqd,bhkd->bhqk", qs, ks) / temper
    if mask is not None:
        mmask = (-1e10) * (1 - np.swapaxes(mask, -1, -2))  # one number for each row of scores
        attn = attn + mmask
    return (softmax(attn) @ vs).transpose(0, 2, 1, 3).reshape(b, n, d_model) @ w_o


@CASES.fault(
    "aladdinpersson/Machine-Learning-Collection/issues/3",
    "split-input|block-diagonal",
    "scale-d-model",
    shows=varied(PLAIN, mask="causal"),
    hides=varied(PLAIN, n_heads=1, d_head=6),
)
def slices_scaled_by_the_embedding(x, w_queries, w_keys, w_values, fc_out, heads, mask=None):
    """Each head projects its own slice of the input, and the scale is that of the whole embedding."""
    N, length, embed_size = x.shape
    head_dim = embed_size // heads
    cut = x.reshape(N, length, heads, head_dim)
    blocks = [np.stack([w[i : i + head_dim, i : i + head_dim] for i in range(0, embed_size, head_dim)])
              for w in (w_queries, w_keys, w_values)]  # fmt: skip
    queries, keys, values = (np.einsum("nlhd,hde->nlhe", cut, w) for w in blocks)
    energy = np.einsum("nqhd,nkhd->nhqk", queries, keys)
    if mask is not None:
        energy = np.where(mask, energy, -1e20)
    attention = softmax(energy / (embed_size ** (1 / 2)), axis=3)
    return np.einsum("nhql,nlhd->nqhd", attention, values).reshape(N, length, embed_size) @ fc_out


@CASES.fault("DeepGraphLearning/RecommenderSystems/issues/21")
def activated_four_times(queries, W_Q, W_K, W_V, W_res, num_heads):
    """A ReLU after each projection, which the paper does not have, a projected residual, no W_O, and a ReLU at the
    end.
    """
    Q, K, V, V_res = (np.maximum(queries @ W, 0) for W in (W_Q, W_K, W_V, W_res))
    Q_, K_, V_ = (np.concatenate(np.split(A, num_heads, axis=2), axis=0) for A in (Q, K, V))
    weights = softmax(Q_ @ K_.transpose(0, 2, 1) / (K_.shape[-1] ** 0.5))
    outputs = np.concatenate(np.split(weights @ V_, num_heads, axis=0), axis=2)
    return np.maximum(outputs + V_res, 0)
