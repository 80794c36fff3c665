"""Seeing which arrays a learner's function makes on its way, where the way is what an exercise asks for."""

import sys

import numpy as np


def shapes_on_the_way(call):
    """Return the shapes of the arrays that variables hold while something is called.

    Parameters
    ----------
    call : callable
        Takes nothing.

    Returns
    -------
    set of tuple of int
        Of every variable of every Python function on the way, parts of tuples and lists included. An array that is
        never given a name or passed to a Python function is not seen.

    Examples
    --------
    >>> def double(row):
    ...     column = row[:, None]
    ...     return 2 * column
    >>> sorted(shapes_on_the_way(lambda: double(np.ones(3))))
    [(3,), (3, 1)]
    """
    shapes = set()

    def look(frame, event, argument):
        for value in frame.f_locals.values():
            parts = value if isinstance(value, tuple | list) else (value,)
            shapes.update(part.shape for part in parts if isinstance(part, np.ndarray))
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        call()
    finally:
        sys.settrace(before)
    return shapes
