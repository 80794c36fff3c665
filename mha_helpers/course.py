"""The course's map, which heads every notebook: where the reader is, what stands around it, and the way there.

A notebook's set-up cell imports what the notebook needs and ends with the map, its only output:

    import numpy as np

    from mha_helpers import course, exercises, figures, labs

    course.map("02_scaling")
"""

import html
import sys
from importlib import metadata
from typing import NamedTuple

from mha_helpers.drawing.shown import CourseFigure
from mha_helpers.drawing.strip import strip


class Notebook(NamedTuple):
    """A notebook of the course.

    Parameters
    ----------
    name : str
        Its file, without `.ipynb`.
    title : str
        What the map calls it.
    question : str
        The one question that it answers.
    """

    name: str
    title: str
    question: str

    @property
    def number(self):
        return self.name.partition("_")[0]


NOTEBOOKS = (
    Notebook("01_self_attention", "Self-attention", "How can one word mean different things in different sentences?"),
    Notebook("02_scaling", "Scaling", "How large may a score be?"),
    Notebook("03_masking", "Masks", "How do you keep a query from looking where it mustn't?"),
    Notebook("04_splitting_heads", "Heads", "Why several heads, and how do they come apart without mixing words?"),
    Notebook("05_output_projection", "Output", "What does W_O do once the heads are side by side?"),
    Notebook("06_real_model", "A real model", "What do trained heads do, and does your code run them?"),
    Notebook("07_heads_that_learn", "Learning", "How do heads come to do what they do?"),
    Notebook("08_a_model_that_writes", "Writing", "How does attention write text, one word after another?"),
)
WORKSHOPS = (
    Notebook("A_documents", "Five documents", "Do worked examples from the web get their numbers right?"),
    Notebook("B_pytorch", "PyTorch", "How do your functions carry over to PyTorch?"),
)


class Map(CourseFigure):
    """The map, with links: an image cannot hold them."""

    def __init__(self, here):
        fragments, width, height = strip(here.number)
        super().__init__(width, height, fragments, _says(here))
        self.here = here

    def html(self):
        """Return the map as an HTML image, and below it a link to each notebook."""
        links = " · ".join(_link(notebook, self.here) for notebook in NOTEBOOKS)
        return f'<div class="mha-map">{super().html()}<br>{links}</div>'


def map(name):
    """Show where the reader is in the course: the last line of a notebook's set-up cell.

    Parameters
    ----------
    name : str
        The notebook's file, without `.ipynb`: "02_scaling".

    Returns
    -------
    Map
        A picture with words, and links to the other notebooks.

    Raises
    ------
    ValueError
        If the course has no such notebook.

    Examples
    --------
    >>> map("02_scaling")
    The course's map. You are in notebook 2 of 8, Scaling: How large may a score be?
    """
    for notebook in (*NOTEBOOKS, *WORKSHOPS):
        if notebook.name == name:
            return Map(notebook)
    names = ", ".join(notebook.name for notebook in (*NOTEBOOKS, *WORKSHOPS))
    raise ValueError(f"the course has no notebook {name!r}; give one of {names}")


def _says(here):
    where = f"notebook {int(here.number)} of {len(NOTEBOOKS)}" if here in NOTEBOOKS else f"workshop {here.number}"
    return f"The course's map. You are in {where}, {here.title}: {here.question}"


def _link(notebook, here):
    name = html.escape(f"{int(notebook.number)} {notebook.title}")
    if notebook == here:
        return f"<b>{name}</b>"
    return f'<a href="{address(notebook.name)}">{name}</a>'


def address(name):
    """Return where a notebook is found from another: beside it or, on Colab, which brings one file, on GitHub."""
    if "google.colab" not in sys.modules:
        return f"{name}.ipynb"
    urls = dict(entry.split(", ", 1) for entry in metadata.metadata("mha_helpers").get_all("Project-URL"))
    repository = urls["Repository"].removeprefix("https://github.com/")
    return f"https://colab.research.google.com/github/{repository}/blob/main/notebooks/{name}.ipynb"
