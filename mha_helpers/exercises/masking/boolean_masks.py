"""What the two exercises that build a mask share."""

import numpy as np

ASKS_FOR_BOOLEANS = "True where a query may attend, False where it may not"


def as_numbers(mask_function, kind):
    """Return a function whose mask holds 1 and 0, as numbers of a kind."""
    return lambda given: mask_function(given).astype(kind)


def as_addends(mask_function, hiding):
    """Return a function whose mask is meant to be added to the scores: 0 where visible."""
    return lambda given: np.where(mask_function(given), 0.0, hiding)


# Numbers that are added in order to hide.
HIDING_NUMBERS = (-np.inf, -1e9, -1e10, -1e5, -1e4, *(np.finfo(kind).min for kind in (np.float32, np.float64)))


def not_of_ones_and_zeros(call, arguments, arrays):
    if np.isin(arrays[0], (0, 1)).all():
        return None
    if np.isin(arrays[0], (-1, -2)).all():
        return "To whole numbers ~ is something else: ~1 is -2, and ~0 is -1. Make booleans first."
    return f"A mask here holds only booleans: {ASKS_FOR_BOOLEANS}."
