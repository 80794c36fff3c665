"""Write the course as a site that needs no network: each notebook as a page and as slides.

A page is one file with everything that its notebook has stored: text, code, formulas, pictures. Nothing is run.
`index.html`, the front page, leads to them; `slides/` has the same notebooks for a projector. `search.html` looks for
words in them, for which the site must be served. With --lite, `lite/` runs each notebook in the reader's own browser,
which must be served, too; building that takes a network, or --pyodide.
"""

import argparse
import sys
from functools import partial
from pathlib import Path

from tools.page.pictures import PREVIEW_PICTURE
from tools.site import front, pages, search, slides, thumbnails
from tools.site.lite import build, pyodide
from tools.writing.notebooks import NotebookError, folder_and_notebooks, read, write_files

LITE = "lite/notebooks/index.html?path="


def written(path, lite=""):
    """Return the files of one notebook, by their names: its page, and its slides where it has any."""
    notebook = read(path)
    files = {f"{path.stem}.html": pages.export(notebook, path.stem, lite)}
    if slides.has_slides(notebook):
        files[f"slides/{path.stem}.html"] = slides.slides(notebook, path.stem)
    return files


def of_all(paths, lite=""):
    """Return the files that belong to no single notebook."""
    documents = pages.documents()
    files = {
        "index.html": front.front(paths, lite),
        "icon.svg": thumbnails.icon(),
        "preview.png": PREVIEW_PICTURE.read_bytes(),
        **documents,
        "search.html": search.page(),
        "sitemap.xml": front.sitemap([*(f"{path.stem}.html" for path in paths), *documents]),
    }
    return {name: content for name, content in files.items() if content}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools site", description=__doc__)
    parser.add_argument("--lite", action="store_true", help="write lite/, too, which runs the notebooks")
    parser.add_argument(
        "--pyodide", type=Path, metavar="FOLDER", help="a copy of Pyodide for --lite, in place of fetching its release"
    )
    arguments = folder_and_notebooks(parser, argv)
    folder, notebooks = arguments.folder, arguments.notebooks
    if not (arguments.lite or arguments.pyodide):
        write_files(folder, notebooks, written, more=of_all)
        search.index(folder)
        return
    try:
        distribution = pyodide.distribution(arguments.pyodide)
    except NotebookError as error:
        sys.exit(f"{error}\nNothing was written.")
    write_files(folder, notebooks, partial(written, lite=LITE), more=partial(of_all, lite=LITE))
    search.index(folder)
    build.build(folder / "lite", notebooks, *distribution)
    print(folder / "lite")
