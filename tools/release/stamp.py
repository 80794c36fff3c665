"""Write the repository's address wherever the course names it: what a fork runs once.

The address that counts is `[project.urls] Repository` in pyproject.toml. Wherever that repository is named, the new one
takes its place, and the launch links of the README and the notebooks follow. Commit what changes. On GitHub a workflow
runs it at the first push.
"""

import argparse
import re
import subprocess

from tools.release import launch
from tools.release.launch import ROOT, repository


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
    changed = naming(old)
    for path in changed:
        content = path.read_bytes()  # bytes: line ends stay as they are
        path.write_bytes(re.sub(rf"/{re.escape(old)}(?![\w-])".encode(), f"/{new}".encode(), content))
    for path, text in launch.all_written(new).items():
        if path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")
            changed.append(path)
    for path in sorted(set(changed)):
        print(f"{path.relative_to(ROOT)}: {new}")
