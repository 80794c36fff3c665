"""What looks like a control and is drawn: a chip, one of which is chosen, and a box with a tick."""

from mha_helpers.drawing import style, svg
from mha_helpers.labs.card import EDGE

HEIGHT = 26  # pixels
PART = 344  # pixels: no picture is wider, so that a phone held upright shows it whole


def chip(x, y, width, words, *, chosen, colour=style.INK):
    """Draw one of several: what is chosen is bold, tinted and has a thick frame."""
    fill = style.tint(colour, 0.3) if chosen and colour != style.INK else style.PANEL
    edge = {"stroke": colour, "stroke_width": 2} if chosen else {"stroke": EDGE}
    return svg.box(x, y, width, HEIGHT, fill=fill, **edge) + svg.text(
        x + width / 2, y + 18, words, anchor="middle", bold=chosen
    )


def tick_box(x, y, words, *, on, colour=style.INK):
    """Draw what is on or off."""
    box = svg.box(x, y + 5, 15, 15, fill=style.PAPER, stroke=style.INK)
    tick = f'<path d="M{x + 3:g} {y + 13:g}l4 4l6 -9" fill="none" stroke="{style.INK}" stroke-width="2.5"/>'
    return box + (tick if on else "") + svg.text(x + 21, y + 17, words, bold=True, colour=colour)
