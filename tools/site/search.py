"""The site's search: an index of the pages' prose, made by Pagefind, and the page that asks it.

The index is files beside the pages, read in the reader's browser: any static host will do, and nobody learns what is
looked for. From a folder, without a host, a browser lets no page read files, and the page says so.
"""

import subprocess
import sys
from pathlib import Path

from jinja2 import Environment

from tools.site.look import style_sheet
from tools.site.pages import EVERYWHERE
from tools.site.thumbnails import address_of_icon

TEMPLATE = Path(__file__).with_name("search.html.j2")
# What is no prose: code and what it shows, answers that are folded away, and marks beside headings.
LEFT_OUT = ".jp-CodeCell, details, .anchor-link, .minutes"


def page():
    """Return the page that searches."""
    environment = Environment(autoescape=True)
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(everywhere=EVERYWHERE, icon=address_of_icon(), style=style_sheet())


def index(folder):
    """Write the index of a site's pages, into its folder `pagefind/`.

    Parameters
    ----------
    folder : pathlib.Path
        The site. A page counts by what is in its element with the attribute `data-pagefind-body`.

    Raises
    ------
    subprocess.CalledProcessError
        If Pagefind, whose own message stands above, could not index it.
    """
    options = ["--quiet", "--force-language=en", f"--exclude-selectors={LEFT_OUT}", "--include-characters=_-"]
    subprocess.run([sys.executable, "-m", "pagefind", f"--site={folder}", *options], check=True)
