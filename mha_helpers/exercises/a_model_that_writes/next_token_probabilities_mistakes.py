"""The mistakes that people make in `next_token_probabilities`."""

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.maths.attention import softmax


def _highest(logits, top_k):
    """Return where the k highest of each row are; all of them without a k."""
    if top_k is None:
        return np.ones_like(logits, bool)
    n_kept = min(top_k, logits.shape[-1])
    return logits >= np.sort(logits, axis=-1)[..., [-n_kept]]


def _hidden(logits, kept):
    return softmax(np.where(kept, logits, -np.inf))


def _tempered(change):
    """Return probabilities with another use of the temperature."""
    return lambda logits, *, temperature=1.0, top_k=None: _hidden(change(logits, temperature), _highest(logits, top_k))


def _kept(choose):
    """Return probabilities that keep another set: choose(logits, k), asked only where there is a k."""

    def wrong_probabilities(logits, *, temperature=1.0, top_k=None):
        logits = logits / temperature
        return softmax(logits) if top_k is None else _hidden(logits, choose(logits, top_k))

    return wrong_probabilities


def _with_k(finish):
    """Return probabilities that use a right choice wrongly: finish(logits, kept)."""

    def wrong_probabilities(logits, *, temperature=1.0, top_k=None):
        logits = logits / temperature
        return softmax(logits) if top_k is None else finish(logits, _highest(logits, top_k))

    return wrong_probabilities


def _divided_after(logits, *, temperature=1.0, top_k=None):
    return _hidden(logits, _highest(logits, top_k)) / temperature


def _divided_and_cut(logits, *, temperature=1.0, top_k=None):
    return np.where(_highest(logits, top_k), softmax(logits) / temperature, 0)


def _divided_and_shared_out(logits, *, temperature=1.0, top_k=None):
    probabilities = _divided_and_cut(logits, temperature=temperature, top_k=top_k)
    return probabilities if top_k is None else _divided_by_sums(probabilities)


def _top_k_or_temperature(logits, *, temperature=1.0, top_k=None):
    return softmax(logits / temperature) if top_k is None else _hidden(logits, _highest(logits, top_k))


def _without_maximum(logits, *, temperature=1.0, top_k=None):
    exponentials = np.where(_highest(logits, top_k), np.exp(logits / temperature), 0)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _over_everything(logits, *, temperature=1.0, top_k=None):
    exponentials = np.where(_highest(logits, top_k), np.exp((logits - logits.max()) / temperature), 0)
    return exponentials / exponentials.sum()


def _sorted(logits, *, temperature=1.0, top_k=None):
    probabilities = _hidden(logits / temperature, _highest(logits, top_k))
    return np.sort(probabilities, axis=-1)[..., ::-1]


def _only_the_kept(logits, *, temperature=1.0, top_k=None):
    n_kept = logits.shape[-1] if top_k is None else min(top_k, logits.shape[-1])
    return softmax(np.sort(logits / temperature, axis=-1)[..., ::-1][..., :n_kept])


def _only_the_kept_upwards(logits, *, temperature=1.0, top_k=None):
    """p[np.argsort(p)[-top_k:]], shared out anew."""
    if top_k is None:
        return softmax(logits / temperature)
    return softmax(np.sort(logits / temperature, axis=-1)[..., -top_k:])


def _divided_by_sums(array):
    return array / array.sum(axis=-1, keepdims=True)


def _softmax_first(logits, *, temperature=1.0, top_k=None):
    """The probabilities are tempered and chosen from as if they were logits."""
    return _hidden(softmax(logits) / temperature, _highest(logits, top_k))


def _choose_strictly(logits, top_k):
    return logits > np.sort(logits, axis=-1)[..., [-min(top_k, logits.shape[-1])]]


def _cut_afterwards(logits, *, temperature=1.0, top_k=None):
    probabilities = softmax(logits / temperature)
    if top_k is None:
        return probabilities
    return np.where(probabilities >= np.sort(probabilities, axis=-1)[..., [-top_k]], probabilities, 0)


def _unguarded(wrong):
    """The same without min(top_k, n): it stops where top_k is more than there are."""

    def wrong_probabilities(logits, *, temperature=1.0, top_k=None):
        if top_k is not None and top_k > logits.shape[-1]:
            raise IndexError(f"index {-top_k} is out of bounds")
        return wrong(logits, temperature=temperature, top_k=top_k)

    return wrong_probabilities


def _either_way(*implementations):
    """Return wrong answers as they are, and as most learners write them first."""
    return (*implementations, *map(_unguarded, implementations))


PROBABILITY_MISTAKES = (
    Mistake(
        "temperature-ignored",
        "The temperature changes nothing. Divide the logits by it, before the softmax. (Probabilities that are divided "
        "by it, and then by their sum, are what they were.)",
        (
            *_either_way(_tempered(lambda logits, temperature: logits)),
            lambda logits, *, temperature=1.0, top_k=None: softmax(logits),
        ),
    ),
    Mistake(
        "temperature-multiplies",
        "You multiply by the temperature. A high temperature makes all more alike, so the logits must shrink: divide.",
        (
            *_either_way(_tempered(lambda logits, temperature: logits * temperature)),
            lambda logits, *, temperature=1.0, top_k=None: softmax(logits * temperature),
        ),
    ),
    Mistake(
        "temperature-after-softmax",
        "You divide the probabilities. They then sum to 1 / temperature, and their ratios are as before. Divide the "
        "logits.",
        (
            *_either_way(_divided_after, _divided_and_cut, _divided_and_shared_out),
            lambda logits, *, temperature=1.0, top_k=None: softmax(logits) / temperature,
        ),
    ),
    Mistake(
        "temperature-squared",
        "The temperature is in it twice. Divide the logits by it once.",
        _either_way(_tempered(lambda logits, temperature: logits / temperature**2)),
    ),
    Mistake(
        "temperature-root",
        "You divide by the root of the temperature, as attention divides by the root of d_head. Here it is the "
        "temperature itself.",
        _either_way(_tempered(lambda logits, temperature: logits / temperature**0.5)),
    ),
    Mistake(
        "temperature-without-top-k",
        "Either is right alone, but where both are given the temperature is forgotten: divide first, then choose.",
        _either_way(_top_k_or_temperature),
    ),
    Mistake(
        "top-k-ignored",
        "top_k is not used: the unlikely ones keep their probability.",
        (_kept(lambda logits, top_k: np.ones_like(logits, bool)),),
    ),
    Mistake(
        "top-k-not-shared-out",
        "You set the others to 0 after the softmax has shared everything out, so that the rest no longer sums to 1. "
        "Make their logits -inf before it.",
        (_with_k(lambda logits, kept: np.where(kept, softmax(logits), 0)), _cut_afterwards),
    ),
    Mistake(
        "top-k-after-softmax-infinite",
        "You put -inf among the probabilities, after the softmax. It belongs among the logits, before it: e^-inf is 0, "
        "and the others still sum to 1.",
        _either_way(
            *(
                _with_k(lambda logits, kept, low=low: np.where(kept, softmax(logits), low))
                for low in (-np.inf, -1e9, -1e10)
            ),
            _with_k(lambda logits, kept: _divided_by_sums(np.where(kept, softmax(logits), -np.inf))),
        ),
    ),
    Mistake(
        "softmax-twice",
        "You take the softmax twice. The first turns logits into probabilities, and the second takes those for logits: "
        "as they all lie between 0 and 1, they come out nearly even. Divide the logits by the temperature, hide those "
        "that don't count, and take the softmax once, last of all.",
        _either_way(
            _softmax_first,
            lambda logits, *, temperature=1.0, top_k=None: _hidden(
                softmax(logits / temperature), _highest(logits, top_k)
            ),
            _with_k(lambda logits, kept: softmax(np.where(kept, softmax(logits), -np.inf))),
            _with_k(lambda logits, kept: softmax(np.where(kept, softmax(logits), 0))),
            _with_k(lambda logits, kept: softmax(_hidden(logits, kept))),
            lambda logits, *, temperature=1.0, top_k=None: softmax(
                _hidden(logits / temperature, _highest(logits, top_k))
            ),
            lambda logits, *, temperature=1.0, top_k=None: softmax(softmax(logits) / temperature),
            lambda logits, *, temperature=1.0, top_k=None: softmax(softmax(logits / temperature)),
            lambda logits, *, temperature=1.0, top_k=None: softmax(
                _hidden(logits, _highest(logits, top_k)) / temperature
            ),
        ),
    ),
    Mistake(
        "top-k-logit-zero",
        "You set the others' logits to 0. But e^0 is 1: they stay possible, and may even become likelier. A logit that "
        "must not count is -inf.",
        _either_way(
            _with_k(lambda logits, kept: softmax(np.where(kept, logits, 0))),
            _with_k(lambda logits, kept: softmax(logits * kept)),
        ),
    ),
    Mistake(
        "top-k-lowest",
        "You keep the k lowest. np.sort goes upwards: the highest stand at its end.",
        _either_way(
            _kept(lambda logits, k: logits <= np.sort(logits, axis=-1)[..., [min(k, logits.shape[-1]) - 1]]),
            _kept(lambda logits, k: logits >= np.sort(logits, axis=-1)[..., [min(k, logits.shape[-1]) - 1]]),
        ),
    ),
    Mistake(
        "top-k-one-short",
        "Only top_k - 1 are left: keep the k-th highest itself, too (>=, not >).",
        _either_way(_kept(_choose_strictly)),
    ),
    Mistake(
        "top-k-one-more",
        "One too many is kept: the k highest end at place -k of the sorted logits.",
        (
            _kept(lambda logits, top_k: _highest(logits, top_k + 1)),
            _kept(lambda logits, k: logits >= np.sort(logits, axis=-1)[..., [-k - 1]]),
        ),
    ),
    Mistake(
        "top-k-over-batch",
        "You choose the k highest of all rows together. Each row is a choice of its own: sort along the last axis.",
        (
            _kept(lambda logits, k: logits >= np.sort(logits, axis=None)[-min(k, logits.size)]),
            _kept(lambda logits, k: logits >= np.sort(logits, axis=None)[-k]),
        ),
    ),
    Mistake(
        "top-k-row-taken",
        "Right for one row. With several, a single index counts whole rows: [-k] is the k-th row from the end. Choose "
        "along the last axis: np.sort(logits, axis=-1)[..., [-k]] is the k-th highest of each row.",
        (
            _kept(lambda logits, k: logits >= np.sort(logits, axis=-1)[-k]),
            _kept(lambda logits, k: logits >= np.sort(logits, axis=-1)[-min(k, len(logits))]),
            _kept(lambda logits, k: logits >= np.sort(logits, axis=-1)[-min(k, logits.shape[-1])]),
            _kept(lambda logits, k: logits >= np.sort(logits, axis=0)[-min(k, len(logits))]),
            _kept(lambda logits, k: logits >= np.partition(logits, -k)[-k]),
        ),
    ),
    Mistake(
        "top-k-axis-lost",
        "Right for one row. With several, [..., -k] loses the last axis, and what is left can't be compared row by "
        "row. [..., [-k]] keeps it.",
        (
            _kept(lambda logits, k: logits >= np.sort(logits, axis=-1)[..., -k]),
            _kept(lambda logits, k: logits >= np.sort(logits, axis=-1)[..., -min(k, logits.shape[-1])]),
        ),
    ),
    Mistake(
        "top-k-more-than-there-are",
        "Right unless top_k is more than there are: then there is no k-th highest. Keep all: min(top_k, "
        "logits.shape[-1]).",
        (
            _kept(lambda logits, k: logits >= np.sort(logits, axis=-1)[..., [-k]]),
            _kept(lambda logits, k: logits >= np.partition(logits, -k, axis=-1)[..., [-k]]),
        ),
    ),
    Mistake(
        "top-k-order-lost",
        "The probabilities are right, but stand in the order of their size. Each must stay at its own character's "
        "place.",
        (_sorted, _only_the_kept, *_either_way(_only_the_kept_upwards)),
    ),
    Mistake(
        "softmax-over-everything",
        "All rows together sum to 1. Each row is a choice of its own: add up along axis=-1, with keepdims=True.",
        (_over_everything,),
    ),
    Mistake(
        "softmax-no-max",
        "Right until the logits are large: then exp overflows to infinity. Subtract each row's largest first.",
        _either_way(_without_maximum),
    ),
)
