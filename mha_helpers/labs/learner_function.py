"""Running a lab on the learner's own function."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from function_judge.call import Outcome, agree, arrays_in, call, same_shapes
from function_judge.compare import close, first_difference
from function_judge.error_text import error_in_brief
from function_judge.evidence import at_this_line, lines_at_fault
from function_judge.task import Case
from function_judge.time_limit import SECONDS
from function_judge.verdict import is_stub
from mha_helpers.exercises import on_the_way
from mha_helpers.exercises.engine import SUBJECT

AGAIN = "See its check, then run this again."


def call_safely(
    function: Callable, arguments: dict, n_outputs: int, options: dict | None = None, seconds: float | None = SECONDS
) -> Outcome:
    """Call a learner's function on copies of its arguments, and read so many arrays from what it returns."""
    return call(function, arguments, options, read=partial(arrays_in, n_outputs=n_outputs), seconds=seconds)


@dataclass(frozen=True)
class LabRun:
    """What a lab shows: arrays, whose they are, and where the learner's differ.

    Parameters
    ----------
    arrays : tuple of ndarray
        The learner's where they can be shown, else the course's own.
    right : tuple of ndarray
        The course's own.
    notice : str
        One sentence on whose function this is.
    differs : dict of str to ndarray of bool
        For an output that is not right, the cells that visibly differ.
    boolean : bool
        Whether True and False stand where they are asked for, and not numbers.
    """

    arrays: tuple[np.ndarray, ...]
    right: tuple[np.ndarray, ...]
    notice: str
    differs: dict[str, np.ndarray]
    boolean: bool = True

    @property
    def is_theirs(self) -> bool:
        """Whether what is shown is the learner's."""
        return self.arrays is not self.right


def visibly_different(got: np.ndarray, want: np.ndarray, decimals: int = 2) -> np.ndarray:
    """Mark the cells of the learner's array that look different from the right one.

    Parameters
    ----------
    got, want : ndarray
        Of one shape.
    decimals : int, optional
        How many are shown: cells that print alike are not marked, unless nothing else differs.

    Returns
    -------
    ndarray of bool

    Examples
    --------
    >>> visibly_different(np.array([0.321, 0.5]), np.array([0.324, 0.6]))
    array([False,  True])
    """
    wrong = ~close(got, want)
    with np.errstate(all="ignore"):  # a learner's numbers may be anything
        seen = wrong & ~np.equal(np.round(got, decimals), np.round(want, decimals))
    return seen if seen.any() else wrong


def run_for_lab(
    function: Callable | None,
    reference: Callable,
    arguments: dict,
    outputs: tuple[str, ...],
    options: dict | None = None,
) -> LabRun:
    """Call the learner's function, or the course's own where it cannot be shown.

    Parameters
    ----------
    function : callable or None
    reference : callable
        The course's own.
    arguments : dict of str to ndarray
    outputs : tuple of str
        The names of what is returned.
    options : dict of str to float or None, optional
        Passed by name.

    Returns
    -------
    LabRun
    """
    name = reference.__name__
    right = call_safely(reference, arguments, len(outputs), options)

    def ours(why):
        return LabRun(right.arrays, right.arrays, f"Shown with the course's own {name}: {why}", {})

    not_written = "yours is not written yet. Run this cell again when it is."
    if function is None or function is reference:
        return LabRun(right.arrays, right.arrays, f"Shown with the course's own {name}.", {})
    if function is ...:
        return ours(not_written)
    if not callable(function):
        return ours(f"what was given is not a function but {type(function).__name__}; give {name} itself.")
    theirs = call_safely(function, arguments, len(outputs), options)
    if is_stub(function, theirs):
        return ours(not_written)
    if theirs.error is not None:
        return ours(f"yours stopped with {error_in_brief(theirs.error, function)}. {AGAIN}")
    if theirs.arrays is None or not same_shapes(theirs, right):
        return ours(f"yours does not return ({', '.join(outputs)}) in the right shapes. {AGAIN}")
    boolean = theirs.boolean or not right.boolean
    differs = {
        output: visibly_different(got, want)
        for output, got, want in zip(outputs, theirs.arrays, right.arrays, strict=True)
        if not close(got, want).all()
    }
    if not differs:
        return LabRun(theirs.arrays, right.arrays, f"Running on your {name}.", differs, boolean)
    # What is returned last (the weights) is computed first: an error there explains the rest.
    place = outputs.index(list(differs)[-1])
    got, want = theirs.arrays[place], right.arrays[place]
    different = ~close(got, want)
    if right.boolean:
        got, want = got.astype(bool) if theirs.boolean else got, want.astype(bool)
    shown = first_difference(outputs[place], got, want, different)
    # The line says more than the number, and a notice has room for one of them.
    more = _at_this_line(function, reference, outputs, arguments, options or {}) or f"{shown} {AGAIN}"
    return LabRun(theirs.arrays, right.arrays, f"Your {name} is not right yet (marked ≠): {more}", differs, boolean)


def _at_this_line(function, reference, outputs, arguments, options):
    """Point at the line, with numbers near the lab's that are all different: a line is found by telling them apart."""
    rng = np.random.default_rng(0)
    apart = {
        each: array + 0.1 * rng.normal(size=array.shape)
        if isinstance(array, np.ndarray) and array.dtype.kind == "f"
        else array
        for each, array in arguments.items()
    }
    known = on_the_way.numbers(reference.__name__, apart | options)
    if not known:
        return None
    read = partial(arrays_in, n_outputs=len(outputs))
    wanted = call(reference, apart, options, read=read, seconds=None)
    found = lines_at_fault(
        function,
        Case("a lab's", apart, options=options),
        known,
        lambda returned: agree(Outcome(returned, read(returned)), wanted),
        subject=SUBJECT,
    )
    return at_this_line(found, brief=True)
