"""What `jupyter_server_config.py` adds to the page: lines that can be read, and exercises that look like exercises."""

import pytest
from nbformat import v4

from tools.page.browser import lab_server, open_browser, open_notebook, open_page, run_all
from tools.writing.notebooks import KERNELSPEC, write

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TEXT = "Attention gives a word a new vector, a weighted average of the vectors of all the words in its sentence. " * 8
CELLS = [
    v4.new_markdown_cell(f"# One\n\n{TEXT}"),
    v4.new_code_cell("from mha_helpers import exercises\n\nexercises.softmax.check(lambda scores: ...)"),
    v4.new_code_cell("1 + 1"),
]
LETTERS_A_LINE = """() => {
    const one = document.querySelector(".jp-RenderedMarkdown > p");
    const lines = one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight);
    return one.textContent.length / (lines - 0.5);
}"""
BARS = """[...document.querySelectorAll(".jp-CodeCell > .jp-Cell-inputWrapper")]
    .map(one => parseFloat(getComputedStyle(one).borderLeftWidth))"""


@pytest.mark.parametrize("application", ["jupyterlab", "notebook"])
def test_lines_can_be_read_and_exercises_stand_out(tmp_path, application):
    write(v4.new_notebook(cells=CELLS, metadata={"kernelspec": KERNELSPEC}), tmp_path / "one.ipynb")
    with (
        lab_server(tmp_path, application) as server,
        open_browser() as browser,
        open_page(browser, server, width=1440) as seen,
    ):
        open_notebook(seen.page, "one.ipynb")
        run_all(seen.page)
        assert 65 <= seen.page.evaluate(LETTERS_A_LINE) <= 82
        assert seen.page.evaluate(BARS) == [6, 0], "the exercise has a bar, another cell has none"
        assert (seen.console_errors, seen.other_hosts) == ([], [])


IS_OPEN = """() => {
    const panel = window.jupyterapp?.shell.currentWidget;
    return panel?.context?.path === "01_self_attention.ipynb"
        && panel.sessionContext.session?.kernel?.status === "idle";
}"""
LINKS = [
    v4.new_markdown_cell("# Two\n\n[Before](01_self_attention.ipynb)"),
    v4.new_code_cell('from mha_helpers import course\n\ncourse.map("02_scaling")'),
]


@pytest.mark.parametrize("application", ["jupyterlab", "notebook"])
@pytest.mark.parametrize("link", [".jp-RenderedMarkdown a[href*='01_self']", ".mha-map a >> nth=0"])
def test_links_open_the_other_notebook(tmp_path, application, link):
    """In JupyterLab beside this one, in Notebook 7 on a page of its own."""
    for name, cells in (("02_scaling", LINKS), ("01_self_attention", CELLS)):
        write(v4.new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC}), tmp_path / f"{name}.ipynb")
    with (
        lab_server(tmp_path, application) as server,
        open_browser() as browser,
        open_page(browser, server) as seen,
    ):
        open_notebook(seen.page, "02_scaling.ipynb")
        run_all(seen.page)
        if application == "jupyterlab":
            seen.page.locator(link).click()
            page = seen.page
        else:
            with seen.page.context.expect_page() as opened:
                seen.page.locator(link).click()
            page = opened.value
        page.wait_for_function(IS_OPEN)  # with its kernel: a server cannot end while one is starting
