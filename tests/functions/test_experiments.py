"""The experiments compute what they say: gradients against finite differences of the loss."""

import numpy as np
import pytest

from mha_helpers import experiments
from mha_helpers.attention import multi_head_attention, softmax
from mha_helpers.experiments import learn_one_key, train_layer


def first_row(d_k):
    """The first row's query, keys and values, drawn as the experiment draws them."""
    rng = np.random.default_rng(1)
    shapes = (1000, 1, d_k), (1000, 8, d_k), (1000, 8, 4)
    return [rng.normal(size=shape)[0] for shape in shapes]


@pytest.mark.parametrize("divisor", [1, 2])
@pytest.mark.parametrize("step_on", ["scores", "queries"])
def test_the_first_gradient_is_that_of_the_loss(step_on, divisor):
    query, keys, values = first_row(4)
    start = query @ keys.T / divisor if step_on == "scores" else query

    def loss(changed):
        scores = changed if step_on == "scores" else changed @ keys.T / divisor
        return ((softmax(scores) @ values - values[0]) ** 2).sum()

    steps = 1e-6 * np.eye(start.size)[:, None]
    slopes = [(loss(start + step) - loss(start - step)) / 2e-6 for step in steps]
    learned = learn_one_key(4, divisor, step_on=step_on, n_steps=1, step=0.01)
    assert learned.losses.shape == (2, 1000)
    assert learned.first_gradients.shape == (1000,)
    assert learned.first_gradients[0] == pytest.approx(np.linalg.norm(slopes), rel=1e-5)
    assert learned.losses[0, 0] == pytest.approx(loss(start))
    assert learned.losses[1, 0] == pytest.approx(loss(start - 0.01 * np.reshape(slopes, start.shape)), rel=1e-6)


@pytest.mark.parametrize("step_on", ["scores", "queries"])
def test_small_steps_never_raise_the_loss(step_on):
    losses = learn_one_key(8, 8**0.5, step_on=step_on, n_steps=20, step=0.02).losses.mean(axis=1)
    assert (np.diff(losses) < 0).all()


def test_to_divide_is_to_start_smaller_and_to_take_smaller_steps():
    divided = learn_one_key(16, 4, step_on="queries", step=0.5)
    smaller = learn_one_key(16, 1, step_on="queries", step=0.5 / 16, query_size=1 / 4)
    np.testing.assert_allclose(smaller.losses, divided.losses, rtol=1e-6)
    only_started_smaller = learn_one_key(16, 1, step_on="queries", step=0.5, query_size=1 / 4)
    assert only_started_smaller.losses[0].mean() == pytest.approx(divided.losses[0].mean())
    assert only_started_smaller.losses[-1].mean() > 1.5 * divided.losses[-1].mean()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"step_on": "keys"}, "step_on='keys' is not possible; give 'scores' or 'queries'"),
        ({"d_k": 2.5}, "d_k=2.5 is not a whole number"),
        ({"n_steps": 0}, "n_steps=0 is not possible"),
        ({"divisor": 0}, "divisor=0 is not possible"),
        ({"divisor": "sqrt"}, "divisor='sqrt' is not a number"),
    ],
)
def test_what_cannot_be_learned_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        learn_one_key(**{"d_k": 4, "divisor": 2.0} | arguments)


def a_batch(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(experiments.BATCH, experiments.SEQ_LEN, experiments.D_MODEL))
    wanted = rng.normal(size=(experiments.BATCH, experiments.SEQ_LEN, experiments.D_MODEL - experiments.SEQ_LEN))
    return X, wanted, [rng.normal(scale=0.25, size=(experiments.D_MODEL,) * 2) for _ in range(4)]


def test_the_right_layer_is_multi_head_attention():
    X, wanted, weights = a_batch()
    output, _ = multi_head_attention(X, *weights, experiments.N_HEADS)
    error, _ = experiments._error_and_gradients(X, wanted, weights, "right", "right")
    np.testing.assert_allclose(error, output[..., experiments.SEQ_LEN :] - wanted)


@pytest.mark.parametrize("merge", experiments.WAYS)
@pytest.mark.parametrize("split", experiments.WAYS)
def test_the_layers_gradients_are_those_of_its_loss(split, merge):
    X, wanted, weights = a_batch()

    def loss(weights):
        error, _ = experiments._error_and_gradients(X, wanted, weights, split, merge)
        return (error**2).sum() / (experiments.BATCH * experiments.SEQ_LEN)

    _, gradients = experiments._error_and_gradients(X, wanted, weights, split, merge)
    rng = np.random.default_rng(1)
    for i, gradient in enumerate(gradients):
        direction = rng.normal(size=gradient.shape)
        moved = [[W + sign * 1e-6 * direction if j == i else W for j, W in enumerate(weights)] for sign in (1, -1)]
        slope = (loss(moved[0]) - loss(moved[1])) / 2e-6
        assert slope == pytest.approx((gradient * direction).sum(), rel=1e-4, abs=1e-7)


def test_only_what_passes_between_tokens_shows_that_both_transposes_are_missing():
    ends = {
        (way, task): train_layer(split=way, merge=way, task=task, n_steps=300)[-1]
        for way in experiments.WAYS
        for task in experiments.TASKS
    }
    assert ends["right", "copy"] < 0.02
    assert ends["wrong", "copy"] < 0.02
    assert ends["right", "previous"] < 0.01
    assert ends["wrong", "previous"] > 0.3


@pytest.mark.parametrize("wrong", [{"split": "left"}, {"merge": None}, {"task": "next"}])
def test_what_cannot_be_trained_is_refused(wrong):
    [(name, value)] = wrong.items()
    with pytest.raises(ValueError, match=f"{name}={value!r} is not possible; give '"):
        train_layer(**{"split": "right", "merge": "right", "task": "copy"} | wrong)
