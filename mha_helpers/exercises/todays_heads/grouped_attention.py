"""The exercise `grouped_attention`: several query heads on one head of keys and values."""

import numpy as np

from function_judge.properties import batch_mixed, not_finite
from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.properties import hidden_keys_have_weight, rows_do_not_sum_to_one
from mha_helpers.exercises.todays_heads.mistakes import grouped_attention as wrong
from mha_helpers.grouped import grouped_attention as reference
from mha_helpers.masks import causal_mask


def _arguments(seed, batch, n_heads, n_kv_heads, n_queries, n_keys, d_head, d_value):
    shapes = {"queries": (n_heads, n_queries, d_head), "keys": (n_kv_heads, n_keys, d_head)}
    shapes["values"] = (n_kv_heads, n_keys, d_value)
    return draws(seed, **{name: (*batch, *shape) for name, shape in shapes.items()})


def _cases():
    return (
        Case("six query heads on two", _arguments(0, (), 6, 2, 3, 5, 4, 7)),
        Case("six query heads on three", _arguments(1, (), 6, 3, 4, 5, 2, 3)),
        Case("four query heads on two", _arguments(2, (), 4, 2, 3, 5, 6, 2)),
        Case("one head of keys for all", _arguments(3, (), 3, 1, 4, 5, 2, 6)),
        Case("a head of keys for each", _arguments(4, (), 3, 3, 4, 5, 2, 6)),
        Case("one new token", _arguments(5, (), 8, 2, 1, 6, 4, 3)),
        in_float32(_arguments(6, (), 4, 2, 3, 5, 6, 2)),
        Case("a batch", _arguments(7, (2,), 6, 3, 4, 5, 2, 7)),
        Case("a batch of batches", _arguments(8, (2, 3), 4, 2, 3, 5, 6, 7)),
        Case("a causal mask", _arguments(9, (2,), 6, 2, 4, 4, 3, 5), options={"mask": causal_mask(4)}),
        whole_numbers(_arguments(10, (), 4, 2, 3, 5, 6, 2)),
    )


# What the exercise asks, without the refusals of the course's own.
def grouped_attention(queries, keys, values, mask=None):
    group = queries.shape[-3] // keys.shape[-3]
    keys, values = np.repeat(keys, group, axis=-3), np.repeat(values, group, axis=-3)
    return scaled_dot_product_attention(queries, keys, values, mask=mask)


exercise = Exercise(
    reference=reference,
    outputs=("context", "weights"),
    cases=_cases(),
    mistakes=mistakes_in(wrong),
    properties=(not_finite, rows_do_not_sum_to_one, hidden_keys_have_weight, batch_mixed(n_axes=3)),
    hints=(
        "How many query heads share one head of keys? Divide the numbers of heads: they are the third axis from the "
        "right. Then give each query head its own copy of what it shares, and attend as before.",
        "With six query heads on two, the heads 0, 1, 2 share the first head of keys and 3, 4, 5 the second. So the "
        "keys have to stand in the order 0, 0, 0, 1, 1, 1. Which of np.repeat and np.tile makes that order?",
        "np.repeat(keys, group, axis=-3), the same for the values, then scaled_dot_product_attention with the mask.",
    ),
    on_success="Your heads can share their keys and values. The experiments below run on your function.",
    model_answer=grouped_attention,
)
