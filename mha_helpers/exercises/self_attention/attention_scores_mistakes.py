"""The mistakes that people make in `attention_scores`."""

import math

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.steps import normalised, swap
from mha_helpers.maths.attention import attention_scores, softmax


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


SCORE_MISTAKES = (
    Mistake(
        "scores-keys-by-queries",
        "Query and key are swapped: your row i belongs to key i. Rows belong to queries: queries @ keys transposed.",
        (lambda queries, keys: keys @ swap(queries),),
    ),
    Mistake(
        "scores-reversed-axes",
        "`.T` reverses all axes, the batch axis too. Swap only the last two: keys.swapaxes(-1, -2).",
        (
            lambda queries, keys: queries @ keys.T,
            lambda queries, keys: np.dot(queries, keys.T),
        ),
    ),
    Mistake(
        "scores-feature-by-feature",
        "You multiply features with features, which gives (d_head, d_head). A score compares one query with one key, "
        "over all features: (n_queries, n_keys), so transpose the keys, not the queries.",
        (
            lambda queries, keys: swap(queries) @ keys,
            lambda queries, keys: queries.T @ keys,
            lambda queries, keys: swap(keys) @ queries,
            lambda queries, keys: keys.T @ queries,
        ),
    ),
    Mistake(
        "scores-elementwise",
        "`*` multiplies cell by cell, so query i meets only key i. Every query should meet every key: that's a matrix "
        "product, `@`.",
        (
            lambda queries, keys: queries * keys,
            lambda queries, keys: (queries * keys).sum(axis=-1),
            lambda queries, keys: (queries * keys).sum(axis=-1, keepdims=True),
            lambda queries, keys: queries * keys.T,
        ),
    ),
    Mistake(
        "scores-transpose-order",
        "NumPy's `transpose` takes the new order of all axes, so it fits one number of axes only (PyTorch's swaps "
        "two). keys.swapaxes(-1, -2) swaps the last two of any number.",
        (
            lambda queries, keys: queries @ keys.transpose(1, 0),
            lambda queries, keys: queries @ keys.transpose(0, 1),
            lambda queries, keys: queries @ keys.transpose(0, 2, 1),
            lambda queries, keys: queries @ keys.transpose(0, 1, 3, 2),
            lambda queries, keys: queries @ keys.transpose(-2, -1),
            lambda queries, keys: queries @ keys.transpose(-1, -2),
        ),
    ),
    Mistake(
        "scores-no-transpose",
        "queries @ keys lines up a query's features with the keys, and those two axes differ in length (if they "
        "happen to match, the numbers are wrong). Swap the keys' last two axes.",
        (
            lambda queries, keys: queries @ keys,
            lambda queries, keys: np.dot(queries, keys),
            lambda queries, keys: keys @ queries,
        ),
    ),
    Mistake(
        "scores-reshaped-keys",
        "Reshaping the keys to (d_head, n_keys) gives the right shape with the numbers in the wrong places: a reshape "
        "moves nothing. Swap the axes: keys.swapaxes(-1, -2).",
        (lambda queries, keys: queries @ keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2]),),
    ),
    Mistake(
        "scores-axes-from-front",
        "You swap the first two axes, which in a batch are the batch and the keys. Count from the end: "
        "keys.swapaxes(-1, -2).",
        (lambda queries, keys: queries @ keys.swapaxes(0, 1),),
    ),
    Mistake(
        "scores-cosine",
        "You divide the vectors by their lengths first (cosine similarity). A score is the plain dot product: long "
        "vectors score higher, and the model uses that.",
        (
            lambda queries, keys: _unit(queries) @ swap(_unit(keys)),
            lambda queries, keys: _unit(queries) @ swap(keys),
            lambda queries, keys: queries @ swap(_unit(keys)),
        ),
    ),
    Mistake(
        "scores-np-dot",
        "On a batch `np.dot` (like np.inner and np.tensordot) multiplies every item's queries with every other item's "
        "keys. `@` (np.matmul) keeps each batch item to itself.",
        (
            lambda queries, keys: np.dot(queries, swap(keys)),
            lambda queries, keys: np.tensordot(queries, keys, axes=(-1, -1)),
        ),
    ),
    Mistake(
        "scores-feature-left-out",
        "One feature doesn't count: the first or the last of each vector is left out. A slice or a range stops "
        "*before* its end, so [:-1] drops the last.",
        (
            lambda queries, keys: queries[..., :-1] @ swap(keys[..., :-1]),
            lambda queries, keys: queries[..., 1:] @ swap(keys[..., 1:]),
        ),
    ),
    Mistake(
        "scores-minus",
        "Your scores have the wrong sign, so that what fits best scores lowest. A score is the sum of the products, "
        "without a minus.",
        (lambda queries, keys: -queries @ swap(keys),),
    ),
    Mistake(
        "scores-clipped",
        "Negative scores become 0, or positive (np.maximum, abs, a square). They say that two vectors point apart, "
        "and softmax takes them as they are.",
        (
            lambda queries, keys: np.maximum(queries @ swap(keys), 0),
            lambda queries, keys: abs(queries @ swap(keys)),
            lambda queries, keys: (queries @ swap(keys)) ** 2,
            lambda queries, keys: abs(queries) @ swap(abs(keys)),
        ),
    ),
    Mistake(
        "scores-distance",
        "You compare by distance, or add where you should multiply. A score is a dot product: multiply feature by "
        "feature, and add the products up.",
        (
            lambda queries, keys: ((queries[..., :, None, :] - keys[..., None, :, :]) ** 2).sum(axis=-1),
            lambda queries, keys: -((queries[..., :, None, :] - keys[..., None, :, :]) ** 2).sum(axis=-1),
            lambda queries, keys: np.linalg.norm(queries[..., :, None, :] - keys[..., None, :, :], axis=-1),
            lambda queries, keys: -np.linalg.norm(queries[..., :, None, :] - keys[..., None, :, :], axis=-1),
            lambda queries, keys: (queries[..., :, None, :] + keys[..., None, :, :]).sum(axis=-1),
        ),
    ),
    Mistake(
        "scores-queries-only",
        "You compare the queries with themselves. The second factor is the keys.",
        (lambda queries, keys: queries @ swap(queries), lambda queries, keys: queries @ queries.T),
    ),
    Mistake(
        "scores-keys-only",
        "You compare the keys with themselves. The first factor is the queries.",
        (lambda queries, keys: keys @ swap(keys), lambda queries, keys: keys @ keys.T),
    ),
    Mistake(
        "scores-scaled",
        "You divided by sqrt(d_head). That is what transformers do, and notebook 02 shows why; this exercise asks for "
        "the plain dot products.",
        (lambda queries, keys: attention_scores(queries, keys) / math.sqrt(queries.shape[-1]),),
    ),
    Mistake(
        "scores-mean",
        "You divided by d_head, or took the mean over the features. A dot product is the sum.",
        (lambda queries, keys: attention_scores(queries, keys) / queries.shape[-1],),
    ),
    Mistake(
        "scores-softmaxed",
        "These are the weights already. Scores are what goes into the softmax.",
        (
            lambda queries, keys: softmax(attention_scores(queries, keys)),
            lambda queries, keys: softmax(attention_scores(queries, keys) / math.sqrt(queries.shape[-1])),
            lambda queries, keys: normalised(np.exp(attention_scores(queries, keys)), -1),
        ),
    ),
)
