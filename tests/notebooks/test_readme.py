"""What the README says of the course is so."""

import re

import pytest

from mha_helpers import worked_examples
from tools.writing.notebooks import NOTEBOOKS, course_notebooks, read

README = (NOTEBOOKS.parent / "README.md").read_text(encoding="utf-8")
DOCUMENTS = re.findall(r"^\| [^|]*\(`(\w+)`\) \|[^|]*\| ([^|]*) \| ([^|]*) \|$", README, re.MULTILINE)
RUNS_IN = re.compile(r"\]\(notebooks/(\w+\.ipynb)\) cells? (\d+)(?: and (\d+))?")


def test_every_notebook_and_every_worked_example_is_listed():
    assert re.findall(r"^\| \[\d\d [^]]*\]\(notebooks/(.*?)\)", README, re.MULTILINE) == [
        path.name for path in course_notebooks()
    ]
    assert sorted(name for name, _, _ in DOCUMENTS) == sorted(worked_examples.EXAMPLES)


@pytest.mark.parametrize(("name", "places", "_"), DOCUMENTS, ids=[name for name, _, _ in DOCUMENTS])
def test_each_document_runs_in_the_cells_that_are_named(name, places, _):
    named = RUNS_IN.findall(places)
    assert len(named) == places.count("](")
    for notebook, *numbers in named:
        cells = {cell.execution_count: cell for cell in read(NOTEBOOKS / notebook).cells if cell.cell_type == "code"}
        for number in filter(None, numbers):
            assert f'"{name}"' in cells[int(number)].source, f"{notebook}, cell {number}"


@pytest.mark.parametrize(("name", "_", "outcome"), DOCUMENTS, ids=[name for name, _, _ in DOCUMENTS])
def test_as_much_of_each_document_is_right_as_is_said(name, _, outcome):
    rows = worked_examples.replay(name)
    verdicts = [row.verdict for row in rows]
    said = [int(number) for number in re.findall(r"\d+", outcome)]
    counts = [verdicts.count("agrees"), len(rows), verdicts.count("wrong here"), verdicts.count("carried")]
    assert said + [0] * (4 - len(said)) == counts
