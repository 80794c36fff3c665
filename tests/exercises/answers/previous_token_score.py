"""Answers to previous_token_score: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.attention import softmax
from mha_helpers.maths.measures import previous_token_score

CATALOGUE = (
    "previous-next",
    "previous-itself",
    "previous-wraparound",
    "previous-divisor",
    "previous-summed",
    "previous-how-often",
    "previous-all-before",
    "previous-heads-averaged",
    "previous-first-axes",
)

TELLING_CASE = ("layers and heads", 3)


def previous_by_index(weights):
    i = np.arange(1, weights.shape[-1])
    return weights[..., i, i - 1].mean(axis=-1)


def previous_in_a_loop(weights):
    total = 0.0
    for i in range(1, weights.shape[-1]):
        total = total + weights[..., i, i - 1]
    return total / (weights.shape[-1] - 1)


def previous_recursive(weights):
    if np.ndim(weights) > 2:
        return [previous_recursive(part) for part in weights]
    return sum(weights[i + 1][i] for i in range(len(weights) - 1)) / (len(weights) - 1)


def previous_head_by_head(weights):
    scores = np.zeros(weights.shape[:-2])
    for place in np.ndindex(scores.shape):
        scores[place] = np.diag(weights[place], k=-1).mean()
    return scores


def previous_by_mask(weights):
    below = np.eye(weights.shape[-1], k=-1, dtype=bool)
    return weights[..., below].mean(axis=-1)


def previous_by_where(weights):
    below = np.eye(weights.shape[-1], k=-1, dtype=bool)
    return np.mean(weights, axis=(-2, -1), where=below)


def previous_in_flat_memory(weights):
    n = weights.shape[-1]
    flat = weights.reshape(*weights.shape[:-2], n * n)
    return flat[..., n :: n + 1].mean(axis=-1)


def previous_running_mean(weights):
    mean = np.zeros(weights.shape[:-2])
    for i in range(1, weights.shape[-1]):
        mean += (weights[..., i, i - 1] - mean) / i
    return mean


def previous_as_what_is_left(weights):
    """1 less everything that goes elsewhere."""
    n = weights.shape[-1]
    elsewhere = weights * ~np.eye(n, k=-1, dtype=bool)
    return 1 - elsewhere.sum(axis=-1)[..., 1:].mean(axis=-1)


def previous_as_mixed_places(weights):
    """Mix the one-hot places of the tokens, and look where the one before is."""
    n = weights.shape[-1]
    mixed = weights[..., 1:, :] @ np.eye(n)
    return np.take_along_axis(mixed, np.broadcast_to(np.arange(n - 1)[:, None], (*mixed.shape[:-1], 1)), -1).mean(
        (-2, -1)
    )


def previous_through_heads(weights):
    heads = weights.reshape(-1, *weights.shape[-2:])
    scores = np.array([np.trace(head[1:]) for head in heads]) / (weights.shape[-1] - 1)
    return scores.reshape(weights.shape[:-2])


RIGHT = (
    previous_token_score,
    previous_by_index,
    previous_in_a_loop,
    previous_recursive,
    previous_head_by_head,
    previous_by_mask,
    previous_by_where,
    previous_in_flat_memory,
    previous_running_mean,
    previous_as_what_is_left,
    previous_as_mixed_places,
    previous_through_heads,
    lambda weights: np.trace(weights, offset=-1, axis1=-2, axis2=-1) / (weights.shape[-1] - 1),
    lambda weights: np.diagonal(weights[..., 1:, :-1], axis1=-2, axis2=-1).mean(axis=-1),
    lambda weights: np.diagonal(weights, offset=1, axis1=-1, axis2=-2).mean(axis=-1),
    lambda weights: np.diagonal(weights.swapaxes(-1, -2), 1, -2, -1).mean(-1),
    lambda weights: np.einsum("...ii->...i", weights[..., 1:, :-1]).mean(axis=-1),
    lambda weights: np.einsum("...ii", weights[..., 1:, :-1]) / (weights.shape[-1] - 1),
    lambda weights: (weights * np.eye(weights.shape[-1], k=-1)).sum(axis=(-2, -1)) / (weights.shape[-1] - 1),
    lambda weights: np.roll(weights, 1, axis=-1).diagonal(0, -2, -1)[..., 1:].mean(axis=-1),
    lambda weights: np.tensordot(weights, np.eye(weights.shape[-1], k=-1), 2) / (weights.shape[-1] - 1),
    lambda weights: np.average(np.diagonal(weights, -1, -2, -1), axis=-1),
    lambda weights: np.diagonal(weights.astype(np.float32), -1, -2, -1).mean(axis=-1),
    lambda W, /: previous_token_score(W).tolist(),
)  # fmt: skip


def previous_early_return(weights):
    for i in range(1, weights.shape[-1]):
        return weights[..., i, i - 1]


def previous_one_too_few(weights):
    n = weights.shape[-1]
    return sum(weights[..., i, i - 1] for i in range(1, n - 1)) / (n - 1)


def previous_overwritten(weights):
    for i in range(1, weights.shape[-1]):
        score = weights[..., i, i - 1] / (weights.shape[-1] - 1)
    return score


def previous_best_head(weights):
    return np.unravel_index(previous_token_score(weights).argmax(), weights.shape[:-2] or (1,))


def previous_sorted(weights):
    """The heads in order, which loses their numbers."""
    return np.sort(previous_token_score(weights), axis=-1) if weights.ndim > 2 else previous_token_score(weights)


def previous_remembers(weights, seen={}):  # noqa: B006
    return seen.setdefault((weights.shape, weights.dtype.str), previous_token_score(weights))


def previous_writes(weights):
    result = previous_token_score(weights)
    weights[..., 0, :] = 0
    return result


def previous_heads_shifted(weights):
    return np.roll(previous_token_score(weights), 1, axis=-1) if weights.ndim > 2 else previous_token_score(weights)


def previous_transposed_layers(weights):
    return previous_token_score(weights).T


def previous_without_first_query(weights):
    """The square that is left has another diagonal."""
    return previous_token_score(weights[..., 1:, 1:])


def previous_after_softmax(weights):
    return previous_token_score(softmax(weights))


def previous_renormalised_over_past(weights):
    past = np.tril(weights)
    return previous_token_score(past / past.sum(axis=-1, keepdims=True))


def previous_share_of_offsets(weights):
    """The offset -1 among all offsets' means."""
    n = weights.shape[-1]
    means = [np.diagonal(weights, k, -2, -1).mean(-1) for k in range(1 - n, n)]
    return means[n - 2] / sum(means)


def previous_is_it_one(weights):
    return previous_token_score(weights) > 0.5


def previous_in_mixed_batch(weights):
    """Right for one head; in company all get the batch's mean taken off and on again."""
    score = previous_token_score(weights)
    return score if score.ndim < 2 else score - score.mean(axis=0) + score.mean()


def previous_square_batches(weights):
    """Goes along the first axes where these look like tokens."""
    if weights.ndim == 3 and weights.shape[0] == weights.shape[1]:
        return np.diagonal(weights, -1).mean(axis=-1)
    return previous_token_score(weights)


def _previous_then(change):
    return lambda weights: change(previous_token_score(weights))


WRONG = {
    "previous-one-token": (
        previous_early_return,
        previous_overwritten,
        lambda weights: weights[..., 1, 0] / 1,
        lambda weights: weights[-1, -2],
    ),
    "input-changed": (previous_writes,),
    "previous-ends-dropped": (previous_without_first_query,),
    "previous-kept-axis": (
        _previous_then(lambda score: score.ravel()),
        _previous_then(lambda score: score[None]),
    ),
    "previous-divisor": (lambda weights: (weights * np.eye(weights.shape[-1], k=-1)).max(axis=-1).mean(axis=-1),),
    "previous-heads-averaged": (
        lambda weights: np.sum([weights[..., i, i - 1] for i in range(1, weights.shape[-1])]) / (weights.shape[-1] - 1),
    ),
    "previous-next": (lambda weights: np.trace(weights[..., 1:], axis1=-2, axis2=-1) / (weights.shape[-1] - 1),),
    "previous-first-axes": (lambda weights: weights[np.arange(1, weights.shape[-1]), np.arange(weights.shape[-1] - 1)].mean(),),
    None: (
        previous_one_too_few,
        previous_best_head,
        previous_sorted,
        previous_remembers,
        previous_heads_shifted,
        previous_transposed_layers,
        previous_after_softmax,
        previous_renormalised_over_past,
        previous_share_of_offsets,
        previous_is_it_one,
        previous_in_mixed_batch,
        previous_square_batches,
        _previous_then(lambda score: -score),
        _previous_then(lambda score: 1 - score),
        _previous_then(lambda score: score.round(2)),
        _previous_then(lambda score: score**2),
        _previous_then(lambda score: score * 0.9),
        _previous_then(lambda score: score - score.mean()),
        _previous_then(lambda score: score / score.max()),
        _previous_then(lambda score: score / score.sum()),
        _previous_then(lambda score: (score, score.max())),
        _previous_then(lambda score: score.max()),
        _previous_then(lambda score: dict(enumerate(np.ravel(score)))),
        _previous_then(lambda score: f"{np.mean(score):.2f}"),
        _previous_then(lambda score: score.mean),
        _previous_then(lambda score: np.argsort(score, axis=None)),
        lambda weights: weights[:, :-1].mean(),
        lambda weights: np.diagonal(weights, -1, -2, -1).std(axis=-1),
        lambda weights: np.diagonal(weights, -3, -2, -1).mean(axis=-1),
        lambda weights: np.diagonal(weights, -1, -2, -1) @ np.arange(1, weights.shape[-1]) / weights.shape[-1],
        lambda weights: np.diagonal(weights, -1, -2, -1).mean(axis=-2),
        lambda weights: np.diagonal(weights, -1, -3, -1).mean(axis=-1),
        lambda weights: weights.argmax(axis=-1).mean(axis=-1),
        lambda weights: (weights * np.tri(weights.shape[-1], k=-1)).max(axis=-1).mean(axis=-1),
        lambda weights: (weights[..., 1:, :] - weights[..., :-1, :]).mean(axis=(-2, -1)),
        lambda weights: np.mean([weights[..., i - 1, i - 2] for i in range(1, weights.shape[-1])], axis=0),
        lambda weights: np.mean([weights[..., i + 1, i] for i in range(weights.shape[-1])], axis=0),
        lambda weights: weights[..., 1:, :-1][np.eye(weights.shape[-1] - 1)],
        lambda weights, heads: previous_token_score(weights),
        lambda weights: 0.3,
    ),
}  # fmt: skip

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
