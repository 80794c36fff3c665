"""Calls without a mask: the layout in which they are right, or else the mistakes that explain them."""

import numpy as np

from attention_doctor.equation.stages import RIGHT, compute
from attention_doctor.forms.masks import ALWAYS_CAUSAL
from attention_doctor.questions import named_mistakes, side_effects
from attention_doctor.questions.baseline import Baseline, confirmed, is_a_failure
from attention_doctor.reports.remarks import CannotTell, Untested
from function_judge.compare import equal, fits


def ask(session):
    """Ask in every layout; return the Baseline, or None."""
    subject, answering, errors = session.subject, [], []
    fillings = subject.fillings
    for filling in fillings:
        subject.arguments.filling = filling
        usual = [layout for layout in subject.layouts if layout.usual] if len(fillings) > 1 else subject.layouts
        known = _right_in(session, usual, mine := [], errors)
        if known is not None:
            return (yield from confirmed(session, known))
        answering = answering or [(filling, *item) for item in mine]
    if answering or (len(fillings) > 1 and not errors):
        subject.arguments.filling = answering[0][0] if answering else fillings[0]
        answering = [item[1:] for item in answering]
        if len(fillings) > 1:
            known = _right_in(session, subject.layouts, answering := [], errors)
            if known is not None:
                return (yield from confirmed(session, known))
    if answering:
        layout, first = answering[0]
        again = session.ask_again(layout, first.question)
        if again.output is None or equal(first.output, again.output):
            return (yield from named_mistakes.ask(session, answering))
        yield side_effects.not_repeatable(session, layout, first.question)
        yield Untested("anything else, as the same call doesn't give the same numbers")
        return Baseline(layout, RIGHT, [first], named=False)
    return (yield from _nothing_came(session, *errors[0]))


def _right_in(session, layouts, answering, errors):
    """The first layout in which the plain calls are right; the others are added to those that answer or stop."""
    subject = session.subject
    for layout in layouts:
        response = session.ask(layout, subject.plain_questions(layout)[0])
        if response.output is None:
            errors.append((layout, response.reply))
            continue
        answering.append((layout, response))
        if layout.loops and any(other.usual and not other.loops for other, _ in answering):
            continue  # right for one sequence, and silently wrong for a batch
        for right in session.right_for(response, layout):
            plain = session.ask_plain(layout, response)
            if _all_right(plain, right):
                return Baseline(layout, right, plain)
    return None


def _all_right(plain, right):
    return all(response.output is None or _is_right(response, right) for response in plain) and not any(
        map(is_a_failure, plain)
    )


def _is_right(response, right):
    if fits(response.output, compute(response.case, right=right)[0]):
        return True
    if not (response.question.is_cross and right["hide"] is ALWAYS_CAUSAL):
        return False
    # With more keys than queries the last query may stand beside the last key: the others are those of a cache.
    n_queries, n_keys = response.question.n_queries, response.question.keys
    from_the_end = response.case.changed(allowed=np.tri(n_queries, n_keys, n_keys - n_queries, dtype=bool)[None, None])
    return fits(response.output, compute(from_the_end, right=right | {"hide": RIGHT["hide"]})[0])


def _nothing_came(session, layout, reply):
    """No output: a wrong shape can be a finding."""
    if reply.wrong_shape and session.subject.kind == "function":
        # The weights alone, perhaps, or heads that were not joined.
        question = session.subject.plain_questions(layout)[0]
        weights = compute(session.subject.case(layout, question))[1]
        if any(fits(array, weights) for array in reply.others):
            yield session.finding("returns-weights-only")
        else:
            yield session.unnamed(f"It returns shapes {reply.wrong_shape}, and none is that of an output.")
        return Baseline(layout, RIGHT, [], named=False)
    if reply.wrong_shape is not None:
        yield CannotTell(
            f"It returned shapes {reply.wrong_shape}, and none is that of an output, read as {layout.name}."
        )
    else:
        yield CannotTell(f"It stopped with {type(reply.error).__name__}: {str(reply.error)[:300]}")
    return None
