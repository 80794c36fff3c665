"""What one call does to another: what is written into, what is kept, and what is left to chance."""

from attention_doctor.calls import calling
from attention_doctor.equation.stages import compute
from function_judge.compare import equal, fits


def ask(asking):
    """Whether a call writes into what it is given, and whether the same call gives the same again."""
    known = asking.known
    writing = [heard.question.trait for heard in known.plain if heard.reply.changed] + asking.changed_by
    if writing:
        yield asking.finding("input-changed", where=(tuple(dict.fromkeys(writing)), ()))
    if len(known.plain) > 1:
        yield from _repeats(asking, known.plain[0])


def _repeats(asking, first):
    """The same call once more, after one with other numbers of the same shape."""
    layout, question = asking.layout, first.question
    other = asking.hear(layout, question.but("other numbers of the same shape", seed=question.seed + 50))
    again = asking.hear_again(layout, question)
    if again.output is not None and not equal(first.output, again.output):
        yield not_repeatable(asking, layout, question)
    elif asking.known.named and other.output is not None:
        wanted = compute(other.case, right=asking.right)[0]
        if not fits(other.output, wanted):
            yield asking.unnamed(f"With {other.question.trait} it gives something else than before.")


def not_repeatable(asking, layout, question):
    """Chance, or something kept from call to call: with the same seed, chance repeats itself."""
    again, third = (asking.hear_again(layout, question).output for _ in range(2))
    seeded = []
    for _ in range(2):
        with calling.seeded():
            seeded.append(asking.hear_again(layout, question).output)
    return asking.finding("dropout-always-on" if not equal(again, third) and equal(*seeded) else "not-repeatable")
