"""The mistakes that people make in `attention_gradients`: each a step backwards that is not the step forwards."""

import numpy as np

from function_judge.catalogue import Mistake
from mha_helpers.attention import scaled_dot_product_attention, softmax, softmax_or_zeros
from mha_helpers.exercises.mistakes.catalogue import also, maker
from mha_helpers.exercises.mistakes.steps import root, swap

D_QUERIES, D_KEYS, D_VALUES = 0, 1, 2


def _through_softmax(weights, d_weights):
    return weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))


def _weights(queries, keys, mask):
    return scaled_dot_product_attention(queries, keys, keys, mask)[1]


def _backwards(
    weigh=_weights,
    softmax_step=_through_softmax,
    factor=lambda scale: scale,
    d_weights=lambda d_context, values: d_context @ swap(values),
    d_queries=lambda d_scores, keys: d_scores @ keys,
    d_keys=lambda d_scores, queries: swap(d_scores) @ queries,
    d_values=lambda weights, d_context: swap(weights) @ d_context,
):
    """Return the gradients with one of their steps replaced."""

    def wrong_gradients(queries, keys, values, d_context, mask=None):
        weights = weigh(queries, keys, mask)
        d_scores = softmax_step(weights, d_weights(d_context, values)) * factor(root(queries))
        return d_queries(d_scores, keys), d_keys(d_scores, queries), d_values(weights, d_context)

    return wrong_gradients


_through_softmax_by = maker(lambda softmax_step: _backwards(softmax_step=softmax_step))


@maker
def _right_but(change):
    """Return the right gradients, of which change(d_queries, d_keys, d_values) is returned."""
    return lambda queries, keys, values, d_context, mask=None: change(
        *_backwards()(queries, keys, values, d_context, mask)
    )


def _scaled(*powers):
    """Return the gradients of queries, keys and values, each multiplied by a power of the scale.

    Right are 1, 1 and 0.
    """

    def wrong_gradients(queries, keys, values, d_context, mask=None):
        unscaled = _backwards(factor=lambda scale: 1)(queries, keys, values, d_context, mask)
        return tuple(gradient * root(queries) ** power for gradient, power in zip(unscaled, powers, strict=True))

    return wrong_gradients


def _values_only_masked(queries, keys, values, d_context, mask=None):
    """d_values with the mask, and the rest of the way without it."""
    *others, _ = _backwards()(queries, keys, values, d_context)
    return *others, _backwards()(queries, keys, values, d_context, mask)[D_VALUES]


def _scores_only_masked(queries, keys, values, d_context, mask=None):
    """The weights are those without the mask, and what comes back to hidden scores is set to 0."""

    def through(weights, d_weights):
        d_scores = _through_softmax(weights, d_weights)
        return d_scores if mask is None else np.where(mask, d_scores, 0)

    return _backwards(softmax_step=through)(queries, keys, values, d_context)


@also(_values_only_masked, _scores_only_masked)
def gradients_mask_forgotten(queries, keys, values, d_context, mask=None):
    """The weights that you go back through are not, or not everywhere, those with the mask: hidden keys get a gradient.
    Use the same weights as forwards; their zeros then stop everything that comes back."""
    return _backwards()(queries, keys, values, d_context)


@maker(lambda weigh: _backwards(weigh=weigh))
@also(low=(-1e9,))
@also(weigh=(softmax_or_zeros,))
def gradients_mask_none(queries, keys, mask, low=-np.inf, weigh=softmax):
    """It goes wrong where no mask is given: `mask` is None then, and np.where(None, a, b) takes b everywhere, as if
    every key were hidden. Ask first whether there is one: `if mask is not None:`."""
    return weigh(np.where(mask, queries @ swap(keys) * root(queries), low))


@also(_scaled(0, 1, 0), _scaled(1, 0, 0))
@maker(lambda factor: _backwards(factor=factor))
def gradients_scale_missing(scale):
    """The scale is forgotten on the way back. The scores were multiplied by 1 / sqrt(d_head), and so is what comes back
    through them, to the queries and to the keys."""
    return 1


@also(_scaled(2, 1, 0), _scaled(1, 2, 0))
@maker(lambda factor: _backwards(factor=factor))
def gradients_scale_twice(scale):
    """The scale is in it twice: what comes back to the queries or keys is divided by d_head instead of its root.
    Forwards the scores were divided by sqrt(d_head) once; backwards it is once, too."""
    return scale**2


GRADIENTS_SCALE_DIVIDED = Mistake(
    "gradients-scale-divided",
    "On the way back you multiply by sqrt(d_head), in d_queries, in d_keys or in both. (Dividing by 1 / "
    "sqrt(d_head), does the same.) Divide by sqrt(d_head), the sqrt(d_k) of the formulas: a factor forwards is "
    "the same factor backwards. d_values has no such factor.",
    tuple(_scaled(*powers) for powers in ((-1, -1, 0), (-1, 1, 0), (1, -1, 0), (-1, 0, 0), (0, -1, 0), (-1, -1, -1))),
)


GRADIENTS_SCALE_IN_VALUES = Mistake(
    "gradients-scale-in-values",
    "d_values has the scale in it. Only the scores are scaled, and the values are mixed after that: d_values is "
    "weights^T @ d_context, with no factor. The scale belongs to d_queries and d_keys.",
    (_scaled(1, 1, 1),),
)


@maker(lambda weigh: _backwards(weigh=weigh))
@also(power=(-1, 2))
def gradients_forwards_scale(queries, keys, mask, power=0):
    """The weights are wrong already on the way forwards, and so is all that comes back. Divide the scores by
    sqrt(d_head) before the softmax, as in notebook 02."""
    return scaled_dot_product_attention(queries, keys, keys, mask, scale=root(queries) ** power)[1]


@_through_softmax_by
def gradients_outer_missing(p, d_p):
    """You have P * dP for the softmax, its Jacobian without -p p^T. The weights of a row compete: subtract the row's
    average of dP, weighted by P, before you multiply."""
    return p * d_p


@_through_softmax_by
def gradients_diagonal_only(p, d_p):
    """You multiply by p (1 - p), the diagonal of the softmax's Jacobian. Each weight depends on the other scores of its
    row, too: that is -p p^T."""
    return p * (1 - p) * d_p


@_through_softmax_by
@also(lambda p, d_p: -_through_softmax(p, d_p))
def gradients_outer_added(p, d_p):
    """In the softmax's step a sign is wrong: the row's weighted mean is subtracted."""
    return p * (d_p + (p * d_p).sum(axis=-1, keepdims=True))


@_through_softmax_by
@also(lambda p, d_p: p * (d_p - d_p.mean(axis=-1, keepdims=True)))
def gradients_plain_sum(p, d_p):
    """In the softmax's step you subtract the sum (or the plain mean) of dP. The average is a weighted one: each entry
    counts as much as its weight, (P * dP).sum(axis=-1, keepdims=True)."""
    return p * (d_p - d_p.sum(axis=-1, keepdims=True))


@_through_softmax_by
def gradients_axis_lost(p, d_p):
    """In the softmax's step the sum has lost its axis, so that a row meets another row's sum, or none. keepdims=True
    keeps it: P * (dP - (P * dP).sum(axis=-1, keepdims=True))."""
    return p * (d_p - (p * d_p).sum(axis=-1))


@_through_softmax_by
def gradients_mean_of_products(p, d_p):
    """In the softmax's step you take the mean of P * dP, where their sum belongs. The weights of a row add up to 1
    already, so that this sum is the mean, each entry counted by its weight."""
    return p * (d_p - (p * d_p).mean(axis=-1, keepdims=True))


@_through_softmax_by
@also(lambda p, d_p: p * (d_p - p * d_p.sum(axis=-1, keepdims=True)))
def gradients_brackets(p, d_p):
    """In the softmax's step brackets are missing. Multiply, then add up, then subtract, and multiply once more:
    P * (dP - (P * dP).sum(axis=-1, keepdims=True))."""
    return p * d_p - (p * d_p).sum(axis=-1, keepdims=True)


@_through_softmax_by
@also(lambda p, d_p: p * (d_p - (p * d_p).sum()))
def gradients_over_queries(p, d_p):
    """In the softmax's step you add up over more than one query's row. Each query's weights share out 1 among the keys:
    add up along a row, axis=-1, and keep the axis (keepdims=True)."""
    return p * (d_p - (p * d_p).sum(axis=-2, keepdims=True))


@_through_softmax_by
@also(lambda p, d_p: d_p - (p * d_p).sum(axis=-1, keepdims=True))
def gradients_no_softmax(p, d_p):
    """You go from the weights straight to the scores, as if there were no softmax between them."""
    return d_p


@maker
def _of_d_scores(change):
    """Return the gradients of which the first two are change(d_scores, queries, keys)."""

    def wrong_gradients(queries, keys, values, d_context, mask=None):
        weights = _weights(queries, keys, mask)
        d_scores = _through_softmax(weights, d_context @ swap(values)) * root(queries)
        return *change(d_scores, queries, keys), swap(weights) @ d_context

    return wrong_gradients


@_of_d_scores
@also(
    lambda d_scores, queries, keys: (d_scores @ keys, d_scores @ keys),
    lambda d_scores, queries, keys: (d_scores @ queries, swap(d_scores) @ queries),
)
def gradients_other_operand(d_scores, queries, keys):
    """In d_queries or in d_keys the other factor is the wrong one. What comes back to a query is made of the keys that
    it met, dS @ keys; what comes back to a key is made of the queries, dS^T @ queries."""
    return d_scores @ keys, swap(d_scores) @ keys


@also(_of_d_scores(lambda d_scores, queries, keys: (d_scores @ queries, swap(d_scores) @ keys)))
@_right_but
def gradients_exchanged(d_queries, d_keys, d_values):
    """Queries and keys are exchanged: what comes back to a query is made of the keys that it met, dS @ keys, and to a
    key of the queries, dS^T @ queries."""
    return d_keys, d_queries, d_values


@_right_but
@also(order=((D_QUERIES, D_VALUES, D_KEYS), (D_VALUES, D_QUERIES, D_KEYS), (D_KEYS, D_VALUES, D_QUERIES)))
def gradients_order(*gradients, order=(D_VALUES, D_KEYS, D_QUERIES)):
    """The gradients are right, but not in their order: return d_queries, d_keys, d_values."""
    return tuple(gradients[place] for place in order)


@also(
    _backwards(d_values=np.matmul),
    _backwards(d_weights=np.matmul),
    _backwards(d_keys=np.matmul, d_values=np.matmul),
    _backwards(d_queries=lambda d_scores, keys: swap(d_scores) @ keys),
    _backwards(d_keys=lambda d_scores, queries: swap(queries) @ d_scores),
)
@maker(lambda d_keys: _backwards(d_keys=d_keys))
def gradients_transpose_missing(d_scores, queries):
    """A transpose is missing on the way back. For C = A @ B, d_A is d_C @ B^T and d_B is A^T @ d_C; with a batch, the
    transpose is swapaxes(-1, -2)."""
    return d_scores @ queries


def _first_axis(gradient):
    return 0


@_right_but
@also(combine=(np.sum, np.mean), axes_of=(lambda gradient: tuple(range(gradient.ndim - 2)), _first_axis))
def gradients_summed_over_batch(*gradients, combine=np.sum, axes_of=_first_axis):
    """You add up (or average) over the batch. That is right for matrices that all sequences share; each sequence has
    its own queries, keys and values, and so its own gradients."""
    return tuple(combine(each, axis=axes_of(each)) if each.ndim > 2 else each for each in gradients)


def gradients_context_ignored(queries, keys, values, d_context, mask=None):
    """You go back from a loss of your own, as if all of d_context were 1. What comes back to the context is an
    argument: use d_context as it is given."""
    return _backwards()(queries, keys, values, np.ones_like(d_context), mask)


@_right_but
def gradients_descent(*gradients):
    """All signs are turned round. A gradient points up the loss; the minus belongs to the step that is taken with
    it."""
    return tuple(-gradient for gradient in gradients)
