"""A trained head: the reader presses a word, and sees what it attends to in layer 5, head 11 of the encoder."""

from dataclasses import dataclass

import numpy as np

from live_pictures import marks, svg
from live_pictures.card import Picture
from live_pictures.controls import dropdown
from live_pictures.options import Form
from mha_helpers.drawing.plots import attends
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.pressed_arcs import pressed_arcs
from mha_helpers.labs.real_model.head_browser import SENTENCE, words_of
from mha_helpers.labs.real_model.head_browser_picture import draw_message
from mha_helpers.labs.real_model.head_browser_runs import OURS

LAYER, HEAD = 5, 11
IT = 8  # the token's place


@dataclass(frozen=True)
class Result:
    """What one token attends to; without tokens where there is no model."""

    query: int
    tokens: tuple
    weights: np.ndarray


def compute(state, _):
    """Run the model on the course's sentence, once."""
    try:
        encoded = OURS.encode(SENTENCE)
    except (ImportError, OSError, ValueError):
        return Result(state["query"], (), np.zeros((0, 0)))
    return Result(state["query"], tuple(encoded.tokens), encoded.weights[LAYER, HEAD].astype(np.float64).round(2))


def sentence(result):
    """Describe the picture."""
    row = result.weights[result.query]
    return f"In this head {attends(result.tokens[result.query], result.tokens, row)}."


def render(result):
    """Draw a result: the arcs of the head."""
    if not result.tokens:
        message = "The trained model could not be loaded."
        return Picture(draw_message(message), message, "")
    readout = sentence(result)
    drawn, height = pressed_arcs(
        f"Layer {LAYER}, head {HEAD}: what each token attends to", result.weights, result.tokens, result.query,
        lambda area, place: marks.radio(area, {"query": place}, name=f"query {place}: {result.tokens[place]}"),
    )  # fmt: skip
    return Picture(svg.document(344, height, [drawn], label=readout), readout, "")


def a_trained_head() -> Lab:
    """Show what each token attends to in the trained encoder's layer 5, head 11.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> "“it” attends most to “cat” (0.72)" in a_trained_head().readout.value
    True
    """
    return Lab(
        name="a_trained_head",
        title="a trained head",
        task="Press a word. Do other words find something as well?",
        controls={"query": dropdown("query", words_of(SENTENCE), IT, width="190px")},
        form=Form(on_picture=("query",)),
        compute=compute,
        render=render,
        function=None,
    )
