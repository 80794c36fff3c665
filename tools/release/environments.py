"""Virtual environments to test in: finding a Python, making one, saying what is in it, and running pytest there.

Only the standard library is used, so that a bare Python can start `python -m tools.release.compat`.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]


class EnvironmentProblem(Exception):
    """Why an environment could not be made, and what to do."""


def find_python(version):
    """Find an installed interpreter.

    Parameters
    ----------
    version : str
        "3.13", for example.

    Returns
    -------
    str
        Its path: the running Python where the version is right, else one on PATH, of pyenv, or of Windows' launcher.

    Raises
    ------
    EnvironmentProblem
        If none of these has it.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    commands = [[sys.executable], [f"python{version}"], ["py", f"-{version}"]]
    commands += [[str(path)] for path in sorted(pyenv.glob(f"{version}.*/bin/python"))]
    question = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
    for command in commands:
        if shutil.which(command[0]):
            # Asked, since pyenv puts a `python3.13` on PATH also where that version is not switched on.
            answer = subprocess.run([*command, "-c", question], capture_output=True, text=True).stdout.strip()
            found, _, path = answer.partition(" ")
            if found == version:
                return path
    raise EnvironmentProblem(
        f"no Python {version} found on PATH or under {pyenv}; install it, for example by `pyenv install {version}` "
        "or from https://www.python.org/downloads/"
    )


def make_environment(python, folder, *options):
    """Make a virtual environment of an interpreter in a folder, and return the path of its own interpreter."""
    folder = Path(folder)
    if folder.exists() and not (folder / "pyvenv.cfg").exists():
        raise EnvironmentProblem(f"{folder} is there and is no virtual environment; name another folder")
    _run(python, "-m", "venv", *options, str(folder))
    return str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def install(python, *arguments):
    """Install packages; files among the arguments are named as seen from the repository's root."""
    _run(python, "-m", "pip", "install", "--quiet", *arguments)


def packages(python):
    """Return the version of every package that an interpreter can import, by its name in small letters."""
    # Of two with one name the first on the path is imported.
    question = (
        "import importlib.metadata as m, json; "
        "print(json.dumps([(d.name.lower(), d.version) for d in m.distributions()][::-1]))"
    )
    answer = subprocess.run([python, "-c", question], capture_output=True, text=True, check=True, env=environment())
    return dict(json.loads(answer.stdout))


def environment(**more):
    """Return this process's environment variables without those that let packages of elsewhere in, and with more."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")} | more


def _run(*command):
    if not shutil.which(command[0]):
        raise EnvironmentProblem(f"{command[0]} is no program; name the interpreter's path")
    # Its output is shown as it comes: pip says best itself what went wrong.
    if subprocess.run(command, cwd=ROOT, env=environment()).returncode:
        raise EnvironmentProblem(f"`{' '.join(command)}` failed; what it said stands above")


@dataclass(frozen=True)
class Outcome:
    """What came of running pytest; `code` is its exit code, 0 when all is well."""

    code: int
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0


def run_pytest(python, *arguments, folder, **variables):
    """Run pytest in a folder with an environment's interpreter, its output shown as it comes.

    Parameters
    ----------
    python : str
    *arguments : str
        For pytest.
    folder : path
        Where it runs. Nothing is written there.
    **variables : str
        Environment variables beside this process's.

    Returns
    -------
    Outcome
        Errors count as failed.
    """
    with tempfile.TemporaryDirectory() as own:
        report = Path(own, "report.xml")
        command = [python, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={report}", *arguments]
        code = subprocess.run(command, cwd=folder, env=environment(**variables)).returncode
        if not report.exists():  # pytest itself could not start
            return Outcome(code)
        suite = ElementTree.parse(report).getroot().find("testsuite")
    tests, failures, errors, skipped = (int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped"))
    failed = failures + errors
    return Outcome(code, tests - failed - skipped, failed, skipped, float(suite.get("time")))
