"""The examination: which questions are asked in which order, and what is concluded from the answers."""

import time
from dataclasses import dataclass

from mha_helpers.doctor import cache, calling, conduct, masks_asked, strain
from mha_helpers.doctor.equation import RIGHT, STEPS, compute, fits
from mha_helpers.doctor.explaining import Explaining
from mha_helpers.doctor.hiding import ALWAYS_CAUSAL
from mha_helpers.doctor.report import Finding, Report
from mha_helpers.doctor.signature import CannotBeExaminedError
from mha_helpers.doctor.vocabulary import WORDS, WRONG

SECONDS = 18.0  # for one report
SEARCH_SECONDS = 10.0  # of these, at most, for the plain call
FAILS_IN_MANY = ("80 tokens", "150 tokens")  # a module may have a longest sequence


@dataclass
class Heard:
    """A question with its answer, and with the case as the equation has it."""

    question: object
    case: object
    reply: object

    @property
    def output(self):
        return self.reply.output


class Examination:
    """One subject, its layout once it is known, and the equation that it computes in a plain call."""

    def __init__(self, subject, seconds=SECONDS):
        self.subject = subject
        self.started = time.monotonic()
        # On this thread's own time: what is found doesn't depend on how busy the machine is.
        self.deadline = time.thread_time() + seconds
        self.search_until = time.thread_time() + SEARCH_SECONDS
        self.report = Report(subject.name)
        self.layout = None
        self.right = RIGHT  # what its plain call computes, mistakes included
        self.forms = ()
        self.plain = []
        self.masks = {}  # by argument's role: how it is given, and the rule by which it is used
        self.flag_is_understood = True
        self.changed_by = []  # the questions in whose calls an argument was written into
        self.named = True  # whether all that was seen in plain calls has an explanation

    # ---- asking ------------------------------------------------------------------------------

    def hear(self, layout, question, how=None):
        self.report.asked += 1
        reply = self.subject.ask(layout, question, how)
        if reply.changed and layout is self.layout:
            self.changed_by.append(question.trait)
        return Heard(question, self.subject.case(layout, question), reply)

    def hear_again(self, question):
        self.report.asked += 1
        reply = self.subject.ask_again(self.layout, question)
        return Heard(question, self.subject.case(self.layout, question), reply)

    @property
    def in_time(self):
        return time.thread_time() < self.deadline

    # ---- the whole ---------------------------------------------------------------------------

    def run(self):
        try:
            self._ask_everything()
        except CannotBeExaminedError:
            raise
        except Exception as error:  # what was found until then stands
            ours = f"The doctor itself stopped, which is our fault: {calling.said(error)}"
            if any(finding.is_sick for finding in self.report.findings):
                self.report.notes.append(ours)
            else:
                self.report.healthy, self.report.reason = None, ours
        return self.finish()

    def _ask_everything(self):
        if self._plain_calls():
            if self.named:
                masks_asked.ask(self)
                strain.ask(self)
                cache.ask(self)
            elif not self.report.findings or self.report.findings[0].name is None:
                self.report.untested.append("masks and large scores, as the plain call isn't understood")
            conduct.writes(self)
            if len(self.plain) > 1:
                conduct.repeats(self)
            self.subject.further(self)

    def finish(self):
        report = self.report
        report.seconds = time.monotonic() - self.started
        report.findings.sort(key=lambda finding: (not finding.is_sick, finding.name is None))
        if report.healthy is not None:
            report.healthy = not any(finding.is_sick for finding in report.findings)
        if self.layout is not None:
            report.layout = report.layout or self.layout.name
        return report

    # ---- plain calls -------------------------------------------------------------------------

    def _plain_calls(self):
        """Find the layout in which the plain calls are right, or else the mistakes that explain them."""
        answering, errors = [], []
        for layout in self.subject.layouts:
            heard = self.hear(layout, self._first_question(layout))
            if heard.output is None:
                errors.append((layout, heard.reply))
                continue
            answering.append((layout, heard))
            for right in self.readings(layout):
                if not fits(heard.output, compute(heard.case, right=right)[0]):
                    continue
                if layout.loops and any(other.usual and not other.loops for other, _ in answering):
                    break  # right for one sequence, and silently wrong for a batch
                plain = self.hear_all(layout, heard)
                if self._all_right(plain, right):
                    self.settle(layout, right, plain)
                    return True
                answering[-1] = (layout, heard)
                break
        if answering:
            self.layout, first = answering[0]
            again = self.hear_again(first.question)
            if again.output is not None and not conduct.same(first.output, again.output):
                conduct.not_repeatable(self, first.question)
                self.plain, self.named = [first], False
                self.report.untested.append("anything else, as the same call doesn't give the same numbers")
                return True
            return Explaining(self, answering).find()
        for blank in [] if self.subject.blank else self.subject.blanks():
            self.subject.blank = blank
            if any(
                self.hear(layout, self._first_question(layout)).output is not None for layout in self.subject.layouts
            ):
                return self._plain_calls()
        self._nothing_came(errors)
        return False

    def _first_question(self, layout):
        return self.subject.plain_questions(layout)[0]

    def readings(self, layout):
        """What counts as right: attention to all, or, built in, to what came before alone."""
        base = RIGHT | layout.right
        return [
            way | hide for way in self.subject.readings_of_right(layout, base) for hide in ({}, {"hide": ALWAYS_CAUSAL})
        ]

    def hear_all(self, layout, first):
        rest = [self.hear(layout, question) for question in self.subject.plain_questions(layout)[1:]]
        return [first, *rest]

    def _all_right(self, plain, right):
        return all(
            heard.output is None or fits(heard.output, compute(heard.case, right=right)[0]) for heard in plain
        ) and not any(self._is_a_failure(heard) for heard in plain)

    def _is_a_failure(self, heard):
        """An answer of the wrong shape, or none at all, where others get one."""
        return heard.output is None and heard.question.trait not in FAILS_IN_MANY and not heard.question.is_cross

    def settle(self, layout, right, plain, forms=()):
        self.layout, self.right, self.forms, self.plain = layout, right, forms, plain
        self.report.notes += layout.notes
        if layout.finding:
            self.add(layout.finding)
        if right["hide"] is ALWAYS_CAUSAL:
            self.report.notes.append("It is causal in every call.")
        designs = [
            right[step].text
            for step in STEPS
            if not right[step].slug and right[step] not in (RIGHT[step], ALWAYS_CAUSAL)
        ]
        if designs:
            self.report.notes.append(f"Taken for its design: {'; '.join(designs)}.")
        for heard in plain:
            if heard.output is None and not self._is_a_failure(heard):
                self.report.untested.append(f"{heard.question.trait} ({_said(heard.reply)})")

    def _nothing_came(self, errors):
        layout, reply = errors[0]
        if reply.wrong_shape and self.subject.kind == "function":
            self.layout = layout
            self._wrong_shape(layout, reply)
            return
        self.report.healthy = None
        if reply.wrong_shape is not None:
            self.report.reason = (
                f"It returned shapes {reply.wrong_shape}, and none is that of an output, read as {layout.name}."
            )
        else:
            self.report.reason = f"It stopped with {type(reply.error).__name__}: {str(reply.error)[:300]}"

    def _wrong_shape(self, layout, reply):
        """What comes back has no output's shape: the weights alone, perhaps, or heads that were not joined."""
        question = self._first_question(layout)
        weights = compute(self.subject.case(layout, question))[1]
        if any(fits(array, weights) for array in reply.others):
            self.add("returns-weights-only")
        else:
            self.unnamed(f"It returns shapes {reply.wrong_shape}, and none is that of an output.", "")

    def add(self, name, *forms, right=RIGHT, also=(), **more):
        """Add a finding of the vocabulary, with the altered steps that it stands for; the first of a name stands."""
        if any(finding.name == name for finding in self.report.findings):
            return
        word = WORDS[name]
        severity = more.pop("severity", None) or self.subject.severity_of(name, word.severity)
        altered = tuple(
            (form.step, form.text or "nothing there", right[form.step].text or "nothing there") for form in forms
        )
        shows, hides = more.pop("where", None) or (self._where(forms, right) if forms else ((), ()))
        self.report.findings.append(
            Finding(name, severity, word.sentence, altered, word.repair, also, shows, hides, word.example, **more)
        )

    def findings_in(self, step):
        return [finding for finding in self.report.findings if step in {altered[0] for altered in finding.altered}]

    def _where(self, forms, right):
        """On which of the plain inputs a mistake alone shows, and on which it hides."""
        shows, hides = [], []
        for heard in self.plain:
            altered = compute(heard.case, forms, right=right)[0]
            same = altered is not None and fits(altered, compute(heard.case, right=right)[0])
            (hides if same or altered is None else shows).append(heard.question.trait)
        return tuple(shows), tuple(hides)

    def failures(self, plain):
        for heard in plain:
            if self._is_a_failure(heard):
                self.unnamed(f"With {heard.question.trait} it {_said(heard.reply)}.", "")

    def unnamed(self, sentence, shown, severity=WRONG):
        self.report.findings.append(Finding(None, severity, sentence, evidence=shown))


def _said(reply):
    if reply.wrong_shape is not None:
        return f"returns shapes {reply.wrong_shape}"
    message = " ".join(str(reply.error).split())[:90]
    return f"stops with {type(reply.error).__name__}: {message}"
