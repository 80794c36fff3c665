"""Nobody is kept from a notebook in a browser's tab: axe finds nothing of ours, on a wide screen and on a phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tools.page.browser import run_all
from tools.page.static import open_lite, open_site
from tools.site.lite import patient

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.whole]

WIDE, PHONE = ({"width": width, "height": 844} for width in (1280, 390))
each_screen = pytest.mark.parametrize(
    ("viewport", "scheme"), [(WIDE, "light"), (PHONE, "dark")], ids=["wide, light", "phone, dark"]
)
# What axe finds in JupyterLab's and Notebook's own frame: parts of these elements, by the rule that they break.
THEIRS = {
    "aria-allowed-attr": "<jp-button ",
    "aria-input-field-name": 'class="cm-content"',
    "aria-required-children": 'class="jp-WindowedPanel-viewport"',
    "button-name": "jp-collapseHeadingButton",
    "empty-heading": "<h3></h3>",
    "image-redundant-alt": 'class="jp-Launcher-',
    "link-name": 'id="jp-NotebookLogo"',
    "region": "jp-skiplink-wrapper",
    "scrollable-region-focusable": 'class="cm-scroller"',
    "skip-link": 'class="skip-link"',
    "tabindex": 'class="skip-link"',
}


def violations(page):
    return {
        violation["id"]: [node["html"] for node in violation["nodes"]]
        for violation in Axe().run(page).response["violations"]
    }


def ours(page):
    """Return what axe finds that isn't JupyterLab's."""
    kept = {
        rule: [node for node in nodes if THEIRS.get(rule, "not theirs") not in node]
        for rule, nodes in violations(page).items()
    }
    return {rule: nodes for rule, nodes in kept.items() if nodes}


@each_screen
@pytest.mark.parametrize(("path", "shown"), [("lab", ".jp-Launcher"), ("tree", ".jp-DirListing-item")])
def test_axe_finds_nothing_of_ours_around_notebooks(browser, site, path, shown, viewport, scheme):
    with open_site(browser, site, viewport=viewport, color_scheme=scheme) as seen:
        seen.page.goto(f"{site.url}lite/{path}/index.html")
        seen.page.locator(shown).first.wait_for()
        assert ours(seen.page) == {}


@each_screen
def test_axe_finds_nothing_of_ours_where_a_notebook_runs(browser, site, viewport, scheme):
    with open_site(browser, site, viewport=viewport, color_scheme=scheme) as seen:
        open_lite(seen.page, site, patient.NAME)
        assert run_all(seen.page) == []
        assert ours(seen.page) == {}
