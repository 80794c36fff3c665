"""What is stored of a figure's PNG, which a run paints."""

import copy

from nbformat import v4

from mha_helpers import figures
from tools.writing import pngs


def notebook_of(*shown):
    """Return a notebook of one cell that displays these figures."""
    outputs = [v4.new_output("display_data", figure._repr_mimebundle_()) for figure in shown]
    return v4.new_notebook(cells=[v4.new_markdown_cell("# A"), v4.new_code_cell("show()", outputs=outputs)])


def painted(notebook):
    return [output.data["image/png"] for output in notebook.cells[1].outputs]


def test_a_picture_keeps_its_png_until_it_changes():
    cat, dog = (figures.attention_map([[1.0]], [word]) for word in ("cat", "dog"))
    stored = notebook_of(cat, cat)
    for output in stored.cells[1].outputs:
        output.data["image/png"] = "of another machine"
    again = notebook_of(cat, dog)
    _, of_dog = painted(again)
    pngs.keep_pngs(again, copy.deepcopy(stored))
    assert painted(again) == ["of another machine", of_dog]
