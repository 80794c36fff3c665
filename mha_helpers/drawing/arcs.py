"""Attention over words: queries above, keys below, an arc for each weight."""

import html
from collections import defaultdict

import numpy as np

from mha_helpers.drawing import style, svg
from mha_helpers.drawing.style import number

LEAST = 0.02  # a thinner arc is not seen
BOX = 26  # the height of a word's box
SHORT = 7  # characters of a word on a slant, with its share behind it


def shortened(word, longest=11):
    """Cut a word for which there is no room."""
    return word if len(word) <= longest else word[: longest - 1] + "…"


def fit(queries, keys, width):
    """Find how words find room in a width.

    Parameters
    ----------
    queries, keys : sequence of str
    width : float

    Returns
    -------
    step : float
        From a word's middle to the next one's.
    size : int
        Of their font: smaller where boxes would be too narrow.
    slanted : bool
        Whether even that is too wide: then they stand on a slant, each key with its share behind it.
    """
    n, longest = max(len(queries), len(keys)), max(map(len, [*queries, *keys]))
    step = min(max(7.4 * longest + 16, 92), width / n)
    if 6.8 * longest + 1 <= step:
        return step, 12 if 7.2 * longest + 4 <= step else 11, False
    ends = [6 * (min(len(word), SHORT) + 5) - (n - 0.5 - j) * step for j, word in enumerate(keys)]
    return step - max(0, *ends) / n, 12, True


def arcs(weights, queries, keys, *, chosen=None, differs=(), head=0, width=740, height=190):
    """Draw attention over words: queries above, keys below, an arc as thick as each weight.

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
        At most.
    height : float, optional
        More where words are on a slant, and long.

    Returns
    -------
    drawn : str
    width, height : float
        What it takes.
    """
    step, size, slanted = fit(queries, keys, width)
    above, under = BOX + 4, BOX + 20  # with the shares under the keys
    if slanted:
        longest = max(map(len, keys))
        above, under = 14 + 5.2 * max(map(len, queries)), 14 + 5.2 * max(longest, min(longest, SHORT) + 5)
        height = max(height, above + under + 74)
    places = [(i + 0.5) * step for i in range(max(len(queries), len(keys)))]
    top, bottom = above + 4, height - under - 4
    groups = []
    for i, (word, row) in enumerate(zip(queries, np.asarray(weights, float).round(3).tolist(), strict=True)):
        seen = {j: weight for j, weight in enumerate(row) if weight >= LEAST}  # no NaN
        lines = _lines(i, places, seen, top, bottom, faint=chosen not in (None, i))
        listed = ", ".join(f"{keys[j]}: {number(seen[j])}" for j in sorted(seen, key=seen.get, reverse=True))
        title = f"<title>{html.escape(f'{word} to {listed}')}</title>" if seen else ""
        written = _word(word, "queries", places[i], above, step, size, slanted, strong=i == chosen)
        groups.append(
            f'<g class="mha-word">{title}<g fill="none" stroke="{style.head_colour(head)}">{lines}</g>{written}</g>'
        )
    shares = np.zeros(len(keys)) if chosen is None else np.nan_to_num(weights[chosen])
    for word, x, share in zip(keys, places, shares.tolist(), strict=False):
        strong, written = share >= 0.2, number(share) if share >= 0.045 else ""
        if slanted and written:
            word, written = f"{shortened(word, SHORT)} {written}", ""
        groups.append(_word(word, "keys", x, height - under, step, size, slanted, strong=strong))
        if written:
            groups.append(svg.text(x, height - 3, written, anchor="middle", bold=strong, size=12))
    for key in differs:
        x, y = places[key], bottom + (-10 if slanted else BOX - 4)
        groups.append(svg.box(x - 7, y, 14, 13, fill=style.ALARM))
        groups.append(svg.text(x, y + 11, "≠", anchor="middle", bold=True, colour=style.PAPER, size=11))
    return f'<g class="mha-arcs">{"".join(groups)}</g>', width if slanted else round(step * len(places) + 4, 1), height


def _lines(i, places, seen, top, bottom, *, faint):
    """Draw one query's arcs; those of one look are one path, which a browser draws faster."""
    start, middle, alike = f"{places[i]:.1f}", f"{(top + bottom) / 2:.1f}", defaultdict(str)
    for j, weight in seen.items():
        end, opacity = f"{places[j]:.1f}", 0.07 if faint else round(0.35 + 0.65 * weight, 2)
        arc = f"M{start} {top:.1f}C{start} {middle} {end} {middle} {end} {bottom:.1f}"
        alike[f'stroke-width="{max(0.6, 9 * weight):.2f}" stroke-opacity="{opacity}"'] += arc
    return "".join(f'<path d="{arcs}" {look}/>' for look, arcs in alike.items())


def _word(word, role, x, y, step, size, slanted, *, strong):
    """Write a word in a box, or on a slant: queries above y, keys below it."""
    if slanted:
        place, rising = (y - 4, 40) if role == "queries" else (y + 10, -40)
        return svg.text(x - 4, place, word, size=size, bold=strong, colour=style.role_text(role), rising=rising)
    top = y - BOX if role == "queries" else y
    gap = 4 if size == 12 else 1  # between boxes: small words fill theirs
    frame = svg.box(
        x - (step - gap) / 2, top, step - gap, BOX, fill=style.tint(style.ROLES[role], 0.3 if strong else 0.1),
        stroke=style.ROLES[role], stroke_width=2 if strong else 1,
    )  # fmt: skip
    bold = strong and 8.3 * len(word) + 4 <= step
    return frame + svg.text(x, top + 17, word, anchor="middle", size=size, bold=bold)
