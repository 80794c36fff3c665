"""Calling a learner's function: safely, and with its answer read as arrays that can be compared."""

import inspect
import warnings
from dataclasses import dataclass

import numpy as np

from mha_helpers.learner import explain

# Wide enough for a right answer in float32, far narrower than any catalogued mistake.
RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-4, 1e-5

# What says of an input that it cannot be right.
REFUSALS = (ValueError, AssertionError)


@dataclass(frozen=True)
class Outcome:
    """What one call gave: the arrays it returned, or why there are none."""

    returned: object = None
    arrays: tuple | None = None
    boolean: bool = False  # whether what it returned is True and False throughout
    error: BaseException | None = None
    changed: str | None = None  # an argument that the call wrote into


def call_safely(function, arguments, n_outputs, options=None):
    """Call a function on copies of the arguments.

    Parameters
    ----------
    function : callable
    arguments : dict of str to ndarray or int
        Passed in this order, by position.
    n_outputs : int
        How many arrays it should return.
    options : dict of str to ndarray or float, optional
        Passed by name.

    Returns
    -------
    Outcome
        Never an exception, but for a KeyboardInterrupt: that is the learner's own.
    """
    copies, named_copies = (
        {name: value.copy(order="K") if isinstance(value, np.ndarray) else value for name, value in given.items()}
        for given in (arguments, options or {})
    )
    # What NumPy would warn of (an overflow, NaN) is said in the check's own words.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            returned = function(*copies.values(), **named_copies)
        except (Exception, SystemExit) as error:
            return Outcome(error=error)
        if inspect.iscoroutine(returned):
            returned.close()  # an `async def` that nobody awaits would complain when it is thrown away
        arrays = _as_arrays(returned, n_outputs)
    before, after = arguments | (options or {}), copies | named_copies
    changed = (name for name in before if not _unchanged(before[name], after[name]))
    return Outcome(returned, arrays, _is_boolean(returned, arrays), changed=next(changed, None))


def _unchanged(before, after):
    return not isinstance(before, np.ndarray) or np.array_equal(before, after, equal_nan=True)


def _as_arrays(returned, n_outputs):
    """Read what a function returned as arrays of numbers, or return None."""
    # A list of another length is one array, written as a list of rows.
    several = n_outputs > 1 and (
        isinstance(returned, tuple) or (isinstance(returned, list) and len(returned) == n_outputs)
    )
    arrays = []
    for part in returned if several else (returned,):
        try:
            array = np.asarray(part)
            if array.dtype.kind not in "fiubO":
                return None
            # Objects may be Fractions, but not text; and None would be read as NaN.
            if any(isinstance(entry, str | None) for entry in array.flat):
                return None
            arrays.append(array.astype(np.float64))  # a copy: later calls cannot change it
        except Exception:  # whatever an unknown kind of object answers: it is no array, and the check says so
            return None
    return tuple(arrays)


def _is_boolean(returned, arrays):
    if arrays is None or len({array.shape for array in arrays}) != 1:
        return False
    array = np.asarray(returned)
    if array.dtype.kind == "O":  # booleans may be held as objects, too
        return all(isinstance(entry, (bool, np.bool)) for entry in array.flat)
    return array.dtype.kind == "b"


def is_stub(function, outcome):
    """Tell whether a call's outcome is that of an exercise nobody has begun."""
    if isinstance(outcome.error, NotImplementedError):
        return True
    parts = outcome.returned if isinstance(outcome.returned, (tuple, list)) else (outcome.returned,)
    if any(part is ... or part is NotImplemented for part in parts):
        return True
    # None from a function that computes something is a forgotten `return`, not a stub.
    return outcome.error is None and outcome.returned is None and explain.does_nothing(function)


def close(got, wanted):
    """Compare two arrays cell by cell; NaN equals NaN."""
    return np.isclose(got, wanted, rtol=RELATIVE_TOLERANCE, atol=ABSOLUTE_TOLERANCE, equal_nan=True)


def same_shapes(one, other):
    """Tell whether two outcomes hold arrays of the same shapes."""
    return [array.shape for array in one.arrays] == [array.shape for array in other.arrays]


def agree(given, wanted):
    """Tell whether a call gave what the reference gave: the same numbers, and booleans where those were booleans.

    Where the reference refuses its input, any refusal will do, in whatever words.
    """
    if wanted.error is not None:
        return isinstance(given.error, REFUSALS)
    return same(given, wanted) and (given.boolean or not wanted.boolean)


def same(one, other, output=None):
    """Tell whether two calls gave the same arrays (or the same one of them), or failed in the same way."""
    if one.error is not None or other.error is not None:
        if type(one.error) is not type(other.error):
            return False
        # A ValueError's text holds the shapes that clashed; it tells one mistake from another.
        return not isinstance(one.error, ValueError) or str(one.error) == str(other.error)
    if one.arrays is None or other.arrays is None:
        return one.returned is None and other.returned is None
    if len(one.arrays) != len(other.arrays):
        return False
    pairs = list(zip(one.arrays, other.arrays, strict=True))
    compared = pairs if output is None else pairs[output : output + 1]
    return all(a.shape == b.shape and close(a, b).all() for a, b in compared)
