"""`python -m tools room` prints what a class got wrong, or serves a page that follows it."""

import argparse
import sys
from pathlib import Path

from mha_helpers.learner.results import SUFFIX
from tools.teaching import live, room


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools room", description=room.__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help=f"where the learners' {SUFFIX} files are")
    parser.add_argument("--live", action="store_true", help="serve a page, on this machine alone, that follows them")
    parser.add_argument("--port", type=int, default=8990, help="of that page (default: 8990)")
    parser.add_argument("--names", action="store_true", help="let that page name the files of those who are stuck")
    arguments = parser.parse_args(argv)
    folder = arguments.folder
    if not folder.is_dir():
        parser.error(f"there is no folder {folder}")
    if arguments.live:
        live.serve(folder, arguments.port, arguments.names)
        return
    files, left_out = room.handed_in(folder)
    for sentence in left_out:
        print(sentence, file=sys.stderr)
    if not files:
        sys.exit(f"{folder} holds no {SUFFIX} file; collect those that learners made with exercises.keep_results()")
    known, learners = room.Known(), []
    for learner, content in files.items():
        results, broken = room.read_results(content, known)
        learners.append(results)
        if broken:
            print(room.lines_left_out(learner, broken), file=sys.stderr)
    rows = room.table(learners, known.notebook_of)
    if not rows:
        sys.exit(f"no {SUFFIX} file of {folder} holds a result (looked into {len(files)})")
    print(f"{len(files)} learner{'s' if len(files) > 1 else ''}\n\n{room.COLUMNS.format(*room.HEADER)}")
    for name, row in rows.items():
        print(room.COLUMNS.format(f"{known.notebook_of[name]} {name}", *row.cells()).rstrip())
    print(f"\n{room.LEGEND}")
