"""Answers to blockwise_attention: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.blockwise import blockwise_attention

TELLING_CASE = ("a batch with heads", 6)


RIGHT = (blockwise_attention,)


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


def blockwise_hiding(hide, finish=lambda context, total: context / total):
    def blockwise_attention(queries, keys, values, mask=None, *, block_size=128):
        top, total, context = -np.inf, 0, 0
        for start in range(0, keys.shape[-2], block_size):
            block = slice(start, start + block_size)
            scores = queries @ keys[..., block, :].swapaxes(-1, -2) / np.sqrt(queries.shape[-1])
            if mask is not None:
                scores = hide(scores, mask[..., block])
            new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
            seen = np.where(np.isneginf(new_top), 0, new_top)
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


WRONG = {
    "mask-full-row-uniform": tuple(map(blockwise_filled, (-1e4, -1e9, -1e30, np.finfo(float).min))),
    "mask-full-row-unmasked": (blockwise_hiding(lambda scores, mask: scores - 1e9 * ~mask),),
    "blockwise-sees-nothing": (
        blockwise_hiding(lambda scores, mask: np.where(mask, scores, -np.inf), ones_where_nothing_is_seen),
    ),
    "blockwise-mask-not-cut": (blockwise_mask_not_cut,),
}

TOLD = ((blockwise_if_mask, "To ask whether a mask was given, write `mask is not None`"),)
