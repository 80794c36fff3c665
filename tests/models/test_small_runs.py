"""The stored trainings: they are what training gives, and what their table says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from data.small_runs import make
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


def test_from_every_start_the_loss_tells_of_the_same_mistakes():
    found = small_runs.outcomes_by_seed()
    assert found.keys() == small_runs.OPTIONS.keys()
    told = {"softmax over the queries", "split and combined by reshape", "combined by reshape"}
    for name, outcomes in found.items():
        assert len(outcomes) == 8
        assert outcomes[small_runs.SEED] == small_runs.outcomes()[name]
        losses = [outcome.loss for outcome in outcomes]
        assert min(losses) > 0.5 if name in told else max(losses) < 0.2, name
        if name in ("no mask", "mask one too far"):
            assert max(outcome.right_when_writing for outcome in outcomes) < 0.2
        elif name not in told:
            assert min(outcome.right_when_writing for outcome in outcomes) > 0.9, name


def test_queries_start_at_a_quarter_of_what_they_are_in_notebook_02():
    for seed in range(8):
        p = small_runs.untrained("not divided", seed).parameters
        queries = (p["tokens"][:, None] + p["positions"]) @ p["W_Q0"]
        assert queries.std() == pytest.approx(0.25, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name", small_runs.OPTIONS)
def test_another_start_gives_the_stored_outcome(name):
    fresh = make.measured(small_runs.untrained(name, 1).run(small_runs.N_STEPS))
    assert fresh == pytest.approx(small_runs.outcomes_by_seed()[name][1]._asdict(), abs=0.03)


def test_whatever_the_seed_the_keys_read_what_the_layer_below_has_written():
    for found in small_runs.by_seed().values():
        assert found.right > 0.99
        assert min(found.followed) >= 0.9
        assert found.hidden_from["keys"] < 0.2
        assert min(found.hidden_from["values"], found.hidden_from["output"]) > 0.98
        assert found.hidden_from["queries"] > 0.93


def test_whose_loss_costs_most_is_left_to_chance_and_zeros_are_not_to_blame():
    left = []
    for found in small_runs.by_seed().values():
        looks_back = int(np.argmax(found.before))
        left.append(found.without[looks_back])
        assert abs(found.by_mean[looks_back] - left[-1]) < 0.06
        assert min(found.without[2:]) > 0.88  # of layer 1, either will do
    assert len(left) == 12
    assert min(left) == left[small_runs.SEED] == pytest.approx(0.264)
    assert sum(share < 0.5 for share in left) == 5
    assert sorted(left)[5] > 0.52


def test_notes_end_where_the_longest_rounds_do():
    for longest, found in small_runs.rounds().items():
        assert found.shape == (12, 31)
        assert found[:, : longest - 2].min() > 0.5  # column i is place i + 1
        assert found[:, longest + 1 :].max() < 0.3


@pytest.mark.slow
@pytest.mark.parametrize("seed", small_runs.SEEDS)
def test_each_start_gives_what_is_stored(seed):
    fresh, stored = make.of_seed(seed), small_runs.by_seed()[seed]
    for name in ("right", "before", "followed", "without", "by_mean"):
        assert_allclose(fresh[name], getattr(stored, name), atol=0.02, err_msg=name)
    assert fresh["hidden_from"] == pytest.approx(stored.hidden_from, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("longest", small_runs.ROUNDS)
def test_rounds_give_what_is_stored(longest):
    assert_allclose(make.of_rounds(longest + 1, 0), small_runs.rounds()[longest][0], atol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("positions", small_runs.POSITIONS)
def test_longer_texts_give_what_is_stored(positions):
    stored = {name: seeds[0] for name, seeds in small_runs.longer()[positions].items()}
    for name, fresh in make.of_length(small_runs.POSITIONS[positions], 0).items():
        assert_allclose(fresh, stored[name], atol=0.03, err_msg=name)


def test_two_heads_of_queries_answer_two_questions_with_one_of_keys_and_values():
    found = small_runs.shared()
    assert min(found["two heads"]) == min(found[small_runs.SHARING]) == 1.0
    assert max(found["one head"]) < 0.7


def test_neither_kind_of_position_gets_better_far_away():
    for found in small_runs.longer().values():
        for near, further, far in found[small_runs.EVERYTHING]:
            assert near >= further >= far


def test_distance_and_not_the_number_of_keys_harms_rotated_models():
    found, far = small_runs.longer()["rotation"], -1
    learned = [seed for seed in small_runs.LONGER_SEEDS if found[small_runs.EVERYTHING][seed][0] > 0.99]
    assert learned == [0, 2, 3, 5]
    for seed in small_runs.LONGER_SEEDS:
        everything, near, few, both = (found[name][seed][far] for name in small_runs.kept_in_sight())
        assert everything < 0.65
        assert both < 0.6 < few
        assert near > everything
        if seed in learned:
            assert few > 0.99


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
