"""What can be said of an output that no equation explains: where it first shows, and which properties fail.

The same questions are put to a callable of which nothing is known inside.
"""

from dataclasses import dataclass, replace

import numpy as np

from attention_doctor.equation.stages import compute
from attention_doctor.equation.trial_inputs import MAIN
from function_judge.compare import differing, equal, first_difference, fits
from function_judge.properties import batch_mixed, not_finite

NEGLIGIBLE = 1e-4  # what rounding may move, as a share of the largest number
# (batch, tokens, heads), from the smallest on: a person can compute such an input by hand.
SMALLEST = ((1, 1, 1), (1, 2, 1), (1, 1, 2), (1, 2, 2), (2, 2, 1), (2, 2, 2), (2, 3, 2))


@dataclass(frozen=True)
class Shown:
    text: str
    broken: tuple = ()  # names of the properties that fail
    leaks: bool = False
    properties: str = ""  # in words


def of(session, known, right):
    """The smallest input on which it shows, the first entry that differs, and the properties that fail."""
    subject, layout = session.subject, known.layout
    small = (
        session.ask(
            layout,
            replace(MAIN, trait="small", batch=batch, n_queries=tokens, n_heads=heads, d_head=2 if heads > 1 else 3),
        )
        for batch, tokens, heads in SMALLEST
        if heads == 1 or layout.heads
    )
    text = next(filter(None, (_difference(response, right) for item in (small, known.plain) for response in item)), "")
    broken = properties(lambda X: subject.answer_for(layout, X))
    names, message = (tuple(part) for part in zip(*broken, strict=True)) if broken else ((), ())
    leaks = bool({"batch-mixed", "partly-causal"} & set(names))
    return Shown(" ".join(filter(None, (text, *message))), names, leaks, " ".join(message))


def _difference(response, right):
    """The first entry in which an answer differs from the equation's, if it does."""
    wanted = compute(response.case, right=right)[0]
    if (
        response.output is None
        or wanted is None
        or wanted.shape != response.output.shape
        or fits(response.output, wanted)
    ):
        return ""
    sizes = (response.question.batch, "sample"), (response.question.n_queries, "token"), (response.case.n_heads, "head")
    listed = ", ".join(f"{size} {noun}{'s' * (size != 1)}" for size, noun in sizes)
    seen = first_difference("output", response.output, wanted, differing(response.output, wanted))
    return f"Smallest input that shows it: {listed}. {seen}"


def properties(attend):
    """Name what must hold of any attention and does not, of a callable from (batch, tokens, features) to outputs.

    Parameters
    ----------
    attend : callable
        From token vectors, or from None for vectors of its own, to them and the outputs; or to None.

    Returns
    -------
    list of (str, str)
        A name, and a sentence. Empty where nothing is wrong, or nothing could be asked.
    """
    probe = attend(None)
    if probe is None or probe[1] is None:
        return []
    X, before = probe

    def call(X):
        output = attend(X)[1]
        return None if output is None else (output,)

    if broken := not_finite(call, {"X": X}, (before,)):
        return [("not-finite", broken[0])]
    again = call(X)
    if again is None or not equal(again[0], before):
        return [("not-repeatable", "The same call gives other numbers the second time.")]
    mixed = batch_mixed("X")(call, {"X": X}, (before,))
    return [("batch-mixed", mixed)] * bool(mixed) + _without_influence(_influence(attend, X, before))


def _without_influence(sees):
    """What is wrong with which output (row) changes with which token (column), if that is known.

    Attention sees all tokens, or all that came before; with fewer than three the two can hardly be told apart.
    """
    if sees is None or len(sees) < 3 or sees.all():
        return []
    i, j = np.argwhere(~sees)[0]
    ahead = sees[np.triu_indices_from(sees, 1)]
    if ahead.all():
        return [("deaf", f"Output {i} does not depend on token {j}.")]
    if ahead.any():
        return [("partly-causal", f"Output {i} does not depend on token {j}, though others look ahead.")]
    if not np.diag(sees).all():
        return [("deaf", "A token's output does not change with the token itself.")]
    return []


def _influence(attend, X, before):
    """Which output (row) changes with which token (column), or None where that can't be told."""
    rng = np.random.default_rng(5)
    sees = np.zeros((X.shape[1], X.shape[1]), bool)
    rounding = NEGLIGIBLE * max(np.abs(before).max(), 1e-3)
    for token in range(X.shape[1]):
        changed = X.copy()
        changed[:, token] += rng.uniform(0.5, 1.5, X.shape[2])
        output = attend(changed)[1]
        if output is None or output.shape[:2] != X.shape[:2]:
            return None
        sees[:, token] = np.abs(output - before).max(axis=(0, 2)) > rounding
    return sees
