"""The mistakes that people make in `attention_gradients`: each a step backwards that is not the step forwards."""

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.steps import swap
from mha_helpers.maths.attention import scaled_dot_product_attention, softmax, softmax_or_zeros

D_QUERIES, D_KEYS, D_VALUES = 0, 1, 2


def through_softmax(weights, d_weights):
    return weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))


def _backwards(
    softmax_step=through_softmax,
    factor=lambda scale: scale,
    d_weights_of=lambda d_context, values: d_context @ swap(values),
    d_queries_of=lambda d_scores, keys: d_scores @ keys,
    d_keys_of=lambda d_scores, queries: swap(d_scores) @ queries,
    d_values_of=lambda weights, d_context: swap(weights) @ d_context,
    mask_of=lambda mask: mask,
    forwards=lambda scale: scale,
):
    """Return the gradients with one of their steps replaced."""

    def wrong_gradients(queries, keys, values, d_context, mask=None):
        scale = queries.shape[-1] ** -0.5
        _, weights = scaled_dot_product_attention(queries, keys, values, mask_of(mask), scale=forwards(scale))
        d_scores = softmax_step(weights, d_weights_of(d_context, values)) * factor(scale)
        return d_queries_of(d_scores, keys), d_keys_of(d_scores, queries), d_values_of(weights, d_context)

    return wrong_gradients


def _scaled(*powers):
    """Return the gradients of queries, keys and values, each multiplied by a power of the scale.

    Right are 1, 1 and 0.
    """

    def wrong_gradients(queries, keys, values, d_context, mask=None):
        scale = queries.shape[-1] ** -0.5
        unscaled = _backwards(factor=lambda scale: 1)(queries, keys, values, d_context, mask)
        return tuple(gradient * scale**power for gradient, power in zip(unscaled, powers, strict=True))

    return wrong_gradients


def _right_but(change):
    """Return the right gradients, of which change(d_queries, d_keys, d_values) is returned."""
    right = _backwards()
    return lambda queries, keys, values, d_context, mask=None: change(*right(queries, keys, values, d_context, mask))


def _over_batch(combine):
    """Return the gradients with the batch axes combined into one matrix."""

    def of(gradient):
        return combine(gradient, axis=tuple(range(gradient.ndim - 2))) if gradient.ndim > 2 else gradient

    return _right_but(lambda *gradients: tuple(map(of, gradients)))


def _first_axis(combine):
    return _right_but(lambda *gradients: tuple(combine(g, axis=0) if g.ndim > 2 else g for g in gradients))


def _unmasked(queries, keys, values, d_context, mask=None):
    return _backwards()(queries, keys, values, d_context)


def _values_only_masked(queries, keys, values, d_context, mask=None):
    """d_values with the mask, and the rest of the way without it."""
    *others, _ = _backwards()(queries, keys, values, d_context)
    return *others, _backwards()(queries, keys, values, d_context, mask)[D_VALUES]


def _scores_only_masked(queries, keys, values, d_context, mask=None):
    """The weights are those without the mask, and what comes back to hidden scores is set to 0."""

    def through(weights, d_weights):
        d_scores = through_softmax(weights, d_weights)
        return d_scores if mask is None else np.where(mask, d_scores, 0)

    return _backwards(through)(queries, keys, values, d_context)


def _mask_never_none(weigh):
    """Return the gradients with weights of weigh(scores, mask), also where the mask is None."""

    def wrong_gradients(queries, keys, values, d_context, mask=None):
        scale = queries.shape[-1] ** -0.5
        weights = weigh(queries @ swap(keys) * scale, mask)
        d_scores = through_softmax(weights, d_context @ swap(values)) * scale
        return d_scores @ keys, swap(d_scores) @ queries, swap(weights) @ d_context

    return wrong_gradients


GRADIENT_MISTAKES = (
    Mistake(
        "gradients-mask-forgotten",
        "The weights that you go back through are not, or not everywhere, those with the mask: hidden keys get a "
        "gradient. Use the same weights as forwards; their zeros then stop everything that comes back.",
        (_unmasked, _values_only_masked, _scores_only_masked),
    ),
    Mistake(
        "gradients-mask-none",
        "It goes wrong where no mask is given: `mask` is None then, and np.where(None, a, b) takes b everywhere, as if "
        "every key were hidden. Ask first whether there is one: `if mask is not None:`.",
        tuple(
            _mask_never_none(weigh)
            for weigh in (
                lambda scores, mask: softmax(np.where(mask, scores, -np.inf)),
                lambda scores, mask: softmax_or_zeros(np.where(mask, scores, -np.inf)),
                lambda scores, mask: softmax(np.where(mask, scores, -1e9)),
            )
        ),
        D_VALUES,
    ),
    Mistake(
        "gradients-scale-missing",
        "The scale is forgotten on the way back. The scores were multiplied by 1 / sqrt(d_head), and so is what comes "
        "back through them, to the queries and to the keys.",
        (
            _backwards(factor=lambda scale: 1),
            _scaled(0, 1, 0),
            _scaled(1, 0, 0),
        ),
    ),
    Mistake(
        "gradients-scale-twice",
        "The scale is in it twice: what comes back to the queries or keys is divided by d_head instead of its root. "
        "Forwards the scores were divided by sqrt(d_head) once; backwards it is once, too.",
        (_backwards(factor=lambda scale: scale**2), _scaled(2, 1, 0), _scaled(1, 2, 0)),
    ),
    Mistake(
        "gradients-scale-divided",
        "On the way back you multiply by sqrt(d_head), in d_queries, in d_keys or in both. (Dividing by 1 / "
        "sqrt(d_head), does the same.) Divide by sqrt(d_head), the sqrt(d_k) of the formulas: a factor forwards is the "
        "same factor backwards. d_values has no such factor.",
        (
            _backwards(factor=lambda scale: 1 / scale),
            *(_scaled(*powers, 0) for powers in ((-1, 1), (1, -1), (-1, 0), (0, -1))),
            _scaled(-1, -1, -1),
        ),
    ),
    Mistake(
        "gradients-scale-in-values",
        "d_values has the scale in it. Only the scores are scaled, and the values are mixed after that: d_values is "
        "weights^T @ d_context, with no factor. The scale belongs to d_queries and d_keys.",
        (_scaled(1, 1, 1),),
    ),
    Mistake(
        "gradients-forwards-scale",
        "The weights are wrong already on the way forwards, and so is all that comes back. Divide the scores by "
        "sqrt(d_head) before the softmax, as in notebook 02.",
        tuple(
            _backwards(forwards=forwards)
            for forwards in (lambda scale: 1.0, lambda scale: 1 / scale, lambda scale: scale**2)
        ),
        D_VALUES,
    ),
    Mistake(
        "gradients-outer-missing",
        "You have p * d_weights for the softmax, its Jacobian without -p p^T. The weights of a row compete: subtract "
        "the row's mean, weighted by p, before you multiply.",
        (_backwards(lambda p, d_p: p * d_p),),
    ),
    Mistake(
        "gradients-diagonal-only",
        "You multiply by p (1 - p), the diagonal of the softmax's Jacobian. Each weight depends on the other scores of "
        "its row, too: that is -p p^T.",
        (_backwards(lambda p, d_p: p * (1 - p) * d_p),),
    ),
    Mistake(
        "gradients-outer-added",
        "In the softmax's step a sign is wrong: the row's weighted mean is subtracted.",
        (
            _backwards(lambda p, d_p: p * (d_p + (p * d_p).sum(axis=-1, keepdims=True))),
            _backwards(lambda p, d_p: -through_softmax(p, d_p)),
        ),
    ),
    Mistake(
        "gradients-plain-sum",
        "In the softmax's step you subtract the sum (or the plain mean) of d_weights. Each entry counts as much as its "
        "weight: (weights * d_weights).sum(axis=-1, keepdims=True).",
        (
            _backwards(lambda p, d_p: p * (d_p - d_p.sum(axis=-1, keepdims=True))),
            _backwards(lambda p, d_p: p * (d_p - d_p.mean(axis=-1, keepdims=True))),
        ),
    ),
    Mistake(
        "gradients-brackets",
        "In the softmax's step brackets are missing. Multiply, then add up, then subtract, and multiply once more: "
        "weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)).",
        (
            _backwards(lambda p, d_p: p * d_p - (p * d_p).sum(axis=-1, keepdims=True)),
            _backwards(lambda p, d_p: p * (d_p - p * d_p.sum(axis=-1, keepdims=True))),
        ),
    ),
    Mistake(
        "gradients-over-queries",
        "In the softmax's step you add up over more than one query's row. Each query's weights share out 1 among the "
        "keys: add up along a row, axis=-1, and keep the axis (keepdims=True).",
        (
            _backwards(lambda p, d_p: p * (d_p - (p * d_p).sum(axis=-2, keepdims=True))),
            _backwards(lambda p, d_p: p * (d_p - (p * d_p).sum())),
        ),
    ),
    Mistake(
        "gradients-no-softmax",
        "You go from the weights straight to the scores, as if there were no softmax between them.",
        (
            _backwards(lambda p, d_p: d_p),
            _backwards(lambda p, d_p: d_p - (p * d_p).sum(axis=-1, keepdims=True)),
        ),
    ),
    Mistake(
        "gradients-exchanged",
        "Queries and keys are exchanged: what comes back to a query is made of the keys that it met, d_scores @ keys, "
        "and to a key of the queries, d_scores^T @ queries.",
        (
            _right_but(lambda d_queries, d_keys, d_values: (d_keys, d_queries, d_values)),
            lambda queries, keys, values, d_context, mask=None: _exchanged(queries, keys, values, d_context, mask),
        ),
    ),
    Mistake(
        "gradients-order",
        "The gradients are right, but not in their order: return d_queries, d_keys, d_values.",
        (
            _right_but(lambda d_queries, d_keys, d_values: (d_values, d_keys, d_queries)),
            _right_but(lambda d_queries, d_keys, d_values: (d_queries, d_values, d_keys)),
            _right_but(lambda d_queries, d_keys, d_values: (d_values, d_queries, d_keys)),
            _right_but(lambda d_queries, d_keys, d_values: (d_keys, d_values, d_queries)),
        ),
    ),
    Mistake(
        "gradients-transpose-missing",
        "A transpose is missing on the way back. For C = A @ B, d_A is d_C @ B^T and d_B is A^T @ d_C; with a batch, "
        "the transpose is swapaxes(-1, -2).",
        (
            _backwards(d_keys_of=lambda d_scores, queries: d_scores @ queries),
            _backwards(d_values_of=lambda weights, d_context: weights @ d_context),
            _backwards(d_weights_of=lambda d_context, values: d_context @ values),
            _backwards(
                d_keys_of=lambda d_scores, queries: d_scores @ queries,
                d_values_of=lambda weights, d_context: weights @ d_context,
            ),
            _backwards(d_queries_of=lambda d_scores, keys: swap(d_scores) @ keys),
        ),
    ),
    Mistake(
        "gradients-summed-over-batch",
        "You add up (or average) over the batch. That is right for matrices that all sequences share; each sequence "
        "has its own queries, keys and values, and so its own gradients.",
        (_over_batch(np.sum), _over_batch(np.mean), _first_axis(np.sum), _first_axis(np.mean)),
    ),
    Mistake(
        "gradients-descent",
        "All signs are turned round. A gradient points up the loss; the minus belongs to the step that is taken with "
        "it.",
        (_right_but(lambda *gradients: tuple(-g for g in gradients)),),
    ),
)


def _exchanged(queries, keys, values, d_context, mask):
    scale = queries.shape[-1] ** -0.5
    _, weights = scaled_dot_product_attention(queries, keys, values, mask)
    d_scores = through_softmax(weights, d_context @ swap(values)) * scale
    return d_scores @ queries, swap(d_scores) @ keys, swap(weights) @ d_context
