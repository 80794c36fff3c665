"""What a prediction asks is shown nowhere before it is committed.

What committing shows is taken from the answer that is folded into the notebook; `test_predictions.py` says that it
is what committing shows. Numbers are compared; of sentences no program can tell what they give away. So somebody has
read what stands below each prediction of notebooks 01 to 05, where a reader's eye falls next. `below_predictions.json`
has the hash of what they read, and what it gives away, if anything, and why that has to be so.
"""

import hashlib
import json
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from mha_helpers import exercises
from tools.writing.measure import FOLDED, FURTHER
from tools.writing.notebooks import course_notebooks, read, tags

COMMIT = re.compile(r"exercises\.(predict_\w+)\.commit\(")
# What tells: numbers with decimals, and NaN. Whole numbers may stand in the question; 0 and 1 stand everywhere.
TELLING = re.compile(r"(?<![\w.])(?:\d+\.\d{2,}|nan\b)", re.IGNORECASE)
HEADING = re.compile(r"^#+ ", re.MULTILINE)
EVIDENCE = re.compile(r"^```text\n(.*?)\n</details>$", re.MULTILINE | re.DOTALL)


def shown_by(cell):
    """Everything that a cell shows to somebody who runs nothing and unfolds nothing."""
    if cell.cell_type == "markdown":
        return FOLDED.sub("", cell.source)
    texts = [output.get("text", "") for output in cell.outputs]
    texts += [text for output in cell.outputs for mime, text in output.get("data", {}).items() if mime[:5] == "text/"]
    page = BeautifulSoup("\n".join(texts), "html.parser")  # what stands in a tag, such as a width, nobody sees
    for folded in page.find_all("details"):
        folded.decompose()
    return page.get_text(" ")


def shown_before(cells, place):
    """What stands above a prediction, and below it down to the next heading."""
    shown = [shown_by(cell) for cell in cells[: place + 1]]
    for cell in cells[place + 1 :]:
        text = shown_by(cell)
        heading = HEADING.search(text) if cell.cell_type == "markdown" else None
        shown.append(text[: heading.start()] if heading else text)
        if heading:
            break
    return "\n".join(shown)


def predictions(notebook):
    """Return (place, name) of each prediction in a notebook."""
    cells = [(place, COMMIT.search(cell.source)) for place, cell in enumerate(notebook.cells)]
    return [(place, found[1]) for place, found in cells if found and "prediction" in tags(notebook.cells[place])]


def evidence_of(name, cells):
    """What committing shows, of a picture what it says."""
    [answer] = [cell.source for cell in cells if cell.source.startswith(f"<!-- answer: {name} -->")]
    return EVIDENCE.search(answer)[1]


def has_core_path(notebook):
    return any(FURTHER.search(cell.source) for cell in notebook.cells if cell.cell_type == "markdown")


COURSE = [path for path in course_notebooks() if has_core_path(read(path))]
CASES = [(path, place, name) for path in course_notebooks() for place, name in predictions(read(path))]
READ = Path(__file__).with_name("below_predictions.json")
READ_CASES = [case for case in CASES if case[0].stem[:2] <= "05"]
MOST_GIVEN_AWAY = 3


@pytest.mark.parametrize(("path", "place", "name"), CASES, ids=[name for _, _, name in CASES])
def test_the_evidence_stands_nowhere_before_the_answer_is_committed(path, place, name):
    cells = read(path).cells
    text = evidence_of(name, cells)
    numbers = {number.lower() for number in TELLING.findall(text)}
    # An option may name NaN; where the question doesn't, it would tell.
    named = {"nan"} if re.search(r"\bnan\b", cells[place - 1].source, re.IGNORECASE) else set()
    numbers -= {"1.00", "1.0000", "0.00", "0.0000"} | named
    assert re.search(r"\d|nan", text), f"{name}'s evidence has no numbers: what does it show?"
    # Whole numbers are too common to look for one by one, so each line of the evidence must be new as well.
    shown = shown_before(cells, place)
    assert not [line for line in text.splitlines() if re.search(r"\d", line) and line.strip() in shown]
    before = {number.lower() for number in TELLING.findall(shown)}
    assert not numbers & before, f"{path.name} shows them before exercises.{name}.commit"


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_no_letter_is_always_right(path):
    right = [getattr(exercises, name).right for _, name in predictions(read(path))]
    assert {"a", "b", "c"} <= set(right), right


def seen(cell):
    """What a cell shows to somebody who runs and unfolds nothing: its text, or its code and what is stored below it.

    Of a picture it is the sentence that says what is on it. What an exercise's check says is left out: nobody has
    answered it yet.
    """
    if cell.cell_type == "markdown":
        return shown_by(cell).strip()
    code = "" if cell.metadata.get("jupyter", {}).get("source_hidden") else cell.source
    output = "" if {"exercise", "prediction"} & {*tags(cell)} else shown_by(cell)
    return "\n".join(filter(None, (code.strip(), " ".join(output.split()))))


def below(cells, place):
    """What is seen from a prediction down to the second heading after it: the heading in between begins a passage."""
    parts, n_headings = [], 0
    for cell in cells[place + 1 :]:
        text = seen(cell)
        headings = list(HEADING.finditer(text)) if cell.cell_type == "markdown" else []
        if n_headings + len(headings) >= 2:
            parts.append(text[: headings[1 - n_headings].start()].strip())
            break
        n_headings += len(headings)
        parts.append(text)
    return "\n\n".join(filter(None, parts))


def fingerprint(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.fixture(scope="module")
def readings():
    return json.loads(READ.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("path", "place", "name"), READ_CASES, ids=[name for _, _, name in READ_CASES])
def test_what_stands_below_has_been_read(readings, path, place, name):
    text = below(read(path).cells, place)
    assert text, "nothing stands below it, not even a heading"
    assert readings[name]["read"] == fingerprint(text), (
        f"Read what {path.name} shows below exercises.{name}, before there is an answer:\n\n{text}\n\n"
        f'If it gives nothing away, write "{fingerprint(text)}" for it in {READ.name}.'
    )


def test_few_give_something_away_and_say_why(readings):
    assert readings.keys() == {name for _, _, name in READ_CASES}
    reasons = {name: reading["gives_away"] for name, reading in readings.items() if "gives_away" in reading}
    assert len(reasons) <= MOST_GIVEN_AWAY, reasons
    assert all(len(reason.split()) > 5 for reason in reasons.values()), reasons
