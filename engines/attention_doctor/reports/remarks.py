"""What a question can yield beside findings: a note, what was not tested, and why there is no verdict."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """Something that the report should say."""

    text: str


@dataclass(frozen=True)
class MaskNote(Note):
    """How a mask is read: it is always shown."""


@dataclass(frozen=True)
class Caveat:
    """What a reader has to know of its masks before the word healthy."""

    text: str


@dataclass(frozen=True)
class Untested:
    """What was not tested, and why."""

    text: str


@dataclass(frozen=True)
class UntestedMask(Untested):
    """What was not tested about masks: it is always shown, and stands before the word healthy."""


@dataclass(frozen=True)
class CannotTell:
    """Why there is no verdict."""

    text: str
