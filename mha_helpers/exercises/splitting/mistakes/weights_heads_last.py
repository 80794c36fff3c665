"""The mistakes that people make in `weights_heads_last`."""

import numpy as np

from mha_helpers.attention import softmax
from mha_helpers.exercises.mistakes import in_each_head
from mha_helpers.exercises.mistakes.catalogue import also, maker, mistake_of
from mha_helpers.exercises.mistakes.steps import attention_with, exp_shares, root, swap


def _scores(queries, keys):
    return np.einsum("bqhd,bkhd->bhqk", queries, keys)


def _in_each_head(**steps):
    """Return the weights of attention that brings the heads in front, and does a step in another way."""

    def wrong_weights(queries, keys):
        queries, keys = queries.swapaxes(1, 2), keys.swapaxes(1, 2)
        return attention_with(**steps)(queries, keys, keys)[1]

    return wrong_weights


_scaling = maker(lambda factor: _in_each_head(factor=factor))


_weighing = maker(lambda weigh: _in_each_head(weigh=weigh))


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


SOFTMAXES = tuple(
    mistake_of(_weighing(step))
    for step in (
        in_each_head.softmax_over_queries,
        in_each_head.softmax_no_max,
    )
)


@also(lambda queries, keys: softmax(np.moveaxis(_scores(queries, keys), 1, -1) * root(queries)))
@_weighing
def mha_softmax_over_heads(scores):
    """Your weights sum to 1 over the heads. Each head shares out its own attention, over the keys: axis=-1."""
    return exp_shares(scores, -3)


@_weighing
@also(axis=(None,))
def softmax_global(scores, axis=(-2, -1)):
    """You divide by one sum over several rows. Each row needs its own: axis=-1, keepdims=True."""
    return exp_shares(scores, axis)


SCALES = tuple(
    mistake_of(_scaling(step))
    for step in (
        in_each_head.scale_missing,
        in_each_head.scale_n_heads,
        in_each_head.scale_d_model,
        in_each_head.scale_n_keys,
        in_each_head.scale_no_root,
        in_each_head.scale_multiplied,
    )
)


def scale_after_softmax(queries, keys):
    """You divide the weights, after the softmax. They then no longer add up to 1. Divide the scores."""
    return softmax(_scores(queries, keys)) * root(queries)


@also(_scores)
def returns_scores(queries, keys):
    """These are scores. The weights are their softmax, along the keys."""
    return _scores(queries, keys) * root(queries)


@also(lambda queries, keys: softmax(np.einsum("bqhd,bkhd->bqk", queries, keys) * root(queries)))
def mha_mean_heads(queries, keys):
    """You add the heads up or average them. Each head keeps weights of its own."""
    return _right(queries, keys).mean(axis=1)
