"""The PNG that a stored figure has beside its SVG."""

import copy

import pytest
from nbformat import v4

from mha_helpers.drawing import figures, svg
from tools.writing import raster


def notebook_of(*shown):
    """Return a notebook of one cell that displays these figures."""
    outputs = [v4.new_output("display_data", figure._repr_mimebundle_()) for figure in shown]
    return v4.new_notebook(cells=[v4.new_markdown_cell("# A"), v4.new_code_cell("show()", outputs=outputs)])


def pngs(notebook):
    return [output.data["image/png"] for output in notebook.cells[1].outputs]


def test_a_picture_gets_its_png_and_keeps_it_until_it_changes():
    one, other = (figures.attention_map([[1.0]], [word]) for word in ("cat", "dog"))
    stored = notebook_of(one, one)
    raster.add_pngs(stored, notebook_of())
    first, second = pngs(stored)
    assert first == second
    for output in stored.cells[1].outputs:
        output.data["image/png"] = "of another machine"
    again = notebook_of(one, other)
    raster.add_pngs(again, copy.deepcopy(stored))
    kept, drawn = pngs(again)
    assert kept == "of another machine"
    assert drawn not in (kept, first)


def test_the_png_knows_what_svg_writes_and_says_what_it_does_not():
    with pytest.raises(ValueError, match="holds a <ellipse>, which has no PNG; draw with g, a, rect"):
        raster.png(svg.document(9, 9, ["<ellipse/>"], label=""), "")


@pytest.mark.parametrize(
    ("drawn", "ends"),
    [("M1 2L3 4", (3, 4)), ("M1 2H9V5", (9, 5)), ("M1 2h4m-6 -5l6 5l-6 5", (-1, 7)), ("M0 0q9 0 9 -9", (9, -9)),
     ("M1 1C2 2 3 3 4 5", (4, 5)), ("M1 1L5 1Z", (1, 1))],
)  # fmt: skip
def test_paths_are_read_as_a_browser_reads_them(drawn, ends):
    assert tuple(raster.path(drawn).vertices[-1]) == ends
