"""The course's site with the edition for the browser, built once from the copy of Pyodide that `.ci/lite` fetches."""

import os
import re
from contextlib import contextmanager

import pytest

from tools.page.static import open_site, served
from tools.site import command


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    pyodide = os.environ.get("MHA_PYODIDE")
    if not pyodide:
        pytest.skip("needs a copy of Pyodide: run .ci/lite, or set MHA_PYODIDE to the folder of one")
    folder = tmp_path_factory.mktemp("site") / "site"
    command.main([str(folder), "--pyodide", pyodide])
    with served(folder) as site:
        site.folder = folder
        yield site


@pytest.fixture(scope="session")
def opened():
    """Return what opens an empty page, which must have nothing to complain of in the end."""

    @contextmanager
    def opened(browser, site):
        with open_site(browser, site) as seen:
            yield seen
        # Chromium asks for an icon at the top of the host, and drops one of JupyterLab's when another takes its place.
        icon = re.compile(rf"\({site.url}\S*favicon\S*\.ico\)$")
        # JupyterLite asks the site, too, for the list of a folder that only the browser has, such as `.course`.
        folder = re.compile(rf"\({site.url}\S*/api/contents/(\.course|\.update|Untitled%20Folder)\S*/all\.json\)$")
        errors = [error for error in seen.console_errors if not icon.search(error) and not folder.search(error)]
        assert (seen.other_hosts, seen.page_errors, errors) == ([], [], [])

    return opened


@pytest.fixture
def seen(browser, site, opened):
    with opened(browser, site) as seen:
        yield seen
