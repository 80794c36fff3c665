"""The course's exercises and predictions.

`exercises.softmax.check(softmax)`, `.hint()`, `.solution()`; `exercises.predict_order.commit("a")`.
"""

from mha_helpers.exercises.masking.attention import masked_exercise as masked_attention
from mha_helpers.exercises.masking.causal import causal_exercise as causal_mask
from mha_helpers.exercises.masking.padding import padding_exercise as padding_mask
from mha_helpers.exercises.masking.predictions import predict_after, predict_empty, predict_zero
from mha_helpers.exercises.scaling.attention import scaled_exercise as scaled_dot_product_attention
from mha_helpers.exercises.scaling.jacobian import jacobian_exercise as softmax_jacobian
from mha_helpers.exercises.scaling.predictions import predict_gradient, predict_queries_first, predict_spread
from mha_helpers.exercises.scaling.variance import variance_exercise as dot_product_variance
from mha_helpers.exercises.self_attention.attention import attention_exercise as dot_product_attention
from mha_helpers.exercises.self_attention.predictions import (
    find_slip,
    predict_constant,
    predict_order,
    predict_values,
)
from mha_helpers.exercises.self_attention.scores import scores_exercise as attention_scores
from mha_helpers.exercises.self_attention.softmax import softmax_exercise as softmax

__all__ = [
    "attention_scores",
    "causal_mask",
    "dot_product_attention",
    "dot_product_variance",
    "find_slip",
    "masked_attention",
    "padding_mask",
    "predict_after",
    "predict_constant",
    "predict_empty",
    "predict_gradient",
    "predict_order",
    "predict_queries_first",
    "predict_spread",
    "predict_values",
    "predict_zero",
    "scaled_dot_product_attention",
    "softmax",
    "softmax_jacobian",
]
