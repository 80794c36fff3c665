"""What only functions are asked: whether the output comes first, as is agreed on, and which heads share one."""

from attention_doctor.equation.stages import compute
from attention_doctor.questions import shared_heads
from function_judge.compare import fits


def ask(session):
    """Ask for the place of the output among what comes back, and for fewer heads of keys and values."""
    subject, plain = session.subject, session.known.plain
    first = plain[0] if plain else None
    if subject.output_place and first and first.output is not None:
        weights = compute(first.case, right=session.right)[1]
        if any(fits(array, weights) for array in first.reply.others[: subject.output_place]):
            yield session.finding("returns-swapped")
    if not subject.has_tokens and session.layout.heads and not session.layout.joined:
        yield from shared_heads.ask(session, subject.put)
