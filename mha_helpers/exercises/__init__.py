"""The course's exercises and predictions.

`exercises.softmax.check(softmax)`, `.hint()`, `.solution()`; `exercises.predict_order.commit("a")`.
`exercises.keep_results()` keeps what they say in a file, for a learner who asks for it.
"""

from mha_helpers.exercises.masking.attention import masked_exercise as masked_attention
from mha_helpers.exercises.masking.causal import causal_exercise as causal_mask
from mha_helpers.exercises.masking.padding import padding_exercise as padding_mask
from mha_helpers.exercises.masking.predictions import predict_after, predict_empty, predict_zero
from mha_helpers.exercises.output_projection.contributions import contributions_exercise as head_contributions
from mha_helpers.exercises.output_projection.multi_head import multi_head_exercise as multi_head_attention
from mha_helpers.exercises.output_projection.predictions import (
    find_first_slip,
    predict_exchanged,
    predict_mean,
    predict_without,
)
from mha_helpers.exercises.output_projection.slips import judging_exercise as judge_step
from mha_helpers.exercises.real_model.entropy import entropy_exercise as head_entropy
from mha_helpers.exercises.real_model.knock_out import knock_out_exercise as knock_out
from mha_helpers.exercises.real_model.predictions import predict_all_out, predict_lightly, predict_soft
from mha_helpers.exercises.real_model.previous import previous_exercise as previous_token_score
from mha_helpers.exercises.results import keep_results, stop_keeping
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
from mha_helpers.exercises.splitting.combine import combine_exercise as combine_heads
from mha_helpers.exercises.splitting.folded import folded_exercise as folded_attention
from mha_helpers.exercises.splitting.predictions import predict_reshape, predict_round_trip, predict_weights
from mha_helpers.exercises.splitting.split import split_exercise as split_heads

__all__ = [
    "attention_scores",
    "causal_mask",
    "combine_heads",
    "dot_product_attention",
    "dot_product_variance",
    "find_first_slip",
    "find_slip",
    "folded_attention",
    "head_contributions",
    "head_entropy",
    "judge_step",
    "keep_results",
    "knock_out",
    "masked_attention",
    "multi_head_attention",
    "padding_mask",
    "predict_after",
    "predict_all_out",
    "predict_constant",
    "predict_empty",
    "predict_exchanged",
    "predict_gradient",
    "predict_lightly",
    "predict_mean",
    "predict_order",
    "predict_queries_first",
    "predict_reshape",
    "predict_round_trip",
    "predict_soft",
    "predict_spread",
    "predict_values",
    "predict_weights",
    "predict_without",
    "predict_zero",
    "previous_token_score",
    "scaled_dot_product_attention",
    "softmax",
    "softmax_jacobian",
    "split_heads",
    "stop_keeping",
]
