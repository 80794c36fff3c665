"""What one call does to another: what is written into, what is kept, and what is left to chance."""

import numpy as np

from mha_helpers.doctor import calling
from mha_helpers.doctor.equation import compute, fits


def writes(examination):
    """Whether a call writes into what it is given."""
    writing = [heard.question.trait for heard in examination.plain if heard.reply.changed] + examination.changed_by
    if writing:
        examination.add("input-changed", where=(tuple(dict.fromkeys(writing)), ()))


def repeats(examination):
    """The same call once more, after one with other numbers of the same shape."""
    first, layout = examination.plain[0], examination.layout
    question = first.question
    other = examination.hear(layout, question.but("other numbers of the same shape", seed=question.seed + 50))
    again = examination.hear_again(question)
    if again.output is not None and not same(first.output, again.output):
        not_repeatable(examination, question)
    elif examination.named and other.output is not None:
        wanted = compute(other.case, right=examination.right)[0]
        if not fits(other.output, wanted):
            examination.unnamed(f"With {other.question.trait} it gives something else than before.", "")


def not_repeatable(examination, question):
    """Chance, or something kept from call to call: with the same seed, chance repeats itself."""
    again, third = (examination.hear_again(question).output for _ in range(2))
    seeded = []
    for _ in range(2):
        with calling.seeded():
            seeded.append(examination.hear_again(question).output)
    examination.add("dropout-always-on" if not same(again, third) and same(*seeded) else "not-repeatable")


def same(one, other):
    """Whether two outputs are equal, NaN included."""
    return np.array_equal(one, other, equal_nan=True) or fits(one, other)
