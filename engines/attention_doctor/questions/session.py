"""What a question works with: the subject, what is known of it so far, and the words in which it is answered.

A question is a function of an `ExamSession` that yields `Finding`, `Note`, `Untested` and `CannotTell`; what later ones
need to know it returns. It writes nothing down: the examination does.
"""

import functools
from dataclasses import dataclass

from attention_doctor.equation import search
from attention_doctor.equation.stages import RIGHT, compute
from attention_doctor.forms.masks import ALWAYS_CAUSAL
from attention_doctor.names import WORDS, WRONG
from attention_doctor.reports.report import Finding
from function_judge.compare import fits
from function_judge.time_limit import TimeLeft

SECONDS = 13.0  # of computing, for one examination
SEARCH_SECONDS = 10.0  # of these, at most, until the plain call is explained; 5 were too few on a busy machine


FEW = 4  # designs of a step in an unusual layout
_WITHOUT_AND_WITH_CAUSALITY = ({}, {"hide": ALWAYS_CAUSAL})


def _hides(way):
    return way["hide"] not in (RIGHT["hide"], ALWAYS_CAUSAL)


@dataclass(frozen=True)
class Response:
    """A question with its answer, and with the case as the equation has it, which is made when it is needed."""

    question: object
    make_case: object
    reply: object

    @functools.cached_property
    def case(self):
        return self.make_case()

    @property
    def output(self):
        return self.reply.output


@dataclass(frozen=True)
class Exchange:
    """A response, and how it was asked for."""

    layout: object
    how: object
    response: Response


class ExamSession:
    """Puts questions to one subject, and keeps count; `known` is what the plain calls have told."""

    def __init__(self, subject, time=None):
        self.subject = subject
        self.time = time or TimeLeft(SECONDS)
        self.search_time = TimeLeft(SEARCH_SECONDS, within=self.time)
        self.known = None
        self.found = ()  # the findings so far
        self.calls = 0
        self.answers = []
        self.mask_forms = []  # in which masks are taken, as is known by the end
        self.changed_by = []  # the questions in whose calls an argument was written into

    @property
    def layout(self):
        return self.known.layout

    @property
    def right(self):
        return self.known.right

    def ask(self, layout, question, how=None):
        self.calls += 1
        reply = self.subject.ask(layout, question, how)
        if reply.changed and self.known and layout is self.known.layout:
            self.changed_by.append(question.trait)
        response = Response(question, functools.partial(self.subject.case, layout, question), reply)
        self.answers.append(Exchange(layout, how, response))
        return response

    def ask_again(self, layout, question):
        self.calls += 1
        make_case = functools.partial(self.subject.case, layout, question)
        return Response(question, make_case, self.subject.ask_again(layout, question))

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
        designs = {step: forms if layout.usual else forms[:FEW] for step, forms in self.subject.designs().items()}
        right = RIGHT | layout.right
        if self.subject.kind == "module" and not layout.usual and len(designs["project"]) == 1:
            quick = self.subject.quick_case(layout, response.question)
            if quick is not None and not search.designs_that_fit(quick, response.output, designs, right):
                return []
        return search.designs_that_fit(response.case, response.output, designs, right)

    def ask_plain(self, layout, first):
        rest = [self.ask(layout, question) for question in self.subject.plain_questions(layout)[1:]]
        return [first, *rest]

    # ---- the words of a finding --------------------------------------------------------------

    def finding(self, name, *forms, right=RIGHT, plain=None, also=(), where=None, severity=None, evidence=""):
        """A finding of the vocabulary, with the altered steps that it stands for."""
        word = WORDS[name]
        altered = tuple(
            (form.step, form.text or "nothing there", right[form.step].text or "nothing there") for form in forms
        )
        if where is None:
            where = _where(forms, right, self.known.plain if plain is None else plain) if forms else ((), ())
        severity = severity or self.subject.severity_of(name, word.severity)
        seen_in = word.example or word.reported
        return Finding(name, severity, word.sentence, altered, word.repair, also, *where, seen_in, evidence=evidence)

    @staticmethod
    def unnamed(sentence, evidence="", severity=WRONG):
        return Finding(None, severity, sentence, evidence=evidence)

    def found_in(self, step):
        return [finding for finding in self.found if step in {altered[0] for altered in finding.altered}]


def _where(forms, right, plain):
    """On which of the plain inputs a mistake alone shows, and on which it hides."""
    shows, hides = [], []
    for response in plain:
        altered = compute(response.case, forms, right=right)[0]
        same = altered is not None and fits(altered, compute(response.case, right=right)[0])
        (hides if same or altered is None else shows).append(response.question.trait)
    return tuple(shows), tuple(hides)
