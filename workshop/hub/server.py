"""What the hub starts for a learner: notebooks are copied where they are missing, then the server begins."""

import os
import runpy
import sys
from itertools import count
from pathlib import Path

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def copy_notebooks(course, own):
    """Copy each notebook that is not there into a learner's own folder; what is there stays as it is.

    Whatever is wrong with the folder, the learner's server must start: without it nobody can repair it. So a file of
    the folder's name is moved aside, and where nothing more can be written the hub's log is told.

    Parameters
    ----------
    course : path
        The course's notebooks.
    own : path
        The learner's.
    """
    own = Path(own)
    try:
        if os.path.lexists(own) and not own.is_dir():
            own.rename(_free(own))
        own.mkdir(exist_ok=True)
        _copy_missing(course, own)
    except OSError as error:
        print(f"{own}: the course's notebooks cannot be copied there ({error})", file=sys.stderr)


def _free(path):
    """Return a name beside a path that nothing has yet: "notebooks (2)"."""
    names = (path.with_name(f"{path.name} ({number})") for number in count(2))
    return next(name for name in names if not os.path.lexists(name))


def _copy_missing(course, own):
    for notebook in sorted(Path(course).glob("*.ipynb")):
        copy = own / notebook.name
        if not os.path.lexists(copy):
            # Under another name until it is whole: a full disk must not leave half a notebook.
            part = own / f".{notebook.name}.part"
            try:
                part.write_bytes(notebook.read_bytes())
                part.rename(copy)
            except OSError:
                part.unlink(missing_ok=True)
                raise


if __name__ == "__main__":
    copy_notebooks(NOTEBOOKS, Path.home() / "notebooks")
    runpy.run_module("jupyterhub.singleuser", run_name="__main__", alter_sys=True)
