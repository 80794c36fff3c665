"""The course's site with the edition for the browser, built once from the copy of Pyodide that `.ci/lite` fetches."""

import os

import pytest

from tools.page.static import served
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
