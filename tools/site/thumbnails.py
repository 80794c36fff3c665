"""A small picture for each notebook, drawn for the size at which the front page shows it, and the site's icon."""

import base64
import math

from live_pictures import style, svg
from mha_helpers.drawing import palette

WIDTH, HEIGHT = 240, 120


def thumbnail(number, label):
    """Draw a notebook's picture.

    Parameters
    ----------
    number : str
        The two digits of the notebook, or its letter.
    label : str
        What a screen reader calls it.

    Returns
    -------
    str
        SVG.
    """
    return svg.document(WIDTH, HEIGHT, DRAWN[number](), label=label)


def _attends():
    words, widths = ("The", "cat", "sat", "it", "was"), (36, 36, 36, 28, 36)
    lefts = [14 + sum(widths[:i]) + 10 * i for i in range(5)]
    middles = [left + width / 2 for left, width in zip(lefts, widths, strict=True)]
    for to, strength in ((0, 2), (1, 9), (2, 2.5), (4, 1.5)):
        high = 82 - 0.62 * abs(middles[3] - middles[to])
        colour = palette.HEADS[0] if to == 1 else style.tint(palette.HEADS[0], 0.45)
        yield (
            f'<path d="M{middles[3]:g} 82C{middles[3]:g} {high:g} {middles[to]:g} {high:g} {middles[to]:g} 82" '
            f'fill="none" stroke="{colour}" stroke-width="{strength}"/>'
        )
    for word, left, width in zip(words, lefts, widths, strict=True):
        role = {"it": "queries", "cat": "keys"}.get(word, "X")
        yield svg.box(left, 82, width, 24, fill=style.tint(palette.ROLES[role]), stroke=palette.ROLES[role])
        yield svg.text(left + width / 2, 99, word, anchor="middle", bold=word in ("it", "cat"))


def _divided():
    for left, shares, name in ((12, (2, 3, 88, 2, 5), "q · k"), (132, (18, 22, 52, 16, 26), "q · k / √d")):
        for i, share in enumerate(shares):
            yield svg.box(
                left + 19 * i, 92 - 0.85 * share, 15, 0.85 * share, fill=palette.weight_colour(0.25 + share / 120)
            )
        yield svg.line(left - 4, 92, left + 98, 92, colour=style.INK)
        yield svg.text(left + 46, 111, name, anchor="middle")
    yield svg.arrow(106, 52, 138, 52, colour=style.QUIET)


def _masked():
    for i in range(5):
        for j in range(5):
            x, y = 66 + 22 * j, 6 + 22 * i
            if j > i:
                yield svg.hidden_cell(x, y, 20, 20)
            else:
                yield svg.box(x, y, 20, 20, fill=palette.weight_colour(1 / (i + 1) if j else 0.7 / (i + 1)))


def _split():
    for i in range(3):
        for j in range(4):
            yield svg.box(18 + 22 * j, 30 + 22 * i, 20, 20, fill=palette.head_fill(j // 2))
            x, y = (136 + 22 * (j % 2), 30 + 22 * i) if j < 2 else (188 + 22 * (j % 2), 30 + 22 * i)
            yield svg.box(x, y, 20, 20, fill=palette.head_fill(j // 2))
    yield svg.arrow(108, 61, 138, 61, colour=style.QUIET)
    for x, head in ((157, 0), (209, 1)):
        yield svg.text(x, 22, f"head {head}", anchor="middle", size=12, colour=palette.head_text(head))


def _fused():
    for head, y in enumerate((16, 78)):
        for j in range(3):
            yield svg.box(14 + 24 * j, y, 22, 26, fill=palette.head_fill(head))
        yield svg.arrow(92, y + 13, 152, 56 + 8 * head, colour=palette.head_colour(head))
    for j in range(3):
        yield svg.box(150 + 24 * j, 47, 22, 26, fill=style.tint(palette.ROLES["output"], 0.4))
    yield svg.text(112, 64, "W", anchor="middle", bold=True, size=16)
    yield svg.text(120, 69, "O", bold=True, size=11)


def _browsed():
    for layer in range(6):
        for head in range(12):
            # No data: a map of 72 heads, most of which look widely.
            wide = 0.5 + 0.5 * math.sin(2.1 * layer + 1.3 * head * (layer + 1))
            yield svg.box(24 + 16 * head, 10 + 17 * layer, 14, 15, fill=palette.spread_colour(wide))
    yield svg.box(24 + 16 - 2, 10 + 17 * 3 - 2, 18, 19, stroke=style.INK, stroke_width=3)


def _learned():
    yield svg.line(14, 106, 110, 106, colour=style.INK) + svg.line(14, 12, 14, 106, colour=style.INK)
    points = [(14 + 96 * i / 30, 18 + 80 * (1 - math.exp(-4 * max(0, i - 6) / 24)) * (i > 6)) for i in range(31)]
    yield svg.polyline([(x, min(y, 98)) for x, y in points], colour=palette.HEADS[2], width=4)
    for i in range(8):
        for j in range(8):
            weight = 0.95 if j == i - 4 else 0.06
            yield svg.box(134 + 12 * j, 10 + 12 * i, 11, 11, fill=palette.weight_colour(weight if j <= i else 0))


def _writes():
    yield svg.text(14, 28, "ROMEO:", bold=True, size=14)
    yield svg.text(14, 50, "It is the state in m", size=14)
    yield svg.box(157, 38, 8, 16, fill=palette.ROLES["output"])
    for i, (letter, share) in enumerate((("e", 0.71), ("y", 0.21), ("a", 0.05))):
        y = 62 + 18 * i
        yield svg.text(20, y + 12, letter, bold=True)
        yield svg.box(36, y, 180 * share, 14, fill=style.tint(palette.ROLES["output"], 0.8))


def _shared():
    for head in range(4):
        group, x = head // 2, 34 + 46 * head
        yield svg.line(x + 17, 42, 68 + 92 * group + 6, 84, colour=style.QUIET, width=2)
        yield svg.box(x, 16, 34, 26, fill=style.tint(palette.ROLES["queries"]))
        yield svg.text(x + 17, 34, "q", anchor="middle", colour=palette.role_text("queries"), bold=True)
    for group in range(2):
        x = 46 + 92 * group
        yield svg.box(x, 82, 28, 26, fill=style.tint(palette.ROLES["keys"]))
        yield svg.box(x + 28, 82, 28, 26, fill=style.tint(palette.ROLES["values"]))
        yield svg.text(x + 14, 100, "k", anchor="middle", colour=palette.role_text("keys"), bold=True)
        yield svg.text(x + 42, 100, "v", anchor="middle", colour=palette.role_text("values"), bold=True)


def _kept():
    for i in range(4):
        y = 8 + 23 * i
        yield svg.box(20, y, 92, 18, fill=style.tint(palette.ROLES["keys"]))
        yield svg.arrow(118, y + 9, 150, y + 9, colour=style.QUIET)
        yield svg.box(158, y, 30, 18, fill=palette.ROLES["keys"])
    yield svg.text(104, 114, "q · (c U) = (q Uᵀ) · c", anchor="middle", size=12, bold=True)


def _audited():
    for i, (row, wrong) in enumerate(
        (("0.31  0.44  0.25", False), ("0.12  0.93  0.06", True), ("0.50  0.20  0.30", False))
    ):
        y = 20 + 32 * i
        yield svg.box(24, y, 150, 25, fill=style.PANEL, stroke=style.ALARM if wrong else style.GRID)
        yield svg.text(99, y + 17, row, anchor="middle")
        sign, colour = ("≠", style.ALARM) if wrong else ("✓", palette.role_text("values"))
        yield svg.text(196, y + 18, sign, anchor="middle", bold=True, size=17, colour=colour)


def _translated():
    for i, (words, indent) in enumerate(
        (("class Attention(nn.Module):", 0), ("def forward(self, x):", 1), ("q, k, v = ...", 2))
    ):
        yield svg.text(14 + 16 * indent, 28 + 22 * i, words, size=12, colour=style.QUIET)
    yield svg.arrow(120, 74, 120, 98, colour=style.INK)
    yield svg.text(120, 112, "weights @ values", anchor="middle", bold=True, size=13)


DRAWN = {
    "01": _attends,
    "02": _divided,
    "03": _masked,
    "04": _split,
    "05": _fused,
    "06": _browsed,
    "07": _learned,
    "08": _writes,
    "09": _shared,
    "10": _kept,
    "A": _audited,
    "B": _translated,
}


def icon():
    """Draw the site's icon: one token, and the two that it attends to."""
    purple, blue, orange = palette.HEADS[0], palette.ROLES["queries"], palette.ROLES["keys"]
    arcs = (
        f'<path d="M26 24C26 8 6 8 6 24" fill="none" stroke="{purple}" stroke-width="4"/>'
        f'<path d="M26 24C26 15 16 15 16 24" fill="none" stroke="{purple}" stroke-width="2"/>'
    )
    dots = "".join(svg.circle(x, 25, 4.5, fill=fill) for x, fill in ((6, orange), (16, style.GRID), (26, blue)))
    return svg.document(32, 32, [arcs + dots], label="Multi-head attention")


def address_of_icon():
    """Return the icon as an address that needs no file."""
    return f"data:image/svg+xml;base64,{base64.b64encode(icon().encode()).decode()}"
