"""The mistakes that people make in `dot_product_attention`."""

import functools

import numpy as np

from function_judge.catalogue import Mistake
from mha_helpers.attention import attention_scores, dot_product_attention, scaled_dot_product_attention, softmax
from mha_helpers.exercises.mistakes.catalogue import also, inside, maker, mistakes_in
from mha_helpers.exercises.mistakes.steps import attention_with, root, swap
from mha_helpers.exercises.self_attention.mistakes import attention_scores as wrong_scores
from mha_helpers.exercises.self_attention.mistakes import softmax as wrong_softmax

_attention_with = functools.partial(attention_with, factor=lambda *arguments: 1)


_scaling = maker(lambda factor: _attention_with(factor=factor))


_mixing = maker(lambda mix: _attention_with(mix=mix))


def _returning(choose):
    """Return attention, unscaled and scaled, that returns choose(context, weights)."""

    def returning(right):
        return lambda queries, keys, values: choose(*right(queries, keys, values))

    return returning(dot_product_attention), returning(scaled_dot_product_attention)


RETURNS_WEIGHTS_ONLY = Mistake(
    "returns-weights-only",
    "You return only the weights. They say how much of each value to take; the context is what comes of it: "
    "weights @ values. Return both: context, weights.",
    tuple(_returning(lambda context, weights: weights)),
)


RETURNS_CONTEXT_ONLY = Mistake(
    "returns-context-only",
    "You return only the context. Return both: context, weights.",
    tuple(_returning(lambda context, weights: context)),
)


RETURNS_SWAPPED = Mistake(
    "returns-swapped",
    "Both are there, in the other order. Return context first, then weights.",
    tuple(_returning(lambda context, weights: (weights, context))),
)


@_mixing
def values_are_keys(weights, scores, queries, keys, values):
    """You mix the keys. The keys are there to be compared with the queries; what gets mixed is the values: weights @
    values."""
    return weights @ keys


@_mixing
def values_are_queries(weights, scores, queries, keys, values):
    """You mix the queries. What gets mixed is the values: weights @ values."""
    return weights @ queries


@_mixing
@also(lambda weights, scores, *arguments: weights * scores, lambda weights, scores, *arguments: weights @ swap(scores))
def values_are_scores(weights, scores, queries, keys, values):
    """You apply the weights to the scores. What gets mixed is the values: weights @ values."""
    return weights @ scores


def _softmax_of_context(weigh):
    """Return attention that weighs the scores by weigh, and takes the softmax of what it mixes."""
    return _attention_with(weigh=weigh, mix=lambda weights, scores, queries, keys, values: softmax(weights @ values))


@also(_softmax_of_context(softmax))
def softmax_of_the_context(queries, keys, values):
    """You take the softmax of the context, but it's the scores that become weights. Take it of them, weights =
    softmax(scores), and mix the values without another one: weights @ values."""
    return _softmax_of_context(lambda scores: scores)(queries, keys, values)


def scores_turned_back(queries, keys, values):
    """Your scores are keys by queries, so that the softmax runs over the queries, and turning its weights afterwards
    doesn't undo that. Rows belong to queries from the start: queries @ keys transposed, and weights @ values."""
    weights = softmax(attention_scores(keys, queries))
    return swap(weights) @ values, weights


@also(_attention_with(mix=lambda weights, scores, queries, keys, values: scores @ values))
@maker(lambda weigh: _attention_with(weigh=weigh))
def scores_for_weights(scores):
    """You mix the values with the scores themselves; the softmax between them is missing."""
    return scores


@also(_attention_with(weigh=lambda scores: swap(softmax(scores))))
@_mixing
def weights_transposed(weights, scores, queries, keys, values):
    """Your weights are transposed before they meet the values, so row i mixes by who attends *to* i. Use them as they
    are: weights @ values."""
    return swap(weights) @ values


@maker(lambda weigh: _attention_with(weigh=weigh))
def causal_not_asked(scores):
    """You hide the future: a query sees only the keys up to its own position. Some models do that, as notebook 03
    shows, but here every query sees every key."""
    return softmax(np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf))


@_scaling
def scale_not_yet(queries, keys, values):
    """You divided the scores by sqrt(d_head). Transformers do that, and it is what notebook 02 is about. Here, write
    attention without the division."""
    return root(queries)


@_scaling
def scale_no_root(queries, keys, values):
    """You divided the scores by d_head (or twice by its root). This exercise asks for the plain scores; the right
    divisor is notebook 02's subject."""
    return 1 / queries.shape[-1]


@_scaling
def scale_multiplied(queries, keys, values):
    """You multiplied the scores by sqrt(d_head). This exercise asks for the plain scores; the right divisor is notebook
    02's subject."""
    return queries.shape[-1] ** 0.5


@_scaling
def scale_n_keys(queries, keys, values):
    """You divided the scores by the root of the number of keys. This exercise asks for the plain scores; the right
    divisor is notebook 02's subject."""
    return keys.shape[-2] ** -0.5


@_scaling
def scale_values_width(queries, keys, values):
    """You divided the scores by the root of the values' width. This exercise asks for the plain scores; the right
    divisor is notebook 02's subject."""
    return values.shape[-1] ** -0.5


@also(_attention_with(mix=lambda weights, scores, queries, keys, values: weights * root(queries) @ values))
def scale_after_softmax(queries, keys, values):
    """You divide the weights or the context, after the softmax. The context is then no longer an average, because the
    weights don't add up to 1. This exercise asks for the plain scores; the right divisor is notebook 02's subject."""
    context, weights = dot_product_attention(queries, keys, values)
    return context * root(queries), weights * root(queries)


def returns_scores(queries, keys, values):
    """The context is right, but beside it you return the scores. Return context, weights."""
    return dot_product_attention(queries, keys, values)[0], attention_scores(queries, keys)


@_mixing
def values_first(weights, scores, queries, keys, values):
    """You multiply values @ weights. The order matters: weights @ values."""
    return values @ weights


@_mixing
def context_np_dot(weights, scores, queries, keys, values):
    """On a batch `np.dot` mixes every item's values. `@` (np.matmul) keeps each batch item to itself."""
    return np.dot(weights, values)


# In front of a softmax these are something else, or no mistake at all.
_SCORES_ONLY = {"scores-scaled", "scores-mean", "scores-softmaxed", "scores-minus"}
EARLIER = tuple(
    inside(lambda wrong, step=step: _attention_with(**{step: wrong}), mistake, "Inside your attention: ")
    for module, step in ((wrong_softmax, "weigh"), (wrong_scores, "compare"))
    for mistake in mistakes_in(module)
    if mistake.slug not in _SCORES_ONLY
)
