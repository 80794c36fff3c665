"""Answers to blockwise_attention: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.blockwise import blockwise_attention

TELLING_CASE = ("a batch with heads", 6)


def low_numbers_and_what_is_seen(queries, keys, values, mask=None, *, block_size=128):
    queries, n = queries / np.sqrt(queries.shape[-1]), keys.shape[-2]
    top, total = np.full((*queries.shape[:-1], 1), -1e30), np.zeros((*queries.shape[:-1], 1))
    context = np.zeros((*queries.shape[:-1], values.shape[-1]))
    for start in range(0, n, block_size):
        block = slice(start, start + block_size)
        scores = np.einsum("...qd,...kd->...qk", queries, keys[..., block, :])
        seen = np.ones(scores.shape, bool) if mask is None else mask[..., block]
        scores = np.where(seen, scores, -1e30)
        new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        exponentials, correction = np.exp(scores - new_top) * seen, np.exp(top - new_top)
        total = total * correction + exponentials.sum(axis=-1, keepdims=True)
        context = context * correction + exponentials @ values[..., block, :]
        top = new_top
    return context / np.maximum(total, 1e-300)


def merged_by_log_sum_exp(queries, keys, values, mask=None, *, block_size=128):
    came_to, context = -np.inf, 0.0
    for start in range(0, keys.shape[-2], block_size):
        block = slice(start, start + block_size)
        scores = queries @ keys[..., block, :].swapaxes(-1, -2) / queries.shape[-1] ** 0.5
        if mask is not None:
            scores = np.where(mask[..., block], scores, -np.inf)
        top = np.nan_to_num(scores.max(axis=-1, keepdims=True), neginf=0)
        exponentials = np.exp(scores - top)
        total = exponentials.sum(axis=-1, keepdims=True)
        own = exponentials @ values[..., block, :] / np.where(total == 0, 1, total)
        with np.errstate(divide="ignore"):
            both = np.logaddexp(came_to, np.log(total) + top)
        shift = np.where(np.isneginf(both), 0, both)
        context = context * np.exp(came_to - shift) + own * total * np.exp(top - shift)
        came_to = both
    return context


RIGHT = (blockwise_attention, low_numbers_and_what_is_seen, merged_by_log_sum_exp)


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


def cut(scores, mask):
    return np.where(mask, scores, -np.inf)


def blockwise_hiding(hide, finish=lambda context, total: context / total, root=np.sqrt, nothing_yet=0):
    def blockwise_attention(queries, keys, values, mask=None, *, block_size=128):
        top, total, context = -np.inf, 0, 0
        for start in range(0, keys.shape[-2], block_size):
            block = slice(start, start + block_size)
            scores = queries @ keys[..., block, :].swapaxes(-1, -2) / root(queries.shape[-1])
            if mask is not None:
                scores = hide(scores, mask[..., block])
            new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
            seen = np.where(np.isneginf(new_top), nothing_yet, new_top)
            exponentials, correction = np.exp(scores - seen), np.exp(top - seen)
            total = total * correction + exponentials.sum(axis=-1, keepdims=True)
            context = context * correction + exponentials @ values[..., block, :]
            top = new_top
        return finish(context, total)

    return blockwise_attention


def blockwise_filled(number):
    return blockwise_hiding(lambda scores, mask: np.where(mask, scores, number))


def ones_where_nothing_is_seen(context, total):
    return np.where(total == 0, 1, context / total)


def mean_where_nothing_is_seen(queries, keys, values, mask=None, *, block_size=128):
    context = blockwise_attention(queries, keys, values, mask, block_size=block_size)
    if mask is None:
        return context
    return np.where(mask.any(axis=-1, keepdims=True), context, values.mean(axis=-2, keepdims=True))


WRONG = {
    "mask-full-row-uniform": (
        *map(blockwise_filled, (-1e4, -1e9, -1e30, np.finfo(float).min)),
        mean_where_nothing_is_seen,
    ),
    "mask-inverted": (blockwise_hiding(lambda scores, mask: np.where(mask, -np.inf, scores)),),
    "mask-score-zero": (blockwise_hiding(lambda scores, mask: np.where(mask, scores, 0)),),
    "blockwise-scale-no-root": (blockwise_hiding(cut, root=lambda d_head: d_head),),
    "blockwise-nan-made-zero": (
        blockwise_hiding(cut, lambda context, total: np.nan_to_num(context / total), nothing_yet=-np.inf),
    ),
    "mask-full-row-unmasked": (blockwise_hiding(lambda scores, mask: scores - 1e9 * ~mask),),
    "blockwise-sees-nothing": (
        blockwise_hiding(lambda scores, mask: np.where(mask, scores, -np.inf), ones_where_nothing_is_seen),
    ),
    "blockwise-mask-not-cut": (blockwise_mask_not_cut,),
}

TOLD = ((blockwise_if_mask, "To ask whether a mask was given, write `mask is not None`"),)
