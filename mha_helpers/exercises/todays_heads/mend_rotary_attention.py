"""The exercise `mend_rotary_attention`: rotated attention with a cache, with two mistakes that leave its shapes."""

import numpy as np

from function_judge.properties import batch_mixed, not_finite
from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.todays_heads.mistakes import mend_rotary_attention as wrong
from mha_helpers.rotary import rotate


def mend_rotary_attention(queries, keys, values, n_old):
    queries, keys = rotate(queries, start=n_old), rotate(keys)
    mask = np.tri(keys.shape[-2], dtype=bool)[n_old:]
    context, _ = scaled_dot_product_attention(queries, keys, values, mask=mask)
    return context


def _case(trait, seed, batch, n_queries, n_old, d_head, d_value):
    n_keys = n_old + n_queries
    shapes = {"queries": (n_queries, d_head), "keys": (n_keys, d_head), "values": (n_keys, d_value)}
    drawn = draws(seed, **{name: (*batch, *shape) for name, shape in shapes.items()})
    return Case(trait, drawn | {"n_old": n_old})


def _cases():
    return (
        _case("two new tokens after three", 0, (), 2, 3, 4, 6),
        _case("no old tokens", 1, (), 4, 0, 6, 2),
        _case("one new token", 2, (), 1, 5, 4, 6),
        _case("a batch", 3, (2,), 3, 4, 6, 2),
        _case("a batch with heads", 4, (2, 3), 2, 5, 4, 6),
        _case("many old tokens", 5, (), 2, 30, 8, 4),
        in_float32(_case("", 6, (), 2, 3, 4, 6).arguments),
        whole_numbers(_case("", 7, (), 2, 3, 4, 6).arguments),
    )


exercise = Exercise(
    reference=mend_rotary_attention,
    outputs=("context",),
    cases=_cases(),
    mistakes=mistakes_in(wrong),
    properties=(not_finite, batch_mixed("queries", "keys", "values")),
    hints=(
        "What does a position have to change: whom a token attends to, or what it hands over? And where does the first "
        "new query stand?",
        "The keys begin with the first token of all, so they are rotated from 0. The queries are only the new ones, "
        "which come after n_old others. The values tell nobody where they stand.",
        "queries, keys = rotate(queries, start=n_old), rotate(keys), and the values and the mask as they are.",
    ),
    on_success="Rotation and cache go together: the new token stands where it really stands.",
    broken_version=wrong.mend_rotary_attention,
)
