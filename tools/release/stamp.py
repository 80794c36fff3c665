"""Write the repository's address wherever the course names it: what a fork runs once.

Usage: python -m tools.release.stamp [OWNER/REPOSITORY]

The address that counts is `[project.urls] Repository` in pyproject.toml. The launch links of the notebooks and
the README, and the notebooks' set-up cells, follow it. Every file is looked through before any is written: when
one lacks an address, or has it twice, no file changes.
"""

import argparse
import re
import subprocess
import sys

from tools.writing.notebooks import NOTEBOOKS, course_notebooks

ROOT = NOTEBOOKS.parent

SETTING = 'Repository = "https://github.com/{repository}"'
BINDER = "https://mybinder.org/v2/gh/{repository}/HEAD?urlpath=lab/tree/notebooks/{notebook}"
COLAB = "https://colab.research.google.com/github/{repository}/blob/main/notebooks/{notebook}"
INSTALL = "git+https://github.com/{repository}"

# As GitHub allows them. The last "?" of the name leaves a ".git" out of it.
OWNER_AND_NAME = r"([A-Za-z0-9][\w-]*/\.?[\w-][\w.-]*?)(?:\.git)?/?"
NAMED = re.compile(OWNER_AND_NAME, re.ASCII)
ON_GITHUB = r"(?:\w+://(?:[^@/]*@)?(?:ssh\.)?github\.com(?::\d+)?/|\w+@github\.com:/?)"
REMOTE = re.compile(ON_GITHUB + OWNER_AND_NAME, re.ASCII)
SAY_IT = "name the repository: python -m tools.release.stamp OWNER/REPOSITORY"


class StampError(Exception):
    """What is wrong with an address, in words for the person who publishes the course."""


def repository_of(name):
    """Return OWNER/REPOSITORY from what was typed; a StampError says what is wrong with it."""
    match = NAMED.fullmatch(name)
    if not match:
        raise StampError(f"{name!r} is not a repository on GitHub; write OWNER/REPOSITORY, such as ada/attention")
    return match[1]


def repository_of_origin():
    """Return OWNER/REPOSITORY of the git remote `origin`; a StampError says why there is none."""
    try:
        git = subprocess.run(["git", "remote", "get-url", "origin"], cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        raise StampError(f"git is not installed; install it, or {SAY_IT}") from None
    if git.returncode:
        raise StampError(f"there is no git remote `origin` ({git.stderr.strip()}); {SAY_IT}")
    address = git.stdout.strip()
    match = REMOTE.fullmatch(address)
    if not match:
        shown = re.sub(r"//[^@/]*@", "//", address)  # without a password
        raise StampError(f"the git remote `origin` is {shown}, which is not a repository on GitHub; {SAY_IT}")
    return match[1]


def forms():
    """Return, for each file that names the repository, the addresses that it holds, each of them once."""
    links = {path: [form.replace("{notebook}", path.name) for form in (BINDER, COLAB)] for path in course_notebooks()}
    return {
        ROOT / "pyproject.toml": [SETTING],
        ROOT / "README.md": next(iter(links.values())),
        **{path: [*launch, INSTALL] for path, launch in links.items()},
    }


def stamped(text, addresses, repository):
    """Return a file's text with another repository in its addresses, and nothing else changed.

    Parameters
    ----------
    text : str
    addresses : list of str
        The forms that the file holds, with `{repository}` where the repository stands.
    repository : str
        "OWNER/REPOSITORY".

    Returns
    -------
    str

    Raises
    ------
    StampError
        If the text does not hold each address, with any repository in it, exactly once.
    """
    for form in addresses:
        before, after = form.split("{repository}")
        address = re.escape(before) + r"[\w.-]+/[\w.-]+" + re.escape(after)
        text, found = re.subn(address, before + repository + after, text)
        if found != 1:
            wanted = form.format(repository="OWNER/REPOSITORY")
            raise StampError(f"holds the address {wanted} {found} times; it needs it exactly once")
    return text


def write_all(contents):
    """Write files, all or none: `contents` holds the new bytes by path."""
    before = {path: path.read_bytes() for path in contents}
    try:
        for path, content in contents.items():
            path.write_bytes(content)
    except BaseException:  # Ctrl+C, too
        for path, content in before.items():
            if path.read_bytes() != content:
                path.write_bytes(content)
        raise


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools.release.stamp", description=__doc__.partition("\n")[0])
    wish = "default: where the git remote `origin` is on GitHub"
    parser.add_argument("repository", nargs="?", metavar="OWNER/REPOSITORY", help=wish)
    named = parser.parse_args(argv).repository
    new = {}
    try:
        repository = repository_of_origin() if named is None else repository_of(named)
        for path, addresses in forms().items():
            before = path.read_bytes()  # bytes: line ends stay as they are
            try:
                after = stamped(before.decode(), addresses, repository).encode()
            except StampError as error:
                raise StampError(f"{path.name} {error}") from None
            if after != before:
                new[path] = after
        write_all(new)
    except (StampError, OSError) as error:
        sys.exit(f"{error}\nNothing was written.")
    for path in forms():
        print(f"{path.name}: {repository if path in new else 'unchanged'}")


if __name__ == "__main__":
    main()
