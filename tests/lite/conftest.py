"""The course's site with the edition for the browser, built once from the copy of Pyodide that `.ci/lite` fetches."""

import os

import pytest
from playwright.sync_api import expect

from tools.page.browser import TIMEOUT
from tools.page.static import served
from tools.site import command

expect.set_options(timeout=1000 * TIMEOUT)  # Python computes in the page, and other tests beside it


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
