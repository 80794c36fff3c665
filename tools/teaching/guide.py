"""Write the tables of the instructor's guide and of the README that follow from the notebooks.

Usage: python -m tools.teaching.guide

What a notebook says already is read there: its title, what one can do after it, its minutes, each exercise's
("### Exercise: `softmax` (8 minutes)"), and what is for home (all below "## Further"). What only an instructor needs
stands in the cells' metadata, under "course" (JupyterLab: property inspector, Advanced Tools), all of it optional:

    "teach": 2 or "do": 5   minutes, spoken or worked; 0 belongs to the cell before. An exercise works, a prediction 1,
                            a lab 3; any other cell is spoken for 1
    "how": "run; ..."       in place of write, vote, lab or run
    "half": true            in the half day, too
    "home": true            for home, or when early
    "cut": 2                the second to be cut when it is late; "keep": true is never cut
    "remark": "a tempts"    beside a prediction's right answer

and in the notebook's own metadata "course": {"half_slack": 0}, where the half day has another slack than the full one.
The tables stand between comments, `<!-- 01: ... -->` or `<!-- half day: ... -->`, and `<!-- end -->`.
"""

import re
import sys
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from mha_helpers import exercises, worked_examples
from tools.writing.measure import core_path
from tools.writing.notebooks import NOTEBOOKS, NotebookError, course_notebooks, label, read, tags
from tools.writing.solve import ASK, stub

ROOT = NOTEBOOKS.parent
README, GUIDE = ROOT / "README.md", ROOT / "workshop" / "README.md"
BLOCK = re.compile(r"(<!-- ([\w ]+): (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)
HEADING = re.compile(r"^### Exercise.*\((?:about )?(\d+) minutes\)", re.MULTILINE)
MINUTES = re.compile(r"\*\*Minutes:\*\* ([^.*]*)")  # "45", or "10 to read, 35 to do"
DOCUMENT = re.compile(r"^(\| [^|]*\(`(\w+)`\) \|[^|]*\|).*$", re.MULTILINE)
DEFAULTS = {"write": ("do", None), "vote": ("do", 1), "lab": ("do", 3), "run": ("teach", 1)}
KEYS = {"teach", "do", "how", "half", "home", "cut", "keep", "remark"}
SHORTEST_QUOTE = 8  # letters of a cell that the guide quotes


@dataclass
class Row:
    """Cells that are taught together."""

    cells: list
    how: str
    teach: int
    do: int
    notes: dict

    @property
    def minutes(self):
        return self.teach + self.do

    @property
    def half(self):
        return self.minutes if self.notes.get("half") else 0


class Plan:
    """What a notebook asks of a room, cell by cell. A cell's number is the one in its brackets."""

    def __init__(self, path):
        self.path, self.notebook = path, read(path)
        self.key = path.stem.partition("_")[0]
        self.heading = self.notebook.cells[0].source.partition("\n")[0].lstrip("# ")
        self.title = f"{self.key} {self.heading.partition('. ')[2].partition(':')[0]}"
        self.cells = {cell.execution_count: cell for cell in self.notebook.cells if cell.cell_type == "code"}
        self.rows, self.home = self._planned()

    def _planned(self):
        rows, home, announced = [], [], None
        core = core_path(self.notebook)
        for number, cell in enumerate(self.notebook.cells, 1):
            if cell.cell_type == "markdown":
                announced = [*HEADING.findall(cell.source), announced][0]
                continue
            notes = cell.metadata.get("course", {})
            if unknown := set(notes) - KEYS:
                raise self._problem(number, cell, f"has {unknown} in its course metadata; write one of {sorted(KEYS)}")
            if cell.execution_count == 1:
                continue  # the set-up cell
            if notes.get("home") or cell not in core:
                home.append(cell.execution_count)
                continue
            kind = self.kind(cell)
            column, default = DEFAULTS[kind]
            if kind == "write":
                default, announced = announced, None
                if default is None and not {"do", "teach"} & set(notes):
                    raise self._problem(
                        number, cell, 'is an exercise without minutes; write "### Exercise: ... (8 minutes)"'
                    )
            given = {name: notes[name] for name in ("teach", "do") if name in notes} or {column: int(default)}
            if sum(given.values()) or not rows:
                how = notes.get("how", kind)
                rows.append(Row([], how, given.get("teach", 0), given.get("do", 0), notes))
            rows[-1].cells.append(cell.execution_count)
        return rows, home

    def _problem(self, number, cell, what):
        return NotebookError(f"{self.path.name}: {label(number, cell)} {what} (see CONTRIBUTING.md)")

    @staticmethod
    def kind(cell):
        by_tag = {"exercise": "write", "prediction": "vote"}
        found = [kind for tag, kind in by_tag.items() if tag in tags(cell)]
        return found[0] if found else "lab" if re.search(r"^labs\.\w+\(", cell.source, re.MULTILINE) else "run"

    @property
    def total(self):
        """The minutes that the notebook says it takes."""
        said = MINUTES.search(self.notebook.cells[0].source)
        return sum(map(int, re.findall(r"\d+", said[1]))) if said else 0

    @cached_property
    def slack(self):
        left = self.total - sum(row.minutes for row in self.rows)
        if left < 0:
            raise NotebookError(
                f"{self.path.name} says it takes {self.total} minutes, and its cells take {-left} more: "
                'give its cells other minutes ("course" in their metadata, see CONTRIBUTING.md), or say more'
            )
        return left

    @property
    def half_slack(self):
        return self.notebook.metadata.get("course", {}).get("half_slack", self.slack)

    @property
    def half(self):
        return sum(row.half for row in self.rows) + self.half_slack

    def quoted(self, number):
        """Name a cell: its number, and words that no other cell has."""
        cell = self.cells[number]
        if "exercise" in tags(cell):
            return f"[{number}] `def {stub(cell).name}`"
        asked = [name for name, question in ASK.findall(cell.source) if question == "commit"]
        if asked:
            return f"[{number}] `{asked[0]}`"
        if shown := re.search(r"^labs\.\w+", cell.source, re.MULTILINE):
            return f"[{number}] `{shown[0]}`"
        others = "\n".join(other.source for count, other in self.cells.items() if count != number)
        for line in map(str.strip, cell.source.splitlines()):
            for words in accumulate(line.split(" "), "{} {}".format):
                enough = len(words) >= SHORTEST_QUOTE or words == line
                if enough and words and words not in others and not set("`|") & set(words):
                    return f"[{number}] `{words}`"
        return f"[{number}]"

    def section(self):
        """Return the tables and lists of the notebook's section."""
        lines = ["| cell | how | at | teach | do | slack | half |", "|---|---|---|---|---|---|---|"]
        at = 0
        for row in self.rows:
            named = ", ".join(map(self.quoted, row.cells))
            lines.append(_row(named, row.how, at, row.teach or "", row.do or "", "", row.half or "–"))
            at += row.minutes
        lines.append(f"| slack | | {at} | | | {self.slack} | {self.half_slack or '–'} |")
        teach, do = (sum(getattr(row, column) for row in self.rows) for column in ("teach", "do"))
        lines += [
            f"| **total** | | **{self.total}** | **{teach}** | **{do}** | **{self.slack}** | **{self.half}** |",
            "",
        ]
        if self.home:
            lines.append(f"- **For home, or when early.** {', '.join(map(self.quoted, self.home))}.")
        right = [self._right(number) for row in self.rows for number in row.cells]
        if any(right):
            lines.append(f"- **Right.** {'; '.join(filter(None, right))}.")
        cut = sorted((row for row in self.rows if "cut" in row.notes), key=lambda row: row.notes["cut"])
        kept = [row.cells[0] for row in self.rows if row.notes.get("keep")]
        if cut:
            late = ", ".join(f"{_numbers(row.cells)} ({row.minutes})" for row in cut)
            never = f" **Never cut** {_numbers(kept)}." if kept else ""
            lines.append(f"- **Late? Cut in this order:** {late}.{never}")
        return "\n".join(lines) + "\n"

    def _right(self, number):
        cell = self.cells[number]
        for name, question in ASK.findall(cell.source):
            if question == "commit":
                remark = cell.metadata.get("course", {}).get("remark")
                return f"[{number}] **{getattr(exercises, name).right}**" + (f" ({remark})" if remark else "")
        return None

    def readme_row(self):
        """Return the notebook's row in the README."""
        can = re.search(
            r"\*\*After this notebook you can\*\*\n\n((?:- .*\n(?:  .*\n)*)+)", self.notebook.cells[0].source
        )
        if not can:
            raise NotebookError(f'{self.path.name}: its first cell lacks "**After this notebook you can**" and a list')
        said = " ".join(can[1].split()).removeprefix("- ").replace("; - ", "; ").removesuffix(".")
        return f"| [{self.title}](notebooks/{self.path.name}) | {said} | {self.total or '–'} |"


def _row(first, *cells):
    return " ".join(f"| {cell}".rstrip() for cell in (first, *cells)) + " |"


def _numbers(cells):
    """Name cells by their numbers: "[2] to [4], [6]"."""
    parts = []
    for number in sorted(cells):
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    named = [f"[{part[0]}] to [{part[-1]}]" if len(part) > 2 else ", ".join(f"[{n}]" for n in part) for part in parts]
    return ", ".join(named)


def _clock(number):
    return f"{number // 60:02}:{number % 60:02}"


def run_sheet(plan, plans, *, half):
    """Return a day's table.

    Parameters
    ----------
    plan : str
        When it begins and what comes then: "09:00 | 5 Welcome | 01 | 10 Break | 02".
    plans : dict of str to Plan
    half : bool
        Whether notebooks are taken as in the half day.
    """
    begin, *steps = map(str.strip, plan.split("|"))
    start = now = int(begin[:2]) * 60 + int(begin[3:])
    lines = ["| clock | minutes | what | cells |", "|---|---|---|---|"]
    for step in steps:
        if step in plans:
            taken = plans[step]
            length, what = taken.half if half else taken.total, taken.title
            cells = _half_cells(taken, now) if half else "all"
        else:
            length, what, cells = int(step.partition(" ")[0]), step.partition(" ")[2], ""
        lines.append(_row(_clock(now), length, what, cells))
        now += length
    lines.append(_row(_clock(now), "", "End", ""))
    hours, left = divmod(now - start, 60)
    return "\n".join([f"{hours}:{left:02} hours:", "", *lines]) + "\n"


def _half_cells(plan, now):
    """Name the cells of the half day, and when each exercise should begin."""
    parts, waiting = [], []
    for row in plan.rows:
        if row.half:
            if "write" in row.how:
                parts += [_numbers(waiting)] * bool(waiting) + [f"{_numbers(row.cells[:1])} at {_clock(now)}"]
                waiting = row.cells[1:]
            else:
                waiting += row.cells
            now += row.half
    return ", ".join(parts + [_numbers(waiting)] * bool(waiting))


def documents(text, plans):
    """Return the README with what is known of each document: where it runs, and how much of it is right."""

    def row(match):
        name = match[2]
        places = []
        for plan in plans.values():
            numbers = [str(number) for number, cell in plan.cells.items() if f'"{name}"' in cell.source]
            if numbers:
                listed = (
                    "cell " + numbers[0]
                    if len(numbers) == 1
                    else "cells " + " and ".join([", ".join(numbers[:-1]), numbers[-1]])
                )
                places.append(f"[{plan.key}](notebooks/{plan.path.name}) {listed}")
        verdicts = [found.verdict for found in worked_examples.replay(name)]
        slips, carried = verdicts.count("wrong here"), verdicts.count("carried")
        said = f"{verdicts.count('agrees')} of {len(verdicts)} right"
        said += f", {slips} slip{'s' * (slips > 1)}" if slips else ""
        said += f", {carried} rows that carry them on" if carried else ""
        return f"{match[1]} {', '.join(places)} | {said} |"

    return DOCUMENT.sub(row, text)


def written(text, plans):
    """Return a document with every block of it written anew."""

    def block(match):
        opening, name, said, end = match.groups()
        if name in plans:
            return opening + "\n" + plans[name].section() + "\n" + end
        if name == "notebooks":
            rows = "\n".join(plan.readme_row() for plan in plans.values())
            return f"{opening}\n| notebook | you will be able to | minutes |\n|---|---|---|\n{rows}\n\n{end}"
        if name in ("half day", "full day"):
            return opening + "\n" + run_sheet(said, plans, half=name == "half day") + "\n" + end
        raise NotebookError(f"<!-- {name}: ... --> is the block of no notebook and no day; take it out")

    return BLOCK.sub(block, text)


def all_written():
    """Return the new text of both documents, by path."""
    plans = {plan.key: plan for plan in map(Plan, course_notebooks())}
    texts = {path: written(path.read_text(encoding="utf-8"), plans) for path in (README, GUIDE)}
    texts[README] = documents(texts[README], plans)
    return texts


def main():
    try:
        texts = all_written()
    except NotebookError as error:
        sys.exit(f"{error}\nNothing was written.")
    for path, text in texts.items():
        before = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{path.relative_to(ROOT)}: {'unchanged' if text == before else 'written'}")


if __name__ == "__main__":
    main()
