"""Looking a wrong answer up by its fingerprint finds what comparing it with every program finds."""

import numpy as np
import pytest

from function_judge.call import Outcome, same
from mha_helpers import exercises

NAMES = ("softmax", "masked_attention", "judge_step", "attend_with_cache")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_looked_up_is_what_every_program_is_compared_for(name):
    exercise = getattr(exercises, name)
    catalogue = exercise.catalogue
    every = range(len(catalogue.programs))
    cases = (exercise.cases[0], exercise.cases[-1])
    for case in cases:
        for output in (None, *range(len(exercise.outputs))):
            for place in every[::7]:
                given = catalogue.outcome(place, case)
                found = catalogue.alike(case, given, every, output)
                compared = [other for other in every if same(catalogue.outcome(other, case), given, output)]
                assert found == compared, (case.trait, output, catalogue.programs[place][0].slug)


def test_what_rounding_moves_is_found_and_what_is_only_near_is_not():
    exercise = exercises.softmax
    catalogue, case = exercise.catalogue, exercise.cases[0]
    every = range(len(catalogue.programs))
    place = next(i for i, (mistake, _) in enumerate(catalogue.programs) if mistake.slug == "softmax-no-exp")
    [array] = catalogue.outcome(place, case).arrays
    rounded = Outcome(arrays=(array * (1 + 0.9e-4),), returned=array)
    assert place in catalogue.alike(case, rounded, every)
    moved = array.copy()
    moved.flat[-1] += 1e-3
    assert place not in catalogue.alike(case, Outcome(arrays=(moved,), returned=moved), every)


def test_of_a_huge_result_nothing_is_computed():
    exercise = exercises.softmax
    huge = Outcome(arrays=(np.broadcast_to(np.nan, (10**6, 10**6)),), returned=None)
    every = range(len(exercise.catalogue.programs))
    assert exercise.catalogue.alike(exercise.cases[0], huge, every) == []
