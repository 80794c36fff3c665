"""Measure how much a notebook asks of its reader: words, lines of code, links, minutes, pictures and listings.

The core path is what stands before the heading "Further". Its limits, which a test holds: 2,000 words of prose (what is
folded away not counted), 90 lines of code (the folded set-up cell not counted) and 55 minutes.
"""

import re
from typing import NamedTuple

FURTHER = re.compile(r"^## Further$", re.MULTILINE)
FOLDED = re.compile(r"<!--.*?-->|<details.*?</details>", re.DOTALL)
# The opening's lines that only say where to go: to other notebooks, and where this one opens.
NAVIGATION = re.compile(r"^(?:Open in .*|\[[^]]*\]\([^)]*\)(?: ·(?: \[[^]]*\]\([^)]*\))?)*)$", re.MULTILINE)
LINK = re.compile(r"\]\((https?://[^)]*|[^)]*)\)")
FORMULA = re.compile(r"\$\$?[^$]+\$\$?")
WORD = re.compile(r"[^\W_]+(?:['’\-.,][^\W_]+)*")
MINUTES = re.compile(r"\*\*Minutes:\*\* (?:about )?(\d+)")
LONG_LISTING = 6  # printed lines that a reader still reads


class Measure(NamedTuple):
    """What a part of a notebook asks of its reader."""

    words: int
    code_lines: int
    links: int  # to other hosts
    listings: int  # printed outputs of more than LONG_LISTING lines
    pictures: int
    words_before_picture: int | None  # None where there is no picture


def core_path(notebook):
    """Return the cells before the heading "Further": all of them where there is none."""
    cells = []
    for cell in notebook.cells:
        found = FURTHER.search(cell.source) if cell.cell_type == "markdown" else None
        if found:
            before = cell.source[: found.start()]
            return [*cells, {**cell, "source": before}] if before.strip() else cells
        cells.append(cell)
    return cells


def word_count(text):
    """Count the words of a Markdown cell that a reader meets: a formula is one, what is folded away is none."""
    return len(WORD.findall(FORMULA.sub(" formula ", LINK.sub("]", _unfolded(text)))))


def _unfolded(text):
    return NAVIGATION.sub("", FOLDED.sub("", text))


def measured(cells):
    """Measure cells.

    Parameters
    ----------
    cells : list of NotebookNode

    Returns
    -------
    Measure
    """
    words = code_lines = links = listings = pictures = 0
    before_picture = None
    for cell in cells:
        if cell["cell_type"] == "markdown":
            links += sum(target.startswith("http") for target in LINK.findall(_unfolded(cell["source"])))
            words += word_count(cell["source"])
            continue
        if not cell["metadata"].get("jupyter", {}).get("source_hidden"):
            code_lines += sum(bool(line.strip()) for line in cell["source"].splitlines())
        for output in cell["outputs"]:
            listings += output.get("text", "").count("\n") > LONG_LISTING
            if "image/png" in output.get("data", {}) or "<svg" in output.get("data", {}).get("text/html", ""):
                pictures += 1
                before_picture = words if before_picture is None else before_picture
    return Measure(words, code_lines, links, listings, pictures, before_picture)


def minutes(notebook):
    """Return the minutes that a notebook says it takes, or None."""
    found = MINUTES.search(notebook.cells[0].source)
    return int(found[1]) if found else None


def table(notebooks):
    """Return the lines of a table of notebooks, which are given by their paths."""
    lines = [
        "| notebook | part | words | code lines | links | long listings | pictures | words before one | minutes |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for path, notebook in notebooks.items():
        for part, cells in {"core": core_path(notebook), "whole": notebook.cells}.items():
            said = minutes(notebook) if part == "core" else ""
            lines.append(f"| {path.stem} | {part} | {' | '.join(map(str, measured(cells)))} | {said} |")
    return lines
