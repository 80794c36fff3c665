"""What a question works with: the subject, what is known of it so far, and the words in which it is answered.

A question is a function of an `ExamSession` that yields `Finding`, `Note`, `Untested` and `CannotTell`; what later ones
need to know it returns. It writes nothing down: the examination does.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.equation import search
from attention_doctor.equation.search import Budget
from attention_doctor.equation.stages import RIGHT, Input, compute
from attention_doctor.equation.trial_inputs import Question
from attention_doctor.forms.masks import ALWAYS_CAUSAL
from attention_doctor.names import WORDS, WRONG
from attention_doctor.readers.layouts import Layout, Reply
from attention_doctor.reports.report import Finding
from attention_doctor.subjects.arguments import MaskArgument
from function_judge.compare import fits

# What one examination may take is counted, so that it comes to the same verdict on a busy machine. Each is more than
# any example in the tests takes: 460,000 steps in 7 seconds, 8,300 rules, 700 calls.
SEARCH_STEPS = 600_000  # of the equation, until the plain calls are explained
MAX_RULES = 20_000  # rules for hiding keys that are compared with what masks gave
MAX_CALLS = 2_000  # before a further mask is tried

# Each design of a step multiplies the equations to compare; in an unusual layout, of which there may be hundreds, only
# the likeliest are tried.
MAX_UNUSUAL_DESIGNS = 4
_WITHOUT_AND_WITH_CAUSALITY: tuple[dict, ...] = ({}, {"hide": ALWAYS_CAUSAL})


def _hides(way):
    return way["hide"] not in (RIGHT["hide"], ALWAYS_CAUSAL)


@dataclass(frozen=True)
class Response:
    """A question with its reply, and with the case as the equation has it, which is made when it is needed."""

    question: Question
    make_case: Callable[[], Input]
    reply: Reply

    @functools.cached_property
    def case(self) -> Input:
        return self.make_case()

    @property
    def output(self) -> np.ndarray | None:
        return self.reply.output

    @property
    def joint_case(self) -> Input:
        """The case with what both masks allow, where the call got two."""
        case = self.case
        return case if case.second_allowed is None else case.changed(allowed=case.allowed & case.second_allowed)

    def of(self, allowed: np.ndarray) -> "Response":
        """The same reply, as if the mask had been this one."""
        case = self.case.changed(allowed=allowed, second_allowed=None)
        return Response(self.question, lambda: case, self.reply)


@dataclass(frozen=True)
class Exchange:
    """A response, and how it was asked for."""

    layout: Layout
    mask: MaskArgument | None
    response: Response


class ExamSession:
    """Puts questions to one subject, and keeps count; `known` is what the plain calls have told.

    Parameters
    ----------
    subject : Subject
    """

    def __init__(self, subject) -> None:
        self.subject = subject
        self.search_budget, self.rule_budget = Budget(SEARCH_STEPS), Budget(MAX_RULES)
        self.known: Any = None  # a Baseline
        self.findings: tuple[Finding, ...] = ()  # so far
        self.calls = 0
        self.exchanges: list[Exchange] = []
        self.masks: list[MaskArgument] = []  # in which formats they are taken, as is known by the end
        self.changed_by: list[str] = []  # the questions in whose calls an argument was written into

    @property
    def layout(self) -> Layout:
        return self.known.layout

    @property
    def right(self):
        return self.known.right

    @property
    def is_out_of_calls(self) -> bool:
        return self.calls >= MAX_CALLS

    def ask(self, layout, question, mask=None) -> Response:
        self.calls += 1
        reply = self.subject.ask(layout, question, mask)
        if reply.changed and self.known and layout is self.known.layout:
            self.changed_by.append(question.trait)
        response = Response(question, functools.partial(self.subject.case, layout, question), reply)
        self.exchanges.append(Exchange(layout, mask, response))
        return response

    def ask_again(self, layout, question) -> Response:
        self.calls += 1
        make_case = functools.partial(self.subject.case, layout, question)
        return Response(question, make_case, self.subject.ask_again(layout, question))

    def ask_plain(self, layout, first) -> list[Response]:
        """Ask the plain questions, the first of which is answered already."""
        rest = [self.ask(layout, question) for question in self.subject.plain_questions(layout)[1:]]
        return [first, *rest]

    def right_forms(self, layout):
        """What counts as right with one design at a time: for attention to all, and to what came before alone."""
        designs = self.subject.designs()
        plain = RIGHT | layout.right | {step: forms[0] for step, forms in designs.items()}
        ways = [plain] + [
            plain | {step: form} for step, forms in designs.items() if step != "hide" for form in forms[1:]
        ]
        ways += [plain | {"hide": design} for design in designs["hide"] if design not in (RIGHT["hide"], ALWAYS_CAUSAL)]
        return [way | hide for way in ways for hide in _WITHOUT_AND_WITH_CAUSALITY if not (hide and _hides(way))]

    def right_for(self, response, layout):
        """The designs, any of them together, with which an answer is right, those with fewest first."""
        designs = self.subject.designs()
        if not layout.usual:
            designs = {step: forms[:MAX_UNUSUAL_DESIGNS] for step, forms in designs.items()}
        right = RIGHT | layout.right
        if self.subject.kind == "module" and not layout.usual and len(designs["project"]) == 1:
            quick = self.subject.quick_case(layout, response.question)
            if quick is not None and not search.designs_that_fit(quick, response.output, designs, right):
                return []
        return search.designs_that_fit(response.case, response.output, designs, right)

    # ---- the words of a finding --------------------------------------------------------------

    def finding(
        self, name, *forms, right=RIGHT, plain=None, also=(), where=None, severity=None, evidence=""
    ) -> Finding:
        """A finding of the vocabulary, with the altered steps that it stands for.

        Parameters
        ----------
        name : str
        *forms : Form
            The altered steps.
        right : dict of str to Form, optional
            What is right instead.
        plain : list of Response, optional
            On which of them it shows is tried; by default those of the plain calls.
        also : tuple of str, optional
            Other names that explain what was seen.
        where : (tuple of str, tuple of str), optional
            On which inputs it shows and on which it hides, where that is known.
        severity, evidence : str, optional
        """
        word, also = WORDS[name], self._that_may_be_written(also)
        altered = tuple(
            (form.step, form.text or "nothing there", right[form.step].text or "nothing there") for form in forms
        )
        if where is None:
            where = _where(forms, right, self.known.plain if plain is None else plain) if forms else ((), ())
        severity = severity or self.subject.severity_of(name, word.severity)
        seen_in = word.example or word.reported
        return Finding(name, severity, word.sentence, altered, word.repair, also, *where, seen_in, evidence=evidence)

    def _that_may_be_written(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The names of mistakes that the source may hold: some are slips in how a number is written."""
        may_slip = not self.subject.source or vocabulary.PRECEDENCE.search(self.subject.source)
        return tuple(name for name in names if may_slip or name != "scale-precedence")

    @staticmethod
    def unnamed(sentence: str, evidence: str = "", severity: str = WRONG) -> Finding:
        return Finding(None, severity, sentence, evidence=evidence)

    def found_in(self, step: str) -> list[Finding]:
        """The mistakes, notes apart, that alter this step."""
        return [found for found in self.findings if found.is_sick and step in {altered[0] for altered in found.altered}]


def _where(forms, right, plain):
    """On which of the plain inputs a mistake alone shows, and on which it hides."""
    shows, hides = [], []
    for response in plain:
        altered = compute(response.case, forms, right=right)[0]
        same = altered is not None and fits(altered, compute(response.case, right=right)[0])
        (hides if same or altered is None else shows).append(response.question.trait)
    return tuple(shows), tuple(hides)
