"""Whose code a frame runs: somebody's, a library's, or the judge's own."""

import sys

import pytest

from function_judge import libraries


def frame_of(module):
    """Return a frame that runs in a module of this name."""
    namespace = {"__name__": module, "sys": sys}
    exec("def here():\n    return sys._getframe()", namespace)
    return namespace["here"]()


@pytest.mark.parametrize(
    ("module", "is_theirs"),
    [
        ("__main__", True),
        ("homework.tables", True),
        ("numpy.linalg", False),
        ("torch.nn.modules", False),
        ("json.decoder", False),
        ("function_judge.call", False),
    ],
)
def test_lines_of_libraries_are_nobodys(module, is_theirs):
    assert libraries.is_theirs(frame_of(module), None) is is_theirs


def test_what_is_examined_counts_wherever_it_is_defined():
    frame = frame_of("numpy.linalg")
    assert libraries.is_theirs(frame, frame.f_code)


def test_a_package_that_adds_itself_is_no_longer_somebodys(monkeypatch):
    monkeypatch.setattr(libraries, "_own", {*libraries._own})
    frame = frame_of("course_on_tables.checks")
    assert not libraries.is_own(frame)
    assert libraries.is_theirs(frame, None)
    libraries.add_own("course_on_tables")
    assert libraries.is_own(frame)
    assert not libraries.is_theirs(frame, None)


def test_the_judge_is_its_own():
    assert libraries.is_own(frame_of("function_judge.verdict"))
