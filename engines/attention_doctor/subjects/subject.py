"""What is examined: something that answers questions in one or several layouts, a function or a module."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from attention_doctor.calls import calling
from attention_doctor.calls.errors import CannotBeExaminedError
from attention_doctor.equation.stages import Form, Input
from attention_doctor.equation.trial_inputs import Question
from attention_doctor.names import DESIGN
from attention_doctor.readers import mask_formats
from attention_doctor.readers.layouts import Layout, Reply, item_of
from attention_doctor.readers.mask_formats import MaskFormat
from attention_doctor.subjects.arguments import Arguments, Filling, MaskArgument, with_masks


class Subject(ABC):
    """What the examination asks of whatever it examines.

    A question is put in three steps: `case` draws its numbers, `call_arguments` lays them out as the code takes them,
    and `pick_output` finds the output among the arrays that come back.

    Parameters
    ----------
    name : str
    function : callable
        What is called.
    framework : str
        Whose arrays it takes.
    arguments : Arguments
    """

    kind: ClassVar[str]
    has_own_sizes: ClassVar[bool]  # whether the numbers of heads and features are its own, and not arguments
    unplaced: Sequence = ()  # parameters without a place in the equation
    more_forms: Sequence[Form] = ()  # mistakes that only this subject can have
    precisions: Sequence[str] = ()
    source: str
    fillings: list[Filling]

    def __init__(self, name: str, function: Callable, framework: str, arguments: Arguments) -> None:
        self.name, self.function, self.framework, self.arguments = name, function, framework, arguments
        self.to_framework = calling.to_framework(framework)

    # ---- what is asked -----------------------------------------------------------------------

    @property
    @abstractmethod
    def layouts(self) -> Sequence[Layout]:
        """The ways in which it can be read, the most usual first."""

    @abstractmethod
    def n_heads_in(self, layout: Layout) -> int:
        """How many heads a question in this layout has."""

    @abstractmethod
    def fitted(self, question: Question) -> Question:
        """The question in sizes that can be asked."""

    @abstractmethod
    def plain_questions(self, layout: Layout) -> list[Question]:
        """Return the questions without masks, the first of which every other is compared with."""

    @abstractmethod
    def mask_question(self, layout: Layout, kind: str | None) -> Question:
        """Return a question in which batch, heads, queries and features differ, with a mask of this kind."""

    @abstractmethod
    def case(self, layout: Layout, question: Question) -> Input:
        """Return the question's numbers as the equation has them."""

    def token_vectors(self, question: Question, width: int, key_width: int, value_width: int) -> Input:
        """Draw the sequences that queries, keys and values come from: one, two or three of them."""

        def sequence(name: str, n_tokens: int, width: int) -> np.ndarray:
            return question.spread * question.draws(name, question.batch, n_tokens, width)

        X = sequence("X", question.n_queries, width)
        if question.alike:
            X = np.repeat(X[:, :1], question.n_queries, axis=1)
        context, second = X, None
        if (question.is_cross and self.arguments.is_cross) or key_width != width:
            context = sequence("context", question.keys, key_width)
        if question.three or value_width != key_width:
            second = sequence("second", question.keys, value_width)
        return Input(X, context, second=second)

    # ---- how it is called --------------------------------------------------------------------

    def ask(self, layout: Layout, question: Question, mask: MaskArgument | None = None) -> Reply:
        """Put a question, with its mask in a certain format."""
        return self.put(layout, question, self.case(layout, question), mask)

    def ask_again(self, layout: Layout, question: Question) -> Reply:
        """Put a question as if it had never been asked: nothing is answered from memory."""
        return self.put(layout, question, self.case(layout, question))

    def put(self, layout: Layout, question: Question, case: Input, mask: MaskArgument | None = None) -> Reply:
        """Put a question in other numbers than its own, and pick the output."""
        reply = self.answer(layout, question, case, mask)
        return reply if reply.error is not None else self.pick_output(layout, question, case, reply)

    def answer(self, layout: Layout, question: Question, case: Input, mask: MaskArgument | None = None) -> Reply:
        """Call with the whole batch, or once for each sample where the code takes one sequence.

        Returns
        -------
        Reply
            Without an output; its arrays are everything that came back.
        """
        if not layout.loops:
            return self._call(layout, question, case, mask)
        batch = len(case.X if case.heads is None else case.heads[0])
        replies = [self._call(layout, question, item_of(case, i), mask) for i in range(batch)]
        wrong = next((reply for reply in replies if reply.error is not None or not reply.others), None)
        return _stacked(replies) if wrong is None else wrong

    def _call(self, layout: Layout, question: Question, case: Input, mask: MaskArgument | None) -> Reply:
        call = self.call_arguments(layout, question, case, mask)
        if call is None:
            return Reply(error=CannotBeExaminedError("this mask can't be expressed in this format"))
        self.arguments.note(call)
        function, convert = self.in_precision(question.precision), converter(self.framework, question.precision)
        outcome = calling.call(function, call, convert)
        if outcome.error is not None:
            return Reply(error=outcome.error)
        return Reply(None, outcome.arrays, changed=bool(outcome.changed))

    def call_arguments(
        self, layout: Layout, question: Question, case: Input, mask: MaskArgument | None = None
    ) -> dict[str, Any] | None:
        """What a call gets, as ndarrays; None where the mask can't be expressed in this format."""
        call = self.arguments.settings(case, own_sizes=self.has_own_sizes, start=question.start)
        for role, array in self.sources(case).items():
            if self.arguments.has(role) and not (self.can_leave_out(role) and not question.is_cross):
                packed = self.packed(layout, array)
                call[self.arguments.name_of[role]] = packed[0] if layout.loops else packed
        return with_masks(call, self.arguments, question, case, mask, 1 if layout.loops else question.batch)

    def sources(self, case: Input) -> Mapping[str, np.ndarray]:
        """What queries, keys and values are, or come from, by role."""
        values_from = case.context if case.second is None else case.second
        return {"X": case.X, "queries": case.X, "keys": case.context, "values": values_from, "context": case.context}

    @abstractmethod
    def can_leave_out(self, role: str) -> bool:
        """Whether this argument can be left out where keys and values come from the queries' own tokens."""

    def packed(self, layout: Layout, array: np.ndarray) -> np.ndarray:
        """Token vectors, or heads, with their axes in the layout's order."""
        return layout.axes[0](array)

    def in_precision(self, precision: str | None) -> Callable:
        """What to call in this precision."""
        return self.function

    @abstractmethod
    def pick_output(self, layout: Layout, question: Question, case: Input, reply: Reply) -> Reply:
        """Find the output among the arrays that came back."""

    @abstractmethod
    def fresh(self) -> Callable:
        """Something to call that has kept nothing from earlier calls."""

    @abstractmethod
    def answer_for(self, layout: Layout, X: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None] | None:
        """Put token vectors, or some of its own for None: (the vectors, the output), or None where that can't be."""

    # ---- what is right in it -----------------------------------------------------------------

    @abstractmethod
    def designs(self) -> dict[str, list[Form]]:
        """Return what counts as right in each step where there is a choice, the plain form first."""

    @abstractmethod
    def meanings_of(self, role: str) -> tuple[str, ...]:
        """What the entries of a mask may mean, the most usual first."""

    def unusual_meaning(self, mask_format: MaskFormat) -> int:
        """How unusual the meaning of a mask's entries is: among explanations, the most usual meaning is preferred."""
        return 0 if mask_format.entries == "lengths" else list(mask_formats.ENTRIES).index(mask_format.entries)

    def severity_of(self, name: str, severity: str) -> str:
        """How bad this mistake is in this subject, which may do it by design: a scale may be left to the caller."""
        is_left = name == "scale-missing" and self.arguments.has("scale") and not self.arguments.must_give("scale")
        return DESIGN if is_left else severity

    @abstractmethod
    def trusts(self, layout: Layout) -> bool:
        """Whether a difference from attention can only be the code's, and not that of a wrong reading."""

    def attention_inside(self) -> list[str]:
        """Parts that seem to be attention, where this is more than that."""
        return []


def _stacked(replies: Sequence[Reply]) -> Reply:
    """One reply of those for single samples: what has the same shape for all of them."""
    arrays = [
        np.stack(arrays)
        for arrays in zip(*(reply.others for reply in replies), strict=False)
        if len({array.shape for array in arrays}) == 1
    ]
    return Reply(None, tuple(arrays), changed=any(reply.changed for reply in replies))


def converter(framework: str, precision: str | None = None) -> Callable:
    """Return what turns an ndarray into the framework's, in half precision if asked."""
    plain = calling.to_framework(framework)
    if precision is None:
        return plain

    def convert(array):
        converted = plain(array)
        if array.dtype.kind != "f":
            return converted
        if framework == "torch":
            import torch

            return converted.to(getattr(torch, precision))
        return converted.astype(precision) if hasattr(converted, "astype") else converted

    return convert
