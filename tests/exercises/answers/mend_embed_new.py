"""Answers to mend_embed_new: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.decoding import embed_new

CATALOGUE = ("position-not-moved", "position-one-late", "position-same-for-all", "position-missing")

TELLING_CASE = ("many characters", 4)

RIGHT = (
    embed_new,
    lambda codes, characters, positions, n_old: characters[codes] + positions[np.arange(n_old, n_old + len(codes))],
    lambda codes, characters, positions, n_old: [characters[c] + positions[n_old + i] for i, c in enumerate(codes)],
    lambda codes, characters, positions, n_old: characters.take(codes, axis=0) + positions[n_old:][: len(codes)],
    lambda codes, characters, positions, n_old: np.eye(len(characters))[codes] @ characters + np.roll(positions, -n_old, axis=0)[: len(codes)],
)  # fmt: skip

WRONG = {
    "position-not-moved": (
        lambda codes, characters, positions, n_old: characters[codes] + positions[: len(codes)],
        lambda codes, characters, positions, n_old: [characters[c] + positions[i] for i, c in enumerate(codes)],
    ),
    "position-of-the-old": (
        lambda codes, characters, positions, n_old: characters[codes] + positions[:n_old],
        lambda codes, characters, positions, n_old: characters[codes] + positions[n_old - len(codes) : n_old],
    ),
    "position-from-n-new": (
        lambda codes, characters, positions, n_old: characters[codes] + positions[len(codes) :],
        lambda codes, characters, positions, n_old: characters[codes] + positions[len(codes) : n_old + len(codes)],
    ),
    "position-added-to-codes": (
        lambda codes, characters, positions, n_old: characters[codes + n_old] + positions[: len(codes)],
    ),
    "position-codes-cut": (
        lambda codes, characters, positions, n_old: characters[codes[n_old:]] + positions[n_old : n_old + len(codes)],
    ),
    "position-by-character": (
        lambda codes, characters, positions, n_old: characters[codes] + positions[n_old + codes],
    ),
    "position-number-added": (
        lambda codes, characters, positions, n_old: n_old + characters[codes] + positions[: len(codes)],
    ),
    "position-same-for-all": (lambda codes, characters, positions, n_old: characters[codes] + positions[0],),
    "position-slice-end": (
        lambda codes, characters, positions, n_old: characters[codes] + positions[n_old : len(codes)],
        lambda codes, characters, positions, n_old: characters[codes] + positions[n_old:],
        lambda codes, characters, positions, n_old: characters[codes] + positions[n_old : -len(codes)],
    ),
    "position-slice-start": (
        lambda codes, characters, positions, n_old: characters[codes] + positions[: n_old + len(codes)],
    ),
    None: (
        lambda codes, characters, positions, n_old: positions[n_old : n_old + len(codes)],
        lambda codes, characters, positions, n_old: characters[codes] * positions[n_old : n_old + len(codes)],
        lambda codes, characters, positions, n_old: characters[codes] - positions[n_old : n_old + len(codes)],
        lambda codes, characters, positions: characters[codes] + positions[: len(codes)],
    ),
}

TOLD = ()
