"""What stands at each position: a matrix, which is measured column by column, and must be a rotation.

Measured, any code can be judged by the same few laws: it keeps lengths, leaves position 0 as it is, goes on from its
start, and makes scores depend on distances alone. Which features are a pair, and the base, are its own choice.
"""

import itertools
from dataclasses import dataclass, field

import numpy as np

from attention_doctor.names import IMPORTED, WORDS, WRONG
from attention_doctor.reports.report import Finding
from function_judge.compare import close, first_place, fits

PAIRINGS = {
    "pairs 2i and 2i + 1": lambda half: (2 * np.arange(half), 2 * np.arange(half) + 1),
    "pairs i and i + d/2": lambda half: (np.arange(half), np.arange(half) + half),
}
# The exponents i / d and 4 i / d, where 2 i / d is meant, are the right ones with another base.
MISTAKEN_BASES = (100.0, 1e8)


@dataclass
class RotationFindings:
    """The findings, what is worth knowing, and the convention that is followed."""

    findings: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    convention: str = ""
    base: float | None = None
    mixes_tokens: bool = False

    def add_named(self, name, evidence):
        word = WORDS[name]
        self.findings.append(Finding(name, word.severity, word.sentence, repair=word.repair, evidence=evidence))

    def add_unnamed(self, sentence, evidence, severity=WRONG):
        self.findings.append(Finding(None, severity, sentence, evidence=evidence))


def judge(ask, shape, position_axis, start, bases):
    """Measure what a function does at each position, and say what isn't as it must be.

    Parameters
    ----------
    ask : callable
        From (X, start) to what the function returns.
    shape : tuple of int
        Of X.
    position_axis : int
        Which axis of X holds the tokens.
    start : int
        Another first position; 0 for a function that takes none.
    bases : tuple of float
        Those whose angles are usual, or defaults of the function.

    Returns
    -------
    RotationFindings
    """
    verdict = RotationFindings()
    X = np.random.default_rng(8).normal(size=shape)
    matrices, later = (_measured(ask, shape, first) for first in (0, start))
    if not _is_linear(verdict, ask, X, matrices):
        return verdict
    varying = {axis for axis in range(len(shape) - 1) if not close(matrices, matrices.take([0], axis)).all()}
    varying |= {axis for axis in range(len(shape) - 1) if not close(later, later.take([0], axis)).all()}
    if not varying:
        _equal_everywhere(verdict, matrices, later, start)
    elif varying != {position_axis}:
        counted = ", ".join(map(str, sorted(varying)))
        verdict.add_named(
            "rope-wrong-axis",
            f"With X of shape {shape} the angles change along axis {counted}; the tokens are axis {position_axis}.",
        )
    else:
        at = tuple(slice(None) if axis == position_axis else 0 for axis in range(len(shape) - 1))
        _judge_matrices(verdict, matrices[at], later[at], start, bases)
    return verdict


def _measured(ask, shape, start):
    """The matrix at each place of X: its columns are what becomes of the unit vectors."""
    units = np.eye(shape[-1])
    return np.stack([ask(np.broadcast_to(unit, shape).copy(), start) for unit in units], axis=-1)


def _is_linear(verdict, ask, X, matrices):
    zeros, turned = ask(np.zeros_like(X), 0), ask(X, 0)
    if not (np.isfinite(zeros).all() and np.isfinite(turned).all()):
        verdict.add_unnamed("The result holds NaN or infinity.", "")
        return False
    if not close(zeros, 0.0).all():
        place = first_place(~close(zeros, 0.0))
        verdict.add_unnamed(
            "Something is added to the features; a rotation only multiplies them.",
            f"Where X is zero everywhere, result[{_of(place)}] is {zeros[place]:.4f}.",
        )
        return False
    if fits(turned, (matrices @ X[..., None])[..., 0]):
        return True
    nudged = X.copy()
    nudged[(0,) * (X.ndim - 1)] += 1.0
    others = np.ones(X.shape[:-1], bool)
    others[(0,) * (X.ndim - 1)] = False
    verdict.mixes_tokens = not close(ask(nudged, 0), turned)[others].all()
    verdict.add_unnamed(
        "A token's result depends on other tokens; each one is to be turned by itself."
        if verdict.mixes_tokens
        else "The result isn't X times a matrix of the position: a rotation is.",
        "",
    )
    return False


def _equal_everywhere(verdict, matrices, later, start):
    size = matrices.shape[-1]
    if close(later, np.eye(size)).all():
        verdict.add_unnamed("Nothing is turned: X comes back as it was.", "")
    else:
        verdict.add_named("rope-one-position", f"With start={start} all tokens are turned alike.")


def _judge_matrices(verdict, matrices, later, start, bases):
    """Judge the matrices at positions 0, 1, 2, ... and at those from `start` on."""
    size = matrices.shape[-1]
    if not _lengths_kept(verdict, matrices):
        return
    first = matrices[0]
    if not close(first, np.eye(size)).all() and not _order_of_features(verdict, first):
        step = matrices[1] @ first.T
        if not (close(step, first).all() or close(step, first.T).all()):
            _position_0_turned(verdict, first)
            return
        verdict.add_named("rope-counts-from-one", "Position 0 is turned as far as one step turns.")
    matrices, later = first.T @ matrices, first.T @ later  # the order of position 0 is that of all
    if not _distances_count(verdict, matrices):
        return
    _start_counts(verdict, matrices, later, start)
    _angles(verdict, matrices[1], bases)


def _order_of_features(verdict, first):
    is_order = close(first, np.eye(len(first))[first.argmax(axis=1)]).all()
    if is_order:
        order = _of(first.argmax(axis=1))
        verdict.notes.append(f"Features come back in another order, {order}: scores need queries and keys to do so.")
    return is_order


def _position_0_turned(verdict, first):
    flipped = np.flatnonzero(close(first.diagonal(), -1.0))
    if len(flipped) and close(abs(first), np.eye(len(first))).all():
        verdict.add_named(
            "rope-not-a-rotation", f"At position 0 feature {flipped[0]} changes its sign: it is mirrored."
        )
        return
    cell = to, taken = first_place(~close(first, np.eye(len(first))))
    verdict.add_unnamed(
        "Position 0 is turned, where the angle is 0 and nothing may change.",
        f"There feature {to} should hold {float(to == taken):.4f} of feature {taken}, and holds {first[cell]:.4f}.",
    )


def _lengths_kept(verdict, matrices):
    products = matrices.swapaxes(-1, -2) @ matrices
    wrong = ~close(products, np.eye(len(products[0])))
    if wrong.any():
        position, i, j = first_place(wrong)
        value = products[position, i, j]
        verdict.add_named(
            "rope-not-a-rotation",
            f"At position {position} feature {i} alone, of length 1, gets the length {value**0.5:.4f}."
            if i == j
            else f"At position {position} features {i} and {j} are no longer at right angles: their product, "
            f"which should be 0, is {value:.4f}.",
        )
        return False
    return True


def _distances_count(verdict, matrices):
    query, key = np.random.default_rng(9).normal(size=(2, matrices.shape[-1]))
    scores = (matrices @ query) @ (matrices @ key).T
    for distance in range(len(scores)):
        along = scores.diagonal(distance)
        if not close(along, along[0]).all():
            place = int((~close(along, along[0])).argmax())
            verdict.add_unnamed(
                "Scores depend on more than how far apart two tokens stand.",
                f"One query and one key have a score of {along[0]:.4f} at positions 0 and {distance}, and of "
                f"{along[place]:.4f} at positions {place} and {place + distance}.",
            )
            return False
    return True


def _start_counts(verdict, matrices, later, start):
    wanted = np.linalg.matrix_power(matrices[1], start) @ matrices
    if close(later, wanted).all():
        return
    if close(later, matrices).all():
        verdict.add_named("rope-start-forgotten", f"With start={start} the result is that of start=0.")
        return
    place = first_place(~close(later, wanted))
    verdict.add_unnamed(
        "`start` isn't where it goes on: the first token should be turned by the position `start`.",
        f"With start={start}, feature {place[1]} of token {place[0]} should hold {wanted[place]:.4f} of feature "
        f"{place[2]}, and holds {later[place]:.4f}.",
    )


def _angles(verdict, step, bases):
    """Say which features are a pair, and how fast each pair turns."""
    turned = np.flatnonzero(~close(step, np.eye(len(step)), 0, 1e-30).all(axis=1))
    width = int(turned.max()) // 2 * 2 + 2
    for convention, of_half in PAIRINGS.items():
        first, second = of_half(width // 2)
        rest = step.copy()
        for rows, columns in itertools.product((first, second), repeat=2):
            rest[rows, columns] = 0.0
        rest[range(width, len(rest)), range(width, len(rest))] -= 1.0
        if not close(rest, 0.0).all():
            continue
        angles = np.arctan2(step[second, first], step[first, first])
        verdict.convention = convention
        if width < len(step):
            verdict.notes.append(f"Only the first {width} of {len(step)} features are turned.")
        _speeds(verdict, angles, bases)
        return
    verdict.add_unnamed(
        "The features that turn together are neither neighbours nor half the features apart.",
        f"Position 1 mixes feature {turned[0]} with {_of(np.flatnonzero(abs(step[turned[0]]) > 1e-6))}.",
        IMPORTED,
    )


def _speeds(verdict, angles, bases):
    """Say at which base's angles the pairs turn, or that they turn at none's."""
    half = len(angles)
    usual = {base: base ** (-np.arange(half) / half) for base in bases}
    for base, wanted in usual.items():
        if close(angles, wanted, 1e-3, 1e-7).all():
            verdict.base = base
            return
    wanted = usual[bases[0]]
    evidence = f"One step turns the pairs by {_numbers(angles)}; {_numbers(wanted)} are usual."
    if any(close(-angles, value, 1e-3, 1e-7).all() for value in usual.values()):
        verdict.add_named("rope-other-way", evidence)
        return
    if half > 1 and angles[1] > 0:
        base = float((angles[0] / angles[1]) ** half)
        is_geometric = close(angles, base ** (-np.arange(half) / half), 1e-3, 1e-7).all()
        if is_geometric and base > 1.01 and not close(np.array(MISTAKEN_BASES), base, 1e-2, 0).any():
            verdict.base = base
            verdict.notes.append(
                f"Its base is {base:,.0f}; {bases[0]:,.0f} is usual. Weights need the one of their model."
            )
            return
    verdict.add_named("rope-wrong-frequencies", evidence)


def _numbers(values):
    return ", ".join(f"{value:.4g}" for value in values)


def _of(place):
    return ", ".join(map(str, place))
