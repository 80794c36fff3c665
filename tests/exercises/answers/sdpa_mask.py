"""Answers to sdpa_mask: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.masks import sdpa_mask

CATALOGUE = ("sdpa-top-left", "sdpa-inverted", "sdpa-not-causal", "sdpa-padding-ignored", "sdpa-float")

TELLING_CASE = ("two new tokens of five", 2)


def by_loops(attention_mask, n_new):
    batch, n_keys = attention_mask.shape
    mask = np.zeros((batch, 1, n_new, n_keys), bool)
    for b in range(batch):
        for i in range(n_new):
            for j in range(n_keys):
                mask[b, 0, i, j] = attention_mask[b, j] == 1 and j <= n_keys - n_new + i
    return mask


def by_offset(attention_mask, n_new):
    n_keys = attention_mask.shape[1]
    past = np.tri(n_new, n_keys, k=n_keys - n_new, dtype=bool)
    return attention_mask.astype(bool)[:, np.newaxis, np.newaxis, :] & past


def by_comparison(attention_mask, n_new):
    n_keys = attention_mask.shape[1]
    queries, keys = np.arange(n_keys)[-n_new:, None], np.arange(n_keys)
    return (keys <= queries) * (attention_mask[:, None, None] > 0)


def by_logical_and(attention_mask, n_new):
    n_keys = attention_mask.shape[1]
    hidden = np.triu(np.ones((n_keys, n_keys), bool), 1)[n_keys - n_new :]
    return np.logical_and(np.expand_dims(attention_mask != 0, (1, 2)), ~hidden)


RIGHT = (
    sdpa_mask,
    by_loops,
    by_offset,
    by_comparison,
    by_logical_and,
    lambda attention_mask, n_new: (np.tri(attention_mask.shape[1])[-n_new:] * attention_mask[:, None, None, :]) == 1,
    lambda attention_mask, n_new: np.einsum("bk,qk->bqk", attention_mask, np.tri(attention_mask.shape[1], dtype=int)[-n_new:]).astype(bool)[:, None],
    lambda attention_mask, n_new: sdpa_mask(attention_mask, n_new).tolist(),
)  # fmt: skip


def told(change):
    return lambda attention_mask, n_new: change(sdpa_mask(attention_mask, n_new))


WRONG = {
    "sdpa-top-left": (
        lambda attention_mask, n_new: (
            (attention_mask == 1)[:, None, None] & np.tril(np.ones((n_new, attention_mask.shape[1]), bool))
        ),
    ),
    "sdpa-inverted": (told(np.logical_not),),
    "sdpa-not-causal": (lambda attention_mask, n_new: (attention_mask > 0)[:, None, None, :],),
    "sdpa-padding-ignored": (lambda attention_mask, n_new: np.tri(attention_mask.shape[1], dtype=bool)[-n_new:],),
    "sdpa-joined-with-or": (
        lambda attention_mask, n_new: (
            (attention_mask == 1)[:, None, None] | np.tri(attention_mask.shape[1], dtype=bool)[-n_new:]
        ),
    ),
    "sdpa-off-by-one": (
        lambda attention_mask, n_new: (
            (attention_mask == 1)[:, None, None] & np.tri(attention_mask.shape[1], k=1, dtype=bool)[-n_new:]
        ),
    ),
    "sdpa-no-head-axis": (told(lambda mask: mask[:, 0]),),
    "sdpa-float": (told(lambda mask: mask * 1.0), told(lambda mask: mask + 0)),
    "sdpa-additive": (told(lambda mask: np.where(mask, 0, -np.inf)),),
    "sdpa-padding-inverted": (
        lambda attention_mask, n_new: (
            (1 - attention_mask)[:, None, None].astype(bool) & np.tri(attention_mask.shape[1], dtype=bool)[-n_new:]
        ),
    ),
    None: (
        told(lambda mask: mask[..., ::-1]),
        told(lambda mask: mask[:, :, ::-1]),
        told(lambda mask: mask[:1]),
        told(lambda mask: mask.sum(axis=-1)),
        told(lambda mask: mask[..., 1:]),
        told(lambda mask: np.ones_like(mask)),
        lambda attention_mask: (attention_mask == 1)[:, None, None],
        lambda attention_mask, n_new: (attention_mask == 1)[:, None, None] & np.eye(attention_mask.shape[1], dtype=bool)[-n_new:],
        lambda attention_mask, n_new: attention_mask[:, -n_new:] == 1,
    ),
}  # fmt: skip

TOLD = ()
