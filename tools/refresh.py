"""Write every file that follows from others, so that nothing stored is older than what it was made of.

A lab's stored picture is taken anew where the lab has another first state, and a notebook's map where it has changed.
The notebooks that are named (by default all) are run in a clean kernel, and store what they show, with their
predictions' folded answers. Then come the tables, sheets and lists that follow from notebooks and package. Every
notebook is run before any is written: when a cell raises, no notebook changes.
"""

import argparse
import json
import os
import sys

from mha_helpers.exercises import EXERCISES
from mha_helpers.learner import originals
from tools import rooms
from tools.page import losses, names, pictures, shortcuts
from tools.reference import exercises, sheet, words
from tools.release import constraints, launch
from tools.teaching import guide
from tools.writing import stubs
from tools.writing.answers import fill
from tools.writing.notebooks import (
    NOTEBOOKS,
    ORIGINALS,
    NotebookError,
    add_notebooks,
    course_notebooks,
    execute,
    read,
    write,
)
from tools.writing.pngs import keep_pngs

ROOT = NOTEBOOKS.parent


def rerun(paths):
    """Run notebooks and store what they show: all of them, or none; NotebookError says which cell stopped."""
    refreshed = {}
    for path in paths:
        stored = read(path)
        try:
            refreshed[path] = execute(fill(stored), path.parent)
        except NotebookError as error:
            raise NotebookError(f"{path.name}: {error}\nNothing was written.") from error
        keep_pngs(refreshed[path], stored)
    for path, notebook in refreshed.items():
        before = path.read_bytes()
        write(notebook, path)
        print(f"{path.name}: {'unchanged' if path.read_bytes() == before else 'refreshed'}")


def derived():
    """Return the text of every file that follows from the notebooks and the package, by its path."""
    repository, pages = launch.repository(), guide.all_written()
    return {
        **launch.all_written(repository),
        **pages,
        launch.README: launch.with_blocks(pages[launch.README], repository),
        ROOT / "engines" / "attention_doctor" / "NAMES.md": names.page(),
        **stubs.written(),
        exercises.PAGE: exercises.page(),
        sheet.PAGE: sheet.page(),
        words.PAGE: words.written(words.PAGE.read_text(encoding="utf-8")),
        rooms.PAGE: rooms.written(rooms.PAGE.read_text(encoding="utf-8")),
        shortcuts.SETTINGS: shortcuts.written(),
        ROOT / "data" / originals.INDEX: asked_first(),
        losses.LOSSES: losses.written(),
    }


def asked_first():
    """Return as JSON which notebook asks for each exercise first."""
    names = [name for folder in EXERCISES.values() for name in folder]
    cells = [(path.stem, cell) for path in course_notebooks() for cell in read(path).cells]
    first = {name: next((stem for stem, cell in cells if originals.asks(cell, name)), None) for name in names}
    if missing := [name for name, stem in first.items() if stem is None]:
        raise NotebookError(f"in no notebook: {', '.join(missing)}; add a cell, tagged `exercise`, that checks it")
    return json.dumps(first, indent=1, sort_keys=True) + "\n"


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools refresh", description=__doc__)
    add_notebooks(parser)
    parser.add_argument("--no-run", action="store_true", help="leave what the notebooks show as it is")
    arguments = parser.parse_args(argv)
    os.environ["MHA_PROGRESS"] = "off"  # what is checked here is no learner's
    try:
        pictures.retake()
        if not arguments.no_run:
            rerun(arguments.notebooks)
        texts = derived()
    except NotebookError as error:
        sys.exit(str(error))
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"{path.relative_to(ROOT)}: written")
    for path in set(ORIGINALS.glob("*.ipynb")) - set(texts):
        path.unlink()
        print(f"{path.relative_to(ROOT)}: deleted")
    if constraints.outdated():
        constraints.choose()
