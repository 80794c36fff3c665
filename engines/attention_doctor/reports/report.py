"""What an examination found, and how that reads: in a terminal, in a notebook, and as JSON."""

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from attention_doctor.names import HEALTHY
from function_judge.lines import Line

WIDTH = 100
MAX_LINES = 21  # before what is left out is named: less than 25 altogether
MIN_LINES = 5  # of the first finding, however much there is about masks
MAX_REASON = 10
JSON_VERSION = 1  # raised when a key is removed or changes its meaning


@dataclass(frozen=True)
class Finding:
    """One mistake, or one thing worth knowing.

    Parameters
    ----------
    name : str or None
        From the vocabulary; None where something is wrong that has no name.
    severity : str
        One of `attention_doctor.names.SEVERITIES`.
    sentence : str
        What the code does.
    altered : tuple of (str, str, str)
        The altered steps of the equation: (step, what it computes there, what is right).
    repair : str
        One line.
    also : tuple of str
        Other names that explain what was seen as well: the finding is one of these.
    shows, hides : tuple of str
        On which of the inputs that were tried it shows, and on which not.
    example : str
        A public example's address, or nothing.
    evidence : str
        Where nothing can be named: the smallest input that shows it, and the first entry that differs.
    line : Line or None
        Of the first statement whose result leaves the equation although everything that it uses is right: its
        `.path`, `.number` and `.text`. None where that is not certain.
    """

    name: str | None
    severity: str
    sentence: str
    altered: tuple[tuple[str, str, str], ...] = ()
    repair: str = ""
    also: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()
    example: str = ""
    evidence: str = ""
    line: Line | None = None

    @property
    def is_sick(self) -> bool:
        return self.severity not in HEALTHY

    @property
    def equation(self) -> str:
        """The part of the equation that it computes, and the right one."""
        if not self.altered:
            return ""
        computed, right = ("; ".join(texts) for texts in list(zip(*self.altered, strict=True))[1:])
        return f"It computes: {computed}. Right: {right}."

    @property
    def where(self) -> str:
        """On which inputs it shows, and on which it can't be seen."""
        hides = f" Can't be seen with: {', '.join(self.hides[:3])}." if self.hides else ""
        return f"Shows with: {', '.join(self.shows[:3])}.{hides}"


@dataclass
class Report:
    """The result of `examine`.

    Parameters
    ----------
    subject : str
        What was examined.
    healthy : bool or None
        None where it could not be examined.
    findings : list of Finding
        The worst first.
    untested : list of str
        What was not tested, and why.
    untested_masks : list of str
        Those of `untested` that are about masks.
    caveats : list of str
        What else has to be known of its masks before `healthy` is believed.
    layout : str
        How it was read.
    notes : list of str
    mask_notes : list of str
        Those of `notes` that say how a mask is read.
    asked : int
        How many calls were compared.
    seconds : float
        How long it took. Only JSON has it: a report in a stored notebook must not change from run to run.
    reason : str
        Why it could not be examined.
    """

    subject: str
    healthy: bool | None = True
    findings: list[Finding] = field(default_factory=list)
    untested: list[str] = field(default_factory=list)
    untested_masks: list[str] = field(default_factory=list)
    caveats: list[str] = field(default_factory=list)
    layout: str = ""
    notes: list[str] = field(default_factory=list)
    mask_notes: list[str] = field(default_factory=list)
    asked: int = 0
    seconds: float = 0.0
    reason: str = ""

    @property
    def names(self) -> list[str | None]:
        """The names of what is wrong, without those of harmless findings."""
        return [finding.name for finding in self.findings if finding.is_sick]

    @property
    def has_notes(self) -> bool:
        """Whether it is healthy, and there is something worth knowing."""
        return bool(self.healthy and self.findings)

    @property
    def verdict(self) -> str:
        if self.healthy is None:
            return "could not be examined"
        if self.healthy:
            noted = [finding.name or "unnamed" for finding in self.findings]
            healthy = "healthy" + (f", with notes: {', '.join(noted)}" if noted else "")
            gaps = [f"not tested: {'; '.join(self.untested_masks)}"] if self.untested_masks else []
            return "; ".join([*self.caveats, *gaps, healthy])
        sick = [finding for finding in self.findings if finding.is_sick]
        return "sick: " + ", ".join(finding.name or "unnamed" for finding in sick)

    def __str__(self) -> str:
        """Plain text, at most a screen: what doesn't fit stands in the JSON. Nothing about masks is left out."""
        head = self._head()
        paragraphs = [["", *_finding_lines(finding, in_brief=len(self.findings) > 1)] for finding in self.findings]
        masks = self._masks_below()
        room = MAX_LINES - len(head) - len(masks) - 1
        below = ["", *masks, *_lines(_fitting(self._below(), room - len(_lines(paragraphs[:1]))))]
        room = MAX_LINES - len(head) - len(below)
        if paragraphs and len(paragraphs[0]) > room:
            paragraphs[0] = [*paragraphs[0][: max(room, MIN_LINES) - 1], "  ..."]
        shown = paragraphs[:1] + _fitting(paragraphs[1:], room - len(_lines(paragraphs[:1])))
        lines = _lines(shown)
        if rest := self.findings[len(shown) :]:
            names = ", ".join(finding.name or "unnamed" for finding in rest)
            lines += ["", *_wrapped(f"And: {names} (all of it with --format json)", "", limit=2)]
        return "\n".join([*head, *lines, *below])

    def _head(self) -> list[str]:
        """The verdict, with what has to be known of masks where it is healthy, and why there is none."""
        head = [f"{self.subject}: {self.verdict}"]
        if self.healthy is not None:
            says_masks = self.healthy and (self.caveats or self.untested_masks)
            head = _wrapped(head[0], "", limit=None if says_masks else 2)
        return head + _wrapped(self.reason, "  ", limit=MAX_REASON)

    def _masks_below(self) -> list[str]:
        """How masks are read, and what else has to be known of them where the verdict doesn't say it."""
        texts = list(self.mask_notes)
        if not self.healthy:
            texts += [f"{caveat}." for caveat in self.caveats]
            texts += [f"Not tested: {'; '.join(self.untested_masks)}."] if self.untested_masks else []
        return _lines(_wrapped(text, "") for text in texts)

    def _below(self) -> Iterator[list[str]]:
        """How it was read, and what was tested of all but masks, a paragraph each."""
        if self.layout:
            yield _wrapped(f"Read as: {self.layout}.", "")
        for note in self.notes:
            if note not in self.mask_notes:
                yield _wrapped(note, "", limit=2)
        if self.asked:
            yield [f"{self.asked} calls compared."]
        if others := [text for text in self.untested if text not in self.untested_masks]:
            yield _wrapped("Not tested: " + "; ".join(others) + ".", "", limit=2)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from attention_doctor.reports import panel

        return panel.html_of(self)

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary that `json.dumps` takes."""
        return {
            "version": JSON_VERSION,
            "subject": self.subject,
            "healthy": self.healthy,
            "verdict": self.verdict,
            "reason": self.reason,
            "findings": [
                {name: list(value) if isinstance(value, tuple) else value for name, value in vars(finding).items()}
                | {"equation": finding.equation, "line": finding.line and vars(finding.line)}
                for finding in self.findings
            ],
            "untested": self.untested,
            "untested_masks": self.untested_masks,
            "caveats": self.caveats,
            "layout": self.layout,
            "notes": self.notes,
            "mask_notes": self.mask_notes,
            "calls": self.asked,
            "seconds": round(self.seconds, 2),
        }


def _wrapped(text: str, indent: str, limit: int | None = None) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", max_lines=limit, placeholder=" ..."
    )


def _fitting(paragraphs: Iterable[list[str]], room: int) -> list[list[str]]:
    """As many paragraphs, from the first on, as there is room for in lines."""
    shown: list[list[str]] = []
    for paragraph in paragraphs:
        room -= len(paragraph)
        if room < 0:
            break
        shown.append(paragraph)
    return shown


def _lines(paragraphs: Iterable[list[str]]) -> list[str]:
    return [line for paragraph in paragraphs for line in paragraph]


def _finding_lines(finding: Finding, in_brief: bool) -> Iterator[str]:
    heading = f"{finding.name or 'no name for it'} ({finding.severity})"
    if finding.also:
        heading += f", or {' or '.join(finding.also)}: they give the same on every input"
    yield from _wrapped(heading, "")
    yield from _wrapped(finding.sentence, "  ")
    if finding.line:
        yield from _wrapped(f"{finding.line.place}: {finding.line.text}", "  ", limit=2)
    if finding.equation and not in_brief:
        yield from _wrapped(finding.equation, "  ")
    if finding.evidence:
        yield from _wrapped(finding.evidence, "  ")
    if finding.shows and not in_brief:
        yield from _wrapped(finding.where, "  ")
    if finding.repair:
        yield from _wrapped(f"Repair: {finding.repair}", "  ")
    if finding.example:
        yield f"  Seen in: {finding.example}"
