"""Each notebook's core path can be walked in 55 minutes: one idea, little to read, nothing long to run through."""

import re

import pytest

from mha_helpers import course
from tools.writing.measure import FURTHER, core_path, measured, minutes, word_count
from tools.writing.notebooks import course_notebooks, read

HEADING = re.compile(r"^## (.+?)(?: \((\d+) minutes\))?$", re.MULTILINE)
LAB = re.compile(r"^labs\.\w+\(", re.MULTILINE)
BUG = re.compile(r"\]\(https://github\.com/[^/]+/[^/]+/(?:issues|pull)/\d+")


def has_core_path(path):
    return any(FURTHER.search(cell.source) for cell in read(path).cells if cell.cell_type == "markdown")


@pytest.fixture(scope="module", params=filter(has_core_path, course_notebooks()), ids=lambda path: path.stem)
def notebook(request):
    return read(request.param)


def test_the_core_path_keeps_its_limits(notebook):
    core = measured(core_path(notebook))
    limits = {"words": 2000, "code_lines": 90, "listings": 0}
    assert {name: getattr(core, name) for name, most in limits.items() if getattr(core, name) > most} == {}
    assert minutes(notebook) <= 55


def sections(notebook):
    """Return the core path's parts between its opening and what to remember: heading, minutes and text of each."""
    prose = "\n\n".join(cell["source"] for cell in core_path(notebook) if cell["cell_type"] == "markdown")
    pieces = HEADING.split(prose)[1:]
    parts = list(zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True))
    assert parts[-1][0] == "What to remember"
    return parts[:-1]


@pytest.mark.parametrize("known", [known for known in course.NOTEBOOKS if known.sections], ids=lambda known: known.name)
def test_the_core_path_has_few_sections_of_ten_minutes_each_with_room_for_one_idea(known):
    [path] = (path for path in course_notebooks() if path.stem == known.name)
    notebook = read(path)
    parts = sections(notebook)
    assert all(said for _, said, _ in parts), "a section says its minutes: ## Two banks (7 minutes)"
    assert sum(int(said) for _, said, _ in parts) == minutes(notebook)
    warm_up = bool(known.name[:2] > "01")
    assert [heading.startswith("Warm-up") for heading, *_ in parts] == warm_up * [True] + [False] * (
        len(parts) - warm_up
    )
    core = parts[warm_up:]
    assert len(core) <= 5
    assert (
        tuple((heading.replace(' "', " “").replace('"', "”"), int(said)) for heading, said, _ in core) == known.sections
    ), "mha_helpers/course.py"
    assert {heading: word_count(text) for heading, _, text in core if not 150 <= word_count(text) <= 450} == {}


@pytest.mark.parametrize("path", [path for path in course_notebooks() if path.stem[:2] in {"01", "02", "03", "04"}])
def test_there_is_something_to_press_in_the_first_third(path):
    """Of the words that are read on the core path; in 05 the first lab runs on the function that is written there."""
    read_so_far, at_labs = 0, []
    for cell in core_path(read(path)):
        if cell["cell_type"] == "markdown":
            read_so_far += word_count(cell["source"])
        elif LAB.search(cell["source"]):
            at_labs.append(read_so_far)
    assert at_labs, f"{path.name} has no lab before Further"
    assert at_labs[0] <= read_so_far / 3, f"{at_labs[0]} of {read_so_far} words are read before the first lab"


def test_a_notebook_has_at_most_twelve_new_words(notebook):
    *_, last = core_path(notebook)
    [words] = re.findall(r"\*\*Words met for the first time:\*\* (.*?)\.\n", last["source"], re.DOTALL)
    assert len(words.split(",")) <= 12


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
