"""An operation on matrices with its numbers: matrices in a row, and the signs between them."""

import re
from dataclasses import dataclass

import numpy as np

from live_pictures import marks, style, svg
from mha_helpers.drawing import palette

CELL = (40, 20)
TEXT = 12
TITLE, HEADER = 17, 15
SIGN = 30  # pixels for a sign such as × or =
LABEL = 38
NOTHING = 1e-9


def written(value):
    """Write a number as briefly as possible: whole ones without decimals, and so that it fits its cell."""
    return svg.short(value, 0 if float(value).is_integer() else 2)


def is_nothing(value):
    """Tell whether a number is negligible; NaN isn't."""
    return abs(value) < NOTHING


@dataclass(frozen=True)
class Grid:
    """A matrix to draw.

    Parameters
    ----------
    values : ndarray, shape (n_rows, n_columns)
    title : str
    colours : callable
        From (value, row, column) to the cell's fill.
    colour : str
        Of the title.
    rows, columns : sequence of str, optional
        Labels.
    marked : set of (int, int), optional
        A rectangle of cells to frame.
    wrong : ndarray of bool, optional
        Cells that differ from the course's.
    bars : sequence of (str, int), optional
        Coloured bars below the columns: a colour, and over how many columns.
    cell : (float, float), optional
        A cell's width and height.
    label_width : float, optional
        Room for the row labels.
    corner : str, optional
        What rows and columns are.
    name_size : float, optional
        Of the labels and the corner.
    write : callable, optional
        From a number to what stands in its cell.
    hidden : ndarray of bool, optional
        Where nothing should be: grey, or framed in red.
    tip : callable, optional
        From row and column to what is written beside a cell while it is pointed at.
    """

    values: np.ndarray
    title: str
    colours: object
    colour: str = style.INK
    rows: tuple = ()
    columns: tuple = ()
    marked: frozenset = frozenset()
    wrong: np.ndarray | None = None
    bars: tuple = ()
    cell: tuple = CELL
    label_width: float = LABEL
    corner: str = ""
    name_size: float = style.MIN_SIZE
    write: object = written
    hidden: np.ndarray | None = None
    tip: object = None

    @property
    def left(self):
        """How far from the left edge the cells begin."""
        return self.label_width if self.rows else 0

    @property
    def width(self):
        return self.left + self.values.shape[1] * self.cell[0]

    @property
    def height(self):
        return self.values.shape[0] * self.cell[1]


def width_of(part):
    """Return the room that a grid or a sign takes."""
    return part.width if isinstance(part, Grid) else sign_width(part)


def equation(parts, x, y, height):
    """Draw grids and signs in a row.

    Parameters
    ----------
    parts : sequence of Grid or str
        A sign, and a longer one such as "softmax", stands between two grids.
    x, y, height : float
        Where the row begins, its top, and its height.

    Returns
    -------
    list of str
        Each part.
    """
    drawn = []
    headed = any(isinstance(part, Grid) and part.columns for part in parts)
    above = TITLE + (HEADER if headed else 0)
    tallest = max(part.height for part in parts if isinstance(part, Grid))
    top = y + above + max(0, (height - above - tallest - 6) / 2)
    middle = top + tallest / 2
    for part in parts:
        is_grid = isinstance(part, Grid)
        drawn.append(draw_grid(part, x, middle - part.height / 2) if is_grid else sign(part, x, middle))
        x += width_of(part)
    return drawn


def sign_width(content):
    """Return the room that a sign takes."""
    return SIGN if len(content) <= 2 else 14 + 7.4 * len(content)


def sign(content, x, middle):
    """Draw a sign between two grids: an operator, or a word over an arrow."""
    wide = sign_width(content)
    if len(content) <= 2:
        return svg.text(x + wide / 2, middle + 6, content, anchor="middle", size=18)
    word = svg.text(x + wide / 2, middle - 6, content, anchor="middle", size=12)
    return word + _arrow(x + 6, x + wide - 6, middle + 3)


def _arrow(start, end, y):
    path = f"M{start:g} {y:g}H{end:g}m-6 -5l6 5l-6 5"
    return f'<path d="{path}" fill="none" stroke="{style.INK}" stroke-width="1.5"/>'


def draw_grid(grid, x, y, *, header=None):
    """Draw a grid whose cells begin at height y; title and labels stand above and beside them.

    `header` is the room between title and cells where another grid beside this one has names of columns.
    """
    if header is None:
        header = HEADER if grid.columns else 0
    (width, height), left = grid.cell, x + grid.left
    size = TEXT if width >= CELL[0] - 2 else style.MIN_SIZE
    parts = [*_labels(grid, left, y, header)]
    for (i, j), value in np.ndenumerate(grid.values):
        hidden = grid.hidden is not None and grid.hidden[i, j]
        if hidden and is_nothing(value):
            parts.append(svg.box(left + j * width, y + i * height, width - 1, height - 1, fill=style.HIDDEN))
            continue
        colour = grid.colours(value, i, j)
        cell = svg.box(left + j * width, y + i * height, width - 1, height - 1, fill=colour)
        centre, ink = left + (j + 0.5) * width - 0.5, style.text_colour(colour)
        label = grid.write(value)
        if label:
            cell += svg.text(centre, y + (i + 0.5) * height + 4, label, anchor="middle", size=size, colour=ink)
        parts.append(marks.tip(cell, grid.tip(i, j)) if grid.tip else cell)
        if hidden:
            at = left + j * width + 1.5, y + i * height + 1.5
            parts.append(svg.box(*at, width - 4, height - 4, stroke=style.ALARM, stroke_width=3))
    parts += [_frame(grid, left, y), _differences(grid, left, y)]
    at = left
    for colour, columns in grid.bars:
        parts.append(svg.box(at, y + grid.height + 1, columns * width - 1, 4, fill=colour))
        at += columns * width
    return "".join(parts)


def _labels(grid, left, y, header):
    """Write a grid's title, its corner, and the names of its columns and rows."""
    width, height = grid.cell
    if grid.title:
        yield svg.text(left, y - 5 - header, grid.title, bold=True, size=TEXT, colour=grid.colour)
    if grid.corner and grid.columns:
        yield svg.text(left - 5, y - 4, grid.corner, anchor="end", size=grid.name_size, colour=style.QUIET)
    for j, label in enumerate(grid.columns):
        yield svg.text(left + (j + 0.5) * width, y - 4, label, anchor="middle", size=grid.name_size)
    for i, label in enumerate(grid.rows):
        chosen = any(row == i for row, _ in grid.marked)
        yield svg.text(left - 5, y + (i + 0.5) * height + 4, label, anchor="end", size=grid.name_size, bold=chosen)


def _frame(grid, left, y):
    if not grid.marked:
        return ""
    (width, height), rows, columns = grid.cell, {i for i, _ in grid.marked}, {j for _, j in grid.marked}
    return svg.box(
        left + min(columns) * width - 1, y + min(rows) * height - 1, len(columns) * width + 1, len(rows) * height + 1,
        stroke=style.INK, stroke_width=2,
    )  # fmt: skip


def _differences(grid, left, y):
    """Mark each cell that differs by a dashed frame and a red corner."""
    (width, height), parts = grid.cell, []
    for i, j in np.argwhere(grid.wrong) if grid.wrong is not None else ():
        x, top = left + j * width, y + i * height
        frame = svg.box(x, top, width - 1, height - 1, stroke=style.ALARM, stroke_width=1.5, dashed=True)
        parts.append(f'{frame}<path d="M{x + width - 1:g} {top:g}h-9l9 9z" fill="{style.ALARM}"/>')
    return "".join(parts)


NAMES = {"X": "X", "Q": "queries", "K": "keys", "V": "values", "output": "output"}


def formula(x, y, content, *, size=13, head=None):
    """Write a formula in which every name has its role's colour, and every `_h` its head's.

    Parameters
    ----------
    x, y : float
    content : str
        "Q = X W_Q".
    size : float, optional
    head : int, optional
    """
    spans = []
    for piece in re.split(r"(\bW_[QKVO]\b|\b[XQKV](?=ᵀ|\b)|\boutput\b|\bhead \d\b)", content):
        role = NAMES.get(piece.removeprefix("W_"))
        colour = (
            palette.role_text(role) if role else palette.head_text(head) if piece.startswith("head ") else style.INK
        )
        bold = ' font-weight="bold"' if role or piece.startswith(("W_", "head ")) else ""
        spans.append(f'<tspan fill="{colour}"{bold}>{piece}</tspan>')
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" xml:space="preserve">{"".join(spans)}</text>'
