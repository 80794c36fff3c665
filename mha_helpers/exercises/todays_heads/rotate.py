"""The exercise `rotate`: a position as an angle."""

import numpy as np

from function_judge.properties import batch_mixed, not_finite
from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.inputs import draws, in_float32, whole_numbers
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.todays_heads.mistakes import rotate as wrong
from mha_helpers.rotary import rotate as reference


def _case(trait, seed, shape, **options):
    return Case(trait, draws(seed, X=shape), options=options)


def _cases():
    return (
        _case("from the beginning", 0, (5, 6)),
        _case("three tokens after seven", 1, (3, 8), start=7),
        _case("one new token", 2, (1, 6), start=4),
        _case("a single pair", 3, (5, 2), start=1),
        _case("twelve features", 4, (4, 12), start=2),
        in_float32(draws(6, X=(5, 8)), {"start": 3}),
        _case("a batch", 7, (2, 5, 6), start=3),
        _case("a batch with heads", 8, (2, 3, 5, 8), start=2),
        _case("more heads than tokens", 9, (7, 3, 4), start=1),
        _case("a late start", 10, (4, 6), start=100),
        whole_numbers(draws(11, X=(5, 6))),
    )


def _length_changes(call, arguments, arrays):
    """A rotation leaves each pair as long as it was."""
    pairs, turned = (array.reshape(*array.shape[:-1], -1, 2) for array in (arguments["X"], arrays[0]))
    before, after = np.linalg.norm(pairs, axis=-1), np.linalg.norm(turned, axis=-1)
    if np.allclose(before, after, atol=1e-4):
        return None
    place = tuple(int(i) for i in np.argwhere(~np.isclose(before, after, atol=1e-4))[0])
    token, pair = place[-2:]
    return (
        f"A rotation leaves lengths as they are, and pair {pair} of token {token} changes from {before[place]:.4f} to "
        f"{after[place]:.4f}. (A pair is features 2i and 2i + 1.)"
    )


# What the exercise asks, without the refusals of the course's own.
def rotate(X, start=0):
    n_tokens, d_head = X.shape[-2:]
    angles = (start + np.arange(n_tokens))[:, None] / 10_000 ** (np.arange(0, d_head, 2) / d_head)
    x, y = X[..., 0::2], X[..., 1::2]
    turned = np.empty(X.shape)
    turned[..., 0::2] = x * np.cos(angles) - y * np.sin(angles)
    turned[..., 1::2] = x * np.sin(angles) + y * np.cos(angles)
    return turned


exercise = Exercise(
    reference=reference,
    outputs=("rotated",),
    cases=_cases(),
    mistakes=mistakes_in(wrong),
    properties=(not_finite, batch_mixed(), _length_changes),
    hints=(
        "You need an angle for every token and every pair: a table of shape (n_tokens, d_head / 2). Its rows belong to "
        "the positions start, start + 1, ..., and its columns to the pairs.",
        "angles = positions[:, None] / 10000 ** (np.arange(0, d_head, 2) / d_head). The first of each pair is X[..., "
        "0::2], the second X[..., 1::2].",
        "Make an empty result, np.empty(X.shape). Its features 0::2 are x * cos - y * sin, and its features 1::2 are "
        "x * sin + y * cos.",
    ),
    on_success="Positions as angles: the cells below rotate queries and keys with your function.",
    model_answer=rotate,
)
