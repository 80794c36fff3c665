"""The exercise `padding_mask`."""

import numpy as np

from function_judge.compare import first_place
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.masking.boolean_masks import not_of_ones_and_zeros
from mha_helpers.exercises.masking.mistakes import padding_mask as wrong
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.masks import padding_mask


def _case(trait, *rows):
    return Case(trait, {"attention_mask": np.array(rows)})


CASES = (
    _case("two sentences of five", [1, 1, 1, 0, 0], [1, 1, 1, 1, 0]),
    _case("one sentence", [1, 1, 1, 0]),
    _case("padding on the left", [0, 0, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1]),
    _case("as many sentences as tokens", [1, 0, 0], [1, 1, 0], [1, 1, 1]),
    _case("no padding", [1, 1, 1], [1, 1, 1]),
    _case("a sentence of padding only", [0, 0, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0]),
    _case("one token", [1]),
)


def _hides_a_token(call, arguments, arrays):
    tokens = arguments["attention_mask"][:, None, None, :] != 0
    hidden = arrays[0] == 0
    for what, places in {"hides the token": tokens & hidden, "shows the padding": ~tokens & ~hidden}.items():
        if places.any():
            sentence, _, _, key = place = first_place(places)
            return f"Your mask {what} at key {key} of sentence {sentence}.", place
    return None


exercise = Exercise(
    reference=padding_mask,
    outputs=("mask",),
    cases=CASES,
    mistakes=mistakes_in(wrong),
    properties=(not_of_ones_and_zeros, _hides_a_token),
    hints=(
        "Two things to do: turn 1 and 0 into True and False, and give the array two more axes.",
        "The mask differs from sentence to sentence and from key to key, but not from query to query. An axis of "
        "length 1 says just that, and notebook 04 needs another one, for the heads.",
        "`a[:, None, None, :]` puts two axes of length 1 in the middle; `a == 1` gives booleans.",
    ),
    on_success="You can keep padding out of every average.",
)
