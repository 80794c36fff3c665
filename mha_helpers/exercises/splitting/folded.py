"""The exercise `folded_attention`: heads folded into the batch, and every way to fold them wrongly."""

import itertools

import numpy as np

from mha_helpers.attention import combine_heads, folded_attention, scaled_dot_product_attention, softmax, split_heads
from mha_helpers.exercises.common import NEEDS_THE_ROWS_MAXIMUM, batch_mixed, draws, normalised, not_finite, swap
from mha_helpers.exercises.engine import Case, Exercise, Mistake
from mha_helpers.exercises.splitting.common import (
    cut,
    cut_straight,
    every_nth,
    joined_features_first,
    joined_straight,
    moved,
    raised,
    reversed_heads,
)


def _arguments(seed, shape, n_heads, factor=1, dtype=np.float64):
    arrays = draws(seed, queries=shape, keys=shape, values=shape)
    arrays["queries"] = factor * arrays["queries"]
    return {name: array.astype(dtype) for name, array in arrays.items()} | {"n_heads": n_heads}


def _folded_cases():
    views = {name: array.T for name, array in draws(8, queries=(8, 5, 2), keys=(8, 5, 2), values=(8, 5, 2)).items()}
    return (
        Case("two sentences", _arguments(0, (2, 5, 12), 3)),
        Case("one sentence", _arguments(1, (1, 5, 6), 2)),
        Case("four heads for four tokens", _arguments(2, (1, 4, 8), 4)),
        Case("more heads than features in each", _arguments(3, (3, 4, 10), 5)),
        Case("one head", _arguments(4, (2, 3, 4), 1)),
        Case("as many heads as features", _arguments(5, (2, 5, 3), 3)),
        Case("as many heads as sentences", _arguments(6, (3, 4, 6), 3)),
        Case("one token", _arguments(7, (2, 1, 6), 3)),
        Case("float32", _arguments(9, (4, 3, 10), 2, dtype=np.float32)),
        Case("transposed views", views | {"n_heads": 4}),
        Case("very large scores", _arguments(10, (2, 5, 6), 3, factor=2000), stress=True),
    )


def _attention(queries, keys, values):
    return scaled_dot_product_attention(queries, keys, values)[0]


def _through(split=split_heads, attend=_attention, combine=combine_heads):
    """Return attention in heads in which one step is done in another way."""

    def wrong_attention(queries, keys, values, n_heads):
        return combine(attend(*(split(X, n_heads) for X in (queries, keys, values))))

    return wrong_attention


def _scores_times(factor):
    """Return attention whose scores are multiplied by factor(queries)."""
    return lambda queries, keys, values: _attention(queries * factor(queries) * queries.shape[-1] ** 0.5, keys, values)


def _weighing(weigh):
    def attend(queries, keys, values):
        return weigh(queries @ swap(keys) / np.sqrt(queries.shape[-1])) @ values

    return attend


def _exp_shares(scores, axis=-1):
    return normalised(np.exp(scores - scores.max(axis=axis, keepdims=True)), axis)


def _folded_through(fold, unfold):
    """Return attention on fold(heads), whose context is unfold(context, batch, n_heads)."""

    def wrong_attention(queries, keys, values, n_heads):
        context = _attention(*(fold(split_heads(X, n_heads)) for X in (queries, keys, values)))
        return unfold(context, len(queries), n_heads)

    return wrong_attention


def _batch_outside(heads):
    return heads.reshape(-1, *heads.shape[-2:])


def _heads_outside(heads):
    return heads.swapaxes(0, 1).reshape(-1, *heads.shape[-2:])


def _unfolded(context, batch, n_heads):
    return combine_heads(context.reshape(batch, n_heads, *context.shape[-2:]))


def _unfolded_heads_outside(context, batch, n_heads):
    return combine_heads(context.reshape(n_heads, batch, *context.shape[-2:]).swapaxes(0, 1))


def _tokens_in_pieces(queries, keys, values, n_heads):
    """Each token becomes n_heads short tokens, which all attend to each other."""
    folded = (X.reshape(X.shape[0], -1, X.shape[-1] // n_heads) for X in (queries, keys, values))
    return _attention(*folded).reshape(queries.shape)


def _heads_below_each_other(queries, keys, values, n_heads):
    folded = (split_heads(X, n_heads) for X in (queries, keys, values))
    context = _attention(*(heads.reshape(len(heads), -1, heads.shape[-1]) for heads in folded))
    return combine_heads(context.reshape(split_heads(queries, n_heads).shape))


def _heads_of_a_token(queries, keys, values, n_heads):
    """The heads stay behind the tokens, so that each token's heads attend to each other."""
    return _attention(*(cut(X, n_heads) for X in (queries, keys, values))).reshape(queries.shape)


def _weights(queries, keys, values, n_heads):
    return scaled_dot_product_attention(*(split_heads(X, n_heads) for X in (queries, keys, values)))[1]


def _folded_over_the_batch(queries, keys, values, n_heads):
    folded = (_batch_outside(split_heads(X, n_heads)) for X in (queries, keys, values))
    return _unfolded(_weighing(lambda scores: _exp_shares(scores, 0))(*folded), len(queries), n_heads)


RIGHT_OR_KNOWN = {(0, 1, 2), (0, 1, 1)}


def _chosen(choice):
    """Return attention that takes for queries, keys and values the arguments at these places."""
    return lambda *arguments: folded_attention(*(arguments[place] for place in choice), arguments[3])


FOLDED_MISTAKES = (
    Mistake(
        "folded-split-without-transpose",
        "You reshape straight to (batch * n_heads, seq_len, d_head): tokens are mixed, as reshape moves no number. "
        "split_heads first; then only batch and heads, which stand side by side, become one axis.",
        (_through(split=cut_straight),),
    ),
    Mistake(
        "folded-combine-without-transpose",
        "On the way back you reshape straight to (batch, seq_len, d_model), and tokens are mixed. First (batch, "
        "n_heads, seq_len, d_head), then combine_heads.",
        (_through(combine=joined_straight),),
    ),
    Mistake(
        "folded-both-without-transpose",
        "You reshape straight to (batch * n_heads, seq_len, d_head), and straight back. Every shape is right, and "
        "still each head attends among pieces of mixed tokens. split_heads before folding, combine_heads after "
        "unfolding.",
        (_through(split=cut_straight, combine=joined_straight),),
    ),
    Mistake(
        "folded-order",
        "You fold in one order and unfold in the other: (n_heads * batch) is not (batch * n_heads). The heads of one "
        "sentence come out in another. Fold from (batch, n_heads, ...), unfold to (batch, n_heads, ...).",
        (
            _folded_through(_heads_outside, _unfolded),
            _folded_through(_batch_outside, _unfolded_heads_outside),
        ),
    ),
    Mistake(
        "folded-not-unfolded",
        "Your context is still folded, (batch * n_heads, seq_len, d_head). Unfold it to (batch, n_heads, seq_len, "
        "d_head), then combine_heads.",
        (
            _folded_through(_batch_outside, lambda context, batch, n_heads: context),
            _folded_through(_heads_outside, lambda context, batch, n_heads: context),
            _folded_through(_batch_outside, lambda context, batch, n_heads: combine_heads(context)),
        ),
    ),
    Mistake(
        "folded-not-combined",
        "The heads are still on an axis of their own. combine_heads puts them side by side: (batch, seq_len, d_model).",
        (
            _through(combine=lambda heads: heads),
            _through(combine=lambda heads: heads.swapaxes(-3, -2)),
        ),
    ),
    Mistake(
        "folded-into-the-sequence",
        "You fold the heads into the tokens' axis. Then a query meets the keys of all heads in one softmax. Fold them "
        "into the batch axis, where nothing meets: (batch * n_heads, seq_len, d_head).",
        (_tokens_in_pieces, _heads_below_each_other),
    ),
    Mistake(
        "folded-heads-as-tokens",
        "Your heads stand where attention looks for tokens: (..., n_heads, d_head). Each token's heads attend to each "
        "other, and no token to another. Exchange heads and tokens first: split_heads.",
        (_heads_of_a_token,),
    ),
    Mistake(
        "folded-no-split",
        "n_heads changes nothing: that is one head over all d_model features. Split queries, keys and values first.",
        (
            _through(split=lambda X, n_heads: X, combine=lambda context: context),
            _through(
                split=lambda X, n_heads: X, attend=_scores_times(lambda queries: 1), combine=lambda context: context
            ),
        ),
    ),
    Mistake(
        "folded-strided",
        "Head i gets features i, i + n_heads, and so on. Heads are neighbouring features: reshape d_model to (n_heads, "
        "d_head), in this order, or call split_heads.",
        (
            _through(split=every_nth, combine=joined_features_first),
            _through(split=every_nth),
        ),
    ),
    Mistake(
        "combine-interleaved",
        "On the way back the features of the heads are interleaved. combine_heads keeps each head's together.",
        (_through(combine=joined_features_first),),
    ),
    Mistake(
        "combine-reversed-heads",
        "Your heads come back in reverse. Head 0 comes first.",
        (_through(combine=lambda heads: combine_heads(reversed_heads(heads))),),
    ),
    Mistake(
        "combine-sum",
        "You add the heads up, or average them. Put them side by side: combine_heads.",
        (
            _through(combine=lambda heads: heads.sum(axis=-3)),
            _through(combine=lambda heads: heads.mean(axis=-3)),
        ),
    ),
    Mistake(
        "scale-missing",
        "The scores are not divided. Divide them by sqrt(d_head); scaled_dot_product_attention does it.",
        (_through(attend=_scores_times(lambda queries: 1)),),
    ),
    Mistake(
        "scale-d-model",
        "You divide by sqrt(d_model). In a head each dot product adds up d_head terms only: divide by sqrt(d_head), "
        "the width of the folded queries.",
        (_through(attend=_scores_times(lambda heads: (heads.shape[-3] * heads.shape[-1]) ** -0.5)),),
    ),
    Mistake(
        "scale-no-root",
        "You divide by d_head itself. Divide by its root.",
        (_through(attend=_scores_times(lambda queries: 1 / queries.shape[-1])),),
    ),
    Mistake(
        "scale-multiplied",
        "You multiply by sqrt(d_head). The scores are too large already: divide.",
        (_through(attend=_scores_times(lambda queries: queries.shape[-1] ** 0.5)),),
    ),
    Mistake(
        "scale-n-keys",
        "You divide by the root of the number of tokens. Divide by that of the number of features: sqrt(d_head).",
        (_through(attend=_scores_times(lambda queries: queries.shape[-2] ** -0.5)),),
    ),
    Mistake(
        "softmax-over-queries",
        "Your softmax runs over the queries. Each query shares out its own attention: over the keys, axis=-1.",
        (_through(attend=_weighing(lambda scores: _exp_shares(scores, -2))),),
    ),
    Mistake(
        "softmax-over-heads",
        "Your softmax runs over the folded axis, or over the heads: they would share out one query's attention among "
        "them. It runs over the keys, axis=-1.",
        (
            _through(attend=_weighing(lambda scores: _exp_shares(scores, -3))),
            _folded_over_the_batch,
        ),
    ),
    Mistake(
        "softmax-no-max",
        NEEDS_THE_ROWS_MAXIMUM,
        (_through(attend=_weighing(lambda scores: normalised(np.exp(scores), -1))),),
    ),
    Mistake(
        "values-are-keys",
        "You mix the keys. What is mixed are the values: weights @ values.",
        (_chosen((0, 1, 1)),),
    ),
    Mistake(
        "folded-arguments-swapped",
        "Queries, keys and values are in each other's place, or one is used twice. Pass them on in this order: "
        "queries, keys, values.",
        tuple(_chosen(choice) for choice in itertools.product(range(3), repeat=3) if choice not in RIGHT_OR_KNOWN),
    ),
    Mistake(
        "weights-transposed",
        "Your weights are turned round before they meet the values. Use them as they are: weights @ values.",
        (_through(attend=_weighing(lambda scores: swap(softmax(scores)))),),
    ),
    Mistake(
        "returns-weights-only",
        "You return the weights. Asked is the context: weights @ values, unfolded.",
        (
            _weights,
            lambda *arguments: _batch_outside(_weights(*arguments)),
        ),
    ),
)


def _no_average(call, arguments, arrays):
    constant = call(values=np.ones_like(arguments["values"]))
    if constant is None or np.allclose(constant[0], 1, atol=1e-4):
        return None
    return "Where all values are 1 every average of them is 1; yours is not. A query's weights must sum to 1."


def _heads_mixed(call, arguments, arrays):
    values = arguments["values"]
    d_head = values.shape[-1] // arguments["n_heads"]
    changed = call(values=raised(values, (..., slice(0, d_head))))
    if changed is None or changed[0].shape != arrays[0].shape:
        return None
    columns = np.unique(np.argwhere(moved(changed[0], arrays[0]))[:, -1])
    others = columns[columns >= d_head]
    if not len(others):
        return None
    return (
        f"Heads are mixed: feature {others[0]} of the context changes when only head 0's values change, features 0 to "
        f"{d_head - 1}."
    )


def _queries_mixed(call, arguments, arrays):
    """A query's context is its own: another query changes nothing in it."""
    changed = call(queries=raised(arguments["queries"], (slice(None), 0)))
    if changed is None or changed[0].shape != arrays[0].shape:
        return None
    rows = np.unique(np.argwhere(moved(changed[0], arrays[0]))[:, -2])
    others = rows[rows != 0]
    if not len(others):
        return None
    return (
        f"The context of token {others[0]} changes when only the query of token 0 changes: tokens are mixed, or "
        "queries are used as keys or values."
    )


folded_exercise = Exercise(
    reference=folded_attention,
    outputs=("context",),
    cases=_folded_cases(),
    mistakes=FOLDED_MISTAKES,
    strained=NEEDS_THE_ROWS_MAXIMUM,
    properties=(not_finite, batch_mixed("queries", "keys", "values"), _queries_mixed, _heads_mixed, _no_average),
    hints=(
        "split_heads gives (batch, n_heads, seq_len, d_head). Batch and heads stand side by side there, so one reshape "
        "makes one axis of them.",
        "Attention does not care what the leading axis counts. Give it three arrays (batch * n_heads, seq_len, "
        "d_head).",
        "Back again: reshape the context to (batch, n_heads, seq_len, d_head), and then combine_heads. "
        "(scaled_dot_product_attention returns two things: `context, weights = ...`.)",
    ),
    now="These are the numbers of both forms: heads on an axis of their own, and heads folded into the batch.",
)
