"""A reader who opens a notebook is told how a cell is run, which comes first, and what each folded line is."""

import shutil

import pytest

from tools.page.browser import lab_server, open_notebook, open_page
from tools.writing.notebooks import NOTEBOOKS, course_notebooks, read, tags

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


_RUN = """async begin => {
    const {content} = mhaPanel;
    content.activeCellIndex = content.widgets.findIndex(cell => cell.model.sharedModel.source.startsWith(begin));
    await jupyterapp.commands.execute("notebook:run-cell");
}"""


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("application", ["jupyterlab", "notebook"])
def test_a_lab_that_is_run_too_early_leads_to_the_cells_before_it(browser, tmp_path, application):
    shutil.copy(NOTEBOOKS / "01_self_attention.ipynb", tmp_path)
    with lab_server(tmp_path, application) as server, open_page(browser, server) as seen:
        open_notebook(seen.page, "01_self_attention.ipynb")
        placeholder = seen.page.locator(".jp-InputPlaceholder .jp-PlaceholderText").first
        assert placeholder.inner_text() == SETUP_LINE
        seen.page.evaluate(_RUN, "labs.word_order(")
        seen.page.get_by_text("Run the first code cell of this notebook first").wait_for()
        seen.page.evaluate(_RUN, SETUP_LINE)
        seen.page.evaluate(_RUN, "labs.word_order(")
        seen.page.get_by_text("Run the cell that defines dot_product_attention first").wait_for()
