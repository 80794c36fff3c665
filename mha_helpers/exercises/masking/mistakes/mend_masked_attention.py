"""The function that `mend_masked_attention` asks to repair, and the ways in which people repair it wrongly."""

import numpy as np

from function_judge.catalogue import Mistake
from mha_helpers.exercises.masking.mistakes import masked_attention
from mha_helpers.exercises.mistakes.catalogue import also, maker, mistakes_in
from mha_helpers.exercises.mistakes.steps import (
    as_they_are,
    attention_with,
    empty_rows_cleared,
    normalised,
    replaced_by,
    zero_where_hidden,
)


def mend_masked_attention(queries, keys, values, mask):
    scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
    scores = np.where(mask, scores, -100)  # far below any score
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    context = weights @ values
    return context, weights


def _without_the_maximum(number, clear=as_they_are):
    return attention_with(hide=replaced_by(number), weigh=lambda scores: normalised(np.exp(scores)), clear=clear)


LOWEST = np.finfo(np.float64).min


def mask_both_faults(queries, keys, values, mask):
    """Both faults are still there. Try scores that are all below -100, and a row of the mask that is False
    throughout."""
    return mend_masked_attention(queries, keys, values, mask)


SOFTMAX_NO_MAX = Mistake(
    "softmax-no-max",
    "A row that sees nothing gets zeros now. But you no longer subtract each row's largest score before exp, as "
    "the given function did: for very low scores all powers are 0, and for very high ones they are infinite.",
    (
        _without_the_maximum(-np.inf, lambda weights, mask: np.nan_to_num(weights)),
        _without_the_maximum(-np.inf, zero_where_hidden),
    ),
)


@maker(
    lambda hide: attention_with(hide=hide, clear=zero_where_hidden),
    lambda hide: attention_with(hide=hide, clear=empty_rows_cleared),
)
@also(number=(-1e4, -1e9))
def mask_tiny_number(scores, mask, number=-100):
    """A row that sees nothing gets zeros now. But scores can still lie below the number that you hide with, however low
    it looks: take -np.inf."""
    return np.where(mask, scores, number)


@maker(lambda hide: attention_with(hide=hide))
@also(number=(-1e5,))
def mask_lower_number(scores, mask, number=-1e3):
    """A lower number only moves the fault: there are scores below it, too. And a row that sees nothing must end up with
    zeros."""
    return np.where(mask, scores, number)


EARLIER = mistakes_in(
    masked_attention,
    "mask-full-row-nan",
    "mask-full-row-uniform",
    "mask-score-zero",
    "mask-after-softmax",
    "mask-inverted",
)
