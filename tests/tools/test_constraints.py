"""The versions for the stick are those of requirements.txt, and one for every Python that the course supports."""

import re

from tools.release import constraints


def test_the_stick_has_what_learners_install_and_one_version_of_each_package():
    lines = constraints.FILE.read_text(encoding="utf-8").splitlines()[1:]
    versions = [line.partition(" ;")[0] for line in lines]
    assert not constraints.outdated(), "run python -m tools refresh"
    names = [version.partition("==")[0] for version in versions]
    assert len(set(names)) == len(names), "a package of two versions: the maker's Python would choose"
    assert {*constraints.BUILD} <= {*names}
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.]+( ; .*)?", line) for line in lines)
