"""Run every notebook as Colab would: with its versions, and nothing of the course but the notebook's file.

The course's two packages are built as wheels. An environment is made that has what tests/colab.txt lists, or, with
`--installed`, what the Python has (inside Colab's own image). Then each notebook is copied alone into an empty folder
and run under nbval, in a kernel that looks like Colab's to its set-up cell: what it shows must be what is stored, and
of the packages that were there each must still have its version.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from tools.release.environments import ROOT, install, make_environment, packages, run_pytest
from tools.table import print_table
from tools.writing.notebooks import CELL_TIMEOUT, ONE_THREAD, add_notebooks

PACKAGES = ["attention-doctor", "mha_helpers"]
PYTHON = "3.13"
VERSIONS = "tests/colab.txt"
SHOWN = ["numpy", "ipywidgets", "ipython", "ipykernel", "traitlets", "matplotlib", "tokenizers"]
# What a kernel of Colab has that the set-up cell meets. Colab's %pip, unlike IPython's, adds no note to what pip says.
# pip is given the wheels in place of the repository, which may be neither public nor up to date.
STARTUP = """\
import shlex, subprocess, sys, types
from IPython.core.magic import register_line_magic

sys.modules["google.colab"] = types.ModuleType("google.colab")

@register_line_magic
def pip(line):
    arguments, wheels = shlex.split(line), {wheels!r}
    if not set(wheels) <= set(arguments):
        raise ValueError(f"%pip {{line}}: install from " + " ".join(wheels))
    arguments = [wheels.get(argument, argument) for argument in arguments]
    subprocess.run([sys.executable, "-m", "pip", *arguments], check=True)
"""


def build_wheels(folder):
    """Build the wheels of the course's packages, without a network; return them by what a set-up cell asks for."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    repository, wheels = f"git+{project['urls']['Repository']}", {}
    for asked, source in ((f"{repository}#subdirectory=engines", ROOT / "engines"), (repository, ROOT)):
        own = Path(folder, source.name)
        subprocess.run([*command, str(own), str(source)], check=True)
        [wheels[asked]] = own.glob("*.whl")
    return wheels


def make_kernel(python, wheels, folder):
    """Write a kernel named `colab` that looks like Colab's to a set-up cell.

    Parameters
    ----------
    python : str
        The environment's interpreter.
    wheels : dict of str to path
        What `%pip` installs, by what the notebook asks for.
    folder : path
        Where it is written; as JUPYTER_PATH it makes Jupyter find the kernel.
    """
    startup = STARTUP.format(wheels={asked: Path(wheel).as_posix() for asked, wheel in wheels.items()})
    kernel = {
        "argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Colab",
        "language": "python",
        "env": {"IPYTHONDIR": str(Path(folder, "ipython"))},
    }
    for name, text in (
        ("kernels/colab/kernel.json", json.dumps(kernel)),
        ("ipython/profile_default/startup/colab.py", startup),
    ):
        path = Path(folder, name)
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")


def run_alone(path, python, kernel):
    """Run one notebook alone under nbval, and take what it installed out again: the next one finds what this one found.

    Parameters
    ----------
    path : path
    python : str
        The environment's interpreter.
    kernel : path
        The folder of `make_kernel`.

    Returns
    -------
    Outcome
    changes : list of str
        What became otherwise with the packages that were there: "numpy 2.1.3 -> 2.4.6". None may.
    installed : list of str
        The names of the packages that are new.
    """
    before = packages(python)
    with tempfile.TemporaryDirectory() as folder:
        # An empty configuration, so that none further up the path is taken.
        Path(folder, "pytest.ini").touch()
        alone = Path(folder, "alone")
        alone.mkdir()
        shutil.copy(path, alone)
        options = ["--nbval", "--nbval-kernel-name=colab", f"--nbval-cell-timeout={CELL_TIMEOUT}", "--quiet"]
        # One thread, as the notebooks were stored: on busy processors several wait for each other.
        variables = ONE_THREAD | {"JUPYTER_PATH": str(kernel)}
        outcome = run_pytest(sys.executable, *options, path.name, folder=alone, **variables)
    after = packages(python)
    changes = [f"{name} {was} -> {after.get(name)}" for name, was in before.items() if after.get(name) != was]
    installed = [name for name in after if name not in before]
    if installed:
        subprocess.run([python, "-m", "pip", "uninstall", "--quiet", "--yes", *installed], check=True)
    return outcome, changes, installed


def verdict(outcome, changes, installed):
    """Say in a few words what a notebook's run showed: "as stored" when all is well."""
    if changes:
        return "changed " + ", ".join(changes)
    if sorted(installed) != PACKAGES:
        return f"installed {', '.join(installed) or 'nothing'}, not {', '.join(PACKAGES)}"
    if outcome.failed:
        return f"not as stored: {outcome.failed} of its cells"
    return "as stored" if outcome.code == 0 else f"pytest ended with exit code {outcome.code}"


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools colab", description=__doc__)
    add_notebooks(parser)
    parser.add_argument("--python", help=f"the interpreter to take; default: Python {PYTHON}, found or fetched by uv")
    parser.add_argument("--installed", action="store_true", help=f"with its own packages, not those of {VERSIONS}")
    chosen = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        # The notebooks' %pip needs a pip: the environment's own, or that of the packages it stands on.
        options = ["--system-site-packages"] if chosen.installed else ["--seed"]
        python = make_environment(chosen.python or PYTHON, Path(folder, "environment"), *options)
        if not chosen.installed:
            install(python, "-r", VERSIONS)
        make_kernel(python, build_wheels(Path(folder, "wheels")), Path(folder, "jupyter"))
        found = packages(python)
        table = []
        for path in chosen.notebooks:
            outcome, *changes = run_alone(path, python, Path(folder, "jupyter"))
            cells = outcome.passed + outcome.failed + outcome.skipped
            table.append([path.name, str(cells), f"{outcome.seconds:.1f}", verdict(outcome, *changes)])
        version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        print_table(version, ["package", "version"], [[name, found.get(name, "none")] for name in SHOWN])
        print_table("Each notebook alone", ["notebook", "cells", "seconds", "outcome"], table)
    sys.exit(0 if all(said == "as stored" for *_, said in table) else 1)
