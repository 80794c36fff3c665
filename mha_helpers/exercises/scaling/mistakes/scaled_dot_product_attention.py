"""The mistakes that people make in `scaled_dot_product_attention`."""

import sys
from dataclasses import replace

import numpy as np

from mha_helpers import attention
from mha_helpers.attention import attention_scores, dot_product_attention, softmax
from mha_helpers.exercises.mistakes import in_each_head
from mha_helpers.exercises.mistakes.catalogue import also, inside, maker, mistake_of, mistakes_in
from mha_helpers.exercises.mistakes.steps import root
from mha_helpers.exercises.self_attention.mistakes import dot_product_attention as unscaled


@maker
def _scaled_by(factor):
    """Return attention whose scores are multiplied by factor(queries, keys, values, scale)."""

    def wrong_attention(queries, keys, values, scale=None):
        weights = softmax(attention_scores(queries, keys) * factor(queries, keys, values, scale))
        return weights @ values, weights

    return wrong_attention


def _unless_given(factor):
    return _scaled_by(lambda *arguments: factor(*arguments[:3]) if arguments[3] is None else arguments[3])


def _always(factor):
    return _scaled_by(lambda *arguments: factor(*arguments[:3]))


# A factor(queries, keys, values) that takes the place of 1 / sqrt(d_head).
_by_default = maker(_unless_given, _always)


def _scale_of(queries, scale):
    return root(queries) if scale is None else scale


# The product of two axes is d_model where one of them is the heads'.
def _model_width(queries):
    return queries.shape[-1] * (queries.shape[-3] if queries.ndim > 3 else 1)


def _first_axes_as_heads(queries):
    return queries.shape[-1] * (queries.shape[-3] if queries.ndim > 2 else 1)


@_scaled_by
def scale_ignored(queries, keys, values, scale):
    """Right without `scale`, but if a scale is given, you don't use it. It replaces 1 / sqrt(d_head)."""
    return root(queries)


MISSING = mistake_of(_by_default(in_each_head.scale_missing))


@_by_default
@also(width=(_first_axes_as_heads,))
def scale_d_model(queries, keys, values, width=_model_width):
    """You divide by sqrt(d_model), the width of all heads together. Each dot product adds up only d_head terms, so its
    spread grows with the root of d_head: queries.shape[-1]."""
    return width(queries) ** -0.5


@_scaled_by
@also(lambda queries, keys, values, scale: root(queries) * _scale_of(queries, scale))
def scale_twice(queries, keys, values, scale):
    """The scaling is done twice: once on the queries (or keys), and again on the scores. Do it once, in either
    place."""
    return _scale_of(queries, scale) ** 2


OTHER_POWERS = tuple(
    mistake_of(_by_default(step))
    for step in (
        in_each_head.scale_no_root,
        in_each_head.scale_multiplied,
    )
)


@_by_default
@also(lambda queries, keys, values: 1 / keys.shape[-2])
def scale_n_keys(queries, keys, values):
    """You divide by the root of the number of keys, keys.shape[-2]. What makes scores large is the number of features
    in each dot product: queries.shape[-1]."""
    return keys.shape[-2] ** -0.5


@_by_default
def scale_n_queries(queries, keys, values):
    """You divide by the root of the number of queries, queries.shape[-2]. What makes scores large is the number of
    features in each dot product: queries.shape[-1]."""
    return queries.shape[-2] ** -0.5


@_by_default
def scale_values_width(queries, keys, values):
    """You divide by the root of the values' width. The scores are dot products of queries and keys:
    queries.shape[-1]."""
    return values.shape[-1] ** -0.5


@_by_default
@also(axis=(1, 0), which=(0, 1))
def scale_axis_from_front(*arguments, axis=1, which=0):
    """You count axes from the front. shape[1] is d_head in a matrix and another axis in a batch, and shape[0] (or len)
    is d_head in neither. The last is always shape[-1]."""
    return arguments[which].shape[axis] ** -0.5


@_by_default
@also(width=(3, 4, 8, 64, 512))
def scale_constant(queries, keys, values, width=2):
    """The divisor is one fixed number. It must follow the input: sqrt(queries.shape[-1])."""
    return width**-0.5


PRECEDENCE = mistake_of(_by_default(in_each_head.scale_precedence))


@_scaled_by
def scale_on_top(queries, keys, values, scale):
    """Right without `scale`, but if one is given, you apply it on top of 1 / sqrt(d_head). It should replace it."""
    return root(queries) * (1 if scale is None else scale)


@_scaled_by
def scale_divides(queries, keys, values, scale):
    """Right without `scale`, but if one is given, you divide by it. `scale` is what the scores are *multiplied* by, 1 /
    sqrt(d_head) unless given."""
    return root(queries) if scale is None else 1 / scale if scale else np.inf


@_scaled_by
@also(lambda queries, keys, values, scale: scale or 1)
def scale_zero_as_none(queries, keys, values, scale):
    """Right except for scale=0, which `scale or ...` and `if scale` treat as if it hadn't been given. Ask `if scale is
    None`."""
    return scale or root(queries)


def _context_divided(queries, keys, values, scale=None):
    context, weights = dot_product_attention(queries, keys, values)
    return context * _scale_of(queries, scale), weights


@also(_context_divided)
def scale_after_softmax(queries, keys, values, scale=None):
    """You divide the weights or the context, after the softmax. The weights then no longer add up to 1, and the softmax
    is as saturated as before. Divide the scores."""
    weights = softmax(attention_scores(queries, keys)) * _scale_of(queries, scale)
    return weights @ values, weights


@_scaled_by
def scale_divided_by(queries, keys, values, scale):
    """You divide the scores by the scale. `scale` is what they are *multiplied* by, whether it is given or, by default,
    1 / sqrt(d_head)."""
    return 1 / _scale_of(queries, scale) if scale != 0 else np.inf


def _scaled_first(wrong):
    """Return a wrong attention of notebook 01 on scaled queries, which is the same as scaled scores."""
    return lambda queries, keys, values, scale=None: wrong(queries * _scale_of(queries, scale), keys, values)


@also(_scaled_first(unscaled.values_are_queries))
def values_are_queries(queries, keys, values, scale=None):
    """You mix the queries. What gets mixed is the values: weights @ values."""
    _, weights = attention.scaled_dot_product_attention(queries, keys, values, scale=scale)
    return weights @ queries, weights


EARLIER = tuple(
    inside(_scaled_first, mistake)
    for mistake in mistakes_in(unscaled)
    if not mistake.slug.startswith("scale-") and mistake.slug != "values-are-queries"
)


# These show only where a `scale` is given, or stand in the later exercises already.
_NO_DIVISORS = {"twice", "ignored", "on-top", "divides", "divided-by", "zero-as-none", "after-softmax"}


# The wrong divisors, for an exercise without `scale`: there the second half of the spellings, `_always`, gives what the
# first half gives.
def without_scale():
    divisors = (
        mistake
        for mistake in mistakes_in(sys.modules[__name__])
        if mistake.slug.startswith("scale-") and mistake.slug.removeprefix("scale-") not in _NO_DIVISORS
    )
    return tuple(
        replace(each, implementations=each.implementations[: len(each.implementations) // 2]) for each in divisors
    )
