"""A reader who opens a notebook is told how a cell is run, which comes first, and what each folded line is."""

import pytest

from tools.writing.notebooks import course_notebooks, read, tags

SETUP_LINE = "# Run this first: it loads the course"


@pytest.fixture(params=course_notebooks(), ids=lambda path: path.stem)
def cells(request):
    return read(request.param).cells


def test_the_folded_set_up_cell_says_what_it_is(cells):
    first_code = next(cell for cell in cells if cell.cell_type == "code")
    assert first_code.source.startswith(f"{SETUP_LINE}\n")
    assert first_code.metadata.jupyter.source_hidden, "JupyterLab then shows its first line alone"


def test_other_folded_code_says_what_it_draws(cells):
    folded = [cell.source.partition("\n")[0] for cell in cells if cell.metadata.get("jupyter", {}).get("source_hidden")]
    assert [line for line in folded if line != SETUP_LINE and not line.startswith("# Draws ")] == []


def test_the_first_cell_says_how_a_cell_is_run(cells):
    assert "Shift+Enter" in cells[0].source
    assert "first" in cells[0].source


def test_the_text_above_the_first_exercise_says_which_cell_goes_before_it(cells):
    first = next(number for number, cell in enumerate(cells) if "exercise" in tags(cell))
    told = "First run the cell at the top" in cells[first - 1].source
    assert told or first <= 3, "the set-up cell is out of sight, so the text above the exercise must name it"
