"""Write each prediction's answer into the notebooks, folded, for readers who have no kernel to commit in.

A Markdown cell that begins with `<!-- answer: predict_order -->` holds nothing else of its own: what follows that
line is written by `python -m tools refresh`, from what `exercises.predict_order.commit` says.
"""

import copy
import re

from mha_helpers import exercises
from tools.writing.notebooks import NotebookError, label

MARK = re.compile(r"<!-- answer: (\w+) -->")
SAID = re.compile(r"(?<=```\n\n)\S.*(?=\n\n</details>)")  # of a picture: a cell's Markdown holds none


def fill(notebook):
    """Return a copy of a notebook in which the folded answers say what committing says.

    Parameters
    ----------
    notebook : NotebookNode

    Returns
    -------
    NotebookNode

    Raises
    ------
    NotebookError
        If a cell asks for the answer of a prediction that there is not.
    """
    filled = copy.deepcopy(notebook)
    for number, cell in enumerate(filled.cells, 1):
        mark = MARK.match(cell.source) if cell.cell_type == "markdown" else None
        if not mark:
            continue
        prediction = getattr(exercises, mark[1], None)
        if not hasattr(prediction, "markdown"):
            raise NotebookError(
                f"{label(number, cell)} wants an answer, and there is no prediction exercises.{mark[1]}"
            )
        cell.source = f"{mark[0]}\n{prediction.markdown()}"
    return filled


def with_picture(source):
    """Return a cell of Markdown as a page shows it: a folded answer has its picture, and not the words for it."""
    mark, said = MARK.match(source), SAID.search(source)
    if not (mark and said):
        return source
    picture = getattr(exercises, mark[1]).evidence().picture
    return source.replace(said[0], picture.html())
