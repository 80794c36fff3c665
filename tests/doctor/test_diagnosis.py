"""The corpus on the doctor's table: right ones are healthy, faults are found, most are named, and none is misnamed."""

import importlib.util

import pytest
from corpus import FAULTS, RIGHT, torch_cases

from mha_helpers import doctor

if importlib.util.find_spec("torch"):
    FAULTS, RIGHT = (functions + modules for functions, modules in zip((FAULTS, RIGHT), torch_cases(), strict=True))

# It is right for every mask of four axes, and nothing says that it was meant for three: whoever gives it another is
# at fault.
NOT_ITS_FAULT = {"mask-without-heads"}


def examined(case):
    return doctor.examine(case.make() if case.layout is None else case.make(32, 4))


def names_of(report):
    """What is wrong; where several names fit alike, all of them."""
    return [(finding.name, *finding.also) for finding in report.findings if finding.is_sick and finding.name]


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_a_right_one_is_healthy(case):
    report = examined(case)
    assert report.healthy, report


@pytest.mark.parametrize("case", [case for case in FAULTS if case.name not in NOT_ITS_FAULT], ids=lambda case: case.name)
def test_a_fault_is_found_and_not_misnamed(case):
    report = examined(case)
    assert report.healthy is False, report
    if case.expected is None:
        return
    wanted = set().union(*case.expected)
    for names in names_of(report):
        assert wanted & set(names) or set(names) & ALSO_TRUE, report


# What most code that sets scores to -inf has beside its fault.
ALSO_TRUE = {"mask-full-row-nan"}


def test_nine_faults_in_ten_are_named():
    nameable = [case for case in FAULTS if case.expected and case.name not in NOT_ITS_FAULT]
    named = [case for case in nameable if names_of(examined(case))]
    assert len(named) >= 0.9 * len(nameable), {case.name for case in nameable} - {case.name for case in named}
