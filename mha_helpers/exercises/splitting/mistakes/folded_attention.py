"""The mistakes that people make in `folded_attention`."""

import itertools

from mha_helpers.attention import combine_heads, folded_attention, scaled_dot_product_attention, softmax, split_heads
from mha_helpers.exercises.mistakes import in_each_head
from mha_helpers.exercises.mistakes.catalogue import also, maker, mistake_of
from mha_helpers.exercises.mistakes.steps import (
    attention_with,
    every_nth,
    exp_shares,
    heads_not_moved,
    joined_features_first,
    joined_straight,
    reversed_heads,
    split_straight,
    swap,
)


def _attention(queries, keys, values):
    return scaled_dot_product_attention(queries, keys, values)[0]


def _in_heads(split=split_heads, attend=_attention, combine=combine_heads):
    """Return attention in heads in which one step is done in another way."""

    def wrong_attention(queries, keys, values, n_heads):
        return combine(attend(*(split(X, n_heads) for X in (queries, keys, values))))

    return wrong_attention


_combining = maker(lambda combine: _in_heads(combine=combine))


def _in_each_head(**steps):
    """Return attention in heads with a step of the attention in each head done in another way."""
    return _in_heads(attend=lambda queries, keys, values: attention_with(**steps)(queries, keys, values)[0])


_weighing = maker(lambda weigh: _in_each_head(weigh=weigh))


_scaling = maker(lambda factor: _in_each_head(factor=factor))


def _batch_outside(heads):
    return heads.reshape(-1, *heads.shape[-2:])


def _heads_outside(heads):
    return heads.swapaxes(0, 1).reshape(-1, *heads.shape[-2:])


def _unfolded(context, batch, n_heads):
    return combine_heads(context.reshape(batch, n_heads, *context.shape[-2:]))


def _folded_through(fold, unfold=_unfolded, attend=_attention):
    """Return attention on fold(heads), whose context is unfold(context, batch, n_heads)."""

    def wrong_attention(queries, keys, values, n_heads):
        context = attend(*(fold(split_heads(X, n_heads)) for X in (queries, keys, values)))
        return unfold(context, len(queries), n_heads)

    return wrong_attention


@maker(lambda split: _in_heads(split=split))
def folded_split_without_transpose(X, n_heads):
    """You reshape straight to (batch * n_heads, seq_len, d_head), which mixes tokens, because reshape doesn't move any
    numbers. Call split_heads first; batch and heads are then side by side, and a reshape makes one axis of them."""
    return split_straight(X, n_heads)


@_combining
def folded_combine_without_transpose(heads):
    """On the way back you reshape straight to (batch, seq_len, d_model), and tokens are mixed. First (batch, n_heads,
    seq_len, d_head), then combine_heads."""
    return joined_straight(heads)


@maker(lambda combine: _in_heads(combine=combine, split=split_straight))
def folded_both_without_transpose(heads):
    """You reshape straight to (batch * n_heads, seq_len, d_head), and straight back. Every shape is right, but each
    head attends to pieces of mixed tokens. Call split_heads before folding, and combine_heads after unfolding."""
    return joined_straight(heads)


def _unfolded_heads_outside(context, batch, n_heads):
    return combine_heads(context.reshape(n_heads, batch, *context.shape[-2:]).swapaxes(0, 1))


@also(_folded_through(_batch_outside, _unfolded_heads_outside))
def folded_order(queries, keys, values, n_heads):
    """You fold in one order and unfold in the other: (n_heads * batch) is not (batch * n_heads). The heads of one
    sentence come out in another. Fold from (batch, n_heads, ...), unfold to (batch, n_heads, ...)."""
    return _folded_through(_heads_outside)(queries, keys, values, n_heads)


@also(
    _folded_through(_heads_outside, lambda context, batch, n_heads: context),
    _folded_through(_batch_outside, lambda context, batch, n_heads: combine_heads(context)),
)
def folded_not_unfolded(queries, keys, values, n_heads):
    """Your context is still folded, (batch * n_heads, seq_len, d_head). Unfold it to (batch, n_heads, seq_len, d_head),
    then combine_heads."""
    return _attention(*(_batch_outside(split_heads(X, n_heads)) for X in (queries, keys, values)))


@_combining
@also(lambda heads: heads.swapaxes(-3, -2))
def folded_not_combined(heads):
    """The heads are still on an axis of their own. combine_heads puts them side by side: (batch, seq_len, d_model)."""
    return heads


def folded_into_the_sequence(queries, keys, values, n_heads):
    """You fold the heads into the tokens' axis. Then a query meets the keys of all heads in one softmax. Fold them into
    the batch axis, where they stay apart: (batch * n_heads, seq_len, d_head)."""
    # Each token becomes n_heads short tokens, which all attend to each other.
    folded = (X.reshape(X.shape[0], -1, X.shape[-1] // n_heads) for X in (queries, keys, values))
    return _attention(*folded).reshape(queries.shape)


def folded_heads_as_tokens(queries, keys, values, n_heads):
    """Your heads are where attention looks for tokens: (..., n_heads, d_head). So each token's heads attend to each
    other, and no token attends to another. Call split_heads, which swaps heads and tokens."""
    return _attention(*(heads_not_moved(X, n_heads) for X in (queries, keys, values))).reshape(queries.shape)


def _unscaled(queries, keys, values, n_heads):
    return attention_with(factor=lambda *arguments: 1)(queries, keys, values)[0]


@also(_unscaled)
def folded_no_split(queries, keys, values, n_heads):
    """n_heads changes nothing: that is one head over all d_model features. Split queries, keys and values first."""
    return _attention(queries, keys, values)


@also(_in_heads(split=every_nth))
@maker(lambda split: _in_heads(split=split, combine=joined_features_first))
def folded_strided(X, n_heads):
    """Head i gets features i, i + n_heads, and so on. Heads are neighbouring features: reshape d_model to (n_heads,
    d_head), in this order, or call split_heads."""
    return every_nth(X, n_heads)


@_combining
def combine_interleaved(heads):
    """On the way back the features of the heads are interleaved. combine_heads keeps each head's together."""
    return joined_features_first(heads)


@_combining
def combine_reversed_heads(heads):
    """Your heads come back in reverse. Head 0 comes first."""
    return combine_heads(reversed_heads(heads))


@_combining
@also(lambda heads: heads.mean(axis=-3))
def combine_sum(heads):
    """You add the heads up, or average them. Put them side by side: combine_heads."""
    return heads.sum(axis=-3)


SCALES = tuple(
    mistake_of(_scaling(step))
    for step in (
        in_each_head.scale_missing,
        in_each_head.scale_d_model,
        in_each_head.scale_no_root,
        in_each_head.scale_multiplied,
        in_each_head.scale_n_keys,
    )
)
SOFTMAXES = tuple(
    mistake_of(_weighing(step))
    for step in (
        in_each_head.softmax_over_queries,
        in_each_head.softmax_no_max,
    )
)


def _over_the_folded_axis(queries, keys, values):
    return attention_with(weigh=lambda scores: exp_shares(scores, 0))(queries, keys, values)[0]


@also(_folded_through(_batch_outside, attend=_over_the_folded_axis))
@_weighing
def softmax_over_heads(scores):
    """Your softmax runs over the folded axis, or over the heads: they would share out one query's attention among them.
    It runs over the keys, axis=-1."""
    return exp_shares(scores, -3)


def values_are_keys(queries, keys, values, n_heads):
    """You mix the keys. What gets mixed is the values: weights @ values."""
    return folded_attention(queries, keys, keys, n_heads)


_MIXED_UP = [choice for choice in itertools.product(range(3), repeat=3) if choice not in {(0, 1, 2), (0, 1, 1)}]


@also(choice=_MIXED_UP)
def folded_arguments_swapped(*arguments, choice=_MIXED_UP[0]):
    """You mixed up queries, keys and values, or use one of them twice. Pass them on in this order: queries, keys,
    values."""
    return folded_attention(*(arguments[place] for place in choice), arguments[3])


@_weighing
def weights_transposed(scores):
    """Your weights are transposed before they meet the values. Use them as they are: weights @ values."""
    return swap(softmax(scores))


@also(lambda *arguments: _batch_outside(returns_weights_only(*arguments)))
def returns_weights_only(queries, keys, values, n_heads):
    """You return the weights. Give the context: weights @ values, unfolded."""
    return scaled_dot_product_attention(*(split_heads(X, n_heads) for X in (queries, keys, values)))[1]
