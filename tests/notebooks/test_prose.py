"""Every number in a notebook's prose comes from a cell, or from a source as its data have it."""

import re

import pytest

from mha_helpers import worked_examples
from tools.writing.measure import FOLDED
from tools.writing.notebooks import course_notebooks, read

# Whole numbers below 100 are too common to trace; links, issue numbers and years are no results.
NUMBER = re.compile(r"(?<![\w.#])(\d+\.\d+|\d{3,})(?![\w.]*\d)")
NOT_A_RESULT = re.compile(
    r"\]\([^)]*\)|arXiv:\S+|section [\d.]+|(?:issue|pull request) \d+|(?:et al\. |\()(?:19|20)\d\d\b|<[^>]*>"
)


def printed_by_sources():
    """Every number as a source prints it."""
    steps = (step for name in worked_examples.EXAMPLES for step in worked_examples.load(name).steps)
    return set(re.findall(r"'([\d.]+)'", repr([step.printed for step in steps])))


def shown_by_cells(notebook):
    texts = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            texts.append(cell.source)
            texts += [output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return set(re.findall(r"\d+\.\d+|\d+", "\n".join(texts)))


@pytest.mark.parametrize("path", course_notebooks(), ids=lambda path: path.stem)
def test_every_number_in_prose_is_shown_by_a_cell_or_printed_by_a_source(path):
    notebook = read(path)
    known = shown_by_cells(notebook) | printed_by_sources()
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    # What is folded is written by `tools.writing.answers`, and has a test of its own.
    found = NUMBER.findall(NOT_A_RESULT.sub(" ", FOLDED.sub(" ", prose)))
    assert found, "the test reads no numbers: is the notebook without any?"
    assert [number for number in found if number not in known] == []


# A dark theme turns figures and labs over, and what was dark is then the brightest.
BRIGHTNESS = re.compile(r"\b(pale|dark|bright|light(?= (?:cell|colour|shade|row)))(e?r|est)?\b", re.IGNORECASE)


@pytest.mark.parametrize("path", course_notebooks(), ids=lambda path: path.stem)
def test_nothing_is_told_by_how_bright_it_is(path):
    shown = [(cell.source, cell.get("outputs", [])) for cell in read(path).cells]
    assert BRIGHTNESS.findall(str(shown)) == []
