"""The mistakes that people make in `padding_mask`."""

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.masking.boolean_masks import (
    ASKS_FOR_BOOLEANS,
    HIDING_NUMBERS,
    as_addends,
    as_numbers,
)
from mha_helpers.maths.masks import padding_mask


def _keys(attention_mask):
    return attention_mask.astype(bool)


def _shaped(index):
    return lambda attention_mask: _keys(attention_mask)[index]


PADDING_MISTAKES = (
    Mistake(
        "padding-on-queries",
        "Your mask lies along the queries, (batch, 1, n_queries, 1). The padding sees nothing, yet every token still "
        "sees the padding. Hide the *keys*: (batch, 1, 1, n_keys).",
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
        "The axis of the heads is missing (or that of the queries, too). Broadcasting lines up axes from the right, "
        "so your batch axis would be matched with the heads or the queries. Add axes of length 1: (batch, 1, 1, "
        "n_keys).",
        (
            _keys,
            _shaped((slice(None), None)),
            _shaped((slice(None), None, slice(None))),
        ),
    ),
    Mistake(
        "padding-batch-as-queries",
        "Your axes are (1, 1, batch, n_keys), with the sentences where the queries should be. The batch comes first: "
        "(batch, 1, 1, n_keys).",
        (_shaped((None, None)), _shaped((None,)), lambda attention_mask: _keys(attention_mask)[None, :, None]),
    ),
    Mistake(
        "padding-float",
        f"The pattern is right, but it is made of the numbers 1 and 0. Give booleans, {ASKS_FOR_BOOLEANS}: "
        "numbers would be added to the scores by PyTorch, and hide nothing. `.astype(bool)`, or `== 1`.",
        (as_numbers(padding_mask, float), as_numbers(padding_mask, int)),
    ),
    Mistake(
        "padding-additive",
        "Those are numbers to be added to the scores, 0 and -inf (or very low). Give a boolean mask: "
        f"{ASKS_FOR_BOOLEANS}.",
        tuple(as_addends(padding_mask, hiding) for hiding in HIDING_NUMBERS),
    ),
    Mistake(
        "padding-zero-times-inf",
        "0 * inf is NaN, so the visible places hold NaN. Give a boolean mask anyway: no arithmetic is needed.",
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
