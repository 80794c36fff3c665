"""Weights made in other ways than by a softmax over the keys."""

import itertools

import numpy as np

from attention_doctor.equation.stages import softmax, weighed_by
from attention_doctor.forms.common import maker

_softmax = maker("softmax", weighed_by)
_after = maker("softmax")
SCORE_AXES = ("batch", "heads", "queries", "keys")
KNOWN_AXES = {
    ("heads",): "mha-softmax-over-heads",
    ("queries", "keys"): "softmax-global",
    ("batch", "heads", "queries"): "softmax-over-batch-and-queries",  # all that stands before the keys, flattened
}
OVER = [axes for size in (1, 2, 3, 4) for axes in itertools.combinations(SCORE_AXES, size) if axes != ("keys",)]


def _slug(axes):
    usual = "softmax-global" if len(axes) > 2 else f"softmax-over-{'-and-'.join(axes)}"
    return KNOWN_AXES.get(axes, usual)


def _over(axes):
    return lambda scores: softmax(scores, tuple(SCORE_AXES.index(axis) for axis in axes))


def _visible(scores):
    return np.where(np.isneginf(scores), 0, scores)


def _no_exponential(scores):
    return _visible(scores) / _visible(scores).sum(-1, keepdims=True)


def _negated(scores):
    return softmax(np.where(np.isneginf(scores), scores, -scores))


def _divided_afterwards(power, before=False, by_d_model=False):
    """Divide the weights; `before` says whether the scores were divided as well."""

    def run(case, inputs):
        d_head = inputs[2].shape[-1]
        scores = inputs[0] if before else inputs[0] * d_head**0.5
        width = case.d_model if by_d_model else d_head
        return weighed_by(softmax)(case, (scores, *inputs[1:]))[0] * width**-power, *inputs[2:]

    return run


SOFTMAX = [
    *(_softmax(_slug(axes), _over(axes), f"softmax over {' and '.join(axes)}", len(axes) > 1) for axes in OVER),
    _softmax("softmax-twice", lambda scores: softmax(softmax(scores)), "softmax of the softmax"),
    _softmax("softmax-missing", _visible, "no softmax"),
    _softmax("softmax-no-exp", _no_exponential, "scores over their sum"),
    _softmax("softmax-sigmoid", lambda scores: 1 / (1 + np.exp(-scores)), "sigmoid"),
    _softmax("softmax-log", lambda scores: np.log(softmax(scores)), "log softmax"),
    _softmax(
        "softmax-hard-max",
        lambda scores: (scores == scores.max(-1, keepdims=True)).astype(float),
        "1 for the largest score, 0 for the others",
        True,
    ),
    _softmax("softmax-negated", _negated, "softmax of −scores"),
    _softmax("softmax-base", lambda scores: softmax(scores * np.log(2)), "2^score over their sum", True),
    _softmax(
        "softmax-not-normalised",
        lambda scores: np.exp(scores - scores.max(-1, keepdims=True)),
        "exp(score − max), not divided",
    ),
    _softmax("softmax-not-normalised", np.exp, "exp(score), not divided", True),
    _softmax("softmax-relu", lambda scores: np.maximum(scores, 0), "relu", True),
    _after("scale-after-softmax", _divided_afterwards(0.5), "softmax, and then / √d_head"),
    _after("scale-after-softmax", _divided_afterwards(1), "softmax, and then / d_head", True),
    _after("scale-after-softmax", _divided_afterwards(0.5, True), "softmax, and then / √d_head once more", True),
    _after("scale-after-softmax", _divided_afterwards(1, True), "softmax, and then / d_head", True),
    _after("scale-after-softmax", _divided_afterwards(0.5, by_d_model=True), "softmax, and then / √d_model", True),
]
