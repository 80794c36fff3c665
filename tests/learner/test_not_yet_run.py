"""A NameError is followed by the cell to run first, in a kernel's first cell already; Python's own error stays."""

import json
import os
import runpy

import pytest
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.manager import run_kernel

from mha_helpers import course_data
from mha_helpers.learner import not_yet_run
from tools.writing.notebooks import NOTEBOOKS, course_notebooks, read

STARTUP = NOTEBOOKS.parent / "mha_helpers/learner/kernel_startup.py"
SETUP = "Run the first code cell of this notebook first: it loads the course"
ATTENTION = "Run the cell that defines dot_product_attention first: it is under “Exercise: attention from memory”"


@pytest.fixture
def shell(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(not_yet_run.SESSION, raising=False)
    monkeypatch.setattr(not_yet_run, "_notebook", None)
    shell = InteractiveShell.instance()
    yield shell
    InteractiveShell.clear_instance()


def write(path, *cells):
    """Write a notebook of sources, those that begin with # as text, in lines as JupyterLab saves them."""
    kinds = {True: "markdown", False: "code"}
    found = [{"cell_type": kinds[text.startswith("# ")], "source": text.splitlines(keepends=True)} for text in cells]
    path.write_text(json.dumps({"cells": found}), encoding="utf-8")


@pytest.mark.parametrize("path", course_notebooks(), ids=lambda path: path.stem)
def test_every_name_of_a_set_up_cell_leads_to_that_cell(path):
    cells = read(path).cells
    setup = next(cell.source for cell in cells if cell.cell_type == "code")
    for name in ("np", "course", "exercises"):
        assert name in setup
        assert not_yet_run.advice(name, f"{name}.anything", cells) == SETUP


def test_a_function_that_is_not_defined_yet_leads_to_its_exercise():
    cells = read(NOTEBOOKS / "01_self_attention.ipynb").cells
    assert not_yet_run.advice("dot_product_attention", "labs.word_order(dot_product_attention)", cells) == ATTENTION


def test_nothing_is_said_of_a_name_that_no_other_cell_defines(shell, capsys, tmp_path):
    write(tmp_path / "one.ipynb", "# One", "x = 1", "y = y + 1", "def f(:", "def g():\n    inner = 1")
    not_yet_run.watch("one")
    for source in ("y = y + 1", "f", "inner", "nowhere", "1 / 0", "def h():\n    x += 1\nh()"):
        assert not shell.run_cell(source).success
    assert "ℹ" not in capsys.readouterr().out
    assert not shell.run_cell("x").success
    assert "Run the cell that defines x first: it is under “One”" in capsys.readouterr().out


def test_an_error_in_a_package_is_left_alone(shell, capsys, tmp_path):
    write(tmp_path / "one.ipynb", "x = 1")
    (tmp_path / "package.py").write_text("def f():\n    return x\n")
    not_yet_run.watch("one")
    assert not shell.run_cell(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import package; package.f()").success
    assert "Run the cell" not in capsys.readouterr().out


def test_the_sentence_is_said_once_and_the_error_stays(shell, capsys, tmp_path):
    write(tmp_path / "one.ipynb", "x = 1")
    not_yet_run.watch()
    not_yet_run.watch("one")
    result = shell.run_cell("x")
    assert isinstance(result.error_in_exec, NameError)
    said = capsys.readouterr().out
    assert "name 'x' is not defined" in said
    assert said.count("Run the cell that defines x first") == 1


def test_where_the_notebook_is_not_at_hand_its_original_is_asked(shell, capsys, tmp_path, monkeypatch):
    write(tmp_path / "original", "# Two", "x = 1")
    monkeypatch.setattr(course_data, "data_path", {"originals/two.ipynb": tmp_path / "original"}.__getitem__)
    not_yet_run.watch("two")
    shell.run_cell("x")
    assert "it is under “Two”" in capsys.readouterr().out


def test_where_no_notebook_is_found_the_courses_own_names_are_known(shell, capsys):
    not_yet_run.watch()
    shell.run_cell("labs.two_banks()")
    assert SETUP in capsys.readouterr().out
    shell.run_cell("unknown")
    assert SETUP not in capsys.readouterr().out


def test_outside_of_a_notebook_nothing_happens():
    not_yet_run.watch()
    assert runpy.run_path(str(STARTUP)).keys() & {"_start", "contextlib"} == set()


def test_a_fresh_kernel_says_which_cell_comes_first_and_gets_no_names(tmp_path):
    """As the course's JupyterLab starts it, on the notebook's own file."""
    environment = os.environ | {
        "PYTHONSTARTUP": str(STARTUP),
        not_yet_run.SESSION: str(NOTEBOOKS / "01_self_attention.ipynb"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
    }
    seen = []
    arguments = {"kernel_name": "python3", "env": environment, "extra_arguments": ["--log-level=ERROR"]}
    with run_kernel(**arguments, cwd=str(tmp_path)) as client:
        names = {"names": "[name for name in ('_start', 'contextlib', 'not_yet_run') if name in globals()]"}
        quiet = client.execute_interactive("1", user_expressions=names, timeout=60, output_hook=lambda message: None)
        reply = client.execute_interactive("labs.two_banks()", timeout=60, output_hook=seen.append)
    assert quiet["content"]["user_expressions"]["names"]["data"]["text/plain"] == "[]"
    assert (reply["content"]["ename"], reply["content"]["evalue"]) == ("NameError", "name 'labs' is not defined")
    told = [message["content"]["data"]["text/plain"] for message in seen if message["msg_type"] == "display_data"]
    assert told == [SETUP]
