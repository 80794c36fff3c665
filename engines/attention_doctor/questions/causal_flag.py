"""The causal flag, alone and together with a mask."""

import numpy as np

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
from attention_doctor.reports.remarks import Untested
from function_judge.compare import fits


def ask(asking, settled):
    """Ask with the flag, in a short and in a long sequence, and together with a mask that is understood.

    Returns
    -------
    bool
        Whether the flag is understood.
    """
    subject, layout = asking.subject, asking.layout
    question = subject.mask_question(layout, None).but("the causal flag", is_causal=True)
    heard = asking.hear(layout, question)
    name = subject.given.name_of["is_causal"]
    if heard.output is None:
        yield Untested(f"the flag {name} without a mask (it stops with {type(heard.reply.error).__name__})")
        return True
    flag = RIGHT_RULE
    long = asking.hear(layout, subject.fitted(question.but(f"the flag and {LONG} tokens", batch=1, n_queries=LONG)))
    together = [heard] if long.output is None else [heard, long]
    if not all(fits(one.output, predicted(asking, one, form_with(asking))) for one in together):
        found = []
        for rule in (CAUSAL_IGNORED, *CAUSAL_RULES):
            hidden = [predicted(asking, one, form_with(asking, flag=rule)) for one in together]
            if all(fits(one.output, wanted) for one, wanted in zip(together, hidden, strict=True)):
                found.append((sum(int(np.isnan(wanted).sum()) for wanted in hidden), rule))
        if not found:
            yield asking.unnamed(
                "With the causal flag it differs from attention, and no mistake that the doctor knows explains it.",
                next(
                    filter(None, (first_difference(asking, one, name, "True") for one in together)),
                    "",
                ),
            )
            return False
        rules = least_open(found)
        flag = rules[0]
        names = list(dict.fromkeys(rule.slug for rule in rules))
        where = (("the causal flag",), ("a call without it",))
        yield from rule_findings(asking, names, form_with(asking, flag=flag), where)
    if settled is None:
        return True
    kinds = [kind for kind in ("padding", "pairs") if kind in settled.kinds] or settled.kinds[:1]
    for kind in kinds:
        if not (yield from _mask_and_flag(asking, settled, flag, kind)):
            break
    return True


def _mask_and_flag(asking, settled, flag, kind):
    """Ask with both; whether another kind of mask is worth asking for."""
    subject, layout = asking.subject, asking.layout
    both = subject.mask_question(layout, kind).but("a mask and the causal flag", is_causal=True)
    heard = asking.hear(layout, both, settled.how)
    if heard.output is None:
        yield Untested(f"{TRAITS[kind]}, together with the causal flag (refused)")
        return True
    wanted = predicted(asking, heard, form_with(asking, settled.rule, flag))
    if fits(heard.output, wanted) or fits_but_for_padding(heard, wanted):
        return True
    for slug, text, join in JOINS:
        form = hiding(settled.rule, flag, always=always(asking), join=join, slug=slug, text=text)
        if fits(heard.output, predicted(asking, heard, form)):
            yield asking.finding(slug, form, where=(("a mask and the causal flag",), ("either alone",)))
            return False
    yield asking.unnamed("With a mask and the causal flag together it differs from attention.", "")
    return False
