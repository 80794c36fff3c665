"""Calls without a mask: the layout in which they are right, or else the mistakes that explain them."""

import numpy as np

from attention_doctor.calls import calling
from attention_doctor.equation.stages import RIGHT, compute
from attention_doctor.forms.masks import ALWAYS_CAUSAL, CAUSAL_WITHIN
from attention_doctor.questions import named_mistakes, side_effects
from attention_doctor.questions.baseline import Baseline, confirmed, is_a_failure
from attention_doctor.reports.remarks import CannotTell, Untested
from function_judge.compare import equal, fits


def ask(session):
    """Ask in every layout; return the Baseline, or None."""
    tried = _Tried(session)
    known = tried.find_right()
    if known is not None and not known.named:
        yield CannotTell("Beside keys from another sequence it attends to its own tokens, too; masks can't be told so.")
        return known
    if known is not None:
        return (yield from confirmed(session, known))
    if not tried.answering:
        return (yield from _nothing_came(session, tried.errors))
    layout, first = tried.answering[0]
    again = session.ask_again(layout, first.question)
    if again.output is None or equal(first.output, again.output):
        return (yield from named_mistakes.ask(session, tried.answering))
    yield side_effects.not_repeatable(session, layout, first.question)
    yield Untested("anything else, as the same call doesn't give the same numbers")
    return Baseline(layout, RIGHT, [first], named=False)


class _Tried:
    """The layouts that were tried: those that answer, each with its first response, and the errors of the others."""

    def __init__(self, session):
        self.session, self.subject = session, session.subject
        self.answering, self.errors = [], []

    def find_right(self):
        """The Baseline of the first layout in which the plain calls are right, or None."""
        fillings = self.subject.fillings
        if len(fillings) > 1:
            return self._find_right_with(fillings)
        self.subject.arguments.filling = fillings[0]
        return self._right_in(self.subject.layouts)

    def _find_right_with(self, fillings):
        """Where required arguments can be filled in several ways, try each in the usual layouts alone.

        Each has its calls. Then the first that has got an answer, if any, is tried in all layouts.
        """
        arguments, first_answering = self.subject.arguments, None
        for filling in fillings:
            arguments.filling, self.answering = filling, []
            known = self._right_in([layout for layout in self.subject.layouts if layout.usual])
            if known is not None:
                return known
            if self.answering and first_answering is None:
                first_answering = filling
        if first_answering is None and self.errors:
            return None
        arguments.filling, self.answering = first_answering or fillings[0], []
        return self._right_in(self.subject.layouts)

    def _right_in(self, layouts):
        """The Baseline of the first layout in which the plain calls are right, or None."""
        for layout in layouts:
            response = self.session.ask(layout, self.subject.plain_questions(layout)[0])
            if response.output is None:
                self.errors.append((layout, response.reply))
                continue
            self.answering.append((layout, response))
            if layout.loops and any(other.usual and not other.loops for other, _ in self.answering):
                continue  # right for one sequence, and silently wrong for a batch
            for right in self.session.right_for(response, layout):
                plain = self.session.ask_plain(layout, response)
                within = [right | {"hide": CAUSAL_WITHIN}] if right["hide"] is ALWAYS_CAUSAL else []
                for way in (right, *within):
                    if _all_right(plain, way):
                        return Baseline(layout, way, plain)
                if _sees_its_own_too(plain, right):
                    return Baseline(layout, right, plain, named=False)
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


def _sees_its_own_too(plain, right):
    """Whether a token attends to its own sequence beside a context, as latent vectors may, and else all is right."""
    cross = [response for response in plain if response.question.is_cross and response.output is not None]
    if not cross or not _all_right([response for response in plain if response not in cross], right):
        return False
    for response in cross:
        case = response.case
        if case.context is None or case.context.shape[-1] != case.X.shape[-1]:
            return False
        both = np.concatenate([case.X, case.context], axis=1)
        if not fits(response.output, compute(case.changed(context=both), right=right)[0]):
            return False
    return True


def _nothing_came(session, errors):
    """No output: a wrong shape can be a finding."""
    layout, reply = errors[0]
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
        subject = session.subject
        raised = [reply.error for _, reply in errors if reply.error is not None]
        why = calling.told(calling.first_real(raised), subject.function)
        yield CannotTell(f"{why[0].upper()}{why[1:]}. {subject.arguments.guesses}".strip())
    return None
