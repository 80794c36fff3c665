"""Answers to packed_mask: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.masks import causal_mask, packed_mask

TELLING_CASE = None


def packed_loops(text_numbers):
    n = len(text_numbers)
    return [[text_numbers[i] == text_numbers[j] and j <= i for j in range(n)] for i in range(n)]


def packed_compared_in_place_of_assigned(text_numbers):
    mask = causal_mask(len(text_numbers))
    for i, j in np.ndindex(mask.shape):
        if text_numbers[i] != text_numbers[j]:
            mask[i, j] == False  # noqa: B015, E712
    return mask


RIGHT = (
    packed_mask,
    packed_loops,
)

WRONG = {
    "packed-causal-only": (packed_compared_in_place_of_assigned,),
    None: (lambda text_numbers: text_numbers[:, None] > text_numbers,),
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
