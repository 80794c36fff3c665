"""Telling whether an array is the mask that was asked for, in whichever convention."""

import numpy as np

from function_judge.placing import layouts_of


def is_the_mask(array, allowed):
    """Tell whether an array of two values hides what it should.

    Parameters
    ----------
    array : ndarray
        True and False, ones and zeros, zeros and -inf, or any other two values.
    allowed : ndarray of bool, shape (..., n_queries, n_keys)
        Where a query may attend to a key.

    Returns
    -------
    bool or None
        None where it can't be told: part of the mask, or something else.

    Examples
    --------
    >>> causal = np.tri(4, dtype=bool)
    >>> is_the_mask(np.where(causal, 0.0, -np.inf), causal), is_the_mask(np.tri(4, k=1), causal)
    (True, False)
    """
    pattern = array == array.max()
    if pattern.all() or array.ndim < 2:
        return None
    wanted = allowed
    if pattern.size != allowed.size:
        square = [size for size in pattern.shape if size > 1]
        same = allowed.reshape(-1, *allowed.shape[-2:])
        if len(square) != 2 or square[0] != square[1] or not (same == same[0]).all():
            return None
        wanted, pattern = same[0], pattern.reshape(square)
        if len(pattern) > len(wanted) and np.array_equal(wanted, np.tri(*wanted.shape, dtype=bool)):
            pattern = pattern[tuple(map(slice, wanted.shape))]  # a longer one, of which a corner is used
        if pattern.shape != wanted.shape:
            return None
        if (pattern == wanted).all() or (pattern == ~wanted).all():
            return True
        is_causal = np.array_equal(wanted, np.tri(*wanted.shape, dtype=bool))
        in_part = not is_causal and any((one | ~wanted).all() for one in (pattern, ~pattern))
        return None if in_part else False
    turned = list(layouts_of(wanted, pattern.shape))
    if not turned:
        return None
    return any((pattern == one).all() or (pattern == ~one).all() for one in turned)
