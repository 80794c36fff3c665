"""Answers to folded_attention: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.attention import combine_heads, folded_attention, scaled_dot_product_attention, split_heads

TELLING_CASE = ("two sentences", 5)


def folded_heads_outside(queries, keys, values, n_heads):
    """(n_heads * batch): another order, and the same one on the way back."""
    batch = len(queries)
    q, k, v = (np.concatenate(np.split(X, n_heads, axis=-1)) for X in (queries, keys, values))
    context, _ = scaled_dot_product_attention(q, k, v)
    return np.concatenate([context[i * batch : (i + 1) * batch] for i in range(n_heads)], axis=-1)


def folded_four_axes(queries, keys, values, n_heads):
    context, _ = scaled_dot_product_attention(*(split_heads(X, n_heads) for X in (queries, keys, values)))
    return combine_heads(context)


RIGHT = (folded_heads_outside,)


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


def folded_causal(queries, keys, values, n_heads):
    q, k, v = (split_heads(X, n_heads) for X in (queries, keys, values))
    return combine_heads(scaled_dot_product_attention(q, k, v, is_causal=True)[0])


def folded_straight_for_one(queries, keys, values, n_heads):
    if len(queries) > 1:
        return folded_attention(queries, keys, values, n_heads)
    folded = (X.reshape(n_heads, X.shape[1], -1) for X in (queries, keys, values))
    return scaled_dot_product_attention(*folded)[0].reshape(queries.shape)


WRONG = {
    "folded-never-folded": (folded_four_axes,),
    None: (
        folded_causal,
        folded_straight_for_one,
        _folded(_fold, unfold=lambda c, B, S, D, h: combine_heads(c.reshape(h, B, S, -1))),
    ),
}

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
