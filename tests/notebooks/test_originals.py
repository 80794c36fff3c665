"""`data/originals/`: the notebooks without outputs, as the course brings them, of the same text as the notebooks."""

import pytest

from mha_helpers import exercises
from mha_helpers.course_data import data_path
from mha_helpers.learner import originals
from tools import refresh
from tools.writing.notebooks import ORIGINALS, course_notebooks, original, read

EXERCISES = [name for folder in exercises.EXERCISES.values() for name in folder]


def test_the_originals_are_the_notebooks_without_what_they_show():
    stored = {path.name: path.read_text(encoding="utf-8") for path in ORIGINALS.glob("*.ipynb")}
    assert stored == {path.name: original(read(path)) for path in course_notebooks()}, (
        "run python -m tools refresh --no-run"
    )


def test_it_is_stored_where_each_exercise_is_asked_first():
    stored = data_path(originals.INDEX).read_text(encoding="utf-8")
    assert stored == refresh.asked_first(), "run python -m tools refresh --no-run"


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_has_an_original_to_go_back_to(name):
    assert f"exercises.{name}.check(" in originals.stub(name)


def test_an_exercise_that_no_notebook_asks_for_has_none():
    with pytest.raises(ValueError, match="no notebook asks for 'softmaxx', so it has no original"):
        originals.stub("softmaxx")
