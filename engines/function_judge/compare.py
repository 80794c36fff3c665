"""Comparing arrays: equal to rounding, and where the first difference is."""

import numpy as np

# Wide enough for a right answer in float32, far narrower than any known mistake.
RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-4, 1e-5


def close(
    got: np.ndarray,
    wanted: np.ndarray,
    relative: float = RELATIVE_TOLERANCE,
    absolute: float = ABSOLUTE_TOLERANCE,
) -> np.ndarray:
    """Compare two arrays cell by cell; NaN equals NaN, and an infinity only itself.

    What ``numpy.isclose`` answers, in a third of its time: a check compares with many mistakes of its catalogue.

    Parameters
    ----------
    got, wanted : ndarray
        Of shapes that broadcast.
    relative, absolute : float, optional
        The tolerance: this share of `wanted`, and this much.

    Returns
    -------
    ndarray of bool

    Examples
    --------
    >>> close(np.array([1.0, 2.0, np.nan]), np.array([1.00001, 2.1, np.nan]))
    array([ True, False,  True])
    """
    with np.errstate(all="ignore"):  # somebody may have set NumPy to raise where it underflows
        # Where an infinity is wanted, this is NaN, which is not smaller than anything.
        near = np.abs(got - wanted) - relative * np.abs(wanted) <= absolute
        return near | (got == wanted) | ((got != got) & (wanted != wanted))


def equal(got: np.ndarray, wanted: np.ndarray) -> bool:
    """Tell whether two arrays have one shape, and hold the same numbers to rounding.

    Parameters
    ----------
    got, wanted : ndarray

    Examples
    --------
    >>> equal(np.ones((2, 1)), np.ones((1, 2)))
    False
    """
    return got.shape == wanted.shape and bool(close(got, wanted).all())


OF_THE_LARGEST = 1e-4  # wide enough for float32 where large numbers cancel, far narrower than any mistake


def fits(
    actual: np.ndarray | None,
    predicted: np.ndarray | None,
    tolerance: float = OF_THE_LARGEST,
    *,
    vacuous: bool = False,
) -> bool:
    """Tell whether an output is what an equation predicts, to rounding.

    A row for which the equation has nothing to attend to is predicted as NaN, and may hold anything: zeros, an average
    or NaN; so may everything if `vacuous`. Else, where most is predicted as NaN, it must be NaN in the same places.

    Parameters
    ----------
    actual, predicted : ndarray or None
    tolerance : float, optional
        As a share of the largest number that is predicted.
    vacuous : bool, optional

    Examples
    --------
    >>> fits(np.array([[1.0, 0.0], [7.0, 8.0]]), np.array([[1.0, 0.0], [np.nan, np.nan]]))
    True
    """
    if predicted is None or actual is None or actual.shape != predicted.shape:
        return False
    unknown = np.isnan(predicted)
    if unknown.mean() > 0.6 and not vacuous and not np.array_equal(np.isnan(actual), unknown):
        return False
    return not differing(actual, predicted, tolerance).any()


def differing(actual: np.ndarray, predicted: np.ndarray, tolerance: float = OF_THE_LARGEST) -> np.ndarray:
    """Mark the cells of an output that are not what an equation predicts; none where it predicts NaN."""
    unknown = np.isnan(predicted)
    largest = np.abs(predicted[np.isfinite(predicted)]).max(initial=1e-3)
    return ~(close(actual, predicted, 0, tolerance * largest) | unknown)


def first_place(marked: np.ndarray) -> tuple:
    """Return the index of the first cell that is marked, in the order in which rows are read.

    Parameters
    ----------
    marked : ndarray of bool
        With at least one True.

    Examples
    --------
    >>> first_place(np.array([[False, False], [False, True]]))
    (1, 1)
    """
    return tuple(int(i) for i in np.argwhere(marked)[0])


def first_difference(
    name: str, got: np.ndarray, wanted: np.ndarray, different: np.ndarray, *, of_shape: bool = False
) -> str:
    """Say of two arrays which cell is the first that differs, with as many decimals as show it.

    Parameters
    ----------
    name : str
        What the arrays are called.
    got, wanted : ndarray
        Of one shape; booleans and whole numbers are shown as such.
    different : ndarray of bool
        The cells that differ.
    of_shape : bool, optional
        Whether the arrays are shapes themselves, and their cells axes.

    Examples
    --------
    >>> got, wanted = np.array([0.5, 0.25001]), np.array([0.5, 0.25])
    >>> first_difference("shares", got, wanted, got != wanted)
    'shares[1] should be 0.25000; yours is 0.25001.'
    """
    cell = first_place(different)
    ours, yours = _told_apart(wanted[cell], got[cell])
    place = f"{name}[{', '.join(map(str, cell))}]" if cell else name
    place = f"Axis {cell[0]} of {name}" if of_shape else place
    return f"{place} should be {ours}; yours is {yours}."


def _told_apart(*numbers):
    """Write two numbers so that they differ: with as many decimals as it takes."""
    if isinstance(numbers[0], np.integer) or any(isinstance(number, np.bool) for number in numbers):
        exact = np.bool | np.integer
        return [str(number) if isinstance(number, exact) else f"{number + 0.0:.10g}" for number in numbers]
    ours, yours = (float(number) + 0.0 for number in numbers)  # + 0.0 takes the sign off -0.0
    digits = next((d for d in range(4, 12) if f"{ours:.{d}f}" != f"{yours:.{d}f}"), 12)
    return [f"{number:.4g}" if abs(number) >= 1e6 else f"{number:.{digits}f}" for number in (ours, yours)]
