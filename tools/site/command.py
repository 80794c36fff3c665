"""Write the course as a site that needs no server and no network: each notebook as a page and as slides.

A page is one file with everything that its notebook has stored: text, code, formulas, pictures. Nothing is run.
`index.html`, the front page, leads to them; `slides/` has the same notebooks for a projector.
"""

import argparse

from tools.page.pictures import PREVIEW_PICTURE
from tools.site import front, pages, slides, thumbnails
from tools.writing.notebooks import read, write_files


def written(path):
    """Return the files of one notebook, by their names: its page, and its slides where it has any."""
    notebook = read(path)
    files = {f"{path.stem}.html": pages.export(notebook, path.stem)}
    if slides.has_slides(notebook):
        files[f"slides/{path.stem}.html"] = slides.slides(notebook)
    return files


def of_all(paths):
    """Return the files that belong to no single notebook."""
    files = {
        "index.html": front.front(paths),
        "icon.svg": thumbnails.icon(),
        "preview.png": PREVIEW_PICTURE.read_bytes(),
        "sitemap.xml": front.sitemap([f"{path.stem}.html" for path in paths]),
    }
    return {name: content for name, content in files.items() if content}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools site", description=__doc__)
    write_files(parser, argv, written, more=of_all)
