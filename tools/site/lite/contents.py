"""The notebooks as the edition for the browser serves them: a copy of each, made ready for JupyterLite.

Where a server stands between the files and the page, it joins lines, says what can be trusted, and knows its kernels.
In a browser's tab nobody does, so the copies come that way:

- each text is one string: JupyterLite shows a list of lines with commas between them;
- the kernel is the tab's own: a notebook that is opened and looked at has not changed, and nothing is stored of it;
- code cells whose outputs need no trust are trusted, see `needs_trust`;
- it has a version: `copies.js` sees by it that the course has a newer one than this browser keeps.
"""

import copy
import hashlib
import json
import re
from html.parser import HTMLParser

import nbformat

from live_pictures.frame import LOADER
from live_pictures.live import STYLE

# As the kernel in the tab says them of itself, the odd version included; tests/lite sees whether it still does.
KERNELSPEC = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
LANGUAGE_INFO = {
    "codemirror_mode": {"name": "python", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
    "version": "3.8",
}
INERT_TYPES = {"text/plain", "text/html", "image/png", "image/jpeg"}
INERT_TAGS = {"a", "b", "br", "code", "details", "div", "em", "i", "img", "p", "pre", "small", "span", "strong"}
INERT_TAGS |= {"summary", "table", "tbody", "td", "th", "thead", "tr"}
DATA_BLOCKS = ("application/json", "text/plain")  # types of a `script` that no browser runs
ADDRESS_THAT_RUNS = re.compile(r"\s*(javascript|vbscript|data):", re.IGNORECASE)


def served(notebook):
    """Return the text of a notebook's copy for the browser.

    Parameters
    ----------
    notebook : NotebookNode
        With its stored outputs.

    Returns
    -------
    str
    """
    notebook = copy.deepcopy(notebook)
    course = dict(notebook.metadata.get("course", {}), version=version(notebook))
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNELSPEC, "language_info": LANGUAGE_INFO, "course": course})
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in map(_still, cell.outputs) if output.get("data") != {}]
            if not any(map(needs_trust, cell.outputs)):
                cell.metadata["trusted"] = True
    nbformat.validate(notebook)
    return json.dumps(notebook, ensure_ascii=False)  # `nbformat.writes` would split the lines, and drop the trust


def _still(output):
    """Return an output without what only a lab that runs needs: it comes again when the cell is run."""
    text = _html(output).replace(LOADER, "").replace(STYLE, "")
    if text:
        output.data["text/html"] = text
    elif _html(output):
        output.data = {}
    return output


def version(notebook):
    """Return what a notebook's text is known by: as long as nobody writes in it, it stays the same.

    `copies.js` computes it, too, of what the browser keeps.
    """
    return hashlib.sha256("\0".join(cell.source for cell in notebook.cells).encode()).hexdigest()


def needs_trust(output):
    """Say whether a stored output could do anything: JupyterLab would refuse it that, or show it otherwise, untrusted.

    JupyterLab trusts a cell where a server has verified its notebook's signature. JupyterLite has no signatures, and
    warns of every notebook that comes with outputs. Of these we can say more than a signature does: nothing in them
    runs. So the mark is earned output by output. What has more in it goes unmarked and keeps its warning, as does any
    notebook that a visitor brings along.

    Parameters
    ----------
    output : NotebookNode

    Returns
    -------
    bool
    """
    reader = _Html()
    reader.feed(_html(output))
    reader.close()
    return reader.is_active or not INERT_TYPES.issuperset(output.get("data", {}))


def _html(output):
    return output.get("data", {}).get("text/html", "")


class _Html(HTMLParser):
    """Notes whether a tag, an event or an address in HTML could run something, or fetch something."""

    is_active = False

    def handle_starttag(self, tag, attributes):
        attributes = {name: value or "" for name, value in attributes}
        runs = tag not in INERT_TAGS and not (tag == "script" and attributes.get("type") in DATA_BLOCKS)
        runs |= any(name.startswith("on") for name in attributes)
        runs |= bool(ADDRESS_THAT_RUNS.match(attributes.get("href", "")))
        fetches = not attributes.get("src", "data:image/").startswith("data:image/")
        self.is_active |= runs or fetches
