"""Word order: without positions, attention cannot tell one order from another."""

from dataclasses import dataclass
from itertools import permutations

import ipywidgets
import numpy as np

from mha_helpers import attention
from mha_helpers.drawing import style, svg
from mha_helpers.drawing.style import number
from mha_helpers.exercises.self_attention.predictions import PROJECTIONS, WORD_VECTORS, WORDS
from mha_helpers.labs.frame import Lab, Picture
from mha_helpers.learner.answer import answer
from mha_helpers.positions import sinusoidal_positions

ORDERS = {" ".join(WORDS[i] for i in order): order for order in permutations(range(len(WORDS)))}
NO_COPY = "no copy"


@dataclass(frozen=True)
class Result:
    """Attention over one sentence in two orders."""

    words: tuple  # in the first order
    order: np.ndarray  # the second order: its token i is the first's token order[i]
    positions: bool
    first_weights: np.ndarray
    first_context: np.ndarray
    weights: np.ndarray
    context: np.ndarray
    differences: np.ndarray  # of each token's context between the two orders, at most; in the first order
    copy_difference: float | None  # between a token's context and its copy's, in the second order
    notice: str
    first_differs: dict
    differs: dict


def compute(state, function=None):
    """From the controls' values to the attention over both orders."""
    copied = [] if state["copy"] == NO_COPY else [WORDS.index(state["copy"])]
    tokens = np.array([*range(len(WORDS)), *copied])
    # The copy stays last: it is the three words that change places.
    order = np.array([*ORDERS[state["order"]], *range(len(WORDS), len(tokens))])
    use_positions = state["positions"] == "on"
    first = _attend(WORD_VECTORS[tokens], use_positions, function)
    first_context, first_weights = first.arrays
    found = _attend(WORD_VECTORS[tokens[order]], use_positions, function)
    context, weights = found.arrays
    back = np.argsort(order)
    copy_difference = None
    if copied:
        original = back[copied[0]]
        copy_difference = float(np.abs(context[original] - context[-1]).max())
    return Result(
        words=tuple(WORDS[token] for token in tokens),
        order=order,
        positions=use_positions,
        first_weights=first_weights,
        first_context=first_context,
        weights=weights,
        context=context,
        differences=np.abs(context[back] - first_context).max(axis=-1),
        copy_difference=copy_difference,
        notice=found.notice,
        first_differs=first.differs,
        differs=found.differs,
    )


def _attend(X, use_positions, function):
    if use_positions:
        X = X + sinusoidal_positions(*X.shape)
    arguments = {name: X @ matrix for name, matrix in PROJECTIONS.items()}
    return answer(function, attention.dot_product_attention, arguments, ("context", "weights"))


def sentence(result):
    """Say what is to be seen."""
    switch = "on" if result.positions else "off"
    largest = number(result.differences.max(), 4)
    if not np.isfinite(result.differences).all():
        return f"Positions {switch}: a context holds NaN or infinity, so the orders cannot be compared."
    if np.array_equal(result.order, np.arange(len(result.order))):
        said = f"Positions {switch}, both orders equal: move the order slider."
    elif result.differences.max() < 1e-9:
        said = f"Positions {switch}: each token gets the same context in either order; largest difference {largest}."
    else:
        said = f"Positions {switch}: the order now matters; a context differs by up to {largest}."
    if result.copy_difference is not None:
        alike = "the same context" if result.copy_difference < 1e-9 else "different contexts"
        said += f" The two tokens “{result.words[-1]}” get {alike} (difference {number(result.copy_difference, 4)})."
    return said


def render(result):
    """Draw a result."""
    words = result.words
    reordered = [words[i] for i in result.order]
    label_width, gap = 48, 16
    weights_width, height = svg.matrix_size(len(words), len(words), label_width=label_width, headed=True)

    def half(left, heading, labels, weights, context, differs):
        return [
            svg.text(left, 18, heading, bold=True),
            svg.tokens(labels, left, 28, width=56),
            svg.matrix(
                weights, left, 66, title="weights", colours=style.weight_colour, row_labels=labels,
                column_labels=labels, label_width=label_width, differs=differs.get("weights"),
            ),
            svg.matrix(
                context, left + weights_width + gap, 66 + svg.HEADER_HEIGHT, title="context",
                title_colour=style.role_text("output"), colours=style.role_colours("output"),
                row_labels=labels, label_width=label_width, differs=differs.get("context"),
            ),
        ]  # fmt: skip

    second = weights_width + gap + label_width + 2 * svg.CELL_WIDTH + 34
    below = 66 + height + 14
    each = ",  ".join(
        f"{word} {number(difference, 4)}" for word, difference in zip(words, result.differences, strict=True)
    )
    parts = [
        *half(8, "First order", words, result.first_weights, result.first_context, result.first_differs),
        *half(second, "Your order", reordered, result.weights, result.context, result.differs),
        svg.text(8, below, "How much each token's context differs between the two orders:"),
        svg.text(8, below + 22, each, bold=True),
    ]
    drawn = svg.document(second * 2 - 18, below + 34, parts, label=sentence(result))
    return Picture(drawn, sentence(result), result.notice)


def word_order(function=None):
    """Show the word order lab: attention's order blindness, and what positions do about it.

    Parameters
    ----------
    function : callable, optional
        The learner's `dot_product_attention(queries, keys, values) -> (context, weights)`. While it is a
        stub the course's own is shown, and the lab says so.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = word_order()
    >>> lab.controls["order"].value = "man bites dog"
    >>> "largest difference 0.0000" in lab.picture.value
    True
    """
    apart = {"margin": "0 40px 0 0"}
    controls = {
        "order": ipywidgets.SelectionSlider(
            options=list(ORDERS),
            description="your order",
            readout=False,
            layout=apart,  # the picture shows it
        ),
        "copy": ipywidgets.SelectionSlider(options=[NO_COPY, *WORDS], description="add a copy", layout=apart),
        "positions": ipywidgets.SelectionSlider(options=["off", "on"], description="positions"),
    }
    return Lab(
        name="word_order",
        title="word order",
        task="Turn “dog bites man” into “man bites dog” and compare each token's context. Then switch positions on.",
        controls=controls,
        compute=compute,
        render=render,
        function=function,
    )
