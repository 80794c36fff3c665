"""A notebook that was run, saved and opened again, in a JupyterLab or Notebook 7 that was started in any way."""

import platform
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from nbformat import v4
from playwright.sync_api import expect

from tools.page.browser import Server, is_trusted, lab_server, open_notebook, open_page, run_all
from tools.writing.notebooks import KERNELSPEC, course_notebooks, read, serialised, write

pytestmark = pytest.mark.browser

COURSE = course_notebooks()
SOURCES = (
    "from mha_helpers import course, figures, labs",
    "print('above')\nlabs.word_order()",
    "lab = labs.word_order()\ndisplay(lab, lab)",
    "figures.attention_map([[1.0]], ['cat'])",
    'course.progress("01_self_attention")',
)
N_LABS, N_LIVE = 3, 4  # progress is alive, too, and no lab
DEAD = "Error displaying widget: model not found"


def started(application, *, plain, quick=False):
    marks = () if quick else pytest.mark.slow
    return pytest.param((application, plain), marks=marks, id=f"{application}-{'plain' if plain else 'course'}")


PLAIN = started("jupyterlab", plain=True, quick=True)
HOWEVER_STARTED = [
    PLAIN,
    started("jupyterlab", plain=False),
    started("notebook", plain=True),
]


# The first notebook in every run, the others where everything is run.
in_each_notebook = pytest.mark.parametrize(
    "path", [pytest.param(path, marks=pytest.mark.slow if path != COURSE[0] else (), id=path.stem) for path in COURSE]
)
in_a_plain_jupyterlab = pytest.mark.parametrize("place", [PLAIN], indirect=True)


@dataclass
class Place:
    """A folder, and what shows it."""

    folder: Path
    server: Server


@pytest.fixture(scope="module", params=HOWEVER_STARTED)
def place(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    application, plain = request.param
    with lab_server(folder, application, plain=plain) as server:
        yield Place(folder, server)


@contextmanager
def opened(browser, place, name):
    with open_page(browser, place.server) as seen:
        open_notebook(seen.page, name)
        yield seen.page


def of(page, what):
    return page.locator(f".jp-OutputArea-output {what}")


def assert_alive(page):
    expect(of(page, ".mha-live")).to_have_count(N_LIVE)
    for one in of(page, ".mha-live").all():
        expect(one).to_be_visible()
    for one in of(page, ".mha-still").all():
        expect(one).to_be_hidden()


def assert_still(page):
    assert of(page, ".mha-live").count() == 0
    expect(of(page, ".mha-still img")).to_have_count(N_LABS)
    for one in of(page, ".mha-still").all():
        one.scroll_into_view_if_needed()
        expect(one).to_be_visible()
    for image in of(page, ".mha-still img").all():
        image.evaluate("image => image.decode()")  # raises where there is nothing to be seen
        assert "Run all cells above, then this one, for the live lab." in image.get_attribute("alt")


@pytest.fixture(scope="module")
def saved(browser, place):
    """A notebook that was run and saved, with what was seen then."""
    cells = [v4.new_code_cell(source) for source in SOURCES]
    write(v4.new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC}), place.folder / "saved.ipynb")
    with opened(browser, place, "saved.ipynb") as page:
        assert run_all(page) == []
        assert_alive(page)
        page.evaluate("mhaPanel.context.save()")
    return place.folder / "saved.ipynb"


def test_a_lab_shows_its_picture_when_it_is_opened_with_a_new_kernel_and_lives_when_it_is_run(browser, place, saved):
    with opened(browser, place, saved.name) as page:
        assert is_trusted(page)
        expect(page.get_by_text(DEAD)).to_have_count(N_LIVE)  # it has been tried to bring them to life
        for one in page.get_by_text(DEAD).all():
            expect(one).to_be_hidden()
        assert_still(page)
        assert run_all(page) == []
        assert_alive(page)


def test_a_page_that_is_not_trusted_shows_the_picture(browser, place, saved):
    notebook = read(saved)
    notebook.cells.append(v4.new_markdown_cell("It comes from somebody else."))
    write(notebook, saved.with_name("untrusted.ipynb"))
    with opened(browser, place, "untrusted.ipynb") as page:
        assert not is_trusted(page)
        assert_still(page)
        assert page.get_by_text(DEAD).count() == 0


@in_a_plain_jupyterlab
@in_each_notebook
def test_opening_looking_and_saving_changes_nothing(browser, place, path):
    """Git has nothing to say afterwards: of another Python than the one that is stored, its version alone."""
    shutil.copy(path, place.folder / path.name)
    with opened(browser, place, path.name) as page:
        page.evaluate("async () => { for (const cell of mhaPanel.content.widgets) await cell.ready; }")
        for end in ("Control+End", "Control+Home"):
            page.locator(".jp-Notebook").first.press(end)
        page.evaluate("mhaPanel.context.save()")
    wanted = read(path)
    wanted.metadata.language_info.version = platform.python_version()
    assert (place.folder / path.name).read_text(encoding="utf-8") == serialised(wanted)


@in_a_plain_jupyterlab
@in_each_notebook
def test_a_run_that_is_saved_loses_no_picture(browser, place, path):
    name = f"run_{path.name}"
    shutil.copy(path, place.folder / name)
    with opened(browser, place, name) as page:
        assert run_all(page) == []
        page.evaluate("mhaPanel.context.save()")
    stored = pictures(read(path))
    assert any(stored.values())
    assert pictures(read(place.folder / name)) == stored


def pictures(notebook):
    """Return what the PNGs of a notebook show, by its cells."""
    return {
        cell.id: [output.data["text/plain"] for output in cell.outputs if "image/png" in output.get("data", {})]
        for cell in notebook.cells
        if cell.cell_type == "code"
    }
