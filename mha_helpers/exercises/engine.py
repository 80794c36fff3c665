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
from dataclasses import dataclass, field

import numpy as np

from mha_helpers.exercises import results
from mha_helpers.exercises.panel import Note, Panel, Shown
from mha_helpers.learner import explain
from mha_helpers.learner.calling import agree, call_safely, close, is_stub, same, same_shapes

RIGHT_FOR_MATRICES = (
    "It is right for one matrix, and goes wrong where there are more axes, or fewer: a loop over a batch "
    "takes out a whole matrix each time, not a row. `@`, `axis=-1` and negative numbers in swapaxes mean "
    "the last axes of any number; or let your function call itself for each item of a batch."
)
RIGHT_WITHOUT_BATCH = (
    "It is right without a batch, and goes wrong where there are more axes in front. Count axes from the end, as in "
    "shape[-1], axis=-3 and swapaxes(-3, -2); or let your function call itself for each item of a batch."
)


@dataclass(frozen=True)
class Case:
    """One input to try; where the course's own function refuses it, a learner's must refuse it too.

    Parameters
    ----------
    trait : str
        What is particular about it, in a word or two: "a batch".
    arguments : dict of str to ndarray or int
        Passed by position.
    edge : bool, optional
        Whether it strains the arithmetic (very large scores) rather than the formula. A mistake is looked
        for in all cases first, and then without these, so that two mistakes at once do not hide each other.
    options : dict of str to ndarray or float, optional
        Passed by name.
    """

    trait: str
    arguments: dict
    edge: bool = False
    options: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that people give.

    Parameters
    ----------
    slug : str
        Its stable name.
    message : str
        What to tell the learner.
    implementations : tuple of callable
        The wrong code, in one or more spellings that fail in their own ways.
    seen_in : int, optional
        The one output in which it shows whatever else is done with that output: an attention whose
        weights are made with this mistake may return, or mix, the wrong thing as well.
    """

    slug: str
    message: str
    implementations: tuple
    seen_in: int | None = None


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
    """

    status: str
    message: str
    mistake: str | None = None
    next_step: str = ""

    @property
    def panel(self):
        tone, heading = {
            "not attempted": ("neutral", "Not attempted yet"),
            "correct": ("good", "Correct"),
            "wrong": ("bad", f"Not yet: {self.mistake}" if self.mistake else "Not yet"),
        }[self.status]
        return Panel(tone, heading, tuple(filter(None, (self.message, self.next_step))))


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
        returns a sentence if something that must hold does not, else None.
    model_answer : callable, optional
        The solution to show where the reference does more than the exercise asks.
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
    hints_shown: int = field(default=0, init=False)
    _known: dict = field(default_factory=dict, init=False, repr=False)

    @property
    def name(self):
        return self.reference.__name__

    @property
    def _call(self):
        options = dict.fromkeys(f"{name}=None" for case in self.cases for name in case.options)
        return f"{self.name}({', '.join([*self.cases[0].arguments, *options])})"

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

    def _judge(self, function):
        try:
            return self._compare(function)
        except Exception as error:  # a function so odd that even looking at it fails
            return Result("wrong", f"This function cannot be checked: looking at it raises {type(error).__name__}.")

    def _compare(self, function):
        stuck = f"Stuck? exercises.{self.name}.hint()"
        if function is None or function is ...:
            return Result("not attempted", f"Write {self._call} first.", next_step=stuck)
        if not callable(function):
            given = f"an array of shape {function.shape}" if hasattr(function, "shape") else repr(function)[:60]
            return Result("wrong", f"check wants the function itself, check({self.name}); it was given {given}.")
        first = self._run(function, self.cases[0])
        if is_stub(function, first):
            return Result("not attempted", f"Fill in {self._call}, then run this cell again.", next_step=stuck)
        with contextlib.redirect_stdout(io.StringIO()):  # what it prints for the first case is enough
            given = [first, *(self._run(function, case) for case in self.cases[1:])]
            wanted = [self._outcome(self.reference, case) for case in self.cases]
            right = [agree(*pair) for pair in zip(given, wanted, strict=True)]
            if not all(right):
                mistake, message = self._diagnose(function, given, wanted, right)
                return Result("wrong", message, mistake, stuck)
            # Other numbers of a known shape, last: an answer kept from an earlier call would be wrong here.
            # Each argument is rolled by its own number of places, as pairs that move together may change nothing;
            # rows move whole, so that weights still sum to 1.
            rolled = {
                name: np.roll(value, places, axis=0) if isinstance(value, np.ndarray) else value
                for places, (name, value) in enumerate(self.cases[0].arguments.items(), 1)
            }
            again = Case("", rolled)
            repeated = agree(self._run(function, again), self._run(self.reference, again))
        changed = next((outcome.changed for outcome in given if outcome.changed), None)
        if changed:
            message = (
                f"The numbers are right, but your function writes into its argument `{changed}`, so the caller's array "
                "is no longer what it was. Make a new array: `a = a - b`, where `a -= b` changes a in place."
            )
            return Result("wrong", message, "input-changed", stuck)
        if not repeated:
            message = "Called once more, with other numbers, it is wrong: does it keep something between calls?"
            return Result("wrong", message, "not-repeatable", stuck)
        traits = ", ".join(dict.fromkeys(case.trait for case in self.cases))
        return Result(
            "correct", f"{self.name} is right on {len(self.cases)} cases: {traits}.", next_step=self.on_success
        )

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
        print(f"{self.name}: yours" if theirs else f"{self.name}: the course's own{why}")
        if not theirs:
            return self.reference

        @functools.wraps(function)
        def in_arrays(*arguments, **options):
            """What a check accepts may be rows in a list; the cells below count on arrays."""
            returned = function(*arguments, **options)
            return np.asarray(returned) if len(self.outputs) == 1 else tuple(map(np.asarray, returned))

        return in_arrays

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
        return Note(Panel("info", f"One solution: {self.name} of mha_helpers", code=source_of(self.reference)))

    def _run(self, function, case):
        return call_safely(function, case.arguments, len(self.outputs), case.options)

    def _outcome(self, function, case):
        """Run one of the course's own functions, right or wrong: it always gives the same."""
        key = (function, case.trait)
        if key not in self._known:
            self._known[key] = self._run(function, case)
        return self._known[key]

    def _diagnose(self, function, given, wanted, right):
        failing = right.index(False)
        mistake = self._recognise(given, right)
        evidence = self._evidence(function, self.cases[failing], given[failing], wanted[failing], bool(mistake))
        if mistake:
            return mistake.slug, f"{mistake.message}\n{evidence}"
        outside = explain.outside_arrays(function)
        if outside:
            names = ", ".join(f"`{name}`" for name in outside)
            arguments = ", ".join(self.cases[0].arguments)
            return "outside-array", (
                f"Your function uses {names} from the notebook around it. Inside the function use only its "
                f"arguments: {arguments}.\n{evidence}"
            )
        sentences = [self._where_right(right), evidence]
        if given[failing].arrays and wanted[failing].arrays and same_shapes(given[failing], wanted[failing]):
            sentences.insert(1, self._broken_property(function, self.cases[failing], given[failing]))
        return None, "\n".join(filter(None, sentences))

    def _recognise(self, given, right):
        """Find the mistake that explains the answers, first as strictly as can be, then more loosely.

        The same answers in all cases; in all but those at the edges; the same wherever something came back;
        the same where there is no batch; the same in the output that shows it. So one mistake is still
        named where a second one hides it.
        """
        tried = list(zip(self.cases, given, right, strict=True))
        plain = [one for one in tried if not one[0].edge]
        matrices = [one for one in plain if self._is_single(one[0])]
        views = [(self._explains_every_case, tried), (self._explains_every_case, plain)]
        views += [(self._explains_what_came_back, plain), (self._explains_what_came_back, matrices)]
        for explains, view in views:
            for mistake in self.mistakes:
                if any(explains(wrong, view) for wrong in mistake.implementations):
                    return mistake
        for view in (plain, matrices):
            for mistake in self.mistakes:
                output = mistake.seen_in
                if output is not None and any(
                    self._explains_what_came_back(wrong, view, output) for wrong in mistake.implementations
                ):
                    return mistake
        return None

    def _explains_every_case(self, wrong, view):
        everything = all(same(self._outcome(wrong, case), outcome) for case, outcome, _ in view)
        return everything and not all(ok for _, _, ok in view)

    def _explains_what_came_back(self, wrong, view, output=None):
        shares_a_wrong_answer = False
        for case, outcome, _ in view:
            found = self._outcome(wrong, case)
            if found.error is not None and outcome.error is not None:
                continue  # both fail, each in its own words
            if not same(found, outcome, output):
                return False
            shares_a_wrong_answer |= not same(outcome, self._outcome(self.reference, case), output)
        return shares_a_wrong_answer

    def _evidence(self, function, case, given, wanted, is_named):
        """Say what was tried, and the first thing that is not as it should be."""
        tried = f"Tried {case.trait}: {explain.shapes_of(case.arguments | case.options)}."
        if wanted.error is not None:
            tried += " Expected a ValueError, as this cannot be done."
        if given.error is not None:
            asked = self._call
            return f"{tried} {explain.describe_error(given.error, function, asked, with_cause=not is_named)}"
        if given.returned is None:
            return f"{tried} It returned None: is the `return` line missing?"
        expected = ", ".join(self.outputs)
        if given.arrays is None:
            if isinstance(given.returned, tuple) and len(self.outputs) == 1:
                return f"{tried} It returned {len(given.returned)} things; `return {expected}` and nothing else."
            if callable(given.returned):
                return f"{tried} It returned a function; are the brackets missing that call it?"
            kind = getattr(given.returned, "dtype", type(given.returned).__name__)
            return f"{tried} It returned {kind}, which cannot be read as numbers; `return {expected}`."
        if len(given.arrays) != len(self.outputs):
            got = "one array" if len(given.arrays) == 1 else f"{len(given.arrays)} arrays"
            return f"{tried} Expected {len(self.outputs)}, `return {expected}`; got {got}."
        # Backwards: what is returned last (the weights) is computed first, and an error there explains the rest.
        if wanted.error is not None:
            return f"{tried} Got {expected} of shape {given.arrays[0].shape}."
        pairs = list(zip(self.outputs, given.arrays, wanted.arrays, strict=True))[::-1]
        wrong_shape = [(name, got, want) for name, got, want in pairs if got.shape != want.shape]
        if wrong_shape:
            name, got, want = wrong_shape[0]
            single = ", a single number" if want.shape == () else ""
            return f"{tried} Expected {name} of shape {want.shape}{single}; got {got.shape}."
        right = [name for name, got, want in pairs if close(got, want).all()]
        if len(right) == len(pairs):
            return f"{tried} The entries are right, but they are numbers; give booleans, True and False."
        name, got, want = next(pair for pair in pairs if pair[0] not in right)
        praise = f"{' and '.join(right).capitalize()}: right. " if right else ""
        different = ~close(got, want)
        got, want = (
            array.astype(bool) if outcome.boolean else array for array, outcome in ((got, given), (want, wanted))
        )
        return f"{tried} {praise}{explain.first_difference(name, got, want, different)}"

    def _where_right(self, right):
        tried = list(zip(self.cases, right, strict=True))
        if all(ok for case, ok in tried if not case.edge):
            return self.wrong_at_edges
        failing = {case.trait for case, ok in tried if not ok}
        if len(failing) == 1 and any(ok for _, ok in tried):
            return f"It is right on the other cases, and goes wrong with {failing.pop()}."
        single = [ok for case, ok in tried if not case.edge and self._is_single(case)]
        if all(single):
            return RIGHT_FOR_MATRICES if _n_axes(self.cases[0]) == 2 else RIGHT_WITHOUT_BATCH
        return None

    def _is_single(self, case):
        """Tell whether a case has no batch axes; the first case of an exercise has none."""
        return _n_axes(case) == _n_axes(self.cases[0])

    def _broken_property(self, function, case, outcome):
        def call(**arguments):
            return call_safely(function, case.arguments | arguments, len(self.outputs), case.options).arrays

        with np.errstate(all="ignore"):
            tried = case.arguments | case.options
            sentences = (broken(call, tried, outcome.arrays) for broken in self.properties)
            return next(filter(None, sentences), None)


def source_of(function):
    """Return a function's source as a learner would type it: no decorator, no docstring."""
    lines = textwrap.dedent(inspect.getsource(inspect.unwrap(function))).splitlines()
    definition = ast.parse("\n".join(lines)).body[0]
    first = definition.body[0]
    docstring = (first.lineno, first.end_lineno) if ast.get_docstring(definition) else (first.lineno, first.lineno - 1)
    return "\n".join(lines[definition.lineno - 1 : docstring[0] - 1] + lines[docstring[1] :])


def _n_axes(case):
    return max(np.ndim(value) for value in case.arguments.values())
