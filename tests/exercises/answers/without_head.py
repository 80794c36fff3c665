"""Answers to without_head: right ones in many styles, and wrong ones."""

import numpy as np

TELLING_CASE = ("heads that are wider together than the model", 4)


def by_mask(W_Q, W_K, W_V, W_O, head, n_heads):
    keep = np.arange(len(W_O)) // (len(W_O) // n_heads) != head
    return W_Q[:, keep], W_K[:, keep], W_V[:, keep], W_O[keep]


def by_hstack(W_Q, W_K, W_V, W_O, head, n_heads):
    d_head = W_Q.shape[1] // n_heads
    start, stop = head * d_head, (head + 1) * d_head
    inner = [np.hstack([W[:, :start], W[:, stop:]]) for W in (W_Q, W_K, W_V)]
    return [*inner, np.vstack([W_O[:start], W_O[stop:]])]


RIGHT = (
    by_mask,
    by_hstack,
)


WRONG = {
    None: (lambda W_Q, W_K, W_V, W_O, head, n_heads: by_mask(W_K, W_Q, W_V, W_O, head, n_heads),),
}

TOLD = ()
