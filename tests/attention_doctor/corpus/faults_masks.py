"""Real faults in what is hidden and how, as NumPy functions: without a mask most of them are right."""

import numpy as np

from .arrays import merge, softmax, split
from .case import Input, Register, varied

CASES = Register()
PLAIN = Input()
PADDED, PAIRS = varied(PLAIN, mask="padding"), varied(PLAIN, mask="pairs")


@CASES.fault("awslabs/gluonts/pull/1401", "mask-tiny-number|mask-score-zero", shows=PADDED, hides=PLAIN)
def tiny_number_for_minus_infinity(F, w_q, w_k, w_v, w_o, n_head, mask=None):
    """Hidden scores are filled with 1e-9 where -1e9 was meant: they still get a share."""
    q, k, v = (split(F, w, n_head) for w in (w_q, w_k, w_v))
    score = np.matmul(q, np.swapaxes(k, -1, -2)) / np.sqrt(q.shape[-1])
    if mask is not None:
        score = np.where(mask, score, 1e-9)
    return merge(np.matmul(softmax(score), v), w_o)


@CASES.fault("NTMC-Community/MatchZoo-py/issues/163", "mask-score-zero", shows=PAIRS, hides=PLAIN)
def hidden_scores_set_to_zero(query, key, value, mask=None):
    """The value that hides is not a large negative number; the reader proposes -1e7."""
    scores = np.einsum("...qd,...kd->...qk", query, key) / np.sqrt(key.shape[-1])
    if mask is not None:
        scores = scores.copy()
        scores[np.broadcast_to(~mask, scores.shape)] = 0
    return np.einsum("...qk,...kd->...qd", softmax(scores), value)


@CASES.fault("georg-wolflein/good-features/pull/1", "mask-score-zero", shows=PADDED, hides=PLAIN)
def scores_times_mask(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Scores are multiplied by a mask of ones and zeros, and e to the power of 0 is 1; batches of one sample hid it."""
    q, k, v = (split(X, W, n_heads) for W in (W_Q, W_K, W_V))
    a = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        a = a * mask
    return merge(softmax(a) @ v, W_O)


@CASES.fault(
    "huggingface/pytorch-image-models/pull/2236",
    "mask-after-softmax-infinite|mask-after-softmax",
    shows=PAIRS,
    hides=PLAIN,
)
def minus_infinity_after_the_softmax(x, wq, wk, wv, proj, num_heads, attn_mask=None):
    """Minus infinity is filled in after the softmax."""
    q, k, v = (split(x, w, num_heads) for w in (wq, wk, wv))
    q = q * q.shape[-1] ** -0.5
    attn = softmax(q @ k.swapaxes(-2, -1))
    if attn_mask is not None:
        attn = np.where(attn_mask, attn, -np.inf)
    with np.errstate(invalid="ignore"):
        return merge(attn @ v, proj)


@CASES.fault("ilivans/tf-rnn-attention/issues/11", "mask-after-softmax", shows=PADDED, hides=PLAIN)
def weights_times_mask(Q, K, V, mask=None):
    """The softmax counts the padding and its share is zeroed later: what is left no longer adds up to one."""
    weights = softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1]))
    if mask is not None:
        weights = weights * mask
    return weights @ V


@CASES.fault("lucidrains/flamingo-pytorch/issues/10", "mask-ignored", shows=PAIRS, hides=PLAIN)
def filled_and_forgotten(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """`masked_fill` returns a new tensor, which nobody takes; the line has no effect."""
    q, k, v = (split(X, W, n_heads) for W in (W_Q, W_K, W_V))
    sim = np.einsum("bhid,bhjd->bhij", q * q.shape[-1] ** -0.5, k)
    if mask is not None:
        np.where(mask, sim, -np.inf)
    attn = softmax(sim)
    return merge(np.einsum("bhij,bhjd->bhid", attn, v), W_O)


@CASES.fault("lucidrains/halonet-pytorch/issues/4", "mask-inverted", shows=PAIRS, hides=PLAIN)
def fills_where_it_may_attend(q, k, v, mask=None):
    """The fill happens where the mask is True, and True marks what may be attended to."""
    sim = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
    if mask is not None:
        sim = np.where(mask, np.finfo(sim.dtype).min, sim)
    return softmax(sim) @ v


@CASES.fault("huggingface/diffusers/issues/14342", "mask-added-boolean", shows=PAIRS, hides=PLAIN)
def boolean_as_bias(query, key, value, attn_bias_mask=None):
    """A boolean mask lands in the slot of an additive bias: what may be attended to gets 1, what is hidden 0."""
    logits = query @ key.swapaxes(-2, -1) / np.sqrt(query.shape[-1])
    if attn_bias_mask is not None:
        logits = logits + attn_bias_mask
    return softmax(logits) @ value


@CASES.fault("lucidrains/memory-compressed-attention/issues/2", "mask-minus-minus-inf", shows=PADDED, hides=PLAIN)
def minus_minus_infinity(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Hidden scores get minus minus infinity."""
    q, k, v = (split(X, W, n_heads) for W in (W_Q, W_K, W_V))
    dots = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
    mask_value = -float("-inf")
    if mask is not None:
        dots = np.where(mask, dots, mask_value)
    with np.errstate(invalid="ignore"):
        return merge(softmax(dots) @ v, W_O)


@CASES.fault("tracel-ai/burn/pull/4697", "mask-full-row-nan", shows=varied(PLAIN, mask="empty"), hides=PADDED)
def empty_row_becomes_nan(q, k, v, mask=None):
    """Minus infinity minus minus infinity: a row in which the masks hide everything becomes NaN."""
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return (e / e.sum(-1, keepdims=True)) @ v


@CASES.fault(
    "TransformerLensOrg/TransformerLens/pull/366",
    "mask-tiny-number",
    shows=varied(PLAIN, mask="causal", size=2000000.0),
    hides=varied(PLAIN, mask="causal"),
)
def outrun_by_the_scores(residual, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """Hidden scores are -1e5, and a small model has scores below that: it attends to what is hidden."""
    q, k, v = (split(residual, W, n_heads) for W in (W_Q, W_K, W_V))
    attn_scores = np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(q.shape[-1])
    if mask is not None:
        attn_scores = np.where(mask, attn_scores, -1e5)
    pattern = softmax(attn_scores)
    return merge(np.einsum("bhqk,bhkd->bhqd", pattern, v), W_O)


@CASES.fault(
    "openai/gpt-2/pull/122",
    "mask-zero-times-inf|mask-float16-overflow",
    shows=varied(PLAIN, mask="causal", dtype="float16"),
    hides=varied(PLAIN, mask="causal"),
)
def too_large_for_half_precision(q, k, v, mask=None):
    """The mask subtracts 1e10 times (1 - b): in half precision that is infinity, times zero where nothing is hidden."""
    w = np.matmul(q, np.swapaxes(k, -1, -2)) * q.dtype.type(q.shape[-1] ** -0.5)
    if mask is not None:
        b = mask.astype(w.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            w = w * b - w.dtype.type(1e10) * (1 - b)
            return np.matmul(softmax(w), v)
    return np.matmul(softmax(w), v)


@CASES.fault(
    "lsdefine/attention-is-all-you-need-keras/issues/36",
    "mask-tiled-over-heads",
    shows=PADDED,
    hides=varied(PADDED, batch=1),
)
def mask_repeated_in_another_order(q, w_q, w_k, w_v, w_o, n_head, mask=None):
    """Heads are folded before the samples, the mask repeated as if after: samples get each other's padding."""
    s = q.shape

    def reshape1(x):
        return x.reshape(s[0], s[1], n_head, -1).transpose(2, 0, 1, 3).reshape(-1, s[1], s[2] // n_head)

    qs, ks, vs = reshape1(q @ w_q), reshape1(q @ w_k), reshape1(q @ w_v)
    attn = qs @ ks.swapaxes(1, 2) / np.sqrt(s[2] // n_head)
    if mask is not None:
        rows = np.broadcast_to(mask, (s[0], 1, s[1], s[1]))[:, 0]
        attn = attn + (-1e10) * (1 - np.repeat(rows, n_head, axis=0))
    head = softmax(attn) @ vs
    return head.reshape(n_head, s[0], s[1], -1).transpose(1, 2, 0, 3).reshape(s) @ w_o


@CASES.fault("keitakurita/Practical_NLP_in_PyTorch/pull/8", "mask-ignored", shows=PADDED, hides=PLAIN)
def mask_not_handed_on(queries, W_Q, W_K, W_V, W_O, n_heads, mask=None):
    """The head receives the mask and does not hand it on to the function that would use it."""

    def scaled_dot_product(q, k, v, mask=None):
        attn = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])
        if mask is not None:
            attn = np.where(mask, attn, -np.inf)
        return softmax(attn) @ v

    return merge(scaled_dot_product(*(split(queries, W, n_heads) for W in (W_Q, W_K, W_V))), W_O)


@CASES.fault(
    "hyunwoongko/transformer/issues/32",
    "padding-no-head-axis",
    shows=varied(PADDED, batch=2),
    hides=varied(PADDED, batch=1),
)
def mask_without_heads(x, w_q, w_k, w_v, w_concat, n_head, mask=None):
    """The mask has no axis for heads, the scores have: with as many heads as samples, samples are taken for heads."""
    q, k, v = (split(x, w, n_head) for w in (w_q, w_k, w_v))
    score = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
    if mask is not None:
        mask = mask.reshape(-1, *mask.shape[-2:])  # (batch, queries, keys)
        score = np.where(mask, score, -1e12)
    return merge(softmax(score) @ v, w_concat)
