"""The examination: which questions are asked in which order. It alone collects the answers, and writes the report."""

import time

from attention_doctor.calls import calling
from attention_doctor.calls.errors import CannotBeExaminedError, TimeLimitError
from attention_doctor.questions import (
    cache,
    large_scores,
    lines,
    masks,
    of_functions,
    of_modules,
    plain_calls,
    side_effects,
    unused_masks,
    unused_rotation,
)
from attention_doctor.questions.session import ExamSession
from attention_doctor.reports.remarks import CannotTell, Note, Untested
from attention_doctor.reports.report import Report


def examined(subject, time_left=None):
    """Examine one subject, in the time that is left.

    Returns
    -------
    Report

    Raises
    ------
    CannotBeExaminedError
        If what it is made of cannot be read.
    """
    examination = _Examination(subject, time_left)
    try:
        examination.run_all_questions()
    except (CannotBeExaminedError, TimeLimitError):
        raise
    except Exception as error:  # what was found until then stands
        examination.stopped(f"The doctor itself stopped, which is our fault: {calling.error_line(error)}")
    return examination.finished()


class _Examination:
    def __init__(self, subject, time_left):
        self.started = time.monotonic()
        self.session = ExamSession(subject, time_left)
        self.report = Report(subject.name)

    def run_all_questions(self):
        session = self.session
        known = self.collect(plain_calls.ask(session))
        if known is None:
            return
        session.known = known
        if known.named:
            confirmed = self.collect(masks.ask(session))
            self.collect(unused_masks.ask(session))
            self.collect(unused_rotation.ask(session))
            session.mask_forms = [value.how for value in confirmed[0].values()]
            self.collect(large_scores.ask(session, confirmed))
            self.collect(cache.ask(session))
        elif not self.report.findings or self.report.findings[0].name is None:
            self.note(Untested("masks and large scores, as the plain call isn't understood"))
        self.collect(side_effects.ask(session))
        self.collect((of_modules if session.subject.kind == "module" else of_functions).ask(session))
        text = " ".join(self.report.untested)
        never = [name for name in session.subject.arguments.never_varied if name not in text]
        if never:
            self.note(Untested(f"{', '.join(never)} (the same in every call)"))

    def collect(self, text):
        """Write down what a question yields, and return what it returns."""
        while True:
            try:
                self.note(next(text))
            except StopIteration as end:
                return end.value

    def note(self, one):
        report = self.report
        if isinstance(one, Untested):
            report.untested.append(one.text)
        elif isinstance(one, CannotTell):
            report.healthy, report.reason = None, one.text
        elif isinstance(one, Note):
            if one.text not in report.notes:
                report.notes.append(one.text)
        elif one.name is None or one.name not in [finding.name for finding in report.findings]:
            report.findings.append(one)  # the first of a name stands
        self.session.found = tuple(report.findings)

    def stopped(self, why):
        if any(finding.is_sick for finding in self.report.findings):
            self.report.notes.append(why)
        else:
            self.report.healthy, self.report.reason = None, why

    def finished(self):
        report = self.report
        report.asked = self.session.calls
        report.seconds = time.monotonic() - self.started
        report.findings.sort(key=lambda finding: (not finding.is_sick, finding.name is None))
        if report.healthy is not None:
            report.healthy = not any(finding.is_sick for finding in report.findings)
        if self.session.known is not None:
            report.layout = self.session.known.layout.name
        report.findings = [lines.pointed(self.session, finding) for finding in report.findings]
        return report
