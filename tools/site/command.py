"""Write the course as a site that needs no server and no network: each notebook as a page and as slides.

A page is one file with everything that its notebook has stored: text, code, formulas, pictures. Nothing is run.
`index.html` leads to the pages; `slides/` has the same notebooks for a projector.
"""

import argparse

from tools.site import pages, slides
from tools.writing.notebooks import read, write_files


def written(path):
    """Return the files of one notebook, by their names: its page, and its slides where it has any."""
    notebook = read(path)
    files = {f"{path.stem}.html": pages.export(notebook, path.stem)}
    if slides.has_slides(notebook):
        files[f"slides/{path.stem}.html"] = slides.slides(notebook)
    return files


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools site", description=__doc__)
    write_files(parser, argv, written, more={"index.html": pages.index})
