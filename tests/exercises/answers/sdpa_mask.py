"""Answers to sdpa_mask: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.masks import sdpa_mask

TELLING_CASE = ("two new tokens of five", 2)


def by_loops(attention_mask, n_new):
    batch, n_keys = attention_mask.shape
    mask = np.zeros((batch, 1, n_new, n_keys), bool)
    for b in range(batch):
        for i in range(n_new):
            for j in range(n_keys):
                mask[b, 0, i, j] = attention_mask[b, j] == 1 and j <= n_keys - n_new + i
    return mask


RIGHT = (sdpa_mask,)


def told(change):
    return lambda attention_mask, n_new: change(sdpa_mask(attention_mask, n_new))


WRONG = {
    "sdpa-not-causal": (told(lambda mask: np.ones_like(mask)),),
    None: (
        told(lambda mask: mask[:, :, ::-1]),
        told(lambda mask: mask[:1]),
    ),
}

TOLD = ()
