"""Answers to rotate: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.rotary import rotate

TELLING_CASE = ("three tokens after seven", 2)


def angles_of(X, start):
    n, d = X.shape[-2:]
    return np.outer(np.arange(start, start + n), 10_000.0 ** (-np.arange(0, d, 2) / d))


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


RIGHT = (
    rotate,
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
    "fractions-lost": (integers,),
    None: (
        turned_by(lambda m, i, d, start: (start + m) * 10_000 ** (2 * i / d) % 7),
        turned_by(lambda m, i, d, start: (start + 1) * m / 10_000 ** (2 * i / d)),
        lambda X, start=0: rotate(X, start)[..., ::-1],
    ),
}

TOLD = ((lambda X, start=0: rotate(X, start) / 2, "A rotation leaves lengths as they are"),)
