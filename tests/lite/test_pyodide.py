"""A copy of Pyodide that is not what it should be is refused, and nothing is written."""

import json

import pytest

from tools.site import command
from tools.site.lite import VERSIONS, pins, proof, pyodide
from tools.writing.notebooks import NotebookError

VERSION = VERSIONS["pyodide"]["version"]


@pytest.fixture
def folder(tmp_path):
    """A folder with files of the right names, and nothing right in them."""
    for name in VERSIONS["pyodide"]["files"] | VERSIONS["pyodide"]["plots"]:
        (tmp_path / name).write_text("not it")
    (tmp_path / pyodide.LOCK).write_text(json.dumps({"info": {"version": VERSION}, "packages": {}}))
    return tmp_path


def test_a_folder_that_lacks_a_wheel(folder, tmp_path_factory):
    wheel = next(folder.glob("numpy-*.whl"))
    wheel.unlink()
    site = tmp_path_factory.mktemp("new") / "site"
    with pytest.raises(SystemExit, match=rf"has no {wheel.name}; give a folder with the whole of Pyodide {VERSION}"):
        command.main([str(site), "--pyodide", str(folder)])
    assert not site.exists()


def test_a_file_of_another_release(folder):
    with pytest.raises(NotebookError, match=f"is not that of Pyodide {VERSION}"):
        pyodide.distribution(folder)


def test_another_version(folder):
    (folder / pyodide.LOCK).write_text(json.dumps({"info": {"version": "0.1"}, "packages": {}}))
    with pytest.raises(NotebookError, match=f"holds Pyodide 0.1; the edition for the browser is made for {VERSION}"):
        pyodide.distribution(folder)


def test_a_release_that_cannot_be_fetched(monkeypatch, tmp_path):
    monkeypatch.setitem(VERSIONS["pyodide"], "url", tmp_path.as_uri() + "/")
    with pytest.raises(NotebookError, match=r"could not be fetched .* by --pyodide, or leave out --lite"):
        pyodide.distribution(None)


def test_a_release_is_fetched_file_by_file(folder, monkeypatch):
    monkeypatch.setitem(VERSIONS["pyodide"], "url", folder.as_uri() + "/")
    with pytest.raises(NotebookError, match="is not that of Pyodide"):
        pyodide.distribution(None)


def test_a_proof_that_is_gone_is_told_in_a_sentence(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(VERSIONS["proof"], "requirement", "mha-helpers-no-such-package==1")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert proof.main(tmp_path) == proof.GONE
    assert capsys.readouterr().out.startswith("The browser's edition is not proved: ")


@pytest.fixture
def release(tmp_path):
    """What npm's package of a release holds, of one whose packages need each other in a ring."""
    for name in ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip"):
        (tmp_path / name).write_bytes(b"")
    depends = {name: [] for name in (*pins.PACKAGES, *pins.PLOTS)} | {
        "ipython": ["prompt_toolkit"],
        "prompt-toolkit": ["ipython"],
    }
    packages = {
        name: {"file_name": f"{name}.whl", "sha256": f"that of {name}", "depends": depends}
        for name, depends in (depends | {"scipy": ["numpy"]}).items()
    }
    (tmp_path / pyodide.LOCK).write_text(json.dumps({"packages": packages}))
    return tmp_path


def test_a_releases_checksums_are_those_of_the_core_and_of_what_the_kernel_needs(release):
    found = pins.pins(release)
    assert found.pop("pyodide.asm.js") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert {name for name in found if name.endswith(".whl")} == {f"{name}.whl" for name in pins.PACKAGES}
    assert found["numpy.whl"] == "that of numpy"


def test_a_release_that_is_made_of_other_parts_is_not_pinned_in_part(release):
    (release / "pyodide.asm.js").rename(release / "pyodide.asm.mjs")
    assert "pyodide.asm.mjs" in pins.pins(release)
    (release / "pyodide.asm.wasm").unlink()
    with pytest.raises(ValueError, match=r"has no pyodide\.asm\.wasm; see what this release has instead"):
        pins.pins(release)


def test_a_release_without_a_package_that_the_kernel_needs(release):
    lock = json.loads((release / pyodide.LOCK).read_text())
    del lock["packages"]["ssl"]
    (release / pyodide.LOCK).write_text(json.dumps(lock))
    with pytest.raises(ValueError, match="no package ssl; where Python has it built in, change PACKAGES"):
        pins.pins(release)


def test_what_plots_need_is_pinned_apart(release):
    assert pins.plots(release) == {f"{name}.whl": f"that of {name}" for name in pins.PLOTS}
