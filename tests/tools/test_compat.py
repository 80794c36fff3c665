"""`python -m tools.release.compat`: which environments it makes, what it tells pytest, and what it concludes.

Environments, installations and pytest are stood in for here: the real ones take ten minutes a row.
"""

import re
import tomllib

import pytest
import yaml
from packaging.version import Version

from tools.release import compat
from tools.release.environments import ROOT, EnvironmentProblem, Outcome

GOOD = Outcome(0, passed=9, skipped=1, seconds=61.4)
VERSIONS = {"numpy": "2.9.1", "matplotlib": "3.99", "ipywidgets": "8.8", "tokenizers": "0.77"}


@pytest.fixture
def done(monkeypatch):
    """Stand in for what takes long, and yield what was done: (what, how) in order."""
    done = []

    def note(what, returned):
        def do(*arguments, **options):
            done.append((what, *map(str, arguments)))
            return returned(*arguments)

        return do

    outcomes = iter([GOOD] * 9)
    monkeypatch.setattr(compat, "find_python", lambda version: f"python{version}")
    monkeypatch.setattr(compat, "make_environment", note("make", lambda python, folder: f"{folder.name}/python"))
    monkeypatch.setattr(compat, "install", note("install", lambda *_: None))
    monkeypatch.setattr(compat, "packages", lambda python: VERSIONS)
    monkeypatch.setattr(compat, "run_pytest", note("run", lambda *_: next(outcomes)))
    return done


def table(capsys):
    """Return the cells of what was printed last, row by row."""
    lines = capsys.readouterr().out.partition("\nCompatibility\n")[2].splitlines()
    return [re.split(r"\s{3,}", line.strip()) for line in lines]


def test_every_row_has_an_environment_of_its_own(done, capsys, tmp_path):
    with pytest.raises(SystemExit, match="0"):
        compat.main(["--folder", str(tmp_path)])
    assert [how for what, *how in done if what == "make"] == [
        ["python" + row.partition("-")[2], str(tmp_path / row)] for row in compat.ROWS
    ]
    header, *rows = table(capsys)
    assert header == [
        "row",
        "numpy",
        "matplotlib",
        "ipywidgets",
        "tokenizers",
        "passed",
        "failed",
        "skipped",
        "seconds",
    ]
    assert rows == [[row, "2.9.1", "3.99", "8.8", "0.77", "9", "0", "1", "61"] for row in compat.ROWS]


def test_rows_differ_in_what_is_installed_and_what_pytest_is_told(done):
    with pytest.raises(SystemExit, match="0"):
        compat.main(["oldest-3.11", "pinned-3.14", "newest-3.14", "--", "notebooks", "-k", "a"])
    given = ["notebooks", "-k", "a"]
    assert [each for each in done if each[0] != "make"] == [
        ("install", "oldest-3.11/python", "-r", "tests/requirements.txt"),
        ("install", "oldest-3.11/python", "-r", "tests/oldest.txt"),
        ("run", "oldest-3.11/python", "-m", "not browser", *given),
        ("install", "pinned-3.14/python", "-r", "tests/requirements.txt"),
        ("run", "pinned-3.14/python", *given),
        ("install", "newest-3.14/python", "-r", "tests/requirements.txt"),
        ("install", "newest-3.14/python", "--upgrade", "-r", "tests/newest.txt"),
        ("run", "newest-3.14/python", *given),
    ]


@pytest.mark.parametrize(
    ("outcome", "failed"),
    [(Outcome(1, passed=8, failed=2), "2"), (Outcome(5), "exit code 5"), (Outcome(0), None)],
)
def test_a_row_that_fails_fails_the_whole_and_the_others_run_on(done, capsys, monkeypatch, outcome, failed):
    outcomes = iter([outcome, GOOD])
    monkeypatch.setattr(compat, "run_pytest", lambda *_, **__: next(outcomes))
    with pytest.raises(SystemExit, match="1" if failed else "^0$"):
        compat.main(["pinned-3.11", "pinned-3.12"])
    _, first, second = table(capsys)
    assert first[6] == (failed or "0")
    assert second[5:7] == ["9", "0"]


def test_a_python_that_is_not_there_is_a_failure(done, capsys, monkeypatch):
    def find_python(version):
        if version == "3.12":
            raise EnvironmentProblem("no Python 3.12 found; install it")
        return f"python{version}"

    monkeypatch.setattr(compat, "find_python", find_python)
    with pytest.raises(SystemExit, match="1"):
        compat.main(["pinned-3.12", "pinned-3.13"])
    printed = capsys.readouterr().out
    assert "pinned-3.12: no Python 3.12 found; install it" in printed
    assert re.search(r"pinned-3.12 .* not run", printed)
    assert re.search(r"pinned-3.13 .* 9 +0 +1 +61", printed)


@pytest.mark.parametrize("row", ["pinned", "3.12", "latest-3.12", "pinned-2.7", "pinned-3.12-slow"])
def test_a_word_that_is_no_row_is_refused(row, capsys):
    with pytest.raises(SystemExit, match="2"):
        compat.main([row])
    assert (
        f"{row!r} is no row; write pinned, oldest, newest, a hyphen and a Python: pinned-3.11"
        in capsys.readouterr().err
    )


def requirements(name):
    lines = (ROOT / "tests" / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_the_oldest_are_the_lower_bounds_and_the_newest_have_no_bound():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    dependencies = project["dependencies"]
    bounds = dict(each.split(">=") for each in dependencies)
    oldest = dict(each.split("==") for each in requirements("oldest.txt"))
    assert {name: Version(text) for name, text in oldest.items()} == {
        name: Version(text) for name, text in bounds.items()
    }
    assert set(bounds) <= set(requirements("newest.txt"))
    assert compat.ROWS[0] == "pinned-" + project["requires-python"].removeprefix(">=")


def test_ci_runs_every_row():
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]
    matrix = jobs["test"]["strategy"]["matrix"]
    rows = {f"{kind}-{python}" for kind in matrix["dependencies"] for python in matrix["python"]}
    rows |= {f"{each['dependencies']}-{each['python']}" for each in matrix["include"]}
    assert set(compat.ROWS) <= rows
    assert all(map(compat.split, rows))
    assert "python -m tools.release.compat ${{ matrix.dependencies }}-${{ matrix.python }}" in [
        step.get("run") for step in jobs["test"]["steps"]
    ]
