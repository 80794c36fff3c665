"""Calls without a mask: the layout in which they are right, or else the mistakes that explain them."""

import numpy as np

from attention_doctor.equation.stages import RIGHT, compute
from attention_doctor.forms.masks import ALWAYS_CAUSAL
from attention_doctor.questions import named_mistakes, side_effects
from attention_doctor.questions.baseline import Understood, is_a_failure, settled
from attention_doctor.reports.remarks import CannotTell, Untested
from function_judge.compare import equal, fits


def ask(asking):
    """Ask in every layout; return what is Understood, or None."""
    subject, answering, errors = asking.subject, [], []
    fillings = subject.fillings
    for filling in fillings:
        subject.given.filling = filling
        usual = [layout for layout in subject.layouts if layout.usual] if len(fillings) > 1 else subject.layouts
        known = _right_in(asking, usual, mine := [], errors)
        if known is not None:
            return (yield from settled(asking, known))
        answering = answering or [(filling, *one) for one in mine]
    if answering or (len(fillings) > 1 and not errors):
        subject.given.filling = answering[0][0] if answering else fillings[0]
        answering = [one[1:] for one in answering]
        if len(fillings) > 1:
            known = _right_in(asking, subject.layouts, answering := [], errors)
            if known is not None:
                return (yield from settled(asking, known))
    if answering:
        layout, first = answering[0]
        again = asking.hear_again(layout, first.question)
        if again.output is None or equal(first.output, again.output):
            return (yield from named_mistakes.ask(asking, answering))
        yield side_effects.not_repeatable(asking, layout, first.question)
        yield Untested("anything else, as the same call doesn't give the same numbers")
        return Understood(layout, RIGHT, [first], named=False)
    return (yield from _nothing_came(asking, *errors[0]))


def _right_in(asking, layouts, answering, errors):
    """The first layout in which the plain calls are right; the others are added to those that answer or stop."""
    subject = asking.subject
    for layout in layouts:
        heard = asking.hear(layout, subject.plain_questions(layout)[0])
        if heard.output is None:
            errors.append((layout, heard.reply))
            continue
        answering.append((layout, heard))
        if layout.loops and any(other.usual and not other.loops for other, _ in answering):
            continue  # right for one sequence, and silently wrong for a batch
        for right in asking.right_for(heard, layout):
            plain = asking.hear_all(layout, heard)
            if _all_right(plain, right):
                return Understood(layout, right, plain)
    return None


def _all_right(plain, right):
    return all(heard.output is None or _is_right(heard, right) for heard in plain) and not any(map(is_a_failure, plain))


def _is_right(heard, right):
    if fits(heard.output, compute(heard.case, right=right)[0]):
        return True
    if not (heard.question.is_cross and right["hide"] is ALWAYS_CAUSAL):
        return False
    # With more keys than queries the last query may stand beside the last key: the others are those of a cache.
    n_queries, n_keys = heard.question.n_queries, heard.question.keys
    from_the_end = heard.case.changed(allowed=np.tri(n_queries, n_keys, n_keys - n_queries, dtype=bool)[None, None])
    return fits(heard.output, compute(from_the_end, right=right | {"hide": RIGHT["hide"]})[0])


def _nothing_came(asking, layout, reply):
    """No output: a wrong shape can be a finding."""
    if reply.wrong_shape and asking.subject.kind == "function":
        # The weights alone, perhaps, or heads that were not joined.
        question = asking.subject.plain_questions(layout)[0]
        weights = compute(asking.subject.case(layout, question))[1]
        if any(fits(array, weights) for array in reply.others):
            yield asking.finding("returns-weights-only")
        else:
            yield asking.unnamed(f"It returns shapes {reply.wrong_shape}, and none is that of an output.")
        return Understood(layout, RIGHT, [], named=False)
    if reply.wrong_shape is not None:
        yield CannotTell(
            f"It returned shapes {reply.wrong_shape}, and none is that of an output, read as {layout.name}."
        )
    else:
        yield CannotTell(f"It stopped with {type(reply.error).__name__}: {str(reply.error)[:300]}")
    return None
