"""Each finding stands on the faulty line, in NumPy's functions and PyTorch's modules alike."""

import pytest
from wrong_at_a_line import FUNCTIONS

from mha_helpers import doctor

torch = pytest.importorskip("torch")
from wrong_at_a_line_torch import MODULES, build  # noqa: E402


def lines(thing):
    report = doctor.examine(thing)
    assert report.healthy is False, report
    return [finding.line for finding in report.findings if finding.is_sick]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_of_a_function(function):
    assert all(line is not None and line.text.endswith("# here") for line in lines(function)), lines(function)


@pytest.mark.slow
@pytest.mark.parametrize("kind", MODULES, ids=lambda kind: kind.__name__)
def test_of_a_module(kind):
    found = lines(build(kind))
    assert all(line is not None and "# here" in line.text for line in found), found
