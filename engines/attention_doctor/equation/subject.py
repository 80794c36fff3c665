"""Attention as a subject of the judge: what people call its stages, and what is known of them."""

import numpy as np

from function_judge.known_numbers import TOLERANCE
from function_judge.subject import Subject


def _is_softmax(name, arguments, weights):
    """Whether a helper called softmax has returned the softmax, along some axis, of an array among its arguments."""
    if "softmax" not in name:
        return False
    same_shape = [array for array in arguments if array is not None and array.shape == weights.shape]
    return any(_agree(weights, scores, axis) for scores in same_shape for axis in range(scores.ndim))


def _agree(weights, scores, axis):
    top = scores.max(axis=axis, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isfinite(top), top, 0))
    with np.errstate(all="ignore"):
        wanted = exponentials / exponentials.sum(axis=axis, keepdims=True)
    return bool((np.abs(weights - wanted)[~np.isnan(wanted)] <= TOLERANCE).all())


ATTENTION = Subject(
    aliases={
        "queries": ("q", "qs", "query", "queries", "qh", "xq", "q_heads"),
        "keys": ("k", "ks", "key", "keys", "kh", "xk", "k_heads"),
        "values": ("v", "vs", "value", "values", "vh", "xv", "v_heads"),
        "weights": ("weights", "w", "attn", "att", "attention", "probs", "p", "a", "weight", "alpha"),
        "context": ("context", "ctx", "mixed"),
        "exponentials": ("e", "ex", "exp", "exps", "exponentials", "exp_scores", "powers", "numerator", "num"),
        "output": ("output",),
    },
    # Nobody computes these for anything but the softmax, the projections or the rotation.
    unambiguous=(
        "exponentials", "largest scores", "sums of exponentials", "scores less the largest", "X", "cos(angles)", "W*",
    ),
    made_of={"W_Q": "queries", "W_K": "keys", "W_V": "values"},
    scaled=("scores", "scaled scores"),
    is_step=_is_softmax,
)  # fmt: skip
