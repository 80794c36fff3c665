"""Small steps, right and wrong, that catalogued mistakes are made of."""

import numpy as np

from mha_helpers.attention import attention_scores, combine_heads, scaled_dot_product_attention, softmax, split_heads

WEIGHTS = 1  # the place of the weights among what attention returns


def swap(array):
    return array.swapaxes(-1, -2)


def normalised(exponentials, axis=-1):
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def exp_shares(scores, axis=-1):
    """Softmax along any axes, as a learner writes it."""
    return normalised(np.exp(scores - scores.max(axis=axis, keepdims=True)), axis)


def root(queries):
    """What attention multiplies its scores by, 1 / sqrt(d_head)."""
    return queries.shape[-1] ** -0.5


def replaced_by(number):
    """Return a way to hide scores: a number takes their place."""
    return lambda scores, mask: np.where(mask, scores, number)


def added(number):
    """Return a way to hide scores: a number is added to them."""
    return lambda scores, mask: scores + np.where(mask, 0, number)


def zero_where_hidden(weights, mask):
    return np.where(mask, weights, 0)


def empty_rows_cleared(weights, mask):
    return weights * mask.any(axis=-1, keepdims=True)


def as_they_are(weights, mask):
    return weights


def _mixed(weights, scores, queries, keys, values):
    return weights @ values


def attention_with(
    *,
    compare=attention_scores,
    factor=lambda queries, keys, values: root(queries),
    hide=lambda scores, mask: np.where(mask, scores, -np.inf),
    weigh=softmax,
    clear=as_they_are,
    mix=_mixed,
):
    """Return attention in which a step or two is done in another way.

    As it stands it has scaled scores, hides with -inf, and gives NaN for a row that sees nothing.
    """

    def wrong_attention(queries, keys, values, mask=None):
        scores = compare(queries, keys) * factor(queries, keys, values)
        weights = weigh(scores if mask is None else hide(scores, mask))
        weights = weights if mask is None else clear(weights, mask)
        return mix(weights, scores, queries, keys, values), weights

    return wrong_attention


def where_masked(wrong):
    """Return attention that is wrong where there is a mask, as a masked attention of notebook 03."""

    def attention(queries, keys, values, mask=None):
        return (scaled_dot_product_attention if mask is None else wrong)(queries, keys, values, mask)

    return attention


def split_straight(X, n_heads):
    """Split without the transpose: the right shape, and tokens mixed."""
    *batch, seq_len, d_model = X.shape
    return X.reshape(*batch, n_heads, seq_len, d_model // n_heads)


def joined_straight(heads):
    """Combine without the transpose."""
    *batch, n_heads, seq_len, d_head = heads.shape
    return heads.reshape(*batch, seq_len, n_heads * d_head)


def heads_not_moved(X, n_heads):
    """Cut the features, and leave the heads where they are: (..., seq_len, n_heads, d_head)."""
    return X.reshape(*X.shape[:-1], n_heads, X.shape[-1] // n_heads)


def every_nth(X, n_heads):
    """Give head i the features i, i + n_heads, i + 2 n_heads, ..."""
    return np.stack([X[..., head::n_heads] for head in range(n_heads)], axis=-3)


def joined_features_first(heads):
    """Put feature 0 of every head first, then feature 1 of every head, ..."""
    *batch, n_heads, seq_len, d_head = heads.shape
    return np.moveaxis(heads, -3, -1).reshape(*batch, seq_len, d_head * n_heads)


def reversed_heads(heads):
    return heads[..., ::-1, :, :]


def others_zeroed(X, n_heads, head):
    """All of X but the features of one head set to 0."""
    heads = split_heads(X, n_heads)
    return combine_heads(np.where(np.arange(n_heads)[:, None, None] == head, heads, 0))


# Numbers that are added to scores in order to hide.
HIDING_NUMBERS = (-1e9, -1e10, -1e5, -1e4, *(np.finfo(kind).min for kind in (np.float32, np.float64)))


def rows_of(heads, n_rows, n_heads):
    """Tell of each row of W_O whether it is one of these heads'."""
    return np.isin(np.arange(n_rows) * n_heads // n_rows, heads)
