"""Answers to padding_mask: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.masks import padding_mask

TELLING_CASE = ("two sentences of five", 2)


def padding_loops(attention_mask):
    batch, n_keys = attention_mask.shape
    mask = np.zeros((batch, 1, 1, n_keys), dtype=bool)
    for b in range(batch):
        for j in range(n_keys):
            if attention_mask[b, j] == 1:
                mask[b, 0, 0, j] = True
    return mask


RIGHT = (
    padding_loops,
    lambda attention_mask: [[[[bool(entry) for entry in row]]] for row in attention_mask],
    lambda attention_mask: np.ma.masked_array(attention_mask == 1)[:, None, None, :],
    lambda ids, /: np.stack([row[None, None] for row in ids.astype(bool)]),
)


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


WRONG = {
    None: (
        padding_by_length,
        padding_either_side_by_length,
        lambda attention_mask: (attention_mask > attention_mask.min())[:, None, None],
        lambda attention_mask: (
            attention_mask.astype(bool) if attention_mask.shape[0] == 1 else padding_mask(attention_mask)
        ),
    ),
}

TOLD = (
    (lambda tokens: 2 * tokens[:, None, None], "A mask here holds only booleans: True where"),
    (lambda tokens: ~tokens[:, None, None], "~1 is -2, and ~0 is -1. Make booleans first."),
    (
        lambda tokens: padding_mask(tokens) & (np.arange(tokens.shape[1]) > 0),
        "Your mask hides the token at key 0 of sentence 0.",
    ),
    (lambda tokens: np.ones_like(padding_mask(tokens)), "Your mask shows the padding at key 3 of sentence 0."),
)
