"""One file to take home: a learner's notebooks, what is saved for them, and the course to run it all, anywhere."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import zipfile
from importlib.util import find_spec
from itertools import count
from pathlib import Path

from live_pictures.panel import Note, Panel
from mha_helpers import course_data
from mha_helpers.learner import folder as learners
from mha_helpers.learner import kept_answers, progress

PACKAGE = Path(__file__).parent
NAME = "attention"
# What stands beside the package in a copy of the course; an installed package brings it inside.
BESIDE = (
    "README.md", "LICENSE", "pyproject.toml", "requirements.txt", "jupyter_server_config.py",
    "engines/README.md", "engines/pyproject.toml",
)  # fmt: skip
ENGINES = ("attention_doctor", "function_judge", "live_pictures")
INSIDE = PACKAGE / "beside"
KEPT = (progress.FILE, kept_answers.FILE)
MAX_FILE = 20_000_000  # bytes: of a file beside the notebooks, and of all of them
MAX_FILES = 200_000_000
OTHERS = {"__pycache__", "before_update"}  # folders that Python makes, and an update
COLABS = {"sample_data", "drive"}  # and Colab: the second is all of a Google Drive
RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)")  # names of devices under Windows
START = """\
Your copy of the course: your notebooks as you left them, your progress, your answers. You need Python 3.11 or later (on
Debian and Ubuntu also the package python3-venv). In this folder, one command sets everything up and opens the course:

    python3 -m venv .venv && .venv/bin/python -m pip install -r requirements.txt && .venv/bin/jupyter lab \
--config=jupyter_server_config.py notebooks/01_self_attention.ipynb

On Windows, in the Command Prompt:

    py -m venv .venv && .venv\\Scripts\\python -m pip install -r requirements.txt && .venv\\Scripts\\jupyter lab \
--config=jupyter_server_config.py notebooks\\01_self_attention.ipynb

Next time, only the last part, from .venv/bin/jupyter on (Windows: .venv\\Scripts\\jupyter). Once it is installed, it
needs no network.

Do you have the course on that machine already, or in the browser? Put the zip beside its notebooks. In any of them,
course.unpack("attention.zip") lays what is yours into that copy, and loses nothing of what you wrote there.
"""


def take_home(folder: str | Path | None = None) -> Note:
    """Write one zip with a learner's notebooks, what is saved for them, and the course itself.

    For who has worked on a hub, on Binder, in a browser or on somebody else's laptop. Unpacked on a machine of one's
    own, it is a copy of the course, and `START.txt` in it says how it is opened; `unpack` lays it into a copy that is
    there already. It holds the notebooks as they were last saved, progress and right answers, and the other files
    beside the notebooks but for hidden ones. No file is overwritten: a second zip gets a number.

    Parameters
    ----------
    folder : path, optional
        Where the notebooks are, and where the zip is written: by default, the notebook's own folder.

    Returns
    -------
    Note
        What was written, how large it is, what was left out and why, and how to get it.

    Raises
    ------
    ValueError
        If the folder has no notebooks, if a notebook cannot be read, or if the zip cannot be written there. No half
        zip is left.

    Examples
    --------
    >>> from mha_helpers import course
    >>> course.take_home()  # doctest: +SKIP
    """
    folder = learners.notebooks() if folder is None else Path(folder)
    own, left_out = _own_files(folder)
    files = {f"notebooks/{name}": _content(path) for name, path in own.items()} | _open_in_colab()
    notebooks = [name for name in files if re.fullmatch(r"notebooks/[^/]+\.ipynb", name)]
    if not notebooks:
        raise ValueError(f"{str(folder)!r} holds no notebooks; name the folder that yours are in")
    for name in KEPT:
        if (path := folder / learners.NAME / name).is_file():
            files[f"notebooks/{learners.NAME}/{name}"] = _content(path)
    course = _course()
    for name in [name for name in course if name.startswith("data/originals/")]:
        files.setdefault(f"notebooks/{Path(name).name}", _content(course[name]))  # the others, as they were
    path = _write(folder, files, course)
    brought = [f"{_counted(len(notebooks), 'notebook')} as last saved"]
    if others := len(own) - len(notebooks):
        brought.append(f"{_counted(others, 'file')} beside them")
    if any(f"notebooks/{learners.NAME}/{name}" in files for name in KEPT):
        brought.append("your progress and your right answers")
    paragraphs = [f"{', '.join(brought)}, and the course itself: {path.stat().st_size / 1e6:.0f} MB."]
    if left_out:
        paragraphs.append("Left out:\n" + "\n".join(f"{name}: {why}" for name, why in left_out.items()))
    list_of_files = "the files at the left" if "google.colab" in sys.modules else "JupyterLab's file list"
    paragraphs.append(f"In {list_of_files}: right click on it, Download. START.txt in it says how to go on elsewhere.")
    return Note(Panel("info", f"Ready to take home: {path.name}", tuple(paragraphs)))


def is_portable(name: str) -> bool:
    r"""Tell whether a path is valid on every system, and stays below the folder that it is unpacked in.

    Examples
    --------
    >>> [is_portable(name) for name in ("mine/run 1.csv", "../mine.py", "/mine.py", "C:\\mine.py", "mine/", "aux.py")]
    [True, False, False, False, False, False]
    """
    return all(
        part and part == part.rstrip(". ") and not re.search(r'[<>:"|?*\\\x00-\x1f]', part) and not RESERVED.match(part)
        for part in name.split("/")
    )


def _own_files(folder):
    """Return the learner's files below a folder, by name, and why others were left out."""
    own, left_out, room = {}, {}, MAX_FILES
    others = OTHERS | COLABS if "google.colab" in sys.modules else OTHERS
    for place, folders, names in os.walk(folder):
        links = [name for name in folders if Path(place, name).is_symlink()]
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in [*others, *links])
        for path in sorted(Path(place, name) for name in [*names, *links] if not name.startswith(".")):
            name = path.relative_to(folder).as_posix()
            if why := _why_not(path, name, room):
                left_out[name] = why
            else:
                own[name] = path
                room -= 0 if path.suffix == ".ipynb" else path.stat().st_size
    return own, left_out


def _why_not(path, name, room):
    """Say why a file doesn't come along; nothing if it does."""
    if not path.exists():
        return "a link that leads nowhere"
    if path.is_dir():
        return "a link to a folder"
    if not path.is_file():
        return "not a file"
    if path.suffix == ".zip":
        return "a zip"
    if not is_portable(name):
        return "a name that not every system can have"
    size = path.stat().st_size
    if path.suffix == ".ipynb":
        return ""
    if size > MAX_FILE:
        return f"{size / 1e6:.0f} MB; files above {MAX_FILE / 1e6:.0f} MB stay where they are"
    if size > room:
        return f"all files together are above {MAX_FILES / 1e6:.0f} MB"
    try:
        path.open("rb").close()
    except OSError as error:
        return f"it can't be read ({error.strerror})"
    return ""


def _content(path):
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(
            f"{str(path)!r} can't be read ({error.strerror}), so nothing was written; fix that, or move the file away"
        ) from error


def _open_in_colab():
    """Return the notebook that is open in Colab, where notebooks are no files of the machine."""
    if "google.colab" not in sys.modules:
        return {}
    from google.colab import _message

    answer = _message.blocking_request("get_ipynb", request="", timeout_sec=60)
    if not answer or "ipynb" not in answer:
        raise ValueError("Colab's page did not hand out the notebook; run this cell again")
    notebook = answer["ipynb"]
    name = Path(notebook.get("metadata", {}).get("colab", {}).get("name") or "notebook").with_suffix(".ipynb").name
    return {f"notebooks/{name}": json.dumps(notebook, indent=1, ensure_ascii=False).encode()}


def _course():
    """Return the files of a copy of the course without its notebooks, by their names in it."""
    course_data.fetch_all()
    data = course_data.data_path("worked_examples.json").parent
    found = {f"data/{name}": path for name, path in _below(data).items()}
    inside = {data.name, INSIDE.name}  # as far as it is the package's folder
    package = _below(PACKAGE).items()
    found |= {f"mha_helpers/{name}": path for name, path in package if name.partition("/")[0] not in inside}
    for engine in ENGINES:
        files = _below(Path(find_spec(engine).origin).parent)
        found |= {f"engines/{engine}/{name}": path for name, path in files.items()}
    beside = INSIDE if INSIDE.is_dir() else PACKAGE.parent
    return found | {name: beside / name for name in BESIDE}


def _below(folder):
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path for path in sorted(paths)}


def _write(folder, files, course):
    """Write the zip under another name until it is whole, and return its path."""
    paths = (folder / (f"{NAME}-{number}.zip" if number > 1 else f"{NAME}.zip") for number in count(1))
    path = next(path for path in paths if not os.path.lexists(path))
    part = path.with_name(f".{path.name}.part")
    whole = io.BytesIO()  # written in one piece: a browser's storage copies all that is there at each piece
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        # From their contents: a file's own date may be one that a zip can't hold, such as 1970.
        archive.writestr(f"{NAME}/START.txt", START)
        for name, file in course.items():
            archive.writestr(f"{NAME}/{name}", _content(file))
        for name, content in files.items():
            archive.writestr(f"{NAME}/{name}", content)
    try:
        part.write_bytes(whole.getbuffer())
        part.rename(path)
    except OSError as error:
        raise ValueError(
            f"{str(path)!r} cannot be written ({error.strerror}); make room, or name a folder that is yours"
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return path


def _counted(number, what):
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
