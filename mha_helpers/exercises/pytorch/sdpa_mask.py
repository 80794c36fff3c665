"""The exercise `sdpa_mask`: a tokenizer's ones and zeros, and a cache, turned into the mask that PyTorch needs."""

import numpy as np

from function_judge.compare import first_place
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.masking.boolean_masks import not_of_ones_and_zeros
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.pytorch.mistakes import sdpa_mask as wrong
from mha_helpers.masks import sdpa_mask as reference


def _case(trait, n_new, *rows):
    return Case(trait, {"attention_mask": np.array(rows), "n_new": n_new})


def _shows_what_it_must_not(call, arguments, arrays):
    mask, tokens, n_new = arrays[0] != 0, arguments["attention_mask"] != 0, arguments["n_new"]
    n_keys = tokens.shape[1]
    positions = np.arange(n_keys - n_new, n_keys)
    later = np.arange(n_keys) > positions[:, None]
    wrong = {
        "lets a query attend to padding": mask & ~tokens[:, None, None, :],
        "lets a query attend to a later token": mask & later,
        "hides a token that comes no later": ~mask & tokens[:, None, None, :] & ~later,
    }
    for what, places in wrong.items():
        if places.any():
            sentence, _, query, key = place = first_place(places)
            return (
                f"Your mask {what}: in sentence {sentence}, query {query}, which is token {positions[query]}, and "
                f"key {key}.",
                place,
            )
    return None


# What the exercise asks, without the refusals of the course's own.
def sdpa_mask(attention_mask, n_new):
    n_keys = attention_mask.shape[1]
    not_later = np.tri(n_keys, dtype=bool)[-n_new:]
    return (attention_mask == 1)[:, None, None, :] & not_later


exercise = Exercise(
    reference=reference,
    outputs=("mask",),
    cases=(
        _case("two new tokens of five", 2, [1, 1, 1, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1]),
        _case("one new token", 1, [0, 1, 1, 1], [1, 1, 1, 1]),
        _case("no cache yet", 4, [0, 0, 1, 1], [1, 1, 1, 1], [0, 1, 1, 1]),
        _case("padding on the right", 3, [1, 1, 1, 1, 1, 0], [1, 1, 1, 0, 0, 0]),
        _case("one sentence", 3, [0, 1, 1, 1, 1, 1, 1]),
        _case("as many sentences as new tokens", 3, [1, 1, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1]),
    ),
    # Without padding it can't be on the wrong axis, and a new token that is padding is hidden in any triangle.
    probes=(
        _case("no padding", 2, [1, 1, 1, 1], [1, 1, 1, 1]),
        _case("a new token that is padding", 1, [1, 1, 1, 0], [1, 1, 0, 0]),
    ),
    mistakes=mistakes_in(wrong),
    properties=(not_of_ones_and_zeros, _shows_what_it_must_not),
    hints=(
        "Two conditions, and a key has to meet both: it is a token, and it comes no later than the query. The first "
        "differs from sentence to sentence, the second from query to query.",
        "The new queries are the last tokens. Of the whole causal mask, which rows are theirs?",
        "(attention_mask == 1)[:, None, None, :] & np.tri(n_keys, dtype=bool)[-n_new:]",
    ),
    on_success="Pass it to F.scaled_dot_product_attention as attn_mask, and leave is_causal at False.",
    model_answer=sdpa_mask,
)
