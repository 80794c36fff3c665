"""Telling whether an array of two values is a pattern that was asked for, whichever value stands for True."""

import numpy as np

from function_judge.known_numbers import layouts_of


def is_the_pattern(array: np.ndarray, wanted: np.ndarray) -> bool | None:
    """Tell whether an array of two values is True where it should be, its axes in whatever order.

    Parameters
    ----------
    array : ndarray
        True and False, ones and zeros, zeros and -inf, or any other two values.
    wanted : ndarray of bool, shape (..., n_rows, n_columns)

    Returns
    -------
    bool or None
        None where it can't be told: part of the pattern, or something else.

    Examples
    --------
    >>> triangle = np.tri(4, dtype=bool)
    >>> is_the_pattern(np.where(triangle, 0.0, -np.inf), triangle), is_the_pattern(np.tri(4, k=1), triangle)
    (True, False)
    """
    pattern = array == array.max()
    if pattern.all() or array.ndim < 2:
        return None
    if pattern.size != wanted.size:
        return _is_one_for_all(pattern, wanted)
    layouts = list(layouts_of(wanted, pattern.shape))
    if not layouts:
        return None  # as many entries in other axes: it is laid over something else
    return any(_are_the_same(pattern, layout) for layout in layouts)


def is_just_as_wanted(array: np.ndarray, wanted: np.ndarray) -> bool:
    """Tell whether a right pattern needs no turning, and says where it is True and not where it is False."""
    pattern = array == array.max()
    if pattern.shape != wanted.shape:
        wanted = wanted.reshape(-1, *wanted.shape[-2:])[0]
    return pattern.shape != wanted.shape or bool((pattern == wanted).all())


def _is_one_for_all(pattern, wanted):
    """Tell whether a square pattern is the one that all items of a batch share; None where it may be part of theirs.

    Most people make one triangle, (n, n), and let it broadcast; without this it could not be told from any other array.
    """
    each = wanted.reshape(-1, *wanted.shape[-2:])
    square = [size for size in pattern.shape if size > 1]
    if len(square) != 2 or square[0] != square[1] or not (each == each[0]).all():
        return None
    wanted, pattern = each[0], pattern.reshape(square)
    is_triangle = np.array_equal(wanted, np.tri(*wanted.shape, dtype=bool))
    if len(pattern) > len(wanted) and is_triangle:
        # Modules make one for the longest input, and use its corner.
        pattern = pattern[tuple(map(slice, wanted.shape))]
    if pattern.shape != wanted.shape:
        return None
    if _are_the_same(pattern, wanted):
        return True
    # Part of a pattern may be laid over the rest later; but nobody builds a triangle out of parts.
    return None if not is_triangle and _leaves_out_no_place(pattern, wanted) else False


def _are_the_same(pattern, wanted):
    """Whether two patterns are equal, or opposite: some say which places count, others which are hidden."""
    return bool((pattern == wanted).all() or (pattern == ~wanted).all())


def _leaves_out_no_place(pattern, wanted):
    return any((side | ~wanted).all() for side in (pattern, ~pattern))
