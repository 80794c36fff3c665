"""The course in a browser's tab: how long each notebook takes there, and how much is fetched for it."""

import functools
import gzip
import os
import tempfile
from pathlib import Path
from urllib.parse import unquote

from tools.page.browser import open_browser, run_all
from tools.page.static import open_lite, open_site, served
from tools.site import command
from tools.table import print_table
from tools.writing.notebooks import course_notebooks

TEXT = {".css", ".html", ".ipynb", ".js", ".json", ".svg", ".txt", ".wasm"}  # what public hosts compress

# When each cell was done, in seconds since the page was opened.
_LISTEN = """() => {
    const begun = new Set();
    window.mhaDone = [];
    mhaPanel.sessionContext.session.kernel.iopubMessage.connect((_, {header, parent_header, content}) => {
        const idle = header.msg_type === "status" && content.execution_state === "idle";
        if (header.msg_type === "execute_input") begun.add(parent_header.msg_id);
        if (idle && begun.has(parent_header.msg_id)) mhaDone.push(performance.now() / 1000);
    });
}"""


def in_a_tab():
    """Seconds from opening to the first cell's end and to the last one's, and megabytes, for each notebook."""
    pyodide = os.environ.get("MHA_PYODIDE")
    if not pyodide:
        print(
            "\nIn a browser's tab: not measured; set MHA_PYODIDE to a folder with a copy of Pyodide, as .ci/lite does"
        )
        return
    with tempfile.TemporaryDirectory() as own:
        folder = Path(own, "site")
        command.main([str(folder), "--pyodide", pyodide])
        with served(folder) as site, open_browser() as browser:
            rows = [_row(browser, site, folder, path) for path in course_notebooks()]
    header = ["", "first cell, s", "all cells, s", "fetched, MB", "compressed, MB"]
    print_table("In a browser's tab: seconds from opening, and what a first visit fetches", header, rows)


def _row(browser, site, folder, path):
    site.served.clear()
    with open_site(browser, site) as seen:
        open_lite(seen.page, site, path.name)
        seen.page.evaluate(_LISTEN)
        if errors := run_all(seen.page):
            raise RuntimeError(f"{path.name} stopped: {errors[0]}")
        done = seen.page.evaluate("mhaDone")
    compressed = sum(_compressed(folder / unquote(name[1:]), size) for name, size in site.served.items())
    return [path.stem, done[0], done[-1], sum(site.served.values()) / 1e6, compressed / 1e6]


@functools.cache
def _compressed(file, size):
    """Return a file's bytes as they come from a host that compresses text."""
    return len(gzip.compress(file.read_bytes())) if file.suffix in TEXT and file.is_file() else size
