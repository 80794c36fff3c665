"""A mask beside a context: keys that come from another sequence are hidden by it, too."""

from attention_doctor import vocabulary
from attention_doctor.calls import calling
from attention_doctor.equation.stages import RIGHT
from attention_doctor.forms.masks import IGNORED
from attention_doctor.questions.masks_compared import TRAITS, form_with, is_right, is_used
from attention_doctor.readers.signature import plain
from attention_doctor.reports.remarks import CannotTell, Caveat, UntestedMask

FURTHER_KEYS = 2  # than queries


def ask(session, uses):
    """Ask with each mask that is used rightly within one sequence.

    A mask whose name doesn't speak of keys may be one of the tokens that attend, which hides nothing in a context.
    """
    answered = [response.question for response in session.known.plain if response.output is not None]
    if not any(question.is_cross for question in answered) or session.right["hide"] is not RIGHT["hide"]:
        return
    for use in uses:
        if use.rule.slug:
            continue  # that is a finding already
        name, question = use.mask.name, session.subject.mask_question(session.layout, use.telling_kind)
        trait = f"{TRAITS[use.telling_kind]}, and keys from another sequence"
        question = session.subject.fitted(question.but(trait, n_keys=question.n_queries + FURTHER_KEYS))
        response = session.ask(session.layout, question, use.mask)
        if response.output is None:
            why = calling.told(response.reply.error, session.subject.function)
            yield UntestedMask(f"`{name}` with keys from another sequence ({why})")
        elif is_right(session, response):
            continue
        elif not is_used(session, response, IGNORED):
            yield CannotTell(f"With `{name}` and keys from another sequence the numbers are not the equation's.")
        elif vocabulary.OF_KEYS.search(plain(name)):
            yield session.finding("mask-ignored", form_with(session, IGNORED), where=((trait,), ("one sequence",)))
        else:
            yield Caveat(f"`{name}` has no effect on keys from another sequence")
