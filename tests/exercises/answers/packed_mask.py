"""Answers to packed_mask: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.masks import causal_mask, packed_mask

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


def packed_by_where(text_numbers):
    past = np.arange(len(text_numbers))[:, None] >= np.arange(len(text_numbers))
    return np.where(past, text_numbers[:, None] == text_numbers[None], False)


def packed_row_by_row(text_numbers):
    mask = np.zeros((text_numbers.size, text_numbers.size), dtype=bool)
    for i in range(text_numbers.size):
        mask[i, : i + 1] = text_numbers[: i + 1] == text_numbers[i]
    return mask


RIGHT = (packed_mask, packed_loops, packed_blocks, packed_tril, packed_by_where, packed_row_by_row)

WRONG = {
    "packed-causal-only": (packed_compared_in_place_of_assigned,),
    None: (
        lambda text_numbers: text_numbers[:, None] > text_numbers,
        lambda text_numbers: np.eye(len(text_numbers), dtype=bool),
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
