"""matplotlib in a browser's tab: its wheels come while the reader reads, and are unpacked when it is first imported.

The kernel starts without them, so that a notebook's first cell is no later for them.
"""

import asyncio
import contextlib
import importlib
import io
import os
import sys
import sysconfig
import zipfile
from importlib.machinery import PathFinder

from mha_helpers import course_data

# Set in the edition for the browser: where the wheels are, one address after the other.
URLS = "MHA_PLOTS_URLS"


def bring_matplotlib() -> None:
    """Begin to fetch matplotlib, where it comes from the site, and let it be imported from now on."""
    urls = os.environ.get(URLS, "").split()
    begun = any(isinstance(finder, _Finder) for finder in sys.meta_path) or PathFinder.find_spec("matplotlib")
    if urls and not begun:
        finder = _Finder(urls)
        sys.meta_path.insert(0, finder)
        finder.coming = asyncio.ensure_future(finder.fetch())  # a task that nobody holds may be dropped


class _Finder:
    """Finds matplotlib, once, by unpacking it."""

    coming: object = None

    def __init__(self, urls):
        self.wheels = dict.fromkeys(urls)

    async def fetch(self):
        from pyodide.http import pyfetch

        for url in self.wheels:
            # What doesn't come now is asked for again when it is needed: then there is somebody to tell.
            with contextlib.suppress(Exception):
                self.wheels[url] = await (await pyfetch(url)).bytes()

    def find_spec(self, name, path=None, target=None):
        if name != "matplotlib":
            return None
        for url, wheel in self.wheels.items():
            with zipfile.ZipFile(io.BytesIO(wheel or course_data.fetched(url))) as archive:
                archive.extractall(sysconfig.get_path("purelib"))
        sys.meta_path.remove(self)
        importlib.invalidate_caches()
        return PathFinder.find_spec(name)
