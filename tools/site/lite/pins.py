"""Print the checksums of a Pyodide release for `versions.toml`: `python -m tools.site.lite.pins FOLDER`.

FOLDER holds what npm's package `pyodide` of that version holds; README.md beside this file says when it is needed.
"""

import hashlib
import json
import sys
from pathlib import Path

from tools.site.lite import pyodide

CORE = ("pyodide.js", "pyodide.asm.*js", "pyodide.asm.wasm", "python_stdlib.zip")
# What the kernel asks for when it starts, and NumPy; what these need comes with them.
PACKAGES = ("ipython", "jedi", "micropip", "numpy", "prompt-toolkit", "sqlite3", "ssl")
# What is imported with matplotlib, and when a PDF is saved; it comes after the first cell.
PLOTS = ("contourpy", "cycler", "fonttools", "kiwisolver", "matplotlib", "pillow", "pyparsing", "python-dateutil")


def plots(folder):
    """Return the SHA-256 of each file that plots need, by name, as `pins` does for what a kernel starts with."""
    packages = _packages(folder)
    return {packages[name]["file_name"]: packages[name]["sha256"] for name in PLOTS}


def _packages(folder):
    packages = json.loads((folder / pyodide.LOCK).read_text(encoding="utf-8"))["packages"]
    return {name.lower().replace("_", "-"): entry for name, entry in packages.items()}


def pins(folder):
    """Return the SHA-256 of each file of a Pyodide release that the course needs, by name.

    Parameters
    ----------
    folder : pathlib.Path
        With the files of `CORE` and with `pyodide-lock.json`, which has the checksums of packages.

    Raises
    ------
    ValueError
        If one of these files or packages isn't there: this release is made of other parts.
    """
    found = {pattern: sorted(folder.glob(pattern)) for pattern in CORE}
    if missing := [pattern for pattern, paths in found.items() if not paths]:
        raise ValueError(f"{folder} has no {', '.join(missing)}; see what this release has instead, and change CORE")
    core = [path for paths in found.values() for path in paths]
    packages = _packages(folder)
    wanted, needed = list(PACKAGES), {}
    while wanted:
        name = wanted.pop().replace("_", "-")
        if name not in packages:
            raise ValueError(f"this release has no package {name}; where Python has it built in, change PACKAGES")
        if name not in needed:
            needed[name] = packages[name]
            wanted += packages[name]["depends"]
    checksums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in core}
    return checksums | {entry["file_name"]: entry["sha256"] for _, entry in sorted(needed.items())}


if __name__ == "__main__":
    for table, of_release in {"files": pins, "plots": plots}.items():
        print(f"[pyodide.{table}]")
        for name, checksum in of_release(Path(sys.argv[1])).items():
            print(f'"{name}" = "{checksum}"')
