"""Below a wrong answer a cell that shows the course's numbers says so; below a right one, or none, it says nothing."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from mha_helpers import attention, exercises
from mha_helpers.learner import whose_numbers
from tools.writing.notebooks import NOTEBOOKS, read

SAID = "softmax: the course's version (yours is not right yet)"


@pytest.fixture(autouse=True)
def _nothing_checked(monkeypatch):
    monkeypatch.setattr(whose_numbers, "_not_right", {})


@pytest.fixture
def cell():
    """The cell of notebook 01 that draws the weights, below the exercise on softmax."""
    cells = read(NOTEBOOKS / "01_self_attention.ipynb").cells
    [exercise] = [i for i, cell in enumerate(cells) if "exercises.softmax.check(" in cell.source]
    return cells[exercise + 1].source


@pytest.mark.parametrize("wrong", [lambda scores: scores, lambda scores: 1 / 0], ids=["wrong", "stops"])
def test_a_figure_below_a_wrong_answer_says_whose_numbers_it_shows(cell, wrong):
    exercises.softmax.check(wrong)
    assert whose_numbers.said_above(cell) == [SAID]
    exercises.softmax.check(lambda scores: attention.softmax(scores))
    assert whose_numbers.said_above(cell) == []


def test_a_figure_below_a_stub_says_nothing(cell):
    exercises.softmax.check(lambda scores: ...)
    assert whose_numbers.said_above(cell) == []


def test_it_is_said_of_the_courses_function_alone():
    exercises.softmax.check(lambda scores: scores)
    assert whose_numbers.said_above("softmax(scores)") == []
    assert whose_numbers.said_above("exercises.softmax.check(softmax)") == []
    assert whose_numbers.said_above("attention.softmax_of(scores)") == []


def test_a_warm_up_that_is_right_takes_it_back():
    exercises.dot_product_attention.check(lambda queries, keys, values: (values, keys))
    exercises.recall_dot_product_attention.check(lambda *arrays: attention.dot_product_attention(*arrays))
    assert whose_numbers.said_above("attention.dot_product_attention(Q, K, V)") == []


def test_it_stands_above_the_output_of_the_cell(capsys):
    shell = InteractiveShell.instance()
    exercises.softmax.check(lambda scores: scores)
    exercises.softmax.check(lambda scores: scores)  # it is said once
    shell.run_cell("from mha_helpers import attention")
    shell.run_cell("print(attention.softmax([0.0, 0.0]))")
    InteractiveShell.clear_instance()
    assert capsys.readouterr().out.splitlines() == [SAID, "[0.5 0.5]"]
