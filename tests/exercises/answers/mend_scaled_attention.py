"""Answers to mend_scaled_attention: right ones in many styles, and wrong ones."""

from mha_helpers.attention import scaled_dot_product_attention, softmax
from mha_helpers.exercises.scaling.mend_scaled_attention import mend_scaled_attention

TELLING_CASE = ("two axes in front", 6)


def mended_matrix_by_matrix(queries, keys, values):
    if queries.ndim > 2:
        found = [mended_matrix_by_matrix(*one) for one in zip(queries, keys, values, strict=True)]
        return [context for context, _ in found], [weights for _, weights in found]
    weights = softmax(queries @ keys.T / len(keys[0]) ** 0.5)
    return weights @ values, weights


RIGHT = (
    mend_scaled_attention,
    mended_matrix_by_matrix,
)

WRONG = {
    None: (lambda queries, keys, values: scaled_dot_product_attention(queries, keys, values, scale=0.1),),
}

TOLD = ()
