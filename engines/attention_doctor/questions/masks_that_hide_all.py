"""Queries that may see nothing: the softmax of their scores is 0 / 0, and that may spoil other rows."""

import numpy as np

from attention_doctor.forms.masks import RIGHT_RULE
from attention_doctor.questions.masks_compared import PADDING, TRAITS, form_with, is_expressible, is_right, predicted
from attention_doctor.readers.mask_formats import MaskFormat
from attention_doctor.reports.remarks import Untested
from attention_doctor.subjects.arguments import MaskArgument
from function_judge.compare import fits


def ask(session, use):
    """Ask with a mask that hides all keys from one query, and from a whole sample."""
    if use.rule is not RIGHT_RULE:
        return
    is_padding = set(use.kinds) <= set(PADDING)
    mask = _with_finite_numbers(use.mask)
    for kind in ("empty padding",) if is_padding else ("empty row", "empty padding"):
        question = session.subject.mask_question(session.layout, kind)
        if not is_expressible(session, mask.format, question):
            continue
        response = session.ask(session.layout, question, mask)
        if response.output is None:
            yield Untested(f"{TRAITS[kind]} (refused)")
            continue
        finding = _finding(session, response, is_exact=mask == use.mask)
        if finding is not None:
            yield finding
            return


def _with_finite_numbers(mask):
    """The same mask with -1e9 for -inf: whoever adds -inf everywhere has asked for NaN."""
    if mask.format.entries != "added, -inf hides":
        return mask
    return MaskArgument(mask.name, MaskFormat(mask.format.shape, "added, -1e9 hides"))


def _finding(session, response, is_exact):
    """What is wrong with an answer, or None: NaN where it should be, and only there, is worth knowing.

    Finite numbers give rows that see nothing an average, which is nobody's concern; then the rows aren't compared.
    """
    wanted = predicted(session, response, form_with(session))
    if wanted is None:
        return None
    trait, empty, broken = TRAITS[response.question.mask], np.isnan(wanted), np.isnan(response.output)
    if (broken & ~empty).any():
        return session.finding("mask-outer-nan")
    if broken.any():
        return session.finding("mask-full-row-nan", where=((trait,), ()))
    if is_exact and not fits(response.output, wanted) and not is_right(session, response):
        return session.unnamed(f"With {trait} other rows change, too.", "")
    return None
