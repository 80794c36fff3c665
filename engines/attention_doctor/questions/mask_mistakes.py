"""What explains answers with a mask that are wrong: a rule for hiding keys that people write by mistake."""

from collections import defaultdict

import numpy as np

from attention_doctor.forms.masks import DOUBLE_RULES, RULES
from attention_doctor.questions.masks_compared import (
    PADDING,
    TRAITS,
    MaskUse,
    first_difference,
    form_with,
    rule_findings,
    rules_for,
)
from attention_doctor.readers.mask_formats import MINIMAL
from attention_doctor.reports.remarks import CannotTell
from attention_doctor.subjects.arguments import MaskArgument
from function_judge.compare import fits


def explain(session, name, wrong, right):
    """Find the rule that explains every kind of mask in one format; return a MaskUse, or None.

    Parameters
    ----------
    session : ExamSession
    name : str
        Of the argument.
    wrong, right : dict of (str, MaskFormat) to Response
    """
    by_format, unusual = _by_format(session, wrong), session.subject.unusual_meaning
    # The most usual meaning first, and then the format in which most kinds of masks are taken.
    formats = sorted(by_format, key=lambda mask_format: (unusual(mask_format), -len(by_format[mask_format])))
    right_in = defaultdict(list)
    for (_, mask_format), answer in right.items():
        right_in[mask_format].append(answer)
    answers = {mask_format: by_format[mask_format] + right_in[mask_format] for mask_format in formats}
    for rules in (RULES, DOUBLE_RULES):  # a mistake that explains it alone is likelier than two
        mask_format, explaining = _explained_best(session, rules, answers)
        if explaining:
            kinds = tuple(answer.question.mask for answer in by_format[mask_format])
            names = list(dict.fromkeys(_name_of(rule, kinds) for rule in explaining))
            where = (tuple(TRAITS[kind] for kind in kinds), ("a call without a mask",))
            yield from rule_findings(session, names, form_with(session, explaining[0]), where)
            return MaskUse(MaskArgument(name, mask_format), explaining[0], kinds)
    yield from _unexplained(session, name, formats, by_format)
    return None


def _by_format(session, answers):
    """The answers by format; a function's agreed format alone, if it takes that one: it says what the mask means."""
    by_format = defaultdict(list)
    for (_, mask_format), answer in answers.items():
        by_format[mask_format].append(answer)
    agreed = {item: by_format[item] for item in by_format if item.shape == MINIMAL}
    return agreed if agreed and session.subject.kind == "function" else by_format


def _explained_best(session, rules, answers):
    """The format in which rules explain all answers and leave fewest entries open, and these rules."""
    best_share, best = None, (None, [])
    for mask_format, in_format in answers.items():
        share, explaining = rules_for(session, rules, in_format)
        if explaining and (best_share is None or share < best_share):
            best_share, best = share, (mask_format, explaining)
        if session.rule_budget.is_spent:
            break
    return best


def _name_of(rule, kinds):
    """A rule's name; where only keys can be hidden, exchanged axes are padding that hides queries."""
    return rule.slug.replace("mask-transposed", "padding-on-queries") if set(kinds) <= set(PADDING) else rule.slug


def _unexplained(session, name, formats, by_format):
    if any(_hides_what_it_should(session, MaskArgument(name, mask_format)) for mask_format in formats):
        yield CannotTell(
            f"With `{name}` the numbers are not the equation's. What it hides has no influence, so it may be by design."
        )
        return
    mask_format, response = formats[0], by_format[formats[0]][0]
    yield session.unnamed(
        f"With {TRAITS[response.question.mask]} it differs from attention, and no known mistake explains it.",
        first_difference(session, response, name, mask_format),
    )


def _hides_what_it_should(session, mask):
    """Whether no output changes with a token that a padding mask hides, and some do with the others.

    Then the mask does its work, whatever else the code does where it gets one: that is no proof of a mistake.
    """
    subject, layout = session.subject, session.layout
    question = subject.mask_question(layout, "padding")
    case = subject.case(layout, question)
    full_shape = (1, case.n_heads, question.n_queries, question.keys)
    if case.X is None or mask.format.of(case.allowed[:1], full_shape) is None:
        return False
    visible = np.broadcast_to(case.allowed[:, 0, 0], (question.batch, question.keys))
    before = subject.ask(layout, question, mask).output
    moved = []
    for where in (~visible, visible):
        X = np.where(where[..., None], case.X[:, ::-1] + 1.0, case.X)
        changed = subject.put(layout, question, case.changed(X=X, context=X), mask).output
        if before is None or changed is None or before.shape != changed.shape:
            return False
        moved.append(not fits(np.where(visible[..., None], changed, 0), np.where(visible[..., None], before, 0)))
    return moved == [False, True]
