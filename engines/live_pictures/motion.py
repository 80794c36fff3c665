"""What moves in a lab's picture: each fragment is drawn where it ends, and the card's style sheet moves it there.

Where motion is not wanted (prefers-reduced-motion), and in a still picture, only the end is seen.
"""

from live_pictures import style, svg

WRITES = 35  # milliseconds from letter to letter: a verse takes four seconds


def arrive(fragment: str, dx: float, dy: float) -> str:
    """Move a fragment to its place from (dx, dy) away."""
    if not dx and not dy:
        return fragment
    return f'<g class="mha-arrive" style="--from-x:{dx:g}px; --from-y:{dy:g}px">{fragment}</g>'


def write(line: str, begins: int, ends: int, *, since: int = 0) -> str:
    """Reveal a line of text letter by letter; a press of a mark with a `moment` is told how far it has come.

    Parameters
    ----------
    line : str
        A `<text>`.
    begins, ends : int
        Which letters of the whole text it holds.
    since : int, optional
        The letter from which the whole is written now: what was before it is there.
    """
    first = max(begins, since)
    if first >= ends:
        return line
    lasts, hidden = ends - first, 100 * (ends - first) // (ends - begins)
    about = f"--letters:{lasts}; --lasts:{WRITES * lasts}ms; --after:{WRITES * (first - since)}ms; --hidden:{hidden}%"
    return line.replace("<text ", f'<text class="mha-write" data-write="[{first}, {lasts}]" style="{about}" ', 1)


def reveal(fragment: str) -> str:
    """Reveal a fragment from left to right."""
    return f'<g class="mha-reveal">{fragment}</g>'


def later(fragment: str) -> str:
    """Let a fragment come once what goes before it is seen, or with the next press."""
    return f'<g class="mha-later">{fragment}</g>'


def cut(x: float, top: float, bottom: float) -> str:
    """Draw a cut downwards, which then is gone."""
    line = svg.line(x, top, x, bottom, colour=style.INK, width=2)
    return line.replace("<path ", f'<path class="mha-cut" style="--whole:{bottom - top:g}" ', 1)


def flash(x: float, y: float, width: float, height: float) -> str:
    """Flash a frame round something that has changed."""
    frame = svg.box(x, y, width, height, stroke=style.INK, stroke_width=3)
    return frame.replace("<rect ", '<rect class="mha-flash" stroke-opacity="0" ', 1)


def shakes(fragment: str, by: float = 3) -> str:
    """Shake a fragment, by `by` pixels, while it is lit."""
    return f'<g class="mha-shakes" style="--by:{by:.1f}px">{fragment}</g>'
