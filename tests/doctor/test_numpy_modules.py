"""What is said of modules over NumPy: the names, and what must be read."""

import numpy_modules
import pytest

from mha_helpers import doctor


@pytest.mark.parametrize(("kind", "names", "words"), numpy_modules.ALL, ids=lambda one: getattr(one, "__name__", ""))
def test_it_is_said(kind, names, words):
    report = doctor.examine(kind())
    assert [finding.name for finding in report.findings] == names, report
    text = " ".join(str(report).split())
    assert all(word in text for word in words), report
    assert report.healthy == (not any(finding.is_sick for finding in report.findings))
