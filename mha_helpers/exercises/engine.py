"""Exercises that name the learner's mistake.

A check calls the learner's function and the course's own on the same inputs. Where they differ it
calls every catalogued wrong implementation too: the one that gives what the learner's function
gave is the mistake.
"""

import ast
import contextlib
import functools
import inspect
import io
import textwrap
import traceback
from dataclasses import dataclass, field, replace

import numpy as np

from mha_helpers.exercises import diagnosis, results
from mha_helpers.exercises.diagnosis import Trial
from mha_helpers.exercises.moved_numbers import moved_number
from mha_helpers.exercises.originals import as_written
from mha_helpers.exercises.panel import Note, Panel
from mha_helpers.exercises.parts import Case, Result
from mha_helpers.judge.call import agree
from mha_helpers.judge.returned import safe_repr
from mha_helpers.judge.source import same_code
from mha_helpers.judge.time_limit import SECONDS, TimedOut
from mha_helpers.learner.answer import call_safely, is_stub
from mha_helpers.learner.watching import shapes_on_the_way

__all__ = ["Case", "Exercise", "Result", "recall", "source_of"]


@dataclass
class Exercise:
    """A function for the learner to write, with the inputs and the mistakes that its check knows.

    Parameters
    ----------
    reference : callable
        The course's own function: right by definition, and the solution that is shown.
    outputs : tuple of str
        The names of what it returns.
    cases : tuple of Case
    mistakes : tuple of Mistake
        In order of preference where two explain the same answer.
    hints : tuple of str
        From a nudge to nearly the answer.
    on_success : str
        What the learner can do once it is right.
    wrong_at_edges : str, optional
        What to say when only the edge cases are wrong.
    properties : tuple of callable, optional
        Each takes (call, arguments and options, arrays) of a wrong answer that no mistake explains, and
        returns a sentence if something that must hold does not, else None. A sentence about one cell or row comes with
        its index, (sentence, index), and the check shows that cell.
    model_answer : callable, optional
        The solution to show where the reference does more than the exercise asks.
    way : callable, optional
        Takes the arguments of the first case and the shapes of all arrays that a right answer makes of them on its way,
        and returns the slug of a mistake and a message if that is not the way which the exercise asks for, else None.
    given : callable, optional
        For a repair: the wrong function that stands in the notebook's cell, to be found wrong and fixed.
    name : str, optional
        What it is called in `mha_helpers.exercises`, where that is not the function's own name.
    seconds : float, optional
        How long one call may take.
    """

    reference: object
    outputs: tuple
    cases: tuple
    mistakes: tuple
    hints: tuple
    on_success: str
    wrong_at_edges: str = ""
    properties: tuple = ()
    model_answer: object = None
    way: object = None
    given: object = None
    name: str = ""
    seconds: float = SECONDS
    hints_shown: int = field(default=0, init=False)
    _failing: Case | None = field(default=None, init=False, repr=False)
    _known: dict = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self):
        self.name = self.name or self.reference.__name__

    @property
    def call(self):
        """How the exercise calls the function: "softmax(scores)"."""
        tried = {name for case in self.cases for name in case.options}
        parameters = inspect.signature(self.reference).parameters.values()
        options = [f"{one.name}={one.default!r}" for one in parameters if one.name in tried]
        return f"{self.reference.__name__}({', '.join([*self.cases[0].arguments, *options])})"

    def with_mistake(self, slug):
        """Return the exercise's function with one of its catalogued mistakes in it.

        Parameters
        ----------
        slug : str
            The mistake's name, as `check` gives it.

        Returns
        -------
        callable

        Raises
        ------
        ValueError
            If the exercise knows no such mistake.

        Examples
        --------
        >>> from mha_helpers import exercises
        >>> exercises.softmax.with_mistake("softmax-no-exp")(np.array([1.0, 3.0]))
        array([0.25, 0.75])
        """
        for mistake in self.mistakes:
            if mistake.slug == slug:
                return mistake.implementations[0]
        known = ", ".join(mistake.slug for mistake in self.mistakes)
        raise ValueError(f"{self.name} has no mistake called {slug!r}; choose one of {known}")

    def check(self, function):
        """Compare a learner's function with the course's own.

        Parameters
        ----------
        function : callable
            The function itself: `check(softmax)`.

        Returns
        -------
        Result
            Never an exception: what the learner's code raises becomes a sentence.

        Examples
        --------
        >>> from mha_helpers import exercises
        >>> exercises.softmax.check(lambda scores: scores / scores.sum(-1, keepdims=True)).mistake
        'softmax-no-exp'
        """
        result = self._judge(function)
        results.keep(self.name, result.status, result.mistake)
        return result

    def diagnosis(self, function):
        """Return what `check` returns, for a lab: nothing is kept, and nothing that the function prints is shown."""
        with contextlib.redirect_stdout(io.StringIO()):
            return self._judge(function)

    def _judge(self, function):
        self._failing = None
        try:
            # Whatever a learner has set NumPy to do, and has put in the place of the package's functions.
            with np.errstate(all="ignore"), as_written():
                return self._compare(function)
        except Exception as error:  # only ours: what a learner's function raises is caught where it is called
            *_, place = traceback.extract_tb(error.__traceback__)
            message = (
                f"The check itself stopped, with {type(error).__name__}: {error} ({place.name}, line {place.lineno}). "
                "That is a mistake in the course and says nothing about your function; please report it."
            )
            return Result("not attempted", message, heading="This check is broken")

    def _compare(self, function):
        stuck = {"next_step": f"Stuck? exercises.{self.name}.hint()", "hints": self.hints}
        if function is None or function is ...:
            return Result("not attempted", f"Write {self.call} first.", **stuck)
        if not callable(function):
            given = f"an array of shape {function.shape}" if isinstance(function, np.ndarray) else safe_repr(function)
            asked = f"check({self.reference.__name__})"
            return Result("wrong", f"check wants the function itself, {asked}; it was given {given}.")
        if self.given and same_code(function, self.given):
            message = "This is still the function as given: find what is wrong with it, and fix it."
            if moved := moved_number(self, function):
                message += f" In the course's sentence it shows: {moved}."
            return Result("not attempted", message, **stuck)
        first = self._trial(function, self.cases[0])
        if is_stub(function, first.given):
            return Result("not attempted", f"Fill in {self.call}, then run this cell again.", **stuck)
        with contextlib.redirect_stdout(io.StringIO()):  # what it prints for the first case is enough
            return self._verdict(function, first, stuck)

    def _verdict(self, function, first, stuck):
        trials = [first]
        for case in self.cases[1:]:
            if isinstance(trials[-1].given.error, TimedOut):  # nor would it end on the others
                break
            trials.append(self._trial(function, case))
        *_, last = trials
        if isinstance(last.given.error, TimedOut):
            return self._wrong(diagnosis.never_ended(self, function, last), "never-ends", last.case)
        failing = next((trial for trial in trials if not trial.is_right), None)
        if failing:
            mistake, message = diagnosis.diagnose(self, function, trials)
            return self._wrong(message, mistake, failing.case)
        changing = next((trial for trial in trials if trial.given.changed), None)
        if changing:
            message = diagnosis.writes_into(changing.given.changed, function)
            return self._wrong(message, "input-changed", changing.case)
        again = _rolled(self.cases[0])
        if not agree(self._run(function, again), self._run(self.reference, again)):
            message = "Called once more, with other numbers, it is wrong: does it keep something between calls?"
            return self._wrong(message, "not-repeatable", again)
        another_way = self.way and self._other_way(function)
        if another_way:
            mistake, message = another_way
            return self._wrong(message, mistake, first.case)
        traits = [trial.case.trait for trial in trials if trial.given.error is None or trial.wanted.error]
        message = f"{self.reference.__name__} is right on {len(traits)} cases: {', '.join(traits)}."
        return Result("correct", message, next_step=self.on_success)

    def _wrong(self, message, mistake, case):
        self._failing = case
        stuck = f"Stuck? exercises.{self.name}.hint(); exercises.{self.name}.failing_case() gives these arguments."
        return Result("wrong", message, mistake, stuck, self.hints)

    def _other_way(self, function):
        [*arguments] = self.cases[0].copy().values()
        return self.way(self.cases[0].arguments, shapes_on_the_way(lambda: function(*arguments)))

    def _trial(self, function, case):
        return Trial(case, self._run(function, case), self.outcome(self.reference, case))

    def yours_or_ours(self, function):
        """Choose what the cells below run on: the learner's function once it is right, else the course's own.

        Parameters
        ----------
        function : callable
            The learner's, as for `check`.

        Returns
        -------
        callable
            A learner's returns arrays, whatever it returned before. It also prints whose it is.

        Examples
        --------
        >>> from mha_helpers import exercises
        >>> softmax = exercises.softmax.yours_or_ours(...)
        softmax: the course's own, as yours is not written yet
        """
        with contextlib.redirect_stdout(io.StringIO()):
            status = self._judge(function).status
        theirs = status == "correct" and function is not self.reference
        why = {"not attempted": ", as yours is not written yet", "wrong": ", as yours is not right yet"}.get(status, "")
        name = self.reference.__name__
        print(f"{name}: yours" if theirs else f"{name}: the course's own{why}")
        if not theirs:
            return self.reference

        @functools.wraps(function)
        def in_arrays(*arguments, **options):
            """What a check accepts may be rows in a list; the cells below count on arrays."""
            returned = function(*arguments, **options)
            return np.asarray(returned) if len(self.outputs) == 1 else tuple(map(np.asarray, returned))

        return in_arrays

    def failing_case(self):
        """Return the arguments with which the last check went wrong, to try them by hand.

        Returns
        -------
        dict
            By name, as new arrays: `softmax(**exercises.softmax.failing_case())`.

        Raises
        ------
        ValueError
            If the last check found nothing wrong, or there was none.

        Examples
        --------
        >>> from mha_helpers import exercises
        >>> result = exercises.causal_mask.check(lambda n: np.ones((n, n), bool))
        >>> exercises.causal_mask.failing_case()
        {'n': 4}
        """
        if self._failing is None:
            asked = f"exercises.{self.name}.check({self.reference.__name__})"
            raise ValueError(f"the last check found nothing wrong, or there was none; run {asked}")
        return self._failing.copy()

    def hint(self):
        """Show the next hint; after the last one, the last again.

        Returns
        -------
        Note
        """
        self.hints_shown = min(self.hints_shown + 1, len(self.hints))
        heading = f"Hint {self.hints_shown} of {len(self.hints)}"
        paragraphs = (self.hints[self.hints_shown - 1],)
        if self.hints_shown == len(self.hints):
            paragraphs += (f"That was the last hint; exercises.{self.name}.solution() shows one solution.",)
        return Note(Panel("info", heading, paragraphs))

    def solution(self):
        """Show one right answer among many: the source of the course's own function.

        Returns
        -------
        Note
            Its attribute `source` is the code.
        """
        if self.model_answer:
            return Note(Panel("info", "One solution", code=source_of(self.model_answer)))
        name = self.reference.__name__
        return Note(Panel("info", f"One solution: {name} of mha_helpers", code=source_of(self.reference)))

    def outcome(self, function, case):
        """Run one of the course's own functions, right or wrong: it always gives the same."""
        key = (function, case.trait)
        if key not in self._known:
            self._known[key] = self._run(function, case)
        return self._known[key]

    def _run(self, function, case):
        return call_safely(function, case.arguments, len(self.outputs), case.options, self.seconds)


def recall(exercise):
    """Return an exercise once more, from memory or pasted in: the same check under a name of its own.

    Parameters
    ----------
    exercise : Exercise

    Returns
    -------
    Exercise
        Its name is that of the first with `recall_` in front.

    Examples
    --------
    >>> from mha_helpers import exercises
    >>> recall(exercises.softmax).name
    'recall_softmax'
    """
    name = f"recall_{exercise.name}"
    return replace(exercise, name=name, on_success="You still have it. On you go.")


def source_of(function):
    """Return a function's source as a learner would type it: no decorator, no docstring."""
    lines = textwrap.dedent(inspect.getsource(inspect.unwrap(function))).splitlines()
    definition = ast.parse("\n".join(lines)).body[0]
    first = definition.body[0]
    docstring = (first.lineno, first.end_lineno) if ast.get_docstring(definition) else (first.lineno, first.lineno - 1)
    return "\n".join(lines[definition.lineno - 1 : docstring[0] - 1] + lines[docstring[1] :])


def _rolled(case):
    """Return a case of other numbers in a known shape: an answer kept from an earlier call is wrong there.

    Each argument is rolled by its own number of places, as pairs that move together may change nothing;
    rows move whole, so that weights still sum to 1.
    """
    rolled = {
        name: np.roll(value, places, axis=0) if isinstance(value, np.ndarray) else value
        for places, (name, value) in enumerate(case.arguments.items(), 1)
    }
    return Case("the first numbers, in another order", rolled)
