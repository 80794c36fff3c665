"""Attention over words: queries above, keys below, an arc for each weight."""

import html

import numpy as np

from mha_helpers.drawing import style, svg
from mha_helpers.drawing.style import number

LEAST = 0.02  # a thinner arc is not seen


def arcs(weights, queries, keys, *, chosen=None, head=0, width=740, height=190):
    """Draw attention over words: queries above, keys below, an arc as thick as each weight.

    In a lab, whose card has the style sheet, the arcs of the query under the pointer stand out; a control that sets
    `chosen` does the same for the keyboard.

    Parameters
    ----------
    weights : ndarray, shape (n_queries, n_keys)
    queries, keys : sequence of str
    chosen : int, optional
        The query whose arcs stand out.
    head : int, optional
        Whose colour the arcs have.
    width : float, optional
        At most.
    height : float, optional
        More where words rise and are long.

    Returns
    -------
    drawn : str
    width, height : float
        What it takes.
    """
    longest = max(map(len, [*queries, *keys]))
    # Where words have no room beside each other, they are small, and then they rise.
    step = min(max(7.4 * longest + 16, 92), width / max(len(queries), len(keys)))
    size = 12 if 7.2 * longest + 4 <= step else 11
    rising = 40 if 6.8 * longest + 2 > step else 0
    above = 14 + 5.2 * longest if rising else 30
    height = max(height, 2 * above + 90)
    below = height - above - 16  # the shares stand under the keys
    top, bottom, colour = above + 4, below - 4, style.head_colour(head)
    groups = []
    for i, row in enumerate(weights):
        x0 = (i + 0.5) * step
        lines = []
        for j, weight in enumerate(row):
            weight = round(float(weight), 3)
            if not weight >= LEAST:  # nor NaN
                continue
            x1, middle = (j + 0.5) * step, (top + bottom) / 2
            faint = chosen is not None and i != chosen
            looks = f'stroke="{colour}" stroke-width="{max(0.6, 9 * weight):.2f}"'
            opacity = 0.07 if faint else round(0.35 + 0.65 * weight, 2)
            title = f"<title>{html.escape(f'{queries[i]} to {keys[j]}: {number(weight)}')}</title>"
            lines.append(
                f'<path class="mha-arc" d="M{x0:.1f} {top:.1f}C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} '
                f'{x1:.1f} {bottom:.1f}" fill="none" {looks} opacity="{opacity}">{title}</path>'
            )
        strong = i == chosen
        word = _word(queries[i], x0, above, step, size, rising, up=True, strong=strong, role="queries")
        groups.append(f'<g class="mha-word">{"".join(lines)}{word}</g>')
    for j, word in enumerate(keys):
        share = 0 if chosen is None else float(np.nan_to_num(weights[chosen][j]))
        groups.append(
            _word(word, (j + 0.5) * step, below, step, size, rising, up=False, strong=share >= 0.2, role="keys")
        )
        if share >= 0.045:
            groups.append(
                svg.text((j + 0.5) * step, height - 3, number(share), anchor="middle", bold=share >= 0.2, size=12)
            )
    wide = round(step * max(len(queries), len(keys)) + 4, 1)
    return f'<g class="mha-arcs">{"".join(groups)}</g>', wide, height


def _word(word, x, y, step, size, rising, *, up, strong, role):
    """Write a word in a box, or on a slant where boxes would be too narrow."""
    if rising:
        at = y - 4 if up else y + 12
        return svg.text(
            x - (4 if up else -4), at, word, anchor="start" if up else "end", size=12, bold=strong,
            colour=style.role_text(role), rising=rising,
        )  # fmt: skip
    top = y - 26 if up else y
    gap = 4 if size == 12 else 1  # between boxes: small words fill theirs
    frame = svg.box(
        x - (step - gap) / 2, top, step - gap, 26, fill=style.tint(style.ROLES[role], 0.3 if strong else 0.1),
        stroke=style.ROLES[role], stroke_width=2 if strong else 1,
    )  # fmt: skip
    bold = strong and 8.3 * len(word) + 4 <= step
    return frame + svg.text(x, top + 17, word, anchor="middle", size=size, bold=bold)
