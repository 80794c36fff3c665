"""Answers to attention_received: right ones in many styles, and wrong ones."""

import numpy as np

TELLING_CASE = ("two axes in front", 4)


def received_loops(weights):
    if weights.ndim > 2:
        return [received_loops(one) for one in weights]
    return [sum(row[key] for row in weights) for key in range(weights.shape[-1])]


def received_transposed(weights):
    return weights.swapaxes(-1, -2).sum(axis=-1)


RIGHT = (
    received_loops,
    received_transposed,
)


def received_in_whole_numbers(weights):
    received = np.zeros(weights.shape[-1], dtype=int)
    for row in weights:
        received += row
    return received


def received_by_pythons_sum(weights):
    return sum(weights, axis=-2)


def received_only_shown(weights):
    return print(weights.sum(axis=-2))


WRONG = {
    "fractions-lost": (lambda weights: weights.sum(axis=-2).astype(int),),
    None: (lambda weights: weights,),
}

TOLD = (
    (lambda weights: 2 * weights.sum(axis=-2), "must add up to 4; yours adds up to 8.0000"),
    (
        received_in_whole_numbers,
        "an array of whole numbers can't hold fractions, and `+=` or `/=` doesn't change that.",
    ),
    (received_by_pythons_sum, "that is Python's own function. NumPy's knows an axis: np.sum(a, axis=-1)."),
    (received_only_shown, "print only shows something, and returns None."),
)
