"""What answers with a mask or with the causal flag are compared with: the equation with a rule for hiding keys."""

import functools
from dataclasses import replace

import numpy as np

from attention_doctor.equation.stages import RIGHT, compute
from attention_doctor.forms.masks import ALWAYS_CAUSAL, CAUSAL_IGNORED, IGNORED, RIGHT_RULE, hiding
from function_judge import compare
from function_judge.compare import fits

LONG = 97  # tokens: more than a block of a kernel, and no multiple of one
TRAITS = {
    "padding": "a padding mask that differs by sample",
    "shared": "one mask for all samples",
    "pairs": "a mask of queries and keys that differs by sample",
    "heads": "a mask that differs by head",
    "empty padding": "a sample that is all padding",
    "empty row": "a query that may see nothing",
}


def always(session):
    hide = session.right["hide"]
    return RIGHT_RULE if hide is ALWAYS_CAUSAL else None


def form_with(session, mask=RIGHT_RULE, flag=RIGHT_RULE, join=None):
    """The step `hide` with these rules, on top of what the plain call does there."""
    form = hiding(mask, flag, always=None if mask.replaces else always(session), join=join)
    design = session.right["hide"]
    if design in (RIGHT["hide"], ALWAYS_CAUSAL) or mask.replaces:
        return form
    return replace(form, run=lambda case, given: _both(design, form, case, given))


def _both(design, form, case, given):
    """Hide by what is built in, such as a window, and then by a mask."""
    scores, first, *rest = design.run(case.changed(allowed=None), given)
    scores, then, *rest = form.run(case, (scores, *rest))
    changes = [change for change in (first, then) if change is not None]
    return scores, functools.reduce(_followed_by, changes) if changes else None, *rest


def _followed_by(first, then):
    return lambda weights: then(first(weights))


def predicted(session, response, form):
    return compute(response.case, [form], right=session.right)[0]


def first_difference(session, response, name, how):
    wanted = predicted(session, response, form_with(session))
    if wanted is None or wanted.shape != response.output.shape:
        return ""
    differs = compare.differing(response.output, wanted)
    if not differs.any():
        return ""
    return f"`{name}` given as {how}: {compare.first_difference('output', response.output, wanted, differs)}"


def rules_for(session, rules, together):
    """The rules that explain all of these answers and leave least open, and the share of entries that they do."""
    found = []
    for rule in rules:
        form, unknown = form_with(session, rule), 0
        for response in together:
            wanted = predicted(session, response, form)
            if not fits(response.output, wanted):
                break
            unknown += np.isnan(wanted).sum()
        else:
            found.append((int(unknown), rule))
    entries = sum(response.output.size for response in together)
    return min((unknown for unknown, _ in found), default=0) / max(entries, 1), least_open(found)


MEANT_TO_HIDE = ("mask-tiny-number", "mask-on-the-context")


def least_open(found):
    """Of (entries left open, rule), the rules that leave least open; no mask at all is simpler than one in vain."""
    least = min((unknown for unknown, _ in found), default=0)
    rules = [rule for unknown, rule in found if unknown == least]
    ignored = [rule for rule in rules if rule in (IGNORED, CAUSAL_IGNORED)]
    # Of what hides nothing either, only what somebody may have meant to hide with: a number so near to 0, or zeros.
    return ignored + [rule for rule in rules if rule.slug in MEANT_TO_HIDE] if ignored else rules


def fits_but_for_padding(response, wanted):
    """Whether the output is right where it isn't padding's: that is nobody's concern, and some set it to 0."""
    if wanted is None or wanted.ndim != 3 or response.question.is_cross:
        return False
    if response.question.mask not in ("padding", "empty padding"):
        return False
    seen = np.broadcast_to(response.case.allowed, (len(wanted), 1, 1, wanted.shape[1]))[:, 0, 0]
    return fits(response.output, np.where(seen[..., None], wanted, np.nan))


def rule_findings(session, names, form, where):
    """A finding for each part of the first name; the other names explain what was seen as well."""
    also = tuple(name for name in names[1:] if "+" not in name)
    for part, name in enumerate(names[0].split("+")):
        yield session.finding(name, form, also=() if part else also, where=where)
