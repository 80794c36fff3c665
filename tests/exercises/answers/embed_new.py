"""Answers to embed_new: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.decoding import embed_new

CATALOGUE = ("position-not-moved", "position-one-late", "position-same-for-all", "position-missing")

TELLING_CASE = ("many characters", 4)

RIGHT = (
    embed_new,
    lambda codes, characters, positions, n_old=0: characters[codes] + positions[np.arange(n_old, n_old + len(codes))],
    lambda codes, characters, positions, n_old=0: [characters[c] + positions[n_old + i] for i, c in enumerate(codes)],
    lambda codes, characters, positions, n_old=0: characters.take(codes, axis=0) + positions[n_old:][: len(codes)],
    lambda codes, characters, positions, n_old=0: np.eye(len(characters))[codes] @ characters + np.roll(positions, -n_old, axis=0)[: len(codes)],
)  # fmt: skip

WRONG = {
    "position-not-moved": (lambda codes, characters, positions, n_old=0: characters[codes] + positions[: len(codes)],),
    None: (
        lambda codes, characters, positions, n_old=0: positions[n_old : n_old + len(codes)],
        lambda codes, characters, positions, n_old=0: characters[codes] * positions[n_old : n_old + len(codes)],
        lambda codes, characters, positions, n_old=0: characters[codes] - positions[n_old : n_old + len(codes)],
        lambda codes, characters, positions, n_old=0: characters[codes] + positions[n_old : len(codes)],
        lambda codes, characters, positions: characters[codes] + positions[: len(codes)],
    ),
}

TOLD = ()
