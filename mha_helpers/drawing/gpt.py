"""The whole of a GPT on one picture: the residual stream, what reads from it, and what adds to it."""

from mha_helpers.drawing import style, svg
from mha_helpers.drawing.shown import CourseFigure

WIDTH, HEIGHT, STREAM = 880, 270, 176
CHARACTERS = "To be"


def gpt(n_blocks=4):
    """Draw a GPT: characters in, a residual stream through its blocks, logits out.

    Parameters
    ----------
    n_blocks : int, optional
        How many blocks the model has; one is drawn whole.

    Returns
    -------
    CourseFigure

    Examples
    --------
    >>> str(gpt())[:61]
    'A GPT. Each character and its position become a vector in the'
    """
    parts = []
    for i, character in enumerate(CHARACTERS):
        y = STREAM - 42 + 21 * i
        parts += [
            svg.box(10, y - 9, 24, 18, fill=style.PANEL, stroke=style.QUIET),
            svg.text(22, y + 4, character if character.strip() else "␣", anchor="middle"),
            svg.line(34, y, 66, STREAM, colour=style.QUIET),
        ]
    parts += [
        svg.text(10, STREAM - 66, "character + place", bold=True),
        svg.line(66, STREAM, 700, STREAM, colour=style.INK, width=7),
        svg.text(300, STREAM + 66, "the residual stream: one row of numbers for each character", anchor="middle"),
        svg.box(176, 30, 420, STREAM + 14, stroke=style.QUIET, dashed=True),
        svg.text(186, 48, f"block (there are {n_blocks})", bold=True),
    ]
    attention, mlp = style.ROLES["queries"], style.ROLES["values"]
    parts += _branch(196, "multi-head attention", "yours: notebooks 01 to 05", attention)
    parts += _branch(396, "MLP", "each character by itself", mlp)
    parts += [
        svg.box(624, STREAM - 14, 52, 28, fill=style.PAPER, stroke=style.INK),
        svg.text(650, STREAM + 4, "norm", anchor="middle", size=12),
        svg.arrow(676, STREAM, 716, STREAM, colour=style.INK, width=4),
        svg.text(724, STREAM - 78, "65 logits", bold=True),
    ]
    for i, (character, share) in enumerate((("␣", 0.25), ("e", 1.0), (",", 0.45), ("t", 0.3), ("s", 0.15))):
        y = STREAM - 58 + 26 * i
        parts += [
            svg.box(744, y, 100 * share, 16, fill=style.tint(style.ROLES["output"], 0.55)),
            svg.text(736, y + 13, character, anchor="end"),
        ]
    text = (
        "A GPT. Each character and its position become a vector in the residual stream. In each of its "
        f"{n_blocks} blocks, multi-head attention (yours, from notebooks 01 to 05) reads the stream through a layer "
        "norm and adds to it, and then an MLP, which looks at each character by itself, does the same. At the end the "
        "last row becomes 65 logits, one score for each character that could come next."
    )
    return CourseFigure(WIDTH, HEIGHT, parts, text)


def _branch(x, name, remark, colour):
    """Draw what leaves the stream, passes a norm and a part, and is added to it again."""
    width = 168
    return [
        svg.line(x, STREAM, x, 128, colour=colour, width=3),
        svg.box(x - 8, 140, 46, 22, fill=style.PAPER, stroke=style.INK),
        svg.text(x + 15, 155, "norm", anchor="middle", size=12),
        svg.box(x, 68, width, 60, fill=style.tint(colour, 0.3), stroke=colour, stroke_width=2),
        svg.text(x + width / 2, 93, name, anchor="middle", bold=True),
        svg.text(x + width / 2, 113, remark, anchor="middle", size=11),
        svg.arrow(x + width - 8, 128, x + width - 8, STREAM - 12, colour=colour, width=3),
        svg.circle(x + width - 8, STREAM, 11, fill=style.PAPER, stroke=style.INK),
        svg.text(x + width - 8, STREAM + 5, "+", anchor="middle", bold=True),
    ]
