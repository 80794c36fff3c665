"""At which line a wrong function leaves the equation.

The function is run once more, and watched: every array that its variables hold is compared with the numbers that the
equation has on the way. From its wrong output the trace goes back, from wrong array to wrong array, to the first
statement whose result is wrong although what it was given was right.
"""

import contextlib
import inspect
import linecache
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from function_judge.call import copied
from function_judge.mending import first_to_mend
from function_judge.watched import BESIDE, RIGHT, STAGE, WRONG, Watch, is_theirs


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
    def at(cls, path, number):
        return cls(path, number, linecache.getline(path, number).strip())

    @property
    def place(self):
        """Its file and number; a notebook's cell has a name of Python's making, which says nothing."""
        return (
            f"{from_here(self.path)}:{self.number}" if Path(self.path).is_file() else f"Line {self.number} of the cell"
        )


def from_here(path):
    """Return a file's path from where one is, if it lies below."""
    file = Path(path)
    return str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)


def first_wrong_line(function, arguments, known, *, options=None, is_right=None):
    """Return the line of the first statement whose result leaves the equation although what it was given was right.

    Parameters
    ----------
    function : callable
        That is known to be wrong with these arguments.
    arguments : sequence
        By position: what it is called with. It may write into them.
    known : list of Known
        The numbers that are right on the way: `on_the_way.numbers_of` gives them.
    options : dict, optional
        By name.
    is_right : callable, optional
        Whether what it returns is right. Unless given, it is right where it holds the numbers of the output.

    Returns
    -------
    Line or None
        None wherever there is any doubt.

    Examples
    --------
    >>> from mha_helpers import attention
    >>> from attention_doctor.equation.on_the_way import numbers_of
    >>> from attention_doctor.equation.stages import Input
    >>> rows = np.random.default_rng(0).normal(size=(3, 4, 5))
    >>> known = numbers_of(Input.of(queries=rows[0], keys=rows[1], values=rows[2]))
    >>> print(first_wrong_line(attention.scaled_dot_product_attention, rows, known))
    None
    """
    lines = faulty_lines(function, arguments, known, options=options, is_right=is_right)
    return lines[-1] if lines else None


def faulty_lines(function, arguments, known, *, options=None, is_right=None):
    """Return the line that is at fault, or the two that it is between: the first gives right numbers, the second not.

    Parameters
    ----------
    function, arguments, known, options, is_right
        As for `first_wrong_line`.

    Returns
    -------
    tuple of Line
        Empty wherever there is any doubt.
    """
    options = options or {}

    def run(watch):
        return watch.run(function, [copied(one) for one in arguments], {k: copied(v) for k, v in options.items()})

    watch = Watch(known, _numpy, _code_of(function))
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        run(watch)
        return tuple(map(_line, first_to_mend(watch, run, is_right or watch.holds_the_output)))
    return ()


def furthest_wrong_line(calls, *, read, written_in):
    """Return the first wrong line in that call, of several, in which the function goes furthest without leaving.

    Parameters
    ----------
    calls : list of list of (callable, list of Known)
        Each calls, somewhere inside, what is examined. Where one of a group leaves doubt, the group counts for nothing.
    read : callable
        From whatever a variable holds to an ndarray, or None.
    written_in : callable
        What is examined: its lines count wherever it is defined.

    Returns
    -------
    Line or None
    """
    sure = []
    for group in calls:
        found = [_first_wrong(_watched(function, (), {}, known, read, written_in)) for function, known in group]
        sure += [] if None in found else found
    return max(sure, key=lambda place: place[0])[1] if sure else None


def first_written_line(function, arguments, *, read, written_in):
    """Return the line of the first statement that writes into what the function was given, or None.

    Parameters
    ----------
    function : callable
    arguments : sequence
    read, written_in : callable
        As for `furthest_wrong_line`.

    Returns
    -------
    Line or None
    """
    place = _watched(function, arguments, {}, [], read, written_in)[0].written_at
    return None if place is None else _line(place)


def line_of_error(error, function):
    """Return the last line of somebody's own code that an error came through, or None.

    Parameters
    ----------
    error : BaseException
    function : callable

    Returns
    -------
    Line or None
    """
    code, last = _code_of(function), None
    for frame, number in traceback.walk_tb(error.__traceback__):
        if is_theirs(frame, code):
            last = Line.at(frame.f_code.co_filename, number)
    return last


def _watched(function, arguments, options, known, read, written_in):
    """What was seen, and whether the call came back."""
    watch = Watch(known, read, _code_of(written_in))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with contextlib.suppress(Exception):  # their own, or ours where it takes too long: then nothing is said
            watch.run(function, arguments, options)
            return watch, True
    return watch, False


def _code_of(function):
    return getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)


def _numpy(value):
    if not isinstance(value, np.ndarray):
        return None
    if value.dtype != object:
        return value
    try:
        return value.astype(float)
    except (TypeError, ValueError):
        return None


def _line(place):
    path, statement, code = place
    number = statement.number
    return Line.at(path, max(number, code.co_firstlineno) if code.co_name == "<lambda>" else number)


def _first_wrong(seen):
    """The first wrong statement's place in the order of all, and its Line; None where there is any doubt."""
    watch, came_back = seen
    if not came_back or not watch.outputs:
        return None
    wrong = [node for node in watch.outputs if node.status == WRONG]
    if not wrong and all(node.status in (STAGE, BESIDE) for node in watch.outputs):
        return _ends_too_early(watch)
    first = _first_of(wrong, {WRONG})
    if first is None or first.place is None:
        return None
    if first.place[1].adds_up or not (first.is_mask or any(one.status in RIGHT for one in first.before)):
        return None
    if first.place[1].in_loop and any(one.seen.in_part for one in first.before):
        return None  # block by block nothing is a stage before the end
    first = _what_came_before(first, watch)
    return first.order, _line(first.place)


def _first_of(nodes, statuses):
    """Go back through nodes of these statuses, and return the earliest of those that none of them was made of."""
    reached, first, nodes = set(), [], list(nodes)
    while nodes:
        node = nodes.pop()
        if node in reached:
            continue
        reached.add(node)
        earlier = [one for one in node.before if one.status in statuses]
        nodes += earlier
        if not earlier:
            first.append(node)
    return min(first, key=lambda one: one.order, default=None)


def _ends_too_early(watch):
    """What comes back should only be on the way."""
    beside = [node for node in watch.outputs if node.status == BESIDE]
    first = _first_of(beside, {BESIDE}) if len(beside) == len(watch.outputs) else None
    if first is not None and first.place is not None:
        return first.order, _line(first.place)
    return None if watch.ended is None else (len(watch.all), _line(watch.ended))


def _what_came_before(first, watch):
    """The statement that the wrong one suffers from, where it is an earlier one that made a right number of a kind."""
    for node in first.before:
        unmasked = node.seen.name == "weights without the mask" and node.shape != first.shape
        if node.place is not None and (unmasked or (node.seen.turned and node.seen.name != "weights")):
            return node
    return _projected_twice(first, watch) or first


def _projected_twice(first, watch):
    """The projection that should have made the one of queries, keys and values that is missing, and made another."""
    made = [node for node in watch.all if node.order < first.order and any(one.seen.name == "X" for one in node.before)]
    by_kind = {
        kind: [node for node in made if node.seen.name.startswith(kind)] for kind in ("queries", "keys", "values")
    }
    missing = [kind for kind, nodes in by_kind.items() if not nodes]
    twice = [nodes[-1] for nodes in by_kind.values() if len(nodes) > 1]
    return twice[0] if len(missing) == 1 and len(twice) == 1 else None
