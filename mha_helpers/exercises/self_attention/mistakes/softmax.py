"""The mistakes that people make in `softmax`."""

import math

import numpy as np

from mha_helpers.attention import softmax
from mha_helpers.exercises.mistakes.catalogue import also
from mha_helpers.exercises.mistakes.steps import exp_shares, normalised


def _shifted(scores, axis=-1, keepdims=True):
    return scores - scores.max(axis=axis, keepdims=keepdims)


def _powers(scores, axis=-1, keepdims=True):
    return np.exp(_shifted(scores, axis, keepdims))


def _loop_without_max(scores):
    """The overflow as Python's own `math.exp` meets it."""
    if scores.ndim > 1:
        return np.array([_loop_without_max(row) for row in scores])
    exponentials = [math.exp(score) for score in scores.tolist()]
    return np.array([e / sum(exponentials) for e in exponentials])


@also(lambda scores: normalised(_powers(scores), -2), lambda scores: exp_shares(scores, 0))
def softmax_over_queries(scores):
    """Your columns sum to 1, not your rows. Each query shares out its own attention, so every row must sum to 1: sum
    over the keys, axis=-1."""
    return exp_shares(scores, -2)


@also(
    lambda scores: normalised(_powers(scores), 1),
    *(
        lambda scores, axis=axis: normalised(_powers(scores, axis), min(1, scores.ndim - 1))  # a row by itself
        for axis in (-1, None)
    ),
)
def softmax_axis_1(scores):
    """axis=1 is the last axis of a matrix only. A single row has no such axis, and in a batch it is that of the
    queries. (A loop over rows goes wrong there, too: it takes out whole matrices.) Count from the end: axis=-1."""
    return exp_shares(scores, 1)


@also(lambda scores: normalised(_powers(scores), None))
def softmax_global(scores):
    """You divide by one sum over the whole array, or over a whole matrix. Each row needs a sum of its own: axis=-1,
    keepdims=True."""
    return normalised(np.exp(scores - scores.max()), None)


@also(
    lambda scores: normalised(scores - scores.max(axis=-1, keepdims=True)),
    lambda scores: normalised(scores - scores.min(axis=-1, keepdims=True)),
    lambda scores: normalised(np.abs(scores)),
    lambda scores: scores / scores.sum(),
)
def softmax_no_exp(scores):
    """You divide the scores by their sum and leave out exp. Scores may be negative, and then such weights are too; exp
    makes every one of them positive first."""
    return normalised(scores)


@also(
    lambda scores: np.exp(scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))),
    lambda scores: np.exp(scores) / (np.exp(scores).sum(axis=-1, keepdims=True) + 1e-9),
    lambda scores: np.nan_to_num(normalised(np.exp(scores))),
    lambda scores: normalised(np.vectorize(math.exp)(scores)),
    _loop_without_max,
)
def softmax_no_max(scores):
    """Right for small scores, but exp(1000) is too large for any float, and exp(-1000) rounds to 0. Take a number
    away from all the scores of a row first, chosen for each row so that its largest power is exp(0) = 1. The weights
    stay the same."""
    return normalised(np.exp(scores))


@also(*(lambda scores, limit=limit: normalised(np.exp(np.minimum(scores, limit))) for limit in (700, 500, 80)))
@also(limit=(500, 80, 50))
def softmax_clipped(scores, limit=700):
    """You cut scores off at a limit, so that exp can't overflow. But beyond it all scores become equal, and so do their
    weights. Do without the limit, and take a number away from all the scores of a row, chosen for each row so that its
    largest power is exp(0) = 1. The weights stay the same."""
    return normalised(np.exp(np.clip(scores, -limit, limit)))


@also(
    lambda scores: normalised(np.exp(scores - np.median(scores, axis=-1, keepdims=True))),
    lambda scores: normalised(np.exp(scores - scores.min(axis=-1, keepdims=True))),
    lambda scores: normalised(np.exp(scores - scores.mean())),
)
def softmax_other_shift(scores):
    """Right for ordinary scores. But what you subtract isn't the row's largest score (it may be the mean), and a score
    far above it still overflows. Subtract each row's largest: scores.max(axis=-1, keepdims=True)."""
    return normalised(np.exp(scores - scores.mean(axis=-1, keepdims=True)))


@also(lambda scores: normalised(_powers(scores, (-2, -1))) if scores.ndim > 1 else softmax(scores))
def softmax_global_max(scores):
    """You subtract the largest score of the whole array. In a row far below it, every exp rounds to 0, and 0/0 is NaN.
    Subtract each row's own maximum: axis=-1, keepdims=True."""
    return normalised(np.exp(scores - scores.max()))


def softmax_max_axis(scores):
    """The maximum that you subtract is taken along another axis than the sum, so it differs within a row and no longer
    cancels. Use the same axis, axis=-1, for both."""
    return normalised(_powers(scores, -2))


@also(lambda scores: np.exp(scores) / _powers(scores).sum(axis=-1, keepdims=True))
def softmax_two_exponentials(scores):
    """The exponentials above and below the fraction line differ: the maximum is subtracted in one of them only.
    Subtract it once, and use the same exponentials for both."""
    return _powers(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


@also(lambda scores: normalised(scores == scores.max(axis=-1, keepdims=True)))
def softmax_hard_max(scores):
    """You give all the weight to the largest score. Softmax is soft: the others keep some, exp(score) / sum."""
    return np.eye(scores.shape[-1])[scores.argmax(axis=-1)]


@also(
    lambda scores: _powers(scores) / _powers(scores).sum(axis=-1),
    lambda scores: normalised(_powers(scores, keepdims=False)),
    lambda scores: _powers(scores, keepdims=False) / _powers(scores, keepdims=False).sum(axis=-1),
)
def softmax_keepdims(scores):
    """A sum or a maximum over the last axis loses that axis, and NumPy then lines it up with the wrong one.
    keepdims=True keeps it, with length 1, so that each row meets its own number."""
    return np.exp(scores) / np.exp(scores).sum(axis=-1)


@also(_powers, lambda scores: np.exp(scores - scores.max()))
def softmax_not_normalised(scores):
    """The exponentials are there, but they are not divided by their row's sum, so they do not sum to 1."""
    return np.exp(scores)


@also(
    lambda scores: np.exp(scores / scores.sum()),
    lambda scores: np.exp(scores / np.exp(scores).sum(axis=-1, keepdims=True)),
    lambda scores: np.exp(scores / np.exp(scores).sum()),
    lambda scores: np.exp(_shifted(scores) / np.exp(_shifted(scores)).sum(axis=-1, keepdims=True)),
)
def softmax_divided_inside(scores):
    """A bracket closes in the wrong place: you divide the scores, inside exp. Take exp first, and divide its results by
    their row's sum: exponentials = np.exp(scores), then exponentials / exponentials.sum(axis=-1, keepdims=True)."""
    return np.exp(scores / scores.sum(axis=-1, keepdims=True))


def softmax_sum_of_scores(scores):
    """You divide the exponentials by the sum of the scores. Divide them by their own: exponentials = np.exp(scores),
    then exponentials / exponentials.sum(axis=-1, keepdims=True)."""
    return np.exp(scores) / scores.sum(axis=-1, keepdims=True)


def _turned_twice(scores, exponentials):
    return (exponentials.T / exponentials.sum(axis=0)).T


@also(lambda scores: _turned_twice(scores, _powers(scores)), lambda scores: _turned_twice(scores, _powers(scores, 0)))
def softmax_turned(scores):
    """You turn the exponentials with .T, and divide by the sums of their columns, where those of the rows belong. Do
    without both .T, which in a batch turn round all axes: exponentials / exponentials.sum(axis=-1, keepdims=True)."""
    return _turned_twice(scores, np.exp(scores))


@also(lambda scores: (_powers(scores).T / _powers(scores).sum(axis=-1)).T)
def softmax_turned_in_a_batch(scores):
    """Right for a matrix, whose rows become columns by .T, beside their sums. In a batch .T turns round all axes. Do
    without both .T: exponentials / exponentials.sum(axis=-1, keepdims=True)."""
    return (np.exp(scores).T / np.exp(scores).sum(axis=-1)).T


def softmax_each_by_itself(scores):
    """All your weights are 1: you divide each exponential by itself. Divide it by the sum of its row:
    exponentials.sum(axis=-1, keepdims=True)."""
    return np.ones_like(scores, float)


def softmax_log(scores):
    """These are the logarithms of the weights (log-softmax). Take exp of them."""
    return np.log(softmax(scores))


@also(lambda scores: normalised(1 / (1 + np.exp(-scores))))
def softmax_sigmoid(scores):
    """You squash each score on its own (a sigmoid). Weights compete: divide exp(score) by its row's sum."""
    return 1 / (1 + np.exp(-scores))


@also(base=(10.0,))
def softmax_base(scores, base=2.0):
    """You raise 2 or 10 to the scores. Softmax raises e = 2.718...: np.exp(scores)."""
    return normalised(base**scores)


def softmax_negated(scores):
    """The smallest score gets the largest weight: there is a minus sign too many before exp."""
    return softmax(-scores)


def softmax_twice(scores):
    """That is the softmax of the softmax. Apply it once."""
    return softmax(softmax(scores))
