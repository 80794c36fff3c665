"""Say what is wrong with the stored notebooks, if anything, and how much each asks of its reader."""

import argparse
import sys

from tools.writing.hygiene import long_lines, problems
from tools.writing.measure import table
from tools.writing.notebooks import add_notebooks, read


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools lint", description=__doc__)
    add_notebooks(parser)
    notebooks = {path: read(path) for path in parser.parse_args(argv).notebooks}
    found = [
        f"{path.name}: {it}"
        for path, notebook in notebooks.items()
        for it in [*problems(notebook), *long_lines(notebook)]
    ]
    print(*table(notebooks), "", *(found or ["nothing to report"]), sep="\n")
    sys.exit(1 if found else 0)
