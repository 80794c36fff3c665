"""A mask beside a cache: a hidden key that is kept from an earlier call stays hidden."""

import numpy as np

from attention_doctor.calls import calling
from attention_doctor.equation.stages import compute
from attention_doctor.questions import cache
from attention_doctor.questions.masks_compared import form_with
from attention_doctor.reports.remarks import CannotTell, UntestedMask
from function_judge.compare import fits

EARLY = 1  # a key of the first call; lengths hide the last keys alone


def ask(session, run, uses):
    """Ask for one new token with each mask that is used rightly in one run.

    Parameters
    ----------
    session : ExamSession
    run : CachedRun or None
        None where the cache by itself is not right, or could not be tested.
    uses : iterable of MaskUse
    """
    if run is None:
        role = cache.role_in(session.subject)
        names = ", ".join(f"`{use.mask.name}`" for use in uses if role)
        if names:
            yield UntestedMask(f"{names} beside the cache `{session.subject.arguments.name_of[role]}`")
        return
    n_tokens = run.question.n_queries
    for use in uses:
        if use.rule.slug:
            continue  # that is a finding already
        names = f"`{use.mask.name}` beside the cache `{run.name}`"
        hidden = n_tokens - 1 if use.mask.format.entries == "lengths" else EARLY
        masked = run.of(run.case.changed(allowed=(np.arange(n_tokens) != hidden)[None, None, None]))
        reply = masked.in_parts(n_tokens - 1, use.mask)
        if reply.output is None:
            yield UntestedMask(f"{names} ({calling.told(reply.error, session.subject.function)})")
        else:
            yield from _compared(session, names, use, masked.case, reply.output)


def _compared(session, names, use, case, output):
    def is_the_last_of(case):
        return fits(output, compute(case, [form_with(session, use.rule)], right=session.right)[0][:, -1:])

    if is_the_last_of(case):
        return
    if is_the_last_of(case.changed(allowed=None)):
        where = (("a mask and a cache",), ("either alone",))
        yield session.finding("mask-lost-with-cache", where=where, evidence=f"{names} isn't used.")
        return
    yield CannotTell(f"With {names} the numbers are not the equation's, with either alone they are.")
