"""The examination: which questions are asked in which order. It alone collects the answers, and writes the report."""

import time
from collections.abc import Generator
from typing import Any

from attention_doctor.calls import calling
from attention_doctor.calls.errors import CannotBeExaminedError, TimeLimitError
from attention_doctor.questions import (
    cache,
    large_scores,
    lines,
    masks,
    masks_in_cache,
    of_functions,
    of_modules,
    plain_calls,
    side_effects,
    unused_masks,
    unused_rotation,
)
from attention_doctor.questions.session import ExamSession
from attention_doctor.reports.remarks import CannotTell, Caveat, MaskNote, Note, Untested, UntestedMask
from attention_doctor.reports.report import Finding, Report
from attention_doctor.subjects.subject import Subject

Remark = Finding | Note | Caveat | Untested | CannotTell


def examined(subject: Subject) -> Report:
    """Examine one subject.

    Parameters
    ----------
    subject : Subject

    Returns
    -------
    Report

    Raises
    ------
    CannotBeExaminedError
        If what it is made of cannot be read.
    """
    examination = _Examination(subject)
    try:
        examination.run_all_questions()
    except (CannotBeExaminedError, TimeLimitError):
        raise
    except Exception as error:  # what was found until then stands
        examination.stopped(f"The doctor itself stopped, which is our fault: {calling.error_line(error)}")
    return examination.finished()


def _says_as_much(earlier: Finding, later: Finding) -> bool:
    """Whether the later one need not be told: the first of a name stands, unless it is a note and the later is none."""
    return earlier.name == later.name and (earlier.is_sick or not later.is_sick)


class _Examination:
    """The session of one subject, and the report that is written meanwhile."""

    def __init__(self, subject: Subject) -> None:
        self.started = time.monotonic()  # for JSON alone: no verdict depends on it
        self.session = ExamSession(subject)
        self.report = Report(subject.name)

    def run_all_questions(self) -> None:
        session = self.session
        known = self.collect(plain_calls.ask(session))
        if known is None:
            return
        session.known = known
        if known.named:
            self.ask_about_what_is_understood()
        elif not self.report.findings or self.report.findings[0].name is None:
            self.note(Untested("masks and large scores, as the plain call isn't understood"))
        self.collect(side_effects.ask(session))
        self.collect((of_modules if session.subject.kind == "module" else of_functions).ask(session))
        self.name_what_never_varied()

    def ask_about_what_is_understood(self) -> None:
        """The questions that stand on plain calls whose equation is known."""
        session = self.session
        known_masks = self.collect(masks.ask(session))
        self.collect(unused_masks.ask(session))
        self.collect(unused_rotation.ask(session))
        session.masks = [use.mask for use in known_masks[0].values()]
        self.collect(large_scores.ask(session, known_masks))
        cached = self.collect(cache.ask(session))
        self.collect(masks_in_cache.ask(session, cached, known_masks[0].values()))

    def name_what_never_varied(self) -> None:
        """The arguments that had the same value in every call, those of masks apart."""
        session = self.session
        text = " ".join([*self.report.untested, *self.report.caveats, self.report.reason])
        never = [name for name in session.subject.arguments.never_varied if name not in text]
        of_masks = [name for name in never if "mask" in name.lower()]
        for remark, names in ((UntestedMask, of_masks), (Untested, [name for name in never if name not in of_masks])):
            if names:
                self.note(remark(f"{', '.join(names)} (the same in every call)"))

    def collect(self, answers: Generator[Remark, None, Any]) -> Any:
        """Write down what a question yields, and return what it returns."""
        while True:
            try:
                self.note(next(answers))
            except StopIteration as end:
                return end.value

    def note(self, remark: Remark) -> None:
        report = self.report
        if isinstance(remark, Untested):
            report.untested.append(remark.text)
            if isinstance(remark, UntestedMask):
                report.untested_masks.append(remark.text)
        elif isinstance(remark, Caveat):
            report.caveats.append(remark.text)
        elif isinstance(remark, CannotTell):
            report.healthy, report.reason = None, f"{report.reason} {remark.text}".strip()
        elif isinstance(remark, Note):
            if remark.text not in report.notes:
                report.notes.append(remark.text)
                report.mask_notes += [remark.text] if isinstance(remark, MaskNote) else []
        elif remark.name is None or not any(_says_as_much(finding, remark) for finding in report.findings):
            report.findings.append(remark)
        self.session.findings = tuple(report.findings)

    def stopped(self, why: str) -> None:
        self.note(CannotTell(why))

    def finished(self) -> Report:
        report = self.report
        report.asked = self.session.calls
        report.seconds = time.monotonic() - self.started
        report.findings.sort(key=lambda finding: (not finding.is_sick, finding.name is None))
        if any(finding.is_sick for finding in report.findings):
            report.healthy = False  # whatever else could not be told
            report.notes += filter(None, [report.reason])
            report.reason = ""
        if self.session.known is not None:
            report.layout = self.session.known.layout.name
        report.findings = [lines.pointed(self.session, finding) for finding in report.findings]
        return report
