"""What a new token costs without a cache of keys and values, and with one."""

from live_pictures import style, svg
from live_pictures.figure import Figure
from mha_helpers.drawing import palette

CELL, GAP = 26, 3
LEFT, TOP, APART = 92, 96, 330  # of the first triangle, and from one to the other


def cache(text="ROMEO:"):
    """Draw the queries and keys of a text as its last character comes: what is computed, and what is kept.

    Parameters
    ----------
    text : str, optional

    Returns
    -------
    Figure

    Examples
    --------
    >>> str(cache("cat"))[:60]
    'When the last of 3 characters comes: without a cache, 6 scor'
    """
    n, step = len(text), CELL + GAP
    new, old = palette.HEADS[0], style.QUIET
    parts = [svg.text(8, TOP + (i + 0.7) * step, f"query {letter}", size=12) for i, letter in enumerate(text)]
    titles = {"without a cache: everything again": False, "with a cache: one row": True}
    for place, (title, cached) in enumerate(titles.items()):
        x0 = LEFT + place * APART
        parts.append(svg.text(x0, 18, title, bold=True))
        for row, (name, role) in enumerate((("keys", "keys"), ("values", "values"))):
            y = 30 + row * 29
            parts.append(svg.text(x0 + n * step + 6, y + 18, name, size=12, colour=palette.role_text(role), bold=True))
            for j, letter in enumerate(text):
                parts += _cell(x0 + j * step, y, letter, palette.ROLES[role], not cached or j == n - 1, kept=True)
        for i in range(n):
            fresh = not cached or i == n - 1
            for j in range(i + 1):
                parts += _cell(x0 + j * step, TOP + i * step, "", new if fresh else old, fresh)
        if cached:
            parts.append(svg.text(x0 + 3 * step, TOP + 1.6 * step, "done before,", size=12, colour=style.QUIET))
            parts.append(svg.text(x0 + 3 * step, TOP + 2.2 * step, "never needed again", size=12, colour=style.QUIET))
    below = TOP + n * step + 16
    parts += [
        *_cell(LEFT, below, "", new, True),
        svg.text(LEFT + step + 4, below + 18, "computed now", size=12),
        *_cell(LEFT + 150, below, "", palette.ROLES["keys"], False, kept=True),
        *_cell(LEFT + 150 + step, below, "", palette.ROLES["values"], False, kept=True),
        svg.text(LEFT + 150 + 2 * step + 4, below + 18, "kept, and read again", size=12),
        *_cell(LEFT + 360, below, "", old, False),
        svg.text(LEFT + 360 + step + 4, below + 18, "done before, not kept", size=12),
    ]
    text = (
        f"When the last of {n} characters comes: without a cache, {n * (n + 1) // 2} scores, {n} keys and {n} values "
        f"are computed; with a cache, {n} scores, 1 key and 1 value, besides the {n - 1} of each that are kept."
    )
    return Figure(LEFT + APART + n * step + 60, below + CELL + 10, parts, text)


def _cell(x, y, letter, colour, fresh, *, kept=False):
    """Draw a cell: strong where it is computed now, pale where it was before, and dashed where it is gone."""
    return [
        svg.box(
            x, y, CELL, CELL, fill=style.tint(colour, 0.45 if fresh else 0.15 if kept else 0.06),
            stroke=colour if fresh or kept else style.GRID,
            dashed=not fresh and not kept,
        ),
        svg.text(x + CELL / 2, y + 18, letter, anchor="middle", size=13, bold=fresh),
    ]  # fmt: skip
