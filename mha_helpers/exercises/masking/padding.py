"""The exercise `padding_mask`, and the mistakes that people make in it."""

import numpy as np

from mha_helpers.exercises.engine import Case, Exercise, Mistake
from mha_helpers.exercises.masking.common import (
    ASKS_FOR_BOOLEANS,
    HIDING_NUMBERS,
    as_addends,
    as_numbers,
    not_of_ones_and_zeros,
)
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


def _keys(attention_mask):
    return attention_mask.astype(bool)


def _shaped(index):
    return lambda attention_mask: _keys(attention_mask)[index]


PADDING_MISTAKES = (
    Mistake(
        "padding-on-queries",
        "Your mask lies along the queries, (batch, 1, n_queries, 1): it hides everything from the padding, and the "
        "padding from nobody. Hide the *keys*: (batch, 1, 1, n_keys).",
        (_shaped((slice(None), None, slice(None), None)),),
    ),
    Mistake(
        "padding-inverted",
        "Your mask is True at the padding. In this course True means: may attend. 1 marks a token: True belongs there.",
        (
            lambda attention_mask: ~padding_mask(attention_mask),
            lambda attention_mask: ~_keys(attention_mask),
        ),
    ),
    Mistake(
        "padding-no-head-axis",
        "The axis of the heads is missing (or that of the queries, too). Broadcasting lines up axes from the right, so "
        "the batch would meet the heads or the queries. Give it axes of length 1: (batch, 1, 1, n_keys).",
        (
            _keys,
            _shaped((slice(None), None)),
            _shaped((slice(None), None, slice(None))),
        ),
    ),
    Mistake(
        "padding-batch-as-queries",
        "Your axes are (1, 1, batch, n_keys): the sentences stand where the queries should. The batch comes first: "
        "(batch, 1, 1, n_keys).",
        (_shaped((None, None)), _shaped((None,)), lambda attention_mask: _keys(attention_mask)[None, :, None]),
    ),
    Mistake(
        "padding-float",
        f"The pattern is right, but it is made of the numbers 1 and 0. Asked are booleans, {ASKS_FOR_BOOLEANS}: "
        "numbers would be added to the scores by PyTorch, and hide nothing. `.astype(bool)`, or `== 1`.",
        (as_numbers(padding_mask, float), as_numbers(padding_mask, int)),
    ),
    Mistake(
        "padding-additive",
        "Those are numbers to be added to the scores, 0 and -inf (or very low). Asked is a boolean mask: "
        f"{ASKS_FOR_BOOLEANS}.",
        tuple(as_addends(padding_mask, hiding) for hiding in HIDING_NUMBERS),
    ),
    Mistake(
        "padding-zero-times-inf",
        "0 * inf is NaN, so the visible places hold NaN. Asked is a boolean mask anyway: no arithmetic is needed.",
        (
            lambda attention_mask: (1 - attention_mask)[:, None, None, :] * -np.inf,
            lambda attention_mask: attention_mask[:, None, None, :] * -np.inf,
        ),
    ),
    Mistake(
        "padding-pairs",
        "You hide the padding's rows as well as its columns. What a padding token itself attends to does no harm, as "
        "its output is thrown away, and a row with nothing in it needs special care. Hide keys: (batch, 1, 1, n_keys).",
        (
            lambda attention_mask: (_keys(attention_mask)[:, :, None] & _keys(attention_mask)[:, None])[:, None],
            lambda attention_mask: _keys(attention_mask)[:, :, None] & _keys(attention_mask)[:, None],
        ),
    ),
    Mistake(
        "padding-repeated",
        "The pattern is right, but written out once for each query. Leave an axis of length 1, (batch, 1, 1, n_keys): "
        "broadcasting repeats it, for any number of queries and heads.",
        (
            lambda attention_mask: np.repeat(padding_mask(attention_mask), attention_mask.shape[1], axis=-2),
            lambda attention_mask: np.repeat(padding_mask(attention_mask), attention_mask.shape[1], axis=-2)[:, 0],
        ),
    ),
)


def _hides_a_token(call, arguments, arrays):
    tokens = arguments["attention_mask"][:, None, None, :] != 0
    hidden = arrays[0] == 0
    for what, places in {"hides the token": tokens & hidden, "shows the padding": ~tokens & ~hidden}.items():
        if places.any():
            sentence, _, _, key = np.argwhere(places)[0]
            return f"Your mask {what} at key {key} of sentence {sentence}."
    return None


padding_exercise = Exercise(
    reference=padding_mask,
    outputs=("mask",),
    cases=CASES,
    mistakes=PADDING_MISTAKES,
    properties=(not_of_ones_and_zeros, _hides_a_token),
    hints=(
        "Two things to do: turn 1 and 0 into True and False, and give the array two more axes.",
        "The scores are (batch, n_heads, n_queries, n_keys). The mask says something about batch and keys; for all "
        "heads and queries it is the same, and an axis of length 1 says just that.",
        "`a[:, None, None, :]` puts two axes of length 1 in the middle; `a == 1` gives booleans.",
    ),
    now="You can keep padding out of every average.",
)
