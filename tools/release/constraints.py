"""A version of everything that pip brings along with the course, in `workshop/constraints.txt`.

With it an instructor makes the stick. requirements.txt pins what it names. What
those packages need in turn, pip would choose on the machine that makes the stick, and some choices want a newer Python
than a learner has. Here every version suits every Python from 3.11.0 on.
"""

import re
import shutil
import tempfile
from pathlib import Path

from tools.release.environments import ROOT, uv

FILE = ROOT / "workshop/constraints.txt"
OLDEST = "3.11.0"
# What building the course's own package takes, which pip does without a network from the stick.
BUILD = ("hatchling", "editables")
HEAD = "# Written by python -m tools refresh: what everything that pip brings along must be, for the stick.\n"


def pinned():
    """Return each package of requirements.txt with its version, as in numpy==2.4.6."""
    return re.findall(r"^\w+==[^;\s]+", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)


def outdated():
    """Say whether requirements.txt pins something that the constraints do not have so."""
    return not set(pinned()) <= set(FILE.read_text(encoding="utf-8").splitlines())


def choose():
    """Write the constraints anew; this asks a package registry."""
    with tempfile.TemporaryDirectory() as folder:
        wanted, chosen = Path(folder, "wanted.txt"), Path(folder, "chosen.txt")
        shutil.copy(FILE, chosen)  # where a version of it still fits, uv keeps it
        wanted.write_text("\n".join([*pinned(), *BUILD]) + "\n", encoding="utf-8")
        # A version for all Pythons where there is one, rather than the newest for each.
        options = [
            "--universal",
            "--fork-strategy=fewest",
            f"--python-version={OLDEST}",
            "--no-header",
            "--no-annotate",
        ]
        uv("pip", "compile", "--quiet", *options, f"--output-file={chosen}", str(wanted))
        FILE.write_text(HEAD + chosen.read_text(encoding="utf-8"), encoding="utf-8")
