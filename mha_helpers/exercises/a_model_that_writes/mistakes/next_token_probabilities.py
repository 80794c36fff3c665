"""The mistakes that people make in `next_token_probabilities`."""

import numpy as np

from mha_helpers.attention import softmax
from mha_helpers.exercises.mistakes.catalogue import also, maker, spellings
from mha_helpers.exercises.mistakes.steps import normalised


def _highest(logits, top_k):
    """Return where the k highest of each row are; all of them without a k."""
    if top_k is None:
        return np.ones_like(logits, bool)
    n_kept = min(top_k, logits.shape[-1])
    return logits >= np.sort(logits, axis=-1)[..., [-n_kept]]


def _hidden(logits, kept):
    return softmax(np.where(kept, logits, -np.inf))


@maker
def _tempered(change):
    """Return probabilities with another use of the temperature."""
    return lambda logits, *, temperature=1.0, top_k=None: _hidden(change(logits, temperature), _highest(logits, top_k))


@maker
def _kept(choose):
    """Return probabilities that keep another set: choose(logits, k), asked only where there is a k."""

    def wrong_probabilities(logits, *, temperature=1.0, top_k=None):
        logits = logits / temperature
        return softmax(logits) if top_k is None else _hidden(logits, choose(logits, top_k))

    return wrong_probabilities


@maker
def _with_k(finish):
    """Return probabilities that use a right choice wrongly: finish(logits, kept)."""

    def wrong_probabilities(logits, *, temperature=1.0, top_k=None):
        logits = logits / temperature
        return softmax(logits) if top_k is None else finish(logits, _highest(logits, top_k))

    return wrong_probabilities


def _either_way(wrong):
    """Take it as it is, and without min(top_k, n): as most write it first, it stops where top_k is too large."""

    def unguarded(wrong):
        def wrong_probabilities(logits, *, temperature=1.0, top_k=None):
            if top_k is not None and top_k > logits.shape[-1]:
                raise IndexError(f"index {-top_k} is out of bounds")
            return wrong(logits, temperature=temperature, top_k=top_k)

        return wrong_probabilities

    return also(*map(unguarded, spellings(wrong)))(wrong)


@also(lambda logits, *, temperature=1.0, top_k=None: softmax(logits))
@_either_way
@_tempered
def temperature_ignored(logits, temperature):
    """The temperature changes nothing. Divide the logits by it, before the softmax. (Probabilities that are divided by
    it, and then by their sum, are what they were.)"""
    return logits


@also(lambda logits, *, temperature=1.0, top_k=None: softmax(logits * temperature))
@_either_way
@_tempered
def temperature_multiplies(logits, temperature):
    """You multiply by the temperature. A high temperature makes all more alike, so the logits must shrink: divide."""
    return logits * temperature


def _divided_and_cut(logits, *, temperature=1.0, top_k=None):
    return np.where(_highest(logits, top_k), softmax(logits) / temperature, 0)


def _divided_and_shared_out(logits, *, temperature=1.0, top_k=None):
    probabilities = _divided_and_cut(logits, temperature=temperature, top_k=top_k)
    return probabilities if top_k is None else normalised(probabilities)


@also(lambda logits, *, temperature=1.0, top_k=None: softmax(logits) / temperature)
@_either_way
@also(_divided_and_cut, _divided_and_shared_out)
def temperature_after_softmax(logits, *, temperature=1.0, top_k=None):
    """You divide the probabilities. They then sum to 1 / temperature, and their ratios are as before. Divide the
    logits."""
    return _hidden(logits, _highest(logits, top_k)) / temperature


def _powers_of_shares(logits, temperature):
    """Return exp(log(softmax) / temperature)."""
    return softmax(logits) ** (1 / temperature)


@_either_way
@also(
    lambda logits, *, temperature=1.0, top_k=None: _powers_of_shares(
        np.where(_highest(logits, top_k), logits, -np.inf), temperature
    )
)
def temperature_on_log_softmax(logits, *, temperature=1.0, top_k=None):
    """You divide the logarithms of the probabilities by the temperature, and take exp of them: those numbers don't sum
    to 1. Divide the logits, hide those that don't count, and take the softmax last of all."""
    return np.where(_highest(logits, top_k), _powers_of_shares(logits, temperature), 0)


@_either_way
@_tempered
def temperature_squared(logits, temperature):
    """The temperature is in it twice. Divide the logits by it once."""
    return logits / temperature**2


@_either_way
@_tempered
def temperature_root(logits, temperature):
    """You divide by the root of the temperature, as attention divides by the root of d_head. Here it is the temperature
    itself."""
    return logits / temperature**0.5


@_either_way
def temperature_without_top_k(logits, *, temperature=1.0, top_k=None):
    """Either is right alone, but where both are given the temperature is forgotten: divide first, then choose."""
    return softmax(logits / temperature) if top_k is None else _hidden(logits, _highest(logits, top_k))


@_kept
def top_k_ignored(logits, top_k):
    """top_k is not used: the unlikely ones keep their probability."""
    return np.ones_like(logits, bool)


def _cut_afterwards(logits, *, temperature=1.0, top_k=None):
    probabilities = softmax(logits / temperature)
    if top_k is None:
        return probabilities
    return np.where(probabilities >= np.sort(probabilities, axis=-1)[..., [-top_k]], probabilities, 0)


@also(_cut_afterwards)
@_with_k
def top_k_not_shared_out(logits, kept):
    """You set the others to 0 after the softmax has shared everything out, so that the rest no longer sums to 1. Make
    their logits -inf before it."""
    return np.where(kept, softmax(logits), 0)


@_either_way
@_with_k
@also(lambda logits, kept: normalised(np.where(kept, softmax(logits), -np.inf)), low=(-1e9, -1e10))
def top_k_after_softmax_infinite(logits, kept, low=-np.inf):
    """You put -inf among the probabilities, after the softmax. It belongs among the logits, before it: e^-inf is 0, and
    the others still sum to 1."""
    return np.where(kept, softmax(logits), low)


@_either_way
@also(
    lambda logits, *, temperature=1.0, top_k=None: _hidden(softmax(logits / temperature), _highest(logits, top_k)),
    _with_k(lambda logits, kept: softmax(np.where(kept, softmax(logits), -np.inf))),
    _with_k(lambda logits, kept: softmax(np.where(kept, softmax(logits), 0))),
    _with_k(lambda logits, kept: softmax(_hidden(logits, kept))),
    lambda logits, *, temperature=1.0, top_k=None: softmax(_hidden(logits / temperature, _highest(logits, top_k))),
    lambda logits, *, temperature=1.0, top_k=None: softmax(softmax(logits) / temperature),
    lambda logits, *, temperature=1.0, top_k=None: softmax(softmax(logits / temperature)),
    lambda logits, *, temperature=1.0, top_k=None: softmax(_hidden(logits, _highest(logits, top_k)) / temperature),
)
def softmax_twice(logits, *, temperature=1.0, top_k=None):
    """You take the softmax twice. The first turns logits into probabilities, and the second takes those for logits: as
    they all lie between 0 and 1, they come out nearly even. Divide the logits by the temperature, hide those that don't
    count, and take the softmax once, last of all."""
    return _hidden(softmax(logits) / temperature, _highest(logits, top_k))


@_either_way
@_with_k
def top_k_logit_zero(logits, kept):
    """You set the others' logits to 0. But e^0 is 1: they stay possible, and may even become likelier. A logit that
    must not count is -inf."""
    return softmax(np.where(kept, logits, 0))


@_either_way
@_kept
@also(lambda logits, k: logits >= np.sort(logits, axis=-1)[..., [min(k, logits.shape[-1]) - 1]])
def top_k_lowest(logits, k):
    """You keep the k lowest. np.sort goes upwards: the highest stand at its end."""
    return logits <= np.sort(logits, axis=-1)[..., [min(k, logits.shape[-1]) - 1]]


@_either_way
@_kept
def top_k_one_short(logits, k):
    """Only top_k - 1 are left: keep the k-th highest itself, too (>=, not >)."""
    return logits > np.sort(logits, axis=-1)[..., [-min(k, logits.shape[-1])]]


@_kept
@also(lambda logits, k: logits >= np.sort(logits, axis=-1)[..., [-k - 1]])
def top_k_one_more(logits, k):
    """One too many is kept: the k highest end at place -k of the sorted logits."""
    return _highest(logits, k + 1)


@_kept
@also(lambda logits, k: logits >= np.sort(logits, axis=None)[-k])
def top_k_over_batch(logits, k):
    """You choose the k highest of all rows together. Each row is a choice of its own: sort along the last axis."""
    return logits >= np.sort(logits, axis=None)[-min(k, logits.size)]


@_kept
@also(
    lambda logits, k: logits >= np.sort(logits, axis=-1)[-min(k, len(logits))],
    lambda logits, k: logits >= np.sort(logits, axis=-1)[-min(k, logits.shape[-1])],
    lambda logits, k: logits >= np.sort(logits, axis=0)[-min(k, len(logits))],
    lambda logits, k: logits >= np.partition(logits, -k)[-k],
)
def top_k_row_taken(logits, k):
    """Right for one row. With several, the first index counts whole rows: [-k] is the k-th row from the end. Choose
    along the last axis: np.sort(logits, axis=-1)[..., [-k]] is the k-th highest of each row."""
    return logits >= np.sort(logits, axis=-1)[-k]


@_kept
@also(lambda logits, k: logits >= np.sort(logits, axis=-1)[..., -min(k, logits.shape[-1])])
def top_k_axis_lost(logits, k):
    """Right for one row. With several, [..., -k] loses the last axis, and what is left can't be compared row by row.
    [..., [-k]] keeps it."""
    return logits >= np.sort(logits, axis=-1)[..., -k]


@_kept
@also(lambda logits, k: logits >= np.partition(logits, -k, axis=-1)[..., [-k]])
def top_k_more_than_there_are(logits, k):
    """Right unless top_k is more than there are: then there is no k-th highest. Keep all: min(top_k,
    logits.shape[-1])."""
    return logits >= np.sort(logits, axis=-1)[..., [-k]]


def _only_the_kept(logits, *, temperature=1.0, top_k=None):
    n_kept = logits.shape[-1] if top_k is None else min(top_k, logits.shape[-1])
    return softmax(np.sort(logits / temperature, axis=-1)[..., ::-1][..., :n_kept])


@_either_way
def _only_the_kept_upwards(logits, *, temperature=1.0, top_k=None):
    """p[np.argsort(p)[-top_k:]], shared out anew."""
    if top_k is None:
        return softmax(logits / temperature)
    return softmax(np.sort(logits / temperature, axis=-1)[..., -top_k:])


def _only_the_kept_downwards(logits, *, temperature=1.0, top_k=None):
    """p[np.argsort(-p)[:top_k]], shared out anew."""
    if top_k is None:
        return softmax(logits / temperature)
    return _only_the_kept(logits, temperature=temperature, top_k=top_k)


@_either_way
def _only_the_kept_unsorted(logits, *, temperature=1.0, top_k=None):
    """p[np.argpartition(p, -top_k)[-top_k:]], shared out anew."""
    if top_k is None:
        return softmax(logits / temperature)
    places = np.argpartition(logits / temperature, -top_k, axis=-1)[..., -top_k:]
    return softmax(np.take_along_axis(logits / temperature, places, axis=-1))


@also(_only_the_kept, _only_the_kept_downwards, *spellings(_only_the_kept_upwards), *spellings(_only_the_kept_unsorted))
def top_k_order_lost(logits, *, temperature=1.0, top_k=None):
    """The probabilities are right, but stand in the order of their size. Each must stay at its own character's
    place."""
    probabilities = _hidden(logits / temperature, _highest(logits, top_k))
    return np.sort(probabilities, axis=-1)[..., ::-1]


def softmax_over_everything(logits, *, temperature=1.0, top_k=None):
    """All rows together sum to 1. Each row is a choice of its own: add up along axis=-1, with keepdims=True."""
    return normalised(np.where(_highest(logits, top_k), np.exp((logits - logits.max()) / temperature), 0), None)


@_either_way
def softmax_no_max(logits, *, temperature=1.0, top_k=None):
    """Right until the logits are large: then exp overflows to infinity. Subtract each row's largest first."""
    return normalised(np.where(_highest(logits, top_k), np.exp(logits / temperature), 0))
