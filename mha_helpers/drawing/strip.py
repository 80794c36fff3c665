"""The course's map: the whole block, small, with the part that a notebook is about lit, and what follows the block."""

from live_pictures import style, svg
from mha_helpers.drawing.block import EVERYTHING, HEIGHT, WIDTH, block

SCALE = 0.6
BOX, GAP = (72, 94), 6
TOP = 25  # room for the words above the numbers
LEFT = 24  # the block's words are left out: so much of it is empty

_PROJECTED = {"tokens", "X", "W_Q", "W_K", "W_V", "Q", "K", "V", "project Q", "project K", "project V"}
_HEADS = {f"{part} {head}" for part in ("ask", "weights", "mix", "context", "join") for head in range(2)}
# By notebook: what is lit, where in the block its number stands, off every tensor and line, and the word above that:
# its text, its anchor, and where it stands beside the number, in pixels.
PARTS = {
    "01": (_PROJECTED | {"ask 0", "weights 0", "mix 0", "context 0"}, (80, 36), ("attention", "start", -26)),
    "02": ({"Q", "K", "ask 0", "weights 0"}, (257, 8), ("scaling", "end", 10)),
    "03": ({"weights 0"}, (308, 8), ("masks", "start", -13)),
    "04": ({"Q", "K", "V", *_HEADS}, (387, 8), ("heads", "middle", 0)),
    "05": (
        {"context 0", "context 1", "join 0", "join 1", "concat", "W_O", "output", "out", "on"},
        (522, 54),
        ("output", "middle", 0),
    ),
}
BESIDE = {"A": "A  worked examples, checked", "B": "B  the same in PyTorch"}
AFTER = {"06": "real model", "07": "learning", "08": "writing", "09": "today", "10": "caches"}


def strip(here, *, done=()):
    """Draw the course's map.

    Parameters
    ----------
    here : str
        The two digits of the notebook where the reader is, or its letter.
    done : collection of str, optional
        The notebooks to tick, by their two digits.

    Returns
    -------
    fragments : list of str
    width, height : float
    """
    (inside, _), (after, right), height = halves(here, done=done)
    return [*inside, *after], right, height


def halves(here, *, done=(), linked=lambda number, fragment, place: fragment):
    """Draw the course's map in two halves, which may stand beside or below each other: the block, and what follows it.

    Parameters
    ----------
    here, done
        As for `strip`.
    linked : function, optional
        Makes a link of a notebook's number, its fragment and its place: left, top, width and height.

    Returns
    -------
    inside, after : (list of str, float)
        Fragments, and where the half ends on the right; the second begins where the first ends.
    height : float
    """
    lit = PARTS[here][0] if here in PARTS else EVERYTHING
    small = "".join(block(lit, named=False))
    parts = [f'<g transform="translate({-LEFT * SCALE:g} {TOP}) scale({SCALE})">{small}</g>']
    for number, (_, (x, y), (word, anchor, aside)) in PARTS.items():
        x, y = (x - LEFT) * SCALE, y * SCALE + TOP
        badge = _badge(number, x, y, here, number in done)
        badge += svg.text(round(x + aside, 1), round(y - 15, 1), word, anchor=anchor, size=11, bold=number == here)
        parts.append(linked(number, badge, (x - 14, y - 14, 28, 28)))
    x = (WIDTH - LEFT) * SCALE + 4
    if here in BESIDE:
        parts.append(svg.box(2, 2, x - 8, HEIGHT * SCALE + TOP - 3, stroke=style.INK, stroke_width=2.5))
        parts.append(_badge(here, x - 22, 17, here, False))
    below = HEIGHT * SCALE + TOP + (14 if here in BESIDE else -4)
    if here in BESIDE:
        parts.append(svg.text(4, below, BESIDE[here], size=11, bold=True))
    inside, parts = (parts, round(x - 3, 1)), []
    top = (HEIGHT * SCALE - BOX[1]) / 2 + TOP
    for (number, title), draw in zip(AFTER.items(), (_layers, _loss, _writes, _shares, _keeps), strict=True):
        box = _box(x, top, lit=number == here)
        box += draw(x - 10, top, style.INK if number == here else style.QUIET)
        box += _badge(number, x + BOX[0] / 2, top, here, number in done)
        box += svg.text(x + BOX[0] / 2, top + BOX[1] - 6, title, anchor="middle", size=11, bold=number == here)
        parts.append(linked(number, box, (x, top, *BOX)))
        if number != "10":
            middle = top + BOX[1] / 2
            parts.append(svg.arrow(x + BOX[0], middle, x + BOX[0] + GAP + 6, middle, colour=style.QUIET, width=1.5))
        x += BOX[0] + GAP
    return inside, (parts, round(x - GAP + 4, 1)), round(below + 6, 1)


def _badge(number, x, y, here, done):
    lit = number == here
    fill, ink = (style.INK, style.PAPER) if lit else (style.PAPER, style.INK)
    circle = svg.circle(round(x, 1), round(y, 1), 11 if lit else 9, fill=fill, stroke=style.INK)
    name = number.lstrip("0")
    size = 12 if len(name) == 1 else 11
    badge = circle + svg.text(round(x, 1), round(y + 4, 1), name, anchor="middle", size=size, bold=True, colour=ink)
    if done:
        badge += svg.circle(round(x + 11, 1), round(y - 7, 1), 7, fill=style.GOOD)
        badge += svg.text(
            round(x + 11, 1), round(y - 3, 1), "✓", anchor="middle", size=11, bold=True, colour=style.PAPER
        )
    return badge


def _box(x, y, *, lit):
    stroke = style.INK if lit else style.GRID
    return svg.box(
        x, y, *BOX, fill=style.tint(style.INK, 0.06) if lit else style.PANEL, stroke=stroke,
        stroke_width=2.5 if lit else 1,
    )  # fmt: skip


def _layers(x, y, colour):
    """Draw a model of six layers."""
    return "".join(
        svg.box(x + 26 + 2 * i, y + 58 - 8 * i, 34, 6, fill=style.tint(colour, 0.35 + 0.1 * i)) for i in range(6)
    )


def _loss(x, y, colour):
    """Draw a loss that falls."""
    start = f"M{x + 18:g} {y + 20:g}"
    axes = f'<path d="{start}V{y + 64:g}H{x + 78:g}" fill="none" stroke="{style.QUIET}" stroke-width="1"/>'
    curve = f"{start}C{x + 30:g} {y + 60:g} {x + 48:g} {y + 56:g} {x + 76:g} {y + 60:g}"
    return f'{axes}<path d="{curve}" fill="none" stroke="{colour}" stroke-width="2.5"/>'


def _writes(x, y, colour):
    """Draw lines of text, the last of them being written."""
    lines = "".join(
        svg.box(x + 16, y + 24 + 12 * i, width, 5, fill=style.tint(colour, 0.5))
        for i, width in enumerate((60, 54, 58, 24))
    )
    return lines + svg.box(x + 44, y + 57, 5, 11, fill=colour)


def _shares(x, y, colour):
    """Draw four heads of queries that share two heads of keys and values."""
    drawn = ""
    for i in range(4):
        left, shared = x + 20 + 16 * i, x + 28 + 32 * (i // 2)
        drawn += svg.line(left + 4, y + 32, shared + 4, y + 56, colour=style.QUIET, width=1)
        drawn += svg.circle(left + 4, y + 28, 5, fill=style.tint(colour, 0.5))
        drawn += svg.box(shared - 3, y + 56, 14, 10, fill=colour)
    return drawn


def _keeps(x, y, colour):
    """Draw a text of another length, and the short vectors that are kept of it."""
    drawn = ""
    for i in range(5):
        drawn += svg.box(x + 18, y + 22 + 10 * i, 34, 6, fill=style.tint(colour, 0.25))
        drawn += svg.box(x + 62, y + 22 + 10 * i, 12, 6, fill=colour)
    return drawn + svg.line(x + 54, y + 45, x + 60, y + 45, colour=style.QUIET, width=1)
