"""Word order: without positions, attention cannot tell one order from another."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from live_pictures import marks, style, svg
from live_pictures.card import Picture
from live_pictures.chips import chip, tick_box
from live_pictures.controls import check_box, radio
from live_pictures.options import Form
from live_pictures.style import number
from mha_helpers import attention, exercises
from mha_helpers.drawing import palette
from mha_helpers.exercises.self_attention.predictions import PROJECTIONS, WORD_VECTORS, WORDS
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.learner_function import run_for_lab
from mha_helpers.positions import sinusoidal_positions

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
    """Compute the attention over both orders from the controls' values."""
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
    return run_for_lab(function, attention.dot_product_attention, arguments, ("context", "weights"))


def sentence(result):
    """Describe the picture."""
    switch = "on" if result.positions else "off"
    order = " ".join(result.words[i] for i in result.order)
    largest = number(result.differences.max(), 4)
    if not np.isfinite(result.differences).all():
        return f"Positions {switch}: a context holds NaN or infinity, so the orders cannot be compared."
    if np.array_equal(result.order, np.arange(len(result.order))):
        readout = f"Positions {switch}, both orders equal: drag a word."
    elif result.differences.max() < 1e-9:
        readout = (
            f"Positions {switch}, “{order}”: each token gets the same context in either order "
            f"(largest difference {largest})."
        )
    else:
        readout = f"Positions {switch}, “{order}”: the order now matters; a context differs by up to {largest}."
    if result.copy_difference is not None:
        alike = "the same context" if result.copy_difference < 1e-9 else "different contexts"
        readout += f" The two tokens “{result.words[-1]}” get {alike} (difference {number(result.copy_difference, 4)})."
    return readout


TOKEN, NUMBER, ROW = 51, 45, 54  # widths of a token and of a number of its context, and the height of a row
EDGE = TOKEN + 2 * NUMBER
WIDTHS, LEFT, TOP = (344, 290), 1, 28  # a frame at 0 would lose half its edge
RIGHT = WIDTHS[0] - EDGE - 1
SMALL = (44, 24)  # a cell of the weights
DASHES = ("", "", ' stroke-dasharray="9 6"')  # of the lines: the first word's and the last's are alike in greyscale


def render(result):
    """Draw a result: a row for each token that can be dragged, and a line to it from its old place."""
    readout = sentence(result)
    rows = svg.document(WIDTHS[0], TOP + 4 * ROW + 62, _rows(result), label=readout)
    weights = svg.document(WIDTHS[1], TOP + 4 * ROW + 62, _weights(result), label="The weights in both orders.")
    return Picture(rows + weights, readout, result.notice)


def _rows(result):
    yield svg.text(LEFT, 14, "First order: contexts", bold=True)
    yield svg.text(RIGHT, 14, "Your order: drag", bold=True)
    rows = []
    for i, place in enumerate(np.argsort(result.order)):
        old, new = TOP + i * ROW, TOP + place * ROW
        word = WORDS.index(result.words[i])
        colour = palette.token_fill(word)
        bend = f"M{LEFT + EDGE} {old + 17}C{LEFT + EDGE + 34} {old + 17} {RIGHT - 34} {new + 17} {RIGHT} {new + 17}"
        yield f'<path d="{bend}" fill="none" stroke="{colour}" stroke-width="7"{DASHES[word]}/>'
        yield f'<path d="{bend}" fill="none" stroke="{style.INK}" stroke-width="1"/>'
        rows.append(_row(result, i, colour, result.first_context[i], LEFT, i, result.first_differs))
        row = svg.box(RIGHT, new, EDGE, 52, fill=style.PAPER)  # nothing is seen through what is dragged
        row += _row(result, i, colour, result.context[place], RIGHT, place, result.differs)
        row += _verdict(result.differences[i], RIGHT + TOKEN, new + 47)
        rows.append(_to_drag(row, result, i) if i < len(WORDS) else marks.part(row, "copy"))
    yield from rows
    y = TOP + 4 * ROW + 6
    yield svg.text(LEFT, y + 18, "add again", size=12)
    copied = result.words[-1] if len(result.words) > len(WORDS) else NO_COPY
    for k, word in enumerate((NO_COPY, *WORDS)):
        drawn = chip(90 + k * 63, y, 60, word, chosen=word == copied)
        yield marks.radio(drawn, {"copy": word}, name=f"{word} twice")
    switch = tick_box(LEFT, y + 28, "positions are added", on=result.positions)
    yield marks.switch(switch + svg.box(LEFT, y + 29, 180, 25, fill="transparent"), "positions")


def _to_drag(row, result, i):
    """Make a word draggable to another place: the others make room."""
    others = [word for word in result.order if word < len(WORDS) and word != i]
    orders = [[*others[:place], i, *others[place:]] for place in range(len(WORDS))]
    return marks.track(
        row, f"place of {WORDS[i]}", part=f"row of {WORDS[i]}", carried=True,
        stops=[{"order": " ".join(WORDS[word] for word in order)} for order in orders],
        points=[(RIGHT + EDGE / 2, TOP + place * ROW + 25) for place in range(len(WORDS))],
    )  # fmt: skip


def _weights(result):
    reordered, n = [result.words[i] for i in result.order], len(result.words)
    for k, (title, words, weights, differs) in enumerate(
        (
            ("weights, first order", result.words, result.first_weights, result.first_differs),
            ("weights, your order", reordered, result.weights, result.differs),
        )
    ):
        _, height = svg.matrix_size(n, n, headed=True, cell=SMALL)
        yield svg.matrix(
            weights, 14, k * (height - svg.CAPTION_HEIGHT + 8), title=title, colours=palette.weight_colour,
            row_labels=words, column_labels=words, label_width=48, cell=SMALL, differs=differs.get("weights"),
        )  # fmt: skip


def _row(result, i, colour, context, x, place, differs):
    """Draw a token and its context, and the position that is added to it, if one is."""
    y = TOP + place * ROW
    parts = [
        svg.box(x, y, TOKEN, 34, fill=colour, stroke=style.INK),
        svg.text(x + TOKEN / 2, y + (16 if result.positions else 22), result.words[i], anchor="middle", bold=True),
    ]
    if result.positions:
        parts.append(svg.text(x + TOKEN / 2, y + 30, f"place {place}", anchor="middle", size=style.MIN_SIZE))
    fill = palette.role_colours("output")
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
        return svg.text(x, y, "= the same", size=11, bold=True, colour=palette.role_text("values"))
    return svg.text(x, y, f"≠ off by {svg.short(difference, 2)}", size=11, bold=True, colour=style.ALARM)


def word_order(function: Callable | None = None) -> Lab:
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
    >>> "each token gets the same context in either order" in lab.readout.value
    True
    """
    controls = {
        "order": radio("your order", ORDERS, "dog bites man"),
        "positions": check_box("positions"),
        "copy": radio("one word twice", [NO_COPY, *WORDS]),
    }
    return Lab(
        name="word_order",
        title="word order",
        task="Drag a word up or down. The rows move, but do their numbers change? Then add positions.",
        controls=controls,
        form=Form(
            rows=([controls["order"]], [controls["positions"], controls["copy"], Lab.BUTTONS]),
            on_picture=("order", "positions", "copy"),
        ),
        compute=compute,
        render=render,
        function=function,
        exercise=exercises.dot_product_attention,
    )
