"""Where a new version comes from: a folder, a zip, or a Git address."""

import os
import re
import shutil
import tomllib
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from mha_helpers.update.git import asked, git, names
from mha_helpers.update.swap import AREA, clear

NOBODY = "OWNER"  # in the address of a course that has not been published
# What a folder of the course may hold that is no part of it.
NOT_THE_COURSE = {".git", ".venv", ".update", ".course", "before_update", "__pycache__", ".ipynb_checkpoints"}
GITHUB = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+?(?:\.git)?/?")


def default(course):
    """Return the address that `python -m tools stamp` wrote.

    Parameters
    ----------
    course : pathlib.Path

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the course has not been published.
    """
    project = tomllib.loads((course / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address = project["urls"]["Repository"]
    if f"/{NOBODY}/" in address:
        raise ValueError(
            "this copy of the course doesn't say where new versions come from; name a folder, a zip or a Git address: "
            "python -m mha_helpers.update FOLDER_OR_ZIP_OR_ADDRESS"
        )
    return address


def is_git(source, course):
    """Say whether a source is to be asked by Git.

    A folder of files that somebody is working on, or that the course, being no clone, can copy without Git, is not.
    """
    path = Path(source)
    if (path / ".git").exists():
        return (course / ".git").exists() and git(path, "status", "--porcelain") == ""
    if path.is_dir():
        return (path / "objects").is_dir()
    return not path.exists() and not source.lower().endswith(".zip")


def tree(source, course):
    """Return a folder with the new version's files.

    Parameters
    ----------
    source : str
        A folder, a zip with or without one folder around everything, or a Git address.
    course : pathlib.Path
        In whose `.update` folder it is unpacked.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    ValueError
        If it can't be had, or is not the course.
    """
    path, unpacked = Path(source), course / AREA / "source"
    clear(unpacked)
    unpacked.mkdir(parents=True)
    if is_git(source, course):
        if GITHUB.fullmatch(source):  # for which no Git is needed
            _download(f"{source.rstrip('/').removesuffix('.git')}/archive/HEAD.zip", unpacked.with_suffix(".zip"))
            found = _unzipped(unpacked.with_suffix(".zip"), unpacked)
        elif shutil.which("git") is None:
            raise ValueError(f"{source!r} is neither a folder nor a zip here, and there is no git to fetch it; see Git")
        else:
            git(course, "clone", "--quiet", "--depth=1", "--", _address(source), str(unpacked / "clone"))
            found = unpacked / "clone"
    elif path.is_dir():
        found = path.resolve()
    elif path.is_file():
        found = _unzipped(path, unpacked)
    else:
        raise ValueError(f"there is no file or folder {source!r}; name the zip, the folder or the Git address")
    for name in ("mha_helpers/__init__.py", "requirements.txt", "notebooks", "data/originals"):
        if not (found / name).exists():
            raise ValueError(f"{source!r} is not this course, or not the whole of it: it has no {name}")
    if found == course:
        raise ValueError(f"{source!r} is this copy of the course itself; name a newer one")
    return found


def fetched(source, course):
    """Fetch a Git address into a clone; return its commit, and the newest that the clone has in common with it or None.

    Parameters
    ----------
    source : str
    course : pathlib.Path

    Returns
    -------
    commit : str
    fork : str or None
    """
    git(course, "fetch", "--quiet", "--", _address(source), "HEAD")
    commit = git(course, "rev-parse", "FETCH_HEAD")
    return commit, asked(course, "merge-base", "HEAD", commit)


def archived(commit, course):
    """Return a folder with the files of a clone's commit."""
    unpacked = course / AREA / "source"
    clear(unpacked)
    unpacked.mkdir(parents=True)
    git(course, "archive", "--format=zip", f"--output={unpacked.with_suffix('.zip')}", commit)
    return _unzipped(unpacked.with_suffix(".zip"), unpacked)


def files(folder):
    """Return the paths of a course's files below its folder, as text with forward slashes."""
    if (folder / ".git").exists() and AREA not in folder.parts:  # a zip's .git could name programs to be run
        listed = names(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return sorted({name for name in listed if (folder / name).is_file()})
    found = []
    for place, folders, inside in os.walk(folder):
        folders[:] = [
            name for name in folders if name not in NOT_THE_COURSE and not name.endswith((".egg-info", "_cache"))
        ]
        found += [Path(place, name).relative_to(folder).as_posix() for name in inside if name not in NOT_THE_COURSE]
    return sorted(found)


def _address(source):
    return str(Path(source).resolve()) if Path(source).exists() else source


def _download(url, file):
    try:
        with urllib.request.urlopen(url, timeout=60) as answer, open(file, "wb") as copy:
            shutil.copyfileobj(answer, copy)
    except (urllib.error.URLError, OSError) as error:
        raise ValueError(f"{url} can't be had ({getattr(error, 'reason', error)}); is there a network?") from error


def _unzipped(file, folder):
    """Unpack a zip, with the right to be run that a file has, and return the folder in which the course is."""
    try:
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                path = archive.extract(entry, folder)
                if entry.external_attr >> 16 & 0o100 and not entry.is_dir():
                    os.chmod(path, 0o755)
    except (zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{str(file)!r} is no whole zip ({error}); download it again") from error
    inside = list(folder.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder
