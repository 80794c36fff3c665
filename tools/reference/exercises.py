"""The index of exercises: what there is to do in how many minutes, by kind."""

import math
import re

from bs4 import BeautifulSoup

from mha_helpers import exercises
from tools.site.formulas import rendered
from tools.writing.notebooks import NOTEBOOKS, course_notebooks, read, tags

PAGE = NOTEBOOKS.parent / "reference" / "exercises.md"
KINDS = {
    "write": "Write a function",
    "repair": "Repair a function",
    "recall": "Write it again, from memory",
    "predict": "Predict, then look",
}
MINUTES = re.compile(r"\((?:about )?(\d+) minutes\)")
NAME = re.compile(r"[a-z]+|\w+_\w+")  # of a function, and no sentence
CALL = re.compile(r"exercises\.(\w+)\.(?:check|commit)\(")
HEAD = """\
# Exercises, by minutes and kind

Each is checked by the course: a wrong answer is told by the name of its mistake. The minutes are those of the heading
above it; a prediction takes one or two.

<!-- written by python -m tools refresh, from the notebooks -->
"""


def kind(name, heading):
    """Return what an exercise under a heading asks for: a key of KINDS."""
    if name.startswith(("predict_", "find_")):
        return "predict"
    if name.startswith("recall_") or heading.startswith("Warm-up"):
        return "recall"
    return "repair" if getattr(exercises, name).broken_version else "write"


def rows():
    """Return the exercises: of each its kind, its minutes (0: not said), and what the page shows of it."""
    found = []
    for path in course_notebooks():
        heading = None
        for cell in read(path).cells:
            if cell.cell_type == "markdown":
                page = BeautifulSoup(rendered(cell.source, cell.get("attachments")), "html.parser")
                heading = (page(re.compile("^h[1-6]$")) or [heading])[-1]
            elif {"exercise", "prediction"} & {*tags(cell)}:
                [name] = {*CALL.findall(cell.source)}
                text = heading.text.removesuffix("¶")
                minutes = MINUTES.search(text)
                what = re.sub("^(Exercise|Predict|Warm-up): ", "", MINUTES.sub("", text).strip())
                shown = f"`{what}`" if NAME.fullmatch(what) else what[0].upper() + what[1:]
                link = f"[{shown}](<../notebooks/{path.name}#{heading['id']}>)"
                found.append((kind(name, text), int(minutes[1]) if minutes else 0, link, path.stem.partition("_")[0]))
    return found


def page():
    """Return the page, as Markdown."""
    parts, found = [HEAD], rows()
    for asked, title in KINDS.items():
        shown = [row[1:] for row in found if row[0] == asked]
        if any(minutes for minutes, *_ in shown):
            parts.append(f"\n## {title}\n\n| notebook | exercise | minutes |\n|---|---|---|\n")
            for minutes, link, number in sorted(shown, key=lambda row: row[0] or math.inf):
                parts.append(f"| {number} | {link} | {minutes or '–'} |\n")
        else:
            parts.append(f"\n## {title}\n\n| notebook | exercise |\n|---|---|\n")
            parts += [f"| {number} | {link} |\n" for _, link, number in shown]
    return "".join(parts)
