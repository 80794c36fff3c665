"""What the browser keeps of a notebook: what is typed, soon and by itself, beside every newer version of the site."""

import json
import os
import shutil
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from tools.page.browser import is_trusted
from tools.page.static import kept_in_browser, open_lite, open_site, served, wait_for_notebook
from tools.site.lite import build, contents, patient
from tools.writing.notebooks import course_notebooks

pytestmark = [pytest.mark.browser, pytest.mark.slow]

COURSE = course_notebooks()
FIRST = COURSE[0].name
NAME = patient.NAME  # it is short: each cell is on the screen
SHOWN = "mhaPanel.context.model.toString()"
NEWER, MINE = "A sentence of the newer version.", "# my own words"
FOREIGN = {
    "metadata": {"kernelspec": contents.KERNELSPEC, "language_info": contents.LANGUAGE_INFO},
    "nbformat": 4,
    "nbformat_minor": 5,
    "cells": [
        {
            "cell_type": "code",
            "id": "foreign",
            "metadata": {},
            "source": ["two = 2\n", "two"],
            "execution_count": 1,
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["one line\n", "another\n"]},
                {
                    "output_type": "display_data",
                    "data": {"text/html": ["<p>shown</p>", "<script>window.mhaRan = true</script>"]},
                    "metadata": {},
                },
            ],
        }
    ],
}
BRING = """content => jupyterapp.serviceManager.contents.save(
    "foreign.ipynb", {type: "notebook", format: "json", content}
)"""


@contextmanager
def without_python(seen):
    """Give a page in which Python never starts: that takes most of the time, and nothing here needs it."""
    seen.page.context.add_init_script("window.mhaPatience = 1e9")  # nor is that said
    seen.page.context.route("**/pyodide.asm.wasm", lambda route: None)
    yield seen.page
    # This one alone: what is still on its way through another would fail, and the page would complain.
    seen.page.context.unroute("**/pyodide.asm.wasm")


@pytest.fixture
def page(seen):
    with without_python(seen) as page:
        yield page


def type_into(page, text):
    """Type at the beginning of the first code cell, with keys."""
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.keyboard.press("ControlOrMeta+Home")
    page.keyboard.type(text)


def wait_until_kept(page, text):
    """Wait until the browser's own storage has a text, with nobody saving."""
    page.wait_for_function(f"text => {SHOWN}.includes(text) && !mhaPanel.context.model.dirty", arg=text)
    assert text in json.dumps(kept_in_browser(page, NAME))


def test_nothing_is_kept_of_a_notebook_that_is_looked_at(seen, site):
    open_lite(seen.page, site, FIRST)
    assert not seen.page.evaluate("mhaPanel.context.model.dirty")
    assert kept_in_browser(seen.page, FIRST) is None


def test_what_is_typed_is_kept_by_itself(page, site):
    open_lite(page, site, NAME, kernel=False)
    type_into(page, MINE)
    wait_until_kept(page, MINE)
    open_lite(page, site, NAME, kernel=False)
    assert MINE in page.evaluate(SHOWN)


def test_so_is_what_is_typed_while_it_is_being_saved(page, site):
    open_lite(page, site, NAME, kernel=False)
    page.evaluate(
        """text => {
        const {contents} = jupyterapp.serviceManager, save = contents.save;
        contents.save = (...given) => {
            contents.save = save;
            mhaPanel.content.widgets[1].model.sharedModel.source = text;
            return save.apply(contents, given);
        };
        return mhaPanel.context.save();
    }""",
        MINE,
    )
    wait_until_kept(page, MINE)


def test_it_is_saved_at_once_when_the_page_is_not_seen_any_more(page, site):
    open_lite(page, site, NAME, kernel=False)
    page.evaluate("jupyterapp.commands.execute('docmanager:toggle-autosave')")
    type_into(page, MINE)
    assert kept_in_browser(page, NAME) is None
    page.evaluate("""() => {
        Object.defineProperty(document, "hidden", {value: true});
        document.dispatchEvent(new Event("visibilitychange"));
    }""")
    wait_until_kept(page, MINE)


def test_of_two_tabs_neither_overwrites_the_other(page, site):
    first, second = page, page.context.new_page()
    for tab in (first, second):
        open_lite(tab, site, NAME, kernel=False)
    type_into(first, "# the first tab's")
    wait_until_kept(first, "# the first tab's")
    type_into(second, "# the second tab's")
    dialog = second.get_by_role("dialog").filter(has_text="File Changed")
    dialog.get_by_role("button", name="Cancel").click()
    assert "# the first tab's" in json.dumps(kept_in_browser(first, NAME))
    assert "# the second tab's" in second.evaluate(SHOWN)


@pytest.fixture
def own_site(site, tmp_path):
    """The site once more: a test may change it."""
    folder = tmp_path / "site"
    shutil.copytree(site.folder, folder, copy_function=os.link)
    with served(folder) as own:
        own.folder = folder
        yield own


def publish_a_newer(site):
    """Change the notebook on a site, as its next version does."""
    notebook, lite = patient.notebook(), site.folder / "lite"
    old = contents.version(notebook)
    notebook.cells[0].source += f"\n\n{NEWER}"
    changed = {lite / "files" / NAME: contents.served(notebook)}
    for app in build.APPS:
        page = lite / app / "index.html"
        changed[page] = page.read_text(encoding="utf-8").replace(old, contents.version(notebook))
    for file, text in changed.items():
        file.unlink()  # it is the other site's, too
        file.write_text(text, encoding="utf-8")


def test_a_newer_version_of_the_site_leaves_a_changed_notebook_and_offers_its_own(browser, own_site):
    with open_site(browser, own_site) as seen, without_python(seen) as page:
        open_lite(page, own_site, NAME, kernel=False)
        type_into(page, MINE)
        wait_until_kept(page, MINE)

        publish_a_newer(own_site)
        open_lite(page, own_site, NAME, kernel=False)
        assert MINE in page.evaluate(SHOWN)
        assert NEWER not in page.evaluate(SHOWN)
        notice = page.get_by_role("alert").filter(has_text=f"The course has a newer version of {NAME}")
        notice.get_by_role("button", name="Not now").click()
        expect(notice).to_have_count(0)

        open_lite(page, own_site, NAME, kernel=False)
        type_into(page, "# and more of them ")
        with page.expect_navigation():
            notice.get_by_role("button", name="Open the newer one").click()
        wait_for_notebook(page, kernel=False)
        assert NEWER in page.evaluate(SHOWN)
        assert MINE not in page.evaluate(SHOWN)
        expect(notice).to_have_count(0)

        open_lite(page, own_site, NAME.replace(".ipynb", " (mine).ipynb"), kernel=False)
        assert f"# and more of them {MINE}" in page.evaluate(SHOWN)
        assert NEWER not in page.evaluate(SHOWN)
        expect(page.get_by_role("alert")).to_have_count(0)


def test_a_newer_version_takes_the_place_of_a_kept_notebook_in_which_nobody_wrote(browser, own_site):
    with open_site(browser, own_site) as seen, without_python(seen) as page:
        open_lite(page, own_site, NAME, kernel=False)
        page.evaluate("jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
        page.evaluate("mhaPanel.context.save()")
        assert kept_in_browser(page, NAME)
        publish_a_newer(own_site)
        open_lite(page, own_site, NAME, kernel=False)
        assert NEWER in page.evaluate(SHOWN)
        expect(page.get_by_role("alert")).to_have_count(0)


def test_ours_is_trusted_and_what_a_visitor_brings_is_whole_and_is_not(page, site):
    open_lite(page, site, FIRST, kernel=False)
    assert is_trusted(page)
    expect(page.get_by_text("Not Trusted")).to_have_count(0)
    page.evaluate(BRING, FOREIGN)
    open_lite(page, site, "foreign.ipynb", kernel=False)
    assert not is_trusted(page)
    expect(page.get_by_text("Not Trusted")).to_be_visible()
    assert page.locator(".jp-OutputArea-output").first.inner_text().strip() == "one line\nanother"
    assert page.evaluate("mhaPanel.content.widgets[0].model.sharedModel.source") == "two = 2\ntwo"
    assert not page.evaluate("window.mhaRan")


def test_what_the_site_holds_is_whole(site):
    files = sorted((site.folder / "lite/files").glob("*.ipynb"))
    assert len(files) == len(COURSE) + 1
    cells = [cell for path in files for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    texts = [output["text"] for cell in cells for output in cell.get("outputs", []) if "text" in output]
    texts += [text for cell in cells for output in cell.get("outputs", []) for text in output.get("data", {}).values()]
    assert {type(text) for text in texts} == {str}
