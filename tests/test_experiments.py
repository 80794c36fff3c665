"""The experiments compute what they say: gradients against finite differences of the loss."""

import numpy as np
import pytest

from mha_helpers.attention import softmax
from mha_helpers.experiments import learn_one_key


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
