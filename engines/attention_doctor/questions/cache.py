"""A cache of keys and values: whether a run in parts gives what the whole run gives."""

import contextlib
import inspect
import typing
from dataclasses import replace
from functools import partial

import numpy as np

from attention_doctor.calls import calling
from attention_doctor.equation.on_the_way import numbers_of
from attention_doctor.equation.stages import compute
from attention_doctor.equation.tracing import furthest_wrong_line
from attention_doctor.forms.masks import ALWAYS_CAUSAL, NOT_CAUSAL
from attention_doctor.questions.lines import read
from attention_doctor.reports.remarks import Untested
from function_judge.compare import fits

TOKENS, FEW = 5, 2


def ask(session):
    """Run the first tokens, then the others with what was kept of the first, and compare with one run."""
    arguments, layout = session.subject.arguments, session.layout
    role = next((role for role in ("past", "use_cache", "start_pos") if arguments.has(role)), None)
    if role is None:
        return
    name = arguments.name_of[role]
    question = session.subject.mask_question(layout, None).but("a cache", n_queries=TOKENS)
    case = session.subject.case(layout, question)
    if layout.loops or case.X is None or case.context is not case.X:
        yield Untested(f"the cache {name}")
        return
    causal = compute(case, right=session.right | {"hide": ALWAYS_CAUSAL})[0]
    wanted = [causal]
    if session.right["hide"] is not ALWAYS_CAUSAL:  # new tokens may also see each other
        wanted.append(compute(case, right=session.right)[0])
    for first in (TOKENS - 1, FEW):
        output = _in_parts(session, role, question, case, first)
        if output is None:
            yield Untested(f"the cache {name} (no cache came back, or it was not taken)")
            return
        if any(fits(output, item[:, first:]) for item in wanted):
            continue
        if role != "past" and _nothing_was_kept(session, case, first, output):
            yield Untested(f"the cache {name} (nothing was kept from one call to the next)")
            return
        corner = compute(_from_the_corner(case, first), right=session.right | {"hide": NOT_CAUSAL})[0][:, first:]
        where = ((f"{TOKENS - first} new token{'s' * (TOKENS - first > 1)} after {first} in the cache",), ("one run",))
        seen = (
            "It is what comes out where the causal mask starts in the upper left corner, so that new tokens don't see "
        )
        seen += "all of the old ones."
        line = _in_parts(session, role, question, case, FEW, last=partial(_line_of, session, case))
        finding = session.finding("cache-differs", where=where, evidence=seen if fits(output, corner) else "")
        yield replace(finding, line=line)
        return


def _nothing_was_kept(session, case, first, output):
    """Whether the later tokens' output is what they give alone."""
    X = case.X[:, first:]
    return fits(output, compute(case.changed(X=X, context=X), right=session.right)[0])


def _from_the_corner(case, first):
    """The whole run in which the new tokens see as many keys as if the first new one were the first of all."""
    allowed = np.tri(TOKENS, dtype=bool)
    allowed[first:] = np.tri(TOKENS - first, TOKENS, dtype=bool)
    return case.changed(allowed=allowed[None, None], is_causal=False)


def _line_of(session, case, call):
    """The line at which the later tokens' call leaves the whole run's equation."""
    numbers = numbers_of(case, right=session.right | {"hide": ALWAYS_CAUSAL})
    return furthest_wrong_line([[(call, numbers)]], read=read, written_in=session.subject.function)


def _in_parts(session, role, question, case, first, last=None):
    """The outputs of the later tokens, or None. What was kept is handed on, or is in the module itself.

    If `last` is given, it is what it returns of the later tokens' call.
    """
    subject, layout = session.subject, session.layout
    settings = {subject.arguments.name_of["use_cache"]: True} if subject.arguments.has("use_cache") else {}
    function, kept = subject.fresh(), _empty(subject) if role == "past" else None
    keeps_itself = kept is not None
    for part in (slice(0, first), slice(first, None)):
        X = case.X[:, part]
        tokens = question.but("a cache", n_queries=X.shape[1], start=part.start)
        arguments = subject.call_arguments(layout, tokens, case.changed(X=X, context=X)) | settings
        if role == "past":
            arguments[subject.arguments.name_of["past"]] = kept
        session.calls += 1
        subject.arguments.note(arguments)
        call = partial(calling.call, function, arguments, subject.to_framework)
        if last is not None and part.stop is None:
            return last(call)
        answer = call()
        if answer.error is not None:
            return None
        if role == "past" and not keeps_itself:
            if not isinstance(answer.returned, tuple) or len(answer.returned) < 2:
                return None
            kept = next((part for part in answer.returned[1:] if part is not None and not _is_weights(part, X)), None)
            if kept is None:
                return None
    output = next((array for array in answer.arrays if array.ndim == 3), None)
    return None if output is None else layout.axes[1](output)


def _empty(subject):
    """An empty cache of the class that the signature names, if it names one that needs nothing; else None."""
    name, hints = subject.arguments.name_of["past"], {}
    function = subject.adapter.signature_of if subject.kind == "module" else subject.function
    with contextlib.suppress(Exception):  # names in quotes may be of modules that aren't there
        hints = typing.get_type_hints(function)
    for named in (hints.get(name), *typing.get_args(hints.get(name))):
        if inspect.isclass(named) and named.__module__ != "builtins" and hasattr(named, "update"):
            with contextlib.suppress(Exception):  # it wants to be told sizes
                return named()
    return None


def _is_weights(part, X):
    array = None if isinstance(part, (tuple, list, dict)) else calling.read(part)
    return array is not None and array.ndim >= 3 and array.shape[-2:] == (X.shape[1], X.shape[1])
