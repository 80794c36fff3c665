"""The course's map: it knows the notebooks that there are, and leads to them."""

import itertools
import math
import os
import re
import subprocess
import sys
from importlib import metadata

import pytest

from mha_helpers import course
from mha_helpers.drawing import strip
from mha_helpers.drawing.block import CELL, LYING
from tools.page import pictures
from tools.writing.notebooks import NOTEBOOKS, read

STORED = {path.stem: path for path in sorted(NOTEBOOKS.glob("*.ipynb"))}
SHOW_THE_MAP = [
    name for name, path in STORED.items() if any(f'course.map("{name}")' in cell.source for cell in read(path).cells)
]


def links(page):
    return re.findall(r'<a href="([^"]*)">', page)


def test_every_notebook_is_on_the_map():
    known = {notebook.name for notebook in (*course.NOTEBOOKS, *course.WORKSHOPS)}
    assert set(STORED) <= known, "a notebook is missing in mha_helpers/course.py"


@pytest.mark.parametrize("notebook", [*course.NOTEBOOKS, *course.WORKSHOPS], ids=lambda notebook: notebook.name)
def test_the_map_asks_what_the_notebook_asks(notebook):
    [asked] = re.findall(r"\*\*The question: (.*?)\*\*", read(STORED[notebook.name]).cells[0].source)
    assert notebook.question.lower() == asked.lower()


@pytest.mark.parametrize("notebook", course.NOTEBOOKS, ids=lambda notebook: notebook.name)
def test_the_map_links_all_notebooks_but_the_one_that_is_open(notebook):
    page = course.map(notebook.name).html()
    assert links(page) == [f"{other.name}.ipynb" for other in course.NOTEBOOKS if other != notebook]
    assert f"<b>{int(notebook.number)} {notebook.title}</b>" in page


def test_a_workshops_map_links_every_notebook_and_names_the_workshop():
    drawn = course.map("A_documents")
    assert len(links(drawn.html())) == len(course.NOTEBOOKS)
    assert drawn.html().endswith(" · <b>A Five documents</b></div>")
    assert repr(drawn).startswith("The course's map. You are in notebook A, Five documents: ")


def test_no_two_maps_look_alike():
    notebooks = (*course.NOTEBOOKS, *course.WORKSHOPS)
    assert len({course.map(notebook.name).svg for notebook in notebooks}) == len(notebooks)


def test_a_part_that_a_notebook_is_about_is_lit_by_its_name():
    everything = strip.EVERYTHING
    for number, (lit, _, _) in strip.PARTS.items():
        assert lit <= everything, f"notebook {number} lights {lit - everything}, which the block does not have"


def test_a_number_stands_on_no_tensor_and_no_other_number():
    lit = 11 / strip.SCALE  # a number's radius, in the block's pixels
    places = [place for _, place, _ in strip.PARTS.values()]
    for x, y in places:
        for left, top, (rows, columns), _ in LYING.tensors.values():
            beside = max(left - x, x - left - columns * CELL[0], 0), max(top - y, y - top - rows * CELL[1], 0)
            assert math.hypot(*beside) > lit
    assert min(math.dist(one, other) for one, other in itertools.combinations(places, 2)) > 2 * lit


def test_on_colab_links_lead_to_the_repository(monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", object())
    fields = {"Project-URL": ["Repository, https://github.com/ada/attention"]}
    monkeypatch.setattr(metadata, "metadata", lambda name: type("Fields", (), {"get_all": fields.get}))
    assert course.address("02_scaling") == (
        "https://colab.research.google.com/github/ada/attention/blob/main/notebooks/02_scaling.ipynb"
    )


def test_the_stored_maps_are_up_to_date():
    wanted = {path: texts for path, (_, texts) in pictures.wanted_maps().items()}
    assert {path: pictures.carried(path) for path in wanted} == wanted, "run python -m tools refresh"


def test_no_set_up_cell_loads_matplotlib():
    """The map's PNG is stored: what paints it takes a second to load, and comes with the first figure."""
    notebooks = map(read, STORED.values())
    first_cells = [next(cell.source for cell in each.cells if cell.cell_type == "code") for each in notebooks]
    code = f"""
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for source in {first_cells!r}:
    ran = shell.run_cell(source)
    ran.raise_error()
    shown, _ = shell.display_formatter.format(ran.result)
    print(sorted(shown), "matplotlib" in sys.modules)
"""
    environment = os.environ | {"MHA_PROGRESS": "off"}
    options = {"cwd": NOTEBOOKS, "env": environment, "capture_output": True, "text": True, "check": True}
    said = subprocess.run([sys.executable, "-c", code], **options).stdout.splitlines()
    kinds = "['image/png', 'text/html', 'text/plain']"
    assert [line for line in said if line.startswith("[")] == [f"{kinds} False"] * len(STORED)


def test_the_first_set_up_cell_loads_no_exercise_no_lab_and_no_doctor():
    """They come with their first use: what a learner waits for is what the notebook needs."""
    first_cell = next(
        cell.source for cell in read(NOTEBOOKS / "01_self_attention.ipynb").cells if cell.cell_type == "code"
    )
    code = f"""
import sys
exec({first_cell.replace("%pip", "# %pip").replace("    # %pip", "    pass  # %pip")!r})
print(*sys.modules)
"""
    environment = os.environ | {"MHA_PROGRESS": "off"}
    options = {"cwd": NOTEBOOKS, "env": environment, "capture_output": True, "text": True, "check": True}
    loaded = subprocess.run([sys.executable, "-c", code], **options).stdout.split()
    assert "mha_helpers.exercises.engine" in loaded
    late = ("ipywidgets", "attention_doctor.api", "mha_helpers.update", "mha_helpers.exercises.self_attention")
    assert not [module for module in loaded if module.startswith(late)]


def test_an_unknown_notebook_is_refused_in_words():
    with pytest.raises(ValueError, match="the course has no notebook '2'; give one of 01_self_attention, 02_scaling"):
        course.map("2")


@pytest.mark.parametrize("name", [name for name in STORED if "course.progress(" in STORED[name].read_text("utf-8")])
def test_a_notebook_that_shows_progress_asks_everything_that_counts(name):
    """Otherwise nobody could ever finish it."""
    [notebook] = [notebook for notebook in (*course.NOTEBOOKS, *course.WORKSHOPS) if notebook.name == name]
    used = set(
        re.findall(r"exercises\.(\w+)\.(?:check|commit)\(", "\n".join(c.source for c in read(STORED[name]).cells))
    )
    assert {asked for names in course.asked(notebook) for asked in names} <= used


@pytest.mark.parametrize("name", SHOW_THE_MAP)
def test_a_notebook_with_a_map_links_the_one_before_and_the_one_after(name):
    """Links in Markdown work where outputs' links do not: on GitHub."""
    names = [notebook.name for notebook in course.NOTEBOOKS if notebook.name in STORED]
    first_cell = read(STORED[name]).cells[0].source
    if name in names:
        place = names.index(name)
        for neighbour in names[max(place - 1, 0) : place] + names[place + 1 : place + 2]:
            assert f"({neighbour}.ipynb)" in first_cell, f"{name}: link {neighbour}.ipynb in its first cell"
