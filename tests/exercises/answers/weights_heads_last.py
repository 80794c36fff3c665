"""Answers to weights_heads_last: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.attention import scaled_dot_product_attention, softmax

TELLING_CASE = ("two sentences", 5)


def by_einsum(queries, keys):
    return softmax(np.einsum("bqhd,bkhd->bhqk", queries, keys) / np.sqrt(queries.shape[-1]))


def in_loops(queries, keys):
    batch, n_queries, n_heads, d_head = queries.shape
    weights = np.zeros((batch, n_heads, n_queries, keys.shape[1]))
    for b in range(batch):
        for h in range(n_heads):
            scores = queries[b, :, h] @ keys[b, :, h].T / d_head**0.5
            exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
            weights[b, h] = exponentials / exponentials.sum(axis=1, keepdims=True)
    return weights


def by_transpose(queries, keys):
    return softmax(queries.transpose(0, 2, 1, 3) @ keys.transpose(0, 2, 3, 1) * queries.shape[-1] ** -0.5)


def scaled_queries(queries, keys):
    scaled = queries / np.sqrt(queries.shape[-1])
    return softmax(np.moveaxis(scaled, -2, 1) @ np.moveaxis(np.moveaxis(keys, -2, 1), -1, -2))


def by_the_courses_own(queries, keys):
    heads = np.moveaxis(queries, 2, 1), np.moveaxis(keys, 2, 1)
    return scaled_dot_product_attention(*heads, heads[1])[1]


def head_by_head(queries, keys):
    scale = queries.shape[-1] ** -0.5
    each = [softmax(queries[:, :, h] @ keys[:, :, h].mT * scale) for h in range(queries.shape[2])]
    return np.stack(each, axis=1)


RIGHT = (by_einsum, in_loops, by_transpose, scaled_queries, by_the_courses_own, head_by_head)

WRONG = {
    None: (
        lambda queries, keys: by_einsum(queries, keys) * 2,
        lambda queries, keys: by_einsum(queries[:, :, ::-1], keys),
        lambda queries, keys: by_einsum(queries[:, ::-1], keys),
        lambda queries, keys: by_einsum(queries, keys)[:1],
    ),
}

TOLD = ()
