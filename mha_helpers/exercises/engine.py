"""Exercises that name the learner's mistake.

An exercise is a task for the judge (the inputs, the course's own function, the catalogue of mistakes), and what a
learner asks of it: its check, its hints, its solution.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import io
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attention_doctor.equation.subject import ATTENTION
from function_judge.call import call
from function_judge.libraries import add_own
from function_judge.source import code_of, global_names, same_code
from function_judge.subject import Subject
from function_judge.task import Case, Task
from function_judge.verdict import Verdict, judge, report_internal_errors
from live_pictures.panel import Note, Panel, Shown
from mha_helpers.exercises.error_causes import CAUSES
from mha_helpers.exercises.moved_numbers import moved_number
from mha_helpers.learner import folder, kept_answers, originals, results, session, whose_numbers
from mha_helpers.learner.standalone import NotStandaloneError, is_courses
from mha_helpers.learner.starting_over import start_over

__all__ = ["Case", "Exercise", "Result", "recall", "source_of"]

add_own("mha_helpers")
SUBJECT = replace(ATTENTION, causes=CAUSES)


@dataclass(frozen=True, repr=False)
class Result(Shown):
    """What a check found.

    Parameters
    ----------
    status : {"not attempted", "correct", "wrong"}
    message : str
    mistake : str or None
        The slug of the catalogued mistake, where one was recognised.
    next_step : str
        What the learner can do now.
    hints : tuple of str
        Folded away below it.
    heading : str
        In place of what the status says.
    note : str
        What to tell the learner about saving the answer.
    also : str or None
        The slug of a second mistake, where two were recognised.
    """

    status: str
    message: str
    mistake: str | None = None
    next_step: str = ""
    hints: tuple = ()
    heading: str = ""
    note: str = ""
    also: str | None = None

    @property
    def panel(self) -> Panel:
        names = " and ".join(filter(None, (self.mistake, self.also)))
        tone, heading = {
            "not attempted": ("neutral", "Not attempted yet"),
            "correct": ("good", "Correct"),
            "wrong": ("bad", f"Not yet: {names}" if names else "Not yet"),
        }[self.status]
        folds = tuple((f"Hint {i} of {len(self.hints)}", hint) for i, hint in enumerate(self.hints, 1))
        paragraphs = tuple(filter(None, (self.message, self.next_step, self.note)))
        return Panel(tone, self.heading or heading, paragraphs, folds=folds)


@dataclass(frozen=True, kw_only=True)
class Exercise(Task):
    """A function for the learner to write: a task, with hints and a solution.

    Parameters
    ----------
    hints : tuple of str
        From a nudge to nearly the answer.
    on_success : str
        What the learner can do once it is right.
    model_answer : callable, optional
        The solution to show where the reference does more than the exercise asks.
    broken_version : callable, optional
        For a repair: the wrong function that stands in the notebook's cell, to be found wrong and fixed.
    called : str, optional
        What it is called in `mha_helpers.exercises`, where that is not the function's own name.
    """

    reference: Callable[..., Any]
    hints: tuple[str, ...]
    on_success: str
    model_answer: Callable[..., Any] | None = None
    broken_version: Callable[..., Any] | None = None
    called: str = ""
    subject: Subject = SUBJECT

    @property
    def name(self) -> str:
        """What it is called in `mha_helpers.exercises`."""
        return self.called or self.reference.__name__

    def with_mistake(self, slug: str) -> Callable[..., Any]:
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

    def check(self, function: Any) -> Result:
        """Compare a learner's function with the course's.

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
        verdict = self._judged(function)
        session.failing_cases[self.name] = verdict.case
        whose_numbers.checked(self.reference, is_wrong=verdict.status == "wrong" and not verdict.undecided)
        results.keep(self.name, verdict.status, verdict.mistake)
        result = self._result(self._at_first(verdict))
        return replace(result, note=self._keep(function)) if verdict.status == "correct" else result

    def _at_first(self, verdict):
        """Return a verdict without its remedy the first time: what happens is told, and the rest is left to find out.

        Their second check that fails in the same way tells it, and so does the next hint.
        """
        session.remedies.pop(self.name, None)
        if verdict.status != "wrong":
            return verdict
        message, untold = verdict.message, []
        for mistake in self.mistakes:
            if mistake.remedy and mistake.slug in (verdict.mistake, verdict.also):
                session.failures[self.reference.__name__, mistake.slug] += 1
                if session.failures[self.reference.__name__, mistake.slug] == 1:
                    message = message.replace(f" {mistake.remedy}", "")
                    untold.append(mistake.remedy)
        if untold:
            session.remedies[self.name] = " ".join(untold)
        return replace(verdict, message=message)

    def _keep(self, function):
        """Save a correct answer if its text alone passes, too; otherwise the one before it stays.

        Returns
        -------
        str
            What to tell the learner about it: mostly nothing.
        """
        if kept_answers.path() is None or getattr(function, "is_kept", False) or is_courses(function):
            return ""
        before = kept_answers.kept(self.name)
        try:
            answer = kept_answers.written(function, self.reference.__name__)
            if not before or answer.source != before.source:
                self._try_alone(answer)
            kept_answers.keep(self.name, answer)
        except NotStandaloneError as error:
            why = str(error)
        except OSError as error:
            return session.once(folder.cannot_be_written(error))
        except Exception as error:  # whatever an object does that is looked into: the check stands without it
            why = f"writing it down stopped with {type(error).__name__}: {error}"
        else:
            return session.once(folder.ends_with_the_machine())
        stays = f" Your answer of {before.since} stays." if before else ""
        return f"This answer can't be kept for later notebooks, as {why}.{stays}"

    def _try_alone(self, answer):
        """Run an answer's text in an empty namespace, and check it; raise NotStandaloneError if it doesn't pass."""
        with nothing_shown():
            made = call(answer.function, {}, read=lambda function: None, seconds=self.seconds)
            verdict = None if made.error else self._judged(made.returned)
            tried = self.run(made.returned, verdict.case) if verdict and verdict.case else made
        if tried.error:
            raise NotStandaloneError(f"its text alone stops with {type(tried.error).__name__}: {tried.error}")
        if verdict.status != "correct":
            raise NotStandaloneError("its text alone isn't right: does it depend on what other cells did?")

    def diagnosis(self, function: Any) -> Result:
        """Return what `check` returns; nothing is kept, and nothing that the function prints is shown."""
        with contextlib.redirect_stdout(io.StringIO()):
            return self._result(self._judged(function))

    def on_the_way(self, case: Case) -> list[Any]:
        key = ("on the way", case.trait)
        if key not in self._known:
            from mha_helpers.exercises import on_the_way  # a right answer never needs them

            known = on_the_way.numbers(self.reference.__name__, case.arguments | case.options)
            self._known[key] = known or on_the_way.numbers_of_solution(self, case)
        return self._known[key]

    @report_internal_errors
    def _judged(self, function):
        if not self.broken_version or not same_code(function, self.broken_version):
            verdict = judge(self, function)
            if verdict.status == "wrong":
                verdict = self._blamed_on_helper(function, verdict)
            return _of_pythons_sum(verdict) if _sums_as_python(function) else verdict
        message = "This is still the function as given: find what is wrong with it, and fix it."
        if moved := moved_number(self, function):
            message += f" In the course's sentence, {moved}."
        return Verdict("not attempted", message)

    def _blamed_on_helper(self, function, verdict):
        """Say of a right function that what it calls is wrong; return the verdict as it is of any other."""
        from mha_helpers.exercises.wrong_helpers import wrong_helper  # it loads the others, of which few are asked for

        def is_right(other):
            return judge(self, other).status == "correct"

        helper = wrong_helper(function, is_right)
        if helper is None:
            return verdict
        name = self.reference.__name__
        message = (
            f"`{name}` itself is right; the `{helper}` that it calls isn't. "
            f"exercises.{helper}.check({helper}) says what is wrong with it."
        )
        return replace(verdict, message=message, mistake="wrong-helper", also=None)

    def _result(self, verdict):
        """Return a verdict as the learner sees it: with what to do next."""
        next_step, hints = f"Stuck? exercises.{self.name}.hint()", self.hints
        if verdict.status == "correct":
            next_step, hints = self.on_success, ()
        elif verdict.case:
            next_step += f"; exercises.{self.name}.failing_case() gives these arguments."
        elif verdict.undecided or (verdict.status == "wrong" and not verdict.mistake):
            next_step, hints = "", ()
        found = verdict.status, verdict.message, verdict.mistake
        return Result(*found, next_step, hints, verdict.undecided, also=verdict.also)

    def working_version(self, function: Any) -> Callable[..., Any]:
        """Return the learner's function if it passes the check, otherwise the course's.

        The cells below run on what it returns, so that they work whether or not the exercise is solved.

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
        >>> softmax = exercises.softmax.working_version(...)
        softmax: the course's version (yours is not written yet)
        """
        with contextlib.redirect_stdout(io.StringIO()):
            verdict = self._judged(function)
        status = "undecided" if verdict.undecided else verdict.status
        is_theirs = status == "correct" and function is not self.reference
        why = {
            "not attempted": " (yours is not written yet)",
            "wrong": " (yours is not right yet)",
            "undecided": f". {verdict.message}",
        }.get(status, "")
        name = self.reference.__name__
        print(f"{name}: yours" if is_theirs else whose_numbers.courses_version(self.reference, why))
        if status == "not attempted" and (answer := kept_answers.kept(self.name)):
            print(f"Your answer of {answer.since} is saved: exercises.{self.name}.bring_back() brings it back.")
        return self._in_arrays(function) if is_theirs else self.reference

    def bring_back(self) -> Callable[..., Any]:
        """Return the learner's last correct answer, from whichever notebook, otherwise the course's function.

        Returns
        -------
        callable
            It also prints whose it is, and from when.

        Examples
        --------
        >>> from mha_helpers import exercises
        >>> softmax = exercises.softmax.bring_back()
        softmax: the course's version (no correct answer of yours is saved yet)
        """
        name, answer = self.reference.__name__, kept_answers.kept(self.name)
        if answer is None:
            print(f"{name}: the course's version (no correct answer of yours is saved yet)")
            return self.reference
        try:
            function = answer.function()
        except Exception as error:  # whatever a learner's source may raise
            why = f"stopped with {type(error).__name__}: {error}"
        else:
            with nothing_shown():
                verdict = self._judged(function)
            if verdict.status == "correct":
                print(f"{name}: yours of {answer.since}")
                brought = self._in_arrays(function)
                brought.is_kept = True  # when it is checked, there is nothing to keep anew
                return brought
            why = f"can't be checked: {verdict.message}" if verdict.undecided else "no longer passes"
        print(f"{name}: the course's version (yours of {answer.since} {why})")
        return self.reference

    def _in_arrays(self, function):
        @functools.wraps(function)
        def in_arrays(*arguments, **options):
            """A check accepts rows in a list, too; the cells below rely on arrays."""
            returned = function(*arguments, **options)
            return np.asarray(returned) if len(self.outputs) == 1 else tuple(map(np.asarray, returned))

        return in_arrays

    def failing_case(self) -> dict[str, Any]:
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
        case = session.failing_cases.get(self.name)
        if case is None:
            asked = f"exercises.{self.name}.check({self.reference.__name__})"
            raise ValueError(f"the last check found nothing wrong, or there was none; run {asked}")
        return case.copy()

    def hint(self) -> Note:
        """Show the next hint; after the last one, the last again.

        What the last check has left to find out comes first.

        Returns
        -------
        Note
        """
        if remedy := session.remedies.pop(self.name, None):
            return Note(Panel("info", "What to do about it", (remedy,)))
        number = session.hints_shown[self.name] = min(session.hints_shown[self.name] + 1, len(self.hints))
        heading = f"Hint {number} of {len(self.hints)}"
        paragraphs: tuple[str, ...] = (self.hints[number - 1],)
        if number == len(self.hints):
            paragraphs += (f"That was the last hint; exercises.{self.name}.solution() shows one solution.",)
        return Note(Panel("info", heading, paragraphs))

    def start_over(self) -> Note:
        """Put the exercise's original text into the cell that this is run in.

        What the cell held is shown below it, and kept in a file, too. Other cells stay as they are. Where the editor
        can't replace a cell's text, copy the original from the last line of what is shown.

        Returns
        -------
        Note
            Its attribute `source` is the original.

        Examples
        --------
        >>> from mha_helpers import exercises
        >>> exercises.softmax.start_over()  # doctest: +SKIP
        """
        session.hints_shown.pop(self.name, None)
        session.failing_cases.pop(self.name, None)
        session.remedies.pop(self.name, None)
        return start_over(self.name, originals.stub(self.name))

    def solution(self) -> Note:
        """Show one correct answer among many: the source of the course's function.

        Returns
        -------
        Note
            Its attribute `source` is the code.
        """
        if self.model_answer:
            return Note(Panel("info", "One solution", code=source_of(self.model_answer)))
        name = self.reference.__name__
        return Note(Panel("info", f"One solution: {name} of mha_helpers", code=source_of(self.reference)))


def _sums_as_python(function):
    code = code_of(function)
    return code is not None and "sum" in global_names(code) - function.__globals__.keys()


def _of_pythons_sum(verdict):
    """Say what Python's own sum does where the sum goes the wrong way."""
    if verdict.mistake != "softmax-over-queries":
        return verdict
    why = "Python's own `sum` adds up rows, and takes no axis. NumPy's does: `exponentials.sum(axis=-1)`."
    return replace(verdict, message=f"{verdict.message}\n{why}")


def recall(exercise: Exercise) -> Exercise:
    """Return an exercise again, as a warm-up: the same check under a name of its own.

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
    return replace(exercise, called=f"recall_{exercise.name}", on_success="You still have it. On you go.")


@contextlib.contextmanager
def nothing_shown() -> Iterator[None]:
    """Show nothing of what the body prints or displays."""
    if "IPython" not in sys.modules:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
        return
    from IPython.utils.capture import capture_output

    with capture_output():
        yield


def source_of(function: Any) -> str:
    """Return a function's source as a learner would type it: no decorator, no type hints, no docstring."""
    lines = textwrap.dedent(inspect.getsource(inspect.unwrap(function))).splitlines()
    definition = ast.parse("\n".join(lines)).body[0]
    assert isinstance(definition, ast.FunctionDef)
    first = definition.body[0]
    docstring = (first.lineno, first.end_lineno) if ast.get_docstring(definition) else (first.lineno, first.lineno - 1)
    head = lines[definition.lineno - 1 : docstring[0] - 1]
    if definition.returns:
        parameters = [node for node in ast.walk(definition.args) if isinstance(node, ast.arg)]
        for parameter in parameters:
            parameter.annotation = None
        head = [f"def {definition.name}({ast.unparse(definition.args)}):"]
    return "\n".join(head + lines[docstring[1] :])
