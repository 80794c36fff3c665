"""The mistakes that people make in `attention_scores`."""

import math

import numpy as np

from mha_helpers.attention import attention_scores, softmax
from mha_helpers.exercises.mistakes.catalogue import also
from mha_helpers.exercises.mistakes.steps import swap


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def scores_keys_by_queries(queries, keys):
    """Query and key are swapped: your row i belongs to key i. Rows belong to queries: queries @ keys transposed."""
    return keys @ swap(queries)


@also(lambda queries, keys: np.dot(queries, keys.T))
def scores_reversed_axes(queries, keys):
    """`.T` reverses all the axes, so in a batch the sentences move as well. Only the last two may change places."""
    return queries @ keys.T


@also(lambda queries, keys: swap(keys) @ queries)
def scores_feature_by_feature(queries, keys):
    """You multiply features with features, which gives (d_head, d_head). A score compares one query with one key, over
    all features: (n_queries, n_keys), so transpose the keys, not the queries."""
    return swap(queries) @ keys


@also(
    lambda queries, keys: (queries * keys).sum(axis=-1),
    lambda queries, keys: (queries * keys).sum(axis=-1, keepdims=True),
    lambda queries, keys: queries * keys.T,
)
def scores_elementwise(queries, keys):
    """`*` multiplies cell by cell, so query i meets only key i. Every query should meet every key: that's a matrix
    product, `@`."""
    return queries * keys


@also(
    lambda queries, keys: queries @ keys.transpose(0, 1),
    lambda queries, keys: queries @ keys.transpose(0, 2, 1),
    lambda queries, keys: queries @ keys.transpose(0, 1, 3, 2),
)
def scores_transpose_order(queries, keys):
    """NumPy's `transpose` takes the new order of all axes, so it fits one number of axes only (PyTorch's swaps two).
    Only the last two axes may change places, however many stand in front."""
    return queries @ keys.transpose(1, 0)


@also(lambda queries, keys: np.dot(queries, keys), lambda queries, keys: keys @ queries)
def scores_no_transpose(queries, keys):
    """queries @ keys lines up a query's features with the keys, and those two axes differ in length (if they happen to
    match, the numbers are wrong). Swap the keys' last two axes."""
    return queries @ keys


def scores_reshaped_keys(queries, keys):
    """Reshaping the keys to (d_head, n_keys) gives the right shape with the numbers in the wrong places: a reshape
    moves nothing. Swap the axes: keys.swapaxes(-1, -2)."""
    return queries @ keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])


def scores_axes_from_front(queries, keys):
    """You swap the first two axes, which in a batch are the batch and the keys. Count from the end: keys.swapaxes(-1,
    -2)."""
    return queries @ keys.swapaxes(0, 1)


@also(lambda queries, keys: _unit(queries) @ swap(keys), lambda queries, keys: queries @ swap(_unit(keys)))
def scores_cosine(queries, keys):
    """You divide the vectors by their lengths first (cosine similarity). A score is the plain dot product: long vectors
    score higher, and the model uses that."""
    return _unit(queries) @ swap(_unit(keys))


def scores_np_dot(queries, keys):
    """On a batch `np.dot` (like np.inner and np.tensordot) multiplies every item's queries with every other item's
    keys. `@` (np.matmul) keeps each batch item to itself."""
    return np.dot(queries, swap(keys))


@also(lambda queries, keys: queries[..., 1:] @ swap(keys[..., 1:]))
def scores_feature_left_out(queries, keys):
    """One feature doesn't count: the first or the last of each vector is left out. A slice or a range stops *before*
    its end, so [:-1] drops the last."""
    return queries[..., :-1] @ swap(keys[..., :-1])


def scores_minus(queries, keys):
    """Your scores have the wrong sign, so that what fits best scores lowest. A score is the sum of the products,
    without a minus."""
    return -queries @ swap(keys)


@also(
    lambda queries, keys: abs(queries @ swap(keys)),
    lambda queries, keys: (queries @ swap(keys)) ** 2,
    lambda queries, keys: abs(queries) @ swap(abs(keys)),
)
def scores_clipped(queries, keys):
    """Negative scores become 0, or positive (np.maximum, abs, a square). They say that two vectors point apart, and
    softmax takes them as they are."""
    return np.maximum(queries @ swap(keys), 0)


@also(
    lambda queries, keys: -((queries[..., :, None, :] - keys[..., None, :, :]) ** 2).sum(axis=-1),
    lambda queries, keys: np.linalg.norm(queries[..., :, None, :] - keys[..., None, :, :], axis=-1),
    lambda queries, keys: -np.linalg.norm(queries[..., :, None, :] - keys[..., None, :, :], axis=-1),
    lambda queries, keys: (queries[..., :, None, :] + keys[..., None, :, :]).sum(axis=-1),
)
def scores_distance(queries, keys):
    """You compare by distance, or add where you should multiply. A score is a dot product: multiply feature by feature,
    and add the products up."""
    return ((queries[..., :, None, :] - keys[..., None, :, :]) ** 2).sum(axis=-1)


def scores_queries_only(queries, keys):
    """You compare the queries with themselves. The second factor is the keys."""
    return queries @ swap(queries)


def scores_keys_only(queries, keys):
    """You compare the keys with themselves. The first factor is the queries."""
    return keys @ swap(keys)


def scores_scaled(queries, keys):
    """You divided by sqrt(d_head). That is what transformers do, and notebook 02 shows why; this exercise asks for the
    plain dot products."""
    return attention_scores(queries, keys) / math.sqrt(queries.shape[-1])


def scores_mean(queries, keys):
    """You divided by d_head, or took the mean over the features. A dot product is the sum."""
    return attention_scores(queries, keys) / queries.shape[-1]


@also(lambda queries, keys: softmax(attention_scores(queries, keys) / math.sqrt(queries.shape[-1])))
def scores_softmaxed(queries, keys):
    """These are the weights already. Scores are what goes into the softmax."""
    return softmax(attention_scores(queries, keys))
