"""`tools.release.environments`: the Python that is asked for, an environment of its own, and what pytest did there."""

import os
import subprocess
import sys

import pytest

from tools.release.environments import EnvironmentProblem, find_python, make_environment, packages, run_pytest

HERE = "{}.{}".format(*sys.version_info)
TESTS = """\
import os, pytest
def test_right(): assert "PYTHONPATH" not in os.environ and os.environ["COURSE"] == "mha"
def test_wrong(): assert 0
@pytest.fixture
def broken(): raise OSError
def test_error(broken): pass
@pytest.mark.skip
def test_skipped(): pass
"""


def program(path, *lines):
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(["#!/bin/sh", *lines]))
    path.chmod(0o755)


def test_the_running_python_is_found_first():
    assert find_python(HERE) == sys.executable


@pytest.mark.skipif(os.name == "nt", reason="the programs it makes are shell scripts")
def test_a_program_that_is_not_that_python_is_passed_over(tmp_path, monkeypatch):
    program(tmp_path / "shims/python3.99", "exit 127")  # pyenv's, of a version that is not switched on
    monkeypatch.setenv("PATH", str(tmp_path / "shims"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match=r"no Python 3\.99 found .*`pyenv install 3\.99`"):
        find_python("3.99")
    program(tmp_path / "versions/3.99.2/bin/python", "echo 3.99 $0")
    assert find_python("3.99") == str(tmp_path / "versions/3.99.2/bin/python")


def test_an_environment_is_made_apart_from_this_one(tmp_path):
    python = make_environment(sys.executable, tmp_path / "own", "--without-pip")
    found = subprocess.run([python, "-c", "import sys, numpy"], capture_output=True, text=True)
    assert "No module named 'numpy'" in found.stderr
    assert make_environment(sys.executable, tmp_path / "own", "--without-pip") == python  # taken up again


def test_what_cannot_be_made_into_an_environment_is_said(tmp_path):
    (tmp_path / "thesis.txt").write_text("three years")
    with pytest.raises(EnvironmentProblem, match="is no virtual environment; name another folder"):
        make_environment(sys.executable, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    with pytest.raises(EnvironmentProblem, match="no-such-python is no program"):
        make_environment("no-such-python", tmp_path / "new")
    with pytest.raises(EnvironmentProblem, match=r"-m venv --no-such-option .* failed"):
        make_environment(sys.executable, tmp_path / "new", "--no-such-option")


def test_packages_have_versions():
    assert packages(sys.executable)["pytest"] == pytest.__version__


def test_what_pytest_did_is_counted(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    (tmp_path / "test_all.py").write_text(TESTS)
    (tmp_path / "pytest.ini").touch()
    outcome = run_pytest(sys.executable, "-q", folder=tmp_path, COURSE="mha", PYTHONDONTWRITEBYTECODE="1")
    assert (outcome.code, outcome.passed, outcome.failed, outcome.skipped) == (1, 1, 2, 1)
    assert outcome.seconds > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pytest.ini", "test_all.py"]
    assert run_pytest(sys.executable, "-k", "nothing", folder=tmp_path).code == 5
    assert run_pytest(sys.executable, "--no-such-option", folder=tmp_path).code == 4
