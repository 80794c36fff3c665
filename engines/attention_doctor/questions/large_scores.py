"""Large scores and half precision: whether the numbers stay numbers."""

import numpy as np

from attention_doctor.equation.stages import Form, compute, weighed_by
from attention_doctor.forms.masks import RENORMALISED, RIGHT_RULE, RULES
from attention_doctor.names import DESIGN, LIMIT, NOTE
from attention_doctor.questions.masks_compared import form_with as _form
from attention_doctor.reports.remarks import Note, Untested
from function_judge.compare import fits

# What X is multiplied by, for scores of about 1e2, 1e4 and 1e6.
SPREADS = ((8.0, "scores of about 1e2"), (80.0, "scores of about 1e4"), (800.0, "scores of about 1e6"))


# What fits into float16 was chosen so, by BERT and many after it; a score of that size is rare.
FITS_FLOAT16 = ("−10000", "−65504", "−65500", "−50000")
FAR = ("−1e6", "−1e+06", "−100000", "−9999", "−1e5")  # far below any score that is seen in practice


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


def ask(session, masks):
    """Ask with large scores, with a mask beside them, and in half precision.

    `masks` is what the question on masks returned.
    """
    subject, layout = session.subject, session.layout
    if any(form.step in ("scores", "softmax") for form in session.known.forms):
        yield Untested("large scores, as the scores are wrong already")
    elif not (yield from _large_scores(session)) and not (yield from _far_below_zero(session, masks[1])):
        yield from _outrun(session, *masks)
    for precision in subject.precisions:
        question = subject.mask_question(layout, None).but(precision, precision=precision)
        response = session.ask(layout, question)
        if response.output is None:
            why = type(response.reply.error).__name__ if response.reply.error is not None else "another shape"
            yield Untested(f"{precision} ({why})")
        elif not np.isfinite(response.output).all() and np.isfinite(session.known.plain[0].output).all():
            yield session.unnamed(f"In {precision} it returns NaN or infinity for ordinary numbers.", "", LIMIT)
        else:
            yield from _mask_in_half_precision(session, masks[0], precision)


def _mask_in_half_precision(session, masks, precision):
    """The number that hides may be none in half precision."""
    subject, layout = session.subject, session.layout
    for confirmed in masks.values():
        if confirmed.rule.slug or confirmed.rule.replaces or confirmed.how[1].entries == "added, -1e9 hides":
            continue
        kind = "pairs" if "pairs" in confirmed.kinds else confirmed.kinds[0]
        question = subject.mask_question(layout, kind).but(f"a mask in {precision}", precision=precision)
        response = session.ask(layout, question, confirmed.how)
        wanted = compute(response.case, [_form(session)], right=session.right)[0]
        if response.output is None or wanted is None or not np.isfinite(wanted).all():
            continue
        if np.isnan(response.output).any():
            yield session.finding("mask-float16-overflow", where=((f"a mask in {precision}",), ("float32",)))
            return


def _large_scores(session):
    subject, layout = session.subject, session.layout
    for spread, words in SPREADS:
        question = subject.mask_question(layout, None).but(words, spread=spread)
        response = session.ask(layout, question)
        if response.output is None:
            yield Untested(f"{words} (refused)")
            return False
        wanted = compute(response.case, right=session.right)[0]
        if wanted is None or np.isfinite(response.output).all() or not np.isfinite(wanted).all():
            continue
        for dtype in (np.float32, np.float64):
            for slug, weigh in (("softmax-no-max", _without_maximum), ("softmax-global-max", _global_maximum)):
                form, added = (
                    Form(slug, "softmax", weighed_by(weigh(dtype, empty)), "exp without subtracting the row's maximum")
                    for empty in (0, 1)
                )
                most, least = (compute(response.case, [item], right=session.right)[0] for item in (form, added))
                broken = ~np.isfinite(response.output)
                if most is not None and not (broken & ~np.isnan(most)).any() and not (np.isnan(least) & ~broken).any():
                    yield session.finding(slug, form, where=((words,), ("small scores",)))
                    return True
        yield session.unnamed(f"With {words} it returns NaN or infinity.", "", LIMIT)
        return True
    return False


def _far_below_zero(session, flag_is_understood):
    """Scores of about -1e3 and lower, all of them: whoever compares them with 0 has nothing left."""
    subject, layout = session.subject, session.layout
    if subject.kind != "function":
        return False
    for flag in (False, True) if subject.given.has("is_causal") and flag_is_understood else (False,):
        words = "scores far below 0" + (" and the causal flag" if flag else "")
        question = subject.mask_question(layout, None).but(words, negative=True, n_queries=24, is_causal=flag)
        response = session.ask(layout, question)
        wanted = compute(response.case, [_form(session)] if flag else [], right=session.right)[0]
        if response.output is None or wanted is None or fits(response.output, wanted, 0.02):
            continue
        if flag and session.found_in("hide"):
            continue
        yield session.unnamed(f"With {words} it differs from attention.", "", LIMIT)
        return True
    return False


def _outrun(session, masks, flag_is_understood):
    """A finite number in place of -inf: whether scores of up to a million reach it."""
    subject, layout = session.subject, session.layout
    for confirmed in masks.values():
        if confirmed.rule.slug or confirmed.rule.replaces or confirmed.how[1].entries.startswith("added"):
            continue
        kind = "pairs" if "pairs" in confirmed.kinds else confirmed.kinds[0]
        for spread, size in ((25.0, "1e3"), (250.0, "1e5"), (800.0, "1e6")):
            words = f"a mask beside scores of about {size}"
            question = subject.mask_question(layout, kind).but(words, spread=spread)
            if (yield from _reached(session, session.ask(layout, question, confirmed.how), words)):
                return
    if subject.given.has("is_causal") and flag_is_understood and not session.found_in("hide"):
        for spread, size in ((25.0, "1e3"), (800.0, "1e6")):
            words = f"the causal flag and scores of about {size}"
            question = subject.mask_question(layout, None).but(words, is_causal=True, n_queries=24, spread=spread)
            response = session.ask(layout, question)
            if (yield from _reached(session, response, words)):
                return
            wanted = compute(response.case, [_form(session)], right=session.right)[0]
            if response.output is not None and wanted is not None and not fits(response.output, wanted, 0.02):
                yield session.unnamed(f"With {words} it differs from attention.", "", LIMIT)
                return


def _reached(session, response, words):
    """Whether hidden scores' finite number is above visible scores; it is named where it can be."""
    form = _form(session)
    wanted = compute(response.case, [form], right=session.right)[0]
    if response.output is None or wanted is None or fits(response.output, wanted, 0.02):
        return False
    for rule in RULES:
        if rule.slug != "mask-tiny-number":
            continue
        flag = rule if response.case.is_causal else RIGHT_RULE
        mask = RIGHT_RULE if response.case.is_causal else rule
        altered = _form(session, mask, flag)
        if fits(response.output, compute(response.case, [altered], right=session.right)[0], 0.02):
            number = rule.text.split()[-1]
            severity = DESIGN if number in FITS_FLOAT16 else NOTE if number in FAR else LIMIT
            yield session.finding("mask-tiny-number", altered, where=((words,), ("smaller scores",)), severity=severity)
            return True
    rule = (RIGHT_RULE, RENORMALISED) if response.case.is_causal else (RENORMALISED, RIGHT_RULE)
    if _fits_but_for_nan(response.output, compute(response.case, [_form(session, *rule)], right=session.right)[0]):
        yield Note("Where hidden scores are far above the visible ones, nothing is left of these: 0/0.")
        return True
    return False


def _fits_but_for_nan(given, predicted):
    """NaN or 0 where the prediction is NaN, or nearly so, is no difference."""
    if predicted is None or given.shape != predicted.shape:
        return False
    known = np.isfinite(given) & np.isfinite(predicted)
    return bool(known.any()) and fits(given[known], predicted[known], 0.05)
