"""Answers to rotate: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.rotary import rotate

CATALOGUE = (
    "rope-start-forgotten",
    "rope-halves",
    "rope-other-way",
    "rope-not-a-rotation",
    "rope-one-angle",
    "rope-not-put-back",
)

TELLING_CASE = ("three tokens after seven", 2)


def angles_of(X, start):
    n, d = X.shape[-2:]
    return np.outer(np.arange(start, start + n), 10_000.0 ** (-np.arange(0, d, 2) / d))


def by_complex_numbers(X, start=0):
    pairs = X[..., ::2] + 1j * X[..., 1::2]
    turned = pairs * np.exp(1j * angles_of(X, start))
    return np.stack([turned.real, turned.imag], axis=-1).reshape(X.shape)


def by_loops(X, start=0):
    d = X.shape[-1]
    result = np.zeros(X.shape)
    for token in range(X.shape[-2]):
        for i in range(d // 2):
            angle = (start + token) / 10_000 ** (2 * i / d)
            x, y = X[..., token, 2 * i], X[..., token, 2 * i + 1]
            result[..., token, 2 * i] = x * np.cos(angle) - y * np.sin(angle)
            result[..., token, 2 * i + 1] = x * np.sin(angle) + y * np.cos(angle)
    return result


def by_matrices(X, start=0):
    a = angles_of(X, start)
    turns = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])  # (2, 2, n, pairs)
    return np.einsum("abnp,...npb->...npa", turns, X.reshape(*X.shape[:-1], -1, 2)).reshape(X.shape)


def by_rotate_half(X, start=0):
    """The way of libraries: x cos + rotated x sin."""
    a = np.repeat(angles_of(X, start), 2, axis=-1)
    swapped = np.stack([-X[..., 1::2], X[..., ::2]], axis=-1).reshape(X.shape)
    return X * np.cos(a) + swapped * np.sin(a)


def by_block_matrix(X, start=0):
    """A (d, d) matrix for each token."""
    a, d = angles_of(X, start), X.shape[-1]
    matrices = np.zeros((len(a), d, d))
    even, odd = np.arange(0, d, 2), np.arange(1, d, 2)
    matrices[:, even, even] = matrices[:, odd, odd] = np.cos(a)
    matrices[:, even, odd], matrices[:, odd, even] = np.sin(a), -np.sin(a)
    return (X[..., None, :] @ matrices)[..., 0, :]


def by_permutation(X, start=0):
    """Pairs sorted into halves, turned, and sorted back."""
    d = X.shape[-1]
    order = np.concatenate([np.arange(0, d, 2), np.arange(1, d, 2)])
    halves = X[..., order]
    x, y, a = halves[..., : d // 2], halves[..., d // 2 :], angles_of(X, start)
    turned = np.concatenate([x * np.cos(a) - y * np.sin(a), x * np.sin(a) + y * np.cos(a)], axis=-1)
    result = np.empty(X.shape)
    result[..., order] = turned
    return result


def from_the_beginning(X, start=0):
    """All positions from 0 on, and the last ones taken."""
    padded = np.concatenate([np.zeros((*X.shape[:-2], start, X.shape[-1])), X], axis=-2)
    return by_complex_numbers(padded)[..., start:, :]


RIGHT = (
    rotate,
    by_complex_numbers,
    by_loops,
    by_matrices,
    by_rotate_half,
    by_block_matrix,
    by_permutation,
    from_the_beginning,
    lambda X, start=0: rotate(X, start).tolist(),
    lambda X, start=0: rotate(X.astype(np.float32), start),
)


def turned_by(angle):
    """Complex pairs times exp(i angle(positions, pairs, d_head))."""

    def turn(X, start=0):
        n, d = X.shape[-2:]
        a = angle(np.arange(n)[:, None], np.arange(d // 2), d, start)
        turned = (X[..., ::2] + 1j * X[..., 1::2]) * np.exp(1j * a)
        return np.stack([turned.real, turned.imag], axis=-1).reshape(X.shape)

    return turn


def in_place(X, start=0):
    X[...] = rotate(X, start)
    return X


def halves(X, start=0):
    d = X.shape[-1]
    x, y, a = X[..., : d // 2], X[..., d // 2 :], angles_of(X, start)
    return np.concatenate([x * np.cos(a) - y * np.sin(a), y * np.cos(a) + x * np.sin(a)], axis=-1)


def integers(X, start=0):
    result = np.zeros_like(X)
    turned = by_loops(X, start)
    result[...] = turned
    return result


WRONG = {
    "rope-start-forgotten": (turned_by(lambda m, i, d, start: m / 10_000 ** (2 * i / d)),),
    "rope-halves": (halves,),
    "rope-other-way": (turned_by(lambda m, i, d, start: -(start + m) / 10_000 ** (2 * i / d)),),
    "rope-counts-from-one": (turned_by(lambda m, i, d, start: (start + m + 1) / 10_000 ** (2 * i / d)),),
    "rope-one-angle": (turned_by(lambda m, i, d, start: (start + m) * np.ones(len(i))),),
    "rope-wrong-frequencies": (
        turned_by(lambda m, i, d, start: (start + m) / 10_000 ** (i / d)),
        turned_by(lambda m, i, d, start: (start + m) / 1_000 ** (2 * i / d)),
    ),
    "rope-in-degrees": (turned_by(lambda m, i, d, start: np.radians((start + m) / 10_000 ** (2 * i / d))),),
    "rope-not-put-back": (
        lambda X, start=0: np.concatenate([by_loops(X, start)[..., ::2], by_loops(X, start)[..., 1::2]], axis=-1),
    ),
    "rope-start-subtracted": (turned_by(lambda m, i, d, start: (m - start) / 10_000 ** (2 * i / d)),),
    "rope-nothing-turned": (lambda X, start=0: 1.0 * X,),
    "rope-one-position": (turned_by(lambda m, i, d, start: (start + 0 * m) / 10_000 ** (2 * i / d)),),
    "fractions-lost": (integers, in_place),
    None: (
        turned_by(lambda m, i, d, start: (start + m) * 10_000 ** (2 * i / d) % 7),
        turned_by(lambda m, i, d, start: (start + 1) * m / 10_000 ** (2 * i / d)),
        turned_by(lambda m, i, d, start: (start + m) / 10_000 ** (2 * i[::-1] / d)),
        turned_by(lambda m, i, d, start: (start + m[::-1]) / 10_000 ** (2 * i / d)),
        lambda X, start=0: rotate(X, start)[..., ::-1],
        lambda X, start=0: rotate(X, start)[..., ::2],
        lambda X, start=0: rotate(X, start) + X,
        lambda X, start=0: rotate(rotate(X, start), start),
        lambda X, start=0: np.cos(angles_of(X, start)),
        lambda X, start=0: np.stack([rotate(X, start)[..., ::2], rotate(X, start)[..., 1::2]], axis=-1),
        lambda X, start=0: rotate(X, start) / 2,
        lambda X: rotate(X),
        lambda X, start=0: rotate(X, start).swapaxes(-1, -2),
    ),
}  # fmt: skip

TOLD = ((lambda X, start=0: rotate(X, start) / 2, "A rotation leaves lengths as they are"),)
