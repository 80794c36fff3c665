"""`python -m mha_helpers.update [SOURCE]`: exit code 0 when the course is up to date, 2 when it couldn't be updated."""

import argparse
import sys

from mha_helpers import update

SOURCE = "a folder, a zip or a Git address; by default, where the course was published"


def main(argv=None):
    description = update.__doc__.partition("\n\n")[0]
    parser = argparse.ArgumentParser(prog="python -m mha_helpers.update", description=description)
    parser.add_argument("source", nargs="?", metavar="SOURCE", help=SOURCE)
    try:
        print(*update.update(parser.parse_args(argv).source), sep="\n")
    except ValueError as error:
        print(f"Not updated: {error}.", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
