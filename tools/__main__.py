"""The maintainers' one door: `python -m tools --help` lists the commands."""

import argparse
import importlib
import sys

# What each does, and the module whose `main` does it.
COMMANDS = {
    "refresh": ("write every file that follows from others: notebooks' outputs, tables, pictures", "tools.refresh"),
    "lint": ("say what is wrong with the stored notebooks, and how much they ask of a reader", "tools.writing.lint"),
    "solve": ("write solved copies for instructors, and fail unless every check agrees", "tools.writing.solve"),
    "site": ("write the course as web pages and slides that work offline", "tools.site.command"),
    "room": ("show what a class got wrong, from the files that learners handed in", "tools.teaching.command"),
    "bench": ("print how long labs, imports, checks and models take", "tools.bench.command"),
    "colab": ("run each notebook by itself, as Colab would", "tools.release.colab"),
    "stamp": ("write the repository's address wherever the course names it", "tools.release.stamp"),
    "oracle": ("say what checks and doctor judge otherwise than is stored", "tools.judge.oracle"),
    "mutants": (
        "change one thing in the code, again and again, and count how often the tests notice",
        "tools.judge.mutants",
    ),
}


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tools",
        description="Each command has a --help of its own.",
        epilog="\n".join(f"  {name:8} {said}" for name, (said, _) in COMMANDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="one of those below")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="what that command wants")
    chosen = parser.parse_args(argv)
    return importlib.import_module(COMMANDS[chosen.command][1]).main(chosen.arguments)


if __name__ == "__main__":
    sys.exit(main())
