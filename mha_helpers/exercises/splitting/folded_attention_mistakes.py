"""The mistakes that people make in `folded_attention`."""

import itertools

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.exercises.inputs import NEEDS_THE_ROWS_MAXIMUM
from mha_helpers.exercises.steps import (
    cut,
    cut_straight,
    every_nth,
    joined_features_first,
    joined_straight,
    normalised,
    reversed_heads,
    swap,
)
from mha_helpers.maths.attention import (
    combine_heads,
    folded_attention,
    scaled_dot_product_attention,
    softmax,
    split_heads,
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
        "You reshape straight to (batch * n_heads, seq_len, d_head), which mixes tokens, because reshape doesn't move "
        "any numbers. Call split_heads first; batch and heads are then side by side, and a reshape makes one axis of "
        "them.",
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
        "You reshape straight to (batch * n_heads, seq_len, d_head), and straight back. Every shape is right, but "
        "each head attends to pieces of mixed tokens. Call split_heads before folding, and combine_heads after "
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
        "into the batch axis, where they stay apart: (batch * n_heads, seq_len, d_head).",
        (_tokens_in_pieces, _heads_below_each_other),
    ),
    Mistake(
        "folded-heads-as-tokens",
        "Your heads are where attention looks for tokens: (..., n_heads, d_head). So each token's heads attend to "
        "each other, and no token attends to another. Call split_heads, which swaps heads and tokens.",
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
        "You multiply by sqrt(d_head). The scores are already too large: divide.",
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
        "You mix the keys. What gets mixed is the values: weights @ values.",
        (_chosen((0, 1, 1)),),
    ),
    Mistake(
        "folded-arguments-swapped",
        "You mixed up queries, keys and values, or use one of them twice. Pass them on in this order: queries, keys, "
        "values.",
        tuple(_chosen(choice) for choice in itertools.product(range(3), repeat=3) if choice not in RIGHT_OR_KNOWN),
    ),
    Mistake(
        "weights-transposed",
        "Your weights are transposed before they meet the values. Use them as they are: weights @ values.",
        (_through(attend=_weighing(lambda scores: swap(softmax(scores)))),),
    ),
    Mistake(
        "returns-weights-only",
        "You return the weights. Give the context: weights @ values, unfolded.",
        (
            _weights,
            lambda *arguments: _batch_outside(_weights(*arguments)),
        ),
    ),
)
