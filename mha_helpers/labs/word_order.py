"""Word order: without positions, attention cannot tell one order from another."""

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from mha_helpers import exercises
from mha_helpers.drawing import style, svg
from mha_helpers.drawing.style import number
from mha_helpers.exercises.self_attention.predictions import PROJECTIONS, WORD_VECTORS, WORDS
from mha_helpers.labs.card import NARROWEST, Picture
from mha_helpers.labs.controls import check_box, radio
from mha_helpers.labs.frame import Lab
from mha_helpers.labs.motion import arrive
from mha_helpers.learner.answer import answer
from mha_helpers.maths import attention
from mha_helpers.maths.positions import sinusoidal_positions

ORDERS = {" ".join(WORDS[i] for i in order): order for order in permutations(range(len(WORDS)))}
NO_COPY = "none"


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
    use_positions = state["positions"]
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
    order = " ".join(result.words[i] for i in result.order)
    largest = number(result.differences.max(), 4)
    if not np.isfinite(result.differences).all():
        return f"Positions {switch}: a context holds NaN or infinity, so the orders cannot be compared."
    if np.array_equal(result.order, np.arange(len(result.order))):
        said = f"Positions {switch}, both orders equal: choose another."
    elif result.differences.max() < 1e-9:
        said = (
            f"Positions {switch}, “{order}”: each token gets the same context in either order "
            f"(largest difference {largest})."
        )
    else:
        said = f"Positions {switch}, “{order}”: the order now matters; a context differs by up to {largest}."
    if result.copy_difference is not None:
        alike = "the same context" if result.copy_difference < 1e-9 else "different contexts"
        said += f" The two tokens “{result.words[-1]}” get {alike} (difference {number(result.copy_difference, 4)})."
    return said


TOKEN, NUMBER, ROW = 78, 62, 44  # widths of a token and of a number of its context, and the height of a row
LEFT, RIGHT, TOP = 1, 331, 40  # a frame at 0 would lose half its edge
SMALL = (44, 24)  # a cell of the weights
DASHES = ("", "", ' stroke-dasharray="9 6"')  # of the lines: the first word's and the last's are alike in greyscale


def render(result, before=None):
    """Draw a result: a row for each token, and a line from its old place to its new one, which it travels along."""
    said, n = sentence(result), len(result.words)
    reordered = [result.words[i] for i in result.order]
    edge = TOKEN + 2 * NUMBER
    lines, rows = [], []
    for i, place in enumerate(np.argsort(result.order)):
        old, new = TOP + i * ROW, TOP + place * ROW
        word = WORDS.index(result.words[i])
        colour = style.token_fill(word)
        bend = f"M{LEFT + edge} {old + 17}C{LEFT + edge + 70} {old + 17} {RIGHT - 70} {new + 17} {RIGHT} {new + 17}"
        lines.append(f'<path d="{bend}" fill="none" stroke="{colour}" stroke-width="7"{DASHES[word]}/>')
        lines.append(f'<path d="{bend}" fill="none" stroke="{style.INK}" stroke-width="1"/>')
        rows.append(_row(result.words[i], colour, result.first_context[i], LEFT, old, result.first_differs, i))
        moved = _row(result.words[i], colour, result.context[place], RIGHT, new, result.differs, place)
        # It sets out from where it was before; in the first picture, from its place in the first order.
        came_from = i if before is None or len(before.words) != n else int(np.argsort(before.order)[i])
        rows.append(arrive(moved, 0, TOP + came_from * ROW - new))
        rows.append(_verdict(result.differences[i], RIGHT + edge + 8, new + 21))
    parts = [
        svg.text(LEFT, 14, "First order: each token's context", bold=True),
        svg.text(RIGHT, 14, "Your order", bold=True),
        *lines,
        *rows,
    ]
    below = TOP + n * ROW + 6
    label_width = 48
    for left, words, weights, differs in (
        (LEFT, result.words, result.first_weights, result.first_differs),
        (RIGHT, reordered, result.weights, result.differs),
    ):
        parts.append(
            svg.matrix(
                weights, left, below, title="weights", colours=style.weight_colour, row_labels=words,
                column_labels=words, label_width=label_width, cell=SMALL, differs=differs.get("weights"),
            )
        )  # fmt: skip
    _, height = svg.matrix_size(n, n, headed=True, cell=SMALL)
    drawn = svg.document(NARROWEST, below + height - svg.CAPTION_HEIGHT + 6, parts, label=said)
    return Picture(drawn, said, result.notice)


def _row(word, colour, context, x, y, differs, place):
    """Draw a token and its context."""
    parts = [
        svg.box(x, y, TOKEN, 34, fill=colour, stroke=style.INK),
        svg.text(x + TOKEN / 2, y + 22, word, anchor="middle", bold=True),
    ]
    fill = style.role_colours("output")
    for k, value in enumerate(context):
        left = x + TOKEN + k * NUMBER
        parts.append(svg.box(left, y, NUMBER, 34, fill=fill(value), stroke=style.INK))
        parts.append(svg.text(left + NUMBER / 2, y + 22, svg.short(value, 2), anchor="middle"))
        if "context" in differs and differs["context"][place, k]:
            parts.append(svg.difference(left, y, NUMBER, 34))
    return "".join(parts)


def _verdict(difference, x, y):
    """Say whether a token's context is the same as in the first order."""
    if difference < 1e-9:
        return svg.text(x, y, "the same", size=12, bold=True)
    return svg.text(x, y, f"off by {svg.short(difference, 2)}", size=12, bold=True)


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
    >>> lab.controls["order"].value = "dog bites man"
    >>> "both orders equal" in lab.readout.value
    True
    """
    controls = {
        "order": radio("your order", ORDERS, "man bites dog"),
        "positions": check_box("positions are added"),
        "copy": radio("one word twice", [NO_COPY, *WORDS]),
    }
    return Lab(
        name="word_order",
        title="word order",
        task="Reorder the words. The rows move, but do their numbers change? Then add positions.",
        controls=controls,
        layout=([controls["order"]], [controls["positions"], controls["copy"], Lab.BUTTONS]),
        compute=compute,
        render=render,
        function=function,
        exercise=exercises.dot_product_attention,
        moves=True,
    )
