"""Stored training runs of notebook 07's small model: right ones, and ones with a mistake.

`python -m data.small_runs.make` makes and measures them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mha_helpers.course_data import data_path
from mha_helpers.masks import causal_mask
from mha_helpers.model.data import ORIGIN, WEIGHTS, checked_content, read_safetensors
from mha_helpers.model.faulty_attention import MISTAKES
from mha_helpers.products import HAS_BLAS
from mha_helpers.rotary import rotate
from mha_helpers.shapes import Array
from mha_helpers.tasks import repeated_sequences
from mha_helpers.training import Training

FOLDER, N_STEPS = "small_runs", 400
SEED = 5  # of twelve, the training in which one head of layer 0 does nearly all the looking back
SEEDS = range(12)  # those that `by_seed` compares
OUTCOMES_SEEDS = range(8)  # and those of `outcomes_by_seed`
RIGHT = {"2 heads": {}, "1 head": {"n_heads": 1}, "4 heads": {"n_heads": 4}}
OPTIONS = RIGHT | {name: {"attend": each.attend, "gradients": each.gradients} for name, each in MISTAKES.items()}
OPTIONS |= {"W_O left out": {"has_W_O": False}}
# Of these the moments are stored, too: enough to see how each kind of mistake learns.
STORED = (*RIGHT, "no mask", "mask one too far", "not divided", "softmax over the queries")
# What tells trainings apart, beside the numbers that they begin with.
COMPARED = ("task", "n_layers", "n_heads", "n_kv_heads", "batch", "rate", "attend", "gradients", "has_W_O", "rotate")
MOMENTS = (0, 40, 80, 120, 160, 200, 240, 280, 320, 400)


class Outcome(NamedTuple):
    """The outcome of a training run."""

    loss: float  # on sequences that it has not learned from, in nats
    right: float  # the share of right guesses there, as training sees them
    right_when_writing: float  # and when nothing comes after yet


def untrained(name: str, seed: int = SEED) -> Training:
    """Return a training by its name, before its first step."""
    return Training(repeated_sequences(), seed=seed, **OPTIONS[name])


@functools.cache
def _origin():
    return json.loads(data_path(f"{FOLDER}/{ORIGIN}").read_text(encoding="utf-8"))


def outcomes() -> dict[str, Outcome]:
    """Return the outcome of each training run.

    Returns
    -------
    dict of str to Outcome

    Examples
    --------
    >>> outcomes()["no mask"].right > 0.9, outcomes()["no mask"].right_when_writing < 0.2
    (True, True)
    """
    return {name: Outcome(**found["outcome"]) for name, found in _origin()["runs"].items()}


def outcomes_by_seed() -> dict[str, list[Outcome]]:
    """Return the outcome of each training run from each of eight seeds.

    Returns
    -------
    dict of str to list of Outcome

    Examples
    --------
    >>> all(found.right_when_writing < 0.2 for found in outcomes_by_seed()["no mask"])
    True
    """
    return {name: [Outcome(**outcome) for outcome in found] for name, found in _origin()["by_seed"].items()}


class OfSeed(NamedTuple):
    """The outcome of the same training with another seed."""

    right: float  # the share of right guesses, on sequences that it has not learned from
    before: tuple[float, float]  # for each head of layer 0: its mean weight on the token before, in the first half
    followed: tuple[float, float]  # for each head of layer 1: its mean weight on what followed the same token
    without: tuple[float, ...]  # right guesses without head 0 or 1 of layer 0, or head 0 or 1 of layer 1
    by_mean: tuple[float, float]  # and where a head of layer 0 adds, in all sequences, what it adds there on average
    hidden_from: dict[str, float]  # and where one part of layer 1 reads the rows without what layer 0 wrote


def by_seed() -> dict[int, OfSeed]:
    """Return the outcome of the training with two heads, for several seeds.

    Returns
    -------
    dict of int to OfSeed

    Examples
    --------
    >>> len(by_seed()), min(found.right for found in by_seed().values()) > 0.99
    (12, True)
    """
    return {int(seed): OfSeed(**found) for seed, found in _origin()["seeds"].items()}


SHARING = "two heads of queries, one of keys and values"
SHARED = {"one head": {"n_heads": 1}, "two heads": {}, SHARING: {"n_kv_heads": 1}}
ROUNDS = (15, 8)  # the longest
POSITIONS = {"learned vectors": {}, "rotation": {"rotate": rotate}}
LONGER, LONGER_SEEDS = 128, range(8)  # tokens: four times as many as in training
EVERYTHING, NEAR, FEW_NEAR, NEAR_AND_FAR = "everything", "the last 32", "the last 16", "the last 16 and 16 far ones"


def kept_in_sight() -> dict[str, Array]:
    """Return masks for 128 tokens, by what they leave in sight; far keys are 32 places back or more.

    Returns
    -------
    dict of str to ndarray of bool, shape (128, 128)

    Examples
    --------
    >>> {name: int(mask[-1].sum()) for name, mask in kept_in_sight().items()}
    {'everything': 128, 'the last 32': 32, 'the last 16': 16, 'the last 16 and 16 far ones': 32}
    """
    rng, causal = np.random.default_rng(0), causal_mask(LONGER)
    last_32, last_16 = (causal & ~np.tri(LONGER, k=-width, dtype=bool) for width in (32, 16))
    and_far = last_16.copy()
    for query in range(32, LONGER):
        and_far[query, rng.permutation(query - 31)[:16]] = True
    return {EVERYTHING: causal, NEAR: last_32, FEW_NEAR: last_16, NEAR_AND_FAR: and_far}


def shared() -> dict[str, list[float]]:
    """Return the shares of right answers on `tasks.two_before`, for five seeds of each way of sharing.

    Returns
    -------
    dict of str to list of float

    Examples
    --------
    >>> min(shared()[SHARING])
    1.0
    """
    return _origin()["shared"]


def rounds() -> dict[int, Array]:
    """Return how much layer 0 looks back from each place, by the length of the longest round in training.

    Returns
    -------
    dict of int to ndarray, shape (12, 31)
        For each of twelve seeds, the weight on the token before at places 1 to 31, of both heads together.

    Examples
    --------
    >>> {longest: found.shape for longest, found in rounds().items()}
    {15: (12, 31), 8: (12, 31)}
    """
    return {int(longest): np.array(found) for longest, found in _origin()["rounds"].items()}


def longer() -> dict[str, dict[str, list[list[float]]]]:
    """Return how models do on longer sequences than those they were trained on.

    Returns
    -------
    dict of str to dict of str to list of list of float
        By what tells positions, and what is kept in sight. For each of eight seeds: right guesses at places 0 to 31,
        32 to 63, and 64 to 127.

    Examples
    --------
    >>> {positions: len(found[EVERYTHING]) for positions, found in longer().items()}
    {'learned vectors': 8, 'rotation': 8}
    """
    return {
        positions: {name: [seed[name] for seed in seeds] for name in kept_in_sight()}
        for positions, seeds in _origin()["longer"].items()
    }


@functools.cache
def load(name: str = "2 heads") -> Training:
    """Return a stored training run, with its losses and its moments.

    Parameters
    ----------
    name : str, optional
        One of STORED.

    Returns
    -------
    Training

    Raises
    ------
    ValueError
        If there is none of that name, or the data file is missing or damaged.

    Examples
    --------
    >>> run = load("2 heads")
    >>> len(run.losses), sorted(run.moments)[:3]
    (400, [0, 40, 80])
    """
    if name not in STORED:
        raise ValueError(f"there is no stored training {name!r}; choose one of {', '.join(map(repr, STORED))}")
    tensors = read_safetensors(checked_content(WEIGHTS, FOLDER))
    training = untrained(name)
    training.losses = _origin()["runs"][name]["losses"]
    training.moments = {
        step: {part: tensors[f"{name}/{step}/{part}"].astype(np.float32) for part in training.parameters}
        for step in MOMENTS
    }
    training.parameters = training.moments[MOMENTS[-1]]
    return training


def train(training: Training, *, see: Callable[..., Any] | None = None, every: int = 1) -> Training:
    """Take a training's 400 steps; in a browser, whose NumPy has no BLAS, load the stored run where there is one.

    Parameters
    ----------
    training : Training
        Before its first step.
    see, every : optional
        As for `Training.run`.

    Returns
    -------
    Training
        The same one. Where its steps came from the store, a printed sentence says so.

    Raises
    ------
    ValueError
        If the data file is missing or damaged.

    Examples
    --------
    >>> len(train(Training(repeated_sequences(n_tokens=6, length=12), d_model=16, batch=16)).losses)
    400
    """
    stored = None if HAS_BLAS else next(filter(functools.partial(_begins_like, training), STORED), None)
    if stored is None:
        return training.run(N_STEPS, see=see, every=every)
    print("in a browser, where NumPy multiplies slowly: the steps are those that the course has stored")
    found = load(stored)
    training.losses, training.moments, training.parameters = found.losses, found.moments, found.parameters
    if see is not None:
        see(training)
    return training


def _begins_like(training, name):
    """Say whether a training takes the steps of one that has a name."""
    other = untrained(name)
    return (
        not training.losses
        and all(vars(training)[option] == vars(other)[option] for option in COMPARED)
        and np.array_equal(training.mask, other.mask)
        and training.parameters.keys() == other.parameters.keys()
        and all(np.array_equal(training.parameters[part], W) for part, W in other.parameters.items())
    )
