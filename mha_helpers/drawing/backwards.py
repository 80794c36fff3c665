"""Attention forwards and backwards on one picture: each array above its gradient, each step above its way back."""

from live_pictures import style, svg
from live_pictures.figure import Figure
from mha_helpers.drawing import palette

WIDTH, HEIGHT = 748, 250
FORWARDS, BACKWARDS = 62, 190  # the middle of either row
TALL, WIDE = 44, 64
COLUMNS = {"S": 224, "P": 426, "C": 668}
COLOURS = {"S": palette.DIVERGING[-2], "P": palette.HEADS[0], "C": palette.ROLES["output"]}  # as everywhere
SIDE = 24  # the left edge of queries and keys
VALUES = 556  # and of the values, between the rows


def backwards():
    """Draw attention's three steps, and above which of them each gradient is computed.

    Returns
    -------
    Figure

    Examples
    --------
    >>> str(backwards())[:63]
    'Attention forwards and backwards. Forwards: S = Q Kᵀ / √d, P = '
    """
    ahead, back = style.INK, palette.role_text("keys")
    parts = [
        svg.text(SIDE, 18, "forwards", bold=True),
        svg.text(SIDE, HEIGHT - 10, "backwards", bold=True, colour=back),
    ]
    for sign, y, colour in (("", FORWARDS, ahead), ("d", BACKWARDS, back)):
        parts += _array(SIDE, y - 15, 26, sign + "Q", palette.ROLES["queries"]) + _array(
            SIDE, y + 15, 26, sign + "K", palette.ROLES["keys"]
        )
        for name, x in COLUMNS.items():
            colour_of = COLOURS[name]
            parts += _array(x, y, TALL, sign + name, colour_of)
        parts += _array(VALUES, y + (38 if not sign else -38), 26, sign + "V", palette.ROLES["values"])
        ends = (SIDE, COLUMNS["S"]), (COLUMNS["S"], COLUMNS["P"]), (COLUMNS["P"], COLUMNS["C"])
        for left, right in ends:
            here, there = left + WIDE + 4, right + 3
            parts.append(svg.arrow(*((here, y, there, y) if not sign else (there - 7, y, here - 7, y)), colour=colour))
    parts += [
        svg.line(VALUES + 32, FORWARDS + 25, VALUES + 32, FORWARDS + 2, colour=ahead, width=2.5),
        svg.arrow(VALUES + 32, BACKWARDS - 2, VALUES + 32, BACKWARDS - 32, colour=back),
    ]
    between = [(left + WIDE + right) / 2 for left, right in ends]
    for x, step, undone in zip(
        between,
        ("Q Kᵀ / √dₖ", "softmax", "P V"),
        ("step 3: yours", "step 2: yours", "step 1: dC Vᵀ"),
        strict=True,
    ):
        parts += [
            svg.text(x, FORWARDS - 12, step, anchor="middle", bold=True),
            svg.text(x, BACKWARDS + 22, undone, anchor="middle", bold=True, colour=back, size=12),
        ]
    parts += [
        svg.text(VALUES + 70, BACKWARDS - 34, "step 1: Pᵀ dC", colour=back, bold=True, size=12),
        svg.text(COLUMNS["C"] + WIDE / 2, BACKWARDS + 40, "given", anchor="middle", size=12),
    ]
    text = (
        "Attention forwards and backwards. Forwards: S = Q Kᵀ / √d, P = softmax(S), C = P V. Backwards, from the "
        "given dC: step 1 gives dP = dC Vᵀ and dV = Pᵀ dC; steps 2 and 3 are yours: back through the "
        "softmax, which turns dP into dS, and from dS to dQ and dK."
    )
    return Figure(WIDTH, HEIGHT, parts, text)


def _array(x, middle, height, name, colour):
    return [
        svg.box(x, middle - height / 2, WIDE, height, fill=style.tint(colour, 0.3), stroke=colour, stroke_width=2),
        svg.text(x + WIDE / 2, middle + 5, name, anchor="middle", bold=True),
    ]
