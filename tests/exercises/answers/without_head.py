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


def by_blocks(W_Q, W_K, W_V, W_O, head, n_heads):
    others = [h for h in range(n_heads) if h != head]
    inner = (np.concatenate([np.split(W, n_heads, axis=1)[h] for h in others], axis=1) for W in (W_Q, W_K, W_V))
    return (*inner, np.concatenate([np.split(W_O, n_heads)[h] for h in others]))


def in_lists(W_Q, W_K, W_V, W_O, head, n_heads):
    d_head = len(W_O) // n_heads
    keep = [i for i in range(len(W_O)) if i // d_head != head]
    inner = tuple([[row[i] for i in keep] for row in W.tolist()] for W in (W_Q, W_K, W_V))
    return (*inner, [W_O.tolist()[i] for i in keep])


def by_deleting(W_Q, W_K, W_V, W_O, head, n_heads):
    d_head = len(W_O) // n_heads
    own = slice(head * d_head, (head + 1) * d_head)
    return *(np.delete(W, own, axis=1) for W in (W_Q, W_K, W_V)), np.delete(W_O, own, axis=0)


def by_heads_on_an_axis(W_Q, W_K, W_V, W_O, head, n_heads):
    left = [*range(head), *range(head + 1, n_heads)]
    inner = [W.reshape(len(W), n_heads, -1)[:, left].reshape(len(W), -1) for W in (W_Q, W_K, W_V)]
    return *inner, W_O.reshape(n_heads, -1, W_O.shape[1])[left].reshape(-1, W_O.shape[1])


RIGHT = (by_mask, by_hstack, by_blocks, in_lists, by_deleting, by_heads_on_an_axis)


WRONG = {
    None: (
        lambda W_Q, W_K, W_V, W_O, head, n_heads: by_mask(W_K, W_Q, W_V, W_O, head, n_heads),
        lambda W_Q, W_K, W_V, W_O, head, n_heads: by_mask(W_Q, W_K, W_V, W_O, head, n_heads)[:3],
    ),
}

TOLD = ()
