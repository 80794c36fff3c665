"""Replace many files of a folder: all of them or none, also when the program is killed in between.

What is to come is staged beside the files, what goes is copied, and only then is a journal written. From there on there
is one way, forwards: whoever finds a journal finishes it, and doing so twice does no harm. The package does it when it
is imported, by a copy of this file, because half of its own may be old and half new. So this file needs nothing but
Python.
"""

import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

AREA = ".update"
NEW, OLD, JOURNAL, FINISH, LOCK = "new", "old", "journal.json", "finish.py", "lock"


@contextmanager
def alone(folder):
    """Keep a second program from staging beside this one; a ValueError says that there is one already.

    The operating system takes the lock away when the program ends, however it ends.
    """
    area = Path(folder, AREA)
    area.mkdir(exist_ok=True)
    with open(area / LOCK, "a+b") as file:
        try:
            if os.name == "nt":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ValueError(f"another update of {folder} is running; wait for it") from None
        yield


def stage(folder):
    """Return an empty folder for new files: each at the path, below it, that it will have below `folder`.

    Parameters
    ----------
    folder : path

    Returns
    -------
    pathlib.Path
        On the same disk as `folder`.
    """
    finish(folder)
    new = Path(folder, AREA, NEW)
    clear(new)
    new.mkdir(parents=True)
    return new


def clear(folder):
    """Delete a folder if there is one."""
    if os.name == "nt":  # Git's files are read-only, and so Windows keeps them
        for path in Path(folder).rglob("*"):
            path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def swap(folder, remove=(), commands=()):
    """Put all staged files in their places.

    Parameters
    ----------
    folder : path
    remove : iterable of str, optional
        Files that go, as paths below `folder`, with forward slashes.
    commands : iterable of list of str, optional
        What is run in `folder` afterwards. It may be run twice, and its failure is not noticed.

    Raises
    ------
    OSError
        If the files that go cannot be copied, when nothing has changed; or if a file cannot be replaced, when the next
        call, or the next import, goes on from there.
    """
    folder = Path(folder)
    area = folder / AREA
    put = sorted(path.relative_to(area / NEW).as_posix() for path in (area / NEW).rglob("*") if path.is_file())
    journal = {"put": put, "remove": sorted(remove), "commands": list(commands)}
    clear(area / OLD)
    for name in [*put, *journal["remove"]]:
        if (folder / name).is_file():
            (area / OLD / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(folder / name, area / OLD / name)
    shutil.copyfile(__file__, area / FINISH)
    (area / NEW / JOURNAL).write_text(json.dumps(journal), encoding="utf-8")
    os.replace(area / NEW / JOURNAL, area / JOURNAL)  # until here nothing has changed
    finish(folder)


def finish(folder):
    """Finish a swap that was begun.

    Parameters
    ----------
    folder : path

    Returns
    -------
    bool
        Whether there was one.
    """
    folder = Path(folder)
    area = folder / AREA
    try:
        journal = json.loads((area / JOURNAL).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return False
    for name in journal["remove"]:
        (folder / name).unlink(missing_ok=True)
        _prune((folder / name).parent, folder)
    for name in journal["put"]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.replace(area / NEW / name, folder / name)
        except FileNotFoundError:
            continue  # it was replaced before
    for command in journal["commands"]:
        subprocess.run(command, cwd=folder, capture_output=True)
    (area / JOURNAL).unlink(missing_ok=True)
    return True


def _prune(folder, top):
    """Delete a folder, and those above it below `top`, as far as they are empty but for what Python kept there."""
    while folder != top and folder.is_dir():
        left = [path.name for path in folder.iterdir()]
        if left not in ([], ["__pycache__"]):
            return
        shutil.rmtree(folder)
        folder = folder.parent


if __name__ == "__main__":
    if finish(Path(__file__).parents[1]):
        print("An update of the course that was interrupted is finished now.")
