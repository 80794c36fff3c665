"""A sequence that repeats: what can be known of it, and how two layers find it."""

import numpy as np

from live_pictures import style, svg
from live_pictures.figure import Figure
from mha_helpers.drawing import palette

WIDTH, SIDE, GAP = 748, 118, 4
BOX = 30  # the height of a token
ASKED, ANSWER = palette.ROLES["keys"], palette.ROLES["values"]
# What heads do here, in colours that are no head's of this model.
JOBS = {"the token before": palette.HEADS[4], "what followed": palette.HEADS[5]}


def repeats(tokens, targets, counts):
    """Draw a sequence above what comes next, and how the text itself answers the second guess that counts.

    Parameters
    ----------
    tokens, targets : ndarray of int, shape (n,)
    counts : ndarray of bool, shape (n,)
        Where the token has been there before.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If fewer than two guesses count.

    Examples
    --------
    >>> tokens = np.array([3, 1, 2, 3, 1, 2])
    >>> str(repeats(tokens, np.roll(tokens, -1), np.arange(6) > 2))[:64]
    'Sees 3 1 2 3 1 2, comes next 1 2 3 1 2 3. The guesses count from'
    """
    period, asking, answer = _rounds(tokens, counts)
    step = (WIDTH - SIDE) / len(tokens)
    sees, follows = 70, 136
    parts = [
        svg.text(8, sees + 20, "it sees", bold=True, size=13),
        svg.text(8, follows + 20, "comes next", bold=True, size=13),
        svg.text(SIDE, follows + 54, "nobody can know: these don’t count", size=13, colour=style.QUIET),
        svg.text(SIDE + period * step, follows + 54, "the answer is in the text", size=13, bold=True),
    ]
    for place, (token, target, known) in enumerate(zip(tokens, targets, counts, strict=True)):
        x = SIDE + place * step
        parts += _token(x, sees, step, token, ASKED if place in (asking, answer - 1) else style.QUIET)
        parts += _token(x, follows, step, target, ANSWER if known else style.QUIET, dashed=not known)
    parts += _token(SIDE + answer * step, sees, step, tokens[answer], ANSWER, strong=True)
    parts += _token(SIDE + asking * step, follows, step, targets[asking], ANSWER, strong=True)
    parts += [
        *_bow(_middle(asking, step), _middle(answer - 1, step), sees - 3, 58, palette.role_text("keys")),
        svg.text(
            (_middle(asking, step) + _middle(answer, step)) / 2, sees - 22, f"where did {tokens[asking]} last stand?",
            anchor="middle", size=13, bold=True, colour=palette.role_text("keys"),
        ),
        svg.arrow(_middle(asking, step), sees + BOX + 2, _middle(asking, step), follows + 4, colour=style.INK, width=2),
    ]  # fmt: skip
    text = (
        f"Sees {_listed(tokens)}, comes next {_listed(targets)}. The guesses count from place {period} on. Place "
        f"{asking} holds {tokens[asking]}; it last came at place {answer - 1}, and {tokens[answer]} followed."
    )
    return Figure(WIDTH, follows + 66, parts, text)


def induction(tokens, counts):
    """Draw an induction head at work: layer 0 notes what came before, layer 1 looks for the note.

    Parameters
    ----------
    tokens : ndarray of int, shape (n,)
    counts : ndarray of bool, shape (n,)
        Where the token has been there before.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If fewer than two guesses count.

    Examples
    --------
    >>> str(induction(np.array([3, 1, 2, 3, 1]), np.arange(5) > 2))[:76]
    'Layer 0: each token looks at the one before and notes it; the note of 2 is 1'
    """
    _, asking, answer = _rounds(tokens, counts)
    prefix = tokens[: asking + 1]
    step = (WIDTH - SIDE) / len(prefix)
    above, notes = 8, 92
    before, follows = JOBS["the token before"], JOBS["what followed"]
    parts = [
        svg.text(8, above + 20, "tokens", bold=True, size=13),
        svg.text(8, notes - 16, "layer 0", bold=True, size=13, colour=palette.role_text("queries")),
        svg.text(8, notes + 20, "note: before me", bold=True, size=13, colour=palette.role_text("queries")),
        svg.text(8, notes + 70, "layer 1", bold=True, size=13, colour=palette.head_text(3)),
    ]
    for place, token in enumerate(prefix):
        x = SIDE + place * step
        colour = ASKED if place in (answer - 1, asking) else ANSWER if place == answer else style.QUIET
        parts += _token(x, above, step, token, colour, strong=place == answer)
        if 0 < place < asking:
            strong = place == answer
            parts += _token(x, notes, step, prefix[place - 1], before, strong=strong)
            parts.append(
                svg.line(
                    _middle(place - 1, step), above + BOX + 1, _middle(place, step), notes - 1,
                    colour=before, width=4 if strong else 1.2,
                )
            )  # fmt: skip
    query, found = _middle(asking, step), _middle(answer, step)
    parts += [
        svg.line(query, above + BOX + 2, query, notes + BOX + 4, colour=follows, width=3),
        *_bow(query, found, notes + BOX + 3, -62, follows),
        svg.text(
            (query + found) / 2, notes + BOX + 34,
            f"whose note says {prefix[asking]}? That of {prefix[answer]}: so {prefix[answer]} comes next",
            anchor="middle", size=13, bold=True, colour=palette.head_text(3),
        ),
    ]  # fmt: skip
    text = (
        f"Layer 0: each token looks at the one before and notes it; the note of {prefix[answer]} is "
        f"{prefix[answer - 1]}. Layer 1: the last {prefix[asking]} looks for a note that says {prefix[asking]}, finds "
        f"{prefix[answer]}, and guesses {prefix[answer]}."
    )
    return Figure(WIDTH, notes + BOX + 70, parts, text)


def _rounds(tokens, counts):
    """Return where the second round starts, the place in it that asks, and the place that answers."""
    places = np.flatnonzero(counts)
    if len(places) < 2:
        raise ValueError(f"counts has {len(places)} places that count; draw a sequence that repeats, with two or more")
    asking = int(places[1])
    earlier = np.flatnonzero(tokens[:asking] == tokens[asking])
    if not len(earlier):
        raise ValueError(f"tokens has no {tokens[asking]} before place {asking}; draw a sequence that repeats")
    return int(places[0]), asking, int(earlier[-1]) + 1


def _middle(place, step):
    return SIDE + (place + 0.5) * step - GAP / 2


def _listed(tokens):
    return " ".join(map(str, tokens))


def _token(x, y, step, token, colour, *, strong=False, dashed=False):
    wide = step - GAP
    quiet = colour == style.QUIET
    return [
        svg.box(
            x, y, wide, BOX, fill=style.tint(colour, 0.06 if quiet else 0.45 if strong else 0.25), stroke=colour,
            stroke_width=2 if strong else 1, dashed=dashed,
        ),
        svg.text(x + wide / 2, y + 20, token, anchor="middle", bold=strong, size=14),
    ]  # fmt: skip


def _bow(x0, x1, y, height, colour):
    """Draw an arrow that leaves (x0, y), rises by `height` and comes down on (x1, y)."""
    middle, tip = y - height * 1.25, 7 if height > 0 else -7
    return [
        f'<path d="M{x0:.1f} {y:.1f}C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y:.1f}" fill="none" '
        f'stroke="{colour}" stroke-width="3"/>',
        f'<path d="M{x1 - 5:.1f} {y - tip:.1f}L{x1:.1f} {y:.1f}L{x1 + 5:.1f} {y - tip:.1f}" fill="none" '
        f'stroke="{colour}" stroke-width="3"/>',
    ]
