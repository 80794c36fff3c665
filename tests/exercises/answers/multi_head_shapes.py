"""Answers to multi_head_shapes: right ones in several styles, and wrong ones."""

import numpy as np

from mha_helpers.attention import multi_head_attention, split_heads

TELLING_CASE = None  # nothing here has axes


def in_lists(batch, seq_len, d_model, n_heads):
    weights = [batch, n_heads, seq_len, seq_len]
    return [batch, n_heads, seq_len, d_model // n_heads], weights, [batch, seq_len, d_model]


def in_arrays(batch, seq_len, d_model, n_heads):
    return tuple(map(np.array, in_lists(batch, seq_len, d_model, n_heads)))


def asked_of_a_layer(batch, seq_len, d_model, n_heads):
    X = np.zeros((batch, seq_len, d_model))
    output, weights = multi_head_attention(X, *np.zeros((4, d_model, d_model)), n_heads)
    return split_heads(X, n_heads).shape, weights.shape, output.shape


def rounded(batch, seq_len, d_model, n_heads):
    return (
        (batch, n_heads, seq_len, int(d_model / n_heads)),
        (batch, n_heads, seq_len, seq_len),
        (batch, seq_len, d_model),
    )


RIGHT = (
    in_lists,
    in_arrays,
    asked_of_a_layer,
)

WRONG = {
    None: (lambda b, s, d, h: ((b, h, d // h, s), (b, h, s, s), (b, s, d)),),
}

TOLD = (
    (
        lambda b, s, d, h: (np.zeros((b, h, s, d // h)), np.zeros((b, h, s, s)), np.zeros((b, s, d))),
        "concatenation should be a shape; yours is an array of shape (2, 5, 12). Return its `.shape`.",
    ),
    (
        lambda b, s, d, h: ((b, s, h, d), (b, h, s, s), (b, s, d)),
        "the axes of queries_in_heads count sentences, heads, tokens, and the features of one head.",
    ),
    (
        lambda b, s, d, h: ((b, h, s, d // h), (b, h, s, s), (b, d, s)),
        "Right: weights and queries_in_heads. Axis 1 of concatenation should be 5; yours is 12.",
    ),
    (
        lambda b, s, d, h: ((b, h, s, d // h), (b, h, s, s), (s, b, d / h)),
        "Axis 0 of concatenation should be 2; yours is 5.",
    ),
    (
        lambda b, s, d, h: ((h, s, d // h), (b, h, s, s), (b, s, d)),
        "queries_in_heads should have 4 axes; yours has 3.",
    ),
)
