"""Two masks in one call: a key must be allowed by both."""

import itertools

from attention_doctor.calls import calling
from attention_doctor.forms.masks import IGNORED, REPLACING, RIGHT_RULE
from attention_doctor.questions.masks_compared import (
    PADDING,
    TRAITS,
    fits_but_for_padding,
    form_with,
    is_used,
    predicted,
)
from attention_doctor.readers.mask_formats import EVERY_MEANING, MaskFormat
from attention_doctor.readers.signature import speaks_of_a_context
from attention_doctor.reports.remarks import Caveat, UntestedMask
from attention_doctor.subjects.arguments import MaskArgument
from function_judge.compare import fits


def ask(session, uses):
    """Ask every two masks together that are right, each alone."""
    for first, second in itertools.combinations(uses.values(), 2):
        if first.rule.slug or second.rule.slug:
            continue  # that is a finding already
        if session.is_out_of_calls:
            yield UntestedMask(f"{_names(first, second)}, as {session.calls} calls were made already")
        elif _are_of_two_sequences(session, first, second):
            yield UntestedMask(f"{_names(first, second)}, as each is of a sequence of its own")
        else:
            yield from _ask_both(session, first, second)


def _are_of_two_sequences(session, first, second):
    """Whether both hide tokens, one of them a context's: the other then speaks of the tokens that attend to it."""
    if not all(set(use.kinds) <= set(PADDING) for use in (first, second)):
        return False
    of_context = [speaks_of_a_context(use.mask.name) for use in (first, second)]
    return session.subject.arguments.has("context") and of_context[0] != of_context[1]


def _ask_both(session, first, second):
    response = _together(session, first, second, first.mask, second.mask)
    if response.output is None:
        why = calling.told(response.reply.error, session.subject.function)
        yield UntestedMask(f"{_names(first, second)} ({why})")
    elif not _is_right(session, first, second, response):
        mask = _otherwise_given(session, first, second)
        if mask is None:
            yield _finding(session, first, second, response)
        else:
            yield Caveat(f"{_names(first, second)} are right only with `{mask.name}` as {mask.format}")


def _together(session, first, second, mask, beside):
    kinds = first.telling_kind, second.telling_kind
    question = session.subject.mask_question(session.layout, kinds[0])
    question = question.but(f"{TRAITS[kinds[0]]}, and {TRAITS[kinds[1]]} beside it", second_mask=kinds[1])
    return session.ask(session.layout, question, mask._replace(beside=beside))


def _would_be(session, first, second, response, allowed):
    """What the call should give with these keys allowed."""
    rule = REPLACING if first.rule.replaces or second.rule.replaces else RIGHT_RULE
    return predicted(session, response.of(allowed), form_with(session, rule))


def _is_right(session, first, second, response):
    case = response.case
    wanted = _would_be(session, first, second, response, case.allowed & case.second_allowed)
    return fits(response.output, wanted) or fits_but_for_padding(response, wanted)


def _otherwise_given(session, first, second):
    """The mask that has to be given in another meaning, in which it is right alone, too; None where none helps.

    A kernel takes booleans, and the code around it may add numbers to them.
    """
    for use, entries in itertools.product((first, second), EVERY_MEANING):
        mask = MaskArgument(use.mask.name, MaskFormat(use.mask.format.shape, entries))
        if mask == use.mask or use.mask.format.entries == "lengths":
            continue
        alone = session.ask(session.layout, session.subject.mask_question(session.layout, use.telling_kind), mask)
        if alone.output is None or not is_used(session, alone, use.rule):
            continue
        masks = (mask, second.mask) if use is first else (first.mask, mask)
        both = _together(session, first, second, *masks)
        if both.output is not None and _is_right(session, first, second, both):
            return mask
    return None


def _finding(session, first, second, response):
    allowed, further = response.case.allowed, response.case.second_allowed
    names, lost = (first.mask.name, second.mask.name), predicted(session, response, form_with(session, IGNORED))
    both = _names(first, second)

    def would_be(allowed):
        return _would_be(session, first, second, response, allowed)

    for name, output, evidence in (
        ("mask-lost-with-mask", would_be(allowed), f"`{names[1]}` isn't used beside `{names[0]}`."),
        ("mask-lost-with-mask", would_be(further), f"`{names[0]}` isn't used beside `{names[1]}`."),
        ("mask-lost-with-mask", lost, f"{both} are not used at all."),
        ("masks-joined-with-or", would_be(allowed | further), f"{both} show a key that one of them shows."),
    ):
        if fits(response.output, output):
            return session.finding(name, where=((response.question.trait,), ("either alone",)), evidence=evidence)
    return session.unnamed(f"With {both} it differs from attention, with either alone it doesn't.")


def _names(first, second):
    return f"`{first.mask.name}` and `{second.mask.name}` together"
