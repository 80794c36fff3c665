"""Which targets of the setting `attention_targets` pytest asks, and how one fails."""

import os
import subprocess
import sys

import pytest

UNSCALED = """
import numpy as np

def attention(queries, keys, values):
    scores = queries @ keys.swapaxes(-1, -2)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ values
"""
SETTING = "[pytest]\nattention_targets =\n    model.py:attention\n    model.py:Attention(64, n_heads=4)\n"
TARGETS = ["pytest.ini::model.py:attention", "pytest.ini::model.py:Attention(64, n_heads=4)"]
A_TEST = "tests/test_it.py::test_it"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text("def test_it():\n    pass\n")
    return tmp_path


def pytests(folder, *arguments):
    plugins = ["-p", "no:cacheprovider", "-p", "attention_doctor.pytest_plugin"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, *arguments], cwd=folder, capture_output=True, text=True,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "testpaths", "selected"),
    [
        ([], "", [*TARGETS, A_TEST]),
        ([], "tests", [*TARGETS, A_TEST]),
        (["."], "", [*TARGETS, A_TEST]),
        (["pytest.ini"], "tests", TARGETS),
        ([TARGETS[1]], "", TARGETS[1:]),
        (["tests"], "", [A_TEST]),
        ([A_TEST], "tests", [A_TEST]),
    ],
)
def test_pytest_asks_targets_with_the_whole_suite_or_by_their_own_node(project, arguments, testpaths, selected):
    (project / "pytest.ini").write_text(f"{SETTING}testpaths = {testpaths}\n")
    ended = pytests(project, "--collect-only", "-q", *arguments)
    collected = {line for line in ended.stdout.splitlines() if "::" in line}
    assert collected == {*selected}, ended.stdout + ended.stderr


def test_a_target_of_pytest_fails_with_its_report_and_is_looked_for_beside_the_setting(project):
    (project / "pytest.ini").write_text(SETTING)
    (project / "model.py").write_text(UNSCALED)
    ended = pytests(project / "tests", "../pytest.ini::model.py:attention")
    assert "attention: sick: scale-missing" in ended.stdout, ended.stdout + ended.stderr
    assert ended.returncode == 1
