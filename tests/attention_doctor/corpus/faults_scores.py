"""Real faults in the scale and in the softmax, as NumPy functions."""

import numpy as np

from .arrays import softmax
from .case import Input, Register, varied

CASES = Register()
PLAIN = Input()
ONE_HEAD = varied(PLAIN, n_heads=1, d_head=6)
ALONE = varied(PLAIN, batch=1)


@CASES.fault("omihub777/ViT-CIFAR/pull/11", "scale-d-model", hides=ONE_HEAD)
def scaled_by_all_features(X, W_Q, W_K, W_V, W_O, n_heads):
    """The scores are divided by the square root of all features, not of one head's."""
    b, n, f = X.shape
    sqrt_d = f**0.5
    q, k, v = (np.moveaxis((X @ W).reshape(b, n, n_heads, f // n_heads), 1, 2) for W in (W_Q, W_K, W_V))
    score = softmax(np.einsum("bhif,bhjf->bhij", q, k) / sqrt_d)
    attn = np.einsum("bhij,bhjf->bihf", score, v)
    return attn.reshape(b, n, f) @ W_O


@CASES.fault("juho-lee/set_transformer/issues/18", "scale-d-model", shows=varied(PLAIN, mask="padding"), hides=ONE_HEAD)
def heads_stacked_on_the_batch(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """The scale is that of all values' features together; the reader reckons an extra factor of the number of heads."""
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    dim_V = V.shape[-1]
    Q_, K_, V_ = (np.concatenate(np.split(A, n_heads, axis=2), axis=0) for A in (Q, K, V))
    A = Q_ @ K_.swapaxes(1, 2) / np.sqrt(dim_V)
    if mask is not None:
        full = np.broadcast_to(mask, (len(X), n_heads, X.shape[1], X.shape[1]))
        A = np.where(np.concatenate(list(np.moveaxis(full, 1, 0))), A, -np.inf)
    H = softmax(A) @ V_
    return np.concatenate(np.split(H, n_heads, axis=0), axis=2) @ W_O


@CASES.fault("esceptico/perceiver-io/issues/9", "scale-multiplied")
def divided_by_the_inverse(inputs, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """`scale` holds d to the power of -1/2 already, and the scores are divided by it instead of multiplied."""

    def heads(x):
        return x.reshape(*x.shape[:-1], num_heads, -1).swapaxes(1, 2)

    q, k, v = heads(inputs @ w_q), heads(inputs @ w_k), heads(inputs @ w_v)
    scale = q.shape[-1] ** -0.5
    attention = q @ k.swapaxes(-2, -1) / scale
    if mask is not None:
        attention = np.where(mask, attention, np.finfo(attention.dtype).min)
    out = softmax(attention) @ v
    return out.swapaxes(1, 2).reshape(inputs.shape) @ w_o


@CASES.fault("delzac/cntkx/issues/10", "scale-missing")
def dot_product_only(query, key, value):
    """Scaled dot-product attention without the square root; the maintainer fixed it at once."""
    logits = np.matmul(query, np.swapaxes(key, -1, -2))
    return np.matmul(softmax(logits), value)


@CASES.fault(
    "FrancescoSaverioZuppichini/ViT/issues/2", "scale-after-softmax", shows=varied(PLAIN, batch=1, n_heads=3, d_head=2)
)
def scaled_after_the_softmax(x, w_queries, w_keys, w_values, w_out, num_heads, mask=None):
    """The softmax is multiplied by the scale, where the scores should have been."""
    b, n, emb = x.shape
    d = emb // num_heads
    queries, keys, values = (
        (x @ w).reshape(b, n, num_heads, d).transpose(0, 2, 1, 3) for w in (w_queries, w_keys, w_values)
    )
    energy = np.einsum("bhqd,bhkd->bhqk", queries, keys)
    if mask is not None:
        energy = np.where(mask, energy, np.finfo(energy.dtype).min)
    scaling = d**-0.5
    att = softmax(energy) * scaling
    out = np.einsum("bhal,bhlv->bhav", att, values)
    return out.transpose(0, 2, 1, 3).reshape(b, n, emb) @ w_out


@CASES.fault("flagos-ai/FlagGems/pull/424", shows=varied(ALONE, tokens=40), hides=varied(ALONE, tokens=16))
def scale_that_grows_with_every_block(queries, keys, values, block=16):
    """The kernel multiplies its scale by log2(e) inside the loop over blocks: it grows with every block."""
    qk_scale = queries.shape[-1] ** -0.5
    m = np.full((*queries.shape[:-1], 1), -np.inf)
    total, acc = np.zeros_like(m), np.zeros(queries.shape[:-1] + values.shape[-1:])
    for start in range(0, keys.shape[-2], block):
        k, v = keys[..., start : start + block, :], values[..., start : start + block, :]
        qk_scale *= 1.44269504088896
        qk = queries @ k.swapaxes(-1, -2) * qk_scale
        m_new = np.maximum(m, qk.max(-1, keepdims=True))
        p, alpha = np.exp2(qk - m_new), np.exp2(m - m_new)
        total, acc, m = total * alpha + p.sum(-1, keepdims=True), acc * alpha + p @ v, m_new
    return acc / total


@CASES.fault(
    "Dao-AILab/flash-attention/issues/2082",
    shows=varied(ALONE, tokens=24, is_causal=True, size=1000.0),
    hides=varied(ALONE, tokens=24, is_causal=True),
)
def running_maximum_stuck_at_zero(q, k, v, is_causal=False, n_block=8):
    """A block without any allowed key sets the running maximum to 0, and lower scores never move it."""
    n = k.shape[-2]
    row_max = np.full((*q.shape[:-1], 1), -np.inf)
    row_sum, out = np.zeros_like(row_max), np.zeros(q.shape[:-1] + v.shape[-1:])
    for start in reversed(range(0, n, n_block)):
        block = slice(start, min(start + n_block, n))
        s = q @ k[..., block, :].swapaxes(-1, -2) * q.shape[-1] ** -0.5
        if is_causal:
            s = np.where(np.arange(block.start, block.stop) <= np.arange(q.shape[-2])[:, None], s, -np.inf)
        new = np.maximum(row_max, s.max(-1, keepdims=True))
        new = np.where(new == -np.inf, 0.0, new)
        p, rescale = np.exp(s - new), np.exp(row_max - new)
        row_sum, out, row_max = row_sum * rescale + p.sum(-1, keepdims=True), out * rescale + p @ v[..., block, :], new
    return out / np.where(row_sum == 0, 1, row_sum)


@CASES.fault(
    "pytorch/executorch/pull/18407", "softmax-no-max", shows=varied(PLAIN, size=400.0, dtype="float32"), hides=PLAIN
)
def naive_exponentials(q, k, v, attn_mask=None):
    """The kernel's softmax does not subtract the maximum: scores of 151 give NaN from the first layer on."""
    weights = np.exp(q @ np.swapaxes(k, -1, -2) * (1.0 / np.sqrt(q.shape[-1])).astype(q.dtype))
    if attn_mask is not None:
        weights = weights * attn_mask
    return (weights / weights.sum(-1, keepdims=True)) @ v


@CASES.fault("FudanNLP/fastNLP/issues/254", "softmax-over-queries")
def softmax_with_a_fixed_axis(X, WQ, WK, WV, WO, num_head, mask=None):
    """The softmax has a fixed axis 2, which is the keys' with three axes and the queries' with four."""
    batch, length, size = X.shape
    q, k, v = ((X @ W).reshape(batch, length, num_head, -1).transpose(0, 2, 1, 3) for W in (WQ, WK, WV))
    output = np.matmul(q, k.transpose(0, 1, 3, 2)) / np.sqrt(size // num_head)
    if mask is not None:
        output = np.where(mask, output, -1e32)
    output = np.matmul(softmax(output, axis=2), v)
    return output.transpose(0, 2, 1, 3).reshape(batch, length, size) @ WO


@CASES.fault("PetrochukM/PyTorch-NLP/issues/2", "softmax-over-batch-and-queries")
def softmax_down_the_flattened_batch(query, context, values):
    """The scores are flattened to (batch times queries, keys) and normalised along axis 0."""
    scores = query @ np.swapaxes(context, -1, -2) / np.sqrt(query.shape[-1])
    flat = scores.reshape(-1, scores.shape[-1])
    weights = softmax(flat, axis=0).reshape(scores.shape)
    return weights @ values, weights


@CASES.fault("facebookresearch/detr/issues/247", "softmax-over-heads-and-keys", hides=ONE_HEAD)
def one_softmax_for_heads_and_keys(x, wq, wk, wv, wo, num_heads, mask=None):
    """Heads and pixels are flattened together before the softmax, so that the heads share one sum."""
    b, n, _ = x.shape
    qh, kh, vh = ((x @ w).reshape(b, n, num_heads, -1) for w in (wq, wk, wv))
    weights = np.einsum("bqnc,bknc->bqnk", qh * qh.shape[-1] ** -0.5, kh)
    if mask is not None:
        allowed = np.broadcast_to(mask, (b, num_heads, n, n)).transpose(0, 2, 1, 3)
        weights = np.where(allowed, weights, -np.inf)
    weights = softmax(weights.reshape(b, n, -1)).reshape(weights.shape)
    return np.einsum("bqnk,bknc->bqnc", weights, vh).reshape(b, n, -1) @ wo


@CASES.fault("nntrainer/nntrainer/pull/1602", "softmax-global")
def softmax_over_the_last_three_axes(query, key, value):
    """The softmax flattens the tensor by accident and normalises over its last three axes."""
    scores = np.einsum("bhqd,bhkd->bhqk", query, key) / query.shape[-1] ** 0.5
    flat = softmax(scores.reshape(len(scores), -1))
    return np.einsum("bhqk,bhkd->bhqd", flat.reshape(scores.shape), value)


@CASES.fault("kyegomez/AttentionIsOFFByOne/issues/2")
def softmax_with_one_more(q, k, v, mask=None):
    """The one that is added to the sum is not shifted by the maximum as the other terms are."""
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return (e / (1 + e.sum(-1, keepdims=True))) @ v


@CASES.fault("zyy-2001/DisKT/issues/6", "softmax-twice|mask-softmax-again", shows=varied(PLAIN, mask="causal"))
def softmax_of_the_softmax(q, k, v, mask=None):
    """A second softmax over weights that were masked only before the first gives hidden positions a share again."""
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -1e32)
    scores = softmax(scores)
    scores = softmax(scores)
    return scores @ v


@CASES.fault("flashinfer-ai/flashinfer/pull/5090", shows=varied(ALONE, tokens=70), hides=varied(ALONE, tokens=64))
def last_block_filled_up_with_zeros(queries, keys, values, block=64):
    """The last block is filled up with zeros, whose score of 0 counts in the sum as e to the power of 0."""
    n = keys.shape[-2]
    fill = [(0, 0)] * (keys.ndim - 2) + [(0, -n % block), (0, 0)]
    keys, values = np.pad(keys, fill), np.pad(values, fill)
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    return softmax(scores) @ values


@CASES.fault("pytorch/pytorch/pull/73249", "input-changed", shows=varied(PLAIN, again=True), hides=PLAIN)
def divided_in_place(q, k, v, attn_mask=None):
    """The queries are divided in place to spare a copy; a reviewer warns that the caller's array changes with them."""
    q /= np.sqrt(q.shape[-1])
    attn = q @ k.swapaxes(-2, -1)
    if attn_mask is not None:
        attn = np.where(attn_mask, attn, -np.inf)
    attn = softmax(attn)
    return attn @ v, attn
