"""The mistakes that people make in `packed_mask`."""

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.masking.boolean_masks import ASKS_FOR_BOOLEANS, HIDING_NUMBERS, as_addends, as_numbers
from mha_helpers.maths.masks import causal_mask, packed_mask


def _same_text(text_numbers):
    return text_numbers[:, None] == text_numbers


PACKED_MISTAKES = (
    Mistake(
        "packed-causal-only",
        "Your mask hides the future, but the second text still reads the first one. A key must be in the same text as "
        "well.",
        (lambda text_numbers: causal_mask(len(text_numbers)),),
    ),
    Mistake(
        "packed-texts-only",
        "Your mask keeps the texts apart, but within a text each token sees its future. A model that writes would copy "
        "the next word instead of predicting it: combine it with a causal mask.",
        (_same_text,),
    ),
    Mistake(
        "packed-either",
        "You allow a key if *either* condition holds. Both must hold: combine the masks with &, not with |.",
        (lambda text_numbers: _same_text(text_numbers) | causal_mask(len(text_numbers)),),
    ),
    Mistake(
        "packed-other-texts",
        "You hide a text from itself and show it the others. Compare with ==, not with !=.",
        (
            lambda text_numbers: ~_same_text(text_numbers) & causal_mask(len(text_numbers)),
            lambda text_numbers: ~_same_text(text_numbers),
        ),
    ),
    Mistake(
        "packed-inverted",
        "Your mask is True where a key is *hidden*. In this course True means: may attend.",
        (lambda text_numbers: ~packed_mask(text_numbers),),
    ),
    Mistake(
        "packed-future",
        "Within its text each query sees itself and the *future*. The past is below the diagonal: np.tril, or j <= i.",
        (
            lambda text_numbers: packed_mask(text_numbers).T,
            lambda text_numbers: np.triu(_same_text(text_numbers)),
        ),
    ),
    Mistake(
        "packed-strict",
        "You hide the diagonal, too: a token may attend to itself. As it is, the first token of each text sees "
        "nothing.",
        (lambda text_numbers: packed_mask(text_numbers) & ~np.eye(len(text_numbers), dtype=bool),),
    ),
    Mistake(
        "packed-later-texts-see-earlier",
        "You compare the text numbers with <= or >=, so one text still sees another. Two tokens belong together where "
        "their numbers are equal: ==.",
        (
            lambda text_numbers: (text_numbers[:, None] >= text_numbers) & causal_mask(len(text_numbers)),
            lambda text_numbers: (text_numbers[:, None] <= text_numbers) & causal_mask(len(text_numbers)),
        ),
    ),
    Mistake(
        "packed-brackets",
        "`&` binds tighter than `==`, so the mask is combined with the text numbers, not with the comparison. Put "
        "brackets round it: (text_numbers[:, None] == text_numbers) & causal_mask(n).",
        (
            lambda text_numbers: text_numbers[:, None] == (text_numbers & causal_mask(len(text_numbers))),
            lambda text_numbers: (causal_mask(len(text_numbers)) & text_numbers[:, None]) == text_numbers,
        ),
    ),
    Mistake(
        "packed-one-comparison",
        "You only compare the text numbers, with <= or >=. That allows too much twice over: one text sees another, and "
        "within a text each token sees its future. Two things must hold: the numbers are equal (==), and the key isn't "
        "in the future (a causal mask). Combine them with &.",
        (
            lambda text_numbers: text_numbers[:, None] >= text_numbers,
            lambda text_numbers: text_numbers[:, None] <= text_numbers,
        ),
    ),
    Mistake(
        "packed-one-row",
        "You return one row. Every query needs a row of its own: (n, n).",
        (
            lambda text_numbers: text_numbers == text_numbers[-1],
            lambda text_numbers: text_numbers == text_numbers[0],
        ),
    ),
    Mistake(
        "packed-numbers",
        "The pattern is right, but it is made of the numbers 1 and 0. What is wanted is booleans, "
        f"{ASKS_FOR_BOOLEANS}: `.astype(bool)`, or dtype=bool.",
        (as_numbers(packed_mask, float), as_numbers(packed_mask, int)),
    ),
    Mistake(
        "packed-additive",
        "Those are numbers to be added to the scores, 0 and -inf (or very low). What is wanted is booleans: "
        f"{ASKS_FOR_BOOLEANS}.",
        tuple(as_addends(packed_mask, hiding) for hiding in HIDING_NUMBERS),
    ),
    Mistake(
        "packed-extra-axes",
        "The pattern is right, but there are axes of length 1 in front. What is wanted is (n, n).",
        (
            lambda text_numbers: packed_mask(text_numbers)[None, None],
            lambda text_numbers: packed_mask(text_numbers)[None],
        ),
    ),
)
