"""The function that `mend_masked_attention` asks to mend, and the ways in which people mend it wrongly."""

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.maths import attention
from mha_helpers.maths.attention import softmax


def mend_masked_attention(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    scores = np.where(mask, scores, -100)  # far below any score
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    context = weights @ values
    return context, weights


def _hiding_with(number, *, clear):
    """Return attention that hides with a number, and may clear what is hidden afterwards."""

    def wrong_attention(queries, keys, values, mask):
        scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
        weights = softmax(np.where(mask, scores, number))
        weights = np.where(mask, weights, 0) if clear else weights
        return weights @ values, weights

    return wrong_attention


def _without_the_maximum(number, clear):
    """Return attention that takes exp of the scores as they are, and clears with clear(weights, mask)."""

    def wrong_attention(queries, keys, values, mask):
        powers = np.exp(np.where(mask, queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1]), number))
        weights = clear(powers / powers.sum(axis=-1, keepdims=True), mask)
        return weights @ values, weights

    return wrong_attention


def _after(change):
    """Return attention whose weights, made without a mask, are changed by change(weights, mask)."""

    def wrong_attention(queries, keys, values, mask):
        _, weights = attention.scaled_dot_product_attention(queries, keys, values)
        weights = change(weights, mask)
        return weights @ values, weights

    return wrong_attention


LOWEST = np.finfo(np.float64).min

MEND_MISTAKES = (
    Mistake(
        "mask-both-faults",
        "Both faults are still there. Try scores that are all below -100, and a row of the mask that is False "
        "throughout.",
        (lambda *arguments: mend_masked_attention(*arguments),),
    ),
    Mistake(
        "mask-full-row-nan",
        "-inf is lower than any score. But in a row that sees nothing you subtract -inf from -inf, or divide 0 by "
        "0, and neither gives a number. Such a row must end up with zeros.",
        (_hiding_with(-np.inf, clear=False), _without_the_maximum(-np.inf, lambda weights, mask: weights)),
    ),
    Mistake(
        "mask-full-row-uniform",
        "No score lies below the number that you hide with. But a row that sees nothing shares out its attention "
        "evenly among keys that are hidden. It must end up with zeros.",
        (_hiding_with(LOWEST, clear=False),),
    ),
    Mistake(
        "softmax-no-max",
        "A row that sees nothing gets zeros now. But you no longer subtract each row's largest score before exp, as "
        "the given function did: for very low scores all powers are 0, and for very high ones they are infinite.",
        tuple(
            _without_the_maximum(number, clear)
            for number in (-np.inf, LOWEST)
            for clear in (
                lambda weights, mask: np.nan_to_num(weights),
                lambda weights, mask: np.where(mask, weights, 0),
            )
        ),
    ),
    Mistake(
        "mask-tiny-number",
        "A row that sees nothing gets zeros now. But scores can still lie below the number that you hide with, however "
        "low it looks: take -np.inf.",
        tuple(_hiding_with(number, clear=True) for number in (-100, -1e3, -1e4, -1e5, -1e9)),
    ),
    Mistake(
        "mask-lower-number",
        "A lower number only moves the fault: there are scores below it, too. And a row that sees nothing must end up "
        "with zeros.",
        tuple(_hiding_with(number, clear=False) for number in (-1e3, -1e4, -1e5, -1e9)),
    ),
    Mistake(
        "mask-score-zero",
        "You set hidden scores to 0. But e^0 is 1, not 0: a hidden key still takes its share from the visible ones. "
        "Only -np.inf lies below every score.",
        tuple(_hiding_with(0, clear=clear) for clear in (False, True)),
    ),
    Mistake(
        "mask-after-softmax",
        "You hide after the softmax, and what the hidden keys had been given is lost. Hide before it.",
        (_after(lambda weights, mask: weights * mask), _after(lambda weights, mask: np.where(mask, weights, 0))),
    ),
    Mistake(
        "mask-inverted",
        'You hide what may be seen. True means "may attend", so in np.where(mask, scores, ...) the scores come first.',
        (lambda queries, keys, values, mask: attention.masked_attention(queries, keys, values, ~mask),),
    ),
)
