"""What the hub starts for a learner, under the learner's own user id, before it becomes the learner's Jupyter server.

It needs nothing but Python: limits and copies are in place before anything that a learner can reach is running.
"""

import os
import resource
import sys
from pathlib import Path

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def limit_memory(size):
    """Let this process, and each one that it starts, have `size` bytes of data, and no more.

    The kernel of Linux enforces it: what would go beyond is refused, which Python reports as MemoryError.
    RLIMIT_DATA counts what a process writes to, not the libraries that it maps (RLIMIT_AS does).
    """
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def copy_notebooks(course, own):
    """Copy each notebook that is not there into a learner's own folder; what is there stays as it is.

    Parameters
    ----------
    course : path
        The course's notebooks.
    own : path
        The learner's.
    """
    own = Path(own)
    own.mkdir(exist_ok=True)
    for notebook in sorted(Path(course).glob("*.ipynb")):
        copy = own / notebook.name
        if not os.path.lexists(copy):
            # Under another name until it is whole: a full disk must not leave half a notebook.
            part = own / f".{notebook.name}.part"
            part.write_bytes(notebook.read_bytes())
            part.rename(copy)


def main():
    limit_memory(int(os.environ["MEM_LIMIT"]))
    copy_notebooks(NOTEBOOKS, Path.home() / "notebooks")
    os.execv(sys.executable, [sys.executable, "-m", "jupyterhub.singleuser", *sys.argv[1:]])


if __name__ == "__main__":
    main()
