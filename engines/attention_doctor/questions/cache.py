"""A cache of keys and values: whether a run in parts gives what the whole run gives."""

import contextlib
import inspect
import typing
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from attention_doctor.calls import calling
from attention_doctor.equation.on_the_way import numbers_of
from attention_doctor.equation.stages import Input, compute
from attention_doctor.equation.tracing import furthest_wrong_line
from attention_doctor.equation.trial_inputs import Question
from attention_doctor.forms.masks import ALWAYS_CAUSAL, CAUSAL, NOT_CAUSAL
from attention_doctor.names import NOTE
from attention_doctor.questions.lines import read
from attention_doctor.questions.session import ExamSession
from attention_doctor.readers.layouts import Reply
from attention_doctor.reports.remarks import Untested
from function_judge.compare import fits

TOKENS, FEW = 5, 2
FROM_THE_CORNER = (
    "It is what comes out where the causal mask starts in the upper left corner, so that new tokens don't see all of "
    "the old ones."
)
ONE_A_CALL = "With one new token a call it is right: of several each sees those after it, too."


@dataclass(frozen=True)
class CachedRun:
    """A question that is put in two calls: what was kept of the first is handed on, or is in the module itself.

    Parameters
    ----------
    session : ExamSession
    role : str
        Of the argument by which it is told, such as "past".
    question : Question
    case : Input
        Its numbers, as in one run.
    """

    session: ExamSession
    role: str
    question: Question
    case: Input

    def of(self, case) -> "CachedRun":
        """The same, in other numbers."""
        return replace(self, case=case)

    @property
    def name(self) -> str:
        """The argument's."""
        return self.session.subject.arguments.name_of[self.role]

    def in_parts(self, first, mask=None, last=None):
        """Return the Reply with the later tokens' outputs; or what `last` returns of their call, where it is given.

        Parameters
        ----------
        first : int
            How many tokens the first call gets.
        mask : MaskArgument, optional
            Which argument gets the case's mask: in each call that of all keys until then.
        last : callable, optional
        """
        subject = self.session.subject
        function, kept = subject.fresh(), _empty(subject) if self.role == "past" else None
        hands_on = self.role == "past" and kept is None  # a cache object keeps them itself
        for part in (slice(0, first), slice(first, None)):
            call = self._call(function, part, kept, mask)
            if last is not None and part.stop is None:
                return last(call)
            outcome = call()
            if outcome.error is not None:
                return Reply(error=outcome.error)
            if hands_on and (kept := _cache_in(outcome.returned, self.case.X[:, part])) is None:
                return Reply()
        output = next((array for array in outcome.arrays if array.ndim == 3), None)
        return Reply(None if output is None else self.session.layout.axes[1](output))

    def _call(self, function, part, kept, mask):
        """A call with some tokens, and with what was kept of those before."""
        subject, name_of, X = self.session.subject, self.session.subject.arguments.name_of, self.case.X[:, part]
        case = self.case.changed(X=X, context=X)
        if mask is not None:
            case = case.changed(allowed=case.allowed[..., : part.stop])
        tokens = self.question.but("a cache", n_queries=X.shape[1], start=part.start, mask=mask and "padding")
        arguments = subject.call_arguments(self.session.layout, tokens, case, mask)
        if "use_cache" in name_of:
            arguments[name_of["use_cache"]] = True
        if self.role == "past":
            arguments[name_of["past"]] = kept
        self.session.calls += 1
        subject.arguments.note(arguments)
        return partial(calling.call, function, arguments, subject.to_framework)


def ask(session):
    """Run the first tokens, then the others with what was kept of the first, and compare with one run.

    Returns
    -------
    CachedRun or None
        What runs in parts, and gives what one run gives, at least with one new token a call.
    """
    arguments, layout, role = session.subject.arguments, session.layout, role_in(session.subject)
    if role is None:
        return None
    name = arguments.name_of[role]
    question = session.subject.mask_question(layout, None).but("a cache", n_queries=TOKENS)
    case = session.subject.case(layout, question)
    if layout.loops or case.X is None or case.context is not case.X:
        yield Untested(f"the cache {name}")
        return None
    run = CachedRun(session, role, question, case)
    for first in (TOKENS - 1, FEW):
        remark = _what_is_wrong(run, first)
        if remark is not None:
            yield remark
            is_right_for_one = first == FEW and not getattr(remark, "is_sick", False)
            return run if is_right_for_one else None
    return run


def _what_is_wrong(run, first):
    """A Finding or Untested, where the later tokens don't get what one run gives them; None where they do."""
    output = run.in_parts(first).output
    if output is None:
        return Untested(f"the cache {run.name} (no cache came back, or it was not taken)")
    if any(fits(output, item[:, first:]) for item in _whole_runs(run.session, run.case)):
        return None
    if run.role != "past" and _nothing_was_kept(run.session, run.case, first, output):
        return Untested(f"the cache {run.name} (nothing was kept from one call to the next)")
    return _finding(run, first, output)


def role_in(subject):
    """The role of the argument by which a cache is handed over or told; None where it has none."""
    return next(filter(subject.arguments.has, ("past", "use_cache", "start_pos")), None)


def _whole_runs(session, case):
    """What one run may give: causal attention, or, where nothing says that it is causal, attention to all."""
    causal = compute(case, right=session.right | {"hide": ALWAYS_CAUSAL})[0]
    if session.right["hide"] in CAUSAL:
        return [causal]
    return [causal, compute(case, right=session.right)[0]]  # new tokens may also see each other


def _finding(run, first, output):
    session, case, n_new = run.session, run.case, TOKENS - first
    where = ((f"{n_new} new token{'s' * (n_new > 1)} after {first} in the cache",), ("one run",))
    # Of two or more tokens each may see all of them; where a causal mask begins in the wrong corner, one fails as well.
    if n_new > 1 and fits(output, _with(session, case, first, np.ones((n_new, TOKENS)))):
        return session.finding("cache-differs", where=where, evidence=ONE_A_CALL, severity=NOTE)
    corner = _with(session, case, first, np.tri(n_new, TOKENS))
    line = run.in_parts(FEW, last=partial(_line_of, session, case))
    found = session.finding("cache-differs", where=where, evidence=FROM_THE_CORNER if fits(output, corner) else "")
    return replace(found, line=line)


def _nothing_was_kept(session, case, first, output):
    """Whether the later tokens' output is what they give alone."""
    X = case.X[:, first:]
    return fits(output, compute(case.changed(X=X, context=X), right=session.right)[0])


def _with(session, case, first, seen):
    """What the whole run gives for the new tokens if these are the keys that they see."""
    allowed = np.tri(TOKENS, dtype=bool)
    allowed[first:] = seen
    case = case.changed(allowed=allowed[None, None], is_causal=False)
    return compute(case, right=session.right | {"hide": NOT_CAUSAL})[0][:, first:]


def _line_of(session, case, call):
    """The line at which the later tokens' call leaves the whole run's equation."""
    numbers = numbers_of(case, right=session.right | {"hide": ALWAYS_CAUSAL})
    return furthest_wrong_line([[(call, numbers)]], read=read, written_in=session.subject.function)


def _cache_in(returned, X):
    """What stands behind the output and isn't the weights, which many return, too; None where nothing does."""
    parts = returned[1:] if isinstance(returned, tuple) else ()
    return next((part for part in parts if part is not None and not _is_weights(part, X)), None)


def _empty(subject):
    """An empty cache of the class that the signature names, if it names one that needs nothing; else None.

    Code of Hugging Face's kind writes into the cache that it gets, and returns none.
    """
    name, hints = subject.arguments.name_of["past"], {}
    function = subject.adapter.signature_of if subject.kind == "module" else subject.function
    with contextlib.suppress(Exception):  # names in quotes may be of modules that aren't there
        hints = typing.get_type_hints(function)
    for named in (hints.get(name), *typing.get_args(hints.get(name))):
        if inspect.isclass(named) and named.__module__ != "builtins" and hasattr(named, "update"):
            with contextlib.suppress(Exception):  # it requires sizes
                return named()
    return None


def _is_weights(part, X):
    array = None if isinstance(part, (tuple, list, dict)) else calling.read(part)
    return array is not None and array.ndim >= 3 and array.shape[-2:] == (X.shape[1], X.shape[1])
