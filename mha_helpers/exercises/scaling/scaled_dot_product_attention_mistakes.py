"""The mistakes that people make in `scaled_dot_product_attention`."""

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.self_attention.dot_product_attention_mistakes import ATTENTION_MISTAKES, WEIGHTS
from mha_helpers.maths import attention
from mha_helpers.maths.attention import attention_scores, dot_product_attention, softmax


def _scaled_by(factor):
    """Return attention whose scores are multiplied by factor(queries, keys, values, scale)."""

    def wrong_attention(queries, keys, values, scale=None):
        scores = attention_scores(queries, keys) * factor(queries, keys, values, scale)
        weights = softmax(scores)
        return weights @ values, weights

    return wrong_attention


def _by_default(factor):
    """Return attention with another factor, factor(queries, keys, values), where no scale is given."""
    return _scaled_by(lambda q, k, v, scale: factor(q, k, v) if scale is None else scale)


def _root(queries):
    return queries.shape[-1] ** -0.5


def _scale_of(queries, scale):
    return _root(queries) if scale is None else scale


def _after_softmax(queries, keys, values, scale=None):
    weights = softmax(attention_scores(queries, keys)) * _scale_of(queries, scale)
    return weights @ values, weights


def _context_divided(queries, keys, values, scale=None):
    context, weights = dot_product_attention(queries, keys, values)
    return context * _scale_of(queries, scale), weights


def _values_are_queries(queries, keys, values, scale=None):
    _, weights = attention.scaled_dot_product_attention(queries, keys, values, scale=scale)
    return weights @ queries, weights


# The product of two axes is d_model where one of them is the heads'.
def _model_width(queries):
    return queries.shape[-1] * (queries.shape[-3] if queries.ndim > 3 else 1)


def _first_axes_as_heads(queries):
    return queries.shape[-1] * (queries.shape[-3] if queries.ndim > 2 else 1)


def _earlier(mistake):
    """A mistake of notebook 01 made here: scaling the queries first is the same as scaling the scores."""

    def scaled(wrong):
        return lambda queries, keys, values, scale=None: wrong(queries * _scale_of(queries, scale), keys, values)

    implementations = tuple(scaled(wrong) for wrong in mistake.implementations)
    if mistake.slug == "values-are-queries":
        implementations += (_values_are_queries,)
    return Mistake(mistake.slug, mistake.message, implementations, mistake.seen_in)


def _scale(slug, message, *implementations):
    return Mistake(slug, message, implementations, seen_in=WEIGHTS)


SCALE_MISTAKES = (
    _scale(
        "scale-ignored",
        "Right without `scale`, but if a scale is given, you don't use it. It replaces 1 / sqrt(d_head).",
        _scaled_by(lambda q, k, v, scale: _root(q)),
    ),
    _scale(
        "scale-missing",
        "The scores are not divided. Divide them by sqrt(d_head), the root of queries.shape[-1].",
        _by_default(lambda q, k, v: 1),
        _scaled_by(lambda q, k, v, scale: 1),
    ),
    _scale(
        "scale-d-model",
        "You divide by sqrt(d_model), the width of all heads together. Each dot product adds up only d_head terms, so "
        "its spread grows with the root of d_head: queries.shape[-1].",
        _by_default(lambda q, k, v: _model_width(q) ** -0.5),
        _by_default(lambda q, k, v: _first_axes_as_heads(q) ** -0.5),
        _scaled_by(lambda q, k, v, scale: _model_width(q) ** -0.5),
    ),
    _scale(
        "scale-twice",
        "The scaling is done twice: once on the queries (or keys), and again on the scores. Do it once, in either "
        "place.",
        _scaled_by(lambda q, k, v, scale: _scale_of(q, scale) ** 2),
        _scaled_by(lambda q, k, v, scale: _root(q) * _scale_of(q, scale)),
    ),
    _scale(
        "scale-no-root",
        "You divide by d_head itself. The variance grows like d_head, but the spread grows like its *root*, so that "
        "is what you divide by.",
        _by_default(lambda q, k, v: 1 / q.shape[-1]),
        _scaled_by(lambda q, k, v, scale: 1 / q.shape[-1]),
    ),
    _scale(
        "scale-multiplied",
        "You multiply by sqrt(d_head). The scores are already too large: divide.",
        _by_default(lambda q, k, v: 1 / _root(q)),
        _scaled_by(lambda q, k, v, scale: 1 / _root(q)),
    ),
    _scale(
        "scale-n-keys",
        "You divide by the root of the number of keys, keys.shape[-2]. What makes scores large is the number of "
        "features in each dot product: queries.shape[-1].",
        _by_default(lambda q, k, v: k.shape[-2] ** -0.5),
        _scaled_by(lambda q, k, v, scale: k.shape[-2] ** -0.5),
        _by_default(lambda q, k, v: 1 / k.shape[-2]),
    ),
    _scale(
        "scale-n-queries",
        "You divide by the root of the number of queries, queries.shape[-2]. What makes scores large is the number of "
        "features in each dot product: queries.shape[-1].",
        _by_default(lambda q, k, v: q.shape[-2] ** -0.5),
        _scaled_by(lambda q, k, v, scale: q.shape[-2] ** -0.5),
    ),
    _scale(
        "scale-values-width",
        "You divide by the root of the values' width. The scores are dot products of queries and keys: "
        "queries.shape[-1].",
        _by_default(lambda q, k, v: v.shape[-1] ** -0.5),
        _scaled_by(lambda q, k, v, scale: v.shape[-1] ** -0.5),
    ),
    _scale(
        "scale-axis-from-front",
        "You count axes from the front. shape[1] is d_head in a matrix and another axis in a batch, and shape[0] "
        "(or len) is d_head in neither. The last is always shape[-1].",
        _by_default(lambda q, k, v: q.shape[1] ** -0.5),
        _by_default(lambda q, k, v: k.shape[1] ** -0.5),
        _by_default(lambda q, k, v: q.shape[0] ** -0.5),
        _by_default(lambda q, k, v: k.shape[0] ** -0.5),
        *(
            _scaled_by(lambda *given, which=which, axis=axis: given[which].shape[axis] ** -0.5)
            for which in (0, 1)
            for axis in (0, 1)
        ),
    ),
    _scale(
        "scale-constant",
        "The divisor is one fixed number. It must follow the input: sqrt(queries.shape[-1]).",
        *(_by_default(lambda q, k, v, width=width: width**-0.5) for width in (2, 3, 4, 8, 64, 512)),
        _by_default(lambda q, k, v: 1 / 8),
    ),
    _scale(
        "scale-precedence",
        "`d ** 1 / 2` is (d ** 1) / 2, half of d: the power binds first. Write d ** 0.5, or np.sqrt(d).",
        _by_default(lambda q, k, v: 2 / q.shape[-1]),
        _by_default(lambda q, k, v: 1 / (2 * q.shape[-1])),
        _scaled_by(lambda q, k, v, scale: 2 / q.shape[-1]),
        _scaled_by(lambda q, k, v, scale: 1 / (2 * q.shape[-1])),
    ),
    _scale(
        "scale-on-top",
        "Right without `scale`, but if one is given, you apply it on top of 1 / sqrt(d_head). It should replace it.",
        _scaled_by(lambda q, k, v, scale: _root(q) * (1 if scale is None else scale)),
    ),
    _scale(
        "scale-divides",
        "Right without `scale`, but if one is given, you divide by it. `scale` is what the scores are *multiplied* "
        "by, 1 / sqrt(d_head) unless given.",
        _scaled_by(lambda q, k, v, scale: _root(q) if scale is None else 1 / scale if scale else np.inf),
        _scaled_by(lambda q, k, v, scale: np.float64(1) / (1 / _root(q) if scale is None else np.float64(scale))),
    ),
    _scale(
        "scale-zero-as-none",
        "Right except for scale=0, which `scale or ...` and `if scale` treat as if it hadn't been given. Ask `if "
        "scale is None`.",
        _scaled_by(lambda q, k, v, scale: scale or _root(q)),
        _scaled_by(lambda q, k, v, scale: scale or 1),
    ),
    Mistake(
        "scale-after-softmax",
        "You divide the weights or the context, after the softmax. The weights then no longer add up to 1, and the "
        "softmax is as saturated as before. Divide the scores.",
        (_after_softmax, _context_divided),
    ),
)


SCALED_MISTAKES = (
    *SCALE_MISTAKES,
    *(_earlier(mistake) for mistake in ATTENTION_MISTAKES if not mistake.slug.startswith("scale-")),
)
