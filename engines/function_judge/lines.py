"""At which line a wrong function goes wrong.

The function is run once more, and watched: every array that its variables hold is compared with the numbers that are
right on the way. `localiser` then looks for the statement at fault.
"""

import contextlib
import inspect
import linecache
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from function_judge.barred import barred
from function_judge.call import copied
from function_judge.known_numbers import Known
from function_judge.libraries import is_theirs
from function_judge.localiser import find_fault
from function_judge.source import as_written, code_of, is_current
from function_judge.statements import Place, statement_at
from function_judge.subject import NO_SUBJECT, Subject
from function_judge.watch import Watch


@dataclass(frozen=True)
class Line:
    """A line of somebody's source.

    Parameters
    ----------
    path : str
        Of the file, or what Python calls a notebook's cell.
    number : int
        The first line is 1.
    text : str
        Without what stands before and after it.
    """

    path: str
    number: int
    text: str

    @classmethod
    def at(cls, path: str, number: int) -> "Line":
        """Return a line of a file or cell."""
        return cls(path, number, linecache.getline(path, number).strip())

    @property
    def place(self) -> str:
        """Its file and number; a notebook's cell has a name of Python's making, which says nothing."""
        return (
            f"{from_here(self.path)}:{self.number}" if Path(self.path).is_file() else f"Line {self.number} of the cell"
        )


class FaultyLines(NamedTuple):
    """The lines of a `Fault`.

    Parameters
    ----------
    lines : tuple of Line
    first_is_right : bool
    """

    lines: tuple[Line, ...] = ()
    first_is_right: bool = False


def common(found: Sequence[FaultyLines]) -> FaultyLines:
    """Return the lines that are at fault in each of several calls; without lines if they contradict each other.

    Examples
    --------
    >>> first, second = Line("cell", 2, "n = 3"), Line("cell", 4, "return total / n")
    >>> [line.number for line in common([FaultyLines((first, second)), FaultyLines((second,))]).lines]
    [4]
    """
    if len(set(found)) == 1:
        return found[0]
    if not found or any(item.first_is_right for item in found):
        return FaultyLines()
    return FaultyLines(tuple(line for line in found[0].lines if all(line in item.lines for item in found)))


def from_here(path: str) -> str:
    """Return a file's path from where one is, if it lies below."""
    file = Path(path)
    return str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)


def faulty_lines(
    function: Callable,
    arguments: Sequence,
    known: list[Known],
    *,
    is_right: Callable[[Any], bool],
    options: dict | None = None,
    subject: Subject = NO_SUBJECT,
) -> FaultyLines:
    """Return the line that is at fault, or those of which one is.

    Parameters
    ----------
    function : callable
        That is known to be wrong with these arguments.
    arguments : sequence
        By position: what it is called with. It may write into them.
    known : list of Known
        The numbers that are right on the way: `intermediates.numbers_inside` reads them from a right function.
    is_right : callable
        Whether what it returns is right.
    options : dict, optional
        By name.
    subject : Subject, optional

    Returns
    -------
    FaultyLines
        Without lines wherever there is any doubt.
    """
    options = options or {}

    def run(watch):
        return watch.run(
            function, [copied(argument) for argument in arguments], {k: copied(v) for k, v in options.items()}
        )

    watch = Watch(known, _numpy, code_of(as_written(function)), subject)
    with barred(), warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.suppress(Exception, SystemExit):
        warnings.simplefilter("ignore")
        run(watch)
        fault = find_fault(watch, run, is_right)
        return FaultyLines(tuple(map(line_at, fault.places)), fault.first_is_right)
    return FaultyLines()


def first_written_line(function: Callable, arguments: Sequence, *, read: Callable, written_in: Callable) -> Line | None:
    """Return the line of the first statement that writes into what the function was given, or None.

    Parameters
    ----------
    function : callable
    arguments : sequence
    read, written_in : callable
        `read` goes from whatever a variable holds to an ndarray, or None; the lines of `written_in` count wherever it
        is defined.

    Returns
    -------
    Line or None
    """
    place = watched_call(function, arguments, {}, [], read, written_in)[0].written_at
    return None if place is None else line_at(place)


def line_of_error(error: BaseException, function: Callable) -> Line | None:
    """Return the last line of somebody's own code that an error came through, or None.

    Parameters
    ----------
    error : BaseException
    function : callable

    Returns
    -------
    Line or None
    """
    code, last = code_of(as_written(function)), None
    for frame, number in traceback.walk_tb(error.__traceback__):
        if is_theirs(frame, code):
            last = Line.at(frame.f_code.co_filename, number)
    return last


def line_of_definition(function: Callable) -> Line | None:
    """Return the line of a function's `def`, or None where its source can't be had."""
    code = code_of(as_written(function))
    if code is None or not is_current(code):
        return None
    statement = statement_at(code.co_filename, code.co_firstlineno)
    return Line.at(code.co_filename, statement.number) if statement else None


def watched_call(
    function: Callable,
    arguments: Sequence,
    options: dict,
    known: list[Known],
    read: Callable,
    written_in: Callable,
    subject: Subject = NO_SUBJECT,
) -> tuple[Watch, bool]:
    """Return what was seen of a call, and whether it came back.

    An object that only calls what somebody wrote is not looked into.
    """
    written = inspect.unwrap(getattr(written_in, "__func__", written_in))
    watch = Watch(known, read, code_of(written), subject)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with contextlib.suppress(Exception):  # their own, or ours where it takes too long: then nothing is said
            watch.run(function, arguments, options)
            return watch, True
    return watch, False


def _numpy(value):
    if not isinstance(value, np.ndarray):
        return None
    if value.dtype != object:
        return value
    try:
        return value.astype(float)
    except (TypeError, ValueError):
        return None


def line_at(place: Place) -> Line:
    """Return the line of a statement; a lambda that begins below its statement's first line has one of its own."""
    number = place.statement.number
    return Line.at(place.path, max(number, place.code.co_firstlineno) if place.code.co_name == "<lambda>" else number)
