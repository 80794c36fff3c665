"""`python -m tools colab`, on a small package, a small notebook, and an environment that stands on this one.

Building an environment with Colab's versions is left out: `python -m tools colab` itself does that.
"""

import subprocess
import sys
import sysconfig
import tomllib
import zipfile

import pytest
from nbformat import v4

from tools.release import colab
from tools.release.environments import ROOT, Outcome, make_environment, packages
from tools.writing.notebooks import course_notebooks, read, write

pytestmark = pytest.mark.slow

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY = f"git+{PROJECT['urls']['Repository']}"
ASKED = [f"{REPOSITORY}#subdirectory=engines", REPOSITORY]
INSTALL = f'    source = "{REPOSITORY}"\n    %pip install --quiet --no-deps {{source}}#subdirectory=engines {{source}}'
SETUP = f'import sys\n\nif "google.colab" in sys.modules:  # comment\n{INSTALL}\n\nimport os\n\nimport tiny'


def wheel_of(name, version, folder):
    """Write the wheel of a package that says its version."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", f"version = {version!r}\n")
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    return path


def notebook(path, *cells):
    """Store a notebook of cells: (source, what it prints)."""
    cells = [
        v4.new_code_cell(source, execution_count=count, outputs=[v4.new_output("stream", text=text)] if text else [])
        for count, (source, text) in enumerate(cells, 1)
    ]
    write(v4.new_notebook(cells=cells), path)
    return path


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """Make an environment that also sees this one's packages; the course's packages are `small` and `tiny` here."""
    python = make_environment(sys.executable, tmp_path / "environment")
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'), end='')"], capture_output=True, text=True
    )
    with open(f"{site.stdout}/this.pth", "w", encoding="utf-8") as path:
        path.write(sysconfig.get_path("purelib"))
    wheels = [wheel_of(name, "1.0", tmp_path) for name in ("small", "tiny")]
    monkeypatch.setattr(colab, "PACKAGES", ["small", "tiny"])
    monkeypatch.setattr(colab, "build_wheels", lambda folder: dict(zip(ASKED, wheels, strict=True)))
    monkeypatch.setattr(colab, "make_environment", lambda *arguments: python)
    monkeypatch.setattr(colab, "install", lambda *arguments: None)
    return python


def test_the_set_up_cell_installs_and_what_differs_from_what_is_stored_is_told(environment, tmp_path, capfd):
    seen = ("print(tiny.version, os.listdir())", "1.0 ['{}.ipynb']\n")
    elsewhere = "try:\n    %pip install elsewhere\nexcept ValueError as error:\n    print(error)"
    refused = f"%pip install elsewhere: install from {' '.join(ASKED)}\n"
    right = notebook(tmp_path / "right.ipynb", (SETUP, ""), (seen[0], seen[1].format("right")), (elsewhere, refused))
    other = notebook(tmp_path / "other.ipynb", (SETUP, ""), (seen[0], "1.0 ['other.ipynb', 'data']\n"))
    with pytest.raises(SystemExit, match="1"):
        colab.main([str(right), str(other)])
    *_, first, second = capfd.readouterr().out.splitlines()
    assert first.split()[:2] == ["right.ipynb", "3"]
    assert first.endswith("   as stored")
    assert second.split()[:2] == ["other.ipynb", "2"]
    assert second.endswith("   not as stored: 1 of its cells")
    assert "tiny" not in packages(environment)  # the next notebook installs it itself


def test_a_package_that_was_there_must_keep_its_version(environment, tmp_path, capfd):
    site = tmp_path / "wheels"
    site.mkdir()
    options = ["--quiet", "--no-index", f"--find-links={site}"]
    subprocess.run([environment, "-m", "pip", "install", *options, wheel_of("other", "1.0", site)], check=True)
    wheel_of("other", "2.0", site)
    upgrading = SETUP.replace("--quiet", f"{' '.join(options)} --upgrade other")
    with pytest.raises(SystemExit, match="1"):
        colab.main([str(notebook(tmp_path / "upgrading.ipynb", (upgrading, "")))])
    assert capfd.readouterr().out.endswith("   changed other 1.0 -> 2.0\n")


@pytest.mark.parametrize(
    ("outcome", "changes", "installed", "said"),
    [
        (Outcome(0, 2), [], ["tiny", "small"], "as stored"),
        (Outcome(0, 2), [], [], "installed nothing, not small, tiny"),
        (Outcome(1, 1, 1), [], ["scipy", "small", "tiny"], "installed scipy, small, tiny, not small, tiny"),
        (Outcome(1, 1, 1), ["numpy 2.1.3 -> None"], ["small", "tiny"], "changed numpy 2.1.3 -> None"),
        (Outcome(5), [], ["small", "tiny"], "pytest ended with exit code 5"),
    ],
)
def test_only_one_outcome_is_good(outcome, changes, installed, said, monkeypatch):
    monkeypatch.setattr(colab, "PACKAGES", ["small", "tiny"])
    assert colab.verdict(outcome, changes, installed) == said


def test_what_cannot_be_made_is_said(tmp_path, capfd):
    with pytest.raises(SystemExit, match=r"^`uv venv --quiet --python 3\.99 .*` failed; what it said stands above$"):
        colab.main(["--python", "3.99"])
    assert "3.99" in capfd.readouterr().err


def test_installed_takes_the_packages_that_are_there(environment, tmp_path, monkeypatch):
    made, installed = [], []
    monkeypatch.setattr(colab, "make_environment", lambda *arguments: made.append(arguments) or environment)
    monkeypatch.setattr(colab, "install", lambda *arguments: installed.append(arguments))
    monkeypatch.setattr(colab, "run_alone", lambda *arguments: (Outcome(0, 1), [], ["small", "tiny"]))
    path = str(notebook(tmp_path / "any.ipynb", (SETUP, "")))
    for options in ([], ["--installed", "--python", "colabs"]):
        with pytest.raises(SystemExit, match="0"):
            colab.main([path, *options])
    assert [(python, options) for python, _, *options in made] == [
        ("3.13", ["--seed"]),
        ("colabs", ["--system-site-packages"]),
    ]
    assert installed == [(environment, "-r", "tests/colab.txt")]


def test_every_notebook_installs_from_the_repository_and_nothing_beside_it():
    for path in course_notebooks():
        [cell] = [cell.source for cell in read(path).cells if "%pip" in cell.source]
        assert cell.count("%pip") == 1
        assert f"{INSTALL}\n" in cell, path.name


def test_colab_s_versions_are_supported_ones():
    lines = (ROOT / colab.VERSIONS).read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert set(pins) == set(colab.SHOWN)
