"""The course's exercises and predictions.

`exercises.softmax.check(softmax)`, `.hint()`, `.solution()`; `exercises.predict_order.commit("a")`.
`exercises.keep_results()` keeps what they say in a file, for a learner who asks for it.
"""

from dataclasses import replace
from functools import cache
from importlib import import_module

from mha_helpers.exercises.engine import recall
from mha_helpers.exercises.output_projection.exit_test import exit_test
from mha_helpers.exercises.prediction import Prediction
from mha_helpers.judge import monkeypatches
from mha_helpers.learner.results import keep_results, stop_keeping

# The registry: an exercise NAME of a folder is the `exercise` of its module NAME; a folder's predictions are those
# that its module `predictions` holds. A warm-up needs no module: "recall_softmax" is softmax once more.
EXERCISES = {
    "self_attention": (
        "softmax",
        "attention_scores",
        "attention_received",
        "dot_product_attention",
        "mend_attention",
    ),
    "scaling": (
        "recall_dot_product_attention",
        "dot_product_variance",
        "softmax_jacobian",
        "scaled_dot_product_attention",
        "two_part_scores",
        "mend_scaled_attention",
    ),
    "masking": (
        "recall_scaled_dot_product_attention",
        "causal_mask",
        "padding_mask",
        "masked_attention",
        "packed_mask",
        "mend_masked_attention",
    ),
    "splitting": ("recall_masked_attention", "split_heads", "combine_heads", "folded_attention", "weights_heads_last"),
    "output_projection": (
        "recall_split_heads",
        "multi_head_attention",
        "mend_multi_head_attention",
        "head_contributions",
        "without_head",
        "judge_step",
    ),
    "real_model": (
        "multi_head_shapes",
        "recall_multi_head_attention",
        "previous_token_score",
        "head_entropy",
        "search_heads",
        "knock_out",
    ),
    "heads_that_learn": ("attention_gradients", "full_OV", "composed_QK"),
    "a_model_that_writes": (
        "recall_causal_mask",
        "next_token_probabilities",
        "attend_with_cache",
        "mend_embed_new",
        "blockwise_attention",
    ),
    "todays_heads": ("grouped_attention", "rotate", "mend_rotary_attention"),
    "pytorch": ("weights_from_torch", "sdpa_mask"),
}


def _by_name():
    """Return all exercises and predictions by their names."""
    found = {}
    for folder, names in EXERCISES.items():
        for name in names:
            again = name.removeprefix("recall_")
            module = f"{__name__}.{folder}.{name}"
            found[name] = import_module(module).exercise if again == name else recall(found[again])
        predictions = vars(import_module(f"{__name__}.{folder}.predictions"))
        predictions = {name: one for name, one in predictions.items() if isinstance(one, Prediction)}
        # Evidence is computed once: some of it trains a model.
        found |= {name: replace(one, name=name, evidence=cache(one.evidence)) for name, one in predictions.items()}
    return found


_found = _by_name()
globals().update(_found)
__all__ = ["exit_test", "keep_results", "stop_keeping", *_found]
monkeypatches.remember("mha_helpers")
