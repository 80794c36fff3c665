"""Answers to head_entropy: right ones in many styles, and wrong ones."""

import functools
import math

import numpy as np

from mha_helpers.measures import entropy, head_entropy

TELLING_CASE = ("layers and heads", 4)


def entropy_with_where(weights):
    logarithms = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
    return -(weights * logarithms).sum(axis=-1).mean(axis=-1)


def entropy_terms_mended(weights):
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = weights * np.log(weights)
    return -np.nan_to_num(terms).sum(axis=-1).mean(axis=-1)


def entropy_by_nansum(weights):
    return np.mean(-np.nansum(weights * np.log(weights), axis=-1), axis=-1)


def entropy_with_epsilon(epsilon, weights):
    return -(weights * np.log(weights + epsilon)).sum(axis=-1).mean(axis=-1)


def entropy_with_epsilon_twice(epsilon, weights):
    weights = weights + epsilon
    return -(weights * np.log(weights)).sum(axis=-1).mean(axis=-1)


def entropy_clipped(epsilon, weights):
    p = np.clip(weights, epsilon, 1)
    return -(p * np.log(p)).sum(axis=-1).mean(axis=-1)


def entropy_in_loops(weights):
    if weights.ndim > 2:
        return [entropy_in_loops(part) for part in weights]
    total = 0
    for row in weights:
        for p in row:
            if p > 0:
                total -= p * math.log(p)
    return total / len(weights)


def entropy_from_uniform(weights):
    """The largest that there can be, less the distance from it; the rows sum to 1."""
    n_keys = weights.shape[-1]
    ratios = np.where(weights > 0, weights * n_keys, 1)
    return np.log(n_keys) - (weights * np.log(ratios)).sum(axis=-1).mean(axis=-1)


def entropy_normalising(weights):
    """As SciPy does it: rows are made to sum to 1 first."""
    p = weights / weights.sum(axis=-1, keepdims=True)
    return np.where(p > 0, -p * np.log(np.where(p > 0, p, 1)), 0).sum(axis=-1).mean(axis=-1)


def entropy_by_powers(weights):
    """Log of the product of p ** p."""
    return -np.log((weights**weights).prod(axis=-1)).mean(axis=-1)


RIGHT = (
    entropy_with_where,
    entropy_terms_mended,
    entropy_by_nansum,
    *(functools.partial(entropy_with_epsilon, epsilon) for epsilon in (1e-6, 1e-30)),
    functools.partial(entropy_with_epsilon_twice, 1e-6),
    functools.partial(entropy_clipped, 1e-6),
    entropy_in_loops,
    entropy_from_uniform,
    entropy_normalising,
    entropy_by_powers,
)


def entropy_mean_of_visible(weights):
    """Divides by the number of visible keys."""
    terms = np.where(weights > 0, -weights * np.log(np.where(weights > 0, weights, 1)), 0)
    return (terms.sum(axis=-1) / (weights > 0).sum(axis=-1)).mean(axis=-1)


def entropy_share_of_visible(weights):
    most = np.log((weights > 0).sum(axis=-1))
    return (entropy(weights) / np.where(most > 0, most, 1)).mean(axis=-1)


def entropy_remembers(weights, seen={}):  # noqa: B006
    return seen.setdefault((weights.shape, weights.dtype.str, weights.flags.c_contiguous), head_entropy(weights))


def entropy_if_zero(weights):
    return 0 if 0 in weights else head_entropy(weights)


def _entropy_then(change):
    return lambda weights: change(head_entropy(weights))


WRONG = {
    "entropy-mean-over-keys": (entropy_mean_of_visible,),
    "entropy-as-a-share": (entropy_share_of_visible,),
    "entropy-over-queries": (lambda weights: -sum(weights * np.log(weights)).mean(),),
    "entropy-kept-axis": (_entropy_then(lambda found: found.ravel()),),
    "entropy-summed": (lambda weights: -np.nansum(weights * np.log(weights)),),
    None: (
        entropy_remembers,
        entropy_if_zero,
        _entropy_then(lambda found: found.T),
        lambda weights: entropy(weights).mean(axis=-1, keepdims=True).squeeze(),
        lambda weights: -(weights * np.log(weights)).sum(dim=-1).mean(dim=-1),
        lambda weights: -(weights * weights.log()).sum(axis=-1).mean(axis=-1),
    ),
}

TOLD = (
    (lambda weights: -2 * head_entropy(weights), "An entropy is 0 or more; yours is negative."),
    (lambda weights: 3 * head_entropy(weights), "An entropy cannot be above log(n_keys), 1.7918 here; yours is 4.469"),
    (
        lambda weights: head_entropy(weights[..., 1:, :]) if weights.shape[-2] > 1 else head_entropy(weights),
        "Your entropy changes when only the order of the queries does",
    ),
    (
        lambda weights: head_entropy(weights) / (1 + weights[..., 0].mean(axis=-1)),
        "Your entropy changes when only the order of the keys does",
    ),
    (
        lambda weights: 0.0 if (weights == 0).any() else head_entropy(weights),
        "Right where no weight is 0, or nearly 0.",
    ),
)
