"""The causal flag, alone and together with a mask."""

import numpy as np

from attention_doctor.calls import calling
from attention_doctor.forms.masks import CAUSAL_IGNORED, CAUSAL_RULES, JOINS, RIGHT_RULE, hiding
from attention_doctor.questions.masks_compared import (
    LONG,
    TRAITS,
    always,
    first_difference,
    fits_but_for_padding,
    form_with,
    least_open,
    predicted,
    rule_findings,
)
from attention_doctor.reports.remarks import UntestedMask
from function_judge.compare import fits


def ask(session, uses):
    """Ask with the flag, in a short and in a long sequence, and together with each mask that is understood.

    Parameters
    ----------
    session : ExamSession
    uses : iterable of MaskUse

    Returns
    -------
    bool
        Whether the flag is understood.
    """
    subject, layout = session.subject, session.layout
    question = subject.mask_question(layout, None).but("the causal flag", is_causal=True)
    response = session.ask(layout, question)
    name = subject.arguments.name_of["is_causal"]
    if response.output is None:
        yield UntestedMask(f"the flag {name} without a mask ({calling.told(response.reply.error, subject.function)})")
        return True
    long = session.ask(layout, subject.fitted(question.but(f"the flag and {LONG} tokens", batch=1, n_queries=LONG)))
    responses = [response] if long.output is None else [response, long]
    rule = yield from _rule_of(session, name, responses)
    for use in uses if rule is not None else ():
        yield from _with_masks(session, use, rule)
    return rule is not None


def _rule_of(session, name, responses):
    """The rule by which the flag is used; None where no rule explains it."""
    if all(fits(item.output, predicted(session, item, form_with(session))) for item in responses):
        return RIGHT_RULE
    rules = _explaining(session, responses)
    if not rules:
        differences = (first_difference(session, item, name, "True") for item in responses)
        yield session.unnamed(
            "With the causal flag it differs from attention, and no mistake that the doctor knows explains it.",
            next(filter(None, differences), ""),
        )
        return None
    names = list(dict.fromkeys(rule.slug for rule in rules))
    where = (("the causal flag",), ("a call without it",))
    yield from rule_findings(session, names, form_with(session, flag=rules[0]), where)
    return rules[0]


def _explaining(session, responses):
    """The mistaken rules that give all these answers."""
    explaining = []
    for rule in (CAUSAL_IGNORED, *CAUSAL_RULES):
        form = form_with(session, flag=rule)
        outputs = [predicted(session, item, form) for item in responses]
        if all(fits(item.output, wanted) for item, wanted in zip(responses, outputs, strict=True)):
            explaining.append((sum(int(np.isnan(wanted).sum()) for wanted in outputs), rule))
    return least_open(explaining)


def _with_masks(session, use, flag):
    """Ask with a mask, too, until the two together are found to be wrong."""
    for kind in dict.fromkeys(("padding", use.telling_kind) if "padding" in use.kinds else (use.telling_kind,)):
        if not (yield from _mask_and_flag(session, use, flag, kind)):
            return


def _mask_and_flag(session, use, flag, kind):
    """Ask with both; whether another kind of mask is worth asking for."""
    subject, layout = session.subject, session.layout
    both = subject.mask_question(layout, kind).but("a mask and the causal flag", is_causal=True)
    response = session.ask(layout, both, use.mask)
    if response.output is None:
        why = calling.told(response.reply.error, subject.function)
        yield UntestedMask(f"`{use.mask.name}`, {TRAITS[kind]}, together with the causal flag ({why})")
        return True
    wanted = predicted(session, response, form_with(session, use.rule, flag))
    if fits(response.output, wanted) or fits_but_for_padding(response, wanted):
        return True
    for slug, text, join in JOINS:
        form = hiding(use.rule, flag, always=always(session), join=join, slug=slug, text=text)
        if fits(response.output, predicted(session, response, form)):
            yield session.finding(slug, form, where=(("a mask and the causal flag",), ("either alone",)))
            return False
    yield session.unnamed("With a mask and the causal flag together it differs from attention.", "")
    return False
