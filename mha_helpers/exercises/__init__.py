"""The course's exercises and predictions.

`exercises.softmax.check(softmax)`, `.hint()`, `.solution()`; `exercises.predict_order.commit("a")`.
"""

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
    "dot_product_attention",
    "find_slip",
    "predict_constant",
    "predict_order",
    "predict_values",
    "softmax",
]
