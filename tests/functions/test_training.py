"""Training in NumPy: its gradients, what it learns, what it keeps, and the tasks it learns on."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mha_helpers.attention import masked_attention, softmax
from mha_helpers.gradients import attention_gradients
from mha_helpers.grouped import grouped_attention
from mha_helpers.measures import previous_token_score
from mha_helpers.model.faulty_attention import MISTAKES
from mha_helpers.rotary import rotate
from mha_helpers.tasks import repeated_sequences, two_before
from mha_helpers.training import Training, induction_score

SMALL = repeated_sequences(n_tokens=6, length=10)


def small(**options):
    return Training(SMALL, d_model=8, batch=4, **options)


OPTIONS = {
    "two heads": {},
    "one head, no mask": {"is_causal": False, "n_heads": 1},
    "one layer": {"n_layers": 1, "n_heads": 4},
    "shared keys and values": {"n_heads": 4, "n_kv_heads": 2, "attend": grouped_attention},
    "rotated": {"rotate": rotate},
    "shared and rotated": {"n_kv_heads": 1, "attend": grouped_attention, "rotate": rotate},
    # A table would otherwise tell of wrong gradients, and not of wrong attention.
    **{name: {"attend": each.attend, "gradients": each.gradients} for name, each in MISTAKES.items()},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("task", [SMALL, two_before()], ids=["repeated", "two before"])
def test_gradients_are_those_of_central_differences(task, options):
    training = Training(task, d_model=8, batch=4, **options)
    training.parameters = {name: array.astype(np.float64) for name, array in training.parameters.items()}
    drawn = task.draw(np.random.default_rng(5), 3)
    _, gradients = training.loss_and_gradients(drawn)
    assert gradients.keys() == training.parameters.keys()
    rng, step = np.random.default_rng(0), 1e-5
    for name, array in training.parameters.items():
        place = tuple(rng.integers(size) for size in array.shape)
        losses = []
        for sign in (1, -1):
            moved = array.copy()
            moved[place] += sign * step
            training.parameters[name] = moved
            losses.append(training.loss_and_gradients(drawn)[0])
        training.parameters[name] = array
        slope = (losses[0] - losses[1]) / (2 * step)
        assert gradients[name][place] == pytest.approx(slope, rel=1e-4, abs=1e-7), name


@pytest.fixture(scope="module")
def trained():
    return Training(repeated_sequences()).run(300)


@pytest.mark.slow
def test_two_layers_learn_to_continue_what_repeats(trained):
    assert trained.losses[0] > 2.7  # log(16) = 2.77 is a guess
    assert trained.look().loss < 0.2
    assert trained.look().accuracy > 0.95


@pytest.mark.slow
def test_a_head_looks_back_one_token_and_another_finds_what_followed(trained):
    seen, drawn = trained.look(), trained.held_out()
    assert previous_token_score(seen.weights[0]).mean(axis=0).max() > 0.15
    assert induction_score(seen.weights[1], drawn.periods).min() > 0.6  # both of its heads
    assert induction_score(seen.weights[0], drawn.periods).max() < 0.1


@pytest.mark.slow
def test_without_the_heads_of_either_layer_it_is_lost(trained):
    for layer in (0, 1):
        assert trained.look(without=[(layer, head) for head in range(2)]).loss > 1.5
    assert trained.look(without=[]).loss == trained.look().loss


@pytest.mark.slow
def test_the_keys_read_what_layer_0_has_written(trained):
    without = trained.rows(without=[(0, 0), (0, 1)])
    assert trained.look(reads={"keys": without}).accuracy < 0.3
    for part in ("queries", "values", "output"):
        assert trained.look(reads={part: without}).accuracy > 0.9


def test_what_a_part_reads_can_be_put_in_and_all_parts_together_are_the_model():
    training = small().run(5)
    rows = training.rows()
    parts = ("queries", "keys", "values", "output")
    assert training.look(reads=dict.fromkeys(parts, rows)).loss == training.look().loss
    tokens = training.held_out().tokens
    start = training.parameters["tokens"][tokens] + training.parameters["positions"]
    assert_allclose(training.rows(layer=0), start)
    assert_allclose(training.rows(without=[(0, 0), (0, 1)]), start, atol=1e-6)
    logits = training.rows(layer=2) @ training.parameters["out"]
    assert_allclose(softmax(logits), training.look().probabilities[:, :, 0], atol=1e-5)
    with pytest.raises(ValueError, match="a layer has no part 'query'"):
        training.look(reads={"query": rows})


def test_rotation_stands_in_for_the_positions_vectors():
    training = small(rotate=rotate).run(3)
    assert not training.parameters["positions"].any()


@pytest.mark.slow
def test_one_layer_cannot_learn_it():
    assert Training(repeated_sequences(), n_layers=1).run(200).look().loss > 1


@pytest.mark.slow
def test_without_a_mask_the_loss_falls_and_nothing_is_learned():
    training = Training(repeated_sequences(), is_causal=False).run(300)  # as long as with a mask
    assert training.look().loss < 0.2
    assert training.look(is_causal=True).loss > 2


def test_what_is_put_in_is_what_it_runs_on():
    called = []

    def attend(*arguments):
        called.append("forwards")
        return masked_attention(*arguments)

    def gradients(*arguments):
        called.append("backwards")
        return attention_gradients(*arguments)

    training = small(attend=attend, gradients=gradients)
    training.step()
    assert called == ["forwards"] * 2 + ["backwards"] * 2
    ours = small()
    ours.step()
    for name, array in training.parameters.items():
        assert_array_equal(array, ours.parameters[name], err_msg=name)


@pytest.mark.slow
def test_two_heads_tell_two_things_and_one_head_or_equal_ones_only_one():
    def accuracy(**options):
        return Training(two_before(), n_layers=1, d_model=16, **options).run(250).look().accuracy

    assert accuracy(n_heads=2) > 0.95
    assert accuracy(n_heads=1) < 0.8
    assert accuracy(n_heads=2, heads_start_equal=True) < 0.8


def test_the_same_seed_learns_the_same():
    assert small(seed=3).run(5).losses == small(seed=3).run(2).run(3).losses
    assert small(seed=3).run(2).losses != small(seed=4).run(2).losses


def test_equal_heads_stay_equal():
    training = small(heads_start_equal=True).run(20)
    W_Q = training.parameters["W_Q1"]
    assert_allclose(W_Q[:, :4], W_Q[:, 4:], atol=1e-5)
    weights = training.look().weights
    assert_allclose(weights[:, :, 0], weights[:, :, 1], atol=1e-4)


def test_an_interruption_keeps_what_was_learned(capsys):
    def see(training):
        if len(training.losses) == 4:
            raise KeyboardInterrupt

    training = small().run(100, see=see, every=2)
    assert len(training.losses) == 4
    assert capsys.readouterr().out == "interrupted after 4 steps; what was learned is kept\n"
    assert len(training.run(1).losses) == 5


def test_the_curve_goes_as_far_as_the_training_went():
    training = small().run(7)
    steps, losses = training.curve(every=3)
    assert steps == [3, 6, 7]
    assert_allclose(losses, [np.mean(training.losses[:3]), np.mean(training.losses[3:6]), training.losses[6]])
    assert small().curve() == ([], [])
    with pytest.raises(ValueError, match="every=0 is not possible"):
        training.curve(every=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_heads": 3}, "d_model=8 is not divisible by n_heads=3; choose 1, 2, 4 or 8 heads"),
        ({"batch": 0}, "batch=0 is not possible; give an int of 1 or more"),
        ({"n_layers": 1.5}, "n_layers=1.5 is not a whole number"),
    ],
)
def test_impossible_models_are_refused(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        Training(SMALL, **{"d_model": 8} | options)


def test_repeated_sequences_repeat_each_after_its_own_period():
    batch = repeated_sequences().draw(np.random.default_rng(0), 50)
    assert len(set(batch.periods)) > 5
    for tokens, targets, counts, period in zip(*batch, strict=True):
        assert_array_equal(tokens[period:], tokens[:-period])
        assert_array_equal(targets[:-1, 0], tokens[1:])
        assert len(set(tokens[:period])) == period
        assert_array_equal(counts, np.arange(32) >= period)


def test_two_before_asks_for_both_in_their_order():
    batch = two_before(n_tokens=3, length=6).draw(np.random.default_rng(0), 4)
    for tokens, targets in zip(batch.tokens, batch.targets, strict=True):
        assert_array_equal(targets[2:], np.stack([tokens[1:-1], tokens[:-2]], axis=-1))
    assert_array_equal(batch.counts[0], [False, False, True, True, True, True])


def test_periods_need_room():
    with pytest.raises(ValueError, match=r"^n_tokens=4 and length=32 leave no room for a period of 4; give at least 5"):
        repeated_sequences(n_tokens=4)
