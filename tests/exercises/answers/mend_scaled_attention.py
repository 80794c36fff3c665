"""Answers to mend_scaled_attention: right ones in many styles, and wrong ones."""

from mha_helpers.exercises.scaling.mend_scaled_attention import mend_scaled_attention
from mha_helpers.maths.attention import scaled_dot_product_attention

CATALOGUE = ("scale-precedence", "scale-axis-from-front")

TELLING_CASE = ("two axes in front", 6)


def mended_in_the_queries(queries, keys, values):
    return scaled_dot_product_attention(queries / queries.shape[-1] ** 0.5, keys, values, scale=1)


RIGHT = (mend_scaled_attention, scaled_dot_product_attention, mended_in_the_queries)

WRONG = {
    "scale-missing": (lambda queries, keys, values: scaled_dot_product_attention(queries, keys, values, scale=1),),
    None: (
        lambda queries, keys, values: scaled_dot_product_attention(queries, keys, values, scale=0.1),
        lambda queries, keys, values: scaled_dot_product_attention(
            queries, keys, values, scale=queries.shape[-1] ** 0.5
        ),
    ),
}

TOLD = ()
