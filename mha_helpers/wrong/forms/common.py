"""What the forms of several steps have in common."""

import itertools

LETTERS = "QKV"
AXES = ("batch", "heads", "tokens", "d_head")
ORDERS = [order for order in itertools.permutations(AXES) if order != ("batch", "tokens", "heads", "d_head")]


def swap(array):
    return array.swapaxes(-1, -2)


def block_of(matrix, n_heads, row, column):
    width = len(matrix) // n_heads
    return matrix[row * width : (row + 1) * width, column * width : (column + 1) * width]


def subsets(letters):
    return [
        "".join(some)
        for size in (len(letters), *range(1, len(letters)))
        for some in itertools.combinations(letters, size)
    ]
