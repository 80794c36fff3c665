"""The mistakes that people make in `grouped_attention`."""

import numpy as np

from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.exercises.masking.mistakes import masked_attention as in_notebook_03
from mha_helpers.exercises.mistakes import in_each_head
from mha_helpers.exercises.mistakes.catalogue import also, inside, maker, mistake_of, mistakes_in
from mha_helpers.exercises.mistakes.steps import attention_with, where_masked


def _tiled(array, n_heads):
    return np.concatenate([array] * (n_heads // array.shape[-3]), axis=-3)


def _repeated(array, n_heads):
    return np.repeat(array, n_heads // array.shape[-3], axis=-3)


def _picked(head_of):
    """Return a way of sharing: query head i takes head_of(i, n_heads, n_kv_heads)."""

    def share(array, n_heads):
        n_kv_heads = array.shape[-3]
        heads = [min(head_of(i, n_heads, n_kv_heads), n_kv_heads - 1) for i in range(n_heads)]
        return array[..., heads, :, :]

    return share


def _averaged(array, n_heads):
    return np.repeat(array.mean(axis=-3, keepdims=True), n_heads, axis=-3)


def _attend(
    share_keys=_repeated,
    share_values=_repeated,
    attend=scaled_dot_product_attention,
    prepare=lambda queries, n_kv_heads: queries,
    finish=lambda array, n_kv_heads: array,
):
    """Return grouped attention with one of its steps replaced."""

    def wrong_attention(queries, keys, values, mask=None):
        n_kv_heads = keys.shape[-3]
        queries = prepare(queries, n_kv_heads)
        n_heads = queries.shape[-3]
        context, weights = attend(queries, share_keys(keys, n_heads), share_values(values, n_heads), mask)
        return finish(context, n_kv_heads), finish(weights, n_kv_heads)

    return wrong_attention


def _in_each_head(**steps):
    """Return grouped attention with a step of the attention in each head done in another way."""
    return _attend(attend=attention_with(**steps))


_weighing = maker(lambda weigh: _in_each_head(weigh=weigh))


_scaling = maker(lambda factor: _in_each_head(factor=factor))


@maker
def _scaled_by(factor):
    """Return grouped attention whose scores are multiplied by factor(queries, keys), before anything is shared."""

    def wrong_attention(queries, keys, values, mask=None):
        return _in_each_head(factor=lambda *shared: factor(queries, keys))(queries, keys, values, mask)

    return wrong_attention


def _mean_of_groups(queries, n_kv_heads):
    """Each group's queries are averaged, and every member gets the mean."""
    groups = queries.reshape(*queries.shape[:-3], n_kv_heads, -1, *queries.shape[-2:])
    return np.broadcast_to(groups.mean(axis=-3, keepdims=True), groups.shape).reshape(queries.shape)


def _sum_of_groups(queries, n_kv_heads):
    return _mean_of_groups(queries, n_kv_heads) * (queries.shape[-3] // n_kv_heads)


def _one_query_a_group(change):
    """There are as many heads in the end as heads of keys."""

    def wrong_attention(queries, keys, values, mask=None):
        groups = queries.reshape(*queries.shape[:-3], keys.shape[-3], -1, *queries.shape[-2:])
        return _attend()(change(groups), keys, values, mask)

    return wrong_attention


def _mean_in_the_end(array, n_kv_heads):
    groups = array.reshape(*array.shape[:-3], n_kv_heads, -1, *array.shape[-2:])
    return groups.mean(axis=-3)


def kv_heads_tiled(queries, keys, values, mask=None):
    """You line the shared heads up as 0, 1, 0, 1, so that neighbouring query heads get different ones. A group stands
    side by side: 0, 0, 1, 1. Repeat each head before the next one comes."""
    return _attend(_tiled, _tiled)(queries, keys, values, mask)


def grouped_keys_tiled(queries, keys, values, mask=None):
    """The values are shared in the right order and the keys as 0, 1, 0, 1. Then a query head weighs the tokens by one
    head and reads them from another. Repeat both in the same way."""
    return _attend(_tiled, _repeated)(queries, keys, values, mask)


def grouped_values_tiled(queries, keys, values, mask=None):
    """The keys are shared in the right order and the values as 0, 1, 0, 1. Then a query head weighs the tokens by one
    head and reads them from another. Repeat both in the same way."""
    return _attend(_repeated, _tiled)(queries, keys, values, mask)


@also(
    _attend(*[_picked(lambda i, n, n_kv: (i // n_kv) % n_kv)] * 2),
    _attend(*[lambda array, n: np.repeat(array, array.shape[-3], axis=-3)[..., :n, :, :]] * 2),
)
def grouped_wrong_size(queries, keys, values, mask=None):
    """The groups have the wrong size: as many query heads as there are heads of keys. A group has n_heads // n_kv_heads
    query heads."""
    return _attend(*[_picked(lambda i, n, n_kv: i // n_kv)] * 2)(queries, keys, values, mask)


@also(_attend(_picked(lambda i, n, n_kv: 0), _repeated), _attend(_repeated, _picked(lambda i, n, n_kv: 0)))
def grouped_first_for_all(queries, keys, values, mask=None):
    """All query heads use the first head of keys and values. Only with a single one would that be right; each group has
    its own."""
    return _attend(*[_picked(lambda i, n, n_kv: 0)] * 2)(queries, keys, values, mask)


@also(_attend(_repeated, _averaged), _attend(_averaged, _repeated))
def grouped_kv_averaged(queries, keys, values, mask=None):
    """You average the heads of keys and values into one. They stay apart: each group of query heads has its own."""
    return _attend(_averaged, _averaged)(queries, keys, values, mask)


@also(_one_query_a_group(lambda groups: groups.mean(axis=-3)))
def grouped_queries_averaged(queries, keys, values, mask=None):
    """You average the queries of a group. Sharing saves keys and values, because only these are kept; each query head
    still asks its own question."""
    return _attend(prepare=_mean_of_groups)(queries, keys, values, mask)


@also(_one_query_a_group(lambda groups: groups.sum(axis=-3)))
def grouped_queries_summed(queries, keys, values, mask=None):
    """You add up the queries of a group. Each query head still asks its own question; only keys and values
    are shared."""
    return _attend(prepare=_sum_of_groups)(queries, keys, values, mask)


@also(
    _one_query_a_group(lambda groups: groups[..., -1, :, :]),
    lambda queries, keys, values, mask=None: _attend()(queries[..., : keys.shape[-3], :, :], keys, values, mask),
)
def grouped_heads_dropped(queries, keys, values, mask=None):
    """You use one query head of each group, and drop the others. The result has as many heads as there are queries."""
    return _one_query_a_group(lambda groups: groups[..., 0, :, :])(queries, keys, values, mask)


@also(_attend(finish=lambda array, n_kv: np.repeat(_mean_in_the_end(array, n_kv), array.shape[-3] // n_kv, axis=-3)))
def grouped_contexts_averaged(queries, keys, values, mask=None):
    """You average what a group has found. Each query head has its own context, so the result has as many heads as the
    queries."""
    return _attend(finish=_mean_in_the_end)(queries, keys, values, mask)


@also(counted=(0, 1, -3), repeated=(0, 1, -2))
def grouped_wrong_axis(queries, keys, values, mask=None, counted=-3, repeated=1):
    """You count the heads, or repeat them, along another axis than theirs. It is the third from the right, however many
    axes of a batch stand in front: queries.shape[-3], keys.shape[-3], and axis=-3 in np.repeat."""
    group = queries.shape[counted] // keys.shape[counted]
    return scaled_dot_product_attention(
        queries, np.repeat(keys, group, axis=repeated), np.repeat(values, group, axis=repeated), mask
    )


def grouped_reversed(queries, keys, values, mask=None):
    """The heads of keys and values are handed out from the last to the first. The first group takes the first."""
    return _attend(*[lambda array, n: _repeated(array[..., ::-1, :, :], n)] * 2)(queries, keys, values, mask)


SCALES = tuple(
    mistake_of(_scaling(step))
    for step in (
        in_each_head.scale_missing,
        in_each_head.scale_no_root,
    )
)
SOFTMAXES = mistake_of(_weighing(in_each_head.softmax_over_queries))


@_scaled_by
@also(
    lambda queries, keys: queries.shape[-3] ** -0.5,
    lambda queries, keys: (queries.shape[-3] * queries.shape[-1]) ** -0.5,
    lambda queries, keys: (keys.shape[-3] * queries.shape[-1]) ** -0.5,
    lambda queries, keys: (queries.shape[-3] // keys.shape[-3] * queries.shape[-1]) ** -0.5,
)
def grouped_scale(queries, keys):
    """The scores are divided by the square root of another number than a head's width. Sharing changes nothing about
    it: divide by sqrt(d_head), queries.shape[-1]."""
    return keys.shape[-3] ** -0.5


@_weighing
def grouped_softmax_over_heads(scores):
    """The softmax runs over the heads. Each head shares out its own attention over the keys, the last axis."""
    return in_each_head.over(scores, -3)


EARLIER = tuple(
    inside(lambda wrong: _attend(attend=where_masked(wrong)), mistake)
    for mistake in mistakes_in(in_notebook_03, "mask-ignored", "mask-inverted", "mask-after-softmax")
)
