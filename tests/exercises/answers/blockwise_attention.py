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


WRONG = {
    "blockwise-mask-not-cut": (blockwise_mask_not_cut,),
}

TOLD = ((blockwise_if_mask, "To ask whether a mask was given, write `mask is not None`"),)
