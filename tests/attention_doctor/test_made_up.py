"""What nobody published: faults are found and get no wrong name, right ones are healthy."""

import pytest
from made_up import FAULTY, RIGHT

from mha_helpers import doctor

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("function", FAULTY, ids=lambda function: function.__name__)
def test_a_fault_gets_its_names_and_no_other(function):
    report = doctor.examine(function)
    assert report.healthy is False, report
    assert {name for name in report.names if name} == FAULTY[function], report


@pytest.mark.parametrize("function", RIGHT, ids=lambda function: function.__name__)
def test_a_right_one_is_healthy(function):
    report = doctor.examine(function)
    assert report.healthy, report


def test_two_names_for_the_same_numbers_are_both_given():
    three_at_once = next(function for function in FAULTY if function.__name__ == "three_at_once")
    finding = next(one for one in doctor.examine(three_at_once).findings if one.name == "values-are-keys")
    assert "mha-same-matrix" in finding.also
