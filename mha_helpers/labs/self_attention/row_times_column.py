"""Row times column: the reader presses a number of Q, K or V, and sees of which products it is the sum."""

from dataclasses import dataclass

import numpy as np

from live_pictures import marks, style, svg
from live_pictures.card import Picture
from live_pictures.chips import chip
from live_pictures.controls import dropdown, radio
from live_pictures.options import Form
from mha_helpers import running_example as example
from mha_helpers.drawing import palette
from mha_helpers.drawing.equation import Grid, draw_grid, formula, sign, written
from mha_helpers.drawing.tables import by_size
from mha_helpers.labs.lab import Lab

MATRICES = dict(zip("QKV", example.first_head(), strict=True))
ROLES = {"Q": "queries", "K": "keys", "V": "values"}
ASKS = {"Q": "Q: what a word looks for", "K": "K: how it is found", "V": "V: what it hands over"}


@dataclass(frozen=True)
class Result:
    """One number of one of the three products."""

    letter: str
    row: int
    column: int

    @property
    def factors(self):
        """The row of X and the column of the matrix whose products are summed."""
        return example.X[self.row], MATRICES[self.letter][:, self.column]


def compute(state, _):
    """Find which number is meant."""
    return Result(state["matrix"], example.TOKENS.index(state["row"]), int(state["column"]))


def sentence(result):
    """Describe the picture, whose sum has terms of 0 as well."""
    row, column = result.factors
    letter, token, j = result.letter, example.TOKENS[result.row], result.column
    what = f"{letter}[{token}, {j}] is the row of “{token}” times column {j} of W_{letter}"
    return f"{what}. Without the row's zeros: {_summed(row[row != 0], column[row != 0])}."


def _summed(row, column):
    terms = " + ".join(f"{written(a)} × {written(b)}" for a, b in zip(row, column, strict=True))
    return f"{terms} = {written(row @ column)}"


WIDTHS, HEIGHT = (338, 306), 204
CHIP, TOP, CELL = 104, 78, (40, 24)
MIDDLE = TOP + 60  # of the tallest matrix


def render(result):
    """Draw a result: X times a matrix makes a product, whose numbers are pressed."""
    readout, letter = sentence(result), result.letter
    left = svg.document(WIDTHS[0], HEIGHT, _left(result), label=readout)
    return Picture(left + svg.document(WIDTHS[1], HEIGHT, _product(result), label=f"What {letter} is."), readout, "")


def _grid(values, title, role, labels, room, marked):
    shade = by_size(palette.ROLES[role], np.abs(values).max())
    return Grid(
        values, title, lambda value, i, j: shade(value), palette.role_text(role), rows=labels, marked=marked,
        cell=CELL, label_width=room,
    )  # fmt: skip


def _left(result):
    for k, letter in enumerate(MATRICES):
        colour, chosen = palette.ROLES[ROLES[letter]], letter == result.letter
        drawn = chip(1 + k * (CHIP + 6), 1, CHIP, f"{letter} = X W_{letter}", chosen=chosen, colour=colour)
        yield marks.radio(drawn, {"matrix": letter}, name=letter)
    yield svg.text(1, 50, ASKS[result.letter], size=12, colour=style.QUIET)
    row = frozenset((result.row, j) for j in range(len(example.FEATURES)))
    yield draw_grid(_grid(example.X, "X", "X", example.TOKENS, 62, row), 0, TOP)
    yield sign("×", 240, MIDDLE)


def _product(result):
    letter, role = result.letter, ROLES[result.letter]
    matrix = MATRICES[letter]
    column = frozenset((i, result.column) for i in range(len(matrix)))
    yield draw_grid(_grid(matrix, f"W_{letter}", role, example.FEATURES, 80, column), 0, TOP + 12)
    yield sign("=", 163, MIDDLE)
    product, left = example.X @ matrix, 196
    made = frozenset({(result.row, result.column)})
    yield draw_grid(_grid(product, letter, role, (), 0, made), left, TOP)
    width, height = CELL
    for i, token in enumerate(example.TOKENS):
        for j in range(product.shape[1]):
            place = svg.box(left + j * width, TOP + i * height, width - 1, height - 1, fill="transparent")
            yield marks.radio(place, {"row": token, "column": str(j)}, name=f"{token}, column {j}")
    yield formula(
        0, 20, f"{letter}[{example.TOKENS[result.row]}, {result.column}] = {_summed(*result.factors)}", size=12
    )


def row_times_column() -> Lab:
    """Show how each number of Q, K and V is made: a row of X times a column of a matrix.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = row_times_column()
    >>> lab.set(matrix="V", row="cat")
    >>> "1 × 0 + 1 × 2 = 2" in lab.readout.value
    True
    """
    controls = {
        "matrix": radio("matrix", MATRICES),
        "row": dropdown("row", example.TOKENS, "it", width="120px"),
        "column": dropdown("column", ["0", "1"], "1", width="90px"),
    }
    return Lab(
        name="row_times_column",
        title="row times column",
        task="Press a number of Q. Which row and which column is it made of? Then do the same for K and V.",
        controls=controls,
        form=Form(on_picture=("matrix", "row", "column")),
        compute=compute,
        render=render,
        function=None,
    )
