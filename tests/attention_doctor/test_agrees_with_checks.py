"""The doctor and the exercises' checks agree on what is wrong: what both have a name for gets the same from both.

The exercise's wrong program is handed to the doctor as somebody's function.
"""

import numpy as np
import pytest

from attention_doctor import examine
from attention_doctor.names import WORDS
from mha_helpers import exercises


def _scaled(program):
    def attention(queries, keys, values):
        return program(queries, keys, values)

    return attention


def _masked(program):
    def attention(queries, keys, values, mask=None):
        if mask is None:  # the exercise's function is always given one
            mask = np.ones((queries.shape[-2], keys.shape[-2]), bool)
        return program(queries, keys, values, mask)

    return attention


def _multi_head(program):
    def attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        return program(X, W_Q, W_K, W_V, W_O, n_heads, mask)

    return attention


AS_FUNCTIONS = {
    "scaled_dot_product_attention": _scaled,
    "masked_attention": _masked,
    "multi_head_attention": _multi_head,
}
# Another name of the doctor's for the same numbers.
OTHERWISE_NAMED = {
    "scale-twice": "scale-no-root",  # dividing by the root twice is dividing by the width
    "scale-axis-from-front": "scale-n-heads",  # which that axis is, where there are heads
    "mha-shared-head": "combine-one-head",
    "mha-mask-ignored": "mask-ignored",
}
# What the doctor's inputs can't show, or what it takes for a design, with the reason; no other may be healthy.
NOT_SEEN = {
    "scale-values-width": "its values are as wide as its keys",
    "scores-reversed-axes": "right for one sequence at a time, and read so: `Read as` says it",
    "mask-full-row-nan": "that rows which see nothing become NaN is a note, not a fault",
    "mask-tiny-number": "no score that it tries is as low as the number that hides",
    "mha-mask-first-sentence": "a mask that differs by sample is left out there, under `Not tested`",
}
SHARED = [
    (name, mistake) for name in AS_FUNCTIONS for mistake in getattr(exercises, name).mistakes if mistake.slug in WORDS
]


@pytest.mark.parametrize(("name", "mistake"), SHARED, ids=[f"{name}-{mistake.slug}" for name, mistake in SHARED])
def test_what_both_have_a_name_for_gets_it_from_both(name, mistake):
    report = examine(AS_FUNCTIONS[name](mistake.implementations[0]))
    if mistake.slug in NOT_SEEN:
        assert report.healthy, report
        return
    assert report.healthy is False, report
    assert {mistake.slug, OTHERWISE_NAMED.get(mistake.slug)} & set(report.names), report


def test_every_exception_is_one():
    slugs = {mistake.slug for _, mistake in SHARED}
    assert {*OTHERWISE_NAMED, *NOT_SEEN} <= slugs
