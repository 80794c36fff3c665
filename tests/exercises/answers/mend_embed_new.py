"""Answers to mend_embed_new: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.maths.decoding import embed_new

TELLING_CASE = ("many characters", 4)

RIGHT = (embed_new,
    lambda codes, characters, positions, n_old: characters[codes] + positions[np.arange(n_old, n_old + len(codes))],
    lambda codes, characters, positions, n_old: [characters[c] + positions[n_old + i] for i, c in enumerate(codes)],
    lambda codes, characters, positions, n_old: characters.take(codes, axis=0) + positions[n_old:][: len(codes)],
    lambda codes, characters, positions, n_old: np.eye(len(characters))[codes] @ characters + np.roll(positions, -n_old, axis=0)[: len(codes)], lambda codes, characters, positions, n_old: np.add(characters[codes], positions[n_old : n_old + len(codes)]))  # fmt: skip

WRONG = {
    None: (
        lambda codes, characters, positions, n_old: positions[n_old : n_old + len(codes)],
        lambda codes, characters, positions: characters[codes] + positions[: len(codes)],
    ),
}

TOLD = ()
