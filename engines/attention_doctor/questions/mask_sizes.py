"""A mask that is used rightly in one size, in others: where sizes coincide, and where there are many keys."""

from attention_doctor.forms.masks import COINCIDING
from attention_doctor.questions.masks_compared import LONG, TRAITS, first_difference, form_with, is_used, rules_for


def ask(session, role, use):
    """Where sizes coincide, a mask may broadcast along the wrong axis; and there may be more keys than in a block.

    Asked only of code that is right so far: another mistake would show again.
    """
    if session.layout.loops or any(finding.is_sick for finding in session.findings):
        return
    for kind in _kinds(role, use):
        for question in _questions(session, kind):
            response = session.ask(session.layout, question, use.mask)
            if response.output is not None and not is_used(session, response, use.rule):
                yield _finding(session, response, use)
                return


def _kinds(role, use):
    if role in ("padding", "lengths"):
        return ("padding",)
    if role == "bias":  # it may be the same for all samples, and differ by head
        return tuple(kind for kind in ("padding", "pairs") if kind in use.kinds)
    return ("padding", "pairs")


def _questions(session, kind):
    subject = session.subject
    question, n_heads = subject.mask_question(session.layout, kind), subject.n_heads_in(session.layout)
    n_tokens = question.n_queries
    sizes = [(n_tokens, n_tokens, "as many samples as tokens"), (2, LONG, f"{LONG} tokens")]
    if n_heads > 1:
        sizes.insert(0, (n_heads, n_tokens, "as many samples as heads"))
    for batch, n_queries, words in sizes:
        yield subject.fitted(question.but(f"{TRAITS[kind]}, {words}", batch=batch, n_queries=n_queries))


def _finding(session, response, use):
    trait = response.question.trait
    _, rules = rules_for(session, COINCIDING, [response])
    if rules:
        where = ((trait,), ("other numbers of samples",))
        return session.finding(rules[0].slug, form_with(session, rules[0]), where=where)
    return session.unnamed(
        f"With {trait}, it differs from attention, and no known mistake explains it.",
        first_difference(session, response, use.mask.name, use.mask.format),
    )
