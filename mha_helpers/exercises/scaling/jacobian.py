"""The exercise `softmax_jacobian`, and the mistakes that people make in it."""

import numpy as np

from mha_helpers.attention import softmax, softmax_jacobian
from mha_helpers.exercises.common import draws, not_finite
from mha_helpers.exercises.engine import Case, Exercise, Mistake


def _jacobian_cases():
    def row(seed, n_keys):
        return {"p": softmax(draws(seed, scores=n_keys)["scores"])}

    return (
        Case("four keys", row(0, 4)),
        Case("seven keys", row(1, 7)),
        Case("two keys", {"p": np.array([0.25, 0.75])}),
        Case("equal weights", {"p": np.full(5, 0.2)}),
        Case("float32", {"p": row(2, 6)["p"].astype(np.float32)}),
        Case("all weight on one key", {"p": np.array([0.0, 1.0, 0.0])}),
        Case("one key", {"p": np.array([1.0])}),
    )


JACOBIAN_MISTAKES = (
    Mistake(
        "jacobian-diagonal-only",
        "You have p (1 - p), what a weight gains from its own score. Every weight also *loses* when another key's "
        "score grows: off the diagonal stands -p[i] p[j].",
        (
            lambda p: np.diag(p * (1 - p)),
            lambda p: p * (1 - p),
        ),
    ),
    Mistake(
        "jacobian-sign",
        "The signs are the wrong way round: a key's own score raises its weight (plus on the diagonal), and lowers the "
        "others (minus).",
        (lambda p: np.outer(p, p) - np.diag(p),),
    ),
    Mistake(
        "jacobian-outer-only",
        "The diagonal is forgotten: to -p p^T add p itself on the diagonal, np.diag(p).",
        (
            lambda p: -np.outer(p, p),
            lambda p: np.outer(p, p),
        ),
    ),
    Mistake(
        "jacobian-plus",
        "Off the diagonal stands *minus* p[i] p[j]: a weight falls when another key's score grows.",
        (
            lambda p: np.diag(p) + np.outer(p, p),
            lambda p: np.diag(p - 2 * p * p) + np.outer(p, p),
        ),
    ),
    Mistake(
        "jacobian-diagonal-twice",
        "On the diagonal p[i]^2 is subtracted twice: np.outer(p, p) holds it already. Start from np.diag(p).",
        (lambda p: np.diag(p * (1 - p)) - np.outer(p, p),),
    ),
    Mistake(
        "jacobian-outer-missing",
        "np.diag(p) alone forgets that the weights compete: subtract np.outer(p, p), everywhere.",
        (lambda p: np.diag(p),),
    ),
    Mistake(
        "jacobian-identity",
        "You subtract from the identity. On the diagonal stands p[i] - p[i]^2, so start from np.diag(p), with the "
        "weights on the diagonal.",
        (lambda p: np.eye(len(p)) - np.outer(p, p),),
    ),
    Mistake(
        "jacobian-one-minus",
        "p[i] (1 - p[j]) is right on the diagonal only, where i is j. Elsewhere it is -p[i] p[j].",
        (
            lambda p: np.outer(p, 1 - p),
            lambda p: np.outer(1 - p, p),
        ),
    ),
    Mistake(
        "jacobian-elementwise",
        "`p * p` (and `p.T * p`: a row has no transpose) multiplies cell by cell and gives one row (or column). "
        "Every pair (i, j) needs its own product: np.outer(p, p), or p[:, None] * p.",
        (
            lambda p: np.diag(p) - p * p,
            lambda p: np.diag(p) - (p * p)[:, None],
            lambda p: np.diag(p - p * p) - p * p,
        ),
    ),
    Mistake(
        "jacobian-inner",
        "`p @ p` is one number, the sum of the squares (a row has no transpose: `p.T` is p). Every pair (i, j) needs "
        "its own product: np.outer(p, p).",
        (
            lambda p: np.diag(p) - p @ p,
            lambda p: np.diag(p - p @ p),
        ),
    ),
    Mistake(
        "jacobian-of-scores",
        "You take the softmax of p first. What is given are the weights already; use them as they are.",
        (lambda p: softmax_jacobian(softmax(p)),),
    ),
    Mistake(
        "jacobian-log-softmax",
        "That is the Jacobian of log-softmax, identity minus p in each row. For the weights themselves multiply row i "
        "by p[i].",
        (lambda p: np.eye(len(p)) - p,),
    ),
)


def _rows_do_not_cancel(call, arguments, arrays):
    sums = arrays[0].sum(axis=-1)
    rows = np.flatnonzero(~np.isclose(sums, 0, atol=1e-4))
    if not len(rows):
        return None
    return (
        "Weights always sum to 1, so what one gains the others lose: every row and column must sum to 0. "
        f"Your row {rows[0]} sums to {sums[rows[0]]:.4f}."
    )


def _not_symmetric(call, arguments, arrays):
    if np.allclose(arrays[0], arrays[0].T, atol=1e-5):
        return None
    return "The matrix must be symmetric: p[i] p[j] is p[j] p[i]."


jacobian_exercise = Exercise(
    reference=softmax_jacobian,
    outputs=("jacobian",),
    cases=_jacobian_cases(),
    mistakes=JACOBIAN_MISTAKES,
    properties=(not_finite, _rows_do_not_cancel, _not_symmetric),
    hints=(
        "On the diagonal stands p[i] - p[i]^2, how a weight moves with its own score; everywhere else -p[i] p[j].",
        "Both in one: p[i] p[j] is subtracted everywhere, and p[i] is added on the diagonal.",
        "np.diag(p) is a matrix with p on its diagonal; np.outer(p, p) holds every product p[i] p[j].",
    ),
    now="You can say how much any softmax row still listens to its scores.",
)
