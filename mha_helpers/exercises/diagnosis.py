"""Telling a learner what is wrong with an answer: the mistake by its name, and the first thing that is not right."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from mha_helpers.judge import error_text, returned, source
from mha_helpers.judge import source_hints as reading
from mha_helpers.judge.call import Outcome, agree, same, same_shapes
from mha_helpers.judge.compare import close, first_difference
from mha_helpers.judge.time_limit import TimedOut
from mha_helpers.learner.answer import call_safely

RIGHT_FOR_MATRICES = (
    "It is right for one matrix, but goes wrong when there are more axes, or fewer. A batch has another axis in "
    "front: `.T`, `axis=1`, `shape[0]`, `len` and a loop over the first axis mean something else there. `@`, `axis=-1` "
    "and `swapaxes(-1, -2)` work on the last axes, however many there are in front of them."
)
RIGHT_WITHOUT_BATCH = (
    "It is right without a batch, but goes wrong when there are more axes in front. Count axes from the end, as in "
    "shape[-1], axis=-3 and swapaxes(-3, -2); or let your function call itself for each item of a batch."
)
HELD_AS_OBJECTS = (
    "Every entry is right, but your array has dtype=object, so that NumPy sees Python objects where booleans are asked "
    "for: ~ makes -2 of True there. Leave dtype=object out, or end with `.astype(bool)`."
)


FRACTIONS_CUT_OFF = (
    "Your numbers have lost their fractions: an array of whole numbers can't hold any. It comes of dtype=int, "
    ".astype(int) or np.full(shape, 0). Make it with np.zeros(shape), or with dtype=float."
)


@dataclass(frozen=True, eq=False)
class Trial:
    """A case, what the learner's function gave for it, and what was wanted."""

    case: object
    given: Outcome
    wanted: Outcome

    @cached_property
    def is_right(self):
        if self.case.may_refuse and self.given.error is not None and not isinstance(self.given.error, TimedOut):
            return True
        return agree(self.given, self.wanted)

    @property
    def is_comparable(self):
        """Whether an answer has the shapes that it should have."""
        return bool(self.given.arrays and self.wanted.arrays) and same_shapes(self.given, self.wanted)


def diagnose(exercise, function, trials):
    """Return the slug of the mistake, or None, and what to tell the learner."""
    failing = next(trial for trial in trials if not trial.is_right)
    if returned.holds_objects(failing.given.returned) and all(same(trial.given, trial.wanted) for trial in trials):
        return "held-as-objects", HELD_AS_OBJECTS
    order = source.other_order(function, failing.case.arguments)
    if order:
        evidence = what_happened(exercise, function, failing, is_named=True)
        return "arguments-order", (
            f"Your function's first line has its arguments in another order: {', '.join(order)}. They are passed by "
            f"position, so it must be {exercise.call}.\n{evidence}"
        )
    slug, cause = reading.certain_cause(function)
    if not cause and _fractions_are_cut_off(failing):
        slug, cause = "fractions-lost", FRACTIONS_CUT_OFF
    if cause:
        return slug, f"{cause}\n{what_happened(exercise, function, failing, is_named=True)}"
    mistake = None if error_text.met_a_stub(failing.given.error) else _recognise(exercise, trials)
    slug, idle = _idle_line(function, failing)
    evidence = what_happened(exercise, function, failing, is_named=bool(mistake or slug))
    if mistake:
        return mistake.slug, "\n".join(filter(None, (mistake.message, idle, evidence)))
    if slug:
        return slug, f"{idle}\n{evidence}"
    infinite = reading.zero_times_infinity(function) if _holds_nan_or_zeros(exercise, failing) else None
    if infinite:
        return "zero-times-inf", f"{infinite}\n{evidence}"
    alone = {trial.case.if_alone for trial in trials if not trial.is_right}
    if len(alone) == 1 and None not in alone:
        [(slug, message)] = alone
        return slug, f"{message}\n{what_happened(exercise, function, failing, is_named=True)}"
    outside = source.outside_arrays(function)
    if outside:
        names = ", ".join(f"`{name}`" for name in outside)
        return "outside-array", (
            f"Your function uses {names} from the notebook around it. Inside the function use only its "
            f"arguments: {', '.join(failing.case.arguments)}.\n{evidence}"
        )
    where_right, broken, place = _where_right(exercise, trials), None, ()
    if failing.is_comparable:
        broken, place = _broken_property(exercise, function, failing)
    is_batch = where_right in (RIGHT_FOR_MATRICES, RIGHT_WITHOUT_BATCH)  # NumPy's words about shapes then only distract
    evidence = what_happened(exercise, function, failing, is_named=False, is_batch=is_batch, place=place)
    return None, "\n".join(filter(None, (where_right, broken, idle, evidence)))


def _idle_line(function, trial):
    """Return a slug and a sentence for a line that does nothing, or less than it seems; either may be None."""
    if thrown_away := reading.thrown_away(function):
        return "result-thrown-away", thrown_away
    if trial.given.error is not None:  # nothing is used that comes after it
        return None, None
    if first_round := reading.return_in_loop(function):
        return "return-in-loop", first_round
    return None, reading.overwritten(function) or reading.never_used(function)


def _fractions_are_cut_off(trial):
    """Tell whether an answer holds the right numbers, but as whole numbers, without what comes after the point."""

    def is_cut_off(part, got, wanted):
        is_whole = np.asarray(part).dtype.kind in "iu"
        return is_whole and not close(got, wanted).all() and close(got, np.trunc(wanted)).all()

    if trial.case.edge or not trial.is_comparable:
        return False
    return any(map(is_cut_off, trial.given.parts, trial.given.arrays, trial.wanted.arrays))


def _holds_nan_or_zeros(exercise, trial):
    """Tell whether an answer holds NaN, or only 0, as np.nan_to_num leaves of rows of NaN."""
    if not trial.is_comparable:
        return False
    return any(np.isnan(array).any() for array in trial.given.arrays) or bool(_never_filled(exercise.outputs, trial))


def never_ended(exercise, function, trial):
    """Say that a call did not come back, and which line it was in."""
    tried = f"Tried {trial.case.trait}: {returned.shapes_of(trial.case.arguments | trial.case.options)}."
    number, line = source.last_line(trial.given.error, function)
    place = f" It is in line {number} of the cell: `{line}`." if line else ""
    said = (
        f"{tried} Your function has not come back after {exercise.seconds:g} seconds, and was stopped.{place} "
        "Does a loop or a recursion there ever reach its end?"
    )
    return "\n".join(filter(None, (said, reading.thrown_away(function))))


def writes_into(argument, function):
    """Say that a call changed one of its arguments."""
    said = (
        f"The numbers are right, but your function writes into its argument `{argument}`, so the caller's array is no "
        "longer what it was. `a -= b`, `a[i] = b` and np.exp(a, out=a) change a in place: `a = a - b` makes a new "
        f"array, and so does `{argument}.copy()`. A slice ({argument}[:]), a reshape, a transpose and np.asarray "
        "usually don't: they are views of the same numbers."
    )
    return "\n".join(filter(None, (said, reading.thrown_away(function))))


def _recognise(exercise, trials):
    """Find the mistake that explains the answers, first as strictly as can be, then more loosely.

    The same answers in all cases; in all but those at the edges; the same wherever something came back;
    the same where there is no batch; the same in the output that shows it. So one mistake is still
    named where a second one hides it.
    """
    trials = [trial for trial in trials if not (trial.case.may_refuse and trial.given.error)]
    trials.sort(key=lambda trial: trial.is_right)  # a wrong answer tells most mistakes apart at the first comparison
    plain = [trial for trial in trials if not trial.case.edge]
    single = [trial for trial in plain if _is_single(exercise, trial.case)]

    @cache  # the same pairs are compared in each of the views
    def agrees(wrong, trial, output=None):
        return same(exercise.outcome(wrong, trial.case), trial.given, output)

    def explains_every_case(wrong, view):
        return all(agrees(wrong, trial) for trial in view) and not all(trial.is_right for trial in view)

    def explains_what_came_back(wrong, view, output=None):
        answered = []
        for trial in view:
            if trial.given.error is not None and exercise.outcome(wrong, trial.case).error is not None:
                continue  # both fail, each in its own words
            if not agrees(wrong, trial, output):
                return False
            answered.append(trial)
        return not all(same(trial.given, trial.wanted, output) for trial in answered)

    views = [(explains_every_case, trials), (explains_every_case, plain)]
    views += [(explains_what_came_back, plain), (explains_what_came_back, single)]
    for explains, view in views:
        for mistake in exercise.mistakes:
            if any(explains(wrong, view) for wrong in mistake.implementations):
                return mistake
    for view in (plain, single):
        for mistake in exercise.mistakes:
            output = mistake.seen_in
            if output is not None and any(
                explains_what_came_back(wrong, view, output) for wrong in mistake.implementations
            ):
                return mistake
    return None


def what_happened(exercise, function, trial, *, is_named, is_batch=False, place=()):
    """Say what was tried, and the first thing that is not as it should be.

    `is_named` says that a mistake has been recognised, and `is_batch` that the number of axes is what goes wrong. Where
    a cell or a row is being talked of, `place` is its index, so that no other cell is shown.
    """
    case, given, wanted = trial.case, trial.given, trial.wanted
    tried = f"Tried {case.trait}: {returned.shapes_of(case.arguments | case.options)}."
    if wanted.error is not None:
        tried += " Expected a ValueError, as this cannot be done."
    nothing = reading.no_return(function) if given.arrays is None else None
    if given.error is not None:
        described = error_text.describe_error(
            given.error, function, exercise.call, cause=nothing, with_cause=not is_named, in_batch=is_batch
        )
        return f"{tried} {described}"
    if wanted.error is not None and given.arrays is None:
        return f"{tried} It returned {returned.safe_repr(given.returned)}."
    if given.returned is None:
        return f"{tried} It returned None: {nothing or reading.why_none(function)}"
    outputs = exercise.outputs
    if given.arrays is None or len(given.arrays) != len(outputs):
        return f"{tried} {nothing or returned.describe_returned(given, outputs)}"
    if wanted.error is not None:
        return f"{tried} Got {', '.join(outputs)} of shape {given.arrays[0].shape}."
    # Backwards: what is returned last (the weights) is computed first, and an error there explains the rest.
    pairs = list(zip(outputs, given.arrays, wanted.arrays, strict=True))[::-1]
    wrong_shape = [(name, got, want) for name, got, want in pairs if got.shape != want.shape]
    if wrong_shape:
        name, got, want = wrong_shape[0]
        if wanted.is_shapes and got.ndim > 1:
            return f"{tried} {name} should be a shape; yours is an array of shape {got.shape}. Return its `.shape`."
        if wanted.is_shapes:
            return f"{tried} {name} should have {want.size} axes; yours has {got.size}."
        single = ", a single number" if want.shape == () else ""
        apart = error_text.run_together(function) if got.size == want.size and got.ndim < want.ndim else None
        return " ".join(
            filter(None, (f"{tried} Expected {name} of shape {want.shape}{single}; got {got.shape}.", apart))
        )
    right = [name for name, got, want in pairs if close(got, want).all()]
    if len(right) == len(pairs) and wanted.is_shapes:
        return (
            f"{tried} The sizes are right, but not all of them are whole numbers: {returned.safe_repr(given.returned)}."
        )
    if len(right) == len(pairs):
        return f"{tried} The entries are right, but they are numbers; give booleans, True and False: `.astype(bool)`."
    name, got, want = next(pair for pair in pairs if pair[0] not in right)
    praise = f"Right: {' and '.join(right)}. " if right else ""
    different, output = _within(~close(got, want), place), outputs.index(name)
    got, want = (_as_returned(array, outcome, output) for array, outcome in ((got, given), (want, wanted)))
    return f"{tried} {praise}{first_difference(name, got, want, different, of_shape=wanted.is_shapes)}"


def _within(different, place):
    """Mark only those of the different cells that have an index, or begin with it, where there are any."""
    there = np.zeros_like(different)
    if len(place) <= different.ndim and all(i < size for i, size in zip(place, different.shape, strict=False)):
        there[place] = different[place]
    return there if there.any() else different


def _as_returned(array, outcome, output):
    """Give an array, read as floats, the type it was returned in: booleans and whole numbers are shown as such."""
    kind = np.asarray(outcome.parts[output]).dtype.kind
    return array.astype({"b": bool, "i": int, "u": int}.get(kind, float))


def _where_right(exercise, trials):
    if all(trial.is_right for trial in trials if not trial.case.edge):
        return exercise.wrong_at_edges
    failing = {trial.case.trait for trial in trials if not trial.is_right}
    if len(failing) == 1 and len(trials) > 1:
        return f"It is right on the other cases, but goes wrong with {failing.pop()}."
    if all(trial.is_right for trial in trials if not trial.case.edge and _is_single(exercise, trial.case)):
        return RIGHT_FOR_MATRICES if _n_axes(exercise.cases[0]) == 2 else RIGHT_WITHOUT_BATCH
    return None


def _broken_property(exercise, function, trial):
    """Return what must hold and doesn't, or None, and the index of where it doesn't, () for no place of its own."""
    case = trial.case

    def call(**changed):
        """Call the learner's function with some arguments changed; None where no such answer can be compared."""
        arguments = case.arguments | changed
        arrays, right = (
            call_safely(one, arguments, len(exercise.outputs), case.options).arrays
            for one in (function, exercise.reference)
        )
        if arrays is None or right is None or [a.shape for a in arrays] != [a.shape for a in right]:
            return None
        return arrays

    tried = case.arguments | case.options
    unfilled = returned.one_row_repeated(trial.given.returned) or _never_filled(exercise.outputs, trial)
    found = (broken(call, tried, trial.given.arrays) for broken in exercise.properties)
    broken = unfilled or next(filter(None, found), None)
    return broken if isinstance(broken, tuple) else (broken, ())


def _never_filled(outputs, trial):
    for name, got, want in zip(outputs, trial.given.arrays, trial.wanted.arrays, strict=True):
        if want.any() and not got.any() and not trial.wanted.boolean:
            return f"Every entry of your {name} is 0. Does your function store in it what it computes?"
    return None


def _is_single(exercise, case):
    """Tell whether a case has no batch axes; the first case of an exercise has none."""
    return _n_axes(case) == _n_axes(exercise.cases[0])


def _n_axes(case):
    return max(np.ndim(value) for value in case.arguments.values())
