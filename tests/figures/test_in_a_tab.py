"""matplotlib in a browser's tab: it is unpacked when it is first imported, be all of it there by then or not."""

import asyncio
import io
import sys
import sysconfig
import zipfile
from importlib.machinery import PathFinder
from types import SimpleNamespace

import pytest

from mha_helpers import course_data
from mha_helpers.drawing import in_a_tab


def wheel(name):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, "")
    return packed.getvalue()


WHEELS = {"site/a.whl": wheel("matplotlib/__init__.py"), "site/b.whl": wheel("cycler.py")}


@pytest.fixture
def tab(tmp_path, monkeypatch):
    """A place where wheels are unpacked, in which there is no matplotlib yet; the network brings one of two wheels."""
    asked = []

    class Answer:
        async def bytes(self):
            return WHEELS["site/b.whl"]

    async def pyfetch(url):
        return {"site/b.whl": Answer()}[url]

    finder = SimpleNamespace(find_spec=lambda name: PathFinder.find_spec(name, [str(tmp_path)]))
    monkeypatch.setattr(in_a_tab, "PathFinder", finder)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setitem(sys.modules, "pyodide", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "pyodide.http", SimpleNamespace(pyfetch=pyfetch))
    monkeypatch.setattr(course_data, "fetched", lambda url: asked.append(url) or WHEELS[url])
    monkeypatch.setenv(in_a_tab.URLS, " ".join(WHEELS))
    return tmp_path, asked


async def run_the_set_up_cell_twice():
    in_a_tab.bring_matplotlib()
    in_a_tab.bring_matplotlib()
    await sys.meta_path[0].coming


def test_whoever_imports_matplotlib_before_it_came_waits_for_it(tab):
    folder, asked = tab
    asyncio.run(run_the_set_up_cell_twice())
    [finder] = [finder for finder in sys.meta_path if isinstance(finder, in_a_tab._Finder)]
    assert finder.find_spec("numpy") is None
    assert not asked
    assert finder.find_spec("matplotlib").origin == str(folder / "matplotlib/__init__.py")
    assert asked == ["site/a.whl"], "what came before is not fetched again"
    assert (folder / "cycler.py").exists()
    assert finder not in sys.meta_path


def test_elsewhere_nothing_is_fetched(monkeypatch):
    monkeypatch.delenv(in_a_tab.URLS, raising=False)
    before = [*sys.meta_path]
    in_a_tab.bring_matplotlib()
    assert sys.meta_path == before
