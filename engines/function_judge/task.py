"""What a function is asked to do: the inputs that it is tried on, what is right, and the mistakes that are known."""

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from function_judge.call import Outcome, agree, arrays_in, call, copied, same_shapes
from function_judge.catalogue import Catalogue, Mistake
from function_judge.intermediates import numbers_inside
from function_judge.known_numbers import Known
from function_judge.source import source_of
from function_judge.subject import NO_SUBJECT, Subject
from function_judge.time_limit import SECONDS, TimedOut


@dataclass(frozen=True)
class Case:
    """One input to try; where the reference refuses it, an answer must refuse it too.

    Parameters
    ----------
    trait : str
        What is particular about it, in a word or two: "a batch".
    arguments : dict of str to ndarray or int
        Passed by position.
    edge : bool, optional
        Whether it lies at the edge (very large numbers, what must be refused) and so tries more than the formula. A
        mistake is looked for in all cases first, and then without these, so that two mistakes at once do not hide
        each other.
    options : dict of str to ndarray, tuple of ndarray or float, optional
        Passed by name.
    error_is_fine : bool, optional
        Whether an error is as good as an answer. Whole numbers are such a case: an answer that computes in place
        (`row /= 2`) is stopped by NumPy there, while one that fills `np.zeros_like(row)` loses the fractions.
    when_only_these_fail : tuple of (str, str), optional
        The slug of a mistake and what to say, where no other case (but those of the same slug) goes wrong.
    """

    trait: str
    arguments: dict
    edge: bool = False
    options: dict = field(default_factory=dict)
    error_is_fine: bool = False
    when_only_these_fail: tuple | None = None

    @property
    def holds_back(self) -> bool:
        """Whether a condition, an array of booleans, holds something back."""
        conditions = (value for value in (self.arguments | self.options).values() if isinstance(value, np.ndarray))
        return any(not condition.all() for condition in conditions if condition.dtype.kind == "b")

    @property
    def is_degenerate(self) -> bool:
        """Whether an axis has length 1, or a count is 1: it tells less than others."""
        values = (self.arguments | self.options).values()
        return any(1 in np.shape(value) or (np.shape(value) == () and value == 1) for value in values)

    def copy(self) -> dict:
        """Return all its arguments by name, as new arrays."""
        return {name: copied(value) for name, value in (self.arguments | self.options).items()}


@dataclass(frozen=True, eq=False)
class Trial:
    """A case, what somebody's function gave for it, and what the reference gives."""

    case: Case
    actual: Outcome
    expected: Outcome

    @property
    def timed_out(self) -> bool:
        return isinstance(self.actual.error, TimedOut)

    @cached_property
    def is_right(self) -> bool:
        if self.case.error_is_fine and self.actual.error is not None and not self.timed_out:
            return True
        return agree(self.actual, self.expected)

    @property
    def is_comparable(self) -> bool:
        """Whether an answer has the shapes that it should have."""
        return bool(self.actual.arrays and self.expected.arrays) and same_shapes(self.actual, self.expected)


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a function is judged by.

    Parameters
    ----------
    reference : callable
        Right by definition.
    outputs : tuple of str
        The names of what it returns.
    cases : tuple of Case
        The first has no batch axes.
    mistakes : tuple of Mistake
        In order of preference where two explain the same answer.
    probes : tuple of Case, optional
        Further inputs for an answer that is wrong as no single mistake is. In each, some mistakes change nothing, so
        that another one shows alone.
    wrong_at_edges : str, optional
        What to say when only the edge cases are wrong.
    properties : tuple of callable, optional
        Each takes (call, arguments and options, arrays) of a wrong answer that no mistake explains, and
        returns a sentence if something that must hold does not, else None. A sentence about one cell or row comes with
        its index, (sentence, index), and the cell that is shown is that one.
    required_way : callable, optional
        Takes a function that is right, and returns the slug of a mistake and a message if it does not go the way that
        is asked for, else None.
    first_output : int, optional
        The place of the output that is computed first, and the others from it: a mistake that shows there is named,
        whatever else is wrong.
    seconds : float, optional
        How long one call may take.
    subject : Subject, optional
        What is known of the subject that the task belongs to.
    """

    reference: Callable
    outputs: tuple[str, ...]
    cases: tuple[Case, ...]
    mistakes: tuple[Mistake, ...]
    probes: tuple[Case, ...] = ()
    wrong_at_edges: str = ""
    properties: tuple = ()
    required_way: Callable | None = None
    first_output: int | None = None
    seconds: float = SECONDS
    subject: Subject = NO_SUBJECT
    _known: dict = field(default_factory=dict, init=False, repr=False)

    @property
    def call(self) -> str:
        """How the function is called: "ranked(row)"."""
        tried = {name for case in self.cases for name in case.options}
        parameters = inspect.signature(self.reference).parameters.values()
        options = [f"{parameter.name}={parameter.default!r}" for parameter in parameters if parameter.name in tried]
        return f"{self.reference.__name__}({', '.join([*self.cases[0].arguments, *options])})"

    @cached_property
    def catalogue(self) -> Catalogue:
        """The known mistakes, ready to be looked up by what they give."""
        return Catalogue(self.mistakes, self.known)

    def run(self, function: Callable, case: Case) -> Outcome:
        """Call somebody's function on a case."""
        return self._call(function, case, self.seconds)

    def known(self, function: Callable, case: Case) -> Outcome:
        """Call one of the course's own functions, right or wrong, on a case: it ends, and always gives the same."""
        called = (function, case.trait)
        if called not in self._known:
            self._known[called] = self._call(function, case, seconds=None)
        return self._known[called]

    def _call(self, function, case, seconds):
        read = partial(arrays_in, n_outputs=len(self.outputs))
        return call(function, case.arguments, case.options, read=read, seconds=seconds)

    def expected(self, case: Case) -> Outcome:
        """Return what is right for a case; where the course's own function can't run, nobody else's can be judged."""
        outcome = self.known(self.reference, case)
        if outcome.error is None or isinstance(outcome.error, ValueError):
            return outcome
        self._known.clear()  # the machine may only have been short of memory
        ours = f"the course's own {self.reference.__name__} can't run here on {case.trait}"
        raise RuntimeError(f"{ours}, {type(outcome.error).__name__}: {outcome.error}") from outcome.error

    def on_the_way(self, case: Case) -> list[Known]:
        """Return the numbers that are right on the way to an answer, as a list of Known: those of the reference."""
        source = textwrap.dedent(source_of(self.reference))
        if not source.startswith("def "):  # it is built in, or has no source here
            return []
        names = self.reference.__globals__
        return numbers_inside(source, names, dict(case.arguments), dict(case.options), self.outputs)

    def is_right(self, returned: Any, case: Case) -> bool:
        """Tell whether what came back from a case is right."""
        return agree(Outcome(returned, arrays_in(returned, n_outputs=len(self.outputs))), self.expected(case))

    def trial(self, function: Callable, case: Case) -> Trial:
        """Try somebody's function on a case."""
        return Trial(case, self.run(function, case), self.expected(case))
