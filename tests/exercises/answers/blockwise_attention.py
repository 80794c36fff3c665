"""Answers to blockwise_attention: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.attention import scaled_dot_product_attention
from mha_helpers.maths.blockwise import blockwise_attention

TELLING_CASE = ("a batch with heads", 6)


def blockwise_two_passes(queries, keys, values, mask=None, *, block_size=128):
    """The tops first, then the sums: every block's scores are computed twice."""

    def scores_of(start):
        block = slice(start, start + block_size)
        scores = queries @ keys[..., block, :].swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
        return block, scores if mask is None else np.where(mask[..., block], scores, -np.inf)

    starts = range(0, keys.shape[-2], block_size)
    top = np.max([scores_of(start)[1].max(axis=-1, keepdims=True) for start in starts], axis=0)
    top = np.where(np.isneginf(top), 0, top)  # a query that sees nothing
    total = context = 0
    for start in starts:
        block, scores = scores_of(start)
        exponentials = np.exp(scores - top)
        total = total + exponentials.sum(axis=-1, keepdims=True)
        context = context + exponentials @ values[..., block, :]
    return context / np.where(total == 0, 1, total)


def blockwise_merged(queries, keys, values, mask=None, *, block_size=128):
    """Each block's own softmax, merged by the logarithms of their sums, as devices in a ring do."""
    context, log_total = 0.0, -np.inf
    for start in range(0, keys.shape[-2], block_size):
        block = slice(start, start + block_size)
        scores = queries @ keys[..., block, :].swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., block], scores, -np.inf)
        top = np.maximum(scores.max(axis=-1, keepdims=True), -1e300)
        exponentials = np.exp(scores - top)
        total = exponentials.sum(axis=-1, keepdims=True)
        with np.errstate(divide="ignore"):
            log_here = top + np.log(total)
        both = np.logaddexp(log_total, log_here)
        safe = np.where(np.isneginf(both), 0, both)
        here = exponentials @ values[..., block, :] / np.where(total == 0, 1, total)
        context = context * np.exp(log_total - safe) + here * np.exp(log_here - safe)
        log_total = both
    return context


def blockwise_queries(queries, keys, values, mask=None, *, block_size=128):
    """Blocks of queries instead: each sees all keys at once, and needs no correction."""
    rows = []
    for start in range(0, queries.shape[-2], block_size):
        part = slice(start, start + block_size)
        context, _ = scaled_dot_product_attention(
            queries[..., part, :], keys, values, None if mask is None else mask[..., part, :]
        )
        rows.append(context)
    return np.concatenate(rows, axis=-2)


def blockwise_query_by_query(queries, keys, values, mask=None, *, block_size=128):
    context = np.zeros((*queries.shape[:-1], values.shape[-1]))
    for place in np.ndindex(context.shape[:-1]):
        batch, top, total = place[:-1], -np.inf, 0.0
        for start in range(0, keys.shape[-2], block_size):
            block = slice(start, start + block_size)
            scores = keys[(*batch, block)] @ queries[place] / np.sqrt(queries.shape[-1])
            if mask is not None:
                seen = np.broadcast_to(mask, (*queries.shape[:-1], keys.shape[-2]))[place][block]
                scores = np.where(seen, scores, -np.inf)
            if np.isneginf(scores).all():
                continue
            highest = max(top, scores.max())
            kept, powers = np.exp(top - highest), np.exp(scores - highest)
            context[place] = context[place] * kept + powers @ values[(*batch, block)]
            top, total = highest, total * kept + powers.sum()
        context[place] /= total or 1
    return context


def blockwise_with_the_sums_as_a_column(queries, keys, values, mask=None, *, block_size=128):
    """A column of ones beside the values: what is mixed brings its own sum."""
    values = np.concatenate([values, np.ones_like(values[..., :1])], axis=-1)
    top, sums = np.full((*queries.shape[:-1], 1), -np.inf), 0.0
    for start in range(0, keys.shape[-2], block_size):
        block = slice(start, start + block_size)
        scores = np.einsum("...qd,...kd->...qk", queries, keys[..., block, :]) * queries.shape[-1] ** -0.5
        scores = scores if mask is None else np.where(mask[..., block], scores, -np.inf)
        highest = np.maximum(top, scores.max(axis=-1, keepdims=True))
        safe = np.maximum(highest, np.finfo(float).min)
        sums = sums * np.exp(np.minimum(top - safe, 0)) + np.exp(scores - safe) @ values[..., block, :]
        top = highest
    return sums[..., :-1] / np.where(sums[..., -1:] == 0, 1, sums[..., -1:])


RIGHT = (
    blockwise_attention,
    blockwise_two_passes,
    blockwise_merged,
    blockwise_queries,
    blockwise_query_by_query,
    blockwise_with_the_sums_as_a_column,
)


def blockwise_in_place(queries, keys, values, mask=None, *, block_size=128):
    context = blockwise_attention(queries, keys, values, mask, block_size=block_size)
    queries /= np.sqrt(queries.shape[-1])
    return context


def blockwise_mask_not_cut(queries, keys, values, mask=None, *, block_size=128):
    total, context = 0, 0
    for start in range(0, keys.shape[-2], block_size):
        stop = start + block_size
        scores = queries @ keys[..., start:stop, :].swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        total = total + np.exp(scores).sum(axis=-1, keepdims=True)
        context = context + np.exp(scores) @ values[..., start:stop, :]
    return context / total


def blockwise_if_mask(queries, keys, values, mask=None, *, block_size=128):
    if mask:
        return blockwise_attention(queries, keys, values, mask, block_size=block_size)
    return blockwise_attention(queries, keys, values, block_size=block_size)


def blockwise_with_a_top_that_stays(queries, keys, values, mask=None, *, block_size=128):
    top, total, context = -np.inf, 0, 0
    for start in range(0, keys.shape[-2], block_size):
        stop = start + block_size
        scores = queries @ keys[..., start:stop, :].swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., start:stop], scores, -np.inf)
        new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        safe_top = np.where(np.isneginf(new_top), 0, new_top)
        correction, exponentials = np.exp(top - safe_top), np.exp(scores - safe_top)
        total = total * correction + exponentials.sum(axis=-1, keepdims=True)
        context = context * correction + exponentials @ values[..., start:stop, :]
    return context / total


def blockwise_first_block_only(queries, keys, values, mask=None, *, block_size=128):
    total, context = 0, 0
    for start in range(0, keys.shape[-2], block_size):
        stop = start + block_size
        scores = queries @ keys[..., start:stop, :].swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
        total = total + np.exp(scores).sum(axis=-1, keepdims=True)
        context = context + np.exp(scores) @ values[..., start:stop, :]
        return context / total


WRONG = {
    "blockwise-last-block-only": (blockwise_with_a_top_that_stays,),
    "return-in-loop": (blockwise_first_block_only,),
    "blockwise-mask-not-cut": (blockwise_mask_not_cut,),
    "input-changed": (blockwise_in_place,),
    None: (
        lambda q, k, v, mask=None, *, block_size=128: scaled_dot_product_attention(q, k, v, mask),
        lambda q, k, v, mask=None, *, block_size=128: 2 * scaled_dot_product_attention(q, k, v, mask)[0],
        lambda q, k, v, mask=None, *, block_size=128: scaled_dot_product_attention(q, k, v, mask)[0].sum(),
        lambda q, k, v, mask=None: blockwise_attention(q, k, v, mask),
    ),
}

TOLD = ((blockwise_if_mask, "To ask whether a mask was given, write `mask is not None`"),)
