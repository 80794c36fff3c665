"""Answers to packed_mask: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.masks import causal_mask, packed_mask

CATALOGUE = ("packed-causal-only", "packed-texts-only", "packed-either", "packed-numbers", "packed-additive")

TELLING_CASE = None


def packed_loops(text_numbers):
    n = len(text_numbers)
    return [[text_numbers[i] == text_numbers[j] and j <= i for j in range(n)] for i in range(n)]


def packed_blocks(text_numbers):
    """A causal mask for each text, along the diagonal."""
    mask = np.zeros((len(text_numbers), len(text_numbers)), bool)
    start = 0
    for text in dict.fromkeys(text_numbers.tolist()):
        length = int((text_numbers == text).sum())
        mask[start : start + length, start : start + length] = causal_mask(length)
        start += length
    return mask


def packed_tril(text_numbers):
    return np.tril(np.equal.outer(text_numbers, text_numbers))


def packed_compared_in_place_of_assigned(text_numbers):
    mask = causal_mask(len(text_numbers))
    for i, j in np.ndindex(mask.shape):
        if text_numbers[i] != text_numbers[j]:
            mask[i, j] == False  # noqa: B015, E712
    return mask


RIGHT = (packed_mask, packed_loops, packed_blocks, packed_tril)

WRONG = {
    "packed-one-comparison": (
        lambda text_numbers: text_numbers[:, None] >= text_numbers,
        lambda text_numbers: text_numbers[:, None] <= text_numbers,
    ),
    "packed-brackets": (
        lambda text_numbers: causal_mask(len(text_numbers)) & text_numbers == text_numbers[:, None],
        lambda text_numbers: causal_mask(len(text_numbers)) & text_numbers[:, None] == text_numbers,
        lambda text_numbers: text_numbers[:, None] == text_numbers & causal_mask(len(text_numbers)),
    ),
    "packed-causal-only": (
        lambda text_numbers: np.tril(np.ones((len(text_numbers), len(text_numbers)), bool)),
        packed_compared_in_place_of_assigned,
    ),
    None: (
        lambda text_numbers: text_numbers[:, None] > text_numbers,
        lambda text_numbers: np.ones((len(text_numbers), len(text_numbers)), bool),
        lambda text_numbers: np.eye(len(text_numbers), dtype=bool),
        lambda text_numbers: packed_mask(text_numbers) | np.eye(len(text_numbers), k=1, dtype=bool),
    ),
}

TOLD = (
    *(
        (lambda text_numbers: text_numbers[:, None] > text_numbers, said)
        for said in ("Query 3 sees key 0, which belongs to another text.", "mask[3, 0] should be False; yours is True.")
    ),
    (
        lambda text_numbers: np.ones((len(text_numbers),) * 2, bool),
        "Query 0 sees key 3, which belongs to another text.",
    ),
    (lambda text_numbers: np.eye(len(text_numbers), dtype=bool), "Query 1 does not see key 0, which comes before it"),
)
