"""SVG pictures for the labs, as strings: no matplotlib, and half a millisecond each.

Every function returns a fragment placed at (x, y); `document` puts fragments together. Whatever
comes from a learner is escaped. There are no ids, so that a picture can be shown twice on a page.
"""

import html

import numpy as np

from mha_helpers import style
from mha_helpers.style import CELL_HEIGHT, CELL_WIDTH, FONT_SIZE, number

TITLE_HEIGHT, HEADER_HEIGHT, CAPTION_HEIGHT = 27, 20, 20


def text(x, y, content, *, anchor="start", bold=False, colour=style.INK, size=FONT_SIZE):
    """Write one line of text; y is its baseline."""
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{colour}" font-size="{size}"{weight}>'
        f"{html.escape(str(content))}</text>"
    )


def box(x, y, width, height, *, fill="none", stroke="none", stroke_width=1, dashed=False):
    """Draw a rectangle."""
    dashes = ' stroke-dasharray="5 3"' if dashed else ""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" stroke="{stroke}" '
        f'stroke-width="{stroke_width}"{dashes}/>'
    )


def matrix_size(n_rows, n_columns, *, label_width=0, headed=False):
    """Return the width and height that `matrix` needs."""
    header = HEADER_HEIGHT if headed else 0
    return label_width + n_columns * CELL_WIDTH, TITLE_HEIGHT + header + n_rows * CELL_HEIGHT + CAPTION_HEIGHT


def matrix(
    values,
    x,
    y,
    *,
    title,
    colours,
    row_labels,
    column_labels=None,
    label_width=0,
    caption="",
    title_colour=style.INK,
    decimals=2,
    row=None,
    column=None,
    differs=None,
):
    """Draw a matrix with a number in each cell.

    Parameters
    ----------
    values : ndarray, shape (n_rows, n_columns)
    x, y : float
        Its top left corner.
    title : str
    colours : callable
        From a value to the cell's colour, such as `style.weight_colour`.
    row_labels : sequence of str
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
    differs : tuple of int, optional
        A cell to mark as different, by a dashed frame and a sign.

    Returns
    -------
    str
    """
    n_rows, n_columns = values.shape
    left = x + label_width
    top = y + TITLE_HEIGHT + (HEADER_HEIGHT if column_labels else 0)
    parts = [text(left, y + 14, title, bold=True, colour=title_colour)]
    for j, label in enumerate(column_labels or ()):
        centre = left + (j + 0.5) * CELL_WIDTH
        parts.append(text(centre, top - 6, label, anchor="middle", bold=j == column, size=12))
    for i, label in enumerate(row_labels if label_width else ()):
        parts.append(text(left - 6, top + (i + 0.5) * CELL_HEIGHT + 5, label, anchor="end", bold=i == row, size=12))
    for (i, j), value in np.ndenumerate(values):
        parts.append(_cell(left + j * CELL_WIDTH, top + i * CELL_HEIGHT, value, colours(value), decimals))
    width, height = n_columns * CELL_WIDTH, n_rows * CELL_HEIGHT
    if row is not None:
        parts.append(box(left, top + row * CELL_HEIGHT, width, CELL_HEIGHT, stroke=style.INK, stroke_width=3))
    if column is not None:
        parts.append(box(left + column * CELL_WIDTH, top, CELL_WIDTH, height, stroke=style.INK, stroke_width=3))
    if differs is not None:
        i, j = differs
        corner = left + j * CELL_WIDTH, top + i * CELL_HEIGHT
        parts.append(box(*corner, CELL_WIDTH, CELL_HEIGHT, stroke=style.ALARM, stroke_width=4, dashed=True))
        # The sign sits on the frame's corner, beside the number and not on it.
        parts.append(box(corner[0] - 8, corner[1] - 9, 17, 17, fill=style.ALARM))
        parts.append(text(corner[0], corner[1] + 5, "≠", anchor="middle", bold=True, colour=style.PAPER))
    if caption:
        parts.append(text(left, top + height + 15, caption, colour=style.QUIET, size=12))
    return "".join(parts)


def _cell(x, y, value, colour, decimals):
    parts = [box(x, y, CELL_WIDTH, CELL_HEIGHT, fill=colour, stroke=style.PAPER)]
    if not np.isfinite(value):  # hatched: a hidden score or NaN is not only a colour
        strokes = "".join(f"M{x + s:g} {y + CELL_HEIGHT:g}l12 -{CELL_HEIGHT}" for s in range(0, CELL_WIDTH - 11, 10))
        parts.append(f'<path d="{strokes}" stroke="{style.QUIET}" stroke-width="0.7"/>')
    label = number(value, decimals)
    while len(label) > 6 and decimals > 0:
        decimals -= 1
        label = number(value, decimals)
    if len(label) > 6:
        label = f"{value:.0e}".replace("-", "−")
    parts.append(
        text(x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + 5, label, anchor="middle", colour=style.text_colour(colour))
    )
    return "".join(parts)


def tokens(words, x, y, *, width):
    """Draw a row of tokens in boxes, `width` pixels each."""
    parts = []
    for i, word in enumerate(words):
        left = x + i * (width + 6)
        parts.append(box(left, y, width, 28, fill="#f2f2f2", stroke=style.INK))
        parts.append(text(left + width / 2, y + 19, word, anchor="middle"))
    return "".join(parts)


def document(width, height, fragments, *, label):
    """Put fragments together into one picture that a screen reader calls `label`."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{html.escape(label)}" '
        f'style="background:{style.PAPER}; max-width:100%; height:auto" font-family="{style.FONT}">'
        f"{''.join(fragments)}</svg>"
    )
