"""What the two exercises that build a mask share."""

import numpy as np

from function_judge.properties import first_marked

ASKS_FOR_BOOLEANS = "True where a query may attend, False where it may not"


def not_of_ones_and_zeros(call, arguments, arrays):
    if np.isin(arrays[0], (0, 1)).all():
        return None
    if np.isin(arrays[0], (-1, -2)).all():
        return "To whole numbers ~ is something else: ~1 is -2, and ~0 is -1. Make booleans first."
    return f"A mask here holds only booleans: {ASKS_FOR_BOOLEANS}."


def sees_the_future(call, arguments, arrays):
    later = np.triu(arrays[0] != 0, k=1)
    return first_marked(later, lambda query, key: f"Query {query} sees key {key}, which comes after it.")
