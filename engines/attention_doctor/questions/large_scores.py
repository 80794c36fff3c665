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


def ask(asking, masks):
    """Ask with large scores, with a mask beside them, and in half precision.

    `masks` is what the masks' asker returned.
    """
    subject, layout = asking.subject, asking.layout
    if any(form.step in ("scores", "softmax") for form in asking.known.forms):
        yield Untested("large scores, as the scores are wrong already")
    elif not (yield from _large_scores(asking)) and not (yield from _far_below_zero(asking, masks[1])):
        yield from _outrun(asking, *masks)
    for precision in subject.precisions:
        question = subject.mask_question(layout, None).but(precision, precision=precision)
        heard = asking.hear(layout, question)
        if heard.output is None:
            why = type(heard.reply.error).__name__ if heard.reply.error is not None else "another shape"
            yield Untested(f"{precision} ({why})")
        elif not np.isfinite(heard.output).all() and np.isfinite(asking.known.plain[0].output).all():
            yield asking.unnamed(f"In {precision} it returns NaN or infinity for ordinary numbers.", "", LIMIT)
        else:
            yield from _mask_in_half_precision(asking, masks[0], precision)


def _mask_in_half_precision(asking, masks, precision):
    """The number that hides may be none in half precision."""
    subject, layout = asking.subject, asking.layout
    for settled in masks.values():
        if settled.rule.slug or settled.rule.replaces or settled.how[1].entries == "added, -1e9 hides":
            continue
        kind = "pairs" if "pairs" in settled.kinds else settled.kinds[0]
        question = subject.mask_question(layout, kind).but(f"a mask in {precision}", precision=precision)
        heard = asking.hear(layout, question, settled.how)
        wanted = compute(heard.case, [_form(asking)], right=asking.right)[0]
        if heard.output is None or wanted is None or not np.isfinite(wanted).all():
            continue
        if np.isnan(heard.output).any():
            yield asking.finding("mask-float16-overflow", where=((f"a mask in {precision}",), ("float32",)))
            return


def _large_scores(asking):
    subject, layout = asking.subject, asking.layout
    for spread, words in SPREADS:
        question = subject.mask_question(layout, None).but(words, spread=spread)
        heard = asking.hear(layout, question)
        if heard.output is None:
            yield Untested(f"{words} (refused)")
            return False
        wanted = compute(heard.case, right=asking.right)[0]
        if wanted is None or np.isfinite(heard.output).all() or not np.isfinite(wanted).all():
            continue
        for dtype in (np.float32, np.float64):
            for slug, weigh in (("softmax-no-max", _without_maximum), ("softmax-global-max", _global_maximum)):
                form, added = (
                    Form(slug, "softmax", weighed_by(weigh(dtype, empty)), "exp without subtracting the row's maximum")
                    for empty in (0, 1)
                )
                most, least = (compute(heard.case, [one], right=asking.right)[0] for one in (form, added))
                broken = ~np.isfinite(heard.output)
                if most is not None and not (broken & ~np.isnan(most)).any() and not (np.isnan(least) & ~broken).any():
                    yield asking.finding(slug, form, where=((words,), ("small scores",)))
                    return True
        yield asking.unnamed(f"With {words} it returns NaN or infinity.", "", LIMIT)
        return True
    return False


def _far_below_zero(asking, flag_is_understood):
    """Scores of about -1e3 and lower, all of them: whoever compares them with 0 has nothing left."""
    subject, layout = asking.subject, asking.layout
    if subject.kind != "function":
        return False
    for flag in (False, True) if subject.given.has("is_causal") and flag_is_understood else (False,):
        words = "scores far below 0" + (" and the causal flag" if flag else "")
        question = subject.mask_question(layout, None).but(words, negative=True, n_queries=24, is_causal=flag)
        heard = asking.hear(layout, question)
        wanted = compute(heard.case, [_form(asking)] if flag else [], right=asking.right)[0]
        if heard.output is None or wanted is None or fits(heard.output, wanted, 0.02):
            continue
        if flag and asking.found_in("hide"):
            continue
        yield asking.unnamed(f"With {words} it differs from attention.", "", LIMIT)
        return True
    return False


def _outrun(asking, masks, flag_is_understood):
    """A finite number in place of -inf: whether scores of up to a million reach it."""
    subject, layout = asking.subject, asking.layout
    for settled in masks.values():
        if settled.rule.slug or settled.rule.replaces or settled.how[1].entries.startswith("added"):
            continue
        kind = "pairs" if "pairs" in settled.kinds else settled.kinds[0]
        for spread, size in ((25.0, "1e3"), (250.0, "1e5"), (800.0, "1e6")):
            words = f"a mask beside scores of about {size}"
            question = subject.mask_question(layout, kind).but(words, spread=spread)
            if (yield from _reached(asking, asking.hear(layout, question, settled.how), words)):
                return
    if subject.given.has("is_causal") and flag_is_understood and not asking.found_in("hide"):
        for spread, size in ((25.0, "1e3"), (800.0, "1e6")):
            words = f"the causal flag and scores of about {size}"
            question = subject.mask_question(layout, None).but(words, is_causal=True, n_queries=24, spread=spread)
            heard = asking.hear(layout, question)
            if (yield from _reached(asking, heard, words)):
                return
            wanted = compute(heard.case, [_form(asking)], right=asking.right)[0]
            if heard.output is not None and wanted is not None and not fits(heard.output, wanted, 0.02):
                yield asking.unnamed(f"With {words} it differs from attention.", "", LIMIT)
                return


def _reached(asking, heard, words):
    """Whether hidden scores' finite number is above visible scores; it is named where it can be."""
    form = _form(asking)
    wanted = compute(heard.case, [form], right=asking.right)[0]
    if heard.output is None or wanted is None or fits(heard.output, wanted, 0.02):
        return False
    for rule in RULES:
        if rule.slug != "mask-tiny-number":
            continue
        flag = rule if heard.case.is_causal else RIGHT_RULE
        mask = RIGHT_RULE if heard.case.is_causal else rule
        altered = _form(asking, mask, flag)
        if fits(heard.output, compute(heard.case, [altered], right=asking.right)[0], 0.02):
            number = rule.text.split()[-1]
            severity = DESIGN if number in FITS_FLOAT16 else NOTE if number in FAR else LIMIT
            yield asking.finding("mask-tiny-number", altered, where=((words,), ("smaller scores",)), severity=severity)
            return True
    rule = (RIGHT_RULE, RENORMALISED) if heard.case.is_causal else (RENORMALISED, RIGHT_RULE)
    if _fits_but_for_nan(heard.output, compute(heard.case, [_form(asking, *rule)], right=asking.right)[0]):
        yield Note("Where hidden scores are far above the visible ones, nothing is left of these: 0/0.")
        return True
    return False


def _fits_but_for_nan(given, predicted):
    """NaN or 0 where the prediction is NaN, or nearly so, is no difference."""
    if predicted is None or given.shape != predicted.shape:
        return False
    known = np.isfinite(given) & np.isfinite(predicted)
    return bool(known.any()) and fits(given[known], predicted[known], 0.05)
