"""What to run first, when a cell uses a name that its notebook defines in a cell that has not been run.

Python's own error stays as it is, and below it stands one sentence. `course.map`, which every set-up cell calls, starts
this; a kernel of the course's own JupyterLab, or of a browser's tab, starts with it (`kernel_startup`), so that it also
helps who skipped the set-up cell.
"""

import json
import os
import re
import symtable
from pathlib import Path

import mha_helpers
from mha_helpers import course_data

SESSION = "JPY_SESSION_NAME"  # where Jupyter Server tells a kernel the path of its notebook
HEADING = re.compile(r"^#+ (.+)", re.MULTILINE)
SETUP = "Run the first code cell of this notebook first: it loads the course"
_notebook = None  # the file's name, once the set-up cell has said it


def watch(notebook=None):
    """Add the sentence to each NameError from now on; outside a notebook this does nothing.

    Parameters
    ----------
    notebook : str, optional
        The notebook's file, without `.ipynb`; it is looked for where the kernel works.
    """
    global _notebook
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None:
        return
    _notebook = notebook or _notebook
    shell.events.register("post_run_cell", _advise)  # once, however often it is asked for


def _advise(result):
    error = result and result.error_in_exec
    # Not an UnboundLocalError, which is one, too: running another cell does not help there.
    if type(error) is not NameError or not error.name or not _in_a_cell(error):
        return
    cells = _cells()
    sentence = advice(error.name, result.info.raw_cell, cells) if cells else _without_a_notebook(error.name)
    if sentence:
        from IPython.display import display

        from live_pictures.panel import Note, Panel

        display(Note(Panel("info", sentence)))


def _in_a_cell(error):
    """Tell whether an error was raised in the learner's code, not in some package's."""
    from IPython import get_ipython

    place = error.__traceback__
    while place.tb_next:
        place = place.tb_next
    return place.tb_frame.f_globals is get_ipython().user_ns


def advice(name, running, cells):
    """Say which cell of a notebook to run first, so that a name is defined.

    Parameters
    ----------
    name : str
    running : str
        The source of the cell that lacks it.
    cells : list of dict
        The notebook's, as its file has them.

    Returns
    -------
    str or None
        None if no other cell defines it.

    Examples
    --------
    >>> setup = {"cell_type": "code", "source": "from mha_helpers import course, labs; course.map('02_scaling')"}
    >>> heading = {"cell_type": "markdown", "source": "### Exercise: `double` (2 minutes)"}
    >>> exercise = {"cell_type": "code", "source": "def double(x): ..."}
    >>> advice("labs", "labs.two_banks()", [setup, heading, exercise])
    'Run the first code cell of this notebook first: it loads the course'
    >>> advice("double", "double(2)", [setup, heading, exercise])
    'Run the cell that defines double first: it is under “Exercise: double”'
    """
    heading = ""
    for cell in cells:
        source = "".join(cell["source"])  # a file may have a list of lines
        if cell["cell_type"] == "markdown":
            heading = (HEADING.findall(source) or [heading])[-1]
        elif cell["cell_type"] == "code" and name in _defined(source) and source.strip() != running.strip():
            if "course.map(" in source:
                return SETUP
            place = re.sub(r" *\(.*\)$|`", "", heading)
            return f"Run the cell that defines {name} first" + (f": it is under “{place}”" if place else "")
    return None


def _defined(source):
    """Return the names that a cell assigns, defines or imports; none if it isn't Python."""
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        symbols = symtable.symtable(TransformerManager().transform_cell(source), "cell", "exec").get_symbols()
    except (SyntaxError, ValueError):
        return set()
    return {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}


def _cells():
    """Return the cells of this notebook as it was last saved, or as the course has it; none where neither is found."""
    for find in (
        lambda: os.environ[SESSION],
        lambda: f"{_notebook}.ipynb",
        lambda: course_data.data_path(f"originals/{_notebook}.ipynb"),  # on Colab
    ):
        try:
            return json.loads(Path(find()).read_text(encoding="utf-8"))["cells"]
        except (KeyError, OSError, ValueError):
            continue
    return []


def _without_a_notebook(name):
    return SETUP if name in mha_helpers.__all__ else None
