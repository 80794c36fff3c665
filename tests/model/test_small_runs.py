"""The stored trainings: they are what training gives, and what their table says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mha_helpers.model import small_runs
from mha_helpers.wrong.trained import MISTAKES


def test_a_stored_training_is_what_training_gives():
    stored, fresh = small_runs.load("2 heads"), small_runs.untrained("2 heads").run(40)
    assert_allclose(fresh.losses, stored.losses[:40], atol=1e-3)
    for part, array in fresh.parameters.items():
        assert_allclose(stored.moments[40][part], array, atol=5e-3)


@pytest.mark.parametrize("name", small_runs.STORED)
def test_a_stored_training_does_what_its_outcome_says(name):
    outcome, seen = small_runs.outcomes()[name], small_runs.load(name).look()
    assert seen.accuracy == pytest.approx(outcome.right, abs=0.01)
    assert seen.loss == pytest.approx(outcome.loss, abs=0.02)


def test_the_loss_tells_of_some_mistakes_hides_two_and_others_do_no_harm():
    found = small_runs.outcomes()
    assert set(found) == {*small_runs.RIGHT, *MISTAKES, "W_O left out"}
    hidden = {name for name, each in found.items() if each.loss < 0.1 and each.right_when_writing < 0.5}
    assert hidden == {"no mask", "mask one too far"}
    harmless = {name for name, each in found.items() if each.right_when_writing > 0.95} - set(small_runs.RIGHT)
    assert harmless == {"keys in place of values", "not divided", "divided by d", "W_O left out"}


def test_without_W_O_nothing_stands_in_its_place():
    training = small_runs.untrained("W_O left out").run(2)
    assert_allclose(training.parameters["W_O0"], np.eye(32))


def test_what_is_not_stored_is_refused():
    with pytest.raises(ValueError, match="there is no stored training 'divided by d'; choose one of '2 heads'"):
        small_runs.load("divided by d")
