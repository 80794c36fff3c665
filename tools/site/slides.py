"""A notebook as slides, in one HTML file: for a projector, without a network.

Which cells are shown is stored in the notebooks, as Jupyter's slide types (JupyterLab: property inspector, "Slide
Type"). A `slide` begins at the cell's first heading, and what stands before that are notes to the slide before. A
`subslide` begins at the cell itself. A `fragment` comes at the next key press, `notes` on demand, and `skip` not at
all; a cell without a type goes on with the slide before it. Each further heading of a cell begins a slide, too.

The folded answer to a prediction is open, on a slide of its own after the question.
"""

import copy
import re
from pathlib import Path

from nbconvert.exporters import SlidesExporter
from nbformat.v4 import new_markdown_cell
from traitlets import default

from tools.site import reading
from tools.site.formulas import rendered
from tools.site.pages import with_links
from tools.site.thumbnails import address_of_icon
from tools.writing.answers import MARK, with_picture
from tools.writing.notebooks import NotebookError, shown, slide_type, tags

HEADING = re.compile(r"^#+ .*", re.MULTILINE)
SECTION = re.compile(r"^## .*", re.MULTILINE)
FOLD = re.compile(r"<details>\s*<summary>.*?</summary>\s*(.*?)\s*</details>", re.DOTALL)
BEGINNINGS = ("slide", "subslide")
TOO_SHORT = 200  # characters: so little, a heading above all, shares its slide with what follows
SHORT = 300  # characters: above a picture there is room for so many
CODE_LINES = 5  # of longer code only the output is shown


class _Page(SlidesExporter):
    """nbconvert's slides on a page of the course's own: nbconvert's loads reveal.js and more from other hosts."""

    exclude_anchor_links = True
    template_file = "slides.html.j2"

    @default("extra_template_paths")
    def _extra_template_paths_default(self):
        return [str(Path(__file__).parent / "slides_template")]

    def default_filters(self):
        yield from super().default_filters()
        yield "rendered", rendered


def has_slides(notebook):
    return any(slide_type(cell) in BEGINNINGS for cell in notebook.cells)


def slides(notebook, name=""):
    """Render a notebook's slides.

    Parameters
    ----------
    notebook : NotebookNode
        As it is stored, with its outputs.
    name : str, optional
        Its file's, without `.ipynb`: a lab's still picture leads to the live lab on the page of that name.

    Returns
    -------
    str
        A page of HTML that loads nothing, for a folder beside the pages, to which its links lead.

    Raises
    ------
    NotebookError
        If no cell begins a slide, or a formula cannot be converted.
    """
    if not has_slides(notebook):
        raise NotebookError('has no slides; give its cells slide types (JupyterLab: property inspector, "Slide Type")')
    page, _ = _Page().from_notebook_node(cut(notebook), {"icon": address_of_icon(), "page": name and f"../{name}.html"})
    return with_links(page, up="../")


def cut(notebook):
    """Cut a notebook into cells that begin one slide each at most, and leave of them what fits on slides.

    Parameters
    ----------
    notebook : NotebookNode

    Returns
    -------
    NotebookNode
        A copy. A slide that begins without a heading has got that of its section.
    """
    notebook = copy.deepcopy(notebook)
    cells, section = [], ""
    for cell in notebook.cells:
        for piece in _pieces(cell):
            headings = SECTION.findall(piece.source) if piece.cell_type == "markdown" else []
            starts_with_heading = piece.cell_type == "markdown" and HEADING.match(piece.source)
            if cells and _shows(cells[-1], piece):
                piece.metadata.slideshow.slide_type = "-"
            elif slide_type(piece) in BEGINNINGS and section and not starts_with_heading:
                cells.append(_markdown(section, slide_type(piece), piece, repeated=True))
                piece.metadata.slideshow.slide_type = "-"
            if piece.cell_type == "code":
                _shorten(piece)
            cells.append(piece)
            section = headings[-1] if headings else section
    notebook.cells = cells
    return notebook


def _shows(before, piece):
    """Say whether a cell shows the picture that the short slide before it speaks of: then they are one slide."""
    is_short = before.cell_type == "markdown" and HEADING.match(before.source) and len(before.source) < SHORT
    pictures = [output for output in piece.get("outputs", []) if "image/png" in output.get("data", {})]
    return bool(is_short and pictures and slide_type(before) in BEGINNINGS and slide_type(piece) in BEGINNINGS)


def _pieces(cell):
    """Cut a cell in front of its headings."""
    if cell.cell_type == "markdown" and MARK.match(cell.source):
        return [_markdown(f"### The answer\n\n{FOLD.search(with_picture(cell.source))[1]}", "subslide", cell)]
    kind = slide_type(cell)
    starts = [heading.start() for heading in HEADING.finditer(cell.source)]
    if cell.cell_type != "markdown" or kind not in BEGINNINGS or not starts:
        return [cell]
    ends = [*starts, len(cell.source)]
    before = cell.source[: starts[0]].strip()
    texts = [(before, "notes" if kind == "slide" else kind)] if before else []
    for text in (cell.source[start:end].strip() for start, end in zip(starts, ends[1:], strict=True)):
        if texts and texts[-1][1] == kind and len(texts[-1][0]) < TOO_SHORT:
            texts[-1] = (f"{texts[-1][0]}\n\n{text}", kind)
        else:
            texts.append((text, kind))
    return [_markdown(text, text_kind, cell) for text, text_kind in texts]


def _markdown(source, kind, cell, **metadata):
    """Return a part of a cell, or a heading for it, as a cell of its own."""
    metadata["slideshow"] = {"slide_type": kind}
    return new_markdown_cell(source, metadata=metadata, attachments=cell.get("attachments", {}))


def _shorten(cell):
    """Leave the task of an exercise, the picture of a figure or a lab, and of other cells the code if it is short."""
    cell.outputs = reading.to_a_reader(shown(cell))
    pictures = [output for output in cell.outputs if "image/png" in output.get("data", {})]
    asks = {"exercise", "prediction"} & set(tags(cell))
    if asks or not pictures:
        cell.metadata.code = bool(asks) or len(cell.source.splitlines()) <= CODE_LINES
        cell.outputs = [] if asks else cell.outputs
    else:
        cell.metadata.code = False
        cell.outputs = pictures
