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
FROM_THE_CORNER = (
    "It is what comes out where the causal mask starts in the upper left corner, so that new tokens don't see all of "
    "the old ones."
)


def ask(session):
    """Run the first tokens, then the others with what was kept of the first, and compare with one run."""
    arguments, layout = session.subject.arguments, session.layout
    role = next(filter(arguments.has, ("past", "use_cache", "start_pos")), None)
    if role is None:
        return
    name = arguments.name_of[role]
    question = session.subject.mask_question(layout, None).but("a cache", n_queries=TOKENS)
    case = session.subject.case(layout, question)
    if layout.loops or case.X is None or case.context is not case.X:
        yield Untested(f"the cache {name}")
        return
    wanted = _whole_runs(session, case)
    for first in (TOKENS - 1, FEW):
        output = _in_parts(session, role, question, case, first)
        if output is not None and any(fits(output, item[:, first:]) for item in wanted):
            continue
        if output is None:
            yield Untested(f"the cache {name} (no cache came back, or it was not taken)")
        elif role != "past" and _nothing_was_kept(session, case, first, output):
            yield Untested(f"the cache {name} (nothing was kept from one call to the next)")
        else:
            yield _finding(session, role, question, case, first, output)
        return


def _whole_runs(session, case):
    """What one run may give: causal attention, or, where nothing says that it is causal, attention to all."""
    causal = compute(case, right=session.right | {"hide": ALWAYS_CAUSAL})[0]
    if session.right["hide"] is ALWAYS_CAUSAL:
        return [causal]
    return [causal, compute(case, right=session.right)[0]]  # new tokens may also see each other


def _finding(session, role, question, case, first, output):
    n_new = TOKENS - first
    corner = compute(_from_the_corner(case, first), right=session.right | {"hide": NOT_CAUSAL})[0][:, first:]
    evidence = FROM_THE_CORNER if fits(output, corner) else ""
    where = ((f"{n_new} new token{'s' * (n_new > 1)} after {first} in the cache",), ("one run",))
    line = _in_parts(session, role, question, case, FEW, last=partial(_line_of, session, case))
    return replace(session.finding("cache-differs", where=where, evidence=evidence), line=line)


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
    subject = session.subject
    function, kept = subject.fresh(), _empty(subject) if role == "past" else None
    hands_on = role == "past" and kept is None  # a cache object keeps them itself
    for part in (slice(0, first), slice(first, None)):
        X = case.X[:, part]
        call = _call_with_cache(session, function, role, question, case.changed(X=X, context=X), part.start, kept)
        if last is not None and part.stop is None:
            return last(call)
        outcome = call()
        if outcome.error is not None:
            return None
        if hands_on and (kept := _cache_in(outcome.returned, X)) is None:
            return None
    output = next((array for array in outcome.arrays if array.ndim == 3), None)
    return None if output is None else session.layout.axes[1](output)


def _call_with_cache(session, function, role, question, case, start, kept):
    """A call with some tokens, and with what was kept of those before."""
    subject, name_of = session.subject, session.subject.arguments.name_of
    tokens = question.but("a cache", n_queries=case.X.shape[1], start=start)
    arguments = subject.call_arguments(session.layout, tokens, case)
    if "use_cache" in name_of:
        arguments[name_of["use_cache"]] = True
    if role == "past":
        arguments[name_of["past"]] = kept
    session.calls += 1
    subject.arguments.note(arguments)
    return partial(calling.call, function, arguments, subject.to_framework)


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
