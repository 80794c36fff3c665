"""Run the whole gate on every supported Python, and on the oldest and the newest supported dependencies.

Usage: python -m tools.release.compat [ROW ...] [--folder FOLDER] [-- PYTEST_ARGUMENT ...]

A row is dependencies and a Python: `pinned-3.12`. Each has a virtual environment of its own. What follows `--` goes to
pytest: `-- notebooks -m "not browser"`. Any Python can start this; it takes about ten minutes a row.
"""

import argparse
import contextlib
import re
import sys
import tempfile
from pathlib import Path

from tools.release.environments import (
    ROOT,
    EnvironmentProblem,
    Outcome,
    find_python,
    install,
    make_environment,
    packages,
    run_pytest,
)
from tools.release.table import print_table

ROWS = ["pinned-3.11", "pinned-3.12", "pinned-3.13", "oldest-3.11", "newest-3.13"]
# What is installed over tests/requirements.txt, ...
INSTALLED = {
    "pinned": [],
    "oldest": ["-r", "tests/oldest.txt"],
    "newest": ["--upgrade", "-r", "tests/newest.txt"],
}
# ... and what pytest is told: ipywidgets 7 has no extension for this JupyterLab.
TOLD = {"oldest": ["-m", "not browser"]}
SHOWN = ["numpy", "matplotlib", "ipywidgets", "tokenizers"]


def split(row):
    """Return a row's dependencies and Python: `pinned-3.12` is ("pinned", "3.12")."""
    match = re.fullmatch(rf"({'|'.join(INSTALLED)})-(3\.\d+)", row)
    if not match:
        raise argparse.ArgumentTypeError(
            f"{row!r} is no row; write {', '.join(INSTALLED)}, a hyphen and a Python: {ROWS[0]}"
        )
    return match.groups()


def run_row(dependencies, version, folder, arguments):
    """Run pytest in an environment of its own.

    Parameters
    ----------
    dependencies : {"pinned", "oldest", "newest"}
    version : str
        Of Python: "3.12".
    folder : path
        The environment, made where it is not there yet.
    arguments : list of str
        For pytest.

    Returns
    -------
    Outcome
    versions : list of str
        Of the packages in SHOWN.

    Raises
    ------
    EnvironmentProblem
        If there is no such Python, or something cannot be installed.
    """
    python = make_environment(find_python(version), folder)
    install(python, "-r", "tests/requirements.txt")
    if INSTALLED[dependencies]:
        install(python, *INSTALLED[dependencies])
    found = packages(python)
    outcome = run_pytest(python, *TOLD.get(dependencies, []), *arguments, folder=ROOT)
    return outcome, [found[name] for name in SHOWN]


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    end = argv.index("--") if "--" in argv else len(argv)
    parser = argparse.ArgumentParser(prog="python -m tools.release.compat", description=__doc__.partition("\n")[0])
    wish = f"dependencies ({', '.join(INSTALLED)}) and Python; default: {' '.join(ROWS)}"
    parser.add_argument("rows", nargs="*", type=split, default=list(map(split, ROWS)), metavar="ROW", help=wish)
    wish = "where the environments are made and stay, to be used again; default: a temporary folder"
    parser.add_argument("--folder", type=Path, help=wish)
    parser.epilog = 'What follows -- goes to pytest: -- notebooks -m "not browser"'
    chosen = parser.parse_args(argv[:end])
    table, in_order = [], True
    with contextlib.nullcontext(chosen.folder) if chosen.folder else tempfile.TemporaryDirectory() as folder:
        for dependencies, version in chosen.rows:
            row = f"{dependencies}-{version}"
            print(f"\n{row}", flush=True)
            try:
                outcome, versions = run_row(dependencies, version, Path(folder, row), argv[end + 1 :])
            except EnvironmentProblem as problem:
                print(f"{row}: {problem}")
                outcome, versions = None, ["-"] * len(SHOWN)
            in_order &= outcome is not None and outcome.code == 0
            table.append([row, *versions, *_cells(outcome)])
    print_table("Compatibility", ["row", *SHOWN, "passed", "failed", "skipped", "seconds"], table)
    sys.exit(0 if in_order else 1)


def _cells(outcome: Outcome | None):
    if outcome is None:
        return ["0", "not run", "0", "0"]
    # pytest can fail without a failed test: where it cannot start, or finds no test.
    failed = str(outcome.failed) if outcome.failed or not outcome.code else f"exit code {outcome.code}"
    return [str(outcome.passed), failed, str(outcome.skipped), f"{outcome.seconds:.0f}"]


if __name__ == "__main__":
    main()
