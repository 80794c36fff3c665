"""What answers with a mask or with the causal flag are compared with: the equation with a rule for hiding keys."""

import functools
from dataclasses import dataclass, replace

import numpy as np

from attention_doctor.equation.stages import RIGHT, MaskedScores, compute
from attention_doctor.forms.masks import (
    CAUSAL,
    CAUSAL_IGNORED,
    CAUSAL_WITHIN,
    IGNORED,
    RIGHT_RULE,
    RIGHT_RULES,
    Rule,
    hiding,
)
from attention_doctor.subjects.arguments import MaskArgument
from function_judge import compare
from function_judge.compare import OF_THE_LARGEST, fits

FURTHER_KEYS = 2  # than queries
LONG = 97  # tokens: more than a block of a kernel, and no multiple of one
TRAITS = {
    "padding": "a padding mask that differs by sample",
    "left padding": "padding before the tokens",
    "shared": "one mask for all samples",
    "pairs": "a mask of queries and keys that differs by sample",
    "heads": "a mask that differs by head",
    "empty padding": "a sample that is all padding",
    "empty row": "a query that may see nothing",
}

PADDING = ("padding", "left padding", "empty padding")


@dataclass(frozen=True)
class MaskUse:
    """How a mask is passed, and the rule by which it is used.

    Parameters
    ----------
    mask : MaskArgument
    rule : Rule
    kinds : tuple of str
        Of the masks that are taken.
    """

    mask: MaskArgument
    rule: Rule
    kinds: tuple[str, ...]

    @property
    def telling_kind(self):
        """The kind of mask that tells most: one of pairs, which has the most to hide, if it is taken.

        Padding stands before the tokens where it can: causality hides what comes after them by itself.
        """
        if "pairs" in self.kinds:
            return "pairs"
        is_padding = self.kinds[0] == "padding" and self.mask.format.entries != "lengths"
        return "left padding" if is_padding else self.kinds[0]


def beside_a_context(session, question):
    """The question with keys from another sequence, of which there are more than queries."""
    trait = f"{TRAITS[question.mask]}, and keys from another sequence"
    return session.subject.fitted(question.but(trait, n_keys=question.n_queries + FURTHER_KEYS))


def always(session):
    """The causal rule that holds in every call, where there is one."""
    return RIGHT_RULE if session.right["hide"] in CAUSAL else None


def form_with(session, mask=RIGHT_RULE, flag=RIGHT_RULE, join=None):
    """The step `hide` with these rules, on top of what the plain call does there."""
    design = session.right["hide"]
    causal = None if mask.replaces else always(session)
    form = hiding(mask, flag, always=causal, within=design is CAUSAL_WITHIN, join=join)
    if design in (RIGHT["hide"], *CAUSAL) or mask.replaces:
        return form
    return replace(form, run=lambda case, scaled: _both(design, form, case, scaled))


def _both(design, form, case, scaled):
    """Hide by what is built in, such as a window, and then by a mask."""
    built_in = design.apply(case.changed(allowed=None), scaled)
    scores, reweigh, *heads = built_in
    masked = form.apply(case, (scores, *heads))
    changes = [change for change in (reweigh, masked.reweigh) if change is not None]
    both = functools.reduce(_followed_by, changes) if changes else None
    return MaskedScores(masked.scores, both, masked.queries, masked.keys, masked.values)


def _followed_by(first, then):
    return lambda weights: then(first(weights))


def predicted(session, response, form):
    return compute(response.case, [form], right=session.right)[0]


def is_right(session, response):
    """Whether the mask hides what it should, by -inf; beside a mistake in the plain calls, by finite numbers, too.

    Such a mistake, as a causal mask that hides each token from itself, may leave a row that sees nothing: with finite
    numbers it comes out as an average, and not as NaN.
    """
    for rule in RIGHT_RULES if session.known.forms else RIGHT_RULES[:1]:
        wanted = predicted(session, response, form_with(session, rule))
        if fits(response.output, wanted):
            return True
    return fits_but_for_padding(response, wanted)


def is_used(session, response, rule):
    """Whether the mask is used by this rule."""
    if rule is RIGHT_RULE:
        return is_right(session, response)
    return fits(response.output, predicted(session, response, form_with(session, rule)))


def is_expressible(session, mask_format, question):
    """Whether a question's mask can be expressed in this format."""
    layout, case = session.layout, session.subject.case(session.layout, question)
    full_shape = (1 if layout.loops else question.batch, case.n_heads, question.n_queries, question.keys)
    return mask_format.of(case.allowed[:1] if layout.loops else case.allowed, full_shape) is not None


def first_difference(session, response, name, mask_format):
    """The first entry that differs from attention, in words; nothing where none does."""
    wanted = predicted(session, response, form_with(session))
    if wanted is None or wanted.shape != response.output.shape:
        return ""
    differs = compare.differing(response.output, wanted)
    if not differs.any():
        return ""
    return f"`{name}` given as {mask_format}: {compare.first_difference('output', response.output, wanted, differs)}"


def rules_for(session, rules, responses):
    """The share of entries that is left open, and the rules that explain all these answers and leave no more open."""
    explaining = []
    for rule in rules:
        session.rule_budget.spend()
        form, n_open = form_with(session, rule), 0
        for response in responses:
            wanted = predicted(session, response, form)
            if not fits(response.output, wanted):
                break
            n_open += np.isnan(wanted).sum()
        else:
            explaining.append((int(n_open), rule))
    entries = sum(response.output.size for response in responses)
    return min((n_open for n_open, _ in explaining), default=0) / max(entries, 1), least_open(explaining)


MEANT_TO_HIDE = ("mask-tiny-number", "mask-on-the-context")


def least_open(explaining):
    """Of (entries left open, rule), the rules that leave least open: where a rule gives NaN, anything fits.

    No mask at all is simpler than one in vain. Of what hides nothing either, only what somebody may have meant to hide
    with is named beside it: a number so near to 0, or zeros.
    """
    least = min((n_open for n_open, _ in explaining), default=0)
    rules = [rule for n_open, rule in explaining if n_open == least]
    ignored = [rule for rule in rules if rule in (IGNORED, CAUSAL_IGNORED)]
    return ignored + [rule for rule in rules if rule.slug in MEANT_TO_HIDE] if ignored else rules


def fits_but_for_padding(response, wanted, tolerance=OF_THE_LARGEST):
    """Whether the output is right where it isn't padding's: that is nobody's concern, and some set it to 0."""
    question, case = response.question, response.case
    masks = ((question.mask, case.allowed), (question.second_mask, case.second_allowed))
    padding = [allowed for kind, allowed in masks if kind in PADDING]
    if wanted is None or wanted.ndim != 3 or question.is_cross or not padding:
        return False
    allowed = np.logical_and.reduce(padding)
    visible = np.broadcast_to(allowed, (len(wanted), 1, 1, wanted.shape[1]))[:, 0, 0]
    return fits(response.output, np.where(visible[..., None], wanted, np.nan), tolerance)


def rule_findings(session, names, form, where):
    """A finding for each part of the first name; the other names explain what was seen as well."""
    also = tuple(name for name in names[1:] if "+" not in name)
    for part, name in enumerate(names[0].split("+")):
        yield session.finding(name, form, also=() if part else also, where=where)
