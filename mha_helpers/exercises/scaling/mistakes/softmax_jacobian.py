"""The mistakes that people make in `softmax_jacobian`."""

import numpy as np

from mha_helpers.attention import softmax, softmax_jacobian
from mha_helpers.exercises.mistakes.catalogue import also


@also(lambda p: p * (1 - p))
def jacobian_diagonal_only(p):
    """You have p (1 - p), what a weight gains from its own score. Every weight also *loses* when another key's score
    grows: off the diagonal it is -p[i] p[j]."""
    return np.diag(p * (1 - p))


def jacobian_sign(p):
    """The signs are the wrong way round: a key's own score raises its weight (plus on the diagonal), and lowers the
    others (minus)."""
    return np.outer(p, p) - np.diag(p)


def jacobian_outer_only(p):
    """Off the diagonal it is right. On the diagonal goes what the other weights lose together, so that each column sums
    to 0."""
    return -np.outer(p, p)


def jacobian_outer_positive(p):
    """Mind the sign off the diagonal: when one weight gains, the others lose. On the diagonal goes what they lose
    together."""
    return np.outer(p, p)


@also(lambda p: np.diag(p - 2 * p * p) + np.outer(p, p))
def jacobian_plus(p):
    """Off the diagonal it is *minus* p[i] p[j]: a weight falls when another key's score grows."""
    return np.diag(p) + np.outer(p, p)


def jacobian_diagonal_twice(p):
    """On the diagonal p[i]^2 is subtracted twice: np.outer(p, p) holds it already. Start from np.diag(p)."""
    return np.diag(p * (1 - p)) - np.outer(p, p)


def jacobian_outer_missing(p):
    """np.diag(p) alone forgets that the weights compete: subtract np.outer(p, p), everywhere."""
    return np.diag(p)


def jacobian_identity(p):
    """You subtract from the identity matrix. The diagonal is p[i] - p[i]^2, so start from np.diag(p), which has the
    weights there."""
    return np.eye(len(p)) - np.outer(p, p)


def jacobian_diagonal_one_minus(p):
    """Off the diagonal it is right. On it you have 1 - p[i]; what belongs there is p[i] (1 - p[i]), as much as the
    other weights lose together. Each column then sums to 0."""
    return np.diag(1 - p + p * p) - np.outer(p, p)


@also(lambda p: np.outer(1 - p, p))
def jacobian_one_minus(p):
    """p[i] (1 - p[j]) is right on the diagonal only, where i is j. Elsewhere it is -p[i] p[j]."""
    return np.outer(p, 1 - p)


@also(
    lambda p: -p * p,
    lambda p: np.diag(p * p),
    lambda p: np.diag(-p * p),
    lambda p: np.diag(p) - p * p,
    lambda p: np.diag(p) - (p * p)[:, None],
    lambda p: np.diag(p - p * p) - p * p,
)
def jacobian_elementwise(p):
    """`p * p` multiplies each weight by itself only, and gives one row. (So does `p.T * p`: transposing one row does
    nothing.) Every pair (i, j) needs its own product: np.outer(p, p), or p[:, None] * p."""
    return p * p


@also(lambda p: -p @ p, lambda p: np.diag(p) - p @ p, lambda p: np.diag(p - p @ p))
def jacobian_inner(p):
    """`p @ p` is one number, the sum of the squares. (So is `p.T @ p`: transposing one row does nothing.) Every pair
    (i, j) needs its own product: np.outer(p, p)."""
    return p @ p


def jacobian_of_scores(p):
    """You take the softmax of p first. But p already holds the weights; use it as it is."""
    return softmax_jacobian(softmax(p))


def jacobian_log_softmax(p):
    """That is the Jacobian of log-softmax, identity minus p in each row. For the weights themselves multiply row i by
    p[i]."""
    return np.eye(len(p)) - p
