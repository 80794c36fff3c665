"""Train notebook 07's small model in every way that its lab and its table show, and store what came of it.

Usage: python -m data.small_runs.make

Takes about a minute. The losses and moments that the lab steps through go into `data/small_runs/`.
"""

import json
from pathlib import Path

import numpy as np

from mha_helpers.model import small_runs
from mha_helpers.model.data import ORIGIN, WEIGHTS
from tools.table import print_table
from tools.weights import describe, write_safetensors

TARGET = Path(__file__).parent


def measured(training):
    """Return what came of a training, as a dict."""
    drawn = training.held_out()
    seen, guesses = training.look(drawn), training.guesses_when_writing(drawn.tokens)
    right_when_writing = (guesses == drawn.targets)[drawn.counts].mean()
    found = small_runs.Outcome(seen.loss, seen.accuracy, float(right_when_writing))
    return {name: round(value, 4) for name, value in found._asdict().items()}


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
    }
    (TARGET / WEIGHTS).write_bytes(weights)
    (TARGET / ORIGIN).write_text(json.dumps(origin) + "\n", encoding="utf-8")
    rows = [[name, *found["outcome"].values()] for name, found in runs.items()]
    print_table("Trained on repeated sequences", ["", "loss", "right", "right when writing"], rows)


if __name__ == "__main__":
    main()
