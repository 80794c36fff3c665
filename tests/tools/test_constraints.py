"""The versions for the stick are those of requirements.txt, and one for every Python that the course supports."""

import re
import tomllib

from tools.release import constraints


def test_the_stick_has_what_learners_install_and_one_version_of_each_package():
    lines = constraints.FILE.read_text(encoding="utf-8").splitlines()[1:]
    versions = [line.partition(" ;")[0] for line in lines]
    assert not constraints.outdated(), "run python -m tools refresh"
    names = [version.partition("==")[0] for version in versions]
    assert len(set(names)) == len(names), "a package of two versions: the maker's Python would choose"
    assert {*constraints.BUILD} <= {*names}
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.]+( ; .*)?", line) for line in lines)


def test_a_python_that_is_too_old_is_left_to_the_package_which_says_so():
    """With a pin that it can't have, pip fills the screen with version numbers, and never comes to the package."""
    project = tomllib.loads((constraints.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=")
    for line in (constraints.ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines():
        assert "==" not in line or line.endswith(f'; python_version >= "{oldest}"'), line
