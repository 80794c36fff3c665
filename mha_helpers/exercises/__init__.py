"""The course's exercises and predictions.

`exercises.softmax.check(softmax)`, `.hint()`, `.solution()`; `exercises.predict_order.commit("a")`.
`exercises.keep_results()` keeps what they say in a file, for a learner who asks for it.

Each is loaded at its first use. `__init__.pyi` beside this file tells editors what there is; `python -m tools refresh`
writes it.
"""

from dataclasses import replace
from functools import cache
from importlib import import_module

from function_judge import monkeypatches

# Learners may put their own functions into these modules: loaded before they can, they are remembered as written.
from mha_helpers import (
    attention,
    blockwise,
    circuits,
    cross,
    decoding,
    fused,
    gradients,
    grouped,
    latent,
    masks,
    measures,
    rotary,
    rounding,
    shapes,
)
from mha_helpers.exercises.engine import recall
from mha_helpers.learner.results import keep_results, stop_keeping

# The registry, by a notebook's folder: an exercise NAME is the `exercise` of the module NAME. A warm-up needs no
# module: "recall_softmax" is softmax once more.
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
    "what_a_cache_keeps": ("recall_grouped_attention", "cross_attention", "latent_attention", "round_to_bits"),
    "pytorch": ("weights_from_torch", "sdpa_mask"),
}
# A prediction NAME stands in the folder's module `predictions`.
PREDICTIONS = {
    "self_attention": (
        "predict_alone",
        "predict_constant",
        "predict_values",
        "predict_order",
        "find_slip",
    ),
    "scaling": (
        "predict_stuck",
        "predict_spread",
        "predict_gradient",
        "predict_queries_first",
    ),
    "masking": (
        "predict_zero",
        "predict_after",
        "predict_empty",
    ),
    "splitting": (
        "predict_one_head",
        "predict_reshape",
        "predict_round_trip",
        "predict_weights",
    ),
    "output_projection": (
        "predict_without",
        "predict_exchanged",
        "predict_mean",
        "find_first_slip",
    ),
    "real_model": (
        "predict_lightly",
        "predict_soft",
        "predict_all_out",
    ),
    "heads_that_learn": (
        "predict_without_mask",
        "predict_first_layer_out",
        "predict_later_places",
        "predict_who_reads_the_note",
        "predict_hidden_gradient",
    ),
    "a_model_that_writes": (
        "predict_one_too_many",
        "predict_cold",
        "predict_cached_time",
        "predict_twice",
    ),
    "todays_heads": (
        "predict_shared",
        "predict_moved",
        "predict_window",
    ),
    "what_a_cache_keeps": (
        "predict_source",
        "predict_bits",
        "predict_merge",
    ),
    "pytorch": ("predict_corner",),
}
_EXERCISES, _PREDICTIONS = (
    {name: folder for folder, names in registry.items() for name in names} for registry in (EXERCISES, PREDICTIONS)
)
__all__ = sorted(["exit_test", "keep_results", "stop_keeping", *_EXERCISES, *_PREDICTIONS])
monkeypatches.remember("mha_helpers")


def __getattr__(name):
    load = _exercise if name in _EXERCISES else _prediction if name in _PREDICTIONS else _OTHERS.get(name)
    if load is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with monkeypatches.undone():  # what is loaded now must find the functions as they were written
        globals()[name] = load(name)
        monkeypatches.remember("mha_helpers")
    return globals()[name]


def _exit_test(name):
    return import_module(f"{__name__}.output_projection.exit_test").exit_test


_OTHERS = {"exit_test": _exit_test}


def _exercise(name):
    repeated = name.removeprefix("recall_")
    if repeated != name:
        return recall(globals().get(repeated) or __getattr__(repeated))
    return import_module(f"{__name__}.{_EXERCISES[name]}.{name}").exercise


def _prediction(name):
    prediction = getattr(import_module(f"{__name__}.{_PREDICTIONS[name]}.predictions"), name)
    # Evidence is computed once: some of it trains a model.
    return replace(prediction, name=name, evidence=cache(prediction.evidence))


def __dir__():
    return sorted([*globals(), *__all__])
