"""Answers to without_head: right ones in many styles, and wrong ones."""

import numpy as np

CATALOGUE = (
    "without-head-rows",
    "without-head-output-columns",
    "without-head-output-whole",
    "without-head-some-whole",
    "without-head-zeros",
    "without-head-counted-from-one",
)

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


def without_columns(W, head, d_head):
    return np.concatenate([W[:, : head * d_head], W[:, (head + 1) * d_head :]], axis=1)


RIGHT = (by_mask, by_hstack, by_blocks, in_lists)


def column_by_column(W_Q, W_K, W_V, W_O, head, n_heads):
    d_head = len(W_O) // n_heads
    for i in range(head * d_head, (head + 1) * d_head):
        W_Q = np.delete(W_Q, i, axis=1)
        W_K = np.delete(W_K, i, axis=1)
        W_V = np.delete(W_V, i, axis=1)
        W_O = np.delete(W_O, i, axis=0)
    return W_Q, W_K, W_V, W_O


WRONG = {
    "without-head-one-by-one": (column_by_column,),
    "without-head-two-whole": (lambda W_Q, W_K, W_V, W_O, head, n_heads: (W_Q, W_K, W_V, W_O),),
    None: (
        lambda W_Q, W_K, W_V, W_O, head, n_heads: by_mask(W_K, W_Q, W_V, W_O, head, n_heads),
        lambda W_Q, W_K, W_V, W_O, head, n_heads: by_mask(W_Q, W_K, W_V, W_O, head, n_heads)[:3],
        lambda W_Q, W_K, W_V, W_O, head, n_heads: by_mask(2 * W_Q, W_K, W_V, W_O, head, n_heads),
    ),
    "without-head-another": (
        lambda W_Q, W_K, W_V, W_O, head, n_heads: by_mask(W_Q, W_K, W_V, W_O, n_heads - 1 - head, n_heads),
        lambda W_Q, W_K, W_V, W_O, head, n_heads: by_mask(W_Q, W_K, W_V, W_O, (head + 1) % n_heads, n_heads),
    ),
    "without-head-output-columns": (
        lambda W_Q, W_K, W_V, W_O, head, n_heads: tuple(
            without_columns(W, head, len(W_O) // n_heads) for W in (W_Q, W_K, W_V, W_O)
        ),
    ),
    "without-head-rows": (
        lambda W_Q, W_K, W_V, W_O, head, n_heads: tuple(
            without_columns(W.T, head, len(W_O) // n_heads).T for W in (W_Q, W_K, W_V, W_O)
        ),
    ),
}

TOLD = ()
