"""Two heads: the reader presses a word, and sees beside each other what it attends to in either head."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from live_pictures import marks, svg
from live_pictures.card import Picture
from live_pictures.controls import radio
from live_pictures.options import Form
from live_pictures.style import number
from mha_helpers import attention, exercises
from mha_helpers import running_example as example
from mha_helpers.drawing import palette
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.learner_function import run_for_lab
from mha_helpers.labs.pressed_arcs import pressed_arcs, query_mark

QUERIES, KEYS, VALUES = (
    attention.split_heads(example.X @ matrix, example.N_HEADS) for matrix in (example.W_Q, example.W_K, example.W_V)
)
MASK = np.ones((len(example.TOKENS), len(example.TOKENS)), dtype=bool)
ASKS = ("Head 0: who is it?", "Head 1: what happened?")


@dataclass(frozen=True)
class Result:
    """What one word attends to in each head."""

    query: int
    weights: np.ndarray  # (n_heads, n_tokens, n_tokens)
    notice: str
    differs: np.ndarray  # (n_heads, n_tokens): the queries whose row the learner's function gets wrong


def compute(state, function=None):
    """Compute the weights of both heads."""
    inputs = {"queries": QUERIES, "keys": KEYS, "values": VALUES, "mask": MASK}
    found = run_for_lab(function, attention.masked_attention, inputs, ("context", "weights"))
    differs = np.any([cells.any(axis=-1) for cells in found.differs.values()] or [np.zeros(KEYS.shape[:2])], axis=0)
    return Result(example.TOKENS.index(state["query"]), found.arrays[1], found.notice, differs)


def sentence(result):
    """Describe the picture."""
    token, found = example.TOKENS[result.query], [_most(weights[result.query]) for weights in result.weights]
    if found[0] == found[1]:
        return f"“{token}” attends {found[0]} in both heads."
    return f"“{token}” attends {found[0]} in head 0, and {found[1]} in head 1."


def _most(row):
    """Say which keys get most of a row of weights."""
    if not np.isfinite(row).all():
        return "to nothing that is a number"
    top = np.flatnonzero(row.round(2) == row.max().round(2))
    if len(top) == len(row):
        return f"to all alike ({number(row[0])})"
    names = " and ".join(f"“{example.TOKENS[key]}”" for key in top)
    return f"most to {names} ({number(row[top[0]])}{' each' if len(top) > 1 else ''})"


WIDTH = 320  # of a head's picture


def render(result):
    """Draw a result: the arcs of each head, in its colour."""
    readout = sentence(result)
    labels = readout, "The arcs of head 1."
    return Picture("".join(_head(result, head, label) for head, label in enumerate(labels)), readout, result.notice)


def _head(result, head, label):
    tokens = example.TOKENS
    press = query_mark(tokens) if head == 0 else lambda area, place: marks.alias(area, {"query": tokens[place]})
    drawn, height = pressed_arcs(
        ASKS[head], result.weights[head], tokens, result.query, press, differs=np.flatnonzero(result.differs[head]),
        head=head, colour=palette.head_text(head), width=WIDTH,
    )  # fmt: skip
    return svg.document(WIDTH, height, [drawn], label=label)


def two_heads(function: Callable | None = None) -> Lab:
    """Show what a word attends to in two heads, whose words are pressed.

    Parameters
    ----------
    function : callable, optional
        The learner's `masked_attention(queries, keys, values, mask) -> (context, weights)`. While it is a stub the
        course's own is shown, and the lab says so.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = two_heads()
    >>> lab.set(query="cat")
    >>> "“cat” attends most to “sat” (0.56) in head 0" in lab.readout.value
    True
    """
    controls = {"query": radio("query", example.TOKENS, "it")}
    return Lab(
        name="two_heads",
        title="two heads",
        task="Press a query. What does the same word attend to in either head?",
        controls=controls,
        form=Form(on_picture=("query",)),
        compute=compute,
        render=render,
        function=function,
        exercise=exercises.masked_attention,
    )
