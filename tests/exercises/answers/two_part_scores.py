"""Answers to two_part_scores: right ones in many styles, and wrong ones."""

import math

import numpy as np

from mha_helpers.attention import attention_scores
from mha_helpers.exercises.scaling.two_part_scores import two_part_scores

TELLING_CASE = ("a batch", 5)


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


RIGHT = (
    two_part_scores,
    two_parts_in_loops,
)


def two_parts_below_each_other(content_queries, content_keys, position_queries, position_keys):
    queries, keys = np.concatenate([content_queries, position_queries]), np.concatenate([content_keys, position_keys])
    return queries @ keys.mT / np.sqrt(queries.shape[-1])


WRONG = {
    None: (lambda *parts: _sum(*parts) / 3,),
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
