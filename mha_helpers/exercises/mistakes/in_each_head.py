"""What people do wrong with the scores of each head, whatever exercise asks for them.

Each is a step of `steps.attention_with`: what the scores are multiplied by, or how they become weights.
"""

import numpy as np

from mha_helpers.attention import softmax_or_zeros
from mha_helpers.exercises.mistakes.catalogue import also
from mha_helpers.exercises.mistakes.steps import normalised


def scale_missing(queries, keys, values):
    """The scores are not divided. Divide them by sqrt(d_head), the root of queries.shape[-1]."""
    return 1


def scale_d_model(queries, keys, values):
    """You divide by sqrt(d_model), the width of all heads together. Each dot product adds up the features of one head
    only, so divide by sqrt(d_head)."""
    return (queries.shape[-3] * queries.shape[-1]) ** -0.5


def scale_no_root(queries, keys, values):
    """You divide by d_head itself, or by its root twice. The variance of the scores grows like d_head, but their spread
    grows like its *root*, so that is what you divide by, once."""
    return 1 / queries.shape[-1]


def scale_multiplied(queries, keys, values):
    """You multiply by sqrt(d_head). The scores are already too large: divide."""
    return queries.shape[-1] ** 0.5


@also(lambda queries, keys, values: queries.shape[-2] ** -0.5)
def scale_n_keys(queries, keys, values):
    """You divide by the root of the number of tokens. What makes scores large is the number of features in each dot
    product: divide by sqrt(d_head), the root of queries.shape[-1]."""
    return keys.shape[-2] ** -0.5


def scale_n_heads(queries, keys, values):
    """You divide by the root of the number of heads. Divide by that of the width of a head, sqrt(d_head)."""
    return queries.shape[-3] ** -0.5


@also(lambda queries, keys, values: 1 / (2 * queries.shape[-1]))
def scale_precedence(queries, keys, values):
    """`d ** 1 / 2` is (d ** 1) / 2, half of d: the power binds first. Write d ** 0.5, or np.sqrt(d)."""
    return 2 / queries.shape[-1]


def _own_maximum_over_queries(scores):
    """Each row's own maximum is subtracted, and the sum runs over the queries."""
    largest = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isneginf(largest), 0, largest))
    total = exponentials.sum(axis=-2, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def over(scores, axis):
    """The softmax along another axis; where all are hidden it gives zeros."""
    return np.moveaxis(softmax_or_zeros(np.moveaxis(scores, axis, -1)), -1, axis)


@also(_own_maximum_over_queries)
def softmax_over_queries(scores):
    """Your softmax runs over the queries, so that columns sum to 1. Each query shares out its own attention: over the
    keys, axis=-1."""
    return over(scores, -2)


def mha_softmax_over_heads(scores):
    """Your softmax runs over the heads, so that for each query and key, the heads' weights sum to 1. Each head shares
    out its own attention over the keys: axis=-1."""
    return over(scores, -3)


def softmax_no_max(scores):
    """Right for ordinary scores; it goes wrong when they are very large or very low. Subtract each row's own largest
    score before exp."""
    return np.where(np.isneginf(scores).all(axis=-1, keepdims=True), 0, normalised(np.exp(scores)))


# What people do wrong in a whole multi-head attention, whoever the keys belong to.
SCALES = (scale_missing, scale_no_root, scale_multiplied, scale_n_keys, scale_n_heads, scale_precedence)
SOFTMAXES = (mha_softmax_over_heads, softmax_over_queries, softmax_no_max)
