"""Large scores and half precision: whether the numbers stay numbers."""

import numpy as np

from mha_helpers.doctor.equation import Form, compute, fits, weighed_by
from mha_helpers.doctor.mask_rules import RENORMALISED, RIGHT_RULE, RULES
from mha_helpers.doctor.masks_compared import form_with as _form
from mha_helpers.doctor.vocabulary import DESIGN, LIMIT

# What X is multiplied by, for scores of about 1e2, 1e4 and 1e6.
SPREADS = ((8.0, "scores of about 1e2"), (80.0, "scores of about 1e4"), (800.0, "scores of about 1e6"))


FITS_FLOAT16 = ("−10000", "−65504", "−65500", "−50000")


def _without_maximum(dtype, empty):
    def weigh(scores):
        return _over_their_sum(np.exp(scores.astype(dtype)), empty)

    return weigh


def _global_maximum(dtype, empty):
    def weigh(scores):
        return _over_their_sum(np.exp((scores - scores.max()).astype(dtype)), empty)

    return weigh


def _over_their_sum(exponentials, empty):
    """Divide by the sum; where nothing is left it is 0/0, unless something small is added to the sum."""
    total = exponentials.sum(-1, keepdims=True)
    return (exponentials / np.where(total == 0, empty, total)).astype(np.float64)


def ask(examination):
    """Ask with large scores, with a mask beside them, and in half precision."""
    subject, layout = examination.subject, examination.layout
    if any(form.step in ("scores", "softmax") for form in examination.forms):
        examination.report.untested.append("large scores, as the scores are wrong already")
    elif not _large_scores(examination) and not _far_below_zero(examination):
        _outrun(examination)
    for precision in subject.precisions:
        question = subject.mask_question(layout, None).but(precision, precision=precision)
        heard = examination.hear(layout, question)
        if heard.output is None:
            why = type(heard.reply.error).__name__ if heard.reply.error is not None else "another shape"
            examination.report.untested.append(f"{precision} ({why})")
        elif not np.isfinite(heard.output).all() and np.isfinite(examination.plain[0].output).all():
            examination.unnamed(f"In {precision} it returns NaN or infinity for ordinary numbers.", "", LIMIT)
        else:
            _mask_in_half_precision(examination, precision)


def _mask_in_half_precision(examination, precision):
    """The number that hides may be none in half precision."""
    subject, layout = examination.subject, examination.layout
    for settled in examination.masks.values():
        if settled.rule.slug or settled.how[1].entries == "added, -1e9 hides":
            continue
        kind = "pairs" if "pairs" in settled.kinds else settled.kinds[0]
        question = subject.mask_question(layout, kind).but(f"a mask in {precision}", precision=precision)
        heard = examination.hear(layout, question, settled.how)
        wanted = compute(heard.case, [_form(examination)], right=examination.right)[0]
        if heard.output is None or wanted is None or not np.isfinite(wanted).all():
            continue
        if np.isnan(heard.output).any():
            examination.add("mask-float16-overflow", where=((f"a mask in {precision}",), ("float32",)))
            return


def _large_scores(examination):
    subject, layout = examination.subject, examination.layout
    for spread, words in SPREADS:
        question = subject.mask_question(layout, None).but(words, spread=spread)
        heard = examination.hear(layout, question)
        if heard.output is None:
            examination.report.untested.append(f"{words} (refused)")
            return False
        wanted = compute(heard.case, right=examination.right)[0]
        if wanted is None or np.isfinite(heard.output).all() or not np.isfinite(wanted).all():
            continue
        for dtype in (np.float32, np.float64):
            for slug, weigh in (("softmax-no-max", _without_maximum), ("softmax-global-max", _global_maximum)):
                form, added = (
                    Form(slug, "softmax", weighed_by(weigh(dtype, empty)), "exp without subtracting the row's maximum")
                    for empty in (0, 1)
                )
                most, least = (compute(heard.case, [one], right=examination.right)[0] for one in (form, added))
                broken = ~np.isfinite(heard.output)
                if most is not None and not (broken & ~np.isnan(most)).any() and not (np.isnan(least) & ~broken).any():
                    examination.add(slug, form, where=((words,), ("small scores",)))
                    return True
        examination.unnamed(f"With {words} it returns NaN or infinity.", "", LIMIT)
        return True
    return False


def _far_below_zero(examination):
    """Scores of about -1e3 and lower, all of them: whoever compares them with 0 has nothing left."""
    subject, layout = examination.subject, examination.layout
    if subject.kind != "function":
        return False
    for flag in (False, True) if subject.has("is_causal") and examination.flag_is_understood else (False,):
        words = "scores far below 0" + (" and the causal flag" if flag else "")
        question = subject.mask_question(layout, None).but(words, negative=True, n_queries=24, is_causal=flag)
        heard = examination.hear(layout, question)
        wanted = compute(heard.case, [_form(examination)] if flag else [], right=examination.right)[0]
        if heard.output is None or wanted is None or fits(heard.output, wanted, 0.02):
            continue
        if flag and examination.findings_in("hide"):
            continue
        examination.unnamed(f"With {words} it differs from attention.", "", LIMIT)
        return True
    return False


def _outrun(examination):
    """A finite number in place of -inf: whether scores of up to a million reach it."""
    subject, layout = examination.subject, examination.layout
    for settled in examination.masks.values():
        if settled.rule.slug or settled.how[1].entries.startswith("added"):
            continue
        kind = "pairs" if "pairs" in settled.kinds else settled.kinds[0]
        for spread, size in ((25.0, "1e3"), (250.0, "1e5"), (800.0, "1e6")):
            words = f"a mask beside scores of about {size}"
            question = subject.mask_question(layout, kind).but(words, spread=spread)
            if _reached(examination, examination.hear(layout, question, settled.how), words):
                return
    if subject.has("is_causal") and examination.flag_is_understood and not examination.findings_in("hide"):
        for spread, size in ((25.0, "1e3"), (800.0, "1e6")):
            words = f"the causal flag and scores of about {size}"
            question = subject.mask_question(layout, None).but(words, is_causal=True, n_queries=24, spread=spread)
            heard = examination.hear(layout, question)
            if _reached(examination, heard, words):
                return
            wanted = compute(heard.case, [_form(examination)], right=examination.right)[0]
            if heard.output is not None and wanted is not None and not fits(heard.output, wanted, 0.02):
                examination.unnamed(f"With {words} it differs from attention.", "", LIMIT)
                return


def _reached(examination, heard, words):
    """Whether hidden scores' finite number is above visible scores; it is named where it can be."""
    form = _form(examination)
    wanted = compute(heard.case, [form], right=examination.right)[0]
    if heard.output is None or wanted is None or fits(heard.output, wanted, 0.02):
        return False
    for rule in RULES:
        if rule.slug != "mask-tiny-number":
            continue
        flag = rule if heard.case.is_causal else RIGHT_RULE
        mask = RIGHT_RULE if heard.case.is_causal else rule
        altered = _form(examination, mask, flag)
        if fits(heard.output, compute(heard.case, [altered], right=examination.right)[0], 0.02):
            # What fits into float16 was chosen so, by BERT and many after it; a score of that size is rare.
            severity = DESIGN if rule.text.split()[-1] in FITS_FLOAT16 else LIMIT
            examination.add("mask-tiny-number", altered, where=((words,), ("smaller scores",)), severity=severity)
            return True
    rule = (RIGHT_RULE, RENORMALISED) if heard.case.is_causal else (RENORMALISED, RIGHT_RULE)
    if _fits_but_for_nan(heard.output, compute(heard.case, [_form(examination, *rule)], right=examination.right)[0]):
        note = "Where hidden scores are far above the visible ones, nothing is left of these: 0/0."
        if note not in examination.report.notes:
            examination.report.notes.append(note)
        return True
    return False


def _fits_but_for_nan(given, predicted):
    """NaN or 0 where the prediction is NaN, or nearly so, is no difference."""
    if predicted is None or given.shape != predicted.shape:
        return False
    known = np.isfinite(given) & np.isfinite(predicted)
    return bool(known.any()) and fits(given[known], predicted[known], 0.05)
