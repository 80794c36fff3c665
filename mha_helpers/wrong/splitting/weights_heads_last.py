"""The mistakes that people make in `weights_heads_last`."""

import numpy as np

from mha_helpers.maths.attention import softmax
from mha_helpers.wrong.catalogue import also, maker
from mha_helpers.wrong.steps import exp_shares, normalised, root, swap


def _scores(queries, keys):
    return np.einsum("bqhd,bkhd->bhqk", queries, keys)


@maker
def _scaled_by(factor):
    return lambda queries, keys: softmax(_scores(queries, keys) * factor(queries, keys))


@maker
def _root_of(size):
    return _scaled_by(lambda queries, keys: 1 / np.sqrt(size(queries, keys)))


def _over(queries, keys, axis):
    return exp_shares(_scores(queries, keys) * root(queries), axis)


def _right(queries, keys):
    return softmax(_scores(queries, keys) * root(queries))


def _reshaped(array):
    """Bring the heads in front by a reshape."""
    batch, n_tokens, n_heads, d_head = array.shape
    return array.reshape(batch, n_heads, n_tokens, d_head)


@also(lambda queries, keys: softmax(queries @ swap(keys) * root(queries)))
def heads_last_not_moved(queries, keys):
    """You multiply the last two axes as they come, heads by features. So heads are compared with heads, within one
    token. Queries must meet keys: first bring the heads in front of the tokens, in queries and in keys."""
    return softmax(queries @ swap(keys) * root(queries)).swapaxes(1, 2)


def heads_last_reshaped(queries, keys):
    """The shape is right, but you brought the heads to the front with a reshape, which doesn't move any numbers, so
    tokens and heads are mixed. Swap the two axes instead: swapaxes(1, 2)."""
    return softmax(_reshaped(queries) @ swap(_reshaped(keys)) * root(queries))


@also(
    lambda queries, keys: np.moveaxis(_right(queries, keys), 1, -1),
    lambda queries, keys: _right(queries, keys).swapaxes(0, 1),
)
def heads_last_layout(queries, keys):
    """The numbers are right, but their axes are in another order. It should be (batch, n_heads, n_queries, n_keys)."""
    return _right(queries, keys).swapaxes(1, 2)


@also(lambda queries, keys: swap(_right(queries, keys)))
def scores_keys_by_queries(queries, keys):
    """You swapped queries and keys: your rows are keys, and your columns are queries. Rows ask, columns are asked."""
    return _right(keys, queries)


def softmax_over_queries(queries, keys):
    """Your columns sum to 1, not your rows: softmax runs along the queries. It belongs along the keys, axis=-1."""
    return _over(queries, keys, -2)


@also(lambda queries, keys: softmax(np.moveaxis(_scores(queries, keys), 1, -1) * root(queries)))
def mha_softmax_over_heads(queries, keys):
    """Your weights sum to 1 over the heads. Each head shares out its own attention, over the keys: axis=-1."""
    return _over(queries, keys, 1)


@also(axis=(None,))
def softmax_global(queries, keys, axis=(-2, -1)):
    """You divide by one sum over several rows. Each row needs its own: axis=-1, keepdims=True."""
    return _over(queries, keys, axis)


@_scaled_by
def scale_missing(queries, keys):
    """The scores are not divided. Divide them by the root of the number of features in one head, the last axis."""
    return 1


def scale_after_softmax(queries, keys):
    """You divide the weights, after the softmax. They then no longer add up to 1. Divide the scores."""
    return softmax(_scores(queries, keys)) * root(queries)


@_root_of
def scale_n_heads(queries, keys):
    """You divide by the root of the number of heads, which stands at axis -2 here. Divide by the root of the head's
    width, queries.shape[-1]."""
    return queries.shape[-2]


@_root_of
def scale_d_model(queries, keys):
    """You divide by the root of the whole width, n_heads * d_head. Each score is a sum over one head's features, so
    divide by the root of d_head, the last axis."""
    return queries.shape[-1] * queries.shape[-2]


@_root_of
@also(lambda queries, keys: queries.shape[1])
def scale_n_keys(queries, keys):
    """You divide by the root of the number of tokens. How many words there are doesn't matter; divide by the root of
    the head's width, queries.shape[-1]."""
    return keys.shape[1]


@_scaled_by
def scale_no_root(queries, keys):
    """You divide by the head's width itself. Divide by its root."""
    return 1 / queries.shape[-1]


@_scaled_by
def scale_multiplied(queries, keys):
    """You multiply by the root of the head's width. Divide by it."""
    return queries.shape[-1] ** 0.5


@also(_scores)
def returns_scores(queries, keys):
    """These are scores. The weights are their softmax, along the keys."""
    return _scores(queries, keys) * root(queries)


@also(lambda queries, keys: softmax(np.einsum("bqhd,bkhd->bqk", queries, keys) * root(queries)))
def mha_mean_heads(queries, keys):
    """You add the heads up or average them. Each head keeps weights of its own."""
    return _right(queries, keys).mean(axis=1)


def softmax_no_max(queries, keys):
    """Right for ordinary scores, but exp(1000) is too large for any float. Subtract each row's largest score first."""
    return normalised(np.exp(_scores(queries, keys) * root(queries)), -1)
