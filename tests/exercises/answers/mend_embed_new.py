"""Answers to mend_embed_new: right ones in many styles, and wrong ones."""

from mha_helpers.decoding import embed_new

TELLING_CASE = ("many characters", 4)

RIGHT = (
    embed_new,
    lambda codes, characters, positions, n_old: [characters[c] + positions[n_old + i] for i, c in enumerate(codes)],
)

WRONG = {
    None: (lambda codes, characters, positions, n_old: positions[n_old : n_old + len(codes)],),
}

TOLD = ()
