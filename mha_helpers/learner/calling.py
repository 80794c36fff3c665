"""Calling a learner's function: safely, and with its answer read as arrays that can be compared."""

import dis
import inspect
import warnings
from dataclasses import dataclass

import numpy as np

from mha_helpers.learner import explain
from mha_helpers.learner.time_limit import TimedOut, time_limit

# Wide enough for a right answer in float32, far narrower than any catalogued mistake.
RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-4, 1e-5

# A result of more entries than this is far too large for any exercise, and would take minutes to compare.
MOST_ENTRIES = 1_000_000


@dataclass(frozen=True)
class Outcome:
    """What one call gave: the arrays it returned, or why there are none."""

    returned: object = None
    arrays: tuple | None = None
    boolean: bool = False  # whether what it returned is True and False throughout
    error: BaseException | None = None
    changed: str | None = None  # an argument that the call wrote into

    @property
    def parts(self):
        """What was returned, one part for each array that was read from it."""
        return (self.returned,) if len(self.arrays) == 1 else self.returned

    @property
    def is_shapes(self):
        """Whether it is shapes, as a reference that gives shapes returns them: tuples."""
        return self.arrays is not None and all(isinstance(part, tuple) for part in self.parts)

    @property
    def is_whole(self):
        """Whether it is whole numbers throughout, of an integer type."""
        return self.arrays is not None and all(np.asarray(part).dtype.kind in "iu" for part in self.parts)


def call_safely(function, arguments, n_outputs, options=None):
    """Call a function on copies of the arguments.

    Parameters
    ----------
    function : callable
    arguments : dict of str to ndarray or int
        Passed in this order, by position.
    n_outputs : int
        How many arrays it should return.
    options : dict of str to ndarray, tuple of ndarray or float, optional
        Passed by name.

    Returns
    -------
    Outcome
        Never an exception, but for a KeyboardInterrupt: that is the learner's own. A call that takes too long is
        stopped: its error is a TimedOut.
    """
    copies, named_copies = (
        {name: copied(value) for name, value in given.items()} for given in (arguments, options or {})
    )
    # What NumPy would warn of (an overflow, NaN) is said in the check's own words.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            with time_limit():
                returned = function(*copies.values(), **named_copies)
        except (Exception, SystemExit, TimedOut) as error:
            return Outcome(error=error)
        if inspect.iscoroutine(returned):
            returned.close()  # an `async def` that nobody awaits would complain when it is thrown away
        arrays = _as_arrays(returned, n_outputs)
    before, after = arguments | (options or {}), copies | named_copies
    changed = (name for name in before if not _unchanged(before[name], after[name]))
    return Outcome(returned, arrays, _is_boolean(returned, len(arrays or ())), changed=next(changed, None))


def copied(value):
    """Return an argument as a new array, or as a tuple of new arrays; what can't be written into stays as it is."""
    if isinstance(value, tuple):
        return tuple(map(copied, value))
    return value.copy(order="K") if isinstance(value, np.ndarray) else value


def _unchanged(before, after):
    if isinstance(before, tuple):
        return all(map(_unchanged, before, after))
    return not isinstance(before, np.ndarray) or np.array_equal(before, after, equal_nan=True)


def _as_arrays(returned, n_outputs):
    """Read what a function returned as arrays of numbers, or return None."""
    # A list of another length is one array, written as a list of rows.
    several = n_outputs > 1 and (
        isinstance(returned, tuple) or (isinstance(returned, list) and len(returned) == n_outputs)
    )
    arrays = tuple(_as_array(part) for part in (returned if several else (returned,)))
    return None if any(array is None for array in arrays) else arrays


def _as_array(part):
    try:
        array = np.asarray(part)
        if array.dtype.kind not in "fiubO":
            return None
        if array.size > MOST_ENTRIES:
            return np.broadcast_to(np.nan, array.shape)  # its shape says enough
        # Objects may be Fractions, but not text; and None would be read as NaN.
        if array.dtype.kind == "O" and any(isinstance(entry, str | None) for entry in array.flat):
            return None
        return array.astype(np.float64)  # a copy: later calls cannot change it
    except Exception:  # whatever an unknown kind of object answers: it is not an array, and the check says so
        return None


def _is_boolean(returned, n_arrays):
    """Tell whether booleans came back; held as objects they are not booleans: `~` turns True into -2 there."""
    parts = returned if n_arrays > 1 else (returned,)
    return n_arrays > 0 and all(np.asarray(part).dtype.kind == "b" for part in parts)


def is_stub(function, outcome):
    """Tell whether a call's outcome is that of an exercise nobody has begun."""
    if isinstance(outcome.error, NotImplementedError):
        return True
    # A `...` that a stub's own lines store where a number belongs.
    if isinstance(outcome.error, TypeError) and "not 'ellipsis'" in str(outcome.error):
        return True
    parts = list(_leaves(outcome.returned))
    if parts and all(part is ... or part is NotImplemented for part in parts):
        return True
    # None from a function that computes something is a forgotten `return`, not a stub.
    return outcome.error is None and outcome.returned is None and explain.does_nothing(function)


def _leaves(returned):
    """Yield what is returned, part by part, of tuples in tuples as well."""
    if isinstance(returned, (tuple, list)):
        for part in returned:
            yield from _leaves(part)
    else:
        yield returned


def close(got, wanted):
    """Compare two arrays cell by cell; NaN equals NaN, and an infinity only itself.

    What ``numpy.isclose`` answers, in a third of its time: a check compares with every mistake in its catalogue.
    """
    with np.errstate(all="ignore"):  # a learner may have set NumPy to raise where it underflows
        # Where an infinity is wanted, this is NaN, which is not smaller than anything.
        near = np.abs(got - wanted) - RELATIVE_TOLERANCE * np.abs(wanted) <= ABSOLUTE_TOLERANCE
        return near | (got == wanted) | ((got != got) & (wanted != wanted))


def same_shapes(one, other):
    """Tell whether two outcomes hold arrays of the same shapes."""
    return [array.shape for array in one.arrays] == [array.shape for array in other.arrays]


def agree(given, wanted):
    """Tell whether a call gave what the reference gave: the same numbers, and booleans where those were booleans.

    The sizes of a shape must be whole numbers. Where the reference refuses its input, any refusal will do, in whatever
    words.
    """
    if wanted.error is not None:
        return is_refusal(given.error)
    if not same(given, wanted):
        return False
    return (given.boolean or not wanted.boolean) and (given.is_whole or not wanted.is_shapes)


def is_refusal(error):
    """Tell whether an error says of an input that it cannot be right.

    NumPy's own ValueErrors do, and so does whatever a learner raises on purpose: in a `raise` or an `assert`.
    """
    if isinstance(error, ValueError | AssertionError):
        return True
    traceback = getattr(error, "__traceback__", None)
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None or isinstance(error, TimedOut):
        return False
    if traceback.tb_frame.f_globals.get("__name__", "").partition(".")[0] == "numpy":
        return False  # it stumbled over what it was given
    return dis.opname[traceback.tb_frame.f_code.co_code[traceback.tb_lasti]] == "RAISE_VARARGS"


def same(one, other, output=None):
    """Tell whether two calls gave the same arrays (or the same one of them), or failed in the same way."""
    if one.error is not None or other.error is not None:
        if type(one.error) is not type(other.error):
            return False
        # A ValueError's text holds the shapes that clashed; it tells one mistake from another.
        return not isinstance(one.error, ValueError) or str(one.error) == str(other.error)
    if one.arrays is None or other.arrays is None:
        return _unreadable_alike(one.returned, other.returned)
    if len(one.arrays) != len(other.arrays):
        return False
    pairs = list(zip(one.arrays, other.arrays, strict=True))
    compared = pairs if output is None else pairs[output : output + 1]
    return all(a.shape == b.shape and close(a, b).all() for a, b in compared)


def _unreadable_alike(one, other):
    """Tell whether neither call returned anything, or both a list of the same arrays, which fit in no single one."""
    if not isinstance(one, list) or not isinstance(other, list):
        return one is None and other is None
    pairs = [tuple(map(_as_array, pair)) for pair in zip(one, other, strict=False)]
    return len(one) == len(other) and all(
        a is not None and b is not None and a.shape == b.shape and close(a, b).all() for a, b in pairs
    )
