"""Large scores and half precision: whether the numbers stay numbers."""

import numpy as np

from attention_doctor.equation.stages import Form, compute, weighed_by
from attention_doctor.forms.masks import RENORMALISED, RIGHT_RULE, RULES
from attention_doctor.names import DESIGN, LIMIT, NOTE
from attention_doctor.questions.masks_compared import fits_but_for_padding, form_with, predicted
from attention_doctor.reports.remarks import Note, Untested
from function_judge.compare import fits

# What X is multiplied by, for scores of about 1e2, 1e4 and 1e6.
LARGEST = 800.0  # what fails with these scores alone is worth knowing: nobody's are as large
SPREADS = ((8.0, "scores of about 1e2"), (80.0, "scores of about 1e4"), (LARGEST, "scores of about 1e6"))
ROUNDING = 0.02  # the error, as a share of the largest number, that float32 may make with scores of a million

# Finite numbers that code puts in place of a hidden score. BERT, and many after it, chose one that float16 can hold,
# although, in rare cases, a visible score is as low.
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
    """Divide by the sum, or by `instead_of_zero` where the sum is 0: there 0 gives NaN, and 1 gives 0."""
    total = exponentials.sum(-1, keepdims=True)
    return (exponentials / np.where(total == 0, instead_of_zero, total)).astype(np.float64)


def ask(session, masks):
    """Ask with large scores, with a mask beside them, and in half precision.

    Parameters
    ----------
    session : ExamSession
    masks : tuple of dict and bool
        What `masks.ask` returned: the masks whose use is understood, by role, and whether the causal flag is.
    """
    uses, flag_is_understood = masks
    if any(form.step in ("scores", "softmax") for form in session.known.forms):
        yield Untested("large scores, as the scores are wrong already")
    else:
        yield from _in_single_precision(session, uses, flag_is_understood)
    for precision in session.subject.precisions:
        has_flag = flag_is_understood and session.subject.arguments.has("is_causal")
        yield from _half_precision(session, uses, has_flag, precision)


def _in_single_precision(session, uses, flag_is_understood):
    """Ask one thing after the other, and stop at the first that is wrong: the later ones would only repeat it.

    What is only worth knowing ends nothing.
    """
    if (yield from _large_scores(session)) or (yield from _far_below_zero(session, flag_is_understood)):
        return
    yield from _masks_beside_large_scores(session, uses)
    if flag_is_understood and session.subject.arguments.has("is_causal") and not session.found_in("hide"):
        yield from _flag_beside_large_scores(session)


def _half_precision(session, uses, has_flag, precision):
    """Ask whether ordinary numbers stay numbers in half precision, and whether the hiding number overflows there."""
    question = session.subject.mask_question(session.layout, None).but(precision, precision=precision)
    response = session.ask(session.layout, question)
    if response.output is None:
        why = type(response.reply.error).__name__ if response.reply.error is not None else "another shape"
        yield Untested(f"{precision} ({why})")
    elif not np.isfinite(response.output).all() and np.isfinite(session.known.plain[0].output).all():
        yield session.unnamed(f"In {precision} it returns NaN or infinity for ordinary numbers.", "", LIMIT)
    else:
        yield from _hidden_in_half_precision(session, uses, has_flag, precision)


def _hidden_in_half_precision(session, uses, has_flag, precision):
    """Ask whether the number that the code hides with overflows in half precision."""
    asked = [
        (f"a mask in {precision}", use.telling_kind, use.mask, form_with(session, use.rule))
        for use in uses.values()
        # Otherwise its rule is a finding already, or our own -1e9 would overflow.
        if not use.rule.slug and use.mask.format.entries != "added, -1e9 hides"
    ]
    if has_flag:
        asked.append((f"the causal flag in {precision}", None, None, form_with(session)))
    for trait, kind, mask, form in asked:
        question = session.subject.mask_question(session.layout, kind)
        question = question.but(trait, precision=precision, is_causal=kind is None)
        response = session.ask(session.layout, question, mask)
        wanted = predicted(session, response, form)
        if response.output is None or wanted is None:
            continue
        if (np.isnan(response.output) & np.isfinite(wanted)).any():
            yield session.finding("mask-float16-overflow", where=((trait,), ("float32",)))
            return


def _large_scores(session):
    """Ask with larger and larger scores; return whether that is wrong: infinite where attention's output is finite."""
    subject, layout = session.subject, session.layout
    for spread, trait in SPREADS:
        response = session.ask(layout, subject.mask_question(layout, None).but(trait, spread=spread))
        if response.output is None:
            yield Untested(f"{trait} (refused)")
            return False
        wanted = compute(response.case, right=session.right)[0]
        if wanted is None or np.isfinite(response.output).all() or not np.isfinite(wanted).all():
            continue
        if spread == LARGEST:
            yield session.unnamed(f"With {trait} it returns NaN or infinity.", "", NOTE)
            return False
        form = _softmax_that_overflows(session, response)
        if form is None:
            yield session.unnamed(f"With {trait} it returns NaN or infinity.", "", LIMIT)
        else:
            yield session.finding(form.slug, form, where=((trait,), ("small scores",)))
        return True
    return False


def _softmax_that_overflows(session, response):
    """Return the form of the softmax that explains where this output has NaN and infinity; None where none does.

    Code that adds an epsilon to the sum has fewer NaNs. So what is broken in the output must be NaN without the
    epsilon, and what is NaN even with it must be broken in the output.
    """
    broken = ~np.isfinite(response.output)
    for dtype in (np.float32, np.float64):
        for slug, weigh in (("softmax-no-max", _without_maximum), ("softmax-global-max", _global_maximum)):
            form, form_with_epsilon = (
                Form(slug, "softmax", weighed_by(weigh(dtype, divisor)), "exp without subtracting the row's maximum")
                for divisor in (0, 1)
            )
            most_nans, fewest_nans = (predicted(session, response, item) for item in (form, form_with_epsilon))
            if most_nans is None or fewest_nans is None:
                continue
            if not (broken & ~np.isnan(most_nans)).any() and not (np.isnan(fewest_nans) & ~broken).any():
                return form
    return None


def _far_below_zero(session, flag_is_understood):
    """Return whether the output is wrong with all scores near -1e3 or lower, as where 0 is taken for a low score."""
    subject, layout = session.subject, session.layout
    if subject.kind != "function":
        return False
    for flag in (False, True) if subject.arguments.has("is_causal") and flag_is_understood else (False,):
        trait = "scores far below 0" + (" and the causal flag" if flag else "")
        question = subject.mask_question(layout, None).but(trait, negative=True, n_queries=24, is_causal=flag)
        response = session.ask(layout, question)
        wanted = compute(response.case, [form_with(session)] if flag else [], right=session.right)[0]
        if response.output is None or wanted is None or fits(response.output, wanted, ROUNDING):
            continue
        if flag and session.found_in("hide"):
            continue
        yield session.unnamed(f"With {trait} it differs from attention.", "", LIMIT)
        return True
    return False


def _masks_beside_large_scores(session, uses):
    """Ask whether scores of up to a million outweigh a finite number in place of -inf."""
    for use in uses.values():
        if use.rule.slug or use.mask.format.entries.startswith("added"):
            continue  # the numbers of an added mask are our own, not the code's
        question = session.subject.mask_question(session.layout, use.telling_kind)
        yield from _beside_large_scores(session, question, "a mask beside", use)


def _flag_beside_large_scores(session):
    """Ask the same of the causal flag."""
    question = session.subject.mask_question(session.layout, None).but("", is_causal=True, n_queries=24)
    yield from _beside_large_scores(session, question, "the causal flag and")


def _beside_large_scores(session, question, trait, use=None):
    """Ask with larger and larger scores, until something is found."""
    for spread, size in ((25.0, "1e3"), (250.0, "1e5"), (LARGEST, "1e6")):
        asked = question.but(f"{trait} scores of about {size}", spread=spread)
        response = session.ask(session.layout, asked, use and use.mask)
        right = use.rule if use else RIGHT_RULE
        if not _is_about_right(response, predicted(session, response, form_with(session, right))):
            yield _wrong_beside(session, response, NOTE if spread == LARGEST else LIMIT)
            return


def _is_about_right(response, wanted):
    """Whether an output is right except for rounding and padding, or can't be judged at all."""
    output = response.output
    if output is None or wanted is None or fits(output, wanted, ROUNDING):
        return True
    return fits_but_for_padding(response, wanted, ROUNDING)


def _wrong_beside(session, response, severity):
    """What an answer with hidden and large scores shows: below which number visible ones fall, where that is known."""
    trait, is_causal = response.question.trait, response.case.is_causal
    for rule in RULES:
        if rule.slug != "mask-tiny-number":
            continue
        altered = form_with(session, *((RIGHT_RULE, rule) if is_causal else (rule, RIGHT_RULE)))
        if fits(response.output, predicted(session, response, altered), ROUNDING):
            where, severity = ((trait,), ("smaller scores",)), _severity_of(rule.text.split()[-1])
            return session.finding("mask-tiny-number", altered, where=where, severity=severity)
    renormalised = form_with(session, *((RIGHT_RULE, RENORMALISED) if is_causal else (RENORMALISED, RIGHT_RULE)))
    if _fits_but_for_nan(response.output, predicted(session, response, renormalised)):
        return Note("Where hidden scores are far above the visible ones, nothing is left of these: 0/0.")
    return session.unnamed(f"With {trait} it differs from attention.", "", severity)


def _severity_of(number):
    """How bad it is to hide by this number."""
    if number in FITS_FLOAT16:
        return DESIGN
    return NOTE if number in BELOW_ANY_SCORE else LIMIT


def _fits_but_for_nan(output, wanted):
    """Return whether two outputs agree wherever both are finite; False if that is nowhere."""
    if wanted is None or output.shape != wanted.shape:
        return False
    both_finite = np.isfinite(output) & np.isfinite(wanted)
    return bool(both_finite.any()) and fits(output[both_finite], wanted[both_finite], 0.05)
