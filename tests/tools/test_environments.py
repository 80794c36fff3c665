"""`tools.release.environments`: an environment of its own, and what pytest did there."""

import subprocess
import sys

import pytest

from tools.release.environments import make_environment, packages, run_pytest

pytestmark = pytest.mark.slow

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


def test_an_environment_is_made_apart_from_this_one(tmp_path):
    python = make_environment(sys.executable, tmp_path / "own")
    found = subprocess.run([python, "-c", "import sys, numpy"], capture_output=True, text=True)
    assert "No module named 'numpy'" in found.stderr


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
