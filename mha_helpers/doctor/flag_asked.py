"""The causal flag, alone and together with a mask."""

import numpy as np

from mha_helpers.doctor.equation import fits
from mha_helpers.doctor.hiding import JOINS, hiding
from mha_helpers.doctor.mask_rules import CAUSAL_IGNORED, CAUSAL_RULES, RIGHT_RULE
from mha_helpers.doctor.masks_compared import (
    LONG,
    TRAITS,
    add_rule,
    always,
    first_difference,
    form_with,
    least_open,
    predicted,
)


def ask(examination, settled):
    """Ask with the flag, in a short and in a long sequence, and together with a mask that is understood."""
    subject, layout = examination.subject, examination.layout
    question = subject.mask_question(layout, None).but("the causal flag", is_causal=True)
    heard = examination.hear(layout, question)
    name = subject.by_role["is_causal"]
    if heard.output is None:
        examination.report.untested.append(f"the flag {name} (it stops with {type(heard.reply.error).__name__})")
        return
    flag = RIGHT_RULE
    long = examination.hear(
        layout, subject.fitted(question.but(f"the flag and {LONG} tokens", batch=1, n_queries=LONG))
    )
    together = [heard] if long.output is None else [heard, long]
    if not all(fits(one.output, predicted(examination, one, form_with(examination))) for one in together):
        found = []
        for rule in (CAUSAL_IGNORED, *CAUSAL_RULES):
            hidden = [predicted(examination, one, form_with(examination, flag=rule)) for one in together]
            if all(fits(one.output, wanted) for one, wanted in zip(together, hidden, strict=True)):
                found.append((sum(int(np.isnan(wanted).sum()) for wanted in hidden), rule))
        if not found:
            examination.flag_is_understood = False
            examination.unnamed(
                "With the causal flag it differs from attention, and no mistake that the doctor knows explains it.",
                next(
                    filter(None, (first_difference(examination, one, name, "True") for one in together)),
                    "",
                ),
            )
            return
        rules = least_open(found)
        flag = rules[0]
        names = list(dict.fromkeys(rule.slug for rule in rules))
        where = (("the causal flag",), ("a call without it",))
        add_rule(examination, names, form_with(examination, flag=flag), where)
    if settled is None:
        return
    kinds = [kind for kind in ("padding", "pairs") if kind in settled.kinds] or settled.kinds[:1]
    if not all(_mask_and_flag(examination, settled, flag, kind) for kind in kinds):
        return


def _mask_and_flag(examination, settled, flag, kind):
    """Ask with both; whether another kind of mask is worth asking for."""
    subject, layout = examination.subject, examination.layout
    both = subject.mask_question(layout, kind).but("a mask and the causal flag", is_causal=True)
    heard = examination.hear(layout, both, settled.how)
    if heard.output is None:
        examination.report.untested.append(f"{TRAITS[kind]}, together with the causal flag (refused)")
        return True
    if fits(heard.output, predicted(examination, heard, form_with(examination, settled.rule, flag))):
        return True
    for slug, text, join in JOINS:
        form = hiding(settled.rule, flag, always=always(examination), join=join, slug=slug, text=text)
        if fits(heard.output, predicted(examination, heard, form)):
            examination.add(slug, form, where=(("a mask and the causal flag",), ("either alone",)))
            return False
    examination.unnamed("With a mask and the causal flag together it differs from attention.", "")
    return False
