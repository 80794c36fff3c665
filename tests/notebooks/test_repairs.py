"""What a notebook gives to be mended is the function that its exercise knows, and it is told apart from an answer."""

import re

import pytest

from mha_helpers import exercises
from tools.writing.notebooks import course_notebooks, read

GIVEN = sorted(
    name
    for names in exercises.EXERCISES.values()
    for name in names
    if getattr(exercises, name).broken_version is not None
)


def asked(cell):
    return re.findall(r"exercises\.(\w+)\.check", cell.source) if cell.cell_type == "code" else []


@pytest.mark.parametrize("name", GIVEN)
def test_the_notebook_gives_the_function_that_the_exercise_knows(name):
    cells = [cell for path in course_notebooks() for cell in read(path).cells if name in asked(cell)]
    assert cells, f"no notebook asks exercises.{name}.check"
    for cell in cells:
        shown = "".join(output.get("data", {}).get("text/plain", "") for output in cell.outputs)
        assert "This is still the function as given" in shown, (
            f"the cell of {name} is not its `given`, or not refreshed"
        )


@pytest.mark.parametrize("name", GIVEN)
def test_what_is_given_is_wrong(name):
    exercise = getattr(exercises, name)

    def with_another_name(*arguments, **options):
        return exercise.broken_version(*arguments, **options)

    assert exercise.check(exercise.broken_version).status == "not attempted"
    assert exercise.check(with_another_name).status == "wrong"
