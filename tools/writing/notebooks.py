"""The course's notebooks: where they are, reading, executing, and the one form they are written in."""

import argparse
import ast
import copy
import os
import sys
from itertools import count
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbconvert.preprocessors import CoalesceStreamsPreprocessor

from live_pictures.live import VIEW as WIDGET_VIEW

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
# What a learner's notebook is compared with, and goes back to: without outputs.
ORIGINALS = NOTEBOOKS.parent / "data" / "originals"
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
# What JupyterLab writes as soon as a notebook is open: where it is stored so, looking at it and saving changes nothing.
# Of another Python than this one JupyterLab writes the version, and nothing else. It is the same on every maintainer's
# machine, so that a new Python there changes no notebook.
LANGUAGE_INFO = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
    "version": "3.11.7",
}
# One thread: sums are taken in the same order on every machine, so the last digits agree.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
CELL_TIMEOUT = 600  # seconds, as in the nbval gate: only for a cell that never ends, however busy the machine


class NotebookError(Exception):
    """What is wrong with a notebook, in words for the person who writes it."""


def course_notebooks():
    """Return the paths of the course's notebooks, in reading order."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def add_notebooks(parser):
    """Give a command line the argument `notebooks`: paths, by default the whole course."""
    # With "+" an empty course is an error: a gate that looked at nothing must not pass.
    nargs = "*" if course_notebooks() else "+"
    wish = "default: every notebook of the course"
    parser.add_argument("notebooks", nargs=nargs, type=_file, default=course_notebooks(), metavar="NOTEBOOK", help=wish)


def _file(name):
    if not Path(name).is_file():
        raise argparse.ArgumentTypeError(f"there is no file {name}")
    return Path(name)


def folder_and_notebooks(parser, argv):
    """Read a command line `FOLDER [NOTEBOOK ...]`.

    The folder is new or empty: somebody may have worked in the files that are there.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        With the command's own options.
    argv : list of str or None

    Returns
    -------
    argparse.Namespace
    """
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to write: new or empty")
    add_notebooks(parser)
    arguments = parser.parse_args(argv)
    folder, notebooks = arguments.folder, arguments.notebooks
    if len({path.stem for path in notebooks}) < len(notebooks):
        parser.error("two notebooks have the same name; write them to folders of their own")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        sys.exit(f"{folder} is not an empty folder; name a new one: nothing is overwritten")
    return arguments


def write_files(folder, notebooks, make, more=None):
    """Write files for each notebook: all of them, or none.

    Parameters
    ----------
    folder : pathlib.Path
    notebooks : iterable of pathlib.Path
    make : callable
        From a notebook's path to a dict: the texts of its files, by name ("slides/01_self_attention.html"). A
        NotebookError ends the command, and is shown.
    more : callable, optional
        From all the paths to a dict of files to write as well, some of which may be bytes.
    """
    texts = {}
    for path in notebooks:
        try:
            texts |= make(path)
        except NotebookError as error:
            sys.exit(f"{path.name}: {error}\nNothing was written.")
    texts |= more(notebooks) if more else {}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        print(folder / name)


def read(path):
    """Read a notebook as it stands: `nbformat.read` would give a missing or repeated cell id a new, random one."""
    return nbformat.v4.reads(Path(path).read_text(encoding="utf-8"))


def serialised(notebook):
    """Return the text of a notebook's file."""
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


def original(notebook):
    """Return the text of a notebook's file without what it shows."""
    return serialised(_without_outputs(notebook))


def _without_outputs(notebook):
    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    return notebook


def write(notebook, path):
    """Write a notebook: the same notebook gives the same bytes on every machine."""
    Path(path).write_text(serialised(notebook), encoding="utf-8", newline="\n")


def label(number, cell):
    """Return how messages name a cell: its number, counted from 1 over all cells, and its first line."""
    first_line = cell.source.strip().partition("\n")[0]
    return f"cell {number} `{first_line[:50]}`" if first_line else f"cell {number}"


def tags(cell):
    return cell.metadata.get("tags", [])


def slide_type(cell):
    """Return what a cell is in the slide view; "-", as in Jupyter, goes on with the slide before it."""
    return cell.metadata.get("slideshow", {}).get("slide_type", "-")


def shown(cell):
    """Return a cell's outputs without those of which only an empty text is stored: where live widgets were."""
    return [output for output in cell.outputs if output.get("data") != {"text/plain": ""}]


def plain_python(source):
    """Return a cell's source with IPython's magics turned into the calls that they stand for."""
    return TransformerManager().transform_cell(source)


def parse(source):
    """Return the syntax tree of plain Python; a NotebookError says why there is none."""
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise NotebookError(f"is not valid Python ({error}); correct it") from error


def execute(notebook, folder):
    """Run a notebook from top to bottom in a clean kernel.

    Parameters
    ----------
    notebook : NotebookNode
    folder : path
        Where the kernel works: the notebook's own folder.

    Returns
    -------
    NotebookNode
        A normalised copy with the new outputs.

    Raises
    ------
    NotebookError
        If a cell that is not tagged `raises-exception` raises, takes longer than CELL_TIMEOUT, or
        ends the kernel.
    """
    notebook = _without_outputs(notebook)
    reached = []
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=CELL_TIMEOUT,
        record_timing=False,
        store_widget_state=False,
        shutdown_kernel="immediate",
        extra_arguments=["--log-level=ERROR"],  # without its warning that it listens on a local port
        resources={"metadata": {"path": str(folder)}},
        on_cell_start=lambda cell, cell_index: reached.append(cell_index),
    )
    stopped = None
    try:
        # What is executed here is no learner's progress.
        client.execute(env=os.environ | ONE_THREAD | {"MHA_PROGRESS": "off"})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        stopped = error
    for number, cell in enumerate(notebook.cells, 1):
        for output in cell.get("outputs", []):
            # Looked for in any case: where a value cannot be displayed, nbclient runs on.
            if output.output_type == "error" and "raises-exception" not in tags(cell):
                raise NotebookError(f"{label(number, cell)}: {output.ename}: {output.evalue}") from stopped
    if stopped:
        reason = str(stopped).partition("\n")[0]
        raise NotebookError(f"{label(reached[-1] + 1, notebook.cells[reached[-1]])}: {reason}") from stopped
    return normalised(notebook)


def normalised(notebook):
    """Return a copy in the form the course stores: what differs between machines and sittings is gone.

    Cells keep their ids, tags, slide types, what they say to an instructor ("course": `tools.teaching.guide`) and
    whether their source is folded; a missing or repeated id becomes `cell-N`. Outputs lose widget views (what is left
    of a live widget's is its empty text, so that nbval finds as many outputs), and errors all of the traceback but its
    last line: the rest names files of this machine.
    """
    notebook = copy.deepcopy(notebook)
    course = {"course": notebook.metadata["course"]} if notebook.metadata.get("course") else {}
    metadata = {"kernelspec": KERNELSPEC, "language_info": LANGUAGE_INFO} | course
    notebook.update(metadata=metadata, nbformat=4, nbformat_minor=5)
    _complete_ids(notebook)
    for cell in notebook.cells:
        folded = {"jupyter": {"source_hidden": True}} if cell.metadata.get("jupyter", {}).get("source_hidden") else {}
        slide = {"slideshow": {"slide_type": slide_type(cell)}} if slide_type(cell) != "-" else {}
        course = {"course": cell.metadata["course"]} if cell.metadata.get("course") else {}
        cell.metadata = nbformat.from_dict(({"tags": tags(cell)} if tags(cell) else {}) | folded | slide | course)
        if cell.cell_type == "code":
            cell.outputs = [output for output in map(_normalised_output, cell.outputs) if output.get("data") != {}]
    return CoalesceStreamsPreprocessor().preprocess(notebook, {})[0]


def _complete_ids(notebook):
    taken = {cell.get("id") for cell in notebook.cells}
    seen = {None}
    for number, cell in enumerate(notebook.cells, 1):
        if cell.get("id") in seen:
            cell.id = next(name for name in map("cell-{}".format, count(number)) if name not in taken | seen)
        seen.add(cell.id)


def _normalised_output(output):
    if "data" in output:
        output.data.pop(WIDGET_VIEW, None)
        output.metadata.pop(WIDGET_VIEW, None)
    if output.output_type == "error":
        output.traceback = [f"{output.ename}: {output.evalue}"]
    return output
