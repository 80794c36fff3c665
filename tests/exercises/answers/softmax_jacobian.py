"""Answers to softmax_jacobian: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.attention import softmax, softmax_jacobian

TELLING_CASE = None


def jacobian_loops(p):
    jacobian = np.zeros((len(p), len(p)))
    for i in range(len(p)):
        for j in range(len(p)):
            jacobian[i, j] = p[i] * (1 - p[i]) if i == j else -p[i] * p[j]
    return jacobian


def jacobian_finite_differences(p, step=1e-3):
    with np.errstate(divide="ignore"):
        scores = np.log(p.astype(np.float64))
    columns = [(softmax(scores + step * e) - softmax(scores - step * e)) / (2 * step) for e in np.eye(len(p))]
    return np.stack(columns, axis=-1)


RIGHT = (
    jacobian_loops,
    jacobian_finite_differences,
    lambda p: np.ma.masked_array(np.diag(p) - np.kron(p, p).reshape(len(p), -1)),
)


def jacobian_nudged(p, nudge=1e-6):
    """As the notebook does it; in float32 a millionth is lost in rounding."""
    with np.errstate(divide="ignore"):
        scores = np.log(p)
    nudges = nudge * np.eye(len(p), dtype=p.dtype)
    return np.stack([(softmax(scores + one) - p) / nudge for one in nudges], axis=-1)


def jacobian_of_inverse(p):
    return np.linalg.pinv(np.diag(p) - np.outer(p, p))


def jacobian_one_row_repeated(p):
    n = len(p)
    jacobian = [[0] * n] * n
    for i in range(n):
        for j in range(n):
            jacobian[i][j] = p[i] * (1 - p[i]) if i == j else -p[i] * p[j]
    return jacobian


def jacobian_one_row_appended(p):
    row = np.zeros(len(p))
    rows = []
    for i in range(len(p)):
        for j in range(len(p)):
            row[j] = p[i] * ((i == j) - p[j])
        rows.append(row)
    return np.array(rows)


def jacobian_filled_and_lost(p):
    jacobian = -np.outer(p, p)
    return np.fill_diagonal(jacobian, p * (1 - p))


def jacobian_into_a_view(p):
    jacobian = -np.outer(p, p)
    np.diag(jacobian)[:] = p * (1 - p)
    return jacobian


def jacobian_at_floats(p):
    jacobian = -np.outer(p, p)
    jacobian[np.eye(len(p))] = p * (1 - p)
    return jacobian


WRONG = {
    "one-list-for-all-rows": (jacobian_one_row_repeated, jacobian_one_row_appended),
    None: (
        jacobian_of_inverse,
        lambda p: softmax_jacobian(p)[::-1],
        lambda p: (softmax_jacobian(p), p),
        lambda p: np.zeros((len(p), len(p))),
        lambda p: softmax_jacobian(p) if len(p) > 1 else 0.0,
    ),
}

TOLD = (
    (lambda p: [p.tolist()] * len(p), "Several rows of your list are one and the same list"),
    (jacobian_filled_and_lost, "It returned None: np.fill_diagonal changes what it is given, and returns None."),
    (jacobian_into_a_view, "into a diagonal with np.fill_diagonal"),
    (jacobian_at_floats, "floats in square brackets pick nothing"),
    (jacobian_nudged, "in float32 a small nudge is lost in rounding"),
    (lambda p: np.triu(softmax_jacobian(p)), "every row and column must sum to 0. Your row 1 sums to 0.0397."),
    (lambda p: np.roll(softmax_jacobian(p), 1, axis=1), "The matrix must be symmetric: p[i] p[j] is p[j] p[i]."),
)
