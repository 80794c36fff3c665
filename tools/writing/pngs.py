"""The PNGs of a notebook's figures, which a run paints: what is stored stays, unless there is something else to see."""

import base64
import re

IN_HTML = re.compile(r"data:image/svg\+xml;base64,([\w+/=]+)")


def keep_pngs(notebook, stored):
    """Give each output that shows an unchanged SVG picture its old PNG, which another machine may have painted.

    Parameters
    ----------
    notebook : NotebookNode
        Executed; it is changed.
    stored : NotebookNode
        As it was before.
    """
    painted = {data.get("text/html"): data["image/png"] for data in _shown(stored) if "image/png" in data}
    for data in _shown(notebook):
        if svg_in(data) and data["text/html"] in painted:
            data["image/png"] = painted[data["text/html"]]


def svg_in(data):
    """Return the SVG picture that an output shows as an image in its HTML, or None."""
    found = IN_HTML.search(data.get("text/html", ""))
    return base64.b64decode(found[1]).decode() if found else None


def _shown(notebook):
    return [output.data for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
