"""The exercise `attention_scores`, and the mistakes that people make in it."""

import math

import numpy as np

from mha_helpers.attention import attention_scores, softmax
from mha_helpers.exercises.common import (
    batch_mixed,
    draws,
    normalised,
    not_finite,
    swap,
)
from mha_helpers.exercises.engine import Case, Exercise, Mistake


def _score_cases():
    swapped = draws(5, queries=(4, 3), keys=(4, 5))
    single = {name: array.astype(np.float32) for name, array in draws(4, queries=(3, 4), keys=(6, 4)).items()}
    return (
        Case("self-attention", draws(0, queries=(4, 3), keys=(4, 3))),
        Case("more keys than queries", draws(1, queries=(3, 4), keys=(5, 4))),
        Case("a batch", draws(2, queries=(2, 3, 4), keys=(2, 5, 4))),
        Case("a batch with heads", draws(3, queries=(2, 3, 4, 6), keys=(2, 3, 5, 6))),
        Case("float32", single),
        Case("transposed views", {name: array.T for name, array in swapped.items()}),
        Case("square matrices", draws(6, queries=(3, 3), keys=(3, 3))),
        Case("a cube", draws(7, queries=(3, 3, 3), keys=(3, 3, 3))),
        Case("more queries than keys", {name: a / 3 for name, a in draws(9, queries=(5, 4), keys=(3, 4)).items()}),
        Case("keys equal to queries", dict.fromkeys(("queries", "keys"), draws(10, X=(4, 3))["X"])),
        Case("a batch of one query", draws(11, queries=(1, 1, 4), keys=(1, 3, 4))),
        Case(
            "large vectors",
            {name: 100 * array for name, array in draws(8, queries=(2, 5), keys=(3, 5)).items()},
            stress=True,
        ),
    )


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
        "`*` multiplies cell by cell, and compares query i with key i only. Every query meets every key: a matrix "
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
        ),
    ),
    Mistake(
        "scores-no-transpose",
        "queries @ keys multiplies a query's features with keys, and the inner axes do not fit (where they do, by "
        "chance, the numbers are wrong). Transpose the keys' last two axes.",
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


def _indifferent_to_keys(call, arguments, arrays):
    changed = call(keys=arguments["keys"][..., ::-1, :] + 1)
    if changed is None or not np.allclose(changed[0], arrays[0], atol=1e-4):
        return None
    return "Your scores do not change when the keys change."


def _not_proportional(call, arguments, arrays):
    doubled = call(queries=2 * arguments["queries"])
    if doubled is None or np.allclose(doubled[0], 2 * arrays[0], atol=1e-4):
        return None
    return "Queries twice as long must score twice as high; yours do not."


scores_exercise = Exercise(
    reference=attention_scores,
    outputs=("scores",),
    cases=_score_cases(),
    mistakes=SCORE_MISTAKES,
    properties=(not_finite, batch_mixed(), _indifferent_to_keys, _not_proportional),
    hints=(
        "The score of query i and key j is their dot product. All of them at once are one matrix product.",
        "queries is (..., n_queries, d_head) and keys is (..., n_keys, d_head). For the product the keys' last two "
        "axes must change places.",
        "`keys.T` would turn a batch inside out. `keys.swapaxes(-1, -2)` touches the last two axes only.",
    ),
    now="You can compare every query with every key, for one sentence or a whole batch.",
)
