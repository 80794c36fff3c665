"""What can be said of an output that no equation explains: where it first shows, and which properties fail.

The same questions are put to a callable of which nothing is known inside.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..judge.stages import compute, fits
from .questions import MAIN

NOTHING = 1e-4  # what rounding may move


@dataclass(frozen=True)
class Shown:
    text: str
    broken: tuple = ()  # names of the properties that fail
    leaks: bool = False
    properties: str = ""  # what is said of them


def of(asking, known, right):
    """The smallest input on which it shows, the first entry that differs, and the properties that fail."""
    subject, layout = asking.subject, known.layout
    small = None
    for batch, tokens, heads in ((1, 1, 1), (1, 2, 1), (1, 1, 2), (1, 2, 2), (2, 2, 1), (2, 2, 2), (2, 3, 2)):
        question = replace(
            MAIN, trait="small", batch=batch, n_queries=tokens, n_heads=heads, d_head=2 if heads > 1 else 3
        )
        if heads > 1 and not layout.heads:
            continue
        heard = asking.hear(layout, question)
        if heard.output is not None and not fits(heard.output, compute(heard.case, right=right)[0]):
            small = heard
            break
    if small is None:
        small = next(
            (h for h in known.plain if h.output is not None and not fits(h.output, compute(h.case, right=right)[0])),
            None,
        )
    sentences = []
    if small is not None:
        wanted = compute(small.case, right=right)[0]
    if small is not None and wanted is not None and wanted.shape == small.output.shape:
        differs = ~np.isclose(small.output, wanted, rtol=1e-4, atol=1e-5, equal_nan=True)
        place = tuple(int(i) for i in np.argwhere(differs)[0])
        question = small.question
        n_heads = small.case.n_heads
        sentences.append(
            f"Smallest input that shows it: {_count(question.batch, 'sample')}, {_count(question.n_queries, 'token')}, "
            f"{_count(n_heads, 'head')}. First entry that differs: output{list(place)} is {small.output[place]:.4f}, "
            f"where attention gives {wanted[place]:.4f}."
        )
    broken = properties(lambda X: subject.answer_for(layout, X)) if hasattr(subject, "answer_for") else []
    sentences += [sentence for _, sentence in broken]
    names = tuple(name for name, _ in broken)
    leaks = bool({"batch-mixed", "partly-causal"} & set(names))
    return Shown(" ".join(sentences), names, leaks, " ".join(sentence for _, sentence in broken))


def _count(number, noun):
    return f"{number} {noun}{'s' * (number != 1)}"


def properties(attend):
    """Name what must hold of any attention and does not, of a callable from (batch, tokens, features) to outputs.

    Returns
    -------
    list of (str, str)
        A name, and a sentence. Empty where nothing is wrong, or nothing could be asked.
    """
    rng = np.random.default_rng(5)
    broken = []
    probe = attend(None)
    if probe is None:
        return broken
    X, before = probe
    if before is None:
        return broken
    scale = max(np.abs(before[np.isfinite(before)]).max(initial=0), 1e-3)
    if not np.isfinite(before).all():
        return [("not-finite", "It returns NaN or infinity for ordinary numbers.")]
    again = attend(X)[1]
    if again is None or np.abs(again - before).max() > NOTHING * scale:
        return [("not-repeatable", "The same call gives other numbers the second time.")]
    if len(X) > 1:
        other = X.copy()
        other[1:] = rng.normal(size=other[1:].shape)
        after = attend(other)[1]
        if after is not None and after.shape == before.shape and np.abs(after[0] - before[0]).max() > NOTHING * scale:
            broken.append(("batch-mixed", "Output 0 changes when only the other samples of the batch change."))
        alone = attend(X[:1])[1]
        if (
            not broken
            and alone is not None
            and alone.shape == before[:1].shape
            and np.abs(alone[0] - before[0]).max() > NOTHING * scale
        ):
            broken.append(("batch-mixed", "A sample's output depends on how many others are in the batch."))
    moved = np.zeros((X.shape[1], X.shape[1]))
    for token in range(X.shape[1]):
        changed = X.copy()
        changed[:, token] += rng.uniform(0.5, 1.5, X.shape[2])
        after = attend(changed)[1]
        if after is None or after.shape[:2] != X.shape[:2]:
            return broken
        moved[:, token] = np.abs(after - before).max(axis=(0, 2))
    hears = moved > NOTHING * scale
    above = np.triu(np.ones_like(hears), 1)
    n = len(hears)
    if n > 2 and not hears.all():
        if not hears[above].any():
            if not np.diag(hears).all():
                broken.append(("deaf", "A token's output does not change with the token itself."))
        elif hears[above].sum() < above.sum():
            i, j = np.argwhere(~hears)[0]
            broken.append(("partly-causal", f"Output {i} never hears of token {j}, though others look ahead."))
        else:
            i, j = np.argwhere(~hears)[0]
            broken.append(("deaf", f"Output {i} never hears of token {j}."))
    return broken
