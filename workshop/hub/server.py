"""What the hub starts for a learner: notebooks are copied where they are missing, then the server begins."""

import os
import runpy
import sys
from pathlib import Path

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def copy_notebooks(course, own):
    """Copy each notebook that is not there into a learner's own folder; what is there stays as it is.

    Whatever is wrong with the folder, the learner's server must start: without it nobody can repair it.
    """
    try:
        own.mkdir(exist_ok=True)
        for notebook in sorted(course.glob("*.ipynb")):
            if not os.path.lexists(own / notebook.name):
                _copy(notebook, own)
    except OSError as error:
        print(f"{own}: the course's notebooks cannot be copied there ({error})", file=sys.stderr)


def _copy(notebook, own):
    # Under another name until it is whole: a full disk must not leave half a notebook. What has that name goes first: a
    # pipe would be waited for.
    part = own / f".{notebook.name}.part"
    part.unlink(missing_ok=True)
    try:
        part.write_bytes(notebook.read_bytes())
        part.rename(own / notebook.name)
    except OSError:
        part.unlink(missing_ok=True)
        raise


if __name__ == "__main__":
    copy_notebooks(NOTEBOOKS, Path.home() / "notebooks")
    runpy.run_module("jupyterhub.singleuser", run_name="__main__", alter_sys=True)
