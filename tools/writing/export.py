"""Write notebooks as web pages, to be read without Jupyter and without a network.

Usage: python -m tools.writing.export FOLDER [NOTEBOOK ...]

A page is one file with everything that its notebook has stored: text, code, formulas, pictures.
Nothing is run.
"""

import argparse
import re
from pathlib import Path

from jinja2 import pass_context
from nbconvert import HTMLExporter

from tools.writing.formulas import rendered
from tools.writing.notebooks import NotebookError, label, read, write_copies

TEMPLATE = Path(__file__).with_suffix(".html.j2")
NOTEBOOK_LINK = re.compile(r'(<a href="[^":]*)\.ipynb(?=["#])')  # a colon is only in a link elsewhere


class PageExporter(HTMLExporter):
    """nbconvert's HTML, without what that loads from other hosts; pictures have words."""

    def __init__(self):
        super().__init__(raw_template=TEMPLATE.read_text(encoding="utf-8"))

    @pass_context
    def markdown2html(self, context, source):
        cell = context["cell"]
        try:
            return rendered(source, cell.get("attachments"))
        except NotebookError as error:
            raise NotebookError(f"{label(context['nb'].cells.index(cell) + 1, cell)} {error}") from error


def export(notebook, title):
    """Make a page of a notebook.

    Parameters
    ----------
    notebook : NotebookNode
        Executed: what it has stored is shown.
    title : str
        What the browser calls the page.

    Returns
    -------
    str
        HTML that loads nothing. Links to other notebooks lead to their pages.

    Raises
    ------
    NotebookError
        If a formula cannot be converted.
    """
    html, _ = PageExporter().from_notebook_node(notebook, {"metadata": {"name": title}})
    return NOTEBOOK_LINK.sub(r"\1.html", html)  # in the course's map, too, which is an output


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools.writing.export", description=__doc__.partition("\n")[0])
    write_copies(parser, argv, lambda path: export(read(path), path.stem), ".html")


if __name__ == "__main__":
    main()
