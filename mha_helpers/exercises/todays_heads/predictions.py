"""Notebook 09's questions that ask for an answer before they run anything."""

import numpy as np

from mha_helpers import decoder, small_runs
from mha_helpers.attention import multi_head_attention
from mha_helpers.exercises.prediction import Prediction
from mha_helpers.masks import causal_mask
from mha_helpers.rotary import rotate

TRIED = slice(12288, 13313)  # of the text that the writer has not read
WINDOWS = (128, 64, 32, 16, 8, 4)


def _shared():
    lines = [f"{name + ':':45} {min(found):.2f} to {max(found):.2f}" for name, found in small_runs.shared().items()]
    return "\n".join(["share of right answers, both questions pooled, five trainings each", *lines])


predict_shared = Prediction(
    right="a",
    reactions={
        "a": "Two queries can ask the same keys two different questions: one attends to the token before, the other to "
        "the one before that. What they find comes from the same values, but it arrives in two heads' outputs.",
        "b": "The heads still have queries of their own. One can ask for the token before, the other for the one "
        "before that, and the same keys answer both.",
        "c": "It isn't a matter of training longer: two queries can ask the same keys two different questions from "
        "the start, and all five trainings get both answers.",
    },
    evidence=_shared,
)


def _moved():
    rng = np.random.default_rng(0)
    queries, keys = rng.normal(size=(2, 6, 16))
    here, there = (rotate(queries, start) @ rotate(keys, start).T for start in (0, 100))
    return (
        f"largest score: {np.abs(here).max():.1f}; largest change when all six tokens move by 100 places: "
        f"{np.abs(here - there).max():.0e}"
    )


predict_moved = Prediction(
    right="c",
    reactions={
        "a": "Every query turns further, but so does every key, and by the same angle. What counts for a score is the "
        "difference of the two.",
        "b": "How far apart two tokens stand decides about their score, but the move doesn't change that: both turn "
        "further by the same angle.",
        "c": "Each pair's part of a score depends on the angle between its two hands. If both turn further by the same "
        "angle, the angle between them stays the same.",
    },
    evidence=_moved,
)


def windowed(width):
    """Return attention in which a token attends to the last `width` tokens, itself among them."""

    def attend(X, W_Q, W_K, W_V, W_O, n_heads, mask=None):
        n = X.shape[-2]
        near = causal_mask(n) & ~np.tri(n, k=-width, dtype=bool)
        return multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, near)

    return attend


def _windows():
    model, text = decoder.load(), decoder.held_out_text()[TRIED]
    lines = [f"the last {width:3}: {model.loss(text, windowed(width)):.2f}" for width in WINDOWS]
    return "\n".join(["loss by how many characters each may attend to, itself included", *lines])


predict_window = Prediction(
    right="b",
    reactions={
        "a": "It does rise, though not by much: most of what helps to guess the next character stands nearby.",
        "b": "Most of what helps to guess the next character stands nearby. Where that tenth comes from is another "
        "question, and the next cell asks it.",
        "c": "Far less than that, because most of what helps to guess the next character stands nearby.",
    },
    evidence=_windows,
)
