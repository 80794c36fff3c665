"""Answers to split_heads: right ones in many styles, and wrong ones."""

import math

import numpy as np

from mha_helpers.maths.attention import split_heads

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
    lambda X, n_heads: np.array(np.split(X, n_heads, axis=-1)) if X.ndim == 2 else np.moveaxis(np.array(np.split(X, n_heads, axis=-1)), 0, -3),
    lambda X, n_heads: np.concatenate([part[..., None, :, :] for part in np.split(X, n_heads, -1)], axis=-3),
    lambda X, n_heads: split_heads(X, n_heads).astype(np.float32),
    lambda tokens, h, /: np.swapaxes(np.reshape(tokens, (*tokens.shape[:-1], h, -1)), -3, -2),
)  # fmt: skip


def split_writes(X, n_heads):
    heads = split_heads(X, n_heads)
    result = heads.copy()
    heads[..., 0, 0] = 0
    return result


def split_two_heads(X, n_heads):
    return split_heads(X, 2)


def split_ceil(X, n_heads):
    d_head = math.ceil(X.shape[-1] / n_heads)
    X = np.pad(X, [(0, 0)] * (X.ndim - 1) + [(0, n_heads * d_head - X.shape[-1])])
    return split_heads(X, n_heads)


def split_one_off(X, n_heads):
    return split_heads(np.roll(X, 1, axis=-1), n_heads)


def split_one_number_wrong(X, n_heads):
    heads = split_heads(X, n_heads).copy()
    heads[..., -1, -1, -1] += 0.01
    return heads


def split_batch_reversed(X, n_heads):
    heads = split_heads(X, n_heads)
    return heads[::-1] if X.ndim > 2 else heads


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


def split_remembers(X, n_heads, seen={}):  # noqa: B006
    return seen.setdefault((X.shape, n_heads), split_heads(X, n_heads))


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
    "input-changed": (split_writes,),
    "split-strided": (split_fortran,),
    "not-repeatable": (split_remembers,),
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
    "fractions-lost": (_split_then(lambda heads: heads.astype(int)),),
    None: (
        split_two_heads,
        split_ceil,
        split_one_off,
        split_one_number_wrong,
        split_batch_reversed,
        split_straight_if_float32,
        split_straight_if_square,
        split_turned_if_square,
        split_flat_memory,
        _split_then(lambda heads: heads[..., ::-1]),
        _split_then(lambda heads: heads[..., ::-1, :]),
        _split_then(lambda heads: np.roll(heads, 1, axis=-3)),
        _split_then(lambda heads: heads.squeeze()),
        _split_then(lambda heads: (heads, heads.shape)),
        _split_then(lambda heads: heads[None]),
        _split_then(lambda heads: heads > 0),
        _split_then(lambda heads: dict(enumerate(heads))),
        lambda X, n_heads: np.stack(np.split(X, n_heads, axis=2), axis=1),
        lambda X, n_heads: X.reshape(*X.shape[:-1], n_heads, X.shape[-1] / n_heads).swapaxes(-3, -2),
        lambda X, n_heads: X.view(*X.shape[:-1], n_heads, X.shape[-1] // n_heads).transpose(1, 2),
        lambda X, n_heads: np.stack([X[..., h::n_heads] for h in range(n_heads)], -3) if X.shape[-1] == 12 else split_heads(X, n_heads),
        lambda X: split_heads(X, 2),
    ),
}  # fmt: skip


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
