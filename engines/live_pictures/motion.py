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


def write(line: str, n_letters: int, after: int) -> str:
    """Reveal a line of text letter by letter, after the `after` letters before it."""
    about = f"--letters:{n_letters}; --lasts:{WRITES * n_letters}ms; --after:{WRITES * after}ms"
    return line.replace("<text ", f'<text class="mha-write" style="{about}" ', 1)


def flash(x: float, y: float, width: float, height: float) -> str:
    """Flash a frame round something that has changed."""
    frame = svg.box(x, y, width, height, stroke=style.INK, stroke_width=3)
    return frame.replace("<rect ", '<rect class="mha-flash" stroke-opacity="0" ', 1)


def shakes(fragment: str, by: float = 3) -> str:
    """Shake a fragment, by `by` pixels, while it is lit."""
    return f'<g class="mha-shakes" style="--by:{by:.1f}px">{fragment}</g>'
