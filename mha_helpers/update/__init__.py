"""Bring the new version of the course, and keep what the learner wrote in the old one.

Usage: python -m mha_helpers.update [SOURCE]

SOURCE is a folder, a zip or a Git address; by default, the one that the course was published at. The notebooks are
merged cell by cell (`mha_helpers.update.merging`), everything else is replaced. The notebooks as they were are in
`notebooks/before_update` until the next update, other files that were replaced in `.update/old`.

Killed at any moment it leaves the old version or the new one: see `swap`.
"""

import json
import re
import shutil
import subprocess
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from mha_helpers.update import git, source, swap
from mha_helpers.update.files import blob, parse, serialised
from mha_helpers.update.merging import END, caught_up, merge_notebook, written_cells

COURSE = Path(__file__).parents[2]
BEFORE = "notebooks/before_update"
FILES = f"{swap.AREA}/files.json"  # what the last update from a folder or a zip brought
OLD = f"{swap.AREA}/{swap.OLD}"
NOTEBOOK = re.compile(r"notebooks/[^/]+\.ipynb")
RELOAD = """\
Is a notebook open in JupyterLab? There: File > Reload Notebook from Disk, then Kernel > Restart Kernel.
(If JupyterLab says that the file has changed, choose Revert: Overwrite would bring the old text back.)"""


def update(place=None, course=COURSE):
    """Bring the new version of the course.

    Parameters
    ----------
    place : str, optional
        A folder, a zip or a Git address; by default, the one that the course was published at.
    course : path, optional
        The copy of the course that is updated.

    Returns
    -------
    list of str
        What was done, in sentences.

    Raises
    ------
    ValueError
        If there is nothing to update, or no new version, or if the learner changed a file that the new version
        changes, too, and that isn't a notebook. Then everything is as it was.
    """
    course = Path(course).resolve()
    for name in ("notebooks", "requirements.txt", "pyproject.toml"):
        if not (course / name).exists():
            raise ValueError(f"{course} is not a copy of the course: it has no {name}; get one as the README says")
    try:
        with swap.alone(course):
            return _update(place, course)
    except OSError as error:
        begun = (course / swap.AREA / swap.JOURNAL).exists()
        outcome = "it goes on from there" if begun else "nothing was changed"
        raise ValueError(
            f"{error.filename or course} can't be written or replaced ({error.strerror}). Close what uses it, or make "
            f"room, and run this again: {outcome}"
        ) from error


def _update(place, course):
    messages = ["An update that was interrupted is finished."] if swap.finish(course) else []
    clone = git.is_clone(course)
    if clone:
        settled, ready = git.settle(course, merge_notebook)
        messages += settled
        if not ready:
            return messages
    place = place or source.default(course)
    try:
        if clone and source.is_git(place, course):
            commit, fork = source.fetched(place, course)
            if commit == fork:
                messages += [*_installed(course), "The course is up to date.", *_all_caught_up(course)]
                return messages if settled else [*messages, *git.stashed(course)]
            change = _Change(course, source.archived(commit, course), fork)
            if fork:
                change.follow(commit)
        else:
            change = _Change(course, source.tree(place, course), None)
        return [*messages, *change.made()]
    finally:
        swap.clear(course / swap.AREA / "source")
        (course / swap.AREA / "source.zip").unlink(missing_ok=True)


class _Change:
    """What an update will do; nothing is done until `made`.

    Parameters
    ----------
    course, new : pathlib.Path
        The copy of the course, and a folder with the new version.
    fork : str or None
        The commit that the copy stands on, where it is a clone and the new version has it, too.
    """

    def __init__(self, course, new, fork):
        self.course, self.new, self.fork = course, new, fork
        self.names = source.files(new)
        self.known = self._known()
        self.remove, self.commands, self.messages = [], [], []
        self.staged = swap.stage(course)
        self.in_the_way = []
        for name in self.names:
            self._notebook(name) if NOTEBOOK.fullmatch(name) else self._file(name)
        self._what_goes()
        if self.in_the_way:
            raise ValueError(
                f"you changed {', '.join(self.in_the_way)}, and so does the new version; give your copy another name, "
                "put the original back, and run this again. Nothing was changed"
            )

    def _known(self):
        """Return the ids of the course's files as it shipped them, by path; None where they are unknown."""
        head = git.asked(self.course, "rev-parse", "HEAD") if git.is_clone(self.course) else None
        file = self.course / FILES
        brought = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        if brought and brought["head"] == head:
            return brought["files"]
        return git.blobs(self.course, self.fork or head) if head else None

    def _original(self, name):
        """Return a notebook as the course shipped it."""
        stored = f"data/originals/{Path(name).name}"
        original = self.course / stored
        here = original.read_bytes() if original.exists() else None
        # After an update from a zip the files are newer than the clone's commit.
        if self.fork and (here is None or blob(here) == git.asked(self.course, "rev-parse", f"HEAD:{stored}")):
            return git.content(self.course, self.fork, name)
        return here

    def _merged(self, name, mine):
        """Return a notebook's new content, and what to tell the learner; None where the original is unknown."""
        original = self._original(name)
        if original is None:
            return None
        shipped = (self.new / name).read_bytes()
        base, new = parse(original), parse(shipped)
        yours = _caught_up(self.course, name, base, parse(mine))
        written = written_cells(base, yours)
        if written and not written_cells(base, new) and not written_cells(new, base):
            # The new version says the same, so theirs stays, with what it shows.
            return mine if yours == parse(mine) else serialised(yours), []
        merged = merge_notebook(base, yours, new)
        messages = []
        if written:
            cells = "1 cell" if len(written) == 1 else f"{len(written)} cells"
            messages.append(f"{Path(name).stem}: {cells} that you wrote or changed came along.")
        if END in _ids(merged) - _ids(yours):
            messages.append(f"{Path(name).stem}: what the new version has no place for stands at its end.")
        return shipped if merged == new else serialised(merged), messages

    def _stage(self, name, content):
        path = self.staged / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def _notebook(self, name):
        new, path = (self.new / name).read_bytes(), self.course / name
        mine = path.read_bytes() if path.exists() else None
        if mine is None or mine == new:
            if mine is None:
                self._stage(name, new)
            return
        try:
            merged = self._merged(name, mine)
        except ValueError as error:
            aside = _free(path.with_suffix(".broken.ipynb"))
            self._stage(aside.relative_to(self.course).as_posix(), mine)
            self._stage(name, new)
            self.messages.append(
                f"{name} can't be read ({error}): it is kept as {aside.name}, and the new one starts over."
            )
            return
        if merged is None:
            self.in_the_way.append(name)
            return
        content, messages = merged
        if content != mine:
            self._stage(name, content)
            self._stage(f"{BEFORE}/{path.name}", mine)
            self.messages += messages

    def _file(self, name):
        new, path = (self.new / name).read_bytes(), self.course / name
        mine = path.read_bytes() if path.is_file() else None
        if mine is not None and blob(mine) == blob(new):
            return
        if mine is not None and self.known is not None and self.known.get(name) != blob(mine):
            if self.known.get(name) != blob(new):
                self.in_the_way.append(name)
            return  # theirs stays: the new version doesn't change it
        self._stage(name, new)
        shutil.copymode(self.new / name, self.staged / name)

    def _what_goes(self):
        """Note which files the new version no longer has, unless the learner changed them."""
        for name, was in (self.known or {}).items():
            path = self.course / name
            if name in self.names or NOTEBOOK.fullmatch(name) or not path.is_file():
                continue
            if blob(path.read_bytes()) == was:
                self.remove.append(name)
        for original in (self.course / "data/originals").glob("*.ipynb"):
            name = f"notebooks/{original.name}"
            path = self.course / name
            if name in self.names or not path.exists():
                continue
            mine = path.read_bytes()
            try:
                written = written_cells(parse(original.read_bytes()), parse(mine))
            except ValueError:
                written = True  # whatever it is
            if written:
                self.messages.append(f"{original.stem} is no longer part of the course; you wrote in it, so it stays.")
            else:
                self.remove.append(name)

    def follow(self, commit):
        """Let the clone's branch follow to a commit, after the files: with a merge if it has commits of its own."""
        head = git.git(self.course, "rev-parse", "HEAD")
        if head != self.fork:
            changed = set(git.names(self.course, "diff", "--name-only", "-z", self.fork, commit))
            own = git.names(self.course, "diff", "--name-only", "-z", self.fork, "HEAD")
            both = [name for name in own if name in changed and not NOTEBOOK.fullmatch(name)]
            if both:
                raise ValueError(
                    f"your own commits change {', '.join(both)}, and so does the new version; merge it by hand: "
                    f"git merge {commit[:9]}, and run this again. Nothing was changed"
                )

            def merged(name, mine):
                found = self._merged(name, mine) if NOTEBOOK.fullmatch(name) else None
                return found and found[0]

            commit = git.merged_commit(self.course, self.fork, commit, merged)
        before = git.git(self.course, "stash", "create")
        if before:  # also what is staged; in no list, for the day when somebody misses something
            self.commands.append(["git", "update-ref", "refs/before-update", before])
        # The first fails where it has been done, or where somebody has committed since.
        self.commands.append(["git", "update-ref", "-m", "update of the course", "HEAD", commit, head])
        self.commands.append(["git", "reset", "--quiet", "--mixed"])
        if (self.course / FILES).exists():
            self.remove.append(FILES)

    def made(self):
        """Do it, and return what was done, in sentences."""
        staged = [path.relative_to(self.staged).as_posix() for path in self.staged.rglob("*") if path.is_file()]
        if not staged and not self.remove and not self.commands:
            return [*_installed(self.course), "The course is up to date."]
        if not self.commands:
            head = git.asked(self.course, "rev-parse", "HEAD") if git.is_clone(self.course) else None
            brought = {name: blob((self.new / name).read_bytes()) for name in self.names}
            self._stage(FILES, json.dumps({"head": head, "files": brought}).encode())
        count, gone = sum(not name.startswith((BEFORE, swap.AREA)) for name in staged), len(self.remove)
        # What the last update kept; a learner's own file beside it is theirs.
        kept = (f"{BEFORE}/{Path(name).name}" for name in self.names if NOTEBOOK.fullmatch(name))
        self.remove += [name for name in kept if (self.course / name).exists() and name not in staged]
        swap.swap(self.course, self.remove, self.commands)
        lines = [f"The course is updated: {count} files are new or changed, {gone} are gone.", *self.messages]
        if any(name.startswith(BEFORE) for name in staged):
            lines.append(f"The notebooks as they were are in {BEFORE} until the next update.")
        if self.known is None and count:
            lines.append(f"Had you changed other files of the course? As they were, they are in {OLD}.")
        return [*lines, *_installed(self.course), RELOAD]


def _caught_up(course, name, base, mine):
    """Return a learner's notebook without what an open editor saved over the last update."""
    older = course / OLD / f"data/originals/{Path(name).name}"
    return caught_up(parse(older.read_bytes()), base, mine) if older.exists() else mine


def _all_caught_up(course):
    """Restore the new text of notebooks that an open editor saved over; return what to tell the learner."""
    staged, lines = swap.stage(course), []
    for path in sorted((course / "notebooks").glob("*.ipynb")):
        original = course / f"data/originals/{path.name}"
        if not original.exists():
            continue
        try:
            mine = parse(path.read_bytes())
        except ValueError:  # the next version puts it aside, and says so
            continue
        ours = _caught_up(course, path.name, parse(original.read_bytes()), mine)
        if ours != mine:
            new = staged / "notebooks" / path.name
            new.parent.mkdir(parents=True, exist_ok=True)
            new.write_bytes(serialised(ours))
            lines.append(f"{path.stem}: the old text had been saved over the last update; the new one is back.")
    if lines:
        swap.swap(course)
        lines.append(RELOAD)
    return lines


def _ids(notebook):
    return {cell.get("id") for cell in notebook["cells"]}


def _free(path):
    """Return an unused path: with a number, if need be."""
    stem, number = path.stem, 2
    while path.exists():
        path, number = path.with_stem(f"{stem}-{number}"), number + 1
    return path


def _installed(course):
    """Install what the requirements ask for and isn't there; return a sentence on it, if there is something to say."""
    missing = _missing((course / "requirements.txt").read_text(encoding="utf-8"))
    if not missing:
        return []
    command = [sys.executable, "-m", "pip", "install", "-r", "requirements.txt"]
    if find_spec("pip") is None:  # an environment that uv made
        command = ["uv", "pip", "install", "--python", sys.executable, "-r", "requirements.txt"]
    try:
        done = subprocess.run([*command, "--quiet"], cwd=course, capture_output=True, text=True)
        failed = done.returncode and (done.stderr.strip().splitlines() or ["it gives no reason"])[-1]
    except OSError as error:
        failed = str(error)
    if not failed:
        return [f"Installed, because the new version needs it: {', '.join(missing)}."]
    return [
        f"The new version needs {', '.join(missing)}, and that could not be installed ({failed}). "
        f"When there is a network, in {course}: {' '.join(command)}"
    ]


def _missing(requirements):
    """Return the requirements that this environment doesn't fulfil."""
    from packaging.requirements import Requirement  # Jupyter brings it

    lines = (line.partition("#")[0].strip() for line in requirements.splitlines())
    missing = []
    for requirement in (Requirement(line) for line in lines if line and not line.startswith("-")):
        if requirement.marker and not requirement.marker.evaluate():
            continue
        try:
            fits = requirement.specifier.contains(metadata.version(requirement.name), prereleases=True)
        except metadata.PackageNotFoundError:
            fits = False
        if not fits:
            missing.append(f"{requirement.name}{requirement.specifier}")
    return missing
