"""The function that `mend_scaled_attention` asks to mend, and the ways in which people mend it wrongly."""

from mha_helpers.maths import attention
from mha_helpers.maths.attention import softmax
from mha_helpers.wrong.catalogue import maker


def mend_scaled_attention(queries, keys, values):
    width = queries.shape[1]
    divisor = width**1 / 2
    weights = softmax(queries @ keys.swapaxes(-1, -2) / divisor)
    return weights @ values, weights


@maker
def _divided_by(divisor):
    """Return attention whose scores are divided by divisor(queries, keys)."""

    def wrong_attention(queries, keys, values):
        return attention.scaled_dot_product_attention(queries, keys, values, scale=1 / divisor(queries, keys))

    return wrong_attention


def scale_both_faults(queries, keys, values):
    """Both faults are still there. Try a width other than 4 for one of them, and a batch for the other."""
    return mend_scaled_attention(queries, keys, values)


@_divided_by
def scale_precedence(queries, keys):
    """The width is right now, but it isn't the root that you divide by: powers bind before divisions, so `width ** 1 /
    2` is half of width."""
    return queries.shape[-1] / 2


@_divided_by
def scale_axis_from_front(queries, keys):
    """The root is right now, but shape[1] is the width in a matrix only. In a batch it is the number of queries."""
    return queries.shape[1] ** 0.5


@_divided_by
def scale_n_keys(queries, keys):
    """You divide by the root of the number of keys. A score is a sum over features, so it's their number that
    counts."""
    return keys.shape[-2] ** 0.5


@_divided_by
def scale_n_queries(queries, keys):
    """You divide by the root of the number of queries. A score is a sum over features, so it's their number that
    counts."""
    return queries.shape[-2] ** 0.5


@_divided_by
def scale_no_root(queries, keys):
    """You divide by the width itself. Scores spread like its root."""
    return queries.shape[-1]


@_divided_by
def scale_constant(queries, keys):
    """You always divide by 2, which is right for a width of 4 only."""
    return 2


@_divided_by
def scale_missing(queries, keys):
    """Now nothing is divided at all."""
    return 1
