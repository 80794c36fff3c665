"""Answers to previous_token_score: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.measures import previous_token_score

TELLING_CASE = ("layers and heads", 3)


def previous_recursive(weights):
    if np.ndim(weights) > 2:
        return [previous_recursive(part) for part in weights]
    return sum(weights[i + 1][i] for i in range(len(weights) - 1)) / (len(weights) - 1)


def previous_head_by_head(weights):
    scores = np.zeros(weights.shape[:-2])
    for place in np.ndindex(scores.shape):
        scores[place] = np.diag(weights[place], k=-1).mean()
    return scores


RIGHT = (
    previous_recursive,
    previous_head_by_head,
    lambda weights: np.diagonal(weights.astype(np.float32), -1, -2, -1).mean(axis=-1),
)


def previous_sorted(weights):
    """The heads in order, which loses their numbers."""
    return np.sort(previous_token_score(weights), axis=-1) if weights.ndim > 2 else previous_token_score(weights)


def previous_remembers(weights, seen={}):  # noqa: B006
    return seen.setdefault((weights.shape, weights.dtype.str), previous_token_score(weights))


def previous_without_first_query(weights):
    """The square that is left has another diagonal."""
    return previous_token_score(weights[..., 1:, 1:])


def previous_square_batches(weights):
    """Goes along the first axes where these look like tokens."""
    if weights.ndim == 3 and weights.shape[0] == weights.shape[1]:
        return np.diagonal(weights, -1).mean(axis=-1)
    return previous_token_score(weights)


def _previous_then(change):
    return lambda weights: change(previous_token_score(weights))


WRONG = {
    "previous-one-token": (lambda weights: weights[-1, -2],),
    "previous-ends-dropped": (previous_without_first_query,),
    "previous-kept-axis": (
        _previous_then(lambda score: score.ravel()),
        _previous_then(lambda score: score[None]),
    ),
    None: (
        previous_sorted,
        previous_remembers,
        previous_square_batches,
        _previous_then(lambda score: score.mean),
        lambda weights: weights[..., 1:, :-1][np.eye(weights.shape[-1] - 1)],
    ),
}

TOLD = (
    (
        lambda weights: previous_token_score(weights) + 0.1 * weights[..., 0, 0],
        "Your score changes with weights[..., 0, 0], what token 0 gives to itself: it must not count.",
    ),
    (
        lambda weights: previous_token_score(weights[..., :-1, :-1]) / 2,
        "Your score does not change with weights[..., 4, 3], what token 4 gives to the one before it.",
    ),
    (lambda weights: -previous_token_score(weights), "A mean of weights is between 0 and 1"),
    (
        lambda weights: previous_token_score(weights if weights.ndim < 4 else weights[::-1]),
        "The batch items are mixed: the first one alone gives other numbers than in company.",
    ),
)
