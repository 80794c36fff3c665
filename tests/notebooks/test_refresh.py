"""`python -m tools refresh`: what it stores, that it stores it twice alike, and how it stops."""

import json

import pytest
from nbformat import v4

from tools import refresh
from tools.writing import hygiene
from tools.writing.notebooks import (
    LANGUAGE_INFO,
    NOTEBOOKS,
    WIDGET_VIEW,
    NotebookError,
    course_notebooks,
    execute,
    normalised,
    read,
    write,
)

pytestmark = pytest.mark.slow

# Of an empty course the tests fail for want of a file; with no case at all they would be skipped.
COURSE = course_notebooks() or [NOTEBOOKS / "any.ipynb"]
LAB = """\
from IPython.display import display
display({"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "a lab"}, raw=True)
display({"application/vnd.jupyter.widget-view+json": {"model_id": "2"}}, raw=True)
display({"text/plain": "ünd"}, raw=True)"""
SURROUNDINGS = """\
import os
from pathlib import Path
Path("beside.txt").read_text(), [os.environ[f"{name}_NUM_THREADS"] for name in ("OMP", "OPENBLAS", "MKL")]"""
STREAMS = """\
import sys
for line in "ab":
    print(line)
    sys.stdout.flush()
    display({"text/plain": line}, raw=True) if line == "b" else None
print("c")"""


def stored(path):
    return json.loads(path.read_text(encoding="utf-8"))


def sitting_notebook():
    """Return a notebook as a long sitting in some editor leaves it."""
    cells = [
        v4.new_markdown_cell("# Attention", metadata={"editable": False}),
        v4.new_code_cell(LAB, execution_count=7, metadata={"tags": ["lab"], "scrolled": True, "collapsed": False}),
        v4.new_code_cell(SURROUNDINGS, metadata={"jupyter": {"source_hidden": True, "outputs_hidden": True}}),
        v4.new_code_cell(STREAMS, outputs=[v4.new_output("stream", name="stderr", text="old")]),
        v4.new_code_cell("raise ValueError('the lesson')", metadata={"tags": ["raises-exception"]}),
        v4.new_markdown_cell("## What to remember"),
    ]
    metadata = {
        "kernelspec": {"display_name": "mine", "name": "conda-env-py"},
        "language_info": {"name": "python", "version": "3.9.1"},
        "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {}}},
        "colab": {"provenance": []},
    }
    notebook = v4.new_notebook(cells=cells, metadata=metadata)
    for cell, name in zip(notebook.cells, ("title", None, "title", "cell-2", "lesson", None), strict=True):
        cell.id = name
        if name is None:
            del cell["id"]
    return notebook


@pytest.fixture(scope="module")
def refreshed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    (folder / "beside.txt").write_text("found")
    path = folder / "sitting.ipynb"
    path.write_text(v4.writes(sitting_notebook()), encoding="utf-8")
    refresh.rerun([path])
    return path


def test_runs_in_the_notebook_s_folder_on_one_thread(refreshed):
    result = stored(refreshed)["cells"][2]["outputs"][0]
    assert result["data"]["text/plain"] == ["('found', ['1', '1', '1'])"]


def test_is_clean_afterwards(refreshed):
    assert hygiene.problems(read(refreshed)) == []


def test_strips_what_belongs_to_a_sitting(refreshed):
    notebook = stored(refreshed)
    assert notebook["metadata"] == {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": LANGUAGE_INFO,
    }
    assert [cell["metadata"] for cell in notebook["cells"]] == [
        {},
        {"tags": ["lab"]},
        {"jupyter": {"source_hidden": True}},
        {},
        {"tags": ["raises-exception"]},
        {},
    ]
    texts = [output["data"] for output in notebook["cells"][1]["outputs"]]
    assert texts == [{"text/plain": ["a lab"]}, {"text/plain": ["ünd"]}]
    assert WIDGET_VIEW not in json.dumps([cell.get("outputs") for cell in notebook["cells"]])


def test_keeps_ids_and_numbers_missing_or_repeated_ones(refreshed):
    assert [cell["id"] for cell in stored(refreshed)["cells"]] == [
        "title",
        "cell-3",  # the place's own number, cell-2, is taken
        "cell-4",
        "cell-2",
        "lesson",
        "cell-6",
    ]


def test_merges_neighbouring_streams_alone(refreshed):
    outputs = stored(refreshed)["cells"][3]["outputs"]
    assert [output.get("text") or output["data"]["text/plain"] for output in outputs] == [
        ["a\n", "b\n"],
        ["b"],
        ["c\n"],
    ]


def test_stores_of_a_lesson_s_error_nothing_that_differs_between_machines(refreshed):
    (error,) = stored(refreshed)["cells"][4]["outputs"]
    assert error["traceback"] == ["ValueError: the lesson"]


def test_writes_the_same_file_again(refreshed, capsys):
    before = refreshed.read_bytes()
    refresh.rerun([refreshed])
    assert refreshed.read_bytes() == before
    assert capsys.readouterr().out == "sitting.ipynb: unchanged\n"
    assert before.startswith(b'{\n "cells": [\n  {\n')
    assert before.endswith(b"}\n")
    assert not before.endswith(b"\n\n")
    assert "ünd".encode() in before
    assert b"\r" not in before


def test_stops_at_an_error_and_writes_nothing(tmp_path):
    paths = [tmp_path / "good.ipynb", tmp_path / "bad.ipynb"]
    for path, source in zip(paths, ("1", "\nsoftmax(scores)\n"), strict=True):
        cells = [v4.new_markdown_cell("# Attention"), v4.new_code_cell(source), v4.new_code_cell("2")]
        write(v4.new_notebook(cells=cells), path)
    before = [path.read_bytes() for path in paths]
    with pytest.raises(NotebookError) as stopped:
        refresh.rerun(paths)
    assert str(stopped.value) == (
        "bad.ipynb: cell 2 `softmax(scores)`: NameError: name 'softmax' is not defined\nNothing was written."
    )
    assert [path.read_bytes() for path in paths] == before


def test_names_the_cell_whatever_stops_it(tmp_path, monkeypatch):
    monkeypatch.setattr("tools.writing.notebooks.CELL_TIMEOUT", 1)
    undisplayable = "class Lab:\n    def _repr_html_(self):\n        raise ValueError('no picture')\nLab()"
    for source, reason in (
        ("while True: pass", "A cell timed out .* after 1 seconds"),
        ("import os; os._exit(1)", "Kernel died"),
        (undisplayable, "ValueError: no picture"),
    ):
        notebook = v4.new_notebook(cells=[v4.new_markdown_cell("# A"), v4.new_code_cell(source)])
        with pytest.raises(NotebookError, match=f"^cell 2 `{source[:5]}.*`: {reason}"):
            execute(notebook, tmp_path)


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_the_course_is_stored_as_refresh_writes_it(path, tmp_path):
    write(normalised(read(path)), tmp_path / "again.ipynb")
    assert (tmp_path / "again.ipynb").read_bytes() == path.read_bytes()
