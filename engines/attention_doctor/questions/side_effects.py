"""What one call does to another: what is written into, what is kept, and what is left to chance."""

from attention_doctor import vocabulary
from attention_doctor.calls import calling
from attention_doctor.equation.stages import compute
from attention_doctor.reports.remarks import CannotTell
from function_judge.compare import equal, fits


def ask(session):
    """Whether a call writes into its arguments, and whether the same call gives the same again."""
    known = session.known
    writing = [response.question.trait for response in known.plain if response.reply.changed] + session.changed_by
    if writing:
        yield session.finding("input-changed", where=(tuple(dict.fromkeys(writing)), ()))
    if len(known.plain) > 1:
        yield from _repeats(session, known.plain[0])


def _repeats(session, first):
    """The same call once more, after one with other numbers of the same shape."""
    layout, question = session.layout, first.question
    other = session.ask(layout, question.but("other numbers of the same shape", seed=question.seed + 50))
    again = session.ask_again(layout, question)
    if again.output is not None and not equal(first.output, again.output):
        yield not_repeatable(session, layout, question)
    elif session.known.named and other.output is not None:
        wanted = compute(other.case, right=session.right)[0]
        if not fits(other.output, wanted):
            yield session.unnamed(f"With {other.question.trait} it gives something else than before.")


def not_repeatable(session, layout, question):
    """Chance, or something kept from call to call: with the same seed, chance repeats itself."""
    again, third = (session.ask_again(layout, question).output for _ in range(2))
    seeded = []
    for _ in range(2):
        with calling.seeded():
            seeded.append(session.ask_again(layout, question).output)
    if equal(again, third) or not equal(*seeded):
        return session.finding("not-repeatable")
    source = session.subject.source
    if vocabulary.NOISE.search(source) and not vocabulary.DROPOUT.search(source):
        return CannotTell("It draws random numbers in each call, which may be by design, as in slot attention.")
    return session.finding("dropout-always-on")
