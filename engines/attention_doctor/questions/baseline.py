"""What the plain calls of a subject compute, once that is known, and what the report says of it."""

from dataclasses import dataclass

from attention_doctor.equation.stages import RIGHT, STEPS
from attention_doctor.forms.masks import ALWAYS_CAUSAL, CAUSAL, CAUSAL_WITHIN
from attention_doctor.reports.remarks import Note, Untested

FAILS_IN_MANY = ("80 tokens", "150 tokens")  # a module may have a longest sequence


@dataclass(frozen=True)
class Baseline:
    """What the plain calls compute.

    Parameters
    ----------
    layout : Layout
    right : dict of str to Form
        By step, mistakes included: what later answers are compared with.
    plain : list of Response
    forms : tuple of Form
        The mistakes among them.
    named : bool
        Whether all that was seen in plain calls has an explanation.
    """

    layout: object
    right: dict
    plain: list
    forms: tuple = ()
    named: bool = True


def confirmed(session, known):
    """Say how it was read, and what was taken for its design."""
    for text in known.layout.notes:
        yield Note(text)
    if known.layout.finding:
        yield session.finding(known.layout.finding)
    if known.right["hide"] is ALWAYS_CAUSAL:
        yield Note("It is causal in every call.")
    if known.right["hide"] is CAUSAL_WITHIN:
        yield Note("It is causal among the tokens of one sequence, and sees all of another one.")
    designs = [
        known.right[step].text
        for step in STEPS
        if not known.right[step].slug and known.right[step] not in (RIGHT[step], *CAUSAL)
    ]
    if designs:
        yield Note(f"Taken for its design: {'; '.join(designs)}.")
    for response in known.plain:
        if response.output is None and not is_a_failure(response):
            yield Untested(f"{response.question.trait} ({what_came(response.reply)})")
    return known


def is_a_failure(response):
    """An answer of the wrong shape, or none at all, where others get one."""
    return response.output is None and response.question.trait not in FAILS_IN_MANY and not response.question.is_cross


def failures(session, plain):
    for response in plain:
        if is_a_failure(response):
            yield session.unnamed(f"With {response.question.trait} it {what_came(response.reply)}.")


def what_came(reply):
    """What came back in place of an output, in words."""
    if reply.wrong_shape is not None:
        return f"returns shapes {reply.wrong_shape}"
    message = " ".join(str(reply.error).split())[:90]
    return f"stops with {type(reply.error).__name__}: {message}"
