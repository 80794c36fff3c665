"""What the instructor's guide says of the course is so: its cells, minutes, names of mistakes, answers and commands."""

import importlib.util
import inspect
import re

import numpy as np
import pytest

from mha_helpers import exercises
from mha_helpers.attention import attention_scores, softmax
from mha_helpers.exercises import diagnosis, engine
from tools.writing.notebooks import NOTEBOOKS, course_notebooks, read
from tools.writing.solve import ASK

ROOT = NOTEBOOKS.parent
GUIDE = (ROOT / "workshop" / "README.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in GUIDE.split("\n## ")[1:]}
COURSE = {f"{path.stem[:2]}": path for path in course_notebooks()}
TITLES = re.findall(r"^\| \[(\d\d [^]]*)\]\(notebooks/.*\| (\d+) \|$", README, re.MULTILINE)  # and minutes
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
REFERENCE = re.compile(r"\[(\d+)\](?: to \[(\d+)\])?")


def cells_named(text):
    """Every cell's number in a text; "[2] to [5]" names four."""
    found = []
    for first, last in REFERENCE.findall(CODE.sub("", text)):
        found += range(int(first), int(last or first) + 1)
    return found


def rows(text, columns):
    """The rows of the tables that have so many columns."""
    lines = (line for line in text.splitlines() if line.startswith("| "))
    split = ([cell.strip() for cell in line[1:-1].split("|")] for line in lines)
    return [row for row in split if len(row) == columns]


def later(clock, number):
    """A time of day, so many minutes later."""
    hours, left = divmod(60 * int(clock[:2]) + int(clock[3:]) + number, 60)
    return f"{hours:02}:{left:02}"


def minutes(cell):
    """A number in a table; 0 where there is none."""
    return int(cell.strip("*–") or 0)


class Plan:
    """A notebook's section of the guide, and the notebook itself."""

    def __init__(self, title):
        self.text = SECTIONS[title]
        notebook = read(COURSE[title[:2]])
        self.prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        self.sources = {cell.execution_count: cell.source for cell in notebook.cells if cell.cell_type == "code"}
        head, *self.rows, self.total = rows(self.text, 7)
        assert head == ["cell", "how", "at", "teach", "do", "slack", "half"]
        assert self.total[0] == "**total**"

    def asked(self, number, question):
        """The exercise or prediction that a cell checks or commits."""
        return next(name for name, asks in ASK.findall(self.sources[number]) if asks == question)

    def lasts(self, cells):
        """The minutes of the rows in which these cells stand."""
        return sum(sum(map(minutes, row[3:6])) for row in self.rows if set(cells_named(row[0])) & set(cells))

    def line(self, start):
        [line] = [line for line in self.text.splitlines() if line.startswith(start)]
        return line


@pytest.fixture(params=[title for title, _ in TITLES])
def plan(request):
    return Plan(request.param)


# ---- the notebooks' sections -------------------------------------------------------------------


def test_every_notebook_has_a_section_under_the_readmes_title_and_every_part_of_it():
    assert [title for title in SECTIONS if title[:2].isdigit()] == [title for title, _ in TITLES]
    parts = ("**Objectives.** ", "**For home, or when early.** ", "**Right.** ", "**Type a mistake** ")
    parts += ("| wrong answers |", "**Ask the room.** ", "**Late? Cut in this order:** ", "**Never cut** ")
    for title, _ in TITLES:
        assert [part for part in parts if part not in SECTIONS[title]] == [], title


def test_each_quoted_cell_has_that_number_and_every_cell_that_is_named_is_quoted(plan):
    quoted = dict(re.findall(r"\[(\d+)\] `([^`]+)`", plan.text))
    for number, words in quoted.items():
        assert [found for found, source in plan.sources.items() if words in source] == [int(number)], words
    tables = "\n".join(row[0] for row in plan.rows) + "\n" + plan.line("- **For home")
    assert sorted(cells_named(tables)) == [*plan.sources][1:], "each cell but the first, once"
    assert set(cells_named(plan.text)) <= set(cells_named(tables))
    assert set(map(int, quoted)) >= set(cells_named("\n".join(row[0] for row in plan.rows)))


def test_the_minutes_add_up_to_those_of_the_notebook_and_of_the_readme(plan):
    columns = [sum(minutes(row[column]) for row in plan.rows) for column in range(3, 7)]
    assert columns == [minutes(cell) for cell in plan.total[3:]]
    to_read, to_do = map(int, re.search(r"\*\*Minutes:\*\* (\d+) to read, (\d+) to do", plan.prose).groups())
    assert [columns[0], columns[1] + columns[2]] == [to_read, to_do]
    assert str(sum(columns[:3])) == dict(TITLES)[plan.text.partition("\n")[0]]


def test_each_row_begins_when_those_before_it_are_over(plan):
    ends = np.cumsum([sum(map(minutes, row[3:6])) for row in plan.rows])
    assert [minutes(row[2]) for row in [*plan.rows, plan.total]] == [0, *ends]


def test_a_cell_takes_the_whole_of_its_minutes_in_the_half_day_or_none(plan):
    for row in plan.rows:
        assert minutes(row[6]) in (0, sum(map(minutes, row[3:6]))), row


def test_exercises_have_the_minutes_that_the_notebook_gives_them(plan):
    given = dict(re.findall(r"^### Exercise .*`(\w+)`  \(about (\d+) minutes\)", plan.prose, re.MULTILINE))
    assert given
    writing = [row for row in plan.rows if "write" in row[1]]
    planned = {plan.asked(cells_named(row[0])[0], "check"): row[4] for row in writing}
    assert planned == given


def test_predictions_have_the_right_answer(plan):
    said = dict(re.findall(r"\[(\d+)\] \*\*([^*]+)\*\*", plan.line("- **Right.**")))
    commits = [number for number, source in plan.sources.items() if ".commit(" in source]
    assert [int(number) for number in said] == commits
    for number, answer in said.items():
        assert getattr(exercises, plan.asked(int(number), "commit")).right == answer


def test_mistakes_are_in_the_catalogue_of_an_exercise_of_the_notebook(plan):
    head, *wrong = rows(plan.text, 4)
    assert head == ["wrong answers", "name", "how it looks", "ask back"]
    checked = {name for source in plan.sources.values() for name, asks in ASK.findall(source) if asks == "check"}
    exercise = None
    for row in wrong:
        exercise = row[0].strip("`") or exercise
        assert exercise in checked
        slugs = [mistake.slug for mistake in getattr(exercises, exercise).mistakes]
        assert row[1].strip("`") in slugs, f"{exercise}: {row[1]}"
        assert row[3].endswith(('?"', '."'))
        assert "?" in row[3], "a question, not the answer"


def test_the_mistake_to_type_is_called_by_its_name(plan):
    [code] = re.findall(r"```python\n(.*?)```", plan.text, re.DOTALL)
    name, slug = re.match(r"def (\w+)\(.*\):  # ([\w-]+)\n", code).groups()
    typed = {"np": np, "softmax": softmax, "attention_scores": attention_scores}
    exec(code, typed)
    assert getattr(exercises, name).check(typed[name]).mistake == slug
    number = int(re.search(r"\*\*Type a mistake\*\* into \[(\d+)\]", plan.text)[1])
    assert plan.asked(number, "check") == name
    assert f"[{number}] `def {name}" in plan.text
    [how] = [row[1] for row in plan.rows if number in cells_named(row[0])]
    assert "type a mistake" in how


def test_what_is_cut_saves_what_is_said_and_spares_what_must_stay(plan):
    cut, _, kept = plan.line("- **Late?").partition("**Never cut**")
    named = re.findall(r"((?:\[\d+\](?: to | and )?)+) \((\d+)\)", cut)
    assert len(named) >= 3
    for cells, saved in named:
        assert plan.lasts(cells_named(cells)) == int(saved), cells
    assert cells_named(kept)
    assert not set(cells_named(cut)) & set(cells_named(kept))


def test_each_has_questions_for_the_room_and_something_typed_live(plan):
    assert 2 <= plan.line("- **Ask the room.**").count(" · ") + 1 <= 3
    assert any("**live**" in row[1] for row in plan.rows)


# ---- the run sheets ----------------------------------------------------------------------------


@pytest.mark.parametrize(("day", "whole"), [("Half a day", False), ("A full day", True)])
def test_run_sheets(day, whole):
    head, *sheet = rows(SECTIONS[day], 4)
    assert head == ["clock", "minutes", "what", "cells"]
    clock = [60 * int(row[0][:2]) + int(row[0][3:]) for row in sheet]
    lengths = [minutes(row[1]) for row in sheet]
    assert [start + length for start, length in zip(clock, lengths, strict=True)] == [*clock[1:], clock[-1]]
    hours, left = divmod(sum(lengths), 60)
    assert f"\n{hours}:{left:02} hours:" in SECTIONS[day]

    taught = [row for row in sheet if row[2][:2].isdigit()]
    assert [row[2].partition(",")[0] for row in taught] == [title for title, _ in TITLES]
    for row, (title, _) in zip(taught, TITLES, strict=True):
        plan = Plan(title)
        if whole:
            assert (minutes(row[1]), row[3]) == (sum(map(minutes, plan.total[3:6])), "all"), title
        else:
            assert minutes(row[1]) == minutes(plan.total[6]), title
            begins, now = {}, row[0]
            for one in plan.rows:
                begins |= dict.fromkeys(cells_named(one[0])[:1], now)
                now = later(now, minutes(one[6]))
            for number, said in re.findall(r"\[(\d+)\] at (\d\d:\d\d)", row[3]):
                assert said == begins[int(number)], f"{title}: [{number}]"
            assert cells_named(row[3]) == sorted(
                number for one in plan.rows if minutes(one[6]) for number in cells_named(one[0])
            ), title


# ---- what is named -----------------------------------------------------------------------------


def exists(name):
    if name == "keep_results":
        return hasattr(exercises, name)
    return (ROOT / name).exists() if "/" in name else importlib.util.find_spec(name) is not None


def test_every_command_and_file_exists():
    named = set(re.findall(r"python -m ((?:tools|mha_helpers|workshop)[.\w]+)", GUIDE)) | {"keep_results"}
    named |= set(re.findall(r"\bworkshop/[\w./]+\b", GUIDE))
    assert {"tools.writing.solve", "mha_helpers.check_setup"} <= named
    assert {name for name in named if not exists(name)} == set()


def test_links_lead_somewhere():
    headings = re.findall(r"^#+ (.+)$", GUIDE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    links = re.findall(r"\]\(([^)]+)\)", GUIDE)
    assert links
    for link in links:
        path, _, anchor = link.partition("#")
        if not link.startswith("https://"):
            assert (ROOT / "workshop" / path).exists(), link
            assert path or anchor in anchors, link


def test_what_the_check_calls_other_slips_is_named_as_it_names_them():
    """Beside the catalogues: named in the table of who is stuck."""
    for slug in ("outside-array", "input-changed"):
        assert f"| `{slug}` |" in SECTIONS["Stuck"]
        assert f'"{slug}"' in inspect.getsource(engine) + inspect.getsource(diagnosis)


def test_it_asks_the_learners_for_the_last_line_that_they_will_see():
    assert "must be **Ready.**" in SECTIONS["The day before"]
