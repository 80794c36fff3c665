"""What a notebook asks of a room: its cells in rows, each with minutes, told by the notebook itself.

What a notebook says already is read there: its title, what one can do after it, its minutes, each exercise's
("### Exercise: `softmax` (8 minutes)"), and what is for home (all below "## Further"). What only an instructor needs
stands in the cells' metadata, under "course" (JupyterLab: property inspector, Advanced Tools), all of it optional:

    "teach": 2 or "do": 5   minutes, spoken or worked; 0 belongs to the cell before. An exercise works, a prediction 2,
                            a lab 3; any other cell is spoken for as long as the text above it takes, 120 words a
                            minute, and half a minute for what it shows
    "how": "run; ..."       in place of write, vote, lab or run
    "say": "Look at ..."    what the day's sheet says to say there; without it, the heading above the cell
    "half": true            in the half day, too
    "home": true            for home, or when early
    "cut": 2                the second to be cut when it is late; "keep": true is never cut
    "remark": "a tempts"    beside a prediction's right answer

and in the notebook's own metadata "course": {"half_slack": 0}, where the half day has another slack than the full one.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import ceil

from mha_helpers import exercises
from tools.writing.measure import core_path, word_count
from tools.writing.notebooks import NotebookError, label, read, tags
from tools.writing.solve import ASK, stub

HEADING = re.compile(r"^### Exercise.*\((?:about )?(\d+) minutes\)", re.MULTILINE)
MINUTES = re.compile(r"\*\*Minutes:\*\* ([^.*]*)")  # "45", or "10 to read, 35 to do"
TIME = re.compile(r"\*\*Time:\*\* about (\d+) minutes")  # of a notebook that no lesson plans
DEFAULTS = {"write": ("do", None), "vote": ("do", 2), "lab": ("do", 3), "run": ("teach", None)}
WORDS_A_MINUTE, TO_LOOK = 120, 0.5  # spoken, and the minutes that a picture or a table takes
KEYS = {"teach", "do", "how", "say", "half", "home", "cut", "keep", "remark"}
SHORTEST_QUOTE = 8  # letters of a cell that the guide quotes


def numbered(cells):
    """Name cells by their numbers: "[2] to [4], [6]"."""
    parts = []
    for number in sorted(cells):
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    named = [f"[{part[0]}] to [{part[-1]}]" if len(part) > 2 else ", ".join(f"[{n}]" for n in part) for part in parts]
    return ", ".join(named)


@dataclass
class Row:
    """Cells that are taught together."""

    cells: list
    how: str
    teach: int
    do: int
    say: str
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
        rows, home, announced, above, words = [], [], None, "", 0
        core = core_path(self.notebook)
        for number, cell in enumerate(self.notebook.cells, 1):
            if cell.cell_type == "markdown":
                announced = [*HEADING.findall(cell.source), announced][0]
                words += word_count(cell.source)
                above = [above, *re.findall(r"^##+ (.*?)(?: +\(.*minutes\))?$", cell.source, re.MULTILINE)][-1]
                continue
            notes = cell.metadata.get("course", {})
            if unknown := set(notes) - KEYS:
                raise self._problem(number, cell, f"has {unknown} in its course metadata; write one of {sorted(KEYS)}")
            if cell.execution_count == 1:
                continue  # the set-up cell
            to_say, words = words, 0
            if notes.get("home") or cell not in core:
                home.append(cell.execution_count)
                continue
            kind = self.kind(cell)
            minutes = self._minutes(number, cell, announced, to_say)
            announced = None if kind == "write" else announced
            if sum(minutes.values()) or not rows:
                how = notes.get("how", kind)
                rows.append(Row([], how, minutes.get("teach", 0), minutes.get("do", 0), notes.get("say", above), notes))
            rows[-1].cells.append(cell.execution_count)
        return rows, home

    def _minutes(self, number, cell, announced, to_say):
        """Return a cell's minutes, those that it is given or else those of its kind: {"teach" or "do": minutes}.

        `announced` are those of the exercise's heading, and `to_say` the words of the text above.
        """
        notes = cell.metadata.get("course", {})
        if given := {name: notes[name] for name in ("teach", "do") if name in notes}:
            return given
        kind = self.kind(cell)
        column, minutes = DEFAULTS[kind]
        if kind == "run":
            minutes = ceil(to_say / WORDS_A_MINUTE + TO_LOOK)
        if kind == "write":
            minutes = announced
        if minutes is None:
            raise self._problem(number, cell, 'is an exercise without minutes; write "### Exercise: ... (8 minutes)"')
        return {column: int(minutes)}

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

    @property
    def time(self):
        """The minutes of a notebook that is not planned for a room; None where it doesn't say."""
        said = TIME.search(self.notebook.cells[0].source)
        return int(said[1]) if said else None

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
        shown = re.findall(r"^labs\.\w+", cell.source, re.MULTILINE)
        words = next(iter([*asked, *shown]), None) or self._own_words(number)
        return f"[{number}] `{words}`" if words else f"[{number}]"

    def _own_words(self, number):
        """Return the first words of a cell that no other cell has, or None."""
        others = "\n".join(other.source for count, other in self.cells.items() if count != number)
        for line in map(str.strip, self.cells[number].source.splitlines()):
            for words in accumulate(line.split(" "), "{} {}".format):
                enough = len(words) >= SHORTEST_QUOTE or words == line
                if enough and words and words not in others and not set("`|") & set(words):
                    return words
        return None

    def right(self, number):
        """Return the right answer of a cell's prediction, with the remark beside it; None where it asks nothing."""
        cell = self.cells[number]
        for name, question in ASK.findall(cell.source):
            if question == "commit":
                remark = cell.metadata.get("course", {}).get("remark")
                return f"**{getattr(exercises, name).right}**" + (f" ({remark})" if remark else "")
        return None


def table_row(first, *cells):
    return " ".join(f"| {cell}".rstrip() for cell in (first, *cells)) + " |"
