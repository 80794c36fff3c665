"""One file to take home: a learner's notebooks and all that they need to run again, anywhere."""

import zipfile
from importlib import metadata
from itertools import count
from pathlib import Path

from mha_helpers.drawing.panel import Note, Panel

PACKAGE = Path(__file__).parent
NAME = "attention"
START = """\
Your notebooks, as you left them, and the course's package beside them. With Python 3.11 or later, in this folder:

    python3 -m venv .venv
    .venv/bin/python -m pip install -r requirements.txt
    .venv/bin/jupyter lab

(Windows: py -m venv .venv, then .venv\\Scripts\\python and .venv\\Scripts\\jupyter.) After that it needs no network.
"""


def take_home(folder="."):
    """Write one zip with the notebooks of a folder, the course's package and its data.

    For who has worked on a hub, on Binder or on somebody else's laptop. Unpacked on a machine of one's own, it holds
    a folder in which everything runs; `START.txt` in it says how. No file is overwritten: a second zip gets a number.

    Parameters
    ----------
    folder : path, optional
        Where the notebooks are, and where the zip is written: the notebook's own folder.

    Returns
    -------
    Note
        What was written, how large it is, and how to get it.

    Raises
    ------
    ValueError
        If the folder has no notebooks, or the zip cannot be written there.

    Examples
    --------
    >>> from mha_helpers import course
    >>> course.take_home()  # doctest: +SKIP
    """
    folder = Path(folder)
    notebooks = sorted(folder.glob("*.ipynb"))
    if not notebooks:
        raise ValueError(f"{str(folder)!r} holds no notebooks; name the folder that yours are in")
    paths = (folder / (f"{NAME}-{number}.zip" if number > 1 else f"{NAME}.zip") for number in count(1))
    path = next(path for path in paths if not path.exists())
    data = PACKAGE / "data" if (PACKAGE / "data").is_dir() else PACKAGE.parent / "data"
    try:
        with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{NAME}/START.txt", START)
            archive.writestr(f"{NAME}/requirements.txt", _requirements())
            for notebook in notebooks:
                archive.write(notebook, f"{NAME}/{notebook.name}")
            for top, within in ((PACKAGE, "mha_helpers"), (data, "mha_helpers/data")):
                for file in sorted(top.rglob("*")):
                    if file.is_file() and "__pycache__" not in file.parts:
                        archive.write(file, f"{NAME}/{within}/{file.relative_to(top).as_posix()}")
    except OSError as error:
        path.unlink(missing_ok=True)  # half a zip is of no use to anybody
        raise ValueError(
            f"{str(path)!r} cannot be written ({error.strerror}); make room, or name a folder that is yours"
        ) from error
    size = path.stat().st_size / 1e6
    paragraphs = (
        f"{len(notebooks)} notebooks as they were last saved, the package and its data, {size:.0f} MB. "
        "In JupyterLab's file list: right click, Download.",
        "START.txt in it says how to run it at home.",
    )
    return Note(Panel("info", f"Ready to take home: {path.name}", paragraphs))


def _requirements():
    """Return what the package needs, in the versions that it runs with here, and JupyterLab."""
    lines = []
    for name in ("jupyterlab", "numpy", "ipywidgets", "tokenizers"):
        try:
            lines.append(f"{name}=={metadata.version(name)}\n")
        except metadata.PackageNotFoundError:  # Colab has no JupyterLab, a browser no tokenizers
            lines.append(f"{name}\n")
    return "".join(lines)
