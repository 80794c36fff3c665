"""The future hidden: the reader presses a word, sees which later words it could copy from, and hides those."""

from dataclasses import dataclass

import numpy as np

from live_pictures import marks, svg
from live_pictures.card import Picture
from live_pictures.chips import tick_box
from live_pictures.controls import check_box, radio
from live_pictures.options import Form
from live_pictures.style import number
from mha_helpers import attention, masks
from mha_helpers import running_example as example
from mha_helpers.drawing import palette
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.pressed_arcs import pressed_arcs, query_mark

QUERIES, KEYS, VALUES = (example.X @ matrix for matrix in example.first_head())
N = len(example.TOKENS)


@dataclass(frozen=True)
class Result:
    """What one word attends to, with the future hidden or not."""

    query: int
    hidden: bool
    weights: np.ndarray  # (n_tokens, n_tokens)
    unmasked: np.ndarray  # (n_tokens, n_tokens)

    @property
    def copied(self):
        """How much of the query's attention goes to tokens that come after it."""
        return self.weights[self.query, self.query + 1 :].sum()


def compute(state, _):
    """Compute the weights, with a causal mask or without."""
    (_, unmasked), (_, causal) = (
        attention.masked_attention(QUERIES, KEYS, VALUES, mask)
        for mask in (np.ones((N, N), dtype=bool), masks.causal_mask(N))
    )
    weights = causal if state["hidden"] else unmasked
    return Result(example.TOKENS.index(state["query"]), state["hidden"], weights, unmasked)


def sentence(result):
    """Describe the picture."""
    token, later = example.TOKENS[result.query], example.TOKENS[result.query + 1 :]
    if not later:
        return f"Nothing comes after “{token}”, so there is nothing to hide: its row stays as it is."
    had = result.unmasked[result.query, result.query + 1 :]
    if result.hidden:
        gone = f"the {number(had.sum())} that those words had"
        who = f"The others share {gone}, in proportion to their own" if result.query else f"It gives itself {gone}"
        return f"“{token}” can't attend to what comes after it. {who}."
    guessed = f"The word that it is to guess, “{later[0]}”, has {number(had[0])}."
    return f"“{token}” gives {number(had.sum())} of its attention to what comes after it. {guessed}"


WIDTHS = (344, 296)
CELL, LABELS = (46, 26), 62  # of the weights


def render(result):
    """Draw a result: the arcs, and all the weights."""
    readout = sentence(result)
    title, tokens = "What each word attends to", example.TOKENS
    drawn, height = pressed_arcs(title, result.weights, tokens, result.query, query_mark(tokens))
    below = height + 6
    switch = tick_box(1, below, "hide what comes later", on=result.hidden)
    switch += svg.box(0, below, 200, 26, fill="transparent")
    parts = [drawn, marks.switch(switch, "hidden", name="hide what comes later")]
    left = svg.document(WIDTHS[0], below + 30, parts, label=readout)
    weights = svg.matrix(
        result.weights, 2, 0, title="All weights", colours=palette.weight_colour,
        row_labels=example.TOKENS, column_labels=example.TOKENS, label_width=LABELS, cell=CELL, row=result.query,
        hidden=~masks.causal_mask(N) if result.hidden else None,
    )  # fmt: skip
    return Picture(left + svg.document(WIDTHS[1], below + 30, [weights], label="All weights."), readout, "")


def the_future_hidden() -> Lab:
    """Show what each word attends to, with a switch that hides what comes after it.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = the_future_hidden()
    >>> "“cat” gives 0.72 of its attention to what comes after it" in lab.readout.value
    True
    """
    controls = {"query": radio("query", example.TOKENS), "hidden": check_box("hidden")}
    return Lab(
        name="the_future_hidden",
        title="the future, hidden",
        task="Press a query: how much of its attention goes to words that come after it? Then hide those.",
        controls=controls,
        form=Form(on_picture=("query", "hidden")),
        compute=compute,
        render=render,
        function=None,
    )
