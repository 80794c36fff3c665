"""The function that `mend_scaled_attention` asks to mend, and the ways in which people mend it wrongly."""

from mha_helpers.exercises.engine import Mistake
from mha_helpers.maths import attention
from mha_helpers.maths.attention import softmax


def mend_scaled_attention(queries, keys, values):
    width = queries.shape[1]
    divisor = width**1 / 2
    weights = softmax(queries @ keys.swapaxes(-1, -2) / divisor)
    return weights @ values, weights


def _divided_by(divisor):
    """Return attention whose scores are divided by divisor(queries, keys)."""

    def wrong_attention(queries, keys, values):
        return attention.scaled_dot_product_attention(queries, keys, values, scale=1 / divisor(queries, keys))

    return wrong_attention


MEND_MISTAKES = (
    Mistake(
        "scale-both-faults",
        "Both faults are still there. Try a width other than 4 for one of them, and a batch for the other.",
        (lambda *arguments: mend_scaled_attention(*arguments),),
    ),
    Mistake(
        "scale-precedence",
        "The width is right now, but it isn't the root that you divide by: powers bind before divisions, so "
        "`width ** 1 / 2` is half of width.",
        (_divided_by(lambda queries, keys: queries.shape[-1] / 2),),
    ),
    Mistake(
        "scale-axis-from-front",
        "The root is right now, but shape[1] is the width in a matrix only. In a batch it is the number of queries.",
        (_divided_by(lambda queries, keys: queries.shape[1] ** 0.5),),
    ),
    Mistake(
        "scale-n-keys",
        "You divide by the root of the number of keys. A score is a sum over features, so it's their number that "
        "counts.",
        (_divided_by(lambda queries, keys: keys.shape[-2] ** 0.5),),
    ),
    Mistake(
        "scale-n-queries",
        "You divide by the root of the number of queries. A score is a sum over features, so it's their number that "
        "counts.",
        (_divided_by(lambda queries, keys: queries.shape[-2] ** 0.5),),
    ),
    Mistake(
        "scale-no-root",
        "You divide by the width itself. Scores spread like its root.",
        (_divided_by(lambda queries, keys: queries.shape[-1]),),
    ),
    Mistake(
        "scale-constant",
        "You always divide by 2, which is right for a width of 4 only.",
        (_divided_by(lambda queries, keys: 2),),
    ),
    Mistake(
        "scale-missing",
        "Now nothing is divided at all.",
        (_divided_by(lambda queries, keys: 1),),
    ),
)
