"""Answers to padding_mask: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.masks import padding_mask

CATALOGUE = (
    "padding-on-queries",
    "padding-inverted",
    "padding-no-head-axis",
    "padding-float",
)

TELLING_CASE = ("two sentences of five", 2)


def padding_loops(attention_mask):
    batch, n_keys = attention_mask.shape
    mask = np.zeros((batch, 1, 1, n_keys), dtype=bool)
    for b in range(batch):
        for j in range(n_keys):
            if attention_mask[b, j] == 1:
                mask[b, 0, 0, j] = True
    return mask


def padding_filled(attention_mask):
    mask = np.full((len(attention_mask), 1, 1, attention_mask.shape[1]), False)
    mask[:, 0, 0] = attention_mask
    return mask


def padding_shape_set(attention_mask):
    mask = attention_mask != 0
    mask.shape = (mask.shape[0], 1, 1, mask.shape[1])
    return mask


def padding_masked_array(attention_mask):
    return np.ma.masked_equal(attention_mask, 0).filled(0)[:, None, None].astype(bool)


def padding_view(attention_mask):
    return attention_mask.astype(np.int8).view(bool)[:, None, None, :]


RIGHT = (
    padding_mask,
    padding_loops,
    padding_filled,
    padding_shape_set,
    padding_masked_array,
    padding_view,
    lambda attention_mask: (attention_mask == 1)[:, None, None, :],
    lambda attention_mask: attention_mask[:, None, None, :] == 1,
    lambda attention_mask: attention_mask[:, np.newaxis, np.newaxis, :] > 0,
    lambda attention_mask: attention_mask[:, None, None].astype(bool),
    lambda attention_mask: (attention_mask != 0).reshape(attention_mask.shape[0], 1, 1, -1),
    lambda attention_mask: np.reshape(attention_mask, (-1, 1, 1, attention_mask.shape[-1])) == 1,
    lambda attention_mask: np.expand_dims(attention_mask.astype(bool), (1, 2)),
    lambda attention_mask: np.expand_dims(np.expand_dims(attention_mask, 1), 2) == 1,
    lambda attention_mask: ~(attention_mask == 0)[:, None, None, :],
    lambda attention_mask: np.logical_not(1 - attention_mask)[:, None, None, :],
    lambda attention_mask: np.where(attention_mask == 1, True, False)[:, None, None],
    lambda attention_mask: [[[[bool(entry) for entry in row]]] for row in attention_mask],
    lambda attention_mask: [[[[entry == 1 for entry in row]]] for row in attention_mask.tolist()],
    lambda attention_mask: np.array(attention_mask, dtype=np.bool)[:, None, None],
    lambda attention_mask: np.isin(attention_mask, [1])[:, None, None],
    lambda attention_mask: np.swapaxes(attention_mask[:, :, None, None] == 1, 1, 3),
    lambda attention_mask: np.einsum("bk->kb", attention_mask).T.reshape(len(attention_mask), 1, 1, -1).astype("bool"),
    lambda attention_mask: np.ma.masked_array(attention_mask == 1)[:, None, None, :],
    lambda attention_mask: np.asfortranarray(attention_mask[:, None, None, :] >= 1),
    lambda ids, /: np.stack([row[None, None] for row in ids.astype(bool)]),
)  # fmt: skip


def padding_writes(attention_mask):
    attention_mask[:] = attention_mask == 1
    mask = attention_mask[:, None, None, :].astype(bool)
    attention_mask -= 1
    return mask


def padding_by_length(attention_mask):
    """Takes for granted that padding is on the right."""
    lengths = attention_mask.sum(axis=1)
    return (np.arange(attention_mask.shape[1]) < lengths[:, None])[:, None, None]


def padding_left_by_length(attention_mask):
    lengths = attention_mask.sum(axis=1)
    return (np.arange(attention_mask.shape[1])[::-1] < lengths[:, None])[:, None, None]


def padding_either_side_by_length(attention_mask):
    """Looks at the first sentence only, to find out on which side the padding is."""
    left = attention_mask[0, 0] == 0
    return (padding_left_by_length if left else padding_by_length)(attention_mask)


def padding_up_to_first_zero(attention_mask):
    return np.cumprod(attention_mask, axis=1).astype(bool)[:, None, None]


def padding_up_to_last_one(attention_mask):
    return (np.cumsum(attention_mask[:, ::-1], axis=1)[:, ::-1] > 0)[:, None, None]


def padding_never_empty(attention_mask):
    """An empty sentence is shown instead."""
    mask = attention_mask.astype(bool)
    mask[~mask.any(axis=1)] = True
    return mask[:, None, None]


def padding_cached(attention_mask, kept={}):  # noqa: B006
    return kept.setdefault(attention_mask.shape, attention_mask[:, None, None] == 1)


def padding_one_sentence(attention_mask):
    return (attention_mask == 1).reshape(1, 1, 1, -1)


def padding_two_sentences(attention_mask):
    return (attention_mask == 1).reshape(2, 1, 1, -1)


WRONG = {
    "input-changed": (padding_writes,),
    "padding-float": (
        lambda attention_mask: attention_mask[:, None, None],
        lambda attention_mask: attention_mask[:, None, None].astype(np.float32),
        lambda attention_mask: attention_mask[:, None, None].astype(np.uint8),
        lambda attention_mask: attention_mask[:, None, None].tolist(),
    ),
    "padding-batch-as-queries": (
        lambda attention_mask: (attention_mask == 1)[None, :, None],
        lambda attention_mask: (attention_mask == 1)[None, None, :, :],
    ),
    "padding-inverted": (
        lambda attention_mask: ~attention_mask[:, None, None].astype(bool),
        lambda attention_mask: (1 - attention_mask)[:, None, None],
        lambda attention_mask: np.where(attention_mask == 1, 0, 1)[:, None, None].astype(bool),
    ),
    "padding-additive": (
        lambda attention_mask: (1.0 - attention_mask)[:, None, None] * -10000.0,
        lambda attention_mask: (1.0 - attention_mask)[:, None, None] * np.finfo(np.float32).min,
        lambda attention_mask: np.log(attention_mask)[:, None, None],
    ),
    "padding-pairs": (lambda attention_mask: (attention_mask[:, :, None] * attention_mask[:, None])[:, None].astype(bool),),
    "held-as-objects": (lambda attention_mask: attention_mask.astype(bool).astype(object)[:, None, None],),
    None: (
        padding_by_length,
        padding_left_by_length,
        padding_either_side_by_length,
        padding_up_to_first_zero,
        padding_up_to_last_one,
        padding_never_empty,
        padding_cached,
        padding_one_sentence,
        padding_two_sentences,
        lambda attention_mask: (attention_mask == 1).reshape(-1, 1, 1, 5),
        lambda attention_mask: (attention_mask[:, None, None] == 1).astype(str),
        lambda attention_mask: (attention_mask == 1)[..., None],
        lambda attention_mask: (attention_mask == 1)[..., None, None],
        lambda attention_mask: (attention_mask == 1)[:, None, None, :, None],
        lambda attention_mask: (attention_mask == 1)[:, :, None, None],
        lambda attention_mask: (attention_mask == 1)[0],
        lambda attention_mask: (attention_mask == 1).T[:, None, None],
        lambda attention_mask: (attention_mask == 1)[:, None, None, ::-1],
        lambda attention_mask: (attention_mask == 1)[::-1, None, None],
        lambda attention_mask: np.broadcast_to((attention_mask == 1)[:1], attention_mask.shape)[:, None, None],
        lambda attention_mask: np.broadcast_to((attention_mask == 1).any(0), attention_mask.shape)[:, None, None],
        lambda attention_mask: np.broadcast_to((attention_mask == 1).all(0), attention_mask.shape)[:, None, None],
        lambda attention_mask: np.ones_like(attention_mask, dtype=bool)[:, None, None],
        lambda attention_mask: np.zeros_like(attention_mask, dtype=bool)[:, None, None],
        lambda attention_mask: ~attention_mask[:, None, None],
        lambda attention_mask: np.where(attention_mask == 1, True, None)[:, None, None],
        lambda attention_mask: np.where(attention_mask == 1, 1, -1)[:, None, None].astype(bool),
        lambda attention_mask: (attention_mask > attention_mask.min())[:, None, None],
        lambda attention_mask: (attention_mask == attention_mask.max(axis=1, keepdims=True))[:, None, None],
        lambda attention_mask: (attention_mask > attention_mask.mean())[:, None, None],
        lambda attention_mask: (attention_mask > 1)[:, None, None],
        lambda attention_mask: (attention_mask >= 0)[:, None, None],
        lambda attention_mask: (attention_mask == 1)[:, None, None] & np.tri(attention_mask.shape[1], dtype=bool),
        lambda attention_mask: (attention_mask[:, :, None] == attention_mask[:, None])[:, None],
        lambda attention_mask: (attention_mask[:, None] == 1, attention_mask),
        lambda attention_mask: {"mask": attention_mask[:, None, None] == 1},
        lambda attention_mask: np.argwhere(attention_mask),
        lambda attention_mask: attention_mask.sum(axis=1),
        lambda attention_mask: (attention_mask == 1)[:, None, None].squeeze(),
        lambda attention_mask: attention_mask.astype(bool) if attention_mask.shape[0] == 1 else padding_mask(attention_mask),
        lambda attention_mask: attention_mask[:, None, None] is True,
        lambda attention_mask, n_heads: padding_mask(attention_mask),
        lambda: True,
    ),
}  # fmt: skip

TOLD = (
    (lambda tokens: 2 * tokens[:, None, None], "A mask here holds only booleans: True where"),
    (lambda tokens: ~tokens[:, None, None], "~1 is -2, and ~0 is -1. Make booleans first."),
    (
        lambda tokens: padding_mask(tokens) & (np.arange(tokens.shape[1]) > 0),
        "Your mask hides the token at key 0 of sentence 0.",
    ),
    (lambda tokens: np.ones_like(padding_mask(tokens)), "Your mask shows the padding at key 3 of sentence 0."),
)
