"""Notebook 01's exercises: softmax, attention_scores, dot_product_attention, and their mistakes."""

import math

import numpy as np

from mha_helpers import attention
from mha_helpers.attention import attention_scores, softmax
from mha_helpers.exercises.engine import Case, Exercise, Mistake


def _draws(seed, **shapes):
    """Return random arguments: two decimals, so that a learner can type them in."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=shape).round(2) for name, shape in shapes.items()}


def _swap(array):
    return array.swapaxes(-1, -2)


# ---- softmax ---------------------------------------------------------------------------------

# Rows a thousand apart: without the row's own maximum subtracted, some row overflows or sums to 0.
LARGE_SCORES = np.array([[1000.0, 999.0, 998.0, -2000.0], [-1000.0, -1001.0, -999.0, -1003.0], [0.5, 1.5, -0.5, 1.0]])


def _softmax_cases():
    def scores(seed, *shape):
        return {"scores": 1.5 * _draws(seed, scores=shape)["scores"]}

    transposed = scores(6, 5, 4)["scores"].T
    return (
        Case("a matrix", scores(0, 3, 5)),
        Case("one row", scores(1, 4)),
        Case("a square matrix", scores(2, 4, 4)),
        Case("a batch", scores(3, 2, 3, 5)),
        Case("a batch with heads", scores(4, 2, 3, 4, 5)),
        Case("float32", {"scores": scores(5, 4, 6)["scores"].astype(np.float32)}),
        Case("a transposed view", {"scores": transposed}),
        Case("very large scores", {"scores": LARGE_SCORES}, stress=True),
        Case("very large scores in a batch", {"scores": np.stack([LARGE_SCORES[::-1], LARGE_SCORES])}, stress=True),
    )


def _normalised(exponentials, axis):
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def _exp_from_max(scores, axis=-1, keepdims=True):
    return np.exp(scores - scores.max(axis=axis, keepdims=keepdims))


def _loop_without_max(scores):
    """The overflow as Python's own `math.exp` meets it."""
    if scores.ndim > 1:
        return np.array([_loop_without_max(row) for row in scores])
    exponentials = [math.exp(score) for score in scores.tolist()]
    return np.array([e / sum(exponentials) for e in exponentials])


SOFTMAX_MISTAKES = (
    Mistake(
        "softmax-over-queries",
        "Your columns sum to 1, not your rows. Each query shares out its own attention, so every row must sum to 1: "
        "sum over the keys, axis=-1.",
        (
            lambda scores: _normalised(_exp_from_max(scores, -2), -2),
            lambda scores: _normalised(_exp_from_max(scores), -2),
            lambda scores: _normalised(_exp_from_max(scores, 0), 0),
            lambda scores: _normalised(_exp_from_max(scores), 0),
        ),
    ),
    Mistake(
        "softmax-axis-1",
        "axis=1 is the last axis of a matrix only. In a batch it is the queries' axis, and in one row it does not "
        "exist. Count from the end: axis=-1.",
        (
            lambda scores: _normalised(_exp_from_max(scores, 1), 1),
            lambda scores: _normalised(_exp_from_max(scores), 1),
        ),
    ),
    Mistake(
        "softmax-global",
        "You divide by one sum over the whole array. Each row needs its own sum, of that row alone: "
        "axis=-1, keepdims=True.",
        (
            lambda scores: _normalised(np.exp(scores - scores.max()), None),
            lambda scores: _normalised(_exp_from_max(scores), None),
            lambda scores: _normalised(_exp_from_max(scores), (-2, -1)),
            lambda scores: _normalised(_exp_from_max(scores, (-2, -1)), (-2, -1)),
        ),
    ),
    Mistake(
        "softmax-no-exp",
        "You divide the scores by their sum and leave out exp. Scores may be negative, and then such weights are too; "
        "exp makes every one of them positive first.",
        (
            lambda scores: _normalised(scores, -1),
            lambda scores: _normalised(scores - scores.max(axis=-1, keepdims=True), -1),
        ),
    ),
    Mistake(
        "softmax-no-max",
        "Right for small scores, but exp(1000) is too large for any float, and exp(-1000) rounds to 0. Subtract each "
        "row's largest score before exp: the weights stay the same, and the largest power is exp(0) = 1.",
        (
            lambda scores: _normalised(np.exp(scores), -1),
            lambda scores: np.exp(scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))),
            _loop_without_max,
        ),
    ),
    Mistake(
        "softmax-global-max",
        "You subtract the largest score of the whole array. A row far below it is left with exp of something like "
        "-2000, all zeros, and 0/0. Subtract each row's own maximum: axis=-1, keepdims=True.",
        (
            lambda scores: _normalised(np.exp(scores - scores.max()), -1),
            lambda scores: _normalised(_exp_from_max(scores, (-2, -1)), -1) if scores.ndim > 1 else softmax(scores),
        ),
    ),
    Mistake(
        "softmax-hard-max",
        "You give all the weight to the largest score. Softmax is soft: the others keep some, exp(score) / sum.",
        (
            lambda scores: np.eye(scores.shape[-1])[scores.argmax(axis=-1)],
            lambda scores: _normalised(scores == scores.max(axis=-1, keepdims=True), -1),
        ),
    ),
    Mistake(
        "softmax-keepdims",
        "A sum or a maximum over the last axis loses that axis, and NumPy then lines it up with the wrong one. "
        "keepdims=True keeps it, with length 1, so that each row meets its own number.",
        (
            lambda scores: np.exp(scores) / np.exp(scores).sum(axis=-1),
            lambda scores: _exp_from_max(scores) / _exp_from_max(scores).sum(axis=-1),
            lambda scores: _normalised(_exp_from_max(scores, keepdims=False), -1),
            lambda scores: _exp_from_max(scores, keepdims=False) / _exp_from_max(scores, keepdims=False).sum(axis=-1),
        ),
    ),
    Mistake(
        "softmax-not-normalised",
        "The exponentials are there, but they are not divided by their row's sum, so they do not sum to 1.",
        (np.exp, _exp_from_max),
    ),
    Mistake(
        "softmax-log",
        "These are the logarithms of the weights (log-softmax). Take exp of them.",
        (lambda scores: np.log(softmax(scores)),),
    ),
    Mistake(
        "softmax-sigmoid",
        "You squash each score on its own (a sigmoid). Weights compete: divide exp(score) by its row's sum.",
        (lambda scores: 1 / (1 + np.exp(-scores)),),
    ),
    Mistake(
        "softmax-base-2",
        "You raise 2 to the scores. Softmax raises e = 2.718...: np.exp(scores).",
        (lambda scores: _normalised(2.0**scores, -1),),
    ),
    Mistake(
        "softmax-negated",
        "The smallest score gets the largest weight: a minus sign too many before exp.",
        (lambda scores: softmax(-scores),),
    ),
    Mistake(
        "softmax-twice",
        "That is the softmax of the softmax. Apply it once.",
        (lambda scores: softmax(softmax(scores)),),
    ),
)


def _not_finite(call, arguments, arrays):
    for array in arrays:
        if not np.isfinite(array).all():
            return "It holds NaN or infinity."
    return None


def _rows_do_not_sum_to_one(call, arguments, arrays):
    weights = arrays[-1]
    sums = weights.sum(axis=-1)
    if np.allclose(sums, 1, atol=1e-4):
        return None
    row = tuple(int(i) for i in np.argwhere(~np.isclose(sums, 1, atol=1e-4))[0])
    place = f"row [{', '.join(map(str, row))}]" if row else "the row"
    return f"Weights must sum to 1 along each row; {place} sums to {sums[row]:.4f}."


def _negative_weights(call, arguments, arrays):
    lowest = arrays[-1].min()
    return f"Weights cannot be negative; the lowest is {lowest:.4f}." if lowest < 0 else None


def _wrong_ratios(call, arguments, arrays):
    differences = np.diff(np.log(arrays[0]), axis=-1) - np.diff(arguments["scores"], axis=-1)
    if np.allclose(differences, 0, atol=1e-3):
        return None
    return "Two weights of a row must have the ratio exp(difference of their scores); these do not."


def _batch_items_mixed(call, arguments, arrays):
    """A batch item alone must give what it gives in company."""
    if min(array.ndim for array in arguments.values()) < 3:
        return None
    alone = call(**{name: array[:1] for name, array in arguments.items()})
    if alone is None or all(np.allclose(a, b[:1], atol=1e-4) for a, b in zip(alone, arrays, strict=True)):
        return None
    return "The batch items are mixed: the first one alone gives other numbers than in company."


softmax_exercise = Exercise(
    reference=attention.softmax,
    outputs=("weights",),
    cases=_softmax_cases(),
    mistakes=SOFTMAX_MISTAKES,
    properties=(_not_finite, _negative_weights, _rows_do_not_sum_to_one, _batch_items_mixed, _wrong_ratios),
    hints=(
        "Two steps: make every score positive with exp, then divide by a sum so that each row adds up to 1.",
        "The sum is over the last axis. With `axis=-1, keepdims=True` it keeps an axis of length 1 and lines up with "
        "its own row, in a matrix and in a batch alike.",
        "exp(1000) overflows. Subtract `scores.max(axis=-1, keepdims=True)` first: it multiplies every exponential of "
        "the row by the same number, which the division takes away again.",
    ),
    now="You can turn any scores into weights, at any size, for any number of leading axes.",
)


# ---- attention_scores ------------------------------------------------------------------------


def _score_cases():
    swapped = _draws(5, queries=(4, 3), keys=(4, 5))
    single = {name: array.astype(np.float32) for name, array in _draws(4, queries=(3, 4), keys=(6, 4)).items()}
    return (
        Case("self-attention", _draws(0, queries=(4, 3), keys=(4, 3))),
        Case("more keys than queries", _draws(1, queries=(3, 4), keys=(5, 4))),
        Case("a batch", _draws(2, queries=(2, 3, 4), keys=(2, 5, 4))),
        Case("a batch with heads", _draws(3, queries=(2, 3, 4, 6), keys=(2, 3, 5, 6))),
        Case("float32", single),
        Case("transposed views", {name: array.T for name, array in swapped.items()}),
        Case("square matrices", _draws(6, queries=(3, 3), keys=(3, 3))),
        Case("a cube", _draws(7, queries=(3, 3, 3), keys=(3, 3, 3))),
        Case("large vectors", {name: 100 * array for name, array in _draws(8, queries=(2, 5), keys=(3, 5)).items()}),
    )


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


SCORE_MISTAKES = (
    Mistake(
        "scores-keys-by-queries",
        "Query and key are swapped: your row i belongs to key i. Rows belong to queries: queries @ keys transposed.",
        (lambda queries, keys: keys @ _swap(queries),),
    ),
    Mistake(
        "scores-reversed-axes",
        "`.T` reverses all axes, the batch axis too. Swap only the last two: keys.swapaxes(-1, -2).",
        (
            lambda queries, keys: queries @ keys.T,
            lambda queries, keys: np.dot(queries, keys.T),
        ),
    ),
    Mistake(
        "scores-feature-by-feature",
        "You multiply features with features, which gives (d_head, d_head). A score compares one query with one key, "
        "over all features: (n_queries, n_keys), so transpose the keys, not the queries.",
        (
            lambda queries, keys: _swap(queries) @ keys,
            lambda queries, keys: queries.T @ keys,
        ),
    ),
    Mistake(
        "scores-elementwise",
        "`*` multiplies cell by cell, and compares query i with key i only. Every query meets every key: a matrix "
        "product, `@`.",
        (
            lambda queries, keys: queries * keys,
            lambda queries, keys: (queries * keys).sum(axis=-1),
        ),
    ),
    Mistake(
        "scores-no-transpose",
        "queries @ keys multiplies a query's features with keys, and the inner axes do not fit (where they do, by "
        "chance, the numbers are wrong). Transpose the keys' last two axes.",
        (lambda queries, keys: queries @ keys,),
    ),
    Mistake(
        "scores-cosine",
        "You divide the vectors by their lengths first (cosine similarity). A score is the plain dot product: long "
        "vectors score higher, and the model uses that.",
        (
            lambda queries, keys: _unit(queries) @ _swap(_unit(keys)),
            lambda queries, keys: _unit(queries) @ _swap(keys),
            lambda queries, keys: queries @ _swap(_unit(keys)),
        ),
    ),
    Mistake(
        "scores-np-dot",
        "On a batch `np.dot` multiplies every item's queries with every other item's keys. `@` (np.matmul) keeps each "
        "batch item to itself.",
        (
            lambda queries, keys: np.dot(queries, _swap(keys)),
            lambda queries, keys: np.tensordot(queries, keys, axes=(-1, -1)),
        ),
    ),
    Mistake(
        "scores-queries-only",
        "You compare the queries with themselves. The second factor is the keys.",
        (lambda queries, keys: queries @ _swap(queries),),
    ),
    Mistake(
        "scores-keys-only",
        "You compare the keys with themselves. The first factor is the queries.",
        (lambda queries, keys: keys @ _swap(keys),),
    ),
    Mistake(
        "scores-scaled",
        "You divided by sqrt(d_head). That is what transformers do, and notebook 02 shows why; this exercise asks for "
        "the plain dot products.",
        (lambda queries, keys: attention_scores(queries, keys) / math.sqrt(queries.shape[-1]),),
    ),
    Mistake(
        "scores-softmaxed",
        "These are the weights already. Scores are what goes into the softmax.",
        (
            lambda queries, keys: softmax(attention_scores(queries, keys)),
            lambda queries, keys: softmax(attention_scores(queries, keys) / math.sqrt(queries.shape[-1])),
        ),
    ),
)


def _not_proportional(call, arguments, arrays):
    doubled = call(queries=2 * arguments["queries"])
    if doubled is None or np.allclose(doubled[0], 2 * arrays[0], atol=1e-4):
        return None
    return "Queries twice as long must score twice as high; yours do not."


scores_exercise = Exercise(
    reference=attention.attention_scores,
    outputs=("scores",),
    cases=_score_cases(),
    mistakes=SCORE_MISTAKES,
    properties=(_not_finite, _batch_items_mixed, _not_proportional),
    hints=(
        "The score of query i and key j is their dot product. All of them at once are one matrix product.",
        "queries is (..., n_queries, d_head) and keys is (..., n_keys, d_head). For the product the keys' last two "
        "axes must change places.",
        "`keys.T` would turn a batch inside out. `keys.swapaxes(-1, -2)` touches the last two axes only.",
    ),
    now="You can compare every query with every key, for one sentence or a whole batch.",
)


# ---- dot_product_attention -------------------------------------------------------------------


def _attention_cases():
    def three(seed, batch, n_queries, n_keys, d_head, d_value):
        shapes = {"queries": (n_queries, d_head), "keys": (n_keys, d_head), "values": (n_keys, d_value)}
        return _draws(seed, **{name: (*batch, *shape) for name, shape in shapes.items()})

    single = {name: array.astype(np.float32) for name, array in three(4, (), 3, 6, 4, 5).items()}
    views = {name: array.T for name, array in _draws(5, queries=(4, 3), keys=(4, 5), values=(2, 5)).items()}
    # Integers, so that the scores are exact in float32 too: 1000, 999, 992 and -1000, -1001, -988.
    large = {
        "queries": np.array([[10.0, 1.0], [-10.0, 1.0]]),
        "keys": np.array([[100.0, 0.0], [100.0, -1.0], [99.0, 2.0]]),
        "values": np.array([[1.0, 2.0, 3.0], [4.0, -5.0, 6.0], [-7.0, 8.0, 9.0]]),
    }
    return (
        Case("self-attention", three(0, (), 4, 4, 3, 2)),
        Case("more keys than queries", three(1, (), 3, 5, 4, 2)),
        Case("a batch", three(2, (2,), 3, 5, 4, 6)),
        Case("a batch with heads", three(3, (2, 3), 4, 5, 6, 7)),
        Case("float32", single),
        Case("transposed views", views),
        Case("square matrices", three(6, (), 3, 3, 3, 3)),
        Case("a cube", three(7, (3,), 3, 3, 3, 3)),
        Case("very large scores", large, stress=True),
    )


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
    def wrong_attention(queries, keys, values):
        return choose(*attention.dot_product_attention(queries, keys, values))

    return wrong_attention


def _inside(mistakes, step, without=()):
    """The mistakes of an earlier exercise, made inside attention."""
    return tuple(
        Mistake(
            mistake.slug,
            f"Inside your attention: {mistake.message}",
            tuple(_attention_with(**{step: wrong}) for wrong in mistake.implementations),
        )
        for mistake in mistakes
        if mistake.slug not in without
    )


NOT_YET = " This exercise asks for the plain scores; the right divisor is notebook 02's subject."

ATTENTION_MISTAKES = (
    Mistake(
        "returns-weights-only",
        "You return the weights alone. They are the recipe; the context is what it makes: weights @ values. "
        "Return both: context, weights.",
        (_returning(lambda context, weights: weights),),
    ),
    Mistake(
        "returns-context-only",
        "You return the context alone. Return both: context, weights.",
        (_returning(lambda context, weights: context),),
    ),
    Mistake(
        "returns-swapped",
        "Both are there, in the other order. Return context first, then weights.",
        (_returning(lambda context, weights: (weights, context)),),
    ),
    Mistake(
        "values-are-keys",
        "You mix the keys. Keys are only for being compared with; what is mixed are the values: weights @ values.",
        (_attention_mixing(lambda weights, scores, queries, keys, values: weights @ keys),),
    ),
    Mistake(
        "values-are-queries",
        "You mix the queries. What is mixed are the values: weights @ values.",
        (_attention_mixing(lambda weights, scores, queries, keys, values: weights @ queries),),
    ),
    Mistake(
        "values-are-scores",
        "You apply the weights to the scores. What is mixed are the values: weights @ values.",
        (
            _attention_mixing(lambda weights, scores, queries, keys, values: weights @ scores),
            _attention_mixing(lambda weights, scores, queries, keys, values: weights * scores),
            _attention_mixing(lambda weights, scores, queries, keys, values: weights @ _swap(scores)),
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
        "Your weights are turned round before they meet the values: row i then mixes by who attends *to* i. "
        "Use them as they are: weights @ values.",
        (
            _attention_mixing(lambda weights, scores, queries, keys, values: _swap(weights) @ values),
            _attention_mixing(lambda weights, scores, queries, keys, values: weights.T @ values),
        ),
    ),
    Mistake(
        "scale-not-yet",
        "You divided the scores by sqrt(d_head). That is what transformers do, and notebook 02 shows why; this "
        "exercise asks for the plain scores.",
        (_attention_scaled(lambda d_head, n_keys, d_value: d_head**-0.5),),
    ),
    Mistake(
        "scale-no-root",
        "You divided the scores by d_head (or twice by its root)." + NOT_YET,
        (_attention_scaled(lambda d_head, n_keys, d_value: 1 / d_head),),
    ),
    Mistake(
        "scale-multiplied",
        "You multiplied the scores by sqrt(d_head)." + NOT_YET,
        (_attention_scaled(lambda d_head, n_keys, d_value: d_head**0.5),),
    ),
    Mistake(
        "scale-n-keys",
        "You divided the scores by the root of the number of keys." + NOT_YET,
        (_attention_scaled(lambda d_head, n_keys, d_value: n_keys**-0.5),),
    ),
    Mistake(
        "scale-values-width",
        "You divided the scores by the root of the values' width." + NOT_YET,
        (_attention_scaled(lambda d_head, n_keys, d_value: d_value**-0.5),),
    ),
    Mistake(
        "scale-after-softmax",
        "You divide the weights, after the softmax: their rows no longer sum to 1." + NOT_YET,
        (
            lambda queries, keys, values: _attention_with(
                weigh=lambda scores: softmax(scores) / math.sqrt(queries.shape[-1])
            )(queries, keys, values),
            lambda queries, keys, values: _attention_mixing(
                lambda weights, scores, queries, keys, values: weights / math.sqrt(queries.shape[-1]) @ values
            )(queries, keys, values),
        ),
    ),
    *_inside(SOFTMAX_MISTAKES, "weigh"),
    *_inside(SCORE_MISTAKES, "compare", without={"scores-scaled", "scores-softmaxed"}),
)


def _context_is_not_the_mixture(call, arguments, arrays):
    context, weights = arrays
    if np.allclose(context, weights @ arguments["values"], atol=1e-4):
        return None
    return "Your context is not your own weights @ values."


def _weights_depend_on_values(call, arguments, arrays):
    changed = call(values=arguments["values"][..., ::-1, :] + 1)
    if changed is None or np.allclose(changed[1], arrays[1], atol=1e-4):
        return None
    return "Your weights change when only the values change. Weights come from queries and keys alone."


attention_exercise = Exercise(
    reference=attention.dot_product_attention,
    outputs=("context", "weights"),
    cases=_attention_cases(),
    mistakes=ATTENTION_MISTAKES,
    properties=(
        _not_finite,
        _negative_weights,
        _rows_do_not_sum_to_one,
        _batch_items_mixed,
        _weights_depend_on_values,
        _context_is_not_the_mixture,
    ),
    hints=(
        "Three lines, and you have written two of them: scores, then weights, then the mixture.",
        "The context of a query is the average of the values under its weights: one matrix product.",
        "weights = softmax(attention_scores(queries, keys)), then weights @ values. Return both, the context first.",
    ),
    now="You have written self-attention. The labs below run on your function.",
)
