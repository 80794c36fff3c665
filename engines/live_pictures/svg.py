"""SVG pictures for figures and labs, as strings: no drawing library, and half a millisecond each.

Every function returns a fragment placed at (x, y); `document` puts fragments together. Whatever
comes from a reader is escaped. There are no ids, so that a picture can be shown twice on a page.
"""

import html
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from live_pictures import style
from live_pictures.style import CELL_HEIGHT, CELL_WIDTH, FONT_SIZE, number

CELL = CELL_WIDTH, CELL_HEIGHT
TITLE_HEIGHT, HEADER_HEIGHT, CAPTION_HEIGHT = 27, 20, 20


def text(
    x: float,
    y: float,
    content: object,
    *,
    anchor: str = "start",
    bold: bool = False,
    colour: str = style.INK,
    size: float = FONT_SIZE,
    rising: float = 0,
) -> str:
    """Write one line of text; y is its baseline, and `rising` the degrees by which it rises to the right."""
    weight = ' font-weight="bold"' if bold else ""
    turned = f' transform="rotate({-rising} {x:g} {y:g})"' if rising else ""
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{colour}" font-size="{size}"{weight}{turned}>'
        f"{html.escape(str(content))}</text>"
    )


def letters(
    placed: Iterable[tuple[float, float, str]],
    *,
    bold: bool = False,
    colour: str = style.INK,
    size: float = FONT_SIZE,
) -> str:
    """Write characters that each have a place of their own, in one text: a browser draws it faster than as many texts.

    Parameters
    ----------
    placed : iterable of tuple
        The character's middle, its baseline, and the character; one at least.
    bold : bool, optional
    colour : str, optional
    size : float, optional

    Examples
    --------
    >>> letters([(5, 12, "a"), (15, 12, "b")])[:23]
    '<text x="5 15" y="12 12'
    """
    xs, ys, characters = zip(*placed, strict=True)
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{" ".join(f"{x:g}" for x in xs)}" y="{" ".join(f"{y:g}" for y in ys)}" text-anchor="middle" '
        f'fill="{colour}" font-size="{size}"{weight}>{html.escape("".join(characters))}</text>'
    )


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    fill: str = "none",
    stroke: str = "none",
    stroke_width: float = 1,
    dashed: bool = False,
) -> str:
    """Draw a rectangle."""
    dashes = ' stroke-dasharray="5 3"' if dashed else ""
    outline = "" if stroke == "none" else f' stroke="{stroke}" stroke-width="{stroke_width}"{dashes}'
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}"{outline}/>'


def boxes(places: Iterable[tuple[float, float, str]], width: float, height: float) -> str:
    """Draw boxes of one size, each place and its fill: all of a colour at once, which a browser draws faster.

    Parameters
    ----------
    places : iterable of tuple
        Left, top, and the fill.
    width, height : float
    """
    paths = defaultdict(list)
    for x, y, fill in places:
        paths[fill].append(f"M{x:g} {y:g}h{width:g}v{height:g}h{-width:g}z")
    return "".join(f'<path d="{"".join(path)}" fill="{fill}"/>' for fill, path in paths.items())


def matrix_size(
    n_rows: int, n_columns: int, *, label_width: float = 0, headed: bool = False, cell: tuple[float, float] = CELL
) -> tuple[float, float]:
    """Return the width and height that `matrix` needs."""
    header = HEADER_HEIGHT if headed else 0
    return label_width + n_columns * cell[0], TITLE_HEIGHT + header + n_rows * cell[1] + CAPTION_HEIGHT


def matrix(
    values: np.ndarray,
    x: float,
    y: float,
    *,
    title: str,
    colours: Callable[[float], str],
    row_labels: Sequence[object] = (),
    column_labels: Sequence[object] | None = None,
    label_width: float = 0,
    caption: str = "",
    title_colour: str = style.INK,
    decimals: int = 2,
    row: int | None = None,
    column: int | None = None,
    differs: np.ndarray | None = None,
    cell: tuple[float, float] = CELL,
    hidden: np.ndarray | None = None,
    write: Callable[[float], str] | None = None,
) -> str:
    """Draw a matrix with a number in each cell.

    Parameters
    ----------
    values : ndarray, shape (n_rows, n_columns)
    x, y : float
        Its top left corner.
    title : str
    colours : callable
        From a value to the cell's colour.
    row_labels : sequence of str, optional
    column_labels : sequence of str, optional
    label_width : float, optional
        Room for the row labels, in pixels; 0 leaves them out.
    caption : str, optional
        A line below.
    title_colour : str, optional
    decimals : int, optional
        At most; large numbers get fewer, so that they fit their cells.
    row, column : int, optional
        A row and a column to frame.
    differs : ndarray of bool, shape (n_rows, n_columns), optional
        Cells to mark as different: the first by a dashed frame and a sign, all others by a pale wash.
    cell : tuple of int, optional
        A cell's width and height: smaller than usual where a matrix is large.
    hidden : ndarray of bool, shape (n_rows, n_columns), optional
        Cells without their numbers: grey with a faint diagonal.
    write : callable, optional
        From a value to what stands in its cell, where `decimals` don't say it.
    """
    n_rows, n_columns = values.shape
    width, height = cell
    left = x + label_width
    top = y + TITLE_HEIGHT + (HEADER_HEIGHT if column_labels else 0)
    parts = [text(left, y + 14, title, bold=True, colour=title_colour)]
    for j, label in enumerate(column_labels or ()):
        centre = left + (j + 0.5) * width
        parts.append(text(centre, top - 6, label, anchor="middle", bold=j == column, size=12))
    for i, label in enumerate(row_labels if label_width else ()):
        parts.append(text(left - 6, top + (i + 0.5) * height + 5, label, anchor="end", bold=i == row, size=12))
    for (i, j), value in np.ndenumerate(values):
        x_cell, y_cell = left + j * width, top + i * height
        if hidden is not None and hidden[i, j]:
            parts.append(hidden_cell(x_cell, y_cell, width, height))
        else:
            label = write(value) if write else short(value, decimals)
            parts.append(_cell(x_cell, y_cell, cell, label, colours(value)))
    if row is not None:
        parts.append(box(left, top + row * height, n_columns * width, height, stroke=style.INK, stroke_width=3))
    if column is not None:
        parts.append(box(left + column * width, top, width, n_rows * height, stroke=style.INK, stroke_width=3))
    for n, (i, j) in enumerate(np.argwhere(differs) if differs is not None else ()):
        mark = wash if n else difference
        parts.append(mark(left + j * width, top + i * height, width, height))
    if caption:
        parts.append(text(left, top + n_rows * height + 15, caption, colour=style.QUIET, size=12))
    return "".join(parts)


def short(value: float, decimals: int) -> str:
    """Write a number so that it fits a cell."""
    label = number(value, decimals)
    while len(label) > 6 and decimals > 0:
        decimals -= 1
        label = number(value, decimals)
    return label if len(label) <= 6 else f"{value:.0e}".replace("-", "−")


def hidden_cell(x: float, y: float, width: float, height: float) -> str:
    """Draw a cell whose number is not shown: its diagonal tells it from a number's colour where colours cannot."""
    frame = box(x, y, width, height, fill=style.HIDDEN, stroke=style.PAPER)
    return frame + line(x + 2, y + height - 2, x + width - 2, y + 2, colour=style.tint(style.QUIET, 0.4))


def _cell(x, y, cell, label, colour):
    width, height = cell
    size = FONT_SIZE if width >= CELL_WIDTH else FONT_SIZE - 2
    ink = style.text_colour(colour)
    number = text(x + width / 2, y + height / 2 + 5, label, anchor="middle", colour=ink, size=size)
    return box(x, y, width, height, fill=colour, stroke=style.PAPER) + number


def difference(x: float, y: float, width: float, height: float) -> str:
    """Mark a cell as different, by a dashed frame and a sign in its corner, beside the number and not on it."""
    frame = box(x + 1, y + 1, width - 2, height - 2, stroke=style.ALARM, stroke_width=2, dashed=True)
    if width < 30:  # there is no room for the sign: a corner, with the same meaning
        return f'{frame}<path d="M{x:g} {y:g}h9l-9 9z" fill="{style.ALARM}"/>'
    return "".join(
        [
            frame,
            box(x - 5, y - 5, 12, 12, fill=style.ALARM),
            text(x + 1, y + 5, "≠", anchor="middle", bold=True, colour=style.PAPER, size=11),
        ]
    )


def wash(x: float, y: float, width: float, height: float) -> str:
    """Mark a cell as different where another, which has the sign, is to be looked at first."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{style.ALARM}" fill-opacity="0.12"/>'


def document(width: float, height: float, fragments: Iterable[str], *, label: str) -> str:
    """Put fragments together into one picture that a screen reader calls `label`."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{html.escape(label)}" '
        f'style="background:{style.PAPER}; max-width:100%; height:auto" font-family="{style.FONT}">'
        f"{''.join(fragments)}</svg>"
    )


def line(x0: float, y0: float, x1: float, y1: float, *, colour: str, width: float = 1) -> str:
    """Draw a straight line."""
    return f'<path d="M{x0:g} {y0:g}L{x1:g} {y1:g}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>'


def segment(x0: float, y0: float, x1: float, y1: float, *, colour: str, width: float = 1) -> str:
    """Draw a straight line whose ends are attributes of their own, so that they can be moved."""
    return f'<line x1="{x0:g}" y1="{y0:g}" x2="{x1:g}" y2="{y1:g}" stroke="{colour}" stroke-width="{width:g}"/>'


def polyline(
    points: Iterable[tuple[float, float]], *, colour: str, width: float = 2, dashes: str = "", name: str = ""
) -> str:
    """Draw a line through points, with a name that shows where the pointer rests."""
    path = "L".join(f"{x:g} {y:g}" for x, y in points)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    title = f"<title>{html.escape(name)}</title>" if name else ""
    return f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"{dashed}>{title}</path>'


def circle(x: float, y: float, radius: float, *, fill: str, stroke: str = "none") -> str:
    """Draw a circle."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}" stroke="{stroke}"/>'


def arrow(x0: float, y0: float, x1: float, y1: float, *, colour: str, width: float = 2.5) -> str:
    """Draw a straight arrow whose point stops short of (x1, y1), where something stands."""
    length = math.hypot(x1 - x0, y1 - y0) or 1
    along, across = ((x1 - x0) / length, (y1 - y0) / length), (-(y1 - y0) / length, (x1 - x0) / length)
    tip = (x1 - 7 * along[0], y1 - 7 * along[1])
    barbs = [
        (tip[0] - 9 * along[0] + side * 5 * across[0], tip[1] - 9 * along[1] + side * 5 * across[1]) for side in (1, -1)
    ]
    point = "L".join(f"{x:.1f} {y:.1f}" for x, y in (barbs[0], tip, barbs[1]))
    return line(x0, y0, round(tip[0], 1), round(tip[1], 1), colour=colour, width=width) + (
        f'<path d="M{point}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>'
    )
