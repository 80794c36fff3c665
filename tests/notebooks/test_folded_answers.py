"""The folded answers to predictions: the notebooks hold what committing says."""

import nbformat.v4
import pytest

from mha_helpers import exercises
from tools.writing.answers import fill
from tools.writing.notebooks import NotebookError, course_notebooks, read


def notebook_of(source):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(source)])


def test_an_answer_is_folded_and_says_what_committing_says():
    [cell] = fill(notebook_of("<!-- answer: predict_order -->\nwhat it said before")).cells
    first, *_, last = cell.source.splitlines()
    assert (first, last) == ("<!-- answer: predict_order -->", "</details>")
    prediction = exercises.predict_order
    for said in (prediction.reactions[prediction.right], prediction.evidence()):
        assert said in cell.source
    assert fill(notebook_of(cell.source)).cells[0].source == cell.source


def test_an_answer_to_no_prediction_is_an_error():
    with pytest.raises(NotebookError, match=r"cell 1 .* there is no prediction exercises.predict_nothing"):
        fill(notebook_of("<!-- answer: predict_nothing -->"))


@pytest.mark.parametrize("path", course_notebooks(), ids=lambda path: path.stem)
def test_the_notebooks_hold_the_answers_as_they_are_now(path):
    notebook = read(path)
    for stored, written in zip(notebook.cells, fill(notebook).cells, strict=True):
        assert stored.source == written.source, "run python -m tools refresh"
