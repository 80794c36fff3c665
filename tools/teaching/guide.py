"""What follows from the notebooks: the tables of the README and of the instructor's pages, and the day sheets.

The tables stand between comments, `<!-- 01: ... -->`, `<!-- half day: ... -->` or `<!-- notebooks: ... -->`, and
`<!-- end -->`; a day's comment says when it begins and what comes then. `tools/teaching/plan.py` says what is read.
In the tables of wrong answers it writes one column: the number of the running example by which each is seen.
"""

import re

from mha_helpers import exercises
from mha_helpers.exercises.moved_numbers import moved_number
from tools.teaching.plan import Plan, numbered, table_row
from tools.teaching.sheet import day_sheet
from tools.writing.notebooks import NOTEBOOKS, NotebookError, course_notebooks

ROOT = NOTEBOOKS.parent
README = ROOT / "README.md"
PAGES = sorted((ROOT / "workshop").glob("*.md"))
BY_NOTEBOOK = ROOT / "workshop" / "by_notebook.md"
BLOCK = re.compile(r"(<!-- ([\w ]+): (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)
DAYS = {"day": False, "half day": True, "two hours": True}  # whether notebooks are taken as in the half day
# A row of five cells: exercise, mistake, how it looks, the number that moves, what to ask back.
WRONG_ANSWER = re.compile(r"^(\| (?:`(\w+)`)? ?\| `([\w-]+)` \|[^|\n]*\|)([^|\n]*)(\|[^|\n]*\|)$", re.MULTILINE)


def section(plan):
    """Return the tables and lists of a notebook's section."""
    lines = ["| cell | how | at | teach | do | slack | half |", "|---|---|---|---|---|---|---|"]
    at = 0
    for row in plan.rows:
        named = ", ".join(map(plan.quoted, row.cells))
        lines.append(table_row(named, row.how, at, row.teach or "", row.do or "", "", row.half or "–"))
        at += row.minutes
    lines.append(f"| slack | | {at} | | | {plan.slack} | {plan.half_slack or '–'} |")
    teach, do = (sum(getattr(row, column) for row in plan.rows) for column in ("teach", "do"))
    lines += [
        f"| **total** | | **{plan.total}** | **{teach}** | **{do}** | **{plan.slack}** | **{plan.half}** |",
        "",
        *_points(plan),
    ]
    return "\n".join(lines) + "\n"


def _points(plan):
    """Return what stands below a notebook's table: what is for home, what is right, and what is cut."""
    lines = []
    if plan.home:
        lines.append(f"- **For home, or when early.** {', '.join(map(plan.quoted, plan.home))}.")
    votes = [(number, plan.right(number)) for row in plan.rows for number in row.cells]
    if answers := [f"[{number}] {right}" for number, right in votes if right]:
        lines.append(f"- **Right.** {'; '.join(answers)}.")
    return [*lines, *_cuts(plan)]


def _cuts(plan):
    cut = sorted((row for row in plan.rows if "cut" in row.notes), key=lambda row: row.notes["cut"])
    kept = [row.cells[0] for row in plan.rows if row.notes.get("keep")]
    late = ", ".join(f"{numbered(row.cells)} ({row.minutes})" for row in cut)
    never = f" **Never cut** {numbered(kept)}." if kept else ""
    return [f"- **Late? Cut in this order:** {late}.{never}"] if cut else []


def with_moved_numbers(text):
    """Return the instructor's page with the number of the running example by which each wrong answer is seen."""
    named = None

    def row(match):
        nonlocal named
        before, name, slug, _, after = match.groups()
        named = name or named
        exercise = getattr(exercises, named)
        moved = moved_number(exercise, exercise.with_mistake(slug))
        return f"{before} {moved or '–'} {after}"

    return WRONG_ANSWER.sub(row, text)


def readme_row(plan):
    """Return a notebook's row in the README."""
    can = re.search(r"\*\*After this notebook you can\*\*\n\n((?:- .*\n(?:  .*\n)*)+)", plan.notebook.cells[0].source)
    if not can:
        raise NotebookError(f'{plan.path.name}: its first cell lacks "**After this notebook you can**" and a list')
    said = " ".join(can[1].split()).removeprefix("- ").replace("; - ", "; ").removesuffix(".")
    return f"| [{plan.title}](notebooks/{plan.path.name}) | {said} | {plan.total or plan.time or '–'} |"


def written(text, plans):
    """Return a document with every block of it written anew."""

    def block(match):
        opening, name, said, end = match.groups()
        if said == "written by python -m tools stamp":
            return match[0]
        if name in plans:
            return opening + "\n" + section(plans[name]) + "\n" + end
        if name == "notebooks":
            rows = "\n".join(readme_row(plan) for plan in plans.values())
            return f"{opening}\n| notebook | you will be able to | minutes |\n|---|---|---|\n{rows}\n\n{end}"
        if name in DAYS:
            sheet = day_sheet(said, plans, sections(), half=DAYS[name])
            return opening + "\n" + sheet + "\n" + end
        raise NotebookError(f"<!-- {name}: ... --> is the block of no notebook and no day; take it out")

    return BLOCK.sub(block, text)


def sections():
    """Return what the instructor's page says of each notebook, by the notebook's number."""
    parts = re.split(r"^## (\d\d) .*$", BY_NOTEBOOK.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def all_plans():
    return {plan.key: plan for plan in map(Plan, course_notebooks())}


def at(text, start):
    """Return an instructor's page whose sheet begins at another time."""
    days = "|".join(DAYS)
    return written(re.sub(rf"(<!-- (?:{days}): )\S+", rf"\g<1>{start}", text), all_plans())


def all_written():
    """Return the new text of every page, by path."""
    plans = all_plans()
    texts = {path: written(path.read_text(encoding="utf-8"), plans) for path in (README, *PAGES)}
    texts[BY_NOTEBOOK] = with_moved_numbers(texts[BY_NOTEBOOK])
    return texts
