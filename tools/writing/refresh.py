"""Execute notebooks in a clean kernel and store what they show, in one fixed form.

Usage: python -m tools.writing.refresh [NOTEBOOK ...]

Every notebook is run before any is written: when a cell raises, no file changes. The folded answers to its
predictions are written anew, too.
"""

import argparse
import sys

from tools.writing.answers import fill
from tools.writing.notebooks import NotebookError, add_notebooks, execute, read, write
from tools.writing.raster import add_pngs


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools.writing.refresh", description=__doc__.partition("\n")[0])
    add_notebooks(parser)
    refreshed = {}
    for path in parser.parse_args(argv).notebooks:
        try:
            stored = read(path)
            refreshed[path] = execute(fill(stored), path.parent)
            add_pngs(refreshed[path], stored)
        except NotebookError as error:
            sys.exit(f"{path.name}: {error}\nNothing was written.")
    for path, notebook in refreshed.items():
        before = path.read_bytes()
        write(notebook, path)
        print(f"{path.name}: {'unchanged' if path.read_bytes() == before else 'refreshed'}")


if __name__ == "__main__":
    main()
