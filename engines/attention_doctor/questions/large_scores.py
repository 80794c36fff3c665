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


# Numbers that hide a score by being low. BERT, and many after it, chose one that float16 can hold, though a score as
# low is possible, if rare.
FITS_FLOAT16 = ("−10000", "−65504", "−65500", "−50000")
BELOW_ANY_SCORE = ("−1e6", "−1e+06", "−100000", "−9999", "−1e5")  # lower than any score in practice


def _without_maximum(dtype, instead_of_zero):
    def weigh(scores):
        return _over_their_sum(np.exp(scores.astype(dtype)), instead_of_zero)

    return weigh


def _global_maximum(dtype, instead_of_zero):
    def weigh(scores):
        return _over_their_sum(np.exp((scores - scores.max()).astype(dtype)), instead_of_zero)

    return weigh


def _over_their_sum(exponentials, instead_of_zero):
    """Divide by the sum, or by `instead_of_zero` where the sum is 0: with 0 that gives NaN, with 1 it gives 0."""
    total = exponentials.sum(-1, keepdims=True)
    return (exponentials / np.where(total == 0, instead_of_zero, total)).astype(np.float64)


def ask(session, masks):
    """Ask with large scores, with a mask beside them, and in half precision.

    Parameters
    ----------
    session : Session
    masks : tuple of dict and bool
        What `masks.ask` returned: the masks whose use is understood, by role, and whether the causal flag is.
    """
    subject, layout = session.subject, session.layout
    confirmed_masks, flag_is_understood = masks
    if any(form.step in ("scores", "softmax") for form in session.known.forms):
        yield Untested("large scores, as the scores are wrong already")
    elif not (yield from _large_scores(session)) and not (yield from _far_below_zero(session, flag_is_understood)):
        yield from _large_scores_with_masks(session, confirmed_masks, flag_is_understood)
    for precision in subject.precisions:
        question = subject.mask_question(layout, None).but(precision, precision=precision)
        response = session.ask(layout, question)
        if response.output is None:
            why = type(response.reply.error).__name__ if response.reply.error is not None else "another shape"
            yield Untested(f"{precision} ({why})")
        elif not np.isfinite(response.output).all() and np.isfinite(session.known.plain[0].output).all():
            yield session.unnamed(f"In {precision} it returns NaN or infinity for ordinary numbers.", "", LIMIT)
        else:
            yield from _mask_in_half_precision(session, confirmed_masks, precision)


def _mask_in_half_precision(session, masks, precision):
    """Ask whether the number that the code hides with overflows in half precision."""
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
    """Ask with larger and larger scores; return whether the output stops being finite where attention's is finite."""
    subject, layout = session.subject, session.layout
    for spread, trait in SPREADS:
        question = subject.mask_question(layout, None).but(trait, spread=spread)
        response = session.ask(layout, question)
        if response.output is None:
            yield Untested(f"{trait} (refused)")
            return False
        wanted = compute(response.case, right=session.right)[0]
        if wanted is None or np.isfinite(response.output).all() or not np.isfinite(wanted).all():
            continue
        for dtype in (np.float32, np.float64):
            for slug, weigh in (("softmax-no-max", _without_maximum), ("softmax-global-max", _global_maximum)):
                # Code that adds something small to the sum has fewer NaNs: what is seen lies between the two forms.
                text = "exp without subtracting the row's maximum"
                form, form_with_epsilon = (
                    Form(slug, "softmax", weighed_by(weigh(dtype, divisor)), text) for divisor in (0, 1)
                )
                most_nans, fewest_nans = (
                    compute(response.case, [item], right=session.right)[0] for item in (form, form_with_epsilon)
                )
                broken = ~np.isfinite(response.output)
                if (
                    most_nans is not None
                    and not (broken & ~np.isnan(most_nans)).any()
                    and not (np.isnan(fewest_nans) & ~broken).any()
                ):
                    yield session.finding(slug, form, where=((trait,), ("small scores",)))
                    return True
        yield session.unnamed(f"With {trait} it returns NaN or infinity.", "", LIMIT)
        return True
    return False


def _far_below_zero(session, flag_is_understood):
    """Ask with all scores at about -1e3 or lower, which breaks code that takes 0 for a low score; return whether."""
    subject, layout = session.subject, session.layout
    if subject.kind != "function":
        return False
    for flag in (False, True) if subject.arguments.has("is_causal") and flag_is_understood else (False,):
        trait = "scores far below 0" + (" and the causal flag" if flag else "")
        question = subject.mask_question(layout, None).but(trait, negative=True, n_queries=24, is_causal=flag)
        response = session.ask(layout, question)
        wanted = compute(response.case, [_form(session)] if flag else [], right=session.right)[0]
        if response.output is None or wanted is None or fits(response.output, wanted, 0.02):
            continue
        if flag and session.found_in("hide"):
            continue
        yield session.unnamed(f"With {trait} it differs from attention.", "", LIMIT)
        return True
    return False


def _large_scores_with_masks(session, masks, flag_is_understood):
    """Ask whether scores of up to a million outweigh a finite number that stands for -inf."""
    subject, layout = session.subject, session.layout
    for confirmed in masks.values():
        if confirmed.rule.slug or confirmed.rule.replaces or confirmed.how[1].entries.startswith("added"):
            continue
        kind = "pairs" if "pairs" in confirmed.kinds else confirmed.kinds[0]
        for spread, size in ((25.0, "1e3"), (250.0, "1e5"), (800.0, "1e6")):
            trait = f"a mask beside scores of about {size}"
            question = subject.mask_question(layout, kind).but(trait, spread=spread)
            if (yield from _below_hidden_scores(session, session.ask(layout, question, confirmed.how), trait)):
                return
    if subject.arguments.has("is_causal") and flag_is_understood and not session.found_in("hide"):
        for spread, size in ((25.0, "1e3"), (800.0, "1e6")):
            trait = f"the causal flag and scores of about {size}"
            question = subject.mask_question(layout, None).but(trait, is_causal=True, n_queries=24, spread=spread)
            response = session.ask(layout, question)
            if (yield from _below_hidden_scores(session, response, trait)):
                return
            wanted = compute(response.case, [_form(session)], right=session.right)[0]
            if response.output is not None and wanted is not None and not fits(response.output, wanted, 0.02):
                yield session.unnamed(f"With {trait} it differs from attention.", "", LIMIT)
                return


def _below_hidden_scores(session, response, trait):
    """Return whether visible scores fall below the number that hidden ones get; yield which number, where known."""
    form = _form(session)
    wanted = compute(response.case, [form], right=session.right)[0]
    if response.output is None or wanted is None or fits(response.output, wanted, 0.02):
        return False
    for rule in RULES:
        if rule.slug != "mask-tiny-number":
            continue
        flag_rule = rule if response.case.is_causal else RIGHT_RULE
        mask_rule = RIGHT_RULE if response.case.is_causal else rule
        altered = _form(session, mask_rule, flag_rule)
        if fits(response.output, compute(response.case, [altered], right=session.right)[0], 0.02):
            number = rule.text.split()[-1]
            severity = DESIGN if number in FITS_FLOAT16 else NOTE if number in BELOW_ANY_SCORE else LIMIT
            yield session.finding("mask-tiny-number", altered, where=((trait,), ("smaller scores",)), severity=severity)
            return True
    rules = (RIGHT_RULE, RENORMALISED) if response.case.is_causal else (RENORMALISED, RIGHT_RULE)
    if _fits_but_for_nan(response.output, compute(response.case, [_form(session, *rules)], right=session.right)[0]):
        yield Note("Where hidden scores are far above the visible ones, nothing is left of these: 0/0.")
        return True
    return False


def _fits_but_for_nan(given, predicted):
    """Return whether two outputs agree wherever both are finite, which they must be somewhere."""
    if predicted is None or given.shape != predicted.shape:
        return False
    both_finite = np.isfinite(given) & np.isfinite(predicted)
    return bool(both_finite.any()) and fits(given[both_finite], predicted[both_finite], 0.05)
