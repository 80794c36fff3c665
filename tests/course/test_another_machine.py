"""In a real JupyterLab: solved here, taken home, opened there, and laid into a course that has other answers."""

import shutil
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from tools.page.browser import lab_server, open_notebook, open_page
from tools.page.static import answered, hand_in

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
FIRST, SECOND = "01_self_attention.ipynb", "02_scaling.ipynb"
SETUP = "import numpy as np\nfrom mha_helpers import course, exercises\n"
RIGHT = """def softmax(scores: np.ndarray):
    {0} = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return {0} / {0}.sum(axis=-1, keepdims=True)"""


@pytest.fixture
def lab(browser, monkeypatch):
    """Open a folder's notebook as a learner does, with a course of their own or with this one, and ask its kernel."""
    monkeypatch.delenv("PYTEST_VERSION")  # a learner's kernels keep what is done

    @contextmanager
    def opened(folder, name, package=None):
        monkeypatch.setenv("PYTHONPATH", str(package or NOTEBOOKS.parent))
        with lab_server(folder) as server, open_page(browser, server) as seen:
            open_notebook(seen.page, name)
            answered(seen.page, SETUP)
            yield seen.page

    return opened


def copied(folder):
    folder.mkdir()
    for name in (FIRST, SECOND):
        shutil.copy(NOTEBOOKS / name, folder)
    return folder


def test_what_was_solved_here_goes_on_there(lab, tmp_path):
    here, there = copied(tmp_path / "here"), copied(tmp_path / "there")
    with lab(here, FIRST) as page:
        hand_in(page, "def softmax(", RIGHT.format("powers"))
        assert "Ready to take home: attention.zip" in answered(page, "course.take_home()")
    with zipfile.ZipFile(here / "attention.zip") as archive:
        archive.extractall(tmp_path)
    home = tmp_path / "attention"
    with lab(home / "notebooks", SECOND, package=home) as page:
        assert str(home) in answered(page, "import mha_helpers; print(mha_helpers.__file__)")
        assert "softmax: yours of" in answered(page, "softmax = exercises.softmax.bring_back()")
        assert answered(page, f"print(course.progress('{FIRST[:-6]}').sentence())").startswith("1 of ")
        assert answered(page, f"print(course.progress('{SECOND[:-6]}').sentence())").startswith("0 of ")
    with lab(there, FIRST) as page:
        hand_in(page, "def softmax(", RIGHT.format("e"))
        shutil.copy(here / "attention.zip", there)
        said = answered(page, "course.unpack('attention.zip')")
        assert "01_self_attention: merged" in said
        assert "Your answer to softmax is on both sides" in said
        page.evaluate("mhaPanel.context.revert()")
        page.wait_for_function(
            "mhaPanel.content.widgets.some(cell => cell.model.sharedModel.source.includes('powers = np.exp'))"
        )
        sources = page.evaluate("mhaPanel.content.widgets.map(cell => cell.model.sharedModel.source)")
    assert any(text.startswith(RIGHT.format("e")) for text in sources)
