"""Answers to two_part_scores: right ones in many styles, and wrong ones."""

import math

import numpy as np

from mha_helpers.exercises.scaling.two_part_scores import two_part_scores
from mha_helpers.maths.attention import attention_scores

TELLING_CASE = ("a batch", 5)


def two_parts_side_by_side(content_queries, content_keys, position_queries, position_keys):
    queries = np.concatenate([content_queries, position_queries], axis=-1)
    keys = np.concatenate([content_keys, position_keys], axis=-1)
    return attention_scores(queries, keys) / np.sqrt(queries.shape[-1])


def two_parts_queries_first(content_queries, content_keys, position_queries, position_keys):
    root = (content_queries.shape[-1] + position_queries.shape[-1]) ** 0.5
    return attention_scores(content_queries / root, content_keys) + attention_scores(
        position_queries / root, position_keys
    )


def two_parts_einsum(content_queries, content_keys, position_queries, position_keys):
    both = np.einsum("...qd,...kd->...qk", content_queries, content_keys)
    both = both + np.einsum("...qd,...kd->...qk", position_queries, position_keys)
    return both / np.sqrt(content_keys.shape[-1] + position_keys.shape[-1])


def _sum(content_queries, content_keys, position_queries, position_keys):
    return attention_scores(content_queries, content_keys) + attention_scores(position_queries, position_keys)


def two_parts_in_loops(content_queries, content_keys, position_queries, position_keys):
    if content_queries.ndim > 2:
        items = zip(content_queries, content_keys, position_queries, position_keys, strict=True)
        return [two_parts_in_loops(*item) for item in items]
    root = math.sqrt(len(content_queries[0]) + len(position_queries[0]))
    queries, keys = (
        zip(content_queries, position_queries, strict=True),
        [*zip(content_keys, position_keys, strict=True)],
    )
    return [[(c @ key[0] + p @ key[1]) / root for key in keys] for c, p in queries]


def two_parts_by_broadcasting(content_queries, content_keys, position_queries, position_keys):
    pairs = ((content_queries, content_keys), (position_queries, position_keys))
    scores = sum((queries[..., :, None, :] * keys[..., None, :, :]).sum(axis=-1) for queries, keys in pairs)
    return scores * sum(queries.shape[-1] for queries, _ in pairs) ** -0.5


RIGHT = (
    two_part_scores,
    two_parts_side_by_side,
    two_parts_queries_first,
    two_parts_einsum,
    two_parts_in_loops,
    two_parts_by_broadcasting,
)


def two_parts_below_each_other(content_queries, content_keys, position_queries, position_keys):
    queries, keys = np.concatenate([content_queries, position_queries]), np.concatenate([content_keys, position_keys])
    return queries @ keys.mT / np.sqrt(queries.shape[-1])


WRONG = {
    None: (lambda *parts: _sum(*parts) / 3, lambda *parts: parts[0]),
}

TOLD = (
    (lambda *parts: _sum(*parts) / 5, "You divide the sum by 5.0000; for a spread of 1 it must be 3.0000."),
    (
        two_parts_below_each_other,
        "joined along another axis than you mean. Name it: axis=-1 puts features side by side",
    ),
    (
        lambda cq, ck, pq, pk: _sum(cq, ck, pq, pk) / np.sqrt(cq.shape + pq.shape),
        "`.shape` is all sizes at once, and `*`, `+` and `/` need equal shapes. Take one of them: shape[-1].",
    ),
)
