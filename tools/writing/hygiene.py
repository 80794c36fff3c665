"""Find what nbval does not see in a stored notebook, and what would make it fail for no reason.

nbval passes a notebook whose outputs were stripped or whose pictures were swapped, and fails on
outputs that no two runs share. Nothing is executed here.
"""

import ast
import base64
import io
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import count

from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from PIL import Image

from tools.writing.notebooks import LANGUAGE_INFO, WIDGET_VIEW, NotebookError, label, parse, plain_python, tags
from tools.writing.pngs import svg_in
from tools.writing.solve import stub

REFRESH = "run python -m tools refresh"
MAX_LINE = 105  # letters: with JupyterLab's file browser open, longer lines of code are cut off
# What redraws an output after the fact: nbval sees the pieces in another order each time.
REDRAWING = {"Output", "clear_output", "interact", "interact_manual", "interactive", "interactive_output"}
REDRAWING |= {"display_id", "update_display"}
LOADING = {"src", "srcset", "href", "xlink:href", "poster", "data", "style"}
BARE_REPR = re.compile(r"\s*(?:<.*>)?\s*", re.DOTALL)

NBVAL_MARK = r"(?i)#.*\b(?:NBVAL|PYTEST_VALIDATE)_\w+"
# Neither address nor path may begin inside a word, a URL or base64 data. Drive letters end at H:
# in this course "Q:\n" and "K:\n" are queries and keys, then a line break.
ADDRESS = r"(?i)(?<![\w+/])0x[0-9a-f]{6,}"
MACHINE_PATH = (
    r"(?:(?<![\w./+~-])|(?<=file://))/(?:home|root|Users|tmp|var|mnt|opt|usr|work\w*)/[\w.~-]+"
    r"|(?<!\w)[C-H]:[\\/]+\w[\w.~-]*"
)
# The group alone is reported: the digits of identifiers (arXiv:1706.03762) no cell computed.
FIVE_DECIMALS = r"(?i)(?:https?://|arXiv:)\S+|(\d*\.\d{5,}(?:e[+-]?\d+)?)"
REMOTE = r"""(?i)(?:(?:^|(?<=[\s('"]))https?:|^)//\w[^\s'")]*"""
MESSAGES = {
    NBVAL_MARK: "steers nbval by {!r}; remove that, and make the output the same in every run",
    ADDRESS: "shows the memory address {}, which changes with every run; show something else",
    MACHINE_PATH: "names {}, a path of one machine; use a relative path",
    FIVE_DECIMALS: "prints {}; round to at most four decimals",
    REMOTE: "loads {} from another host; store it in the notebook, or make it a link",
}


def problems(notebook):
    """Find what keeps a notebook from being published as it is stored.

    Parameters
    ----------
    notebook : NotebookNode
        As `tools.writing.notebooks.read` gives it.

    Returns
    -------
    list of str
        One sentence a problem: which cell, what is wrong, what to do. Empty if all is well.
    """
    found = [f"notebook {problem}" for problem in _metadata(notebook)]
    for check in (_ids, _counts, _headings):
        found += [f"{label(number, cell)} {problem}" for number, cell, problem in check(notebook)]
    for number, cell in enumerate(notebook.cells, 1):
        in_cell = [*_matches(cell.source, MACHINE_PATH)]
        if cell.cell_type == "markdown":
            in_cell += _rendered(cell).remote()
        if cell.cell_type == "code":
            in_cell += [*_code(cell), *_outputs(cell)]
        # An output's plain text and its HTML say the same: report it once.
        found += [f"{label(number, cell)} {problem}" for problem in dict.fromkeys(in_cell)]
    return found


def _matches(text, *patterns):
    for pattern in patterns:
        yield from map(MESSAGES[pattern].format, filter(None, re.findall(pattern, text)))


class _Page(HTMLParser):
    """What HTML shows, what it loads, and how many titles it has."""

    def __init__(self, source):
        super().__init__()
        self.texts, self.loads, self.titles = [], [], 0
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.titles += tag == "h1"
        if tag != "a":  # a link loads nothing until somebody follows it
            self.loads += [value for name, value in attrs if name in LOADING and value]

    def handle_data(self, data):
        in_code = self.cdata_elem in ("script", "style")
        (self.loads if in_code else self.texts).append(data)

    def remote(self):
        return [problem for load in self.loads for problem in _matches(load, REMOTE)]


def _rendered(cell):
    renderer = IPythonRenderer(escape=False, attachments=cell.get("attachments", {}))
    return _Page(MarkdownWithMath(renderer=renderer).render(cell.source))


def _metadata(notebook):
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        yield f"does not name the kernel python3; {REFRESH}"
    if notebook.metadata.get("language_info") != LANGUAGE_INFO:
        yield f"does not describe Python as JupyterLab does, which would do so as soon as it is opened; {REFRESH}"
    if "widgets" in notebook.metadata:
        yield f"stores widget state (metadata.widgets), without which it must show everything; {REFRESH}"


def _ids(notebook):
    uses = Counter(cell.get("id") for cell in notebook.cells)
    for number, cell in enumerate(notebook.cells, 1):
        if not cell.get("id"):
            yield number, cell, f"has no id; {REFRESH}"
        elif uses[cell.id] > 1:
            yield number, cell, f"shares its id {cell.id} with another cell; {REFRESH}"


def _counts(notebook):
    due = count(1)
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        wanted = next(due)
        if cell.execution_count is None:
            yield number, cell, f"was not run; {REFRESH}"
        elif cell.execution_count != wanted:
            yield number, cell, f"has execution count {cell.execution_count} where {wanted} is due; {REFRESH}"


def long_lines(notebook):
    """Say which cells of a notebook have lines of code that a cell cuts off.

    A solved copy may have some: an exercise's solution is a function of the package, whose lines are longer.
    """
    for number, cell in enumerate(notebook.cells, 1):
        longest = max(map(len, cell.source.splitlines()), default=0)
        if cell.cell_type == "code" and longest > MAX_LINE:
            yield f"{label(number, cell)} has a line of {longest} letters, where a cell shows {MAX_LINE}; break it"


def _headings(notebook):
    for number, cell in enumerate(notebook.cells, 1):
        titles = _rendered(cell).titles if cell.cell_type == "markdown" else 0
        if number == 1 and titles != 1:
            yield number, cell, f"has {titles} first-level headings; begin the notebook with one title, '# ...'"
        if number > 1 and titles:
            yield number, cell, "has a first-level heading, which is for the title alone; use '## ...'"


def _code(cell):
    if not cell.source.strip():
        yield "is empty; delete it"
        return
    yield from _matches(cell.source, ADDRESS, NBVAL_MARK)
    yield from (MESSAGES[NBVAL_MARK].format(tag) for tag in tags(cell) if tag.startswith("nbval"))
    source = plain_python(cell.source)
    try:
        tree = parse(source)
        if "exercise" in tags(cell):
            stub(cell)
    except NotebookError as error:
        yield str(error)
        return
    if _hides_its_value(source, tree):
        yield "ends in ';', which nbval does not obey; give the value a name instead: _ = ..."
    used = {getattr(node, field, None) for node in ast.walk(tree) for field in ("id", "attr", "name", "arg")}
    for name in sorted(used & REDRAWING):
        yield f"uses {name}, whose output differs between runs; use a lab of mha_helpers.labs or a plain display"


def _hides_its_value(source, tree):
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        return False
    last_line = source.split("\n")[tree.body[-1].end_lineno - 1].encode()  # ast counts columns in bytes
    return last_line[tree.body[-1].end_col_offset :].lstrip().startswith(b";")


def _outputs(cell):
    meant = "raises-exception" in tags(cell)
    errors = [output for output in cell.outputs if output.output_type == "error"]
    for error in errors if not meant else ():
        yield f"raises {error.ename}: {error.evalue}; repair it, or tag it raises-exception where that is the lesson"
    if meant and not errors:
        yield "is tagged raises-exception and raises nothing; remove the tag"
    for output in cell.outputs:
        if output.get("name") == "stderr":
            yield f"writes to stderr: {output.text.strip()[:80]!r}; remove the cause"
        if WIDGET_VIEW in output.get("data", {}):
            yield f"stores a widget view, which shows an error without its kernel; {REFRESH}"
        yield from _images(output.get("data", {}))
        for mime, text in _texts(output).items():
            yield from _matches(text, ADDRESS, MACHINE_PATH)
            if mime == "text/html":
                page = _Page(text)
                yield from page.remote()
                text = "\n".join(page.texts)
            yield from _matches(text, FIVE_DECIMALS)


def _texts(output):
    if output.output_type == "stream":
        return {"text/plain": output.text}
    if output.output_type == "error":
        return {"text/plain": "\n".join([output.evalue, *output.traceback])}
    return {mime: text for mime, text in output.data.items() if mime.startswith("text/")}


def _images(data):
    for mime in data:
        if mime.startswith("image/") and mime != "image/png":
            yield f"shows an {mime}; show a PNG, which is compared by its text"
    if "image/png" not in data:
        if svg_in(data):
            yield f"shows an SVG without a PNG beside it, which GitHub needs; {REFRESH}"
        return
    text = data.get("text/plain", "")
    if BARE_REPR.fullmatch(text):
        yield "shows a PNG without words; display it with a text/plain that says what is seen"
        return
    try:
        with Image.open(io.BytesIO(base64.b64decode(data["image/png"])), formats=["PNG"]) as picture:
            description = picture.text.get("Description")
    except (OSError, SyntaxError, ValueError):  # what Pillow and base64 say of broken data
        yield f"holds a PNG that cannot be read; {REFRESH}"
        return
    if description != text:
        yield (
            f"shows a PNG whose own Description is {description!r} beside the text {text!r}: one of them is another "
            f'picture\'s; save the figure with metadata={{"Description": text}} and {REFRESH}'
        )
