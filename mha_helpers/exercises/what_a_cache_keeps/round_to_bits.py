"""The exercise `round_to_bits`: a token's numbers on few levels, with a scale of its own."""

import numpy as np

from function_judge.properties import batch_mixed, first_marked, not_finite
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.what_a_cache_keeps.mistakes import round_to_bits as wrong
from mha_helpers.rounding import round_to_bits as reference


def _case(trait, seed, shape, bits, *, factor=1.0):
    return Case(trait, {"X": factor * _off_the_middle(draws(seed, X=shape)["X"], bits), "bits": bits})


def _off_the_middle(X, bits):
    """Return numbers like these, none of which lies so near to the middle of two levels that either would do."""
    step = np.abs(X).max(axis=-1, keepdims=True) / (2 ** (bits - 1) - 1)
    level = np.round(X / step)
    return ((level + 0.8 * (X / step - level)) * step).round(5)


def _zeros():
    X = _off_the_middle(draws(21, X=(4, 6))["X"], 4)
    X[2] = 0
    return Case("a token of zeros", {"X": X, "bits": 4}, edge=True)


def _largest_is_negative():
    X = np.abs(draws(22, X=(3, 5))["X"])
    X[np.arange(3), [1, 4, 0]] = -4
    return Case("the largest is negative", {"X": _off_the_middle(X, 3), "bits": 3})


def _whole():
    """Where the largest of a token is odd, none lies in the middle of two levels."""
    X = np.clip(4 * draws(10, X=(5, 6))["X"], -6, 6)
    X[:, 2] = [7, -7, 9, 7, -9]
    return whole_numbers({"X": X, "bits": 3})


def _cases():
    return (
        _case("four bits", 0, (5, 6), 4),
        _case("three bits", 1, (4, 7), 3),
        _case("two bits", 2, (3, 8), 2),
        _case("eight bits", 3, (5, 4), 8),
        _case("one token", 4, (1, 6), 3),
        _largest_is_negative(),
        _zeros(),
        _case("small numbers", 5, (4, 6), 4, factor=1e-2),
        _case("large numbers", 6, (4, 6), 5, factor=1e3),
        in_float32(_case("", 7, (5, 8), 4).arguments),
        _case("heads", 8, (2, 5, 6), 3),
        _case("a batch with heads", 9, (2, 3, 4, 7), 4),
        _whole(),
    )


def _off_the_levels(call, arguments, arrays):
    """A token's numbers lie on levels that are evenly spaced, with 0 among them."""
    X, rounded = np.asarray(arguments["X"], float), arrays[0]
    top = np.abs(X).max(axis=-1, keepdims=True)
    levels = rounded / np.where(top == 0, 1, top) * (2 ** (arguments["bits"] - 1) - 1)

    def say(*place):
        return (
            f"A token's levels are whole multiples of its largest number over 2^(bits - 1) - 1, and the one at "
            f"{', '.join(map(str, place))} is {levels[place]:.2f} of them."
        )

    return first_marked(np.abs(levels - levels.round()) > 1e-2, say)


def _too_far_away(call, arguments, arrays):
    """Rounding moves a number by half a step at most."""
    X = np.asarray(arguments["X"], float)
    step = np.abs(X).max(axis=-1, keepdims=True) / (2 ** (arguments["bits"] - 1) - 1)
    away = np.abs(arrays[0] - X)

    def say(*place):
        return (
            f"Rounding moves a number by half a step at most, here {step[(*place[:-1], 0)] / 2:.4f}, and the one at "
            f"{', '.join(map(str, place))} has moved by {away[place]:.4f}."
        )

    return first_marked(away > 0.501 * step + 1e-9, say)


# What the exercise asks, without the refusals of the course's own.
def round_to_bits(X, bits):
    largest = np.abs(X).max(axis=-1, keepdims=True)
    step = largest / (2 ** (bits - 1) - 1)
    return np.round(X / np.where(step == 0, 1, step)) * step


exercise = Exercise(
    reference=reference,
    outputs=("rounded",),
    cases=_cases(),
    mistakes=mistakes_in(wrong),
    properties=(not_finite, batch_mixed("X"), _off_the_levels, _too_far_away),
    hints=(
        "Three lines: each token's largest number without its sign, the step between two levels, and the rounding. How "
        "many steps lie between 0 and the largest?",
        "np.abs(X).max(axis=-1, keepdims=True) is the largest of each token, and 2 ** (bits - 1) - 1 steps lead there. "
        "np.round(X / step) is a whole number: multiply it by the step again.",
        "A token of zeros has a step of 0, and 0 / 0 is NaN: divide by np.where(step == 0, 1, step).",
    ),
    on_success="You can keep a cache in a few bits. The cells below run on your function.",
    model_answer=round_to_bits,
)
