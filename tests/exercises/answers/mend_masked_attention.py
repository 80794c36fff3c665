"""Answers to mend_masked_attention: right ones in many styles, and wrong ones."""

from mha_helpers.attention import masked_attention, scaled_dot_product_attention
from mha_helpers.exercises.masking.mend_masked_attention import mend_masked_attention

TELLING_CASE = ("scattered holes", 4)


RIGHT = (
    mend_masked_attention,
    masked_attention,
)


WRONG = {
    None: (lambda queries, keys, values, mask: scaled_dot_product_attention(queries, keys, values),),
}

TOLD = (
    (
        lambda queries, keys, values, mask: scaled_dot_product_attention(queries, keys, values),
        "A hidden key has weight: weights[0, 1] is ",
    ),
)
