"""Notebooks as web pages, to be read without Jupyter and without a network."""

import base64
import copy
import functools
import html
import re
from pathlib import Path
from xml.etree import ElementTree

from jinja2 import pass_context
from nbconvert import HTMLExporter
from nbformat import v4

from mha_helpers import course, labs
from mha_helpers.labs.lab import page_layer
from tools.site import reading
from tools.site.course_map import course_map
from tools.site.formulas import rendered
from tools.site.look import read, style_sheet
from tools.site.look.frames import IMAGE, with_code, with_figures
from tools.site.thumbnails import address_of_icon
from tools.teaching.sheet import with_whole_names
from tools.writing.answers import with_picture
from tools.writing.notebooks import NotebookError, label, shown

TEMPLATE = Path(__file__).with_name("page.html.j2")
TITLE = re.compile(r"# (.*)")
MINUTES = re.compile(r"\*\*Minutes:?\*\*:? *(.*?)[.\n]")
LAB = re.compile(r"^labs\.(\w+)\(", re.MULTILINE)
BINDER = re.compile(r"https://mybinder\.org[^)\s]*")
START = "index.html#start"  # how to start a notebook that runs nowhere else
ROOT = Path(__file__).parents[2]
# Texts of the repository that are pages, beside those of the instructor's guide and of `reference/`.
DOCUMENTS = (
    "CODE_OF_CONDUCT.md",
    "SECURITY.md",
    "SUPPORT.md",
    "engines/attention_doctor/NAMES.md",
    "workshop/hub/README.md",
)
SEARCHED = "data-pagefind-body"  # marks the element that the site's search looks through
MARK = f'{SEARCHED}=""'  # as it stands in a page that has been read and written
# Lists that name every topic in each line: in a search they come after the lessons.
LISTS = {"NAMES": 0.2}
EVERYWHERE = {  # what every page leads to
    "The course": "index.html",
    "Words": "reference/words.html",
    "One-page sheet": "reference/sheet.html",
    "Exercises": "reference/exercises.html",
    "Search": "search.html",
}
NEIGHBOUR = re.compile(r"\[(?:Previous|Next): [^\]]*\]\([^)]*\)(?: ·)?\s*")  # a page has links of its own to them
MAP = re.compile(r'^course\.map\("([^_"]+)', re.MULTILINE)
STYLE = re.compile(r"<style[^>]*>.*?</style>", re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
LICENCE = re.compile(r"copyright|licen[cs]e", re.IGNORECASE)
MAX_IN_SIGHT = 280  # pixels: no taller figure stays in sight beside the text that follows it
NOTEBOOK_LINK = re.compile(r'(<a href=")([^":]*)\.ipynb(?=["#])')  # a colon is only in a link elsewhere


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


def export(notebook, name, lite="", up=""):
    """Make a page of a notebook.

    Parameters
    ----------
    notebook : NotebookNode
        Executed: what it has stored is shown. Its title is the page's.
    name : str
        Its file's, without `.ipynb`: a notebook of the course has links to its neighbours.
    lite : str, optional
        What an address begins with under which a notebook runs in the browser, where there is one.
    up : str, optional
        What leads from the page's folder to the site's.

    Returns
    -------
    str
        HTML that loads nothing. Links to other notebooks lead to their pages.

    Raises
    ------
    NotebookError
        If a formula cannot be converted.
    """
    runs = lite and f"{lite}{name}.ipynb"
    notebook = in_sight(with_labs(notebook, runs))
    has_labs = any(LAB.search(cell.source) for cell in notebook.cells)
    known = {each.name: each for each in (*course.NOTEBOOKS, *course.WORKSHOPS)}
    resources = {
        "metadata": {"name": title(notebook, name)},
        "description": html.escape(known[name].question) if name in known else "",
        "icon": address_of_icon(),
        "layer": page_layer() if has_labs else "",
        "style": style_sheet("page"),
        "script": read("page.js"),
        "searched": SEARCHED,
        "site": site_links(up, runs),
        "neighbours": neighbours(name),
    }
    page, _ = PageExporter().from_notebook_node(notebook, resources)
    page = STYLE.sub(lambda style: lighter(style[0]), page)
    page = reading.with_minutes(with_code(with_figures(page)))
    page = page.replace("<!-- contents -->", reading.contents(page), 1)
    return with_links(page)  # in the course's map, too, which is an output


def lighter(css):
    """Return a style sheet without indents, and of comments with its licences alone: JupyterLab's is 240 kB."""
    css = COMMENT.sub(lambda comment: comment[0] if LICENCE.search(comment[0]) else "", css)
    return re.sub(r"(?<=[{};\n])\s+", "", css)


def with_links(page, up=""):
    """Return a page whose links to notebooks and to the README lead to pages of the site; `up` leads to its folder."""
    page = NOTEBOOK_LINK.sub(rf"\1{up}\2.html", page)
    # The front page has the README's list of notebooks, and leads to all the rest of it.
    return page.replace('href="../README.md#the-notebooks"', f'href="{up}index.html#notebooks"').replace(
        'href="../README.md#start"', f'href="{up}index.html#start"'
    )


def with_labs(notebook, lite=""):
    """Return a copy to be read: labs can be touched, on pictures drawn beforehand, and exercises say where they run.

    `lite` is where the notebook runs. Where another widget was, there is nothing, not even an empty output.
    """
    notebook = copy.deepcopy(notebook)
    binder = next((found[0] for cell in notebook.cells if (found := BINDER.search(cell.source))), None)
    url = lite or binder or START
    for cell in notebook.cells[:1]:
        cell.source = NEIGHBOUR.sub("", cell.source)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = _to_read(cell, url)
        else:
            cell.source = with_picture(cell.source)
    return notebook


def _to_read(cell, url):
    """Return what a page shows below a cell: its lab, or its outputs without what only somebody who runs it can use."""
    outputs, found = reading.to_a_reader(shown(cell)), LAB.search(cell.source)
    for data in (output.get("data", {}) for output in outputs):
        if "text/html" in data:
            whole = data["text/html"]
            here = MAP.search(cell.source)
            data["text/html"] = course_map(here[1], data["text/plain"]) if here else reading.to_try(whole, url) or whole
    page = found and lab_on_page(found[1], f'<a href="{html.escape(url)}">Open the notebook</a>')
    if not page:
        return outputs
    printed = [output for output in outputs if "data" not in output]
    return [*printed, v4.new_output("display_data", data={"text/html": page})]


def in_sight(notebook):
    """Mark each small figure and the text that follows it: on a page it stays in sight while that is read."""
    figure = None
    for cell in notebook.cells:
        follows = cell.cell_type == "markdown" and not cell.source.startswith("#")
        if figure is not None and follows:
            figure["opens"], cell["closes"] = True, True
        figure = cell if 0 < height_of_figure(cell) <= MAX_IN_SIGHT else None
    return notebook


def height_of_figure(cell):
    """Return how high the figure is that a cell shows, in pixels; 0 where it shows none, or more than it."""
    outputs = cell.get("outputs", [])
    found = IMAGE.search(outputs[0].get("data", {}).get("text/html", "")) if len(outputs) == 1 else None
    return float(ElementTree.fromstring(base64.b64decode(found[1])).get("viewBox").split()[3]) if found else 0


@functools.cache  # of a lab that two notebooks show, and of tests: some draw hundreds of pictures
def lab_on_page(name, runs):
    """Return a lab's HTML, or None where nothing in its picture can be touched."""
    lab = getattr(labs, name)()
    return lab.on_page(runs) if lab.form.on_picture else None


def documents():
    """Return the course's texts beside the notebooks, by their files' names on the site."""
    found = (*ROOT.glob("workshop/*.md"), *ROOT.glob("reference/*.md"), *(ROOT / name for name in DOCUMENTS))
    return {path.relative_to(ROOT).with_suffix(".html").as_posix(): _document(path) for path in sorted(found)}


def _document(path):
    up = "../" * len(path.relative_to(ROOT).parent.parts)
    notebook = v4.new_notebook(cells=[v4.new_markdown_cell(path.read_text(encoding="utf-8"), id="text")])
    page = export(notebook, path.stem, up=up).replace("<main", f'<main class="{path.stem}"', 1)
    # Its links are written for the repository, where headings have other names.
    page = re.sub(r'(<h\d id="|href="#)([^"]*)', lambda found: found[1] + anchor(found[2]), page)
    page = re.sub(r'(<a href="[^":]*)\.md(?=["#])', r"\1.html", page)
    page = page.replace(f'href="{up}notebooks/', f'href="{up}')
    page = page.replace('href="index.html', f'href="{up}index.html')
    if path.stem in LISTS:
        page = page.replace(MARK, f'{MARK} data-pagefind-weight="{LISTS[path.stem]}"', 1)
    if path.is_relative_to(ROOT / "workshop") or path.stem in LISTS:
        page = reading.with_column_names(page)
    if path.is_relative_to(ROOT / "workshop"):  # who learns and searches is not looking for the instructor's notes
        page = with_whole_names(page.replace(f" {MARK}", "", 1))
    return page.replace(f'<a href="{up}LICENSE">', "<a>")


def anchor(heading):
    """Return what GitHub calls the place of a heading, from nbconvert's name for it.

    Examples
    --------
    >>> anchor("In-a-browser's-tab"), anchor("05-W_O")
    ('in-a-browsers-tab', '05-w_o')
    """
    return re.sub(r"[^\w-]", "", html.unescape(heading).lower())


def title(notebook, name):
    """Return a notebook's title, or its name where it has none."""
    found = TITLE.match(notebook.cells[0].source) if notebook.cells else None
    return found[1].strip() if found else name


def site_links(up="", runs=""):
    """Return the links to what the site has beside a page, and to where the page's notebook runs."""
    links = [f'<a href="{up}{file}">{words}</a>' for words, file in EVERYWHERE.items()]
    if runs:
        links.append(f'<a href="{runs}">Run it here</a>')
    return f'<nav class="site" aria-label="The course">{" ".join(links)}</nav>'


def neighbours(name):
    """Return links from a notebook's page to those of the notebooks before and after it."""
    names = [notebook.name for notebook in course.NOTEBOOKS]
    if name not in names:
        return ""
    place, links = names.index(name), []
    for neighbour in course.NOTEBOOKS[max(place - 1, 0) : place]:
        links.append(f'<a href="{neighbour.name}.html" rel="prev">← {html.escape(neighbour.title)}</a>')
    for neighbour in course.NOTEBOOKS[place + 1 : place + 2]:
        links.append(f'<a href="{neighbour.name}.html" rel="next">{html.escape(neighbour.title)} →</a>')
    return f'<nav class="neighbours" aria-label="Before and after this notebook">{" ".join(links)}</nav>'
