"""Make what a release publishes, and look at it: the wheels of the course and of the doctor, and the notes.

Both wheels are checked by twine and check-wheel-contents, and installed together in a new environment, in which the
course and the doctor must start. The notes are the version's section of CHANGELOG.md. The folder then holds
two wheels and `notes.md`; nothing is uploaded. It takes a network, as an installation does.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from tools.release.environments import ROOT, environment, install, make_environment

PROJECTS = (ROOT, ROOT / "engines")
# What must work in an environment that has nothing else: the course's data are found, and both doctors examine.
TRIAL = """
from mha_helpers import doctor, worked_examples
import attention_doctor
assert worked_examples.load("play_football")
from mha_helpers.attention import scaled_dot_product_attention as attention
assert doctor.examine(attention).healthy and attention_doctor.examine(attention).healthy
"""


class ReleaseError(Exception):
    """What keeps a release back, in words for whoever makes it."""


def version():
    """Return the version, which is one and the same in every file that names it."""
    found = {
        project: tomllib.loads((project / "pyproject.toml").read_text())["project"]["version"] for project in PROJECTS
    }
    citation = ROOT / "CITATION.cff"
    found[citation] = re.search(r"^version: (.*)$", citation.read_text(encoding="utf-8"), re.MULTILINE)[1]
    if len({*found.values()}) > 1:
        said = ", ".join(f"{path.relative_to(ROOT.parent)} {number}" for path, number in found.items())
        raise ReleaseError(f"the versions differ ({said}); write the same one everywhere")
    return found[ROOT]


def notes(version, changelog):
    r"""Return a version's section of the changelog, without its heading.

    Examples
    --------
    >>> notes("0.2.0", "# Changelog\n\n## 0.2.0, May 2027\n\n- A lab.\n\n## 0.1.0\n\n- All.\n")
    '- A lab.\n'
    """
    section = re.search(rf"^## {re.escape(version)}\b.*\n\n((?:(?!## ).*\n)*)", changelog, re.MULTILINE)
    if not section or not section[1].strip():
        raise ReleaseError(f"CHANGELOG.md says nothing of {version}; write what changes under `## {version}`")
    return section[1].strip() + "\n"


def build(folder):
    """Build both wheels in a folder, without a network, and return their paths."""
    for project in PROJECTS:
        options = ["--quiet", "--no-deps", "--no-build-isolation", f"--wheel-dir={folder}"]
        subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(project)], check=True)
    return sorted(Path(folder).glob("*.whl"))


def check(wheels):
    """Have wheels looked at: what the registry would show of them, and what is in them."""
    for tool in (["twine", "check", "--strict"], ["check_wheel_contents"]):
        # From the repository's root, where check-wheel-contents finds its settings.
        if subprocess.run([sys.executable, "-m", *tool, *map(str, wheels)], cwd=ROOT).returncode:
            raise ReleaseError(f"{tool[0]} found the above; repair it, and build again")


def try_out(wheels):
    """Install wheels in a new environment, and start what they bring."""
    with tempfile.TemporaryDirectory() as folder:
        python = make_environment(f"{sys.version_info.major}.{sys.version_info.minor}", Path(folder, "new"))
        install(python, *map(str, wheels))
        for command in (
            ["-c", TRIAL],
            ["-m", "attention_doctor", "--help"],
            ["-m", "mha_helpers.doctor", "--help"],
        ):
            ended = subprocess.run([python, *command], cwd=folder, env=environment(), capture_output=True, text=True)
            if ended.returncode:
                raise ReleaseError(f"`python {' '.join(command)}` failed where both are installed:\n{ended.stderr}")


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools.release.wheels", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to write: new or empty")
    folder = parser.parse_args(argv).folder.absolute()
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"{folder} is not empty; name a new folder: what is published must be what was built")
    try:
        text = notes(version(), (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
        folder.mkdir(parents=True, exist_ok=True)
        wheels = build(folder)
        check(wheels)
        try_out(wheels)
    except ReleaseError as error:
        sys.exit(f"Not ready for a release: {error}")
    (folder / "notes.md").write_text(text, encoding="utf-8")
    print(f"{version()} is ready: {', '.join(wheel.name for wheel in wheels)} and notes.md in {folder}")


if __name__ == "__main__":
    main()
