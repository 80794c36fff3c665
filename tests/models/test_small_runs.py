"""The stored trainings: they are what training gives, and what their table says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mha_helpers import small_runs
from mha_helpers.attention import masked_attention
from mha_helpers.model.faulty_attention import MISTAKES
from mha_helpers.tasks import repeated_sequences
from mha_helpers.training import Training


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
    others = {"mask after the softmax", "W_O left out"}
    assert harmless == {"keys in place of values", "not divided", "divided by d", *others}


def test_whatever_the_seed_the_keys_read_what_the_layer_below_has_written():
    for found in small_runs.by_seed().values():
        assert found.right > 0.99
        assert min(found.followed) >= 0.9
        assert found.hidden_from["keys"] < 0.2
        assert min(found.hidden_from[part] for part in ("queries", "values", "output")) > 0.94


def test_two_heads_of_queries_answer_two_questions_with_one_of_keys_and_values():
    found = small_runs.shared()
    assert min(found["two heads"]) == min(found[small_runs.SHARING]) == 1.0
    assert max(found["one head"]) < 0.7


def test_neither_kind_of_position_gets_better_far_away():
    for runs in small_runs.longer().values():
        for near, further, far in runs:
            assert near >= further >= far
    assert max(far for *_, far in small_runs.longer()["rotation"]) < 0.6


def test_without_W_O_nothing_stands_in_its_place():
    training = small_runs.untrained("W_O left out").run(2)
    assert_allclose(training.parameters["W_O0"], np.eye(32))


def test_what_is_not_stored_is_refused():
    with pytest.raises(ValueError, match="there is no stored training 'divided by d'; choose one of '2 heads'"):
        small_runs.load("divided by d")


@pytest.fixture
def without_BLAS(monkeypatch):
    monkeypatch.setattr(small_runs, "HAS_BLAS", False)
    monkeypatch.setattr(small_runs, "N_STEPS", 2)


def notebooks_model(**options):
    return Training(repeated_sequences(), seed=small_runs.SEED, **options)


def test_in_a_browser_the_courses_own_training_is_taken_from_the_store_and_that_is_said(without_BLAS, capsys):
    seen = []
    training = small_runs.train(notebooks_model(), see=lambda training: seen.append(training.losses[-1]))
    assert "the steps are those that the course has stored" in capsys.readouterr().out
    assert len(training.losses) == max(training.moments) == 400
    assert seen == training.losses[-1:]
    assert training.look().accuracy > 0.99


@pytest.mark.parametrize("options", [{"attend": lambda *qkvm: masked_attention(*qkvm)}, {"n_layers": 1}, {"batch": 8}])
def test_in_a_browser_any_other_training_takes_its_steps(without_BLAS, capsys, options):
    assert len(small_runs.train(notebooks_model(**options)).losses) == 2
    assert capsys.readouterr().out == ""


def test_with_BLAS_every_training_takes_its_steps(monkeypatch, capsys):
    monkeypatch.setattr(small_runs, "N_STEPS", 2)
    assert len(small_runs.train(notebooks_model()).losses) == 2
    assert capsys.readouterr().out == ""
