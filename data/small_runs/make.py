"""Train notebook 07's small model in every way that its lab and its table show, and store what came of it.

Usage: python -m data.small_runs.make

Takes about fifteen minutes. The losses and moments that the lab steps through go into `data/small_runs/`.
"""

import json
from pathlib import Path

import numpy as np

from data.weights import describe, write_safetensors
from mha_helpers import small_runs
from mha_helpers.grouped import grouped_attention
from mha_helpers.model.data import ORIGIN, WEIGHTS
from mha_helpers.tasks import repeated_sequences, two_before
from mha_helpers.training import PARTS, Training, what_heads_look_at

TARGET = Path(__file__).parent


def measured(training):
    """Return what came of a training, as a dict."""
    drawn = training.held_out()
    seen, guesses = training.look(drawn), training.guesses_when_writing(drawn.tokens)
    right_when_writing = (guesses == drawn.targets)[drawn.counts].mean()
    found = small_runs.Outcome(seen.loss, seen.accuracy, float(right_when_writing))
    return {name: round(value, 4) for name, value in found._asdict().items()}


def of_seed(seed):
    """Train from a seed, and return what its heads do, as a dict."""
    training = Training(repeated_sequences(), seed=seed).run(small_runs.N_STEPS)
    jobs = what_heads_look_at(training.look().weights, training.held_out().periods)
    without_notes = training.rows(without=[(0, 0), (0, 1)])
    by_mean = []
    for head in (0, 1):
        rest = training.rows(without=[(0, head)])
        mean = (training.rows() - rest).mean(axis=0)  # of each place
        by_mean.append(round(training.look(reads=dict.fromkeys(PARTS, rest + mean)).accuracy, 3))
    found = small_runs.OfSeed(
        training.look().accuracy,
        tuple(jobs[f"layer 0, head {head}"]["the token before"] for head in (0, 1)),
        tuple(jobs[f"layer 1, head {head}"]["what followed"] for head in (0, 1)),
        tuple(round(training.look(without=[(layer, head)]).accuracy, 3) for layer in (0, 1) for head in (0, 1)),
        tuple(by_mean),
        {part: round(training.look(reads={part: without_notes}).accuracy, 3) for part in PARTS},
    )
    return found._replace(right=round(found.right, 4))._asdict()


def of_sharing(options):
    """Train on two questions at once from five seeds, and return the shares of right answers."""
    attend = {"attend": grouped_attention} if "n_kv_heads" in options else {}
    trained = [
        Training(two_before(), n_layers=1, batch=32, seed=seed, **options, **attend).run(200) for seed in range(5)
    ]
    return [round(training.look().accuracy, 2) for training in trained]


def of_rounds(n_tokens, seed):
    """Train on rounds of fewer than `n_tokens` tokens, and return how much looks back from each place but the first.

    It is the weight on the token before, of both heads of layer 0 together.
    """
    training = Training(repeated_sequences(n_tokens=n_tokens), seed=seed).run(small_runs.N_STEPS)
    back = np.diagonal(training.look().weights[0], -1, axis1=-2, axis2=-1).mean(axis=0).sum(axis=0)
    return [round(float(weight), 2) for weight in back]


def of_length(options, seed):
    """Train on 32 tokens, and return the right guesses among 128 by what each may attend to, and where it stands."""
    drawn = repeated_sequences(length=small_runs.LONGER).draw(np.random.default_rng(0), 128)
    training = Training(repeated_sequences(), seed=seed, **options).run(small_runs.N_STEPS)
    # A learned vector that training never saw is left at 0: there is nothing better.
    known = training.parameters["positions"]
    training.parameters["positions"] = np.zeros((small_runs.LONGER, known.shape[1]), known.dtype)
    training.parameters["positions"][: len(known)] = known
    found = {}
    for name, training.mask in small_runs.kept_in_sight().items():
        hit = (training.look(drawn).probabilities.argmax(axis=-1) == drawn.targets)[..., 0]
        parts = [slice(0, 32), slice(32, 64), slice(64, 128)]
        found[name] = [round(float(hit[:, part][drawn.counts[:, part]].mean()), 2) for part in parts]
    return found


def main():
    tensors, runs = {}, {}
    for name in small_runs.OPTIONS:
        training = small_runs.untrained(name).run(small_runs.N_STEPS)
        runs[name] = {"outcome": measured(training)}
        if name in small_runs.STORED:
            runs[name]["losses"] = [round(loss, 4) for loss in training.losses]
            for step in small_runs.MOMENTS:
                for part, array in training.moments[step].items():
                    tensors[f"{name}/{step}/{part}"] = array.astype(np.float16)
    weights = write_safetensors(tensors)
    origin = {
        "model": "notebook 07's small model, trained rightly and with mistakes, at several of its steps",
        "licence": "the course's, BSD-3-Clause",
        "commands": ["python -m data.small_runs.make"],
        "built": describe({WEIGHTS: weights}),
        "runs": runs,
        "by_seed": {
            name: [
                measured(small_runs.untrained(name, seed).run(small_runs.N_STEPS)) for seed in small_runs.OUTCOMES_SEEDS
            ]
            for name in small_runs.OPTIONS
        },
        "shared": {name: of_sharing(options) for name, options in small_runs.SHARED.items()},
        "rounds": {n: [of_rounds(n + 1, seed) for seed in small_runs.SEEDS] for n in small_runs.ROUNDS},
        "longer": {
            positions: [of_length(options, seed) for seed in small_runs.LONGER_SEEDS]
            for positions, options in small_runs.POSITIONS.items()
        },
        "seeds": {seed: of_seed(seed) for seed in small_runs.SEEDS},
    }
    (TARGET / WEIGHTS).write_bytes(weights)
    (TARGET / ORIGIN).write_text(json.dumps(origin) + "\n", encoding="utf-8")
    for name, found in runs.items():
        print(name, found["outcome"])


if __name__ == "__main__":
    main()
