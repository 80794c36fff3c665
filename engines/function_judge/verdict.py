"""Judging a function: is it right, and if not, which mistake is it?

`judge` tries it on the cases of a task. What is wrong is put to the explainers, one after another, the surest first:
the first that has something to say is heard.
"""

import contextlib
import functools
import inspect
import io
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from function_judge import source_hints
from function_judge.call import Outcome, same, same_shapes
from function_judge.catalogue import recognise, recognise_in_part
from function_judge.compare import close
from function_judge.error_text import met_a_stub
from function_judge.evidence import (
    RIGHT_FOR_MATRICES,
    RIGHT_WITHOUT_BATCH,
    at_this_line,
    broken_property,
    holds_nan_or_zeros,
    is_single,
    lines_at_fault,
    what_happened,
    where_right,
)
from function_judge.lines import FaultyLines, common, line_of_definition, line_of_error
from function_judge.monkeypatches import undone
from function_judge.returned import holds_objects, safe_repr, shapes_of
from function_judge.source import (
    does_nothing,
    last_line,
    other_arguments,
    other_defaults,
    outside_arrays,
)
from function_judge.state import changed_since, kept_by
from function_judge.task import Case, Task, Trial
from function_judge.time_limit import MAX_WAIT, TimedOut, Waited, in_words
from function_judge.two_mistakes import recognise_two, recognise_without_conditions

HELD_AS_OBJECTS = (
    "Every entry is right, but your array has dtype=object, so that NumPy sees Python objects where booleans are asked "
    "for: ~ makes -2 of True there. Leave dtype=object out, or end with `.astype(bool)`."
)
FRACTIONS_CUT_OFF = (
    "Your numbers have lost their fractions: an array of whole numbers can't hold any. It comes of dtype=int, "
    ".astype(int) or np.full(shape, 0). Make it with np.zeros(shape), or with dtype=float."
)
HELD_AS_FLOAT16 = (
    "Your numbers are float16, which keeps three digits, and they are right that far. Compute with float32 or float64."
)
FLOAT16 = 5e-3  # how far a few roundings to three digits move a number
TWO_ANSWERS = "Called twice with the same arguments, it gives two different answers."
FROM_ITS_ARGUMENTS = "Whatever it needs must come from its arguments."
BESIDE_IT = "That isn't all: with {}, something else is wrong as well. Mend this first, and check again."
MAX_WATCHED = 2  # cases


@dataclass(frozen=True)
class Verdict:
    """What is found of a function.

    Parameters
    ----------
    status : {"not attempted", "correct", "wrong"}
    message : str
    mistake : str or None
        The slug of the mistake, where one was recognised.
    case : Case or None
        That went wrong.
    also : str or None
        The slug of a second mistake, where two were recognised.
    undecided : str
        Where the function could not be judged, whatever it is: the heading that says so.
    """

    status: str
    message: str
    mistake: str | None = None
    case: Case | None = None
    also: str | None = None
    undecided: str = ""


def report_internal_errors(judging: Callable[..., Verdict]) -> Callable[..., Verdict]:
    """Let what returns a Verdict say of an error of its own that it is the course's, and nobody else's."""

    @functools.wraps(judging)
    def judged(*arguments):
        try:
            # Whatever a learner has set NumPy to do, and has put in the place of the package's functions.
            with np.errstate(all="ignore"), undone():
                return judging(*arguments)
        except Exception as error:  # only ours: what a learner's function raises is caught where it is called
            *_, place = traceback.extract_tb(error.__traceback__)
            message = (
                f"The check itself stopped, with {type(error).__name__}: {error} ({place.name}, line {place.lineno}). "
                "That is a mistake in the course and says nothing about your function; please report it."
            )
            return Verdict("not attempted", message, undecided="This check is broken")

    return judged


@report_internal_errors
def judge(task: Task, function: Any) -> Verdict:
    """Judge a function.

    Parameters
    ----------
    task : Task
    function : callable

    Returns
    -------
    Verdict
        Never an exception: what the function raises becomes a sentence.

    Examples
    --------
    >>> from function_judge.task import Task
    >>> cases = (Case("a row", {"row": np.array([2.0, 1.0])}),)
    >>> task = Task(reference=np.sort, outputs=("sorted",), cases=cases, mistakes=())
    >>> print(judge(task, lambda row: row).message)
    Tried a row: row (2,). sorted[0] should be 1.0000; yours is 2.0000.
    """
    if function is None or function is ...:
        return Verdict("not attempted", f"Write {task.call} first.")
    if not callable(function):
        actual = f"an array of shape {function.shape}" if isinstance(function, np.ndarray) else safe_repr(function)
        asked = f"check({task.reference.__name__})"
        return Verdict("wrong", f"check wants the function itself, {asked}; it was given {actual}.")
    kept_before = kept_by(function)
    first = task.trial(function, task.cases[0])
    if is_stub(function, first.actual):
        return Verdict("not attempted", f"Fill in {task.call}, then run this cell again.")
    with contextlib.redirect_stdout(io.StringIO()):  # what it prints for the first case is enough
        trials = [first]
        for case in task.cases[1:]:
            if trials[-1].timed_out:  # nor would it end on the others
                break
            trials.append(task.trial(function, case))
        answer = Answer(task, function, trials, kept_before)
        explainers = EXPLAINERS_OF_RIGHT if answer.is_right else EXPLAINERS_OF_WRONG
        return next(filter(None, (explain(answer) for explain in explainers)))


def is_stub(function: Callable, outcome: Outcome) -> bool:
    """Tell whether a call's outcome is that of a function nobody has begun."""
    if isinstance(outcome.error, NotImplementedError):
        return True
    # A `...` that a stub's own lines store where a number belongs.
    if isinstance(outcome.error, TypeError) and "not 'ellipsis'" in str(outcome.error):
        return True
    parts = list(_leaves(outcome.returned))
    if parts and all(part is ... or part is NotImplemented for part in parts):
        return True
    # None from a function that computes something is a forgotten `return`, not a stub.
    return outcome.error is None and outcome.returned is None and does_nothing(function)


def _leaves(returned):
    """Yield what is returned, part by part, of tuples in tuples as well."""
    if isinstance(returned, (tuple, list)):
        for part in returned:
            yield from _leaves(part)
    else:
        yield returned


@dataclass(frozen=True)
class Answer:
    """A function that is being judged, what came of the trials, and what it kept before them."""

    task: Task
    function: Callable
    trials: list[Trial]
    kept_before: dict[str, int] = field(default_factory=dict)

    @property
    def is_right(self) -> bool:
        return all(trial.is_right for trial in self.trials)

    @cached_property
    def failing(self) -> Trial:
        """The first trial that went wrong, of a function that isn't right."""
        return next(trial for trial in self.trials if not trial.is_right)

    def probed(self) -> list[Trial]:
        """Return what came of the task's probes, which few answers are tried on."""
        return self._probes

    @cached_property
    def _probes(self):
        return [self.task.trial(self.function, case) for case in self.task.probes]

    @cached_property
    def plain(self) -> list[Trial]:
        """The trials on cases that aren't at the edge."""
        return [trial for trial in self.trials if not trial.case.edge]

    @cached_property
    def idle_line(self) -> tuple[str | None, str | None]:
        """A slug and a sentence for a line that does nothing, or less than it seems; either may be None."""
        if thrown_away := source_hints.thrown_away(self.function):
            return "result-thrown-away", thrown_away
        if self.failing.actual.error is not None:  # nothing is used that comes after it
            return None, None
        if first_round := source_hints.return_in_loop(self.function):
            return "return-in-loop", first_round
        return None, source_hints.overwritten(self.function) or source_hints.never_used(self.function)

    @cached_property
    def at_this_line(self) -> str | None:
        """The sentence that points at the line, in ordinary cases in which it shows; None in any doubt."""
        ordinary = [
            trial
            for trial in self.trials
            if not (trial.is_right or trial.actual.error or trial.case.edge or trial.case.error_is_fine)
        ]
        watched = sorted(ordinary, key=_ambiguity)[:MAX_WATCHED]
        found = common([lines for lines in map(self._lines_at_fault, watched) if lines.lines])
        is_shown = any(trial is self.failing for trial in watched)
        return at_this_line(found if is_shown else self._unless_contradicted(found))

    def _unless_contradicted(self, found):
        """Return the lines unless the case that is shown has others: it may never run these, or stop before them."""
        error = self.failing.actual.error
        if not found.lines or self.failing.case.edge:
            return found
        if error is not None:
            return self._until_the_error(found, line_of_error(error, self.function))
        shown = self._lines_at_fault(self.failing).lines
        return found if not shown or {*shown} & {*found.lines} else FaultyLines()

    def _until_the_error(self, found, stop):
        """Return the lines without those behind the one at which the case that is shown stops."""
        if stop not in found.lines:
            return FaultyLines()
        ran = tuple(line for line in found.lines if line.path != stop.path or line.number <= stop.number)
        return found if ran == found.lines else FaultyLines(() if found.first_is_right else ran)

    def _lines_at_fault(self, trial):
        case = self.with_asked_defaults(trial.case)
        known = self.task.on_the_way(trial.case)
        if not known:
            return FaultyLines()
        is_right = functools.partial(self.task.is_right, case=trial.case)
        return lines_at_fault(self.function, case, known, is_right, subject=self.task.subject)

    @cached_property
    def other_defaults(self) -> dict[str, tuple]:
        """The parameters that have another default than is asked for: theirs, and the one that is."""
        return other_defaults(self.function, self.task.reference)

    def with_asked_defaults(self, case: Case) -> Case:
        """Return a case that passes the defaults that are asked for: no line of the body is to blame for another."""
        passed = case.arguments | case.options
        asked = {name: pair[1] for name, pair in self.other_defaults.items() if name not in passed}
        return replace(case, options=case.options | asked) if asked else case

    def evidence(self, **options: Any) -> str:
        """Say what was tried, and what is not as it should be."""
        return what_happened(self.task, self.function, self.failing, **options)

    def wrong(self, mistake: str | None, *sentences: str | None, case: Case | None = None) -> Verdict:
        """Return the verdict that these sentences make, of which some may be empty."""
        return Verdict("wrong", "\n".join(filter(None, sentences)), mistake, case or self.failing.case)

    def named(self, mistake: str, *sentences: str | None) -> Verdict:
        """Return the verdict of a mistake that has a name, with the evidence below it."""
        return self.wrong(mistake, *sentences, self.at_this_line, self.evidence(is_named=True))


def _ambiguity(trial):
    """How little a case tells: whether it is degenerate, and how few different sizes it has."""
    sizes = {size for value in (trial.case.arguments | trial.case.options).values() for size in np.shape(value)}
    return trial.case.is_degenerate, -len(sizes)


def never_ends(answer: Answer) -> Verdict | None:
    return stopped(answer, answer.trials[-1])


def stopped(answer: Answer, trial: Trial) -> Verdict | None:
    """What is said of a call that was stopped; None where it came back."""
    error = trial.actual.error
    if not isinstance(error, TimedOut):
        return None
    tried = f"Tried {trial.case.trait}: {shapes_of(trial.case.arguments | trial.case.options)}."
    number, line = last_line(error, answer.function)
    place = f" It is in line {number} of the cell: `{line}`." if line else ""
    if isinstance(error, Waited):
        sentence = (
            f"{tried} Your function has not come back after {MAX_WAIT:g} seconds, in which it computed little, and was "
            f"stopped.{place} Does it sleep there, or wait for something? On a very busy machine, check once more. "
            "This says nothing about whether it is right."
        )
        return Verdict("not attempted", sentence, undecided="No verdict")
    sentence = (
        f"{tried} Your function has not come back after {in_words(answer.task.seconds)}, and was stopped.{place} "
        "Does a loop or a recursion there ever reach its end?"
    )
    return answer.wrong("never-ends", sentence, source_hints.thrown_away(answer.function), case=trial.case)


def held_as_objects(answer: Answer) -> Verdict | None:
    if holds_objects(answer.failing.actual.returned) and all(
        same(trial.actual, trial.expected) for trial in answer.trials
    ):
        return answer.wrong("held-as-objects", HELD_AS_OBJECTS)
    return None


def keeps_state(answer: Answer) -> Verdict | None:
    """Ask a case once more: what a call keeps for the next one would be blamed on something else."""
    again = answer.task.run(answer.function, answer.task.cases[0])
    names = changed_since(answer.function, answer.kept_before)
    if _answers_differ(answer.trials[0], again):
        sentences = [TWO_ANSWERS]
    elif names and again.error:  # it stops both times, over what was there before
        sentences = []
    else:
        return None
    if names:
        sentences.insert(0, f"Your function keeps something between calls, in {_in_code(names)}.")
    else:
        sentences.append("Does it keep something between calls, or draw random numbers?")
    return answer.named("not-repeatable", " ".join([*sentences, FROM_ITS_ARGUMENTS]))


def _answers_differ(trial, again):
    """Tell whether a second call gave something else; numbers are compared only in arrays of the size that is asked."""
    first = trial.actual
    if first.error or again.error:
        return not same(first, again)
    if not (first.arrays and again.arrays):
        return False
    return not same_shapes(first, again) or (trial.is_comparable and not same(first, again))


def other_first_arguments(answer: Answer) -> Verdict | None:
    """Its first line has the arguments in another order, or further ones among them."""
    wanted = list(answer.failing.case.arguments)
    arguments = other_arguments(answer.function, wanted)
    if not arguments:
        return None
    more = [name for name in arguments if name not in inspect.signature(answer.task.reference).parameters]
    if not more or [name for name in arguments if name in wanted] != wanted:
        return answer.named(
            "arguments-order",
            f"Your function's first line has its arguments in another order: {', '.join(arguments)}. They are passed "
            f"by position, so it must be {answer.task.call}.",
        )
    of_class = " (`self` is for the methods of a class.)" if "self" in more else ""
    return answer.named(
        "extra-argument",
        f"Your function's first line has {_in_code(more)} too many. Arguments are passed by position, so it must be "
        f"{answer.task.call}.{of_class}",
    )


def _in_code(names):
    *others, last = (f"`{name}`" for name in names)
    return f"{', '.join(others)} and {last}" if others else last


def another_default(answer: Answer) -> Verdict | None:
    """Say of a parameter that its own default is what is wrong: the function is right where the asked one is passed."""
    failing = [trial.case for trial in answer.trials if not trial.is_right]
    asked = [answer.with_asked_defaults(case) for case in failing]
    if asked == failing or not all(answer.task.trial(answer.function, case).is_right for case in asked):
        return None
    line = line_of_definition(answer.function)
    place = f"line {line.number}, `{line.text}`" if line else "the function's first line"
    wanted = [
        f"where no {name} is passed, it must be {right!r}, and yours is {theirs!r}"
        for name, (theirs, right) in answer.other_defaults.items()
        if any(name in case.options for case in asked)
    ]
    sentence = f"It goes wrong in {place}: {'; '.join(wanted)}."
    return answer.wrong("other-default", sentence, answer.evidence(is_named=True))


def certain_from_the_source(answer: Answer) -> Verdict | None:
    slug, cause = source_hints.certain_cause(answer.function)
    return answer.named(slug, cause) if slug else None


def fractions_cut_off(answer: Answer) -> Verdict | None:
    """The right numbers, but as whole numbers, without what comes after the point."""

    def is_cut_off(part, got, wanted):
        is_whole = np.asarray(part).dtype.kind in "iu"
        return is_whole and not close(got, wanted).all() and close(got, np.trunc(wanted)).all()

    failing = answer.failing
    if failing.case.edge or not failing.is_comparable:
        return None
    if any(map(is_cut_off, failing.actual.parts, failing.actual.arrays, failing.expected.arrays)):
        return answer.named("fractions-lost", FRACTIONS_CUT_OFF)
    return None


def too_few_digits(answer: Answer) -> Verdict | None:
    """The right numbers, as far as float16 holds them."""

    def is_near(trial):
        is_half = trial.is_comparable and all(np.asarray(part).dtype == np.float16 for part in trial.actual.parts)
        pairs = zip(trial.actual.arrays, trial.expected.arrays, strict=True) if is_half else ()
        return is_half and all(np.allclose(*pair, rtol=FLOAT16, atol=FLOAT16, equal_nan=True) for pair in pairs)

    failing = [trial for trial in answer.trials if not (trial.is_right or trial.case.edge)]
    return answer.named("float16", HELD_AS_FLOAT16) if failing and all(map(is_near, failing)) else None


def class_itself(answer: Answer) -> Verdict | None:
    function = answer.function
    makes_callables = isinstance(function, type) and callable(inspect.getattr_static(function, "__call__", None))
    if not makes_callables or answer.failing.actual.arrays is not None:
        return None
    name = function.__name__
    sentence = f"check was given the class {name} itself. Make an object of it, and give it that: check({name}(...))."
    return answer.wrong("class-itself", sentence)


def known_mistake(answer: Answer) -> Verdict | None:
    if met_a_stub(answer.failing.actual.error):
        return None
    mistake = recognise(answer.task.catalogue, answer.trials, answer.probed)
    return answer.named(mistake.slug, mistake.message, answer.idle_line[1]) if mistake else None


def known_in_part(answer: Answer) -> Verdict | None:
    """Name a mistake behind which something else is wrong, and that as well where it is known."""
    if met_a_stub(answer.failing.actual.error):
        return None
    task = answer.task
    part = recognise_in_part(task.catalogue, answer.trials, lambda case: is_single(task, case), task.first_output)
    telling = [
        trial
        for trial in answer.trials
        if not (trial.case.is_degenerate or (trial.case.error_is_fine and trial.actual.error))
    ]
    if two := recognise_two(task.catalogue, answer.probed(), telling, part):
        first, second = two
        sentences = f"Two mistakes at once. {first.message}", f"Second, once that is mended: {second.message}"
        return replace(answer.named(first.slug, *sentences, answer.idle_line[1]), also=second.slug)
    return answer.named(part.slug, part.message, answer.idle_line[1]) if part else None


def one_without_conditions(answer: Answer) -> Verdict | None:
    found = recognise_without_conditions(answer.task.catalogue, answer.probed(), answer.plain)
    if not found:
        return None
    mistake, beside = found
    beside_it = BESIDE_IT.format(beside.case.trait) if beside else None
    return answer.named(mistake.slug, mistake.message, beside_it, answer.idle_line[1])


def fixed_number_of_axes(answer: Answer) -> Verdict | None:
    """It takes a shape apart into as many names as there are axes in one of the cases."""
    error = answer.failing.actual.error
    stop = line_of_error(error, answer.function) if isinstance(error, ValueError) else None
    if stop is None or "values to unpack" not in str(error) or "got 1)" in str(error):  # a row has no axis but its own
        return None
    names = source_hints.names_of_a_shape(stop.path, stop.number)
    if not names:
        return None
    sentence = (
        f"It fits one number of axes only: `{stop.text}` takes no more and no fewer. Of a batch there may be one in "
        f"front, or more, or none: `*batch, {', '.join(names[-2:])} = ...shape` takes them all. Keep them in every "
        "reshape, (*batch, ...), and count the other axes from the end."
    )
    return answer.named("fixed-axes", sentence)


def idle_line(answer: Answer) -> Verdict | None:
    slug, sentence = answer.idle_line
    return answer.named(slug, sentence) if slug else None


def zero_times_infinity(answer: Answer) -> Verdict | None:
    if not holds_nan_or_zeros(answer.task, answer.failing):
        return None
    sentence = source_hints.zero_times_infinity(answer.function)
    return answer.wrong("zero-times-inf", sentence, answer.evidence(is_named=False)) if sentence else None


def wrong_only_there(answer: Answer) -> Verdict | None:
    """Only cases are wrong that say what is wrong with an answer that fails nowhere else."""
    alone = {trial.case.when_only_these_fail for trial in answer.trials if not trial.is_right}
    explained = alone.pop() if len(alone) == 1 else None
    return answer.named(*explained) if explained else None


def takes_from_outside(answer: Answer) -> Verdict | None:
    names = ", ".join(f"`{name}`" for name in outside_arrays(answer.function))
    if not names:
        return None
    sentence = (
        f"Your function uses {names} from the notebook around it. Inside the function use only its "
        f"arguments: {', '.join(answer.failing.case.arguments)}."
    )
    return answer.wrong("outside-array", sentence, answer.evidence(is_named=False))


def no_name(answer: Answer) -> Verdict:
    """What can be said where no mistake is recognised: where it is right, what must hold, what was tried."""
    task, failing = answer.task, answer.failing
    right_there, broken, place = where_right(task, answer.trials), None, ()
    if failing.is_comparable:
        broken, place = broken_property(task, answer.function, failing)
    is_batch = right_there in (RIGHT_FOR_MATRICES, RIGHT_WITHOUT_BATCH)  # NumPy's words about shapes then only distract
    evidence = answer.evidence(is_named=False, is_batch=is_batch, place=place)
    return answer.wrong(None, right_there, broken, answer.idle_line[1], answer.at_this_line, evidence)


EXPLAINERS_OF_WRONG = (
    never_ends,
    class_itself,
    held_as_objects,
    other_first_arguments,
    another_default,
    keeps_state,
    certain_from_the_source,
    fractions_cut_off,
    too_few_digits,
    known_mistake,
    known_in_part,
    one_without_conditions,
    fixed_number_of_axes,
    idle_line,
    zero_times_infinity,
    wrong_only_there,
    takes_from_outside,
    no_name,
)


def writes_into_an_argument(answer: Answer) -> Verdict | None:
    changing = next((trial for trial in answer.trials if trial.actual.changed), None)
    if not changing:
        return None
    argument = changing.actual.changed
    sentence = (
        f"The numbers are right, but your function writes into its argument `{argument}`, so the caller's array is no "
        "longer what it was. `a -= b`, `a[i] = b` and np.exp(a, out=a) change a in place: `a = a - b` makes a new "
        f"array, and so does `{argument}.copy()`. A slice ({argument}[:]), a reshape, a transpose and np.asarray "
        "usually don't: they are views of the same numbers."
    )
    return answer.wrong("input-changed", sentence, source_hints.thrown_away(answer.function), case=changing.case)


def keeps_something_between_calls(answer: Answer) -> Verdict | None:
    again = answer.task.trial(answer.function, _rolled(answer.task.cases[0]))
    if again.is_right or again.timed_out:
        return stopped(answer, again)
    sentence = "Called once more, with other numbers, it is wrong: does it keep something between calls?"
    return answer.wrong("not-repeatable", sentence, case=again.case)


def not_the_way_that_is_asked_for(answer: Answer) -> Verdict | None:
    found = answer.task.required_way and answer.task.required_way(answer.function)
    return Verdict("wrong", found[1], found[0]) if found else None


def right(answer: Answer) -> Verdict:
    traits = [trial.case.trait for trial in answer.trials if trial.actual.error is None or trial.expected.error]
    name = answer.task.reference.__name__
    return Verdict("correct", f"{name} is right on {len(traits)} cases: {', '.join(traits)}.")


EXPLAINERS_OF_RIGHT = (
    writes_into_an_argument,
    keeps_something_between_calls,
    not_the_way_that_is_asked_for,
    right,
)


def _rolled(case):
    """Return a case of other numbers in a known shape: an answer kept from an earlier call is wrong there.

    Each argument is rolled by its own number of places, as pairs that move together may change nothing;
    rows move whole, so that what must hold of a row still holds.
    """
    rolled = {
        name: np.roll(value, places, axis=0) if isinstance(value, np.ndarray) else value
        for places, (name, value) in enumerate(case.arguments.items(), 1)
    }
    return Case("the first numbers, in another order", rolled)
