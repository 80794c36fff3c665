"""Weights made in other ways than by a softmax over the keys."""

import itertools

import numpy as np

from ...judge.stages import (
    Form,
    softmax,
    weighed_by,
)


def _over(*axes):
    return lambda scores: softmax(scores, axes if len(axes) > 1 else axes[0])


def _no_exponential(scores):
    scores = np.where(np.isneginf(scores), 0, scores)
    return scores / scores.sum(-1, keepdims=True)


def _hard(scores):
    return (scores == scores.max(-1, keepdims=True)).astype(float)


def _softmax(slug, weigh, text, rare=False):
    return Form(slug, "softmax", weighed_by(weigh), text, rare)


SCORE_AXES = ("batch", "heads", "queries", "keys")
KNOWN_AXES = {
    ("heads",): "mha-softmax-over-heads",
    ("queries", "keys"): "softmax-global",
    ("batch", "heads", "queries"): "softmax-over-batch-and-queries",  # all that stands before the keys, flattened
}


def _softmax_slug(axes):
    usual = "softmax-global" if len(axes) > 2 else f"softmax-over-{'-and-'.join(axes)}"
    return KNOWN_AXES.get(axes, usual)


def _axes_of(axes):
    return tuple(SCORE_AXES.index(axis) for axis in axes)


OVER = [axes for size in (1, 2, 3, 4) for axes in itertools.combinations(SCORE_AXES, size) if axes != ("keys",)]


def _divided_afterwards(power, before):
    """Divide the weights; `before` says whether the scores were divided as well."""

    def run(case, given):
        width = given[2].shape[-1]
        scores = given[0] if before else given[0] * width**0.5
        return weighed_by(softmax)(case, (scores, *given[1:]))[0] * width**-power, *given[2:]

    return run


SOFTMAX = [
    *(
        _softmax(_softmax_slug(axes), _over(*_axes_of(axes)), f"softmax over {' and '.join(axes)}", len(axes) > 1)
        for axes in OVER
    ),
    _softmax("softmax-twice", lambda scores: softmax(softmax(scores)), "softmax of the softmax"),
    _softmax("softmax-missing", lambda scores: np.where(np.isneginf(scores), 0, scores), "no softmax"),
    _softmax("softmax-no-exp", _no_exponential, "scores over their sum"),
    _softmax("softmax-sigmoid", lambda scores: 1 / (1 + np.exp(-scores)), "sigmoid"),
    _softmax("softmax-log", lambda scores: np.log(softmax(scores)), "log softmax"),
    _softmax("softmax-hard-max", _hard, "1 for the largest score, 0 for the others", True),
    _softmax(
        "softmax-negated", lambda scores: softmax(np.where(np.isneginf(scores), scores, -scores)), "softmax of −scores"
    ),
    _softmax("softmax-base", lambda scores: softmax(scores * np.log(2)), "2^score over their sum", True),
    _softmax(
        "softmax-not-normalised",
        lambda scores: np.exp(scores - scores.max(-1, keepdims=True)),
        "exp(score − max), not divided",
    ),
    _softmax("softmax-not-normalised", lambda scores: np.exp(scores), "exp(score), not divided", True),
    _softmax("softmax-relu", lambda scores: np.maximum(scores, 0), "relu", True),
    *(
        Form("scale-after-softmax", "softmax", _divided_afterwards(power, before), f"softmax, and then / {text}", rare)
        for power, before, text, rare in (
            (0.5, False, "√d_head", False),
            (1, False, "d_head", True),
            (0.5, True, "√d_head once more", True),
            (1, True, "d_head", True),
        )
    ),
]
