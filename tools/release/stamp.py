"""Write the repository's address wherever the course names it: what a fork runs once.

The address that counts is `[project.urls] Repository` in pyproject.toml. Wherever that repository is named, in a
notebook's launch links and set-up cell above all, the new one takes its place. Commit what changes.
"""

import argparse
import re
import subprocess
import tomllib

from tools.writing.notebooks import NOTEBOOKS

ROOT = NOTEBOOKS.parent


def repository():
    """Return the OWNER/REPOSITORY that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["urls"]["Repository"].removeprefix("https://github.com/")


def naming(name):
    """Return the paths of the files that name a repository."""
    # Without its index, git searches what it does not ignore, in a clone or not.
    search = ["git", "grep", "--no-index", "--exclude-standard", "-z", "-lF", f"/{name}"]
    found = subprocess.run(search, cwd=ROOT, capture_output=True, text=True).stdout.split("\0")
    return [ROOT / path for path in sorted(filter(None, found))]


def _owner_and_name(text):
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*/[\w.-]*[\w-]", text, re.ASCII):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a repository on GitHub; write OWNER/REPOSITORY, such as ada/attention"
        )
    return text.removesuffix(".git")


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools stamp", description=__doc__)
    parser.add_argument("repository", type=_owner_and_name, metavar="OWNER/REPOSITORY")
    new, old = parser.parse_args(argv).repository, repository()
    for path in naming(old):
        content = path.read_bytes()  # bytes: line ends stay as they are
        path.write_bytes(re.sub(rf"/{re.escape(old)}(?![\w-])".encode(), f"/{new}".encode(), content))
        print(f"{path.relative_to(ROOT)}: {new}")
