"""The whole of a GPT on one picture: the residual stream, what reads from it, and what adds to it."""

from live_pictures import style, svg
from live_pictures.figure import Figure
from live_pictures.style import number
from mha_helpers.drawing import palette

WIDTH, HEIGHT, STREAM = 880, 270, 176
CHARACTERS = "To be"
ROWS = [STREAM + 5 * (i - len(CHARACTERS) // 2) for i in range(len(CHARACTERS))]  # of the stream, one a character
# What the course's decoder finds likeliest after these characters, and how likely; a test asks it.
NEXT = (("␣", 0.78), ("a", 0.05), ("l", 0.03), ("t", 0.03), ("g", 0.02))


def gpt(n_blocks=4):
    """Draw a GPT: characters in, a residual stream through its blocks, logits out.

    Parameters
    ----------
    n_blocks : int, optional
        How many blocks the model has; one is drawn whole.

    Returns
    -------
    Figure

    Examples
    --------
    >>> str(gpt())[:61]
    'A GPT. Each character and its position become a vector in the'
    """
    parts = []
    for i, (character, row) in enumerate(zip(CHARACTERS, ROWS, strict=True)):
        y = STREAM - 42 + 21 * i
        path = f"M34 {y}C94 {y} 84 {row} 144 {row}H624"
        parts += [
            svg.box(10, y - 9, 24, 18, fill=style.PANEL, stroke=style.QUIET),
            svg.text(22, y + 4, character if character.strip() else "␣", anchor="middle"),
            f'<path d="{path}" fill="none" stroke="{style.INK}" stroke-width="2"/>',
        ]
    parts += [
        svg.text(10, STREAM - 66, "character + position", bold=True),
        svg.text(386, STREAM + 66, "the residual stream: one row of numbers for each character", anchor="middle"),
        svg.box(176, 30, 420, STREAM + 14, stroke=style.QUIET, dashed=True),
        svg.text(186, 48, f"block (there are {n_blocks})", bold=True),
    ]
    attention, mlp = palette.HEADS[0], style.QUIET
    parts += _branch(196, "multi-head attention", "yours: notebooks 01 to 05", attention)
    parts += _branch(396, "MLP", "each character by itself", mlp)
    parts += [
        svg.box(624, STREAM - 14, 52, 28, fill=style.PAPER, stroke=style.INK),
        svg.text(650, STREAM + 4, "norm", anchor="middle", size=12),
        svg.arrow(676, ROWS[-1], 730, ROWS[-1], colour=style.INK, width=2),
        svg.text(699, ROWS[-1] + 20, "last row", anchor="middle", size=11),
        svg.text(736, STREAM - 84, "65 logits", bold=True),
        svg.text(736, STREAM - 68, "as probabilities:", size=11),
    ]
    for i, (character, probability) in enumerate(NEXT):
        y = STREAM - 54 + 24 * i
        parts += [
            svg.box(756, y, 84 * probability, 16, fill=style.tint(palette.ROLES["output"], 0.55)),
            svg.text(748, y + 13, character, anchor="end"),
            svg.text(762 + 84 * probability, y + 13, number(probability), size=12),
        ]
    text = (
        "A GPT. Each character and its position become a vector in the residual stream. In each of its "
        f"{n_blocks} blocks, multi-head attention (yours, from notebooks 01 to 05) reads the stream through a layer "
        "norm and adds to it, and then an MLP, which looks at each character by itself, does the same. At the end the "
        "last row becomes 65 logits, one score for each character that could come next. As probabilities: "
        f"{', '.join(f'“{character}” {number(probability)}' for character, probability in NEXT)}."
    )
    return Figure(WIDTH, HEIGHT, parts, text)


def _branch(x, name, remark, colour):
    """Draw what leaves the stream, passes a norm and a part, and is added to it again."""
    width = 168
    return [
        svg.line(x, ROWS[-1], x, 128, colour=colour, width=3),
        svg.box(x - 8, 140, 46, 22, fill=style.PAPER, stroke=style.INK),
        svg.text(x + 15, 155, "norm", anchor="middle", size=12),
        svg.box(x, 68, width, 60, fill=style.tint(colour, 0.3), stroke=colour, stroke_width=2),
        svg.text(x + width / 2, 93, name, anchor="middle", bold=True),
        svg.text(x + width / 2, 113, remark, anchor="middle", size=11),
        svg.arrow(x + width - 8, 128, x + width - 8, STREAM - 12, colour=colour, width=3),
        svg.circle(x + width - 8, STREAM, 15, fill=style.PAPER, stroke=style.INK),
        svg.text(x + width - 8, STREAM + 5, "+", anchor="middle", bold=True),
    ]
