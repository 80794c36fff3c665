"""Each notebook's core path can be walked in 45 minutes: one idea, little to read, nothing long to run through."""

import re

import pytest

from tools.writing.measure import FURTHER, core_path, measured, minutes
from tools.writing.notebooks import course_notebooks, read

BUG = re.compile(r"\]\(https://github\.com/[^/]+/[^/]+/(?:issues|pull)/\d+")


def has_core_path(path):
    return any(FURTHER.search(cell.source) for cell in read(path).cells if cell.cell_type == "markdown")


@pytest.fixture(scope="module", params=filter(has_core_path, course_notebooks()), ids=lambda path: path.stem)
def notebook(request):
    return read(request.param)


def test_the_core_path_keeps_its_limits(notebook):
    core = measured(core_path(notebook))
    limits = {"words": 1300, "code_lines": 90, "listings": 0}
    assert {name: getattr(core, name) for name, most in limits.items() if getattr(core, name) > most} == {}
    assert minutes(notebook) <= 45


def test_one_published_bug_is_enough_on_the_core_path(notebook):
    prose = "\n".join(cell["source"] for cell in core_path(notebook) if cell["cell_type"] == "markdown")
    assert len(BUG.findall(prose)) <= 1


def test_the_core_path_has_its_parts_in_order(notebook):
    first = notebook.cells[0].source
    parts = ["**The question:", "**After this notebook you can**", "**Minutes:**", "**You need:**"]
    places = [first.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)
    assert notebook.cells[1].metadata.jupyter.source_hidden
    *_, last = core_path(notebook)
    for part in ("## What to remember", "**Words met for the first time:**", "**The next question:**"):
        assert part in last["source"]


def test_no_heading_stands_twice(notebook):
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    headings = re.findall(r"^#+ .*", prose, re.MULTILINE)
    assert len(headings) == len(set(headings))
