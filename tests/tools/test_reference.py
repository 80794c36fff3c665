"""The pages for looking things up: as `refresh` writes them, and what it refuses."""

import re
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup

from mha_helpers import attention, exercises
from tools.reference import exercises as index
from tools.reference import sheet, words
from tools.site.formulas import rendered
from tools.writing.notebooks import NotebookError, course_notebooks, read

STALE = "run `python -m tools refresh --no-run`"


def test_the_words_are_those_of_the_notebooks():
    text = words.PAGE.read_text(encoding="utf-8")
    assert words.written(text) == text, STALE
    assert len(words.first_met()) > 50


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: re.sub(r"^\| softmax .*\n", "", text, flags=re.MULTILINE), "'softmax'; write a row"),
        (lambda text: text + "| flux | [01](x) | A flow. |\n", "'flux'; take its row out"),
    ],
)
def test_a_word_without_a_sentence_and_a_sentence_without_a_word_are_named(change, message):
    with pytest.raises(NotebookError, match=message):
        words.written(change(words.PAGE.read_text(encoding="utf-8")))


def test_every_exercise_and_prediction_is_in_the_index_and_each_link_leads_to_its_heading():
    text = index.PAGE.read_text(encoding="utf-8")
    assert text == index.page(), STALE
    links = BeautifulSoup(rendered(text), "html.parser")("a", href=re.compile("ipynb"))
    cells = {path.name: read(path).cells for path in course_notebooks()}
    assert len(links) == sum(len(index.CALL.findall(cell.source)) for of_one in cells.values() for cell in of_one)
    for link in links:
        file, _, place = link["href"].removeprefix("../notebooks/").partition("#")
        prose = "\n\n".join(cell.source for cell in cells[file] if cell.cell_type == "markdown")
        assert BeautifulSoup(rendered(prose), "html.parser").find(id=place), link["href"]


@pytest.mark.parametrize(
    ("name", "heading", "kind"),
    [
        ("softmax", "Exercise: softmax", "write"),
        ("mend_attention", "Exercise: mend_attention", "repair"),
        ("recall_split_heads", "Does it agree?", "recall"),
        ("multi_head_shapes", "Warm-up: the shapes, from memory", "recall"),
        ("predict_order", "Does word order matter?", "predict"),
    ],
)
def test_what_an_exercise_asks_for(name, heading, kind):
    assert index.kind(name, heading) == kind


def test_the_sheet_is_as_the_code_has_it():
    assert sheet.PAGE.read_text(encoding="utf-8") == sheet.page(), STALE


def test_the_sheet_names_mistakes_that_the_checks_can_name():
    for _, function, _ in sheet.STEPS:
        known = {mistake.slug for mistake in getattr(exercises, function.__name__).mistakes}
        assert {slug for slug, _ in sheet.mistakes()[function.__name__]} <= known, function.__name__


def test_the_sheets_shapes_are_those_of_the_docstring():
    assert sheet.shapes(attention.split_heads) == ["X (..., seq_len, d_model)", "→ (..., n_heads, seq_len, d_head)"]
    assert sheet.shapes(SimpleNamespace(__doc__="Returns\n-------\nndarray, shape (n, n)\n")) == ["→ (n, n)"]
