"""The mistakes that people make in `weights_heads_last`."""

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.steps import normalised, swap
from mha_helpers.maths.attention import softmax


def _scores(queries, keys):
    return np.einsum("bqhd,bkhd->bhqk", queries, keys)


def _scaled_by(factor):
    return lambda queries, keys: softmax(_scores(queries, keys) * factor(queries, keys))


def _root_of(size):
    return _scaled_by(lambda queries, keys: 1 / np.sqrt(size(queries, keys)))


def _over(axis):
    def wrong_weights(queries, keys):
        scores = _scores(queries, keys) / np.sqrt(queries.shape[-1])
        return normalised(np.exp(scores - scores.max(axis=axis, keepdims=True)), axis)

    return wrong_weights


def _right(queries, keys):
    return softmax(_scores(queries, keys) / np.sqrt(queries.shape[-1]))


def _reshaped(array):
    """Bring the heads in front by a reshape."""
    batch, n_tokens, n_heads, d_head = array.shape
    return array.reshape(batch, n_heads, n_tokens, d_head)


WEIGHTS_HEADS_LAST_MISTAKES = (
    Mistake(
        "heads-last-not-moved",
        "You multiply the last two axes as they come, heads by features. So heads are compared with heads, within one "
        "token. Queries must meet keys: first bring the heads in front of the tokens, in queries and in keys.",
        (
            lambda queries, keys: softmax(queries @ swap(keys) / np.sqrt(queries.shape[-1])).swapaxes(1, 2),
            lambda queries, keys: softmax(queries @ swap(keys) / np.sqrt(queries.shape[-1])),
            lambda queries, keys: softmax(np.einsum("bqhd,bqgd->bqhg", queries, keys) / np.sqrt(queries.shape[-1])),
        ),
    ),
    Mistake(
        "heads-last-reshaped",
        "The shape is right, but you brought the heads to the front with a reshape, which doesn't move any numbers, "
        "so tokens and heads are mixed. Swap the two axes instead: swapaxes(1, 2).",
        (lambda queries, keys: softmax(_reshaped(queries) @ swap(_reshaped(keys)) / np.sqrt(queries.shape[-1])),),
    ),
    Mistake(
        "heads-last-layout",
        "The numbers are right, but their axes are in another order. It should be (batch, n_heads, n_queries, n_keys).",
        (
            lambda queries, keys: _right(queries, keys).swapaxes(1, 2),
            lambda queries, keys: np.moveaxis(_right(queries, keys), 1, -1),
            lambda queries, keys: _right(queries, keys).swapaxes(0, 1),
        ),
    ),
    Mistake(
        "scores-keys-by-queries",
        "You swapped queries and keys: your rows are keys, and your columns are queries. Rows ask, columns are asked.",
        (
            lambda queries, keys: _right(keys, queries),
            lambda queries, keys: swap(_right(queries, keys)),
        ),
    ),
    Mistake(
        "softmax-over-queries",
        "Your columns sum to 1, not your rows: softmax runs along the queries. It belongs along the keys, axis=-1.",
        (_over(-2),),
    ),
    Mistake(
        "mha-softmax-over-heads",
        "Your weights sum to 1 over the heads. Each head shares out its own attention, over the keys: axis=-1.",
        (
            _over(1),
            lambda queries, keys: softmax(np.moveaxis(_scores(queries, keys), 1, -1) / np.sqrt(queries.shape[-1])),
        ),
    ),
    Mistake(
        "softmax-global",
        "You divide by one sum over several rows. Each row needs its own: axis=-1, keepdims=True.",
        (_over((-2, -1)), _over(None)),
    ),
    Mistake(
        "scale-missing",
        "The scores are not divided. Divide them by the root of the number of features in one head, the last axis.",
        (_scaled_by(lambda queries, keys: 1),),
    ),
    Mistake(
        "scale-after-softmax",
        "You divide the weights, after the softmax. They then no longer add up to 1. Divide the scores.",
        (lambda queries, keys: softmax(_scores(queries, keys)) / np.sqrt(queries.shape[-1]),),
    ),
    Mistake(
        "scale-n-heads",
        "You divide by the root of the number of heads, which stands at axis -2 here. Divide by the root of the head's "
        "width, queries.shape[-1].",
        (_root_of(lambda queries, keys: queries.shape[-2]),),
    ),
    Mistake(
        "scale-d-model",
        "You divide by the root of the whole width, n_heads * d_head. Each score is a sum over one head's features, so "
        "divide by the root of d_head, the last axis.",
        (_root_of(lambda queries, keys: queries.shape[-1] * queries.shape[-2]),),
    ),
    Mistake(
        "scale-n-keys",
        "You divide by the root of the number of tokens. How many words there are doesn't matter; divide by the root "
        "of the head's width, queries.shape[-1].",
        (_root_of(lambda queries, keys: keys.shape[1]), _root_of(lambda queries, keys: queries.shape[1])),
    ),
    Mistake(
        "scale-no-root",
        "You divide by the head's width itself. Divide by its root.",
        (_scaled_by(lambda queries, keys: 1 / queries.shape[-1]),),
    ),
    Mistake(
        "scale-multiplied",
        "You multiply by the root of the head's width. Divide by it.",
        (_scaled_by(lambda queries, keys: queries.shape[-1] ** 0.5),),
    ),
    Mistake(
        "returns-scores",
        "These are scores. The weights are their softmax, along the keys.",
        (
            lambda queries, keys: _scores(queries, keys) / np.sqrt(queries.shape[-1]),
            _scores,
        ),
    ),
    Mistake(
        "mha-mean-heads",
        "You add the heads up or average them. Each head keeps weights of its own.",
        (
            lambda queries, keys: _right(queries, keys).mean(axis=1),
            lambda queries, keys: softmax(np.einsum("bqhd,bkhd->bqk", queries, keys) / np.sqrt(queries.shape[-1])),
        ),
    ),
    Mistake(
        "softmax-no-max",
        "Right for ordinary scores, but exp(1000) is too large for any float. Subtract each row's largest score first.",
        (lambda queries, keys: normalised(np.exp(_scores(queries, keys) / np.sqrt(queries.shape[-1])), -1),),
    ),
)
