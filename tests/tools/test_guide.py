"""What the instructor's guide and the README say of the course is so, and written as the notebooks have it."""

import re

import numpy as np
import pytest
from nbformat import v4

from mha_helpers import check_setup, exercises, labs
from mha_helpers.attention import attention_scores, softmax
from tools.teaching import guide
from tools.teaching.plan import Plan
from tools.teaching.sheet import day_sheet
from tools.writing.notebooks import NotebookError, course_notebooks, write
from tools.writing.solve import ASK

PAGES = {path.stem: path.read_text(encoding="utf-8") for path in guide.PAGES}
PAGES["hub"] = (guide.ROOT / "workshop" / "hub" / "README.md").read_text(encoding="utf-8")
PLACES = {name: guide.ROOT / "workshop" / ("hub" if name == "hub" else "") for name in PAGES}
SECTIONS = {part.partition("\n")[0]: part for text in PAGES.values() for part in text.split("\n## ")[1:]}
PLANS = {plan.title: plan for plan in map(Plan, course_notebooks())}
TAUGHT = [title for title, plan in PLANS.items() if plan.total]

each_section = pytest.mark.parametrize("title", TAUGHT)


def section(title):
    """Return a notebook's section; its heading may have another title than the notebook, but has its number."""
    found = [text for heading, text in SECTIONS.items() if heading[:2] == title[:2]]
    assert found, f'workshop/by_notebook.md has no section "## {title}": write one like the others'
    return found[0]


@each_section
def test_every_notebook_that_takes_minutes_has_a_section_with_every_part(title):
    key = title.partition(" ")[0]
    for part in (f"<!-- {key}: ", "**Objectives.** ", "**Type a mistake", "| wrong answers |", "**Ask the room.** "):
        assert part in section(title), f"## {title} of workshop/by_notebook.md lacks {part}"


@each_section
def test_mistakes_are_in_the_catalogue_of_an_exercise_of_the_notebook(title):
    lines = re.findall(r"^\| (`\w+`)? ?\| `([\w-]+)` \|.*\| (.*) \|$", section(title), re.MULTILINE)
    assert lines
    sources = "\n".join(cell.source for cell in PLANS[title].cells.values())
    checked = {name for name, question in ASK.findall(sources) if question == "check"}
    exercise = None
    for named, slug, ask_back in lines:
        exercise = named.strip("`") or exercise
        assert exercise in checked, f"{exercise} is no exercise of {title}"
        assert slug in [mistake.slug for mistake in getattr(exercises, exercise).mistakes], f"{exercise}: {slug}"
        assert "?" in ask_back, "a question, not the answer"


@each_section
def test_the_mistake_to_type_is_called_by_its_name(title):
    [code] = re.findall(r"```python\n(.*?)```", section(title), re.DOTALL)
    name, slug = re.match(r"def (\w+)\(.*\):  # ([\w-]+)\n", code).groups()
    typed = {"np": np, "softmax": softmax, "attention_scores": attention_scores}
    exec(code, typed)
    assert getattr(exercises, name).check(typed[name]).mistake == slug
    assert f"`def {name}`" in guide.section(PLANS[title]), f"{title} has no exercise {name}"


# ---- the program's own words -------------------------------------------------------------------


def test_what_learners_see_is_quoted_in_the_programs_words():
    notebook = {"softmax": softmax, "of_the_notebook": np.zeros(3)}
    exec("def outside(scores):\n    return softmax(of_the_notebook)", notebook)

    def changed(scores):
        scores -= scores.max(axis=-1, keepdims=True)
        return softmax(scores)

    check = exercises.softmax.check
    for slip in (notebook["outside"], changed):
        assert f"`{check(slip).mistake}`" in SECTIONS["Stuck"]
    assert f'"{repr(check(...)).splitlines()[0]}"' in SECTIONS["Stuck"]
    named = repr(check(changed)).splitlines()[0].replace(check(changed).mistake, "some-name")
    assert f"`{named}`" in SECTIONS["Stuck"]
    [own] = re.findall(r'a lab says "(.*?)"', SECTIONS["Stuck"])
    assert own in labs.softmax_scaling().still_picture.notice.replace("’", "'")


def test_the_last_line_that_learners_send_is_the_one_that_the_check_prints(capsys):
    check_setup.main(checks=())
    said = capsys.readouterr().out.strip().splitlines()[-1]
    assert f"must be **{said.partition('.')[0]}.**" in SECTIONS["The letter"]


def anchors(text):
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)]+)\)", PAGES[page]):
        path, _, anchor = link.partition("#")
        if not link.startswith("https://"):
            target = (PLACES[page] / path).resolve() if path else None
            assert target is None or target.exists(), link
            text = target.read_text(encoding="utf-8") if target and target.suffix == ".md" else PAGES[page]
            assert not anchor or anchor in anchors(text), link


# ---- the command, on a small notebook ----------------------------------------------------------


def plan_of(folder, *cells, minutes=20):
    """Plan a notebook of cells: a heading, or a source and what its metadata say."""
    first = f"# 7. Small: a notebook\n\n**After this notebook you can**\n\n- see;\n- do.\n\n**Minutes:** {minutes}."
    written = [v4.new_markdown_cell(first), v4.new_code_cell("import sys", execution_count=1)]
    for cell in cells:
        if isinstance(cell, str):
            written.append(v4.new_markdown_cell(cell))
        else:
            source, tag, course = cell
            metadata = {"tags": [tag] * bool(tag), "course": course}
            written.append(v4.new_code_cell(source, metadata=metadata, execution_count=len(written)))
    count = iter(range(1, 99))
    for cell in written:
        if cell.cell_type == "code":
            cell.execution_count = next(count)
    path = folder / "07_small.ipynb"
    write(v4.new_notebook(cells=written), path)
    return Plan(path)


EXERCISE = ("def softmax(scores):\n    return ...\n\nexercises.softmax.check(softmax)", "exercise")


def test_a_notebook_becomes_a_section_and_a_day(tmp_path):
    plan = plan_of(
        tmp_path,
        ("first = 1", "", {"half": True, "keep": True}),
        ("second = 2", "", {"teach": 0}),
        "### Exercise: `softmax` (8 minutes)",
        (*EXERCISE, {"half": True}),
        ("answer = None\nexercises.predict_empty.commit(answer)", "prediction", {"remark": "a tempts", "cut": 1}),
        "## Further",
        ("third = 3", "", {}),
    )
    right = exercises.predict_empty.right
    assert guide.section(plan).splitlines()[2:] == [
        "| [2] `first = 1`, [3] `second =` | run | 0 | 1 | | | 1 |",
        "| [4] `def softmax` | write | 1 | | 8 | | 8 |",
        "| [5] `predict_empty` | vote | 9 | | 2 | | – |",
        "| slack | | 11 | | | 9 | 9 |",
        "| **total** | | **20** | **1** | **10** | **9** | **18** |",
        "",
        "- **For home, or when early.** [6] `third = 3`.",
        f"- **Right.** [5] **{right}** (a tempts).",
        "- **Late? Cut in this order:** [5] (2). **Never cut** [2].",
    ]
    assert guide.readme_row(plan) == "| [07 Small](notebooks/07_small.ipynb) | see; do | 20 |"


def test_the_readme_says_the_minutes_of_notebooks_that_no_lesson_plans():
    rows = {plan.key: guide.readme_row(plan) for plan in PLANS.values() if not plan.total}
    assert {key: row.rpartition(" | ")[2] for key, row in rows.items()} == {"A": "60 |", "B": "40 |"}


def test_a_days_sheet_has_the_clock_what_to_say_and_every_answer(tmp_path):
    plan = plan_of(
        tmp_path,
        "## What comes first",
        ("first = 1", "", {"half": True}),
        ("second = 2", "", {"say": "Look at the last row.", "half": True}),
        "### Exercise: `softmax` (8 minutes)",
        (*EXERCISE, {"half": True, "how": "write; halfway, **type a mistake**"}),
        "### Predict: what is left",
        ("answer = None\nexercises.predict_empty.commit(answer)", "prediction", {"remark": "a tempts"}),
    )
    mistake = "def softmax(scores):  # softmax-no-exp\n    return scores\n"
    page = (
        f"```python\n{mistake}```\n\n| `softmax` | `softmax-no-max` | NaN | What is exp(1000)? |\n| | `b` | x | y? |\n"
    )
    table, _, code = day_sheet("09:50 | 5 Hello | 07", {"07": plan}, {"07": page}, half=True).partition("\n\n**[4]")
    assert table.splitlines() == [
        "0:23 hours: 1 functions to write, 0 votes, 8 minutes for questions and who is behind. "
        "The minutes are planned and have not been taught yet.",
        "",
        "| clock | what | minutes |",
        "|---|---|---|",
        "| 09:50 | Hello | 5 |",
        "| 09:55 | **07 Small** | 18 |",
        "| 10:13 | End | 0 |",
        "",
        "## 07 Small, 09:55 to 10:13",
        "",
        "| clock | cell | say or do | answer |",
        "|---|---|---|---|",
        "| 09:55 | [2] `first = 1` | What comes first (1) | |",
        "| 09:56 | [3] `second =` | Look at the last row (1) | |",
        "| 09:57 | [4] `def softmax` | They write `softmax` (8); at 10:01 type the mistake "
        "| `softmax-no-exp`, then below |",
        "| 10:05 | | Questions, and whoever is behind catches up (8) | |",
    ]
    assert code.index(mistake) < code.index("Right:") < code.index(exercises.softmax.solution().source)
    assert code.endswith("- `softmax-no-max`: What is exp(1000)?\n- `b`: y?\n\n")
    right = exercises.predict_empty.right
    whole = day_sheet("09:50 | 5 Hello | 07", {"07": plan}, {"07": page}, half=False)
    assert f"| 10:05 | [5] `predict_empty` | Vote. Predict: what is left (2) | **{right}** (a tempts) |" in whole


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([(*EXERCISE, {})], "is an exercise without minutes; write"),
        ([("a = 1", "", {"teech": 1})], "has {'teech'} in its course metadata; write one of"),
        ([("a = 1", "", {"teach": 30})], "says it takes 20 minutes, and its cells take 10 more"),
    ],
)
def test_what_is_forgotten_is_said(tmp_path, cells, said):
    with pytest.raises(NotebookError, match=r"07_small\.ipynb") as error:
        guide.section(plan_of(tmp_path, *cells))
    assert said in str(error.value)


def test_a_block_of_no_notebook_is_an_error(tmp_path):
    with pytest.raises(NotebookError, match="is the block of no notebook and no day"):
        guide.written("<!-- 99: written -->\n<!-- end -->", {})
