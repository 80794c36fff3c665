"""The corpus on the doctor's table: right ones are healthy, faults are found, most are named, and none is misnamed."""

import functools
import importlib.util

import pytest
from corpus import FAULTS, RIGHT, torch_cases

from mha_helpers import doctor

pytestmark = pytest.mark.slow

if importlib.util.find_spec("torch"):
    FAULTS, RIGHT = (functions + modules for functions, modules in zip((FAULTS, RIGHT), torch_cases(), strict=True))

# What most code that sets scores to -inf has beside its fault.
ALSO_TRUE = "mask-full-row-nan"


@functools.cache
def examined(name):
    case = next(case for case in [*RIGHT, *FAULTS] if case.name == name)
    report = doctor.examine(case.make())
    assert "our fault" not in str(report)
    return report


def names_of(case, report):
    """What is wrong; where several names fit alike, the one that is expected, if it is among them."""
    names = []
    for finding in report.findings:
        alike = [name for name in (finding.name, *finding.also) if name]
        if (finding.is_sick or report.healthy) and alike and finding.name != ALSO_TRUE:
            names.append(next((name for name in alike if case.names([name]) != "wrong"), alike[0]))
    if case.names([ALSO_TRUE]) != "wrong" and ALSO_TRUE in [finding.name for finding in report.findings]:
        names.append(ALSO_TRUE)
    return names


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_a_right_one_is_healthy(case):
    report = examined(case.name)
    assert report.healthy, report


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case.name)
def test_a_fault_is_found_and_not_misnamed(case):
    report = examined(case.name)
    assert report.healthy is False or report.has_notes, report
    if case.expected is not None:
        assert case.names(names_of(case, report)) != "wrong", report


def test_nine_faults_in_ten_are_named_with_all_their_mistakes():
    nameable = [case for case in FAULTS if case.expected]
    named = [case for case in nameable if case.names(names_of(case, examined(case.name))) == "full"]
    assert len(named) >= 0.9 * len(nameable), {case.name for case in nameable} - {case.name for case in named}
