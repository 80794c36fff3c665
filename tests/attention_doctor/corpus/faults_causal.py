"""Real faults in hiding what comes later, as NumPy functions."""

import numpy as np

from .arrays import merge, softmax, split
from .case import Input, Register, varied

CASES = Register()
PLAIN = Input()
CAUSAL = varied(PLAIN, is_causal=True)


@CASES.fault("RVC-Boss/GPT-SoVITS/issues/965", "causal-off-by-one", shows=CAUSAL, hides=PLAIN)
def triangle_shifted_by_one(X, W_Q, W_K, W_V, W_O, n_heads, mask=None, is_causal=False):
    """The triangle is shifted by one: every position also sees the one after it."""
    q, k, v = (split(X, W, n_heads) for W in (W_Q, W_K, W_V))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    n = X.shape[1]
    hidden = np.triu(np.ones((n, n), bool), k=2) if is_causal else np.zeros((n, n), bool)
    if mask is not None:
        hidden = hidden | ~np.asarray(mask, bool)
    return merge(softmax(np.where(hidden, -np.inf, scores)) @ v, W_O)


@CASES.fault("paiml/entrenar/issues/310", "causal-ignored", shows=CAUSAL, hides=PLAIN)
def causal_and_yet_sees_everything(X, W_Q, W_K, W_V, W_O, n_heads, is_causal=False):
    """The block takes the softmax of all scores; no causal mask is applied in training a language model."""
    q, k, v = (split(X, W, n_heads) for W in (W_Q, W_K, W_V))
    return merge(softmax(q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5) @ v, W_O)


@CASES.fault(
    "facebookresearch/xformers/issues/103",
    "causal-ignored|causal-lost-without-mask",
    shows=CAUSAL,
    hides=varied(CAUSAL, mask="pairs"),
)
def causal_only_with_a_mask(q, k, v, att_mask=None, causal=False):
    """The causal mask is merged with a given mask, and skipped altogether when none is given."""
    scores = q / np.sqrt(k.shape[-1]) @ k.swapaxes(-2, -1)
    if att_mask is not None:
        if causal:
            att_mask = att_mask & np.tril(np.ones(scores.shape[-2:], bool))
        scores = np.where(att_mask, scores, -np.inf)
    return softmax(scores) @ v


@CASES.fault("keras-team/keras/pull/23040", "causal-lost-with-mask", shows=varied(CAUSAL, mask="padding"), hides=CAUSAL)
def mask_instead_of_causal(
    query, w_query, w_key, w_value, w_output, num_heads, attention_mask=None, use_causal_mask=False
):
    """With an explicit mask the layer forgets the causal one."""
    q, k, v = (split(query, w, num_heads) for w in (w_query, w_key, w_value))
    scores = np.einsum("bnth,bnsh->bnts", q * q.shape[-1] ** -0.5, k)
    if use_causal_mask and attention_mask is None:
        attention_mask = np.arange(scores.shape[-2])[:, None] >= np.arange(scores.shape[-1])
    if attention_mask is not None:
        scores = scores + (1.0 - attention_mask) * -1e30
    return merge(softmax(scores) @ v, w_output)


@CASES.fault("pytorch/examples/issues/649", "causal-transposed|causal-inverted", shows=CAUSAL, hides=PLAIN)
def past_hidden_future_shown(q, k, v, is_causal=False):
    """A release built the causal mask the other way round: it hid the past and showed the future."""
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])
    if is_causal:
        scores = scores + np.where(np.tril(np.ones(scores.shape[-2:]), -1) == 1, -np.inf, 0.0)
    return softmax(scores) @ v
