"""Notebook 03's questions that ask for an answer before they run anything."""

import numpy as np

from mha_helpers import attention
from mha_helpers.exercises.prediction import Prediction, written_row

SCORES = np.array([-1.2, -0.4, 0.7])
HIDDEN = 2  # the key that must not be seen


def _zeroed():
    scores = SCORES.copy()
    scores[HIDDEN] = 0
    return f"scores  {written_row(scores)}\nweights {written_row(attention.softmax(scores))}"


predict_zero = Prediction(
    right="c",
    reactions={
        "a": "That would need a power of e that is 0, and e^0 is 1. Among negative scores, 0 is the largest of all.",
        "b": "It would be the least if 0 were a low score. But the two visible ones are negative, and 0 is above both.",
        "c": "e^0 is 1, and the visible scores are negative: the hidden key now gets the most. 0 is a score like any "
        "other; only -inf means nothing.",
    },
    evidence=_zeroed,
)


def _after():
    weights = attention.softmax(SCORES)
    after = np.where(np.arange(3) == HIDDEN, 0, weights)
    before = attention.softmax(np.where(np.arange(3) == HIDDEN, -np.inf, SCORES))
    return (
        f"weights, nothing hidden:  {written_row(weights)}, sum {weights.sum():.4f}\n"
        f"hidden after the softmax:  {written_row(after)}, sum {after.sum():.4f}\n"
        f"hidden before the softmax: {written_row(before)}, sum {before.sum():.4f}"
    )


predict_after = Prediction(
    right="b",
    reactions={
        "a": "Softmax had shared out everything among three keys. What the third was given is taken away, and nobody "
        "gives it to the others.",
        "b": "Softmax had shared out everything among three keys, and the third one's share is now lost. The context "
        "is an average no longer, but a shrunken one.",
        "c": "The order stays, and the ratio of the two visible weights is even right. But their sum is not: what the "
        "third was given is lost.",
    },
    evidence=_after,
)


def _empty():
    with np.errstate(invalid="ignore"):
        return f"softmax([-inf, -inf, -inf]) = {attention.softmax(np.full(3, -np.inf))}"


predict_empty = Prediction(
    right="c",
    reactions={
        "a": "It is what one would wish for. But softmax divides by the row's sum, and it subtracts the row's "
        "maximum: -inf minus -inf is not a number.",
        "b": "Three equal scores share evenly, as long as they are numbers: three times -1e9 would. But -inf minus the "
        "maximum, -inf, is not a number.",
        "c": "The maximum is -inf, and -inf minus -inf is not a number. From then on everything in this row is NaN.",
    },
    evidence=_empty,
)
