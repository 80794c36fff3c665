"""The notebook in which a visitor's own function is examined: it holds the front page's, which has two mistakes."""

from nbformat import v4

from tools.page.pictures import SOMEBODYS_ATTENTION

NAME = "examine.ipynb"
SAYS = """\
# Is your own attention right?

Run the two cells below with Shift+Enter. The function has two mistakes, and the doctor names both.

Then put your own function in its place and run it again. It may take X and the matrices, or queries, keys and values; \
it may have a mask, a cache or heads that share. In this browser it is written in NumPy. Nothing that you type leaves \
this machine."""
SETUP = """\
import numpy as np
from mha_helpers import doctor
from mha_helpers.attention import softmax"""


def notebook():
    cells = [v4.new_markdown_cell(SAYS), v4.new_code_cell(SETUP), v4.new_code_cell(SOMEBODYS_ATTENTION)]
    for number, cell in enumerate(cells, 1):
        cell.id = f"cell-{number}"  # or each build would have others
    return v4.new_notebook(cells=cells)
