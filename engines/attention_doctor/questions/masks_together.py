"""Two masks in one call: a key must be allowed by both."""

import itertools

from attention_doctor.calls import calling
from attention_doctor.forms.masks import IGNORED, REPLACING, RIGHT_RULE
from attention_doctor.questions.masks_compared import TRAITS, fits_but_for_padding, form_with, predicted
from attention_doctor.reports.remarks import UntestedMask
from function_judge.compare import fits


def ask(session, uses):
    """Ask every two masks together that are right, each alone."""
    for first, second in itertools.combinations(uses.values(), 2):
        if first.rule.slug or second.rule.slug:
            continue  # that is a finding already
        if session.is_out_of_calls:
            yield UntestedMask(f"{_names(first, second)}, as {session.calls} calls were made already")
            continue
        yield from _ask_both(session, first, second)


def _ask_both(session, first, second):
    kinds = first.telling_kind, second.telling_kind
    question = session.subject.mask_question(session.layout, kinds[0])
    question = question.but(f"{TRAITS[kinds[0]]}, and {TRAITS[kinds[1]]} beside it", second_mask=kinds[1])
    response = session.ask(session.layout, question, first.mask._replace(beside=second.mask))
    if response.output is None:
        yield UntestedMask(f"{_names(first, second)} ({calling.told(response.reply.error, session.subject.function)})")
        return
    allowed, further = response.case.allowed, response.case.second_allowed
    rule = REPLACING if first.rule.replaces or second.rule.replaces else RIGHT_RULE

    def would_be(allowed, rule=rule):
        return predicted(session, response.of(allowed), form_with(session, rule))

    wanted = would_be(allowed & further)
    if fits(response.output, wanted) or fits_but_for_padding(response, wanted):
        return
    where = ((question.trait,), ("either alone",))
    for name, output, evidence in (
        ("mask-lost-with-mask", would_be(allowed), f"`{second.mask.name}` isn't used beside `{first.mask.name}`."),
        ("mask-lost-with-mask", would_be(further), f"`{first.mask.name}` isn't used beside `{second.mask.name}`."),
        ("mask-lost-with-mask", would_be(allowed, IGNORED), f"Given together, neither of {_names(first, second)} is."),
        ("masks-joined-with-or", would_be(allowed | further), f"A key is seen where one of {_names(first, second)}."),
    ):
        if fits(response.output, output):
            yield session.finding(name, where=where, evidence=evidence)
            return
    yield session.unnamed(
        f"With {_names(first, second)} it differs from attention, though with either alone it doesn't."
    )


def _names(first, second):
    return f"`{first.mask.name}` and `{second.mask.name}` together"
