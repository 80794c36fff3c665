"""Write the repository's address wherever the course names it: what a fork runs once.

The address that counts is `[project.urls] Repository` in pyproject.toml. Wherever that repository is named, the new one
takes its place; what the README and the notebooks say of where they open follows. Commit what changes. It asks nobody,
so it can run before the first push, or, on GitHub, by a workflow at that push.
"""

import argparse
import re
import subprocess
import sys

from tools.release import launch
from tools.release.launch import ROOT, repository


def naming(name):
    """Return the paths of the files that name a repository."""
    # Without its index, git searches what it does not ignore, in a clone or not.
    search = ["git", "grep", "--no-index", "--exclude-standard", "-z", "-lF", name]
    found = subprocess.run(search, cwd=ROOT, capture_output=True, text=True)
    if found.returncode > 1:  # 1: no file names it
        sys.exit(f"git could not search the course's files, and nothing was changed:\n{found.stderr}")
    paths = [ROOT / path for path in sorted(filter(None, found.stdout.split("\0")))]
    return [path for path in paths if _name(name).search(path.read_bytes())]


def _name(repository):
    """Return the pattern of a repository's name, and not of a longer one that holds it."""
    return re.compile(rf"(?<![\w.-]){re.escape(repository)}(?![\w-])".encode())


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
    changed = set()
    for path in naming(old):
        content = path.read_bytes()  # bytes: line ends stay as they are
        if _name(old).sub(new.encode(), content) != content:
            path.write_bytes(_name(old).sub(new.encode(), content))
            changed.add(path)
    for path, text in launch.all_written(new).items():
        if path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")
            changed.add(path)
    for path in sorted(changed):
        print(f"{path.relative_to(ROOT)}: {new}")
