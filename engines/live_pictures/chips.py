"""What looks like a control and is drawn: a chip, one of which is chosen, a box with a tick, and buttons."""

from collections.abc import Sequence

from live_pictures import marks, style, svg
from live_pictures.card import EDGE

HEIGHT = 26  # pixels
PART = 344  # pixels: no picture is wider, so that a phone held upright shows it whole


def chip(x: float, y: float, width: float, words: str, *, chosen: bool, colour: str = style.INK) -> str:
    """Draw one of several choices: the chosen one is bold and tinted, with a thick frame."""
    fill = style.tint(colour, 0.3) if chosen and colour != style.INK else style.PANEL
    edge = {"stroke": colour, "stroke_width": 2} if chosen else {"stroke": EDGE}
    return svg.box(x, y, width, HEIGHT, fill=fill, **edge) + svg.text(
        x + width / 2, y + 18, words, anchor="middle", bold=chosen
    )


def tick_box(x: float, y: float, words: str, *, on: bool, colour: str = style.INK) -> str:
    """Draw a check box with its label."""
    box = svg.box(x, y + 5, 15, 15, fill=style.PAPER, stroke=style.INK)
    tick = f'<path d="M{x + 3:g} {y + 13:g}l4 4l6 -9" fill="none" stroke="{style.INK}" stroke-width="2.5"/>'
    return box + (tick if on else "") + svg.text(x + 21, y + 17, words, bold=True, colour=colour)


def grip(name: str, track: Sequence[tuple[float, float]]) -> str:
    """Cover a track, so that its handle comes to where it is pressed. Draw it above the track and below the handle."""
    xs, ys = zip(*track, strict=True)
    half = HEIGHT / 2
    reach = max(xs) - min(xs) + HEIGHT, max(ys) - min(ys) + HEIGHT
    return marks.grip(svg.box(min(xs) - half, min(ys) - half, *reach, fill="transparent"), name)


def button(
    x: float,
    y: float,
    width: float,
    words: str,
    *,
    press: str | None = None,
    sets: marks.Values | None = None,
    name: str | None = None,
    dim: bool = False,
) -> str:
    """Draw a button that is pressed in the picture; a dim one looks as if a press changed nothing."""
    colour = style.QUIET if dim else style.INK
    drawn = f'<rect x="{x}" y="{y}" width="{width}" height="{HEIGHT}" rx="5" fill="{style.PANEL}" stroke="{EDGE}"/>'
    drawn += svg.text(x + width / 2, y + 18, words, anchor="middle", bold=not dim, colour=colour)
    return marks.button(drawn, press=press, sets=sets, name=name)


def player(
    x: float,
    y: float,
    name: str,
    *,
    press: str,
    every: int,
    starts: int | None = None,
    sets: marks.Values | None = None,
    tip: str | None = None,
) -> str:
    """Draw a play button: a triangle, and two bars while it plays.

    Its arguments are those of `marks.player`.
    """
    middle = f"{x + 13:g} {y + 13:g}"
    disc = svg.circle(x + 13, y + 13, 13, fill=style.INK)
    go = f'<path class="mha-go" d="M{middle}m-4 -7l12 7l-12 7z" fill="{style.PAPER}"/>'
    halt = f'<path class="mha-halt" display="none" d="M{middle}m-6 -6h4v12h-4zm8 0h4v12h-4z" fill="{style.PAPER}"/>'
    return marks.player(disc + go + halt, press, every=every, starts=starts, sets=sets, name=name, tip=tip)
