"""Answers to folded_attention: right ones in many styles, and wrong ones."""

import itertools
import math

import numpy as np

from mha_helpers.maths.attention import (
    combine_heads,
    folded_attention,
    scaled_dot_product_attention,
    softmax,
    split_heads,
)

CATALOGUE = ()

TELLING_CASE = ("two sentences", 5)


def folded_by_hand(queries, keys, values, n_heads):
    B, S, D = queries.shape
    d = D // n_heads

    def fold(X):
        return X.reshape(B, S, n_heads, d).transpose(0, 2, 1, 3).reshape(B * n_heads, S, d)

    q, k, v = fold(queries), fold(keys), fold(values)
    weights = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(d))
    context = weights @ v
    return context.reshape(B, n_heads, S, d).transpose(0, 2, 1, 3).reshape(B, S, D)


def folded_heads_outside(queries, keys, values, n_heads):
    """(n_heads * batch): another order, and the same one on the way back."""
    batch = len(queries)
    q, k, v = (np.concatenate(np.split(X, n_heads, axis=-1)) for X in (queries, keys, values))
    context, _ = scaled_dot_product_attention(q, k, v)
    return np.concatenate([context[i * batch : (i + 1) * batch] for i in range(n_heads)], axis=-1)


def folded_split_back(queries, keys, values, n_heads):
    q, k, v = (np.concatenate(np.split(X, n_heads, -1), 0) for X in (queries, keys, values))
    context, _ = scaled_dot_product_attention(q, k, v)
    return np.concatenate(np.split(context, n_heads, 0), -1)


def folded_four_axes(queries, keys, values, n_heads):
    context, _ = scaled_dot_product_attention(*(split_heads(X, n_heads) for X in (queries, keys, values)))
    return combine_heads(context)


def folded_head_by_head(queries, keys, values, n_heads):
    d = queries.shape[-1] // n_heads
    columns = [slice(i * d, (i + 1) * d) for i in range(n_heads)]
    return np.concatenate(
        [scaled_dot_product_attention(queries[..., c], keys[..., c], values[..., c])[0] for c in columns], axis=-1
    )


def folded_filling(queries, keys, values, n_heads):
    context = np.zeros(queries.shape)
    d = queries.shape[-1] // n_heads
    for b, h in itertools.product(range(len(queries)), range(n_heads)):
        c = slice(h * d, (h + 1) * d)
        scores = queries[b, :, c] @ keys[b, :, c].T / d**0.5
        context[b, :, c] = softmax(scores) @ values[b, :, c]
    return context


def folded_einsum(queries, keys, values, n_heads):
    q, k, v = (X.reshape(*X.shape[:2], n_heads, -1) for X in (queries, keys, values))
    weights = softmax(np.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1]))
    return np.einsum("bhqk,bkhd->bqhd", weights, v).reshape(queries.shape)


def folded_python_loops(queries, keys, values, n_heads):
    batch, seq_len, d_model = queries.shape
    d = d_model // n_heads
    context = np.zeros((batch, seq_len, d_model))
    for b in range(batch):
        for h in range(n_heads):
            features = range(h * d, (h + 1) * d)
            for i in range(seq_len):
                scores = [
                    sum(queries[b, i, f] * keys[b, j, f] for f in features) / math.sqrt(d) for j in range(seq_len)
                ]
                exps = [math.exp(score - max(scores)) for score in scores]
                for j, e in enumerate(exps):
                    for f in features:
                        context[b, i, f] += e / sum(exps) * values[b, j, f]
    return context


def folded_stacked(queries, keys, values, n_heads):
    """All three at once."""
    stacked = split_heads(np.stack([queries, keys, values]), n_heads)
    q, k, v = stacked.reshape(3, -1, *stacked.shape[-2:])
    context, _ = scaled_dot_product_attention(q, k, v)
    return combine_heads(context.reshape(stacked.shape[1:]))


def folded_block_masks(queries, keys, values, n_heads):
    """No split: of every head only its own features are not 0."""
    d_model = queries.shape[-1]
    d = d_model // n_heads
    context = 0
    for h in range(n_heads):
        own = np.arange(d_model) // d == h
        weights = softmax((queries * own) @ keys.swapaxes(1, 2) / np.sqrt(d))
        context = context + weights @ (values * own)
    return context


def folded_one_long_sentence(queries, keys, values, n_heads):
    """Everything in one matrix, with a mask that keeps sentences and heads apart."""
    heads = [split_heads(X, n_heads) for X in (queries, keys, values)]
    shape = heads[0].shape
    q, k, v = (X.reshape(-1, shape[-1]) for X in heads)
    group = np.arange(len(q)) // shape[-2]
    context, _ = scaled_dot_product_attention(q, k, v, group[:, None] == group)
    return combine_heads(context.reshape(shape))


def folded_scaled_queries(queries, keys, values, n_heads):
    d = queries.shape[-1] // n_heads
    q, k, v = (split_heads(X, n_heads).reshape(-1, X.shape[1], d) for X in (queries / d**0.5, keys, values))
    return combine_heads((softmax(q @ k.mT) @ v).reshape(len(queries), n_heads, -1, d))


RIGHT = (
    folded_attention,
    folded_by_hand,
    folded_heads_outside,
    folded_split_back,
    folded_stacked,
    folded_one_long_sentence,
    folded_scaled_queries,
    lambda q, k, v, h: folded_attention(q, k, v, h).astype(np.float32),
    lambda q, k, v, h: folded_attention(q, k, v, h).tolist(),
    lambda q, k, v, h: np.asfortranarray(folded_by_hand(q, k, v, h)),
)  # fmt: skip


def _folded(fold, attend=None, unfold=None):
    attend = attend or (lambda q, k, v: scaled_dot_product_attention(q, k, v)[0])

    def wrong(queries, keys, values, n_heads):
        B, S, D = queries.shape
        context = attend(*(fold(X, n_heads) for X in (queries, keys, values)))
        if unfold:
            return unfold(context, B, S, D, n_heads)
        return combine_heads(context.reshape(B, n_heads, S, D // n_heads))

    return wrong


def _fold(X, n_heads):
    return split_heads(X, n_heads).reshape(-1, X.shape[1], X.shape[2] // n_heads)


def _weighing(weigh):
    return lambda q, k, v: weigh(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])) @ v


def folded_causal(queries, keys, values, n_heads):
    q, k, v = (split_heads(X, n_heads) for X in (queries, keys, values))
    return combine_heads(scaled_dot_product_attention(q, k, v, is_causal=True)[0])


def folded_pair(queries, keys, values, n_heads):
    q, k, v = (_fold(X, n_heads) for X in (queries, keys, values))
    context, weights = scaled_dot_product_attention(q, k, v)
    return combine_heads(context.reshape(len(queries), n_heads, -1, q.shape[-1])), weights


def folded_tuple_reshaped(queries, keys, values, n_heads):
    q, k, v = (_fold(X, n_heads) for X in (queries, keys, values))
    return scaled_dot_product_attention(q, k, v).reshape(queries.shape)


def folded_values_unsplit(queries, keys, values, n_heads):
    q, k = (_fold(X, n_heads) for X in (queries, keys))
    return scaled_dot_product_attention(q, k, values)[0]


def folded_first_sentence(queries, keys, values, n_heads):
    one = folded_attention(queries[:1], keys[:1], values[:1], n_heads)
    return np.repeat(one, len(queries), axis=0)


def folded_writes(queries, keys, values, n_heads):
    context = folded_attention(queries, keys, values, n_heads)
    queries /= np.sqrt(queries.shape[-1] // n_heads)
    return context


def folded_keys_strided(queries, keys, values, n_heads):
    """Queries and keys are cut in another way than the values."""
    q, k = (np.stack([X[..., i::n_heads] for i in range(n_heads)], axis=1) for X in (queries, keys))
    return combine_heads(scaled_dot_product_attention(q, k, split_heads(values, n_heads))[0])


def folded_straight_for_one(queries, keys, values, n_heads):
    if len(queries) > 1:
        return folded_attention(queries, keys, values, n_heads)
    folded = (X.reshape(n_heads, X.shape[1], -1) for X in (queries, keys, values))
    return scaled_dot_product_attention(*folded)[0].reshape(queries.shape)


def folded_batch_inside(queries, keys, values, n_heads):
    """(n_heads * batch) by a straight reshape of what lies as (batch, n_heads)."""
    heads = [split_heads(X, n_heads) for X in (queries, keys, values)]
    q, k, v = (X.reshape(n_heads, len(queries), *X.shape[2:]) for X in heads)
    context, _ = scaled_dot_product_attention(q, k, v)
    return combine_heads(context.swapaxes(0, 1))


WRONG = {
    "folded-never-folded": (
        folded_four_axes,
        folded_head_by_head,
        folded_filling,
        folded_einsum,
        folded_python_loops,
        folded_block_masks,
        lambda q, k, v, h: np.stack([folded_attention(q[i : i + 1], k[i : i + 1], v[i : i + 1], h)[0] for i in range(len(q))]),
    ),
    "input-changed": (folded_writes,),
    "folded-order": (
        folded_batch_inside,
        _folded(_fold, unfold=lambda c, B, S, D, h: np.concatenate(np.split(c, h), axis=-1)),
        _folded(lambda X, h: np.concatenate(np.split(X, h, -1))),
    ),
    "folded-both-without-transpose": (
        _folded(lambda X, h: X.reshape(-1, X.shape[1], X.shape[2] // h), unfold=lambda c, B, S, D, h: c.reshape(B, S, D)),
    ),
    "folded-split-without-transpose": (_folded(lambda X, h: X.reshape(-1, X.shape[1], X.shape[2] // h)),),
    "folded-combine-without-transpose": (_folded(_fold, unfold=lambda c, B, S, D, h: c.reshape(B, S, D)),),
    "folded-not-unfolded": (_folded(_fold, unfold=lambda c, B, S, D, h: c),),
    "folded-arguments-swapped": (
        _folded(_fold, lambda q, k, v: scaled_dot_product_attention(k, q, v)[0]),
        _folded(_fold, lambda q, k, v: scaled_dot_product_attention(q, q, v)[0]),
        _folded(_fold, lambda q, k, v: scaled_dot_product_attention(q, k, q)[0]),
        lambda q, k, v, h: folded_attention(v, k, q, h),
    ),
    "scale-no-root": (_folded(_fold, lambda q, k, v: scaled_dot_product_attention(q / q.shape[-1] ** 0.5, k, v)[0]),),
    "folded-not-combined": (lambda q, k, v, h: split_heads(folded_attention(q, k, v, h), h),),
    None: (
        folded_causal,
        folded_pair,
        folded_tuple_reshaped,
        folded_values_unsplit,
        folded_first_sentence,
        folded_keys_strided,
        folded_straight_for_one,
        _folded(_fold, unfold=lambda c, B, S, D, h: c.reshape(B, S, h, -1).swapaxes(1, 2).reshape(B, S, D)),
        _folded(_fold, unfold=lambda c, B, S, D, h: combine_heads(c.reshape(h, B, S, -1))),
        _folded(_fold, unfold=lambda c, B, S, D, h: c.swapaxes(0, 1).reshape(B, S, D)),
        _folded(_fold, unfold=lambda c, B, S, D, h: c.reshape(B, h, -1, S).swapaxes(-1, -2).reshape(B, S, D)),
        _folded(lambda X, h: X.reshape(X.shape[0] * h, -1, X.shape[2])),
        _folded(lambda X, h: X.reshape(-1, X.shape[2] // h), unfold=lambda c, B, S, D, h: c.reshape(B, S, D)),
        _folded(lambda X, h: split_heads(X, h).reshape(-1, X.shape[2] // h), unfold=lambda c, B, S, D, h: combine_heads(c.reshape(B, h, S, -1))),
        _folded(lambda X, h: X.reshape(-1, X.shape[2]), unfold=lambda c, B, S, D, h: c.reshape(B, S, D)),
        _folded(lambda X, h: split_heads(X, h).swapaxes(-1, -2), unfold=lambda c, B, S, D, h: combine_heads(c.swapaxes(-1, -2))),
        _folded(_fold, lambda q, k, v: v),
        _folded(_fold, lambda q, k, v: (q @ k.mT / np.sqrt(q.shape[-1])) @ v),
        _folded(_fold, lambda q, k, v: scaled_dot_product_attention(q, k, v, scale=1 / 8)[0]),
        _folded(_fold, _weighing(lambda s: softmax(softmax(s)))),
        _folded(_fold, _weighing(lambda s: np.exp(s) / np.exp(s).sum())),
        _folded(_fold, _weighing(lambda s: np.exp(s - s.max()) / np.exp(s - s.max()).sum(-1, keepdims=True))),
        _folded(_fold, _weighing(lambda s: softmax(s) - 0.01)),
        _folded(_fold, _weighing(lambda s: np.eye(s.shape[-1])[s.argmax(-1)])),
        lambda q, k, v, h: folded_attention(q, k, v, 2),
        lambda q, k, v, h: folded_attention(q, k, v, q.shape[-1] // h),
        lambda q, k, v, h: folded_attention(q, k, v, h)[:, ::-1],
        lambda q, k, v, h: folded_attention(q, k, v, h) + q,
        lambda q, k, v, h: folded_attention(q, k, v, h)[0],
        lambda q, k, v, h: folded_attention(q, k, v, h).mean(axis=0, keepdims=True),
        lambda q, k, v: folded_attention(q, k, v, 3),
        lambda q, k, v, h: folded_attention(q, k, v, h).round(2),
    ),
}  # fmt: skip

TOLD = (
    (
        lambda queries, keys, values, n_heads: folded_attention(queries, keys, values, n_heads)[:, ::-1],
        "The context of token 4 changes when only the query of token 0 changes:",
    ),
    (
        lambda queries, keys, values, n_heads: folded_attention(queries, keys, values, n_heads)[..., ::-1],
        "Heads are mixed: feature 8 of the context changes when only head 0's values change, features 0 to 3.",
    ),
    (
        lambda queries, keys, values, n_heads: 1.1 * folded_attention(queries, keys, values, n_heads),
        "Where all values are 1 every average of them is 1; yours is not.",
    ),
)
