"""The mistakes that people make in `padding_mask`."""

import numpy as np

from mha_helpers.exercises.mistakes.catalogue import also
from mha_helpers.exercises.mistakes.steps import HIDING_NUMBERS
from mha_helpers.masks import padding_mask


def _keys(attention_mask):
    return attention_mask.astype(bool)


def padding_on_queries(attention_mask):
    """Your mask lies along the queries, (batch, 1, n_queries, 1). The padding sees nothing, yet every token still sees
    the padding. Hide the *keys*: (batch, 1, 1, n_keys)."""
    return _keys(attention_mask)[:, None, :, None]


@also(lambda attention_mask: ~_keys(attention_mask))
def padding_inverted(attention_mask):
    """Your mask is True at the padding. In this course True means: may attend. 1 marks a token: True belongs there."""
    return ~padding_mask(attention_mask)


@also(lambda attention_mask: _keys(attention_mask)[:, None])
def padding_no_head_axis(attention_mask):
    """The axis of the heads is missing (or that of the queries, too). Broadcasting lines up axes from the right, so
    your batch axis would be matched with the heads or the queries. Add axes of length 1: (batch, 1, 1, n_keys)."""
    return _keys(attention_mask)


@also(
    lambda attention_mask: _keys(attention_mask)[None],
    lambda attention_mask: _keys(attention_mask)[None, :, None],
)
def padding_batch_as_queries(attention_mask):
    """Your axes are (1, 1, batch, n_keys), with the sentences where the queries should be. The batch comes first:
    (batch, 1, 1, n_keys)."""
    return _keys(attention_mask)[None, None]


def padding_float(attention_mask):
    """The pattern is right, but it is made of the numbers 1 and 0. Give booleans, True where a query may attend, False
    where it may not: numbers would be added to the scores by PyTorch, and hide nothing. `.astype(bool)`, or `== 1`."""
    return padding_mask(attention_mask).astype(float)


@also(hiding=HIDING_NUMBERS)
def padding_additive(attention_mask, hiding=-np.inf):
    """Those are numbers to be added to the scores, 0 and -inf (or very low). Give a boolean mask: True where a query
    may attend, False where it may not."""
    return np.where(padding_mask(attention_mask), 0.0, hiding)


@also(lambda attention_mask: attention_mask[:, None, None, :] * -np.inf)
def padding_zero_times_inf(attention_mask):
    """0 * inf is NaN, so the visible places hold NaN. Give a boolean mask anyway: no arithmetic is needed."""
    return (1 - attention_mask)[:, None, None, :] * -np.inf


@also(lambda attention_mask: _keys(attention_mask)[:, :, None] & _keys(attention_mask)[:, None])
def padding_pairs(attention_mask):
    """You hide the padding's rows as well as its columns. What a padding token itself attends to does no harm, as its
    output is thrown away, and a row with nothing in it needs special care. Hide keys: (batch, 1, 1, n_keys)."""
    return (_keys(attention_mask)[:, :, None] & _keys(attention_mask)[:, None])[:, None]


@also(lambda attention_mask: np.repeat(padding_mask(attention_mask), attention_mask.shape[1], axis=-2)[:, 0])
def padding_repeated(attention_mask):
    """The pattern is right, but written out once for each query. Leave an axis of length 1, (batch, 1, 1, n_keys):
    broadcasting repeats it, for any number of queries and heads."""
    return np.repeat(padding_mask(attention_mask), attention_mask.shape[1], axis=-2)
