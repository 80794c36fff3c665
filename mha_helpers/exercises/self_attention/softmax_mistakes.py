"""The mistakes that people make in `softmax`."""

import math

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.steps import normalised
from mha_helpers.maths.attention import softmax


def _exp_from_max(scores, axis=-1, keepdims=True):
    return np.exp(scores - scores.max(axis=axis, keepdims=keepdims))


def _loop_without_max(scores):
    """The overflow as Python's own `math.exp` meets it."""
    if scores.ndim > 1:
        return np.array([_loop_without_max(row) for row in scores])
    exponentials = [math.exp(score) for score in scores.tolist()]
    return np.array([e / sum(exponentials) for e in exponentials])


SOFTMAX_MISTAKES = (
    Mistake(
        "softmax-over-queries",
        "Your columns sum to 1, not your rows. Each query shares out its own attention, so every row must sum to 1: "
        "sum over the keys, axis=-1.",
        (
            lambda scores: normalised(_exp_from_max(scores, -2), -2),
            lambda scores: normalised(_exp_from_max(scores), -2),
            lambda scores: normalised(_exp_from_max(scores, 0), 0),
            lambda scores: normalised(_exp_from_max(scores), 0),
        ),
    ),
    Mistake(
        "softmax-axis-1",
        "In a batch your softmax runs along the queries. axis=1 is the last axis of a matrix only, and a loop over "
        "rows takes out whole matrices there. Count from the end: axis=-1.",
        (
            lambda scores: normalised(_exp_from_max(scores, 1), 1),
            lambda scores: normalised(_exp_from_max(scores), 1),
        ),
    ),
    Mistake(
        "softmax-global",
        "You divide by one sum over the whole array, or over a whole matrix. Each row needs a sum of its own: "
        "axis=-1, keepdims=True.",
        (
            lambda scores: normalised(np.exp(scores - scores.max()), None),
            lambda scores: normalised(_exp_from_max(scores), None),
            lambda scores: normalised(_exp_from_max(scores), (-2, -1)),
            lambda scores: normalised(_exp_from_max(scores, (-2, -1)), (-2, -1)),
        ),
    ),
    Mistake(
        "softmax-no-exp",
        "You divide the scores by their sum and leave out exp. Scores may be negative, and then such weights are too; "
        "exp makes every one of them positive first.",
        (
            lambda scores: normalised(scores, -1),
            lambda scores: normalised(scores - scores.max(axis=-1, keepdims=True), -1),
            lambda scores: normalised(scores - scores.min(axis=-1, keepdims=True), -1),
            lambda scores: normalised(np.abs(scores), -1),
            lambda scores: scores / scores.sum(),
        ),
    ),
    Mistake(
        "softmax-no-max",
        "Right for small scores, but exp(1000) is too large for any float, and exp(-1000) rounds to 0. Subtract each "
        "row's largest score before exp: the weights stay the same, and the largest power is exp(0) = 1.",
        (
            lambda scores: normalised(np.exp(scores), -1),
            lambda scores: np.exp(scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))),
            lambda scores: np.exp(scores) / (np.exp(scores).sum(axis=-1, keepdims=True) + 1e-9),
            lambda scores: np.nan_to_num(normalised(np.exp(scores), -1)),
            lambda scores: normalised(np.exp(np.clip(scores, -700, 700)), -1),
            lambda scores: normalised(np.exp(np.minimum(scores, 700)), -1),
            lambda scores: normalised(np.vectorize(math.exp)(scores), -1),
            _loop_without_max,
        ),
    ),
    Mistake(
        "softmax-global-max",
        "You subtract the largest score of the whole array. In a row far below it, every exp rounds to 0, and 0/0 is "
        "NaN. Subtract each row's own maximum: axis=-1, keepdims=True.",
        (
            lambda scores: normalised(np.exp(scores - scores.max()), -1),
            lambda scores: normalised(_exp_from_max(scores, (-2, -1)), -1) if scores.ndim > 1 else softmax(scores),
        ),
    ),
    Mistake(
        "softmax-max-axis",
        "The maximum that you subtract is taken along another axis than the sum, so it differs within a row and no "
        "longer cancels. Use the same axis, axis=-1, for both.",
        (
            lambda scores: normalised(_exp_from_max(scores, -2), -1),
            lambda scores: normalised(_exp_from_max(scores, 0), -1),
        ),
    ),
    Mistake(
        "softmax-two-exponentials",
        "The exponentials above and below the fraction line differ: the maximum is subtracted in one of them only. "
        "Subtract it once, and use the same exponentials for both.",
        (
            lambda scores: _exp_from_max(scores) / np.exp(scores).sum(axis=-1, keepdims=True),
            lambda scores: np.exp(scores) / _exp_from_max(scores).sum(axis=-1, keepdims=True),
        ),
    ),
    Mistake(
        "softmax-hard-max",
        "You give all the weight to the largest score. Softmax is soft: the others keep some, exp(score) / sum.",
        (
            lambda scores: np.eye(scores.shape[-1])[scores.argmax(axis=-1)],
            lambda scores: normalised(scores == scores.max(axis=-1, keepdims=True), -1),
        ),
    ),
    Mistake(
        "softmax-keepdims",
        "A sum or a maximum over the last axis loses that axis, and NumPy then lines it up with the wrong one. "
        "keepdims=True keeps it, with length 1, so that each row meets its own number.",
        (
            lambda scores: np.exp(scores) / np.exp(scores).sum(axis=-1),
            lambda scores: _exp_from_max(scores) / _exp_from_max(scores).sum(axis=-1),
            lambda scores: normalised(_exp_from_max(scores, keepdims=False), -1),
            lambda scores: _exp_from_max(scores, keepdims=False) / _exp_from_max(scores, keepdims=False).sum(axis=-1),
        ),
    ),
    Mistake(
        "softmax-not-normalised",
        "The exponentials are there, but they are not divided by their row's sum, so they do not sum to 1.",
        (np.exp, _exp_from_max, lambda scores: np.exp(scores - scores.max())),
    ),
    Mistake(
        "softmax-log",
        "These are the logarithms of the weights (log-softmax). Take exp of them.",
        (lambda scores: np.log(softmax(scores)),),
    ),
    Mistake(
        "softmax-sigmoid",
        "You squash each score on its own (a sigmoid). Weights compete: divide exp(score) by its row's sum.",
        (lambda scores: 1 / (1 + np.exp(-scores)), lambda scores: normalised(1 / (1 + np.exp(-scores)), -1)),
    ),
    Mistake(
        "softmax-base",
        "You raise 2 or 10 to the scores. Softmax raises e = 2.718...: np.exp(scores).",
        (lambda scores: normalised(2.0**scores, -1), lambda scores: normalised(10.0**scores, -1)),
    ),
    Mistake(
        "softmax-negated",
        "The smallest score gets the largest weight: there is a minus sign too many before exp.",
        (lambda scores: softmax(-scores),),
    ),
    Mistake(
        "softmax-twice",
        "That is the softmax of the softmax. Apply it once.",
        (lambda scores: softmax(softmax(scores)),),
    ),
)
