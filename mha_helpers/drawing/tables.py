"""Figures of matrices: a number in each cell, a colour for what it is."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from live_pictures import style, svg
from live_pictures.figure import Figure
from live_pictures.style import number
from mha_helpers.drawing import palette
from mha_helpers.drawing.equation import HEADER, TEXT, TITLE, Grid, draw_grid, is_nothing, sign, sign_width

MAX_WIDTH = 760  # pixels: where matrices side by side would be wider, they go on below
GAP, MARGIN = 22, 6
MANY = 60  # cells: from here on what is nearly zero is left blank, so that the rest can be seen
OWN_ROLES = ("scores", "weights", "heads", "heads in rows", "tokens")


class Matrix(NamedTuple):
    """A matrix to draw, with the names of its rows and columns.

    Parameters
    ----------
    title : str
    values : array_like, shape (n_rows, n_columns)
    role : str
        Decides the colours. "X", "queries", "keys", "values" or "output": stronger where a number is larger.
        "scores" and "weights" have ramps of their own; "weights 1" are those of head 1. "head 0" has that head's
        colour; "heads" colours the columns by head, "heads in rows" the rows. "tokens" shows which token each cell
        is from.
    rows : sequence of str
    columns : sequence of str, optional
    decimals : int, optional
    corner : str, optional
        What rows and columns are, where they are not queries and keys.
    heads : sequence of int, optional
        The heads to which the columns (or rows) of "heads" belong, in equal shares; "tokens" has a bar for each
        below its columns.
    tokens : array_like of int, shape (n_rows, n_columns), optional
        For the role "tokens": which token each cell is from; its row unless given.
    hidden : array_like of bool, shape (n_rows, n_columns), optional
        Where a mask wants nothing: such a cell is plain grey without a number, and framed in red where there is
        something all the same.
    """

    title: str
    values: object
    role: str
    rows: Sequence[str]
    columns: Sequence[str] | range = ()
    decimals: int = 2
    corner: str = "query \\ key"
    heads: Sequence[int] = (0, 1)
    tokens: object = None
    hidden: object = None


def matrices(*parts):
    r"""Draw matrices side by side, with a number in each cell.

    Parameters
    ----------
    *parts : Matrix or str
        A sign such as "×" or "=" may stand between two of them. After "\n" they go on below.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a matrix has not two axes, or its labels do not fit, or its role is unknown.

    Examples
    --------
    >>> matrices(Matrix("Q", [[0.8, -0.2]], "queries", ("I",)))
    Q: I (0.80, −0.20).
    """
    checked = [part if isinstance(part, str) else _checked(part) for part in parts]
    text = " ".join(_sentence(part) for part in checked if isinstance(part, Matrix))
    largest = {}  # the same shade says the same number, in all matrices of a kind
    for part in checked:
        if isinstance(part, Matrix):
            highest = np.abs(part.values[np.isfinite(part.values)]).max(initial=0)
            largest[_kind(part)] = max(largest.get(_kind(part), 0), highest)
    drawn = [part if isinstance(part, str) else _grid(part, largest[_kind(part)]) for part in checked]
    return Figure(*_arranged(drawn), text)


def _checked(matrix):
    matrix = matrix._replace(
        values=np.asarray(matrix.values, dtype=float), rows=tuple(map(str, matrix.rows)),
        columns=tuple(map(str, matrix.columns)),
    )  # fmt: skip
    if matrix.values.ndim != 2 or matrix.values.shape[0] != len(matrix.rows):
        raise ValueError(
            f"{matrix.title!r} has shape {matrix.values.shape} and {len(matrix.rows)} row labels; give one a row"
        )
    if matrix.columns and matrix.values.shape[1] != len(matrix.columns):
        raise ValueError(
            f"{matrix.title!r} has shape {matrix.values.shape} and {len(matrix.columns)} column labels; "
            "give one a column"
        )
    hidden = np.zeros(matrix.values.shape, bool) if matrix.hidden is None else np.asarray(matrix.hidden, dtype=bool)
    if hidden.shape != matrix.values.shape:
        raise ValueError(
            f"{matrix.title!r} has shape {matrix.values.shape} and hidden {hidden.shape}; give one for each cell"
        )
    matrix = matrix._replace(hidden=hidden)
    kind, _, which = matrix.role.partition(" ")
    if matrix.role not in (*palette.ROLES, *OWN_ROLES) and not (kind in ("head", "weights") and which.isdigit()):
        roles = ", ".join([*palette.ROLES, *OWN_ROLES, "weights 1", "head 0"])
        raise ValueError(f"{matrix.title!r} has the role {matrix.role!r}; give one of {roles}")
    return matrix


# ---- colours ---------------------------------------------------------------------------------


def by_size(colour, largest):
    """Return a function that shades cells by how far from 0 a number is: in one colour above 0, in another below."""

    def shade(value):
        if not np.isfinite(value):
            return style.PAPER
        # Rounded: what differs from machine to machine must not show in a stored picture.
        size = round(min(abs(value) / (largest or 1), 1), 2)
        if value < 0 and size:
            return style.tint(palette.NEGATIVE, 0.2 + 0.5 * size)  # more of it: yellow is a light colour
        return style.tint(colour, 0.07 + 0.43 * size)

    return shade


def _kind(matrix):
    """Return the kind of matrices that share a scale of shades: those of a role, or all in heads' colours."""
    kind = matrix.role.partition(" ")[0]
    return "heads" if kind in ("head", "heads") else matrix.role


def _colours(matrix, largest):
    """Return a function from (value, row, column) to a cell's colour, and the title's colour."""
    kind, _, which = matrix.role.partition(" ")
    head = int(which) if which.isdigit() else 0
    values, ink = matrix.values, style.INK
    if kind == "weights":
        ramp, ink = palette.head_weight_colours(head), palette.head_text(head) if which else style.INK
    elif kind == "scores":
        ramp = palette.score_colours(max(1.0, largest))
    elif kind == "head":
        ramp, ink = by_size(palette.head_colour(head), largest), palette.head_text(head)
    elif kind == "heads":
        shades = [by_size(palette.head_colour(head), largest) for head in matrix.heads]
        by_row = bool(which)
        width = -(-values.shape[0 if by_row else 1] // len(shades))
        return (lambda value, i, j: shades[(i if by_row else j) // width](value)), ink
    elif kind == "tokens":
        tokens = np.arange(len(values))[:, None] if matrix.tokens is None else np.asarray(matrix.tokens)
        tokens = np.broadcast_to(tokens, values.shape)
        return (lambda value, i, j: palette.token_fill(int(tokens[i, j]))), ink
    else:
        ramp, ink = by_size(palette.ROLES[matrix.role], largest), palette.role_text(matrix.role)
    return (lambda value, i, j: ramp(round(value, 2) if kind != "scores" else value)), ink


# ---- places ----------------------------------------------------------------------------------


def _cell(matrix):
    """Return how large cells are: the course's, or smaller where there are many columns or long names above them."""
    n_columns = matrix.values.shape[1]
    named = max((7.2 * len(label) for label in matrix.columns), default=0) + 6
    if n_columns <= 6:
        return max(46, named), 28
    return max(40, named), 24


def _grid(matrix, largest):
    colours, ink = _colours(matrix, largest)
    labels = [*matrix.rows, *([matrix.corner] if matrix.columns else [])]
    many = matrix.values.size > MANY and matrix.role.startswith("weights")
    bars = ()
    if matrix.role == "tokens":
        width = matrix.values.shape[1] // max(len(matrix.heads), 1)
        bars = tuple((palette.head_colour(head), width) for head in matrix.heads)
    return Grid(
        matrix.values, matrix.title, colours, ink, matrix.rows, matrix.columns, bars=bars, cell=_cell(matrix),
        label_width=12 + 7.0 * max(map(len, labels), default=0), corner=matrix.corner if matrix.columns else "",
        name_size=TEXT, write=lambda value: "" if many and abs(value) < 0.005 else svg.short(value, matrix.decimals),
        hidden=matrix.hidden,
    )  # fmt: skip


def _arranged(parts):
    """Place grids and signs side by side, on as many lines as they need; return width, height and fragments."""
    fragments, y, width = [], MARGIN, 0
    for line in _aligned(_lines(parts)):
        grids = [part for part in line if isinstance(part, Grid)]
        header = HEADER if any(grid.columns for grid in grids) else 0
        top, x = y + TITLE + header, MARGIN
        heights = [grid.height for grid in grids]
        for part in line:
            if isinstance(part, str):
                fragments.append(sign(part, x, top + min(heights) / 2))
            else:
                fragments.append(draw_grid(part, x, top, header=header))
            x += _width(part)
        width, y = max(width, x), top + max(heights) + 12
    return width, y, fragments


def _lines(parts):
    """Return the parts of each line: a new one begins where somebody wants it, or where a matrix has no room."""
    lines = [[]]
    for part in parts:
        taken = sum(map(_width, lines[-1])) + _width(part)
        if part == "\n":
            lines.append([])
            continue
        if lines[-1] and isinstance(part, Grid) and taken > MAX_WIDTH and not isinstance(lines[-1][-1], str):
            lines.append([])
        lines[-1].append(part)
    return lines


def _aligned(lines):
    """Let the cells of all lines begin below each other, whatever their rows are called."""
    first = max(line[0].label_width for line in lines)
    return [[replace(line[0], label_width=first), *line[1:]] for line in lines]


def _width(part):
    if isinstance(part, str):
        return sign_width(part)
    return max(part.width, part.left + 7.9 * len(part.title)) + GAP / 2


def _sentence(matrix):
    def in_words(value, hidden):
        written = number(value, matrix.decimals)
        return written if not hidden else "hidden" if is_nothing(value) else f"{written} though hidden"

    rows = ", ".join(
        f"{label} ({', '.join(map(in_words, row, hidden))})".strip()
        for label, row, hidden in zip(matrix.rows, matrix.values, matrix.hidden, strict=True)
    )
    return f"{matrix.title}: {rows}."
