"""Attention with one fault each, in the manner of published code; the line that is faulty ends with `# here`.

Where two lines can be called the faulty one, both end so.
"""

import numpy as np


def softmax(scores, axis=-1):
    exponentials = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


FUNCTIONS = []


def faulty(function):
    FUNCTIONS.append(function)
    return function


@faulty
def keys_reshaped_without_transpose(X, W_Q, W_K, W_V, W_O, n_heads):
    B, T, D = X.shape
    d = D // n_heads
    q = (X @ W_Q).reshape(B, T, n_heads, d).transpose(0, 2, 1, 3)
    k = (X @ W_K).reshape(B, n_heads, T, d)  # here
    v = (X @ W_V).reshape(B, T, n_heads, d).transpose(0, 2, 1, 3)
    weights = softmax(q @ k.transpose(0, 1, 3, 2) / np.sqrt(d))
    return (weights @ v).transpose(0, 2, 1, 3).reshape(B, T, D) @ W_O


@faulty
def divided_by_the_whole_width(X, W_Q, W_K, W_V, W_O, n_heads):
    B, T, D = X.shape
    q, k, v = ((X @ W).reshape(B, T, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_Q, W_K, W_V))
    scores = q @ k.swapaxes(-1, -2)
    scores = scores / np.sqrt(D)  # here
    weights = softmax(scores)
    out = weights @ v
    out = out.transpose(0, 2, 1, 3).reshape(B, T, D)
    return out @ W_O


@faulty
def heads_stored_in_every_nth_column(X, W_Q, W_K, W_V, W_O, n_heads):
    d = X.shape[-1] // n_heads
    out = np.zeros_like(X)
    for h in range(n_heads):
        columns = slice(h * d, (h + 1) * d)
        q, k, v = X @ W_Q[:, columns], X @ W_K[:, columns], X @ W_V[:, columns]
        weights = softmax(q @ k.swapaxes(1, 2) / np.sqrt(d))
        out[..., h::n_heads] = weights @ v  # here
    return out @ W_O


@faulty
def joined_without_transpose(X, W_Q, W_K, W_V, W_O, n_heads):
    B, T, D = X.shape
    qkv = X @ np.concatenate([W_Q, W_K, W_V], axis=1)
    q, k, v = qkv.reshape(B, T, 3, n_heads, -1).transpose(2, 0, 3, 1, 4)
    weights = softmax(np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(D // n_heads))
    context = np.einsum("bhqk,bhkd->bhqd", weights, v)
    merged = context.reshape(B, T, D)  # here
    return merged @ W_O


@faulty
def values_from_the_keys_matrix(X, W_Q, W_K, W_V, W_O, n_heads):
    def split(rows):
        return rows.reshape(*rows.shape[:2], n_heads, -1).swapaxes(1, 2)

    queries = split(X @ W_Q)
    keys = split(X @ W_K)
    projected = X @ W_K  # here
    values = split(projected)  # here
    weights = softmax(queries @ keys.swapaxes(-1, -2) / queries.shape[-1] ** 0.5)
    return (weights @ values).swapaxes(1, 2).reshape(X.shape) @ W_O


@faulty
def softmax_over_the_queries(X, W_Q, W_K, W_V, W_O, n_heads):
    B, T, D = X.shape
    q, k, v = ((X @ W).reshape(B, T, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_Q, W_K, W_V))
    scores = q @ k.transpose(0, 1, 3, 2) * (D // n_heads) ** -0.5
    weights = softmax(scores, axis=2)  # here
    context = (weights @ v).transpose(0, 2, 1, 3)
    return context.reshape(B, T, D) @ W_O


@faulty
def never_projected_at_the_end(X, W_Q, W_K, W_V, W_O, n_heads):
    q, k, v = (np.stack(np.split(X @ W, n_heads, axis=-1)) for W in (W_Q, W_K, W_V))
    weights = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))
    heads = weights @ v
    joined = np.concatenate(list(heads), axis=-1)
    return joined  # here


@faulty
def weights_not_normalised(X, W_Q, W_K, W_V, W_O, n_heads):
    B, T, D = X.shape
    q, k, v = ((X @ W).reshape(B, T, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_Q, W_K, W_V))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(D // n_heads)
    top = scores.max(-1, keepdims=True)
    weights = np.exp(scores - top)  # here
    context = weights @ v
    merged = context.transpose(0, 2, 1, 3).reshape(B, T, D)
    return merged @ W_O  # here


@faulty
def transposed_scores(X, W_Q, W_K, W_V, W_O, n_heads):
    B, T, D = X.shape
    q, k, v = ((X @ W).reshape(B, T, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_Q, W_K, W_V))
    scores = k @ q.swapaxes(-1, -2) / np.sqrt(D // n_heads)  # here
    weights = softmax(scores)
    context = weights @ v
    return context.transpose(0, 2, 1, 3).reshape(B, T, D) @ W_O
