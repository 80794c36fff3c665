"""Unpacking a zip of `take_home` into an existing copy of the course.

Usage: python -m mha_helpers.unpack ZIP

The zip may come from anybody. So only what a learner makes is taken from it, notebooks, progress, answers and files of
known kinds, and only into the notebooks' folder; the course's code stays what is installed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import re
import shutil
import stat
import sys
import zipfile
from itertools import count, pairwise
from pathlib import Path
from typing import Any

from live_pictures.panel import Note, Panel
from mha_helpers import course_data
from mha_helpers.learner import folder as learners
from mha_helpers.learner import kept_answers, kept_file, progress
from mha_helpers.take_home import is_portable
from mha_helpers.update.merging import merge_notebook, source, written_cells

MAX_BYTES = 500_000_000  # of all that is unpacked: `take_home` brings less
MAX_ENTRIES = 20_000
KINDS = {
    *(".py", ".txt", ".md", ".csv", ".tsv", ".json", ".jsonl", ".npy", ".npz", ".safetensors"),
    *(".png", ".jpg", ".jpeg", ".gif", ".svg", ".pdf", ".tex"),
}
READ_BY_JUPYTER = re.compile(r"(jupyter|ipython|ipykernel)\w*config\.(py|json)")  # when it starts in that folder


def unpack(file: str | Path, folder: str | Path | None = None) -> Note:
    """Unpack a zip of `take_home` into the notebooks' folder, without losing anything that is there.

    - A notebook that is on both sides is merged cell by cell; where both changed the same cell, the one that is here
      stays, and the other's text stands below it.
    - What is done on either side is done, and of two answers the one of the later day counts.
    - Another file that is on both sides and differs is put beside, under another name.

    Parameters
    ----------
    file : path
        The zip; it may stand beside the notebooks.
    folder : path, optional
        Where the notebooks are: by default, the notebook's own folder.

    Returns
    -------
    Note
        What came of each notebook, and what was left in the zip and why.

    Raises
    ------
    ValueError
        If it is no such zip, or one that would write elsewhere, or if it cannot be unpacked. Then everything is as it
        was.

    Examples
    --------
    >>> from mha_helpers import course
    >>> course.unpack("attention.zip")  # doctest: +SKIP
    """
    from mha_helpers.update import swap  # only here: importing the course must stay cheap

    named, folder = str(file), learners.notebooks() if folder is None else Path(folder)
    # A browser has a single process, and nothing to lock a file with.
    alone = contextlib.nullcontext() if sys.platform == "emscripten" else swap.alone(folder)
    found = next((path for path in (Path(file), folder / file) if path.is_file()), None)
    if found is None:
        raise ValueError(f"there is no file {named!r}; put the zip that take_home wrote beside your notebooks")
    try:
        with _opened(found) as archive, alone:
            swap.finish(folder)  # what an earlier call may have left undone
            arrival = _Arrival(archive, folder)
            if arrival.new:
                staged = swap.stage(folder)
                for name, content in arrival.new.items():
                    path = staged / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
                swap.swap(folder)
    except OSError as error:
        if begun := (folder / swap.AREA / swap.JOURNAL).exists():
            outcome = "Run this again: it goes on from there"
        else:
            outcome = "Nothing was unpacked"
            shutil.rmtree(folder / swap.AREA / swap.NEW, ignore_errors=True)
        where, remedy = error.filename or folder, "close what uses it" if begun else "name a folder that is yours"
        raise ValueError(
            f"{str(where)!r} can't be read or replaced ({error.strerror}); make room, or {remedy}. {outcome}"
        ) from error
    return arrival.note(found.name)


@contextlib.contextmanager
def _opened(file):
    """Open a zip; a ValueError says what is wrong with it."""
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise ValueError(f"{str(file)!r} is no whole zip ({error}); bring it over once more") from error


class _Arrival:
    """What a zip brings into a folder: `new` holds the contents by path; nothing is written yet.

    Parameters
    ----------
    archive : zipfile.ZipFile
    folder : pathlib.Path
    """

    def __init__(self, archive, folder):
        self._archive, self._folder = archive, folder
        self._entries = _checked(archive)
        self.notebooks, self.left, self.aside, self.said = {}, {}, {}, []
        self.new = {}
        for name in self._entries:
            match = re.fullmatch(r"(?:[^/]+/)?notebooks/(.+)", name)
            if match:
                self._bring(match[1], name)
        if not self.new and not self.notebooks:
            raise ValueError("that zip holds no notebooks of the course; name the one that take_home wrote")

    def note(self, zip_name):
        """Return what was done, for the learner."""
        outcomes = {}
        for name, what in self.notebooks.items():
            outcomes.setdefault(what, []).append(name.removesuffix(".ipynb"))
        lines = [f"{', '.join(names)}: {what}." for what, names in outcomes.items()]
        lines += [f"{name}: another one of that name is here, so it is now {new}." for name, new in self.aside.items()]
        paragraphs = ["\n".join([*lines, *self.said])]
        if self.left:
            paragraphs.append("Left in the zip:\n" + "\n".join(f"{name}: {why}" for name, why in self.left.items()))
        if any(name.endswith(".ipynb") for name in self.new):
            paragraphs.append(
                "The files as they were are in the folder .update/old, beside your notebooks. Is one of them open? "
                "File > Reload Notebook from Disk shows it as it is now."
            )
        return Note(Panel("info", f"{zip_name} is unpacked", tuple(filter(None, paragraphs))))

    def _bring(self, name, entry):
        if name == f"{learners.NAME}/{progress.FILE}":
            self._progress(name, kept_file.parsed(self._read(entry)))
        elif name == f"{learners.NAME}/{kept_answers.FILE}":
            self._answers(name, kept_file.parsed(self._read(entry)))
        elif why := _why_not(self._folder, name):
            self.left[name] = why
        elif name.endswith(".ipynb"):
            self._notebook(name, self._read(entry))
        else:
            self._file(name, self._read(entry))

    def _read(self, entry):
        return self._archive.read(self._entries[entry])

    def _here(self, name):
        path = self._folder / name
        return path.read_bytes() if path.exists() else None

    def _file(self, name, content):
        here = self._here(name)
        if here is None:
            self.new[name] = content
        elif here != content:
            path = Path(name)
            names = (path.with_stem(f"{path.stem}-{number}").as_posix() for number in count(2))
            self.aside[name] = next(new for new in names if self._here(new) in (None, content))
            self.new[self.aside[name]] = content

    def _notebook(self, name, content):
        here = self._here(name)
        if here is None or here == content:
            self.notebooks[name] = "new here" if here is None else "the same"
            self.new |= {name: content} if here is None else {}
            return
        try:
            merged, what = self._merged(name, here, content)
        except (ValueError, KeyError, TypeError):  # one of them is no notebook of the course, or none at all
            self._file(name, content)
            return
        self.notebooks[name] = what
        if merged is not None:
            self.new[name] = merged

    def _merged(self, name, here, content):
        """Return a notebook's new content, or None where it stays as it is, and what to tell the learner."""
        from mha_helpers.update.files import parse, serialised

        base = parse(course_data.data_path(f"originals/{name}").read_bytes())
        yours, theirs = parse(here), parse(content)
        shipped = self._shipped_original(name) or base
        if shipped != base or not all(cell.get("id") for cell in theirs["cells"]):
            theirs = merge_notebook(shipped, theirs, base)  # of another version, or without ids, as Colab's
        written = written_cells(base, theirs)
        if not written:
            return None, "as it was here: nothing was written in the other"
        if not written_cells(base, yours):
            return serialised(theirs), "taken from the zip: nothing was written in the one here"
        merged = merge_notebook(base, yours, theirs, newer="In the zip")
        merged["cells"] = _each_once(merged["cells"])
        if merged["cells"] == yours["cells"]:
            return None, "as it was here, and what was written in the zip's is in it"
        text = "\n".join(map(source, merged["cells"]))
        if any(source(cell).strip() not in text for cell in [*written, *written_cells(base, yours)]):
            raise ValueError("something would be lost")
        return serialised(merged), "merged: what was written in either is in it"

    def _shipped_original(self, name):
        for entry in self._entries:
            if re.fullmatch(rf"(?:[^/]+/)?data/originals/{re.escape(name)}", entry):
                return json.loads(self._read(entry))
        return None

    def _progress(self, name, entries):
        here = progress.states(kept_file.read(self._folder / name))
        theirs = progress.states(entries)
        both = here | {key: state for key, state in theirs.items() if here.get(key) != "done"}
        if both != here:
            self.new[name] = kept_file.serialised(both)
            self.said.append("Your progress: what is done on either side is done.")

    def _answers(self, name, entries):
        here = kept_answers.answers(kept_file.read(self._folder / name))
        both = dict(here)
        for exercise, theirs in kept_answers.answers(entries).items():
            yours = here.get(exercise)
            if yours is None or (theirs.source == yours.source and theirs.day > yours.day):
                both[exercise] = theirs
            elif theirs.source != yours.source:
                if theirs.day > yours.day:
                    both[exercise] = theirs
                    stays = f"the zip's of {theirs.since} now counts, and no longer the one of {yours.since}"
                else:
                    stays = f"the one of {yours.since} that is here counts, and not the zip's of {theirs.since}"
                self.said.append(f"Your answer to {exercise} is on both sides: {stays}.")
        if both != here:
            self.said.append(f"Right answers that came along: {len(both.keys() - here.keys())}.")
            self.new[name] = kept_file.serialised({key: answer.entry() for key, answer in both.items()})


def _each_once(cells):
    """Return cells without those that repeat the one before: notes, where a zip is unpacked twice."""
    first, *others = cells
    repeated = (source(cell) == source(before) != "" for before, cell in pairwise(cells))
    return [first, *(cell for cell, again in zip(others, repeated, strict=True) if not again)]


def _checked(archive):
    """Return a zip's entries by name, if none of them would do harm."""
    entries, names, size = {}, set(), 0
    for entry in archive.infolist():
        name = entry.filename
        if stat.S_ISLNK(entry.external_attr >> 16) or not is_portable(name.removesuffix("/")):
            raise ValueError(
                f"the zip's entry {name!r} is a link, or leads out of the folder: no zip of take_home has such a one, "
                "and nothing was unpacked"
            )
        if entry.flag_bits & 1:
            raise ValueError(f"the zip's entry {name!r} is encrypted; name the zip that take_home wrote")
        if not entry.is_dir():
            if name.casefold() in names:  # for Windows and macOS, A and a are one name
                raise ValueError(f"the zip holds {name!r} twice; nothing was unpacked")
            entries[name] = entry
            names.add(name.casefold())
            size += entry.file_size
        if len(entries) > MAX_ENTRIES or size > MAX_BYTES:
            raise ValueError(
                f"the zip would unpack to more than {MAX_BYTES / 1e6:.0f} MB or {MAX_ENTRIES} files: no zip of "
                "take_home does, and nothing was unpacked"
            )
    return entries


def _why_not(folder, name):
    """Say why a zip's file stays in it; nothing if it may come."""
    path, parts = Path(name), name.split("/")
    if any(part.startswith(".") for part in parts):
        return "hidden"
    if not (folder / name).resolve().is_relative_to(folder.resolve()):
        return "a link that is here leads it out of the folder"
    if (folder / name).is_dir():
        return "here is a folder of that name"
    if path.suffix != ".ipynb" and path.suffix.lower() not in KINDS:
        return "not of a kind that is expected"
    if READ_BY_JUPYTER.fullmatch(path.name.lower()):
        return "Jupyter would run it when it starts"
    # Python looks beside a notebook first: `numpy.py` there would be what `import numpy` runs.
    module = parts[0].removesuffix(".py")
    if path.suffix == ".py" and not (folder / parts[0]).exists() and _is_importable(module):
        return f"it would take the place of the module {module}"
    return ""


def _is_importable(module):
    try:
        return module in sys.stdlib_module_names or importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return True  # something of that name is there, and in a strange state


def main(arguments: Any = None) -> int:
    """Unpack the zip that the command line names, and say what was done."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if len(arguments) != 1:
        print(__doc__.split("\n\n")[1])
        return 2
    try:
        print(unpack(arguments[0]))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
