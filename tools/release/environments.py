"""Virtual environments to test in, made by uv: what is in one, and what pytest did there."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]


def make_environment(python, folder, *options):
    """Make a virtual environment of an interpreter (a path, or a version: "3.13"), and return its own interpreter."""
    uv("venv", "--quiet", "--python", python, *options, str(folder))
    return str(Path(folder, "Scripts/python.exe" if os.name == "nt" else "bin/python"))


def install(python, *arguments):
    """Install packages; files among the arguments are named as seen from the repository's root."""
    uv("pip", "install", "--quiet", "--python", python, *arguments)


def uv(*arguments):
    """Run uv from the repository's root; where it fails, what it says is shown and the command ends."""
    if subprocess.run([sys.executable, "-m", "uv", *arguments], cwd=ROOT, env=environment()).returncode:
        sys.exit(f"`uv {' '.join(arguments)}` failed; what it said stands above")


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
