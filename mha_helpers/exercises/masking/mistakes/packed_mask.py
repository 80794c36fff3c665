"""The mistakes that people make in `packed_mask`."""

import numpy as np

from mha_helpers.exercises.mistakes.catalogue import also
from mha_helpers.exercises.mistakes.steps import HIDING_NUMBERS
from mha_helpers.masks import causal_mask, packed_mask


def _same_text(text_numbers):
    return text_numbers[:, None] == text_numbers


def packed_causal_only(text_numbers):
    """Your mask hides the future, but the second text still reads the first one. A key must be in the same text as
    well."""
    return causal_mask(len(text_numbers))


def packed_texts_only(text_numbers):
    """Your mask keeps the texts apart, but within a text each token sees its future. A model that writes would copy the
    next word instead of predicting it: combine it with a causal mask."""
    return _same_text(text_numbers)


def packed_either(text_numbers):
    """You allow a key if *either* condition holds. Both must hold: combine the masks with &, not with |."""
    return _same_text(text_numbers) | causal_mask(len(text_numbers))


@also(lambda text_numbers: ~_same_text(text_numbers))
def packed_other_texts(text_numbers):
    """You hide a text from itself and show it the others. Compare with ==, not with !=."""
    return ~_same_text(text_numbers) & causal_mask(len(text_numbers))


def packed_inverted(text_numbers):
    """Your mask is True where a key is *hidden*. In this course True means: may attend."""
    return ~packed_mask(text_numbers)


def packed_future(text_numbers):
    """Within its text each query sees itself and the *future*. The past is below the diagonal: np.tril, or j <= i."""
    return packed_mask(text_numbers).T


def packed_strict(text_numbers):
    """You hide the diagonal, too: a token may attend to itself. As it is, the first token of each text sees nothing."""
    return packed_mask(text_numbers) & ~np.eye(len(text_numbers), dtype=bool)


def packed_row_by_row(text_numbers):
    """`text_numbers` has one axis, and .T leaves it as it is, so you compare each token with itself alone. Make a
    column of it, text_numbers[:, None]: then == compares every token with every other."""
    return text_numbers == text_numbers.T


@also(lambda text_numbers: (text_numbers[:, None] <= text_numbers) & causal_mask(len(text_numbers)))
def packed_later_texts_see_earlier(text_numbers):
    """You compare the text numbers with <= or >=, so one text still sees another. Two tokens belong together where
    their numbers are equal: ==."""
    return (text_numbers[:, None] >= text_numbers) & causal_mask(len(text_numbers))


@also(lambda text_numbers: (causal_mask(len(text_numbers)) & text_numbers[:, None]) == text_numbers)
def packed_brackets(text_numbers):
    """`&` binds tighter than `==`, so the mask is combined with the text numbers, not with the comparison. Put brackets
    round it: (text_numbers[:, None] == text_numbers) & causal_mask(n)."""
    return text_numbers[:, None] == (text_numbers & causal_mask(len(text_numbers)))


@also(lambda text_numbers: text_numbers[:, None] <= text_numbers)
def packed_one_comparison(text_numbers):
    """You only compare the text numbers, with <= or >=. That allows too much twice over: one text sees another, and
    within a text each token sees its future. Two things must hold: the numbers are equal (==), and the key isn't in the
    future (a causal mask). Combine them with &."""
    return text_numbers[:, None] >= text_numbers


@also(lambda text_numbers: text_numbers == text_numbers[0])
def packed_one_row(text_numbers):
    """You return one row. Every query needs a row of its own: (n, n)."""
    return text_numbers == text_numbers[-1]


def packed_numbers(text_numbers):
    """The pattern is right, but it is made of the numbers 1 and 0. What is wanted is booleans, True where a query may
    attend, False where it may not: `.astype(bool)`, or dtype=bool."""
    return packed_mask(text_numbers).astype(float)


@also(hiding=HIDING_NUMBERS)
def packed_additive(text_numbers, hiding=-np.inf):
    """Those are numbers to be added to the scores, 0 and -inf (or very low). What is wanted is booleans: True where a
    query may attend, False where it may not."""
    return np.where(packed_mask(text_numbers), 0.0, hiding)


@also(lambda text_numbers: packed_mask(text_numbers)[None])
def packed_extra_axes(text_numbers):
    """The pattern is right, but there are axes of length 1 in front. What is wanted is (n, n)."""
    return packed_mask(text_numbers)[None, None]
