"""Saying of a wrong answer what was tried, and the first thing that is not as it should be."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from function_judge import source_hints
from function_judge.compare import close, first_difference
from function_judge.error_text import describe_error, run_together
from function_judge.known_numbers import Known
from function_judge.lines import FaultyLines, faulty_lines
from function_judge.returned import describe_returned, one_row_repeated, safe_repr, shapes_of
from function_judge.source import as_written, code_of, is_current, shortened
from function_judge.statements import n_statements
from function_judge.subject import NO_SUBJECT, Subject
from function_judge.task import Case, Task, Trial

RIGHT_FOR_MATRICES = (
    "It is right for one matrix, but goes wrong when there are more axes. A batch has another axis in front: `.T`, "
    "`axis=1`, `shape[0]`, `len` and a loop over the first axis mean something else there. `@`, `axis=-1` and "
    "`swapaxes(-1, -2)` work on the last axes, however many there are in front of them."
)
RIGHT_BUT_FOR_ONE_ROW = (
    "It is right for a matrix, but goes wrong for a single row, which has one axis only: there is no `axis=1` and no "
    "`shape[1]`, and a loop over the first axis takes out single numbers. Count axes from the end, as in `axis=-1` and "
    "`shape[-1]`, and it serves a row, a matrix and a batch alike."
)

RIGHT_WITHOUT_BATCH = (
    "It is right without a batch, but goes wrong when there are more axes in front. Count axes from the end, as in "
    "shape[-1], axis=-3 and swapaxes(-3, -2); or let your function call itself for each item of a batch."
)


def what_happened(
    task: Task,
    function: Callable,
    trial: Trial,
    *,
    is_named: bool,
    is_batch: bool = False,
    place: tuple = (),
) -> str:
    """Say what was tried, and the first thing that is not as it should be.

    Parameters
    ----------
    task : Task
    function : callable
    trial : Trial
        That went wrong.
    is_named : bool
        Whether a mistake has been recognised.
    is_batch : bool, optional
        Whether the number of axes is what goes wrong.
    place : tuple of int, optional
        The index of the cell or row that is being talked of: then no other cell is shown.

    Returns
    -------
    str
    """
    tried = f"Tried {trial.case.trait}: {shapes_of(trial.case.arguments | trial.case.options)}."
    if trial.expected.error is not None:
        tried += " Expected a ValueError, as this cannot be done."
    if trial.actual.error is not None:
        happened = _described_error(task, function, trial, is_named, is_batch)
    else:
        happened = (
            _unreadable(task, function, trial)
            or _not_refused(task, trial)
            or _wrong_shape(task, function, trial)
            or _wrong_type(trial)
            or _wrong_number(task, trial, place)
        )
    return f"{tried} {happened}"


def _described_error(task, function, trial, is_named, is_batch):
    return describe_error(
        trial.actual.error,
        function,
        task.call,
        cause=source_hints.no_return(function),
        with_cause=not is_named,
        in_batch=is_batch,
        known_causes=task.subject.causes,
    )


def _unreadable(task, function, trial):
    """Say of something that can't be read as the outputs what it is instead."""
    actual = trial.actual
    if actual.arrays is not None and len(actual.arrays) == len(task.outputs):
        return None
    if trial.expected.error is not None and actual.arrays is None:
        return f"It returned {safe_repr(actual.returned)}."
    # An inner function without `return` explains what cannot be read at all.
    forgotten = source_hints.no_return(function) if actual.arrays is None else None
    if actual.returned is None:
        return f"It returned None: {forgotten or source_hints.why_none(function)}"
    return forgotten or describe_returned(actual, task.outputs)


def _not_refused(task, trial):
    if trial.expected.error is None:
        return None
    return f"Got {', '.join(task.outputs)} of shape {trial.actual.arrays[0].shape}."


def _outputs_backwards(task, trial):
    """Return name, actual and expected array of each output: what is returned last is computed first.

    An error there explains the rest.
    """
    return list(zip(task.outputs, trial.actual.arrays, trial.expected.arrays, strict=True))[::-1]


def _wrong_shape(task, function, trial):
    outputs = _outputs_backwards(task, trial)
    name, got, want = next((output for output in outputs if output[1].shape != output[2].shape), (None, None, None))
    if name is None:
        return None
    if trial.expected.is_shapes and got.ndim > 1:
        return f"{name} should be a shape; yours is an array of shape {got.shape}. Return its `.shape`."
    if trial.expected.is_shapes:
        return f"{name} should have {want.size} axes; yours has {got.size}."
    if isinstance(trial.expected.parts[task.outputs.index(name)], tuple):  # several arrays, that were read as one
        return f"{name} should hold {len(want)} arrays of shape {want.shape[1:]}; yours: {_each_shape(got)}."
    single = ", a single number" if want.shape == () else ""
    joined = run_together(function) if got.size == want.size and got.ndim < want.ndim else None
    return " ".join(filter(None, (f"Expected {name} of shape {want.shape}{single}; got {got.shape}.", joined)))


def _wrong_type(trial):
    """Say of numbers that are all right what their type should be."""
    if not all(close(got, want).all() for got, want in zip(trial.actual.arrays, trial.expected.arrays, strict=True)):
        return None
    if trial.expected.is_shapes:
        return f"The sizes are right, but not all of them are whole numbers: {safe_repr(trial.actual.returned)}."
    return "The entries are right, but they are numbers; give booleans, True and False: `.astype(bool)`."


def _wrong_number(task, trial, place):
    outputs = _outputs_backwards(task, trial)
    right = [name for name, got, want in outputs if close(got, want).all()]
    name, got, want = next(output for output in outputs if output[0] not in right)
    praise = f"Right: {' and '.join(right)}. " if right else ""
    different, i = _within(~close(got, want), place), task.outputs.index(name)
    got, want = _as_returned(got, trial.actual, i), _as_returned(want, trial.expected, i)
    return f"{praise}{first_difference(name, got, want, different, of_shape=trial.expected.is_shapes)}"


def lines_at_fault(
    function: Callable,
    case: Case,
    known: list[Known],
    is_right: Callable[[Any], bool],
    *,
    subject: Subject = NO_SUBJECT,
) -> FaultyLines:
    """Return the lines at which a wrong function leaves the equation.

    Of a function of a single statement they would say nothing new.

    Parameters
    ----------
    function : callable
        That goes wrong in the case.
    case : Case
    known : list of Known
        The numbers that are right on the way.
    is_right : callable
        Whether what the function returns in the case is right.
    subject : Subject, optional

    Returns
    -------
    FaultyLines
    """
    code = code_of(as_written(function))
    if code is None or n_statements(code) < 2 or not is_current(code):
        return FaultyLines()
    if any(stage.pattern is not None and not stage.pattern.any(axis=-1).all() for stage in known):
        return FaultyLines()  # of a row in which nothing counts, anything may be on the way
    arguments = case.copy()
    found = faulty_lines(
        function,
        [arguments[name] for name in case.arguments],
        known,
        options={name: arguments[name] for name in case.options},
        is_right=is_right,
        subject=subject,
    )
    return found if all(line.path == code.co_filename for line in found.lines) else FaultyLines()


def at_this_line(found: FaultyLines, *, brief: bool = False) -> str | None:
    """Return a sentence that points at the lines that are at fault, or None where there are none.

    Parameters
    ----------
    found : FaultyLines
    brief : bool, optional
        Whether there is room for one line only.
    """
    lines = found.lines
    if not lines:
        return None
    longest = 60 // len(lines) if brief else 80
    *others, last = (f"line {line.number}, `{shortened(line.text, longest)}`" for line in lines)
    if not others:
        return f"It goes wrong in {last}{'.' if brief else ': up to there every number is right.'}"
    are_apart = found.first_is_right and lines[-1].number - lines[0].number > 1
    told = f"The mistake is in {', in '.join(others)}, {f'in {last}, or between' if are_apart else f'or in {last}'}."
    if brief:
        return told
    if found.first_is_right:
        return f"{told} Line {lines[-1].number} makes the first wrong number."
    return f"{told} Before line {lines[0].number} every number is right."


def _within(different, place):
    """Mark only those of the different cells that have an index, or begin with it, where there are any."""
    there = np.zeros_like(different)
    if len(place) <= different.ndim and all(i < size for i, size in zip(place, different.shape, strict=False)):
        there[place] = different[place]
    return there if there.any() else different


def _each_shape(array):
    return f"{len(array)} of shape {array.shape[1:]}" if array.ndim else "a single number"


def _as_returned(array, outcome, output):
    """Give an array, read as floats, the type it was returned in: booleans and whole numbers are shown as such."""
    kind = np.asarray(outcome.parts[output]).dtype.kind
    return array.astype({"b": bool, "i": int, "u": int}.get(kind, float))


def where_right(task: Task, trials: list[Trial]) -> str | None:
    """Return a sentence on the cases where an answer is right, or None."""
    right, failing = _cases(trials, are_right=True), _cases(trials, are_right=False)
    if all(case.edge for case in failing):
        return task.wrong_at_edges
    traits = {case.trait for case in failing}
    if len(traits) == 1 and len(trials) > 1:
        return f"It is right on the other cases, but goes wrong with {traits.pop()}."
    if any(is_single(task, case) and not case.edge for case in failing):
        return None
    return _only_with_an_option(task, failing, right) or _wrong_number_of_axes(task, failing)


def _cases(trials, are_right):
    return [trial.case for trial in trials if bool(trial.is_right) == are_right]


def _only_with_an_option(task, failing, right):
    """Say that it is right without an option, in a batch, too: then the number of axes is not what goes wrong."""
    for name in failing[0].options:
        if all(name in case.options for case in failing) and any(
            name not in case.options and not is_single(task, case) for case in right
        ):
            return f"It is right wherever no {name} is given, in a batch, too. Look at what you do with {name}."
    return None


def _wrong_number_of_axes(task, failing):
    """Say that it is right for as many axes as the first case has."""
    if _n_axes(task.cases[0]) != 2:
        return RIGHT_WITHOUT_BATCH
    return RIGHT_BUT_FOR_ONE_ROW if any(_n_axes(case) < 2 for case in failing) else RIGHT_FOR_MATRICES


def broken_property(task: Task, function: Callable, trial: Trial) -> tuple[str | None, tuple]:
    """Return what must hold and doesn't, or None, and the index of where it doesn't, () for no place of its own."""
    case = trial.case

    def call(**changed):
        """Call the function with some arguments changed; None where no such answer can be compared."""
        arguments = case.arguments | changed
        asked = replace(case, arguments=arguments)
        arrays, right = (task.run(item, asked).arrays for item in (function, task.reference))
        if arrays is None or right is None or [a.shape for a in arrays] != [a.shape for a in right]:
            return None
        return arrays

    tried = case.arguments | case.options
    unfilled = one_row_repeated(trial.actual.returned) or _never_filled(task.outputs, trial)
    found = (broken(call, tried, trial.actual.arrays) for broken in task.properties)
    broken = unfilled or next(filter(None, found), None)
    return broken if isinstance(broken, tuple) else (broken, ())


def _never_filled(outputs, trial):
    for name, got, want in zip(outputs, trial.actual.arrays, trial.expected.arrays, strict=True):
        if (
            want.ndim and want.any() and not got.any() and not trial.expected.boolean
        ):  # a single number is stored nowhere
            return f"Every entry of your {name} is 0. Does your function store in it what it computes?"
    return None


def is_single(task: Task, case: Case) -> bool:
    """Tell whether a case has no batch axes; the first case of a task has none."""
    return _n_axes(case) == _n_axes(task.cases[0])


def _n_axes(case):
    return max(np.ndim(value) for value in case.arguments.values())


def holds_nan_or_zeros(task: Task, trial: Trial) -> bool:
    """Tell whether an answer holds NaN, or only 0, as np.nan_to_num leaves of rows of NaN."""
    if not trial.is_comparable:
        return False
    return any(np.isnan(array).any() for array in trial.actual.arrays) or bool(_never_filled(task.outputs, trial))
