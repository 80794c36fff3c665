"""The mistakes that people make in `dot_product_attention`."""

import math

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.self_attention.attention_scores_mistakes import SCORE_MISTAKES
from mha_helpers.exercises.self_attention.softmax_mistakes import SOFTMAX_MISTAKES
from mha_helpers.exercises.steps import swap
from mha_helpers.maths.attention import attention_scores, dot_product_attention, scaled_dot_product_attention, softmax


def _attention_with(*, weigh=softmax, compare=attention_scores):
    """Return attention in which one step is done in another way."""

    def wrong_attention(queries, keys, values):
        weights = weigh(compare(queries, keys))
        return weights @ values, weights

    return wrong_attention


def _attention_scaled(factor):
    """Return attention whose scores are multiplied by factor(d_head, n_keys, d_value)."""

    def wrong_attention(queries, keys, values):
        scores = attention_scores(queries, keys) * factor(queries.shape[-1], keys.shape[-2], values.shape[-1])
        weights = softmax(scores)
        return weights @ values, weights

    return wrong_attention


def _attention_mixing(mix):
    """Return attention whose context is mix(weights, scores, queries, keys, values)."""

    def wrong_attention(queries, keys, values):
        scores = attention_scores(queries, keys)
        weights = softmax(scores)
        return mix(weights, scores, queries, keys, values), weights

    return wrong_attention


def _returning(choose):
    """Return attention, unscaled and scaled, that returns choose(context, weights)."""

    def returning(right):
        return lambda queries, keys, values: choose(*right(queries, keys, values))

    return returning(dot_product_attention), returning(scaled_dot_product_attention)


WEIGHTS = 1  # the place of the weights among what dot_product_attention returns


def _inside(mistakes, step, without=()):
    """The mistakes of an earlier exercise, made inside attention."""
    return tuple(
        Mistake(
            mistake.slug,
            f"Inside your attention: {mistake.message}",
            tuple(_attention_with(**{step: wrong}) for wrong in mistake.implementations),
            seen_in=WEIGHTS,
        )
        for mistake in mistakes
        if mistake.slug not in without
    )


CAUSAL_NOT_ASKED = (
    "You hide the future: a query sees only the keys up to its own position. Some models do that, as notebook 03 "
    "shows, but here every query sees every key."
)


def _past_only(scores, low):
    """Put a low number where a key stands after its query."""
    return np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, low)


# In front of a softmax these are something else, or no mistake at all.
SCORES_ONLY = {"scores-scaled", "scores-mean", "scores-softmaxed", "scores-minus"}
NOT_YET = " This exercise asks for the plain scores; the right divisor is notebook 02's subject."


ATTENTION_MISTAKES = (
    Mistake(
        "returns-weights-only",
        "You return only the weights. They say how much of each value to take; the context is what comes of it: "
        "weights @ values. Return both: context, weights.",
        _returning(lambda context, weights: weights),
    ),
    Mistake(
        "returns-context-only",
        "You return only the context. Return both: context, weights.",
        _returning(lambda context, weights: context),
    ),
    Mistake(
        "returns-swapped",
        "Both are there, in the other order. Return context first, then weights.",
        _returning(lambda context, weights: (weights, context)),
    ),
    Mistake(
        "values-are-keys",
        "You mix the keys. The keys are there to be compared with the queries; what gets mixed is the values: weights "
        "@ values.",
        (_attention_mixing(lambda weights, scores, queries, keys, values: weights @ keys),),
    ),
    Mistake(
        "values-are-queries",
        "You mix the queries. What gets mixed is the values: weights @ values.",
        (_attention_mixing(lambda weights, scores, queries, keys, values: weights @ queries),),
    ),
    Mistake(
        "values-are-scores",
        "You apply the weights to the scores. What gets mixed is the values: weights @ values.",
        (
            _attention_mixing(lambda weights, scores, queries, keys, values: weights @ scores),
            _attention_mixing(lambda weights, scores, queries, keys, values: weights * scores),
            _attention_mixing(lambda weights, scores, queries, keys, values: weights @ swap(scores)),
        ),
    ),
    Mistake(
        "scores-for-weights",
        "You mix the values with the scores themselves; the softmax between them is missing.",
        (
            _attention_with(weigh=lambda scores: scores),
            _attention_mixing(lambda weights, scores, queries, keys, values: scores @ values),
        ),
    ),
    Mistake(
        "weights-transposed",
        "Your weights are transposed before they meet the values, so row i mixes by who attends *to* i. Use them as "
        "they are: weights @ values.",
        (
            _attention_mixing(lambda weights, scores, queries, keys, values: swap(weights) @ values),
            _attention_mixing(lambda weights, scores, queries, keys, values: weights.T @ values),
            lambda queries, keys, values: (
                swap(softmax(attention_scores(queries, keys))) @ values,
                swap(softmax(attention_scores(queries, keys))),
            ),
        ),
    ),
    Mistake(
        "causal-not-asked",
        CAUSAL_NOT_ASKED,
        tuple(
            _attention_with(weigh=lambda scores, low=low: softmax(_past_only(scores, low))) for low in (-np.inf, -1e9)
        ),
        seen_in=WEIGHTS,
    ),
    Mistake(
        "scale-not-yet",
        "You divided the scores by sqrt(d_head). Transformers do that, and it is what notebook 02 is about. Here, "
        "write attention without the division.",
        (_attention_scaled(lambda d_head, n_keys, d_value: d_head**-0.5),),
        seen_in=WEIGHTS,
    ),
    Mistake(
        "scale-no-root",
        "You divided the scores by d_head (or twice by its root)." + NOT_YET,
        (_attention_scaled(lambda d_head, n_keys, d_value: 1 / d_head),),
        seen_in=WEIGHTS,
    ),
    Mistake(
        "scale-multiplied",
        "You multiplied the scores by sqrt(d_head)." + NOT_YET,
        (_attention_scaled(lambda d_head, n_keys, d_value: d_head**0.5),),
        seen_in=WEIGHTS,
    ),
    Mistake(
        "scale-n-keys",
        "You divided the scores by the root of the number of keys." + NOT_YET,
        (_attention_scaled(lambda d_head, n_keys, d_value: n_keys**-0.5),),
        seen_in=WEIGHTS,
    ),
    Mistake(
        "scale-values-width",
        "You divided the scores by the root of the values' width." + NOT_YET,
        (_attention_scaled(lambda d_head, n_keys, d_value: d_value**-0.5),),
        seen_in=WEIGHTS,
    ),
    Mistake(
        "scale-after-softmax",
        "You divide the weights or the context, after the softmax. The context is then no longer an average, because "
        "the weights don't add up to 1." + NOT_YET,
        (
            lambda queries, keys, values: _attention_with(
                weigh=lambda scores: softmax(scores) / math.sqrt(queries.shape[-1])
            )(queries, keys, values),
            lambda queries, keys, values: _attention_mixing(
                lambda weights, scores, queries, keys, values: weights / math.sqrt(queries.shape[-1]) @ values
            )(queries, keys, values),
        ),
    ),
    Mistake(
        "returns-scores",
        "The context is right, but beside it you return the scores. Return context, weights.",
        (
            lambda queries, keys, values: (
                dot_product_attention(queries, keys, values)[0],
                attention_scores(queries, keys),
            ),
        ),
    ),
    Mistake(
        "values-first",
        "You multiply values @ weights. The order matters: weights @ values.",
        (_attention_mixing(lambda weights, scores, queries, keys, values: values @ weights),),
    ),
    Mistake(
        "context-np-dot",
        "On a batch `np.dot` mixes every item's values. `@` (np.matmul) keeps each batch item to itself.",
        (_attention_mixing(lambda weights, scores, queries, keys, values: np.dot(weights, values)),),
    ),
    *_inside(SOFTMAX_MISTAKES, "weigh"),
    *_inside(SCORE_MISTAKES, "compare", without=SCORES_ONLY),
)
