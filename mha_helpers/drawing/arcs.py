"""Attention over words: queries on the left, keys on the right, an arc for each weight."""

import html
from collections import defaultdict

import numpy as np

from live_pictures import style, svg
from live_pictures.style import number
from mha_helpers.drawing import palette

MIN_WEIGHT = 0.02  # a thinner arc is not seen
TOP, ROW = 18, 24  # pixels: above the first word, and from word to word
SHARE = 38  # of a number behind a key


def shortened(word, longest=11):
    """Shorten a word that doesn't fit."""
    return word if len(word) <= longest else word[: longest - 1] + "…"


def width_of_words(words):
    """Return how wide the box of each word is."""
    return 7.4 * max(len(shortened(word)) for word in words) + 14


def middle(i):
    """Return how far down the middle of a word is."""
    return TOP + (i + 0.5) * ROW


def difference(right, i):
    """Mark a word as different, at its right edge or before it."""
    at = right - 8, middle(i) + 4
    sign = svg.text(*at, "≠", anchor="middle", bold=True, colour=style.PAPER, size=11)
    return svg.box(right - 15, middle(i) - 7, 14, 13, fill=style.ALARM) + sign


def areas(queries, keys, top=0):
    """Return, for each query, the area where its word is pressed: an empty box that touches its neighbours'.

    `top` is how far down the arcs begin.
    """
    width = width_of_words([*queries, *keys])
    return [svg.box(0, top + middle(i) - ROW / 2, width, ROW, fill="transparent") for i in range(len(queries))]


def arcs(weights, queries, keys, *, chosen=None, differs=(), head=0, width=344):
    """Draw attention over words: queries on the left, keys on the right, an arc as thick as each weight.

    In a lab, whose card has the style sheet, the arcs of the query under the pointer stand out; a control that sets
    `chosen` does the same for the keyboard.

    Parameters
    ----------
    weights : ndarray, shape (n_queries, n_keys)
    queries, keys : sequence of str
    chosen : int, optional
        The query whose arcs stand out.
    differs : iterable of int, optional
        The keys to mark as different.
    head : int, optional
        Whose colour the arcs have.
    width : float, optional

    Returns
    -------
    drawn : str
    height : float
        What it takes.
    """
    box = width_of_words([*queries, *keys])
    left, right = box, width - SHARE - box
    groups = [
        svg.text(0, TOP - 6, "queries", size=12, colour=style.QUIET),
        svg.text(right, TOP - 6, "keys", size=12, colour=style.QUIET),
    ]
    for i, (word, row) in enumerate(zip(queries, np.asarray(weights, float).round(3).tolist(), strict=True)):
        seen = {j: weight for j, weight in enumerate(row) if weight >= MIN_WEIGHT}  # no NaN
        lines = _lines(i, seen, left + 2, right - 2, faint=chosen not in (None, i))
        listed = ", ".join(f"{keys[j]}: {number(seen[j])}" for j in sorted(seen, key=seen.get, reverse=True))
        title = f"<title>{html.escape(f'{word} to {listed}')}</title>" if seen else ""
        written = _word(word, "queries", 0, i, box, strong=i == chosen)
        groups.append(
            f'<g class="mha-word">{title}<g fill="none" stroke="{palette.head_colour(head)}">{lines}</g>{written}</g>'
        )
    shares = np.zeros(len(keys)) if chosen is None else np.nan_to_num(weights[chosen])
    for j, (word, share) in enumerate(zip(keys, shares.tolist(), strict=True)):
        groups.append(_word(word, "keys", right, j, box, strong=share >= 0.2))
        if share >= 0.045:
            at = right + box + 4, middle(j) + 4
            groups.append(svg.text(*at, number(share), bold=share >= 0.2, size=12))
    groups += [difference(right, key) for key in differs]
    return f'<g class="mha-arcs">{"".join(groups)}</g>', TOP + ROW * max(len(queries), len(keys)) + 2


def _lines(i, seen, left, right, *, faint):
    """Draw one query's arcs; arcs that look alike are one path, which a browser draws faster."""
    start, bend, alike = f"{middle(i):.1f}", f"{(left + right) / 2:.1f}", defaultdict(str)
    for j, weight in seen.items():
        end, opacity = f"{middle(j):.1f}", 0.07 if faint else round(0.35 + 0.65 * weight, 2)
        arc = f"M{left:.1f} {start}C{bend} {start} {bend} {end} {right:.1f} {end}"
        alike[f'stroke-width="{max(0.6, 9 * weight):.2f}" stroke-opacity="{opacity}"'] += arc
    return "".join(f'<path d="{arcs}" {look}/>' for look, arcs in alike.items())


def _word(word, role, x, i, box, *, strong):
    frame = svg.box(
        x, middle(i) - 11, box, 22, fill=style.tint(palette.ROLES[role], 0.3 if strong else 0.1),
        stroke=palette.ROLES[role], stroke_width=2 if strong else 1,
    )  # fmt: skip
    return frame + svg.text(x + box / 2, middle(i) + 4, shortened(word), anchor="middle", size=12, bold=strong)
