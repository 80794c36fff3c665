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
        "a": "For that, e^0 would have to be 0, but it is 1. Next to negative scores, 0 is even the largest.",
        "b": "It would be, if 0 were a low score. But both visible scores are negative, so 0 is the highest.",
        "c": "e^0 is 1, and the visible scores are negative: the hidden key now gets the most. 0 is a score like any "
        "other.",
    },
    evidence=_zeroed,
)


def _hidden_after_softmax():
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
        "a": "Softmax had shared out everything among three keys. The third one's share is then taken away, and not "
        "handed to the others.",
        "b": "Softmax had shared out everything among three keys, and the third one's share is lost. The context is "
        "now a shrunken average.",
        "c": "The ratio of the two visible weights is right, but their sum isn't: the third key's share is lost.",
    },
    explanation="You could divide the row by what is left, and most of the time that gives the right weights. But if "
    "the hidden score is very high, it takes everything, and then nothing is left to divide by. So it's better not to "
    "give the share away in the first place.",
    evidence=_hidden_after_softmax,
)


def _empty():
    with np.errstate(invalid="ignore"):
        return f"softmax([-inf, -inf, -inf]) = {attention.softmax(np.full(3, -np.inf))}"


predict_empty = Prediction(
    right="a",
    reactions={
        "a": "Every e^score is 0, and so is their sum, so softmax divides 0 by 0, which is not a number. (If it "
        "subtracts the row's maximum first, it fails one step earlier, at -inf minus -inf.)",
        "b": "That's what you'd wish for, and each e^score is 0. But softmax divides by their sum, which is 0 as well, "
        "and 0 divided by 0 isn't a number.",
        "c": "Equal scores do get equal shares, as long as they are numbers: three scores of -1e9 would. But here "
        "every e^score is 0, and 0 divided by their sum, 0, is not a number.",
    },
    explanation="NaN, “not a number”, is honest, since there really is no average of nothing. But it spreads: whatever "
    "you add to it or multiply by it becomes NaN as well, even 0 × NaN. Leaving that row out of the loss doesn't help, "
    "as it only multiplies its NaN by 0. A single row like it is enough to ruin a whole model in one step.",
    evidence=_empty,
)
