"""The function that `mend_scaled_attention` asks to repair, and the ways in which people repair it wrongly."""

from mha_helpers import attention
from mha_helpers.attention import softmax
from mha_helpers.exercises.mistakes.catalogue import maker
from mha_helpers.exercises.scaling.mistakes import scaled_dot_product_attention as in_notebook_02


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


_DIVISORS = {"scale-n-keys", "scale-n-queries", "scale-no-root", "scale-constant", "scale-missing"}
EARLIER = tuple(mistake for mistake in in_notebook_02.without_scale() if mistake.slug in _DIVISORS)
