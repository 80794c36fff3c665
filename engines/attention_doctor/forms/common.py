"""What the forms of several steps have in common."""

import functools
import itertools

from attention_doctor.equation.stages import DoesNotFitError, Form

LETTERS = "QKV"
AXES = ("batch", "heads", "tokens", "d_head")
ORDERS = [order for order in itertools.permutations(AXES) if order != ("batch", "tokens", "heads", "d_head")]
FEATURES_FIRST = ("batch", "tokens", "d_head", "heads")


def swap(array):
    return array.swapaxes(-1, -2)


def block_of(matrix, n_heads, row, column):
    width = len(matrix) // n_heads
    return matrix[row * width : (row + 1) * width, column * width : (column + 1) * width]


def square(matrix):
    """Return a matrix for what runs with square ones alone."""
    if matrix.shape[-1] != matrix.shape[-2]:
        raise DoesNotFitError
    return matrix


def subsets(letters):
    return [
        "".join(some)
        for size in (len(letters), *range(1, len(letters)))
        for some in itertools.combinations(letters, size)
    ]


def maker(step, wrap=lambda change: change):
    """Return what makes the forms of a step, (slug, change, text, rare) each; `wrap` makes the step of a change."""
    return lambda slug, change, text, rare=False: Form(slug, step, wrap(change), text, rare)


def only_without_heads(run):
    """Let a step not be done where queries, keys and values come in heads."""

    @functools.wraps(run)
    def guarded(case, inputs):
        if case.heads is not None:
            raise DoesNotFitError
        return run(case, inputs)

    return guarded
