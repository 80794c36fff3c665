"""A mask beside a context: keys that come from another sequence are hidden by it, too."""

from attention_doctor import vocabulary
from attention_doctor.calls import calling
from attention_doctor.equation.stages import RIGHT
from attention_doctor.forms.masks import CAUSAL_WITHIN, IGNORED
from attention_doctor.questions.masks_compared import beside_a_context, form_with, is_right, is_used
from attention_doctor.readers.signature import MASKS, plain, role_of, speaks_of_a_context
from attention_doctor.reports.remarks import CannotTell, Caveat, UntestedMask


def ask(session, uses):
    """Ask with each mask that is used rightly within one sequence.

    A mask whose name doesn't speak of keys may be one of the tokens that attend, which hides nothing in a context.
    """
    answered = [response.question for response in session.known.plain if response.output is not None]
    sees_all = session.right["hide"] in (RIGHT["hide"], CAUSAL_WITHIN)
    if not sees_all or not any(question.is_cross for question in answered):
        return
    for use in uses:
        if use.rule.slug:
            continue  # that is a finding already
        name, question = use.mask.name, session.subject.mask_question(session.layout, use.telling_kind)
        question = beside_a_context(session, question)
        response = session.ask(session.layout, question, use.mask)
        if response.output is None:
            why = calling.told(response.reply.error, session.subject.function)
            yield UntestedMask(f"`{name}` with keys from another sequence ({why})")
        elif is_right(session, response):
            continue
        elif not is_used(session, response, IGNORED):
            yield CannotTell(f"With `{name}` and keys from another sequence the numbers are not the equation's.")
        else:
            yield _without_effect(session, name, question)


def _without_effect(session, name, question):
    """What it means that a mask hides no key of another sequence."""
    arguments = session.subject.arguments
    names = (parameter.name for parameter in arguments.parameters if parameter.name != name)
    has_another = any(speaks_of_a_context(other) for other in names if role_of(other) in MASKS)
    if vocabulary.OF_KEYS.search(plain(name)) or (arguments.has("keys") and not has_another):
        where = ((question.trait,), ("one sequence",))
        return session.finding("mask-ignored", form_with(session, IGNORED), where=where)
    if has_another:
        return Caveat(f"`{name}` has no effect on keys from another sequence")
    return CannotTell(f"`{name}` has no effect on keys from another sequence, and no other mask hides any of them.")
