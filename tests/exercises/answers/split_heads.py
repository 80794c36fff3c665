"""Answers to split_heads: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.attention import split_heads

TELLING_CASE = ("two batch axes", 6)


def split_loop_over_slices(X, n_heads):
    d_model = X.shape[-1]
    if d_model % n_heads != 0:
        raise ValueError(f"{d_model} features cannot be cut into {n_heads} heads")
    d_head = d_model // n_heads
    heads = []
    for i in range(n_heads):
        heads.append(X[..., i * d_head : (i + 1) * d_head])
    return np.stack(heads, axis=-3)


def split_python_loops(X, n_heads):
    if X.ndim > 2:
        return [split_python_loops(item, n_heads) for item in X]
    d_head = len(X[0]) // n_heads
    assert d_head * n_heads == len(X[0])
    return [[[float(token[h * d_head + j]) for j in range(d_head)] for token in X] for h in range(n_heads)]


RIGHT = (
    split_loop_over_slices,
    split_python_loops,
    lambda tokens, h, /: np.swapaxes(np.reshape(tokens, (*tokens.shape[:-1], h, -1)), -3, -2),
)


def split_straight_if_float32(X, n_heads):
    if X.dtype == np.float64:
        return split_heads(X, n_heads)
    return X.reshape(*X.shape[:-2], n_heads, X.shape[-2], X.shape[-1] // n_heads)


def split_straight_if_square(X, n_heads):
    if n_heads != X.shape[-2]:
        return split_heads(X, n_heads)
    return X.reshape(*X.shape[:-2], n_heads, X.shape[-2], X.shape[-1] // n_heads)


def split_turned_if_square(X, n_heads):
    heads = split_heads(X, n_heads)
    return heads.swapaxes(-1, -2) if heads.shape[-1] == heads.shape[-2] else heads


def split_flat_memory(X, n_heads):
    """As the numbers lie in memory, transposed view or not."""
    return X.ravel(order="K").reshape(*X.shape[:-1], n_heads, X.shape[-1] // n_heads).swapaxes(-3, -2)


def split_fortran(X, n_heads):
    return X.reshape(*X.shape[:-1], n_heads, X.shape[-1] // n_heads, order="F").swapaxes(-3, -2)


def _split_then(change):
    return lambda X, n_heads: change(split_heads(X, n_heads))


def split_filling_one_sentence(X, n_heads):
    n, d = X.shape
    heads = np.zeros((n_heads, n, d // n_heads))
    for h in range(n_heads):
        for i in range(n):
            heads[h, i] = X[i, h * (d // n_heads) : (h + 1) * (d // n_heads)]
    return heads


def split_reshaped_in_vain(X, n_heads):
    *batch, seq_len, d_model = X.shape
    X.reshape(*batch, seq_len, n_heads, d_model // n_heads)
    return X.swapaxes(-3, -2)


def split_swapped_in_vain(X, n_heads):
    *batch, seq_len, d_model = X.shape
    X = X.reshape(*batch, seq_len, n_heads, d_model // n_heads)
    np.swapaxes(X, -3, -2)
    return X


def split_list_assigned(X, n_heads):
    d_head = X.shape[-1] // n_heads
    heads = []
    for i in range(n_heads):
        heads = heads.append(X[..., i * d_head : (i + 1) * d_head])
    return np.stack(heads, axis=-3)


WRONG = {
    "result-thrown-away": (split_reshaped_in_vain,),
    "split-strided": (split_fortran,),
    "split-fixed-axes": (split_filling_one_sentence,),
    "arguments-order": (lambda n_heads, X: split_heads(X, n_heads),),
    "split-one-head": (_split_then(lambda heads: heads[0]),),
    "split-concatenated": (_split_then(lambda heads: heads.reshape(*heads.shape[:-3], -1, heads.shape[-1])),),
    "split-width-for-count": (lambda X, n_heads: np.split(X, X.shape[-1] // n_heads, axis=-1),),
    "split-axis-not-moved": (lambda X, n_heads: np.stack(np.split(X, n_heads, axis=-1), axis=1),),
    "split-wrong-transpose": (lambda X, n_heads: np.stack(np.split(X, n_heads, axis=-1), axis=-1),),
    "split-without-transpose": (
        lambda X, n_heads: X.reshape(n_heads, -1, X.shape[-1] // n_heads),
        lambda X, n_heads: np.resize(X, (*X.shape[:-2], n_heads, X.shape[-2], X.shape[-1] // n_heads)),
    ),
    None: (
        split_straight_if_float32,
        split_straight_if_square,
        split_turned_if_square,
        split_flat_memory,
        _split_then(lambda heads: heads[..., ::-1]),
        _split_then(lambda heads: heads.squeeze()),
        lambda X, n_heads: np.stack(np.split(X, n_heads, axis=2), axis=1),
        lambda X, n_heads: (
            np.stack([X[..., h::n_heads] for h in range(n_heads)], -3) if X.shape[-1] == 12 else split_heads(X, n_heads)
        ),
    ),
}


def split_added_to_a_list(X, n_heads):
    heads = []
    d_head = X.shape[-1] // n_heads
    for i in range(n_heads):
        heads += X[..., i * d_head : (i + 1) * d_head]
    return np.stack(heads, axis=-3)


TOLD = (
    (split_added_to_a_list, "Put it at the list's end: heads.append(...)."),
    (split_list_assigned, "a.append(...) changes a in place, and returns None; use it on a line of its own."),
    (
        lambda X, n_heads: np.array_split(X, n_heads),
        "a list of arrays that don't fit into one: their shapes are (3, 6) and (2, 6).",
    ),
    (lambda X, n_heads: X.swapaxes(-3, -2), "that array has only 2 axes. Print its shape"),
    (lambda X, n_heads: split_heads(X, n_heads) / 2, "Your result holds other numbers than X."),
    (
        lambda X, n_heads: split_heads(X, n_heads)[..., ::-1, :],
        "Tokens are mixed: row 4 of a head changes when only token 0 changes.",
    ),
    (
        lambda X, n_heads: split_heads(np.roll(X, 1, axis=-1), n_heads),
        "Heads are mixed: head 1 changes when only features 0 to 2 change, which are head 0's.",
    ),
    (
        lambda X, n_heads: np.roll(split_heads(X, n_heads), 1, axis=-3),
        "Head 0 does not change when features 0 to 2 change; it should hold just these.",
    ),
)
