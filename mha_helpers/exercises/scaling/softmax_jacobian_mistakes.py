"""The mistakes that people make in `softmax_jacobian`."""

import numpy as np

from mha_helpers.exercises.engine import Mistake
from mha_helpers.maths.attention import softmax, softmax_jacobian

JACOBIAN_MISTAKES = (
    Mistake(
        "jacobian-diagonal-only",
        "You have p (1 - p), what a weight gains from its own score. Every weight also *loses* when another key's "
        "score grows: off the diagonal it is -p[i] p[j].",
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
        "Off the diagonal it is right. On the diagonal goes what the other weights lose together, so that each column "
        "sums to 0.",
        (lambda p: -np.outer(p, p),),
    ),
    Mistake(
        "jacobian-outer-positive",
        "Mind the sign off the diagonal: when one weight gains, the others lose. On the diagonal goes what they lose "
        "together.",
        (lambda p: np.outer(p, p),),
    ),
    Mistake(
        "jacobian-plus",
        "Off the diagonal it is *minus* p[i] p[j]: a weight falls when another key's score grows.",
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
        "You subtract from the identity matrix. The diagonal is p[i] - p[i]^2, so start from np.diag(p), which has "
        "the weights there.",
        (lambda p: np.eye(len(p)) - np.outer(p, p),),
    ),
    Mistake(
        "jacobian-diagonal-one-minus",
        "Off the diagonal it is right. On it you have 1 - p[i]; what belongs there is p[i] (1 - p[i]), as much as the "
        "other weights lose together. Each column then sums to 0.",
        (lambda p: np.diag(1 - p + p * p) - np.outer(p, p),),
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
        "`p * p` multiplies each weight by itself only, and gives one row. (So does `p.T * p`: transposing one row "
        "does nothing.) Every pair (i, j) needs its own product: np.outer(p, p), or p[:, None] * p.",
        (
            lambda p: p * p,
            lambda p: -p * p,
            lambda p: np.diag(p * p),
            lambda p: np.diag(-p * p),
            lambda p: np.diag(p) - p * p,
            lambda p: np.diag(p) - (p * p)[:, None],
            lambda p: np.diag(p - p * p) - p * p,
        ),
    ),
    Mistake(
        "jacobian-inner",
        "`p @ p` is one number, the sum of the squares. (So is `p.T @ p`: transposing one row does nothing.) Every "
        "pair (i, j) needs its own product: np.outer(p, p).",
        (
            lambda p: p @ p,
            lambda p: -p @ p,
            lambda p: np.diag(p) - p @ p,
            lambda p: np.diag(p - p @ p),
        ),
    ),
    Mistake(
        "jacobian-of-scores",
        "You take the softmax of p first. But p already holds the weights; use it as it is.",
        (lambda p: softmax_jacobian(softmax(p)),),
    ),
    Mistake(
        "jacobian-log-softmax",
        "That is the Jacobian of log-softmax, identity minus p in each row. For the weights themselves multiply row i "
        "by p[i].",
        (lambda p: np.eye(len(p)) - p,),
    ),
)
