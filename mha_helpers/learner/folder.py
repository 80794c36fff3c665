"""The folder of a learner's notebooks, and in it `.course`, where their work is saved.

Two copies of the course on one account keep two records, and a folder that is moved takes its own along. While tests
run, and where the environment variable MHA_PROGRESS is "off", nothing is kept.
"""

import os
import sys
from pathlib import Path

NAME = ".course"
BROWSERS_STORAGE = Path("/drive")  # where JupyterLite keeps what is written: the notebooks, too
PACKAGE = Path(__file__).parents[1]
NOTEBOOKS = "[0-9][0-9]_*.ipynb"  # what the course's own are called, and hardly anything else


def _working_folder():
    try:
        return Path.cwd()
    except OSError:  # it has been deleted meanwhile
        return None


STARTED_IN = _working_folder()  # a notebook's own folder, until a cell calls os.chdir


def notebooks():
    """Return the folder of the learner's notebooks.

    It is the working folder at the time of the import or one above it, if it holds the course's notebooks; else the one
    beside the package (a script may have been started anywhere); and where there is none, as on Colab, the working
    folder. In a browser it is the browser's storage.

    Returns
    -------
    Path
    """
    if sys.platform == "emscripten":
        return BROWSERS_STORAGE
    above = [STARTED_IN, *STARTED_IN.parents] if STARTED_IN else []
    beside = [PACKAGE.parent / "notebooks"]
    found = (folder for folder in (*above, *beside) if _holds_notebooks(folder))
    return next(found, STARTED_IN or beside[0])


def _holds_notebooks(folder):
    try:
        return any(folder.glob(NOTEBOOKS))
    except OSError:  # a folder that may not be looked into
        return False


def kept():
    """Return the folder in which things are saved, or None where nothing is.

    Returns
    -------
    Path or None
    """
    # pytest sets the first, also for the kernels of notebooks that it runs.
    if "PYTEST_VERSION" in os.environ or os.environ.get("MHA_PROGRESS") == "off":
        return None
    return notebooks() / NAME


def ends_with_the_machine():
    """Return a warning where the machine is somebody else's and all that is saved ends with the session, or nothing.

    Returns
    -------
    str
    """
    service = "Colab" if "google.colab" in sys.modules else "Binder" if "BINDER_LAUNCH_HOST" in os.environ else ""
    if not service:
        return ""
    return (
        f"What you write and what is kept for you end with this session on {service}. `course.take_home()` writes a "
        "zip of it all, and `course.unpack` lays that into the course on another machine."
    )


def cannot_be_written(error):
    """Return a sentence about a folder in which nothing can be saved.

    Parameters
    ----------
    error : OSError
    """
    return (
        f"Nothing can be kept in {kept()} ({error.strerror}): neither how far you are nor your right answers. "
        "Everything else works as ever."
    )
