"""Answers to softmax_jacobian: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.attention import softmax, softmax_jacobian

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


def jacobian_complex_step(p):
    """The derivative without a difference: the imaginary part of softmax at s + ih."""
    columns = []
    for e in np.eye(len(p)):
        moved = p * np.exp(1e-20j * e)
        columns.append((moved / moved.sum()).imag / 1e-20)
    return np.array(columns).T


RIGHT = (
    jacobian_loops,
    jacobian_finite_differences,
    jacobian_complex_step,
    lambda p: np.diag(p) - np.einsum("i,j->ij", p, p),
    lambda p: np.where(np.eye(len(p), dtype=bool), p * (1 - p), -np.multiply.outer(p, p)),
    lambda p: np.ma.masked_array(np.diag(p) - np.kron(p, p).reshape(len(p), -1)),
)  # fmt: skip


def jacobian_nudged(p, nudge=1e-6):
    """As the notebook does it; in float32 a millionth is lost in rounding."""
    with np.errstate(divide="ignore"):
        scores = np.log(p)
    nudges = nudge * np.eye(len(p), dtype=p.dtype)
    return np.stack([(softmax(scores + one) - p) / nudge for one in nudges], axis=-1)


def jacobian_overwrites(p):
    jacobian = np.diag(p) - np.outer(p, p)
    p[:] = 0
    return jacobian


def jacobian_upper_half(p):
    jacobian = np.diag(p * (1 - p))
    for i in range(len(p)):
        for j in range(i + 1, len(p)):
            jacobian[i, j] = -p[i] * p[j]
    return jacobian


def jacobian_of_inverse(p):
    return np.linalg.pinv(np.diag(p) - np.outer(p, p))


def jacobian_integers(p):
    jacobian = np.zeros((len(p), len(p)), int)
    jacobian[:] = np.diag(p) - np.outer(p, p)
    return jacobian


def jacobian_with_epsilon(p):
    p = np.clip(p, 1e-3, 1 - 1e-3)
    return np.diag(p) - np.outer(p, p)


def jacobian_cached(p, kept={}):  # noqa: B006
    return kept.setdefault(len(p), np.diag(p) - np.outer(p, p))


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
    "input-changed": (jacobian_overwrites,),
    "not-repeatable": (jacobian_cached,),
    "fractions-lost": (jacobian_integers, ),
    "one-list-for-all-rows": (jacobian_one_row_repeated, jacobian_one_row_appended),
    None: (
        jacobian_upper_half,
        jacobian_nudged,
        jacobian_of_inverse,
        jacobian_with_epsilon,
        lambda p: np.diag(p)[:4, :4] - np.outer(p, p)[:4, :4],
        lambda p: softmax_jacobian(p)[::-1],
        lambda p: (softmax_jacobian(p), p),
        lambda p: {"jacobian": softmax_jacobian(p)},
        lambda p: softmax_jacobian(p).astype(str),
        lambda p: softmax_jacobian(np.sort(p)),
        lambda p: np.zeros((len(p), len(p))),
        lambda p: softmax_jacobian(p) if p.max() < 1 else np.full((len(p), len(p)), np.nan),
        lambda p: softmax_jacobian(p) if len(p) > 1 else 0.0,
        lambda p, scores: softmax_jacobian(p),
        lambda: 1,
    ),
}  # fmt: skip

TOLD = (
    (lambda p: [p.tolist()] * len(p), "Several rows of your list are one and the same list"),
    (jacobian_filled_and_lost, "It returned None: np.fill_diagonal changes what it is given, and returns None."),
    (jacobian_into_a_view, "into a diagonal with np.fill_diagonal"),
    (jacobian_at_floats, "floats in square brackets pick nothing"),
    (jacobian_nudged, "in float32 a small nudge is lost in rounding"),
    (lambda p: np.triu(softmax_jacobian(p)), "every row and column must sum to 0. Your row 1 sums to 0.0397."),
    (lambda p: np.roll(softmax_jacobian(p), 1, axis=1), "The matrix must be symmetric: p[i] p[j] is p[j] p[i]."),
)
