"""Calling somebody else's function: safely, and with its answer read as arrays that can be compared."""

import contextlib
import dis
import inspect
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from function_judge.barred import barred
from function_judge.compare import equal
from function_judge.time_limit import SECONDS, TimedOut, time_limit

# A result of more entries than this is far too large for anything that is asked, and would take minutes to compare.
MAX_ENTRIES = 1_000_000


@dataclass(frozen=True)
class Outcome:
    """What one call gave: the arrays it returned, or why there are none.

    Parameters
    ----------
    returned : object
        As it came back.
    arrays : tuple of ndarray or None
        What was read from it; None where it can't be read.
    error : BaseException or None
        What it raised; a TimedOut where it took too long.
    changed : str or None
        The name of an argument that the call wrote into.
    """

    returned: Any = None
    arrays: Any = None
    error: BaseException | None = None
    changed: str | None = None

    @property
    def parts(self) -> Any:
        """What was returned, one part for each array that was read from it."""
        return (self.returned,) if len(self.arrays) == 1 else self.returned

    @cached_property
    def boolean(self) -> bool:
        """Whether it is True and False throughout; held as objects they are not: `~` turns True into -2 there."""
        return bool(self.arrays) and all(np.asarray(part).dtype.kind == "b" for part in self.parts)

    @property
    def is_shapes(self) -> bool:
        """Whether it is shapes, as a reference that gives shapes returns them: tuples."""
        return self.arrays is not None and all(isinstance(part, tuple) for part in self.parts)

    @property
    def is_whole(self) -> bool:
        """Whether it is whole numbers throughout, of an integer type."""
        return self.arrays is not None and all(np.asarray(part).dtype.kind in "iu" for part in self.parts)


def copied(value: Any, copy: Callable = np.copy) -> Any:
    """Return an argument as a new array, or as a tuple of new arrays; what can't be written into stays as it is."""
    if isinstance(value, tuple):
        return tuple(copied(item, copy) for item in value)
    return copy(value) if isinstance(value, np.ndarray) else value


def call(
    function: Callable,
    arguments: dict,
    options: dict | None = None,
    *,
    read: Callable,
    give: Callable = copied,
    to_array: Callable | None = None,
    seconds: float | None = SECONDS,
) -> Outcome:
    """Call a function on copies of its arguments, and read what it returns.

    Parameters
    ----------
    function : callable
    arguments : dict of str to object
        Passed in this order, by position.
    options : dict of str to object, optional
        Passed by name.
    read : callable
        From what the function returned to a tuple of arrays, or None where it can't be read.
    give : callable, optional
        From an argument to what the function is given: a copy, or a framework's own array.
    to_array : callable, optional
        From a framework's array to NumPy's: to see whether the call has written into it. Not needed for NumPy.
    seconds : float or None, optional
        Then the call is stopped, and its error is a TimedOut. None for no limit.

    Returns
    -------
    Outcome
        Never an exception, but for a KeyboardInterrupt in the main thread, which is the user's own, and where a
        platform can set no time limit: that is no fault of the function's.

    Examples
    --------
    >>> call(np.linalg.inv, {"matrix": np.zeros((2, 2))}, read=arrays_in).error
    LinAlgError('Singular matrix')
    """
    options = options or {}
    before = arguments | options
    after = {name: give(value) for name, value in before.items()}
    positional, named = [after[name] for name in arguments], {name: after[name] for name in options}
    # What NumPy would warn of (an overflow, NaN) is for the judge to say.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        is_running = False
        try:
            with barred(), contextlib.nullcontext() if seconds is None else time_limit(seconds):
                is_running = True
                returned = function(*positional, **named)
            arrays = _read(returned, read)
        except BaseException as error:
            if _is_interrupted_by_user(error) or not is_running:
                raise
            return Outcome(error=error)
    changed = (name for name in before if not _unchanged(before[name], after[name], give, to_array))
    return Outcome(returned, arrays, changed=next(changed, None))


def _read(returned, read):
    if inspect.iscoroutine(returned):
        returned.close()  # an `async def` that nobody awaits would complain when it is thrown away
        return None
    return read(returned)


def _is_interrupted_by_user(error):
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()


def _unchanged(before, after, give, to_array):
    if isinstance(before, tuple):
        return all(_unchanged(node, other, give, to_array) for node, other in zip(before, after, strict=True))
    if not isinstance(before, np.ndarray):
        return True
    if to_array is not None:
        before, after = to_array(give(before)), to_array(after)
    return np.array_equal(before, after, equal_nan=True)


def arrays_in(returned: Any, n_outputs: int = 1) -> tuple | None:
    """Read what a function returned as arrays of numbers.

    Parameters
    ----------
    returned : object
    n_outputs : int, optional
        How many arrays it should be: a list of another length is one array, written as a list of rows.

    Returns
    -------
    tuple of ndarray or None
        In float64, as new arrays; None where something in it is no array of numbers.

    Examples
    --------
    >>> arrays_in([[1, 2], [3, 4]])
    (array([[1., 2.],
           [3., 4.]]),)
    """
    several = n_outputs > 1 and (
        isinstance(returned, tuple) or (isinstance(returned, list) and len(returned) == n_outputs)
    )
    arrays = tuple(as_array(part, max_entries=MAX_ENTRIES) for part in (returned if several else (returned,)))
    return None if any(array is None for array in arrays) else arrays


def as_array(part: Any, to_array: Callable = np.asarray, max_entries: int | None = None) -> np.ndarray | None:
    """Read one thing as a new array of float64; None where it is no array of numbers.

    Parameters
    ----------
    part : object
    to_array : callable, optional
        From a framework's array, or whatever else, to NumPy's.
    max_entries : int, optional
        Of an array of more entries only the shape is kept.
    """
    try:
        array = to_array(part)
        if array.dtype.kind not in "fiubO":
            return None
        if max_entries is not None and array.size > max_entries:
            return np.broadcast_to(np.nan, array.shape)  # its shape says enough
        # Objects may be Fractions, but not text; and None would be read as NaN.
        if array.dtype.kind == "O" and any(isinstance(entry, str | None) for entry in array.flat):
            return None
        return array.astype(np.float64)  # a copy: later calls cannot change it
    except Exception:  # whatever an unknown kind of object answers: it is not an array, and the check says so
        return None


def same(outcome: Outcome, other: Outcome, output: int | None = None) -> bool:
    """Tell whether two calls gave the same arrays (or the same one of them), or failed in the same way.

    Parameters
    ----------
    outcome, other : Outcome
    output : int, optional
        The place of the one array to compare.
    """
    if outcome.error is not None or other.error is not None:
        if type(outcome.error) is not type(other.error):
            return False
        # A ValueError's text holds the shapes that clashed; it tells one mistake from another.
        return not isinstance(outcome.error, ValueError) or str(outcome.error) == str(other.error)
    if outcome.arrays is None or other.arrays is None:
        return _unreadable_alike(outcome.returned, other.returned)
    if len(outcome.arrays) != len(other.arrays):
        return False
    some = slice(None) if output is None else slice(output, output + 1)
    return all(map(equal, outcome.arrays[some], other.arrays[some]))


def _unreadable_alike(first, second):
    """Tell whether neither call returned anything, or both a list of the same arrays, which fit in no single one."""
    if not isinstance(first, list) or not isinstance(second, list):
        return first is None and second is None
    pairs = [tuple(map(as_array, pair)) for pair in zip(first, second, strict=False)]
    return len(first) == len(second) and all(a is not None and b is not None and equal(a, b) for a, b in pairs)


def same_shapes(outcome: Outcome, other: Outcome) -> bool:
    """Tell whether two outcomes hold arrays of the same shapes."""
    return [array.shape for array in outcome.arrays] == [array.shape for array in other.arrays]


def agree(actual: Outcome, expected: Outcome) -> bool:
    """Tell whether a call gave what the reference gave: the same numbers, and booleans where those were booleans.

    The sizes of a shape must be whole numbers. Where the reference refuses its input, any refusal will do, in whatever
    words.

    Parameters
    ----------
    actual, expected : Outcome
    """
    if expected.error is not None:
        return is_refusal(actual.error)
    if not same(actual, expected):
        return False
    return (actual.boolean or not expected.boolean) and (actual.is_whole or not expected.is_shapes)


def is_refusal(error: BaseException | None) -> bool:
    """Tell whether an error says of an input that it cannot be right.

    NumPy's own ValueErrors do, and so does whatever somebody raises on purpose: in a `raise` or an `assert`.
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
