"""Sum of heads: the output is what each head adds to it, and no head knows of the others."""

from dataclasses import dataclass

import ipywidgets
import numpy as np

from mha_helpers import attention
from mha_helpers.drawing import style, svg
from mha_helpers.drawing.style import number
from mha_helpers.labs.frame import Lab, Picture, in_a_row, listed, say_on_or_off
from mha_helpers.learner.answer import answer
from mha_helpers.learner.calling import close

WORDS = ("my", "cat", "sees", "it")
N, N_HEADS, D_HEAD = len(WORDS), 4, 2
D_MODEL = N_HEADS * D_HEAD
COLOURS = tuple(style.blend((style.PAPER, colour), 0.6) for colour in style.HEADS)
NAMES = [f"head {h + 1}" for h in range(N_HEADS)]

_rng = np.random.default_rng(15)
_sentences = _rng.normal(size=(2, N, D_MODEL))  # the one shown, and another
_W_Q, _W_K, _W_V = _rng.normal(size=(3, D_MODEL, D_MODEL)) / D_MODEL**0.5
_W_Q = _W_Q * np.repeat([0.5, 4, 1, 1.5], D_HEAD)  # head 2 is the sharpest, ...
W_O = _rng.normal(size=(D_MODEL, D_MODEL)) * np.repeat([0.8, 0.25, 1, 0.6], D_HEAD)[:, None]  # ... and adds little
BLOCKS = W_O.reshape(N_HEADS, D_HEAD, D_MODEL)  # head h meets BLOCKS[h]
(HEADS, OTHER_HEADS), (WEIGHTS, _) = attention.scaled_dot_product_attention(
    *(attention.split_heads(_sentences @ matrix, N_HEADS) for matrix in (_W_Q, _W_K, _W_V))
)
FULL = attention.combine_heads(HEADS) @ W_O

ABLATIONS = {
    "zero": np.zeros_like(HEADS),
    "mean over tokens": np.broadcast_to(HEADS.mean(axis=1, keepdims=True), HEADS.shape),
    "resampled": OTHER_HEADS,
}
ORDERS = {"1 2 3 4": (0, 1, 2, 3), "2 1 3 4": (1, 0, 2, 3), "2 3 4 1": (1, 2, 3, 0), "4 3 2 1": (3, 2, 1, 0)}
STAY, ALIKE = "stay", "permuted alike"
ROUNDING = 1e-14  # all that two ways to add these numbers may differ by; the digits themselves vary by machine


@dataclass(frozen=True)
class Result:
    """What each head adds to one token's output. "Place" p of the concatenation is that of head order[p]."""

    token: int
    ablation: str
    on: np.ndarray  # by head
    order: tuple
    blocks: tuple  # whose rows of W_O each place meets
    heads: np.ndarray  # by place, with the ablations
    weights: np.ndarray  # by place: the token's attention
    contributions: np.ndarray  # by place
    output: np.ndarray  # their sum
    product: np.ndarray  # concat @ W_O
    gap: float  # the largest difference between these two
    moved: float  # how far the order alone has moved concat @ W_O, at most
    mark: tuple | None  # the first wrong cell of the contributions
    notice: str
    differs: dict

    @property
    def lengths(self):
        return length(self.contributions)

    @property
    def missing(self):
        return FULL[self.token] - self.output


def length(vectors):
    """Return the length of each vector; a learner's numbers may be too large for it."""
    with np.errstate(all="ignore"):
        return np.linalg.norm(vectors, axis=-1)


def compute(state, function=None):
    """From the controls' values to what each head adds."""
    token, order = WORDS.index(state["token"]), ORDERS[state["order"]]
    on = np.array([state[name] for name in NAMES])
    in_order = np.where(on[:, None, None], HEADS, ABLATIONS[state["heads off"]])
    heads = in_order[list(order)]
    blocks = order if state["rows of W_O"] == ALIKE else ORDERS["1 2 3 4"]
    rows = BLOCKS[list(blocks)].reshape(D_MODEL, D_MODEL)
    found = answer(function, attention.head_contributions, {"heads": heads, "W_O": rows}, ("contributions",))
    contributions, right = found.arrays[0][:, token], found.right[0][:, token]
    product = (attention.combine_heads(heads) @ rows)[token]
    with np.errstate(all="ignore"):  # a learner's contributions may be anything
        output = contributions.sum(axis=0)
        gap = float(np.abs(output - product).max())
        wrong = np.argwhere(~close(contributions, right))
    return Result(
        token, state["heads off"], on, order, blocks, heads, WEIGHTS[list(order), token], contributions, output,
        product, gap, moved=float(np.abs(product - (attention.combine_heads(in_order) @ W_O)[token]).max()),
        mark=tuple(int(i) for i in wrong[0]) if wrong.size else None, notice=found.notice, differs=found.differs,
    )  # fmt: skip


def tiny(value):
    """Write a difference that may be rounding alone."""
    return "less than 1e−14" if value < ROUNDING else _short(value, 4)


def _short(value, decimals=2):
    plain = value == 0 or 0.5 * 10**-decimals <= value < 1000 or not np.isfinite(value)
    return number(value, decimals) if plain else f"{value:.0e}".replace("-", "−")


def _long(vector):
    """Write a vector's length; one that rounding alone has left is 0."""
    size = length(vector)
    return _short(0 if size < ROUNDING else size)


def sentence(result):
    """Say what is to be seen."""
    said = [_who_is_on(result)]
    if not np.isfinite(result.contributions).all():
        return f"{said[0]} The contributions hold NaN or infinity, so they cannot be added up."
    same = "the same" if result.gap < 1e-5 else "something else"
    said.append(
        f"The four contributions to “{WORDS[result.token]}” sum to a vector of length {_long(result.output)}; "
        f"concat @ W_O is {same} (largest difference {tiny(result.gap)})."
    )
    if result.order != ORDERS["1 2 3 4"]:
        alike = "together with their rows of W_O" if result.blocks == result.order else "and not the rows of W_O"
        changes = f"changes the output by up to {number(result.moved)}"
        if result.moved < 1e-9:
            changes = f"changes nothing (difference {tiny(result.moved)})"
        said.append(f"Permuting the heads {alike} {changes}.")
    if np.abs(result.missing).max() > 1e-9:
        said.append(_missing(result))
    if result.on.any():
        said.append(_weight_and_contribution(result))
    return " ".join(said)


def _who_is_on(result):
    off = np.flatnonzero(~result.on) + 1
    if not off.size:
        return "All heads are on."
    heads = f"Head {off[0]} is" if off.size == 1 else f"Heads {listed(int(h) for h in off)} are"
    return f"{heads} off ({result.ablation})."


def _missing(result):
    off = ~result.on[list(result.order)]
    theirs = attention.head_contributions(HEADS, W_O)[~result.on, result.token].sum(axis=0)
    exactly = ""
    if off.any() and close(result.missing, theirs).all():
        exactly = f", exactly what {'that head adds' if off.sum() == 1 else 'those heads add'}"
    full = _long(FULL[result.token])
    return f"Missing from the full output (length {full}): length {_long(result.missing)}{exactly}."


def _weight_and_contribution(result):
    """Compare the head that looks hardest with the one that adds most, of those that are on."""
    order, on = np.array(result.order), result.on[list(result.order)]
    looks = int(np.where(on, result.weights.max(axis=-1), -1).argmax())
    adds = int(np.where(on, result.lengths, -1).argmax())
    weight, word = number(result.weights[looks].max()), WORDS[result.weights[looks].argmax()]
    looking = f"{NAMES[order[looks]].capitalize()} has the largest weight ({weight}, on “{word}”)"
    if looks == adds:
        return f"{looking} and adds most, too (length {_long(result.contributions[adds])})."
    only = "only " if result.lengths[looks] < result.lengths[adds] / 2 else ""
    return (
        f"{looking}, yet adds {only}length {_long(result.contributions[looks])}; {NAMES[order[adds]]} adds most, "
        f"{_long(result.contributions[adds])}: a large weight is no large contribution."
    )


LEFT, LABEL, CELL = 8, 126, (46, 26)
LONGEST, UNIT = 104, 14  # a bar's pixels, at most and for a length of 1


def render(result):
    """Draw a result."""
    table = 172
    largest = max(np.abs(attention.head_contributions(HEADS, W_O)).max(), 1)
    colours = style.score_colours(2 * largest)
    bars = LEFT + LABEL + D_MODEL * CELL[0] + 12
    first_row = table + svg.TITLE_HEIGHT + svg.HEADER_HEIGHT
    features = range(1, D_MODEL + 1)
    totals = {
        "sum of the four": result.output,
        "concat @ W_O": result.product,
        "full output": FULL[result.token],
        "missing": result.missing,
    }
    below = first_row + N_HEADS * CELL[1] + 10
    hatched = np.repeat(~result.on[list(result.order), None], N, axis=1)
    parts = [
        *_concatenation(result),
        *_meetings(result, bars),
        svg.matrix(
            result.contributions, LEFT, table, title=f"what each head adds to “{WORDS[result.token]}”",
            colours=colours, column_labels=features, label_width=LABEL, cell=CELL, differs=result.mark,
        ),
        svg.text(bars, first_row - 6, "length", bold=True, size=12),
        svg.matrix(
            result.weights, 860 - N * CELL[0] - 8, table, title="its attention in that head", cell=CELL,
            colours=style.weight_colour, column_labels=WORDS, hatched=hatched, caption="hatched: off, not used",
        ),
        svg.matrix(
            np.stack([*totals.values()]), LEFT, below - svg.TITLE_HEIGHT, title="", colours=colours,
            row_labels=[*totals], label_width=LABEL, cell=CELL,
        ),
    ]  # fmt: skip
    for place, head in enumerate(result.order):
        y = first_row + place * CELL[1]
        off = "" if result.on[head] else ": off"
        parts.append(svg.box(LEFT, y + 2, LABEL - 8, CELL[1] - 4, fill=COLOURS[head]))
        parts.append(svg.text(LEFT + 5, y + 18, f"{NAMES[head]}{off}", size=12, bold=not off))
        parts += _bar(result.contributions[place], bars, y, COLOURS[head])
    for i, vector in enumerate(totals.values()):
        parts += _bar(vector, bars, below + i * CELL[1], "#d0d0d0")
    last = below + len(totals) * CELL[1] + 16
    notes = f"sum of the four and concat @ W_O: largest difference {tiny(result.gap)}"
    parts.append(svg.text(LEFT + LABEL, last, notes, size=12))
    if result.differs and result.mark is None:
        parts.append(svg.text(LEFT + LABEL, last + 17, "≠ Your first wrong cell is another token's.", size=12))
    said = sentence(result)
    return Picture(svg.document(860, last + 24, parts, label=said), said, result.notice)


def _concatenation(result):
    top, wide, left = 4, D_HEAD * CELL[0], LEFT + LABEL
    below = top + svg.TITLE_HEIGHT + N * CELL[1] + 15
    parts = [svg.text(LEFT, top + 14, "concatenation", bold=True)]
    for place, head in enumerate(result.order):
        x, label_width = left + place * wide, 0 if place else LABEL
        parts.append(
            svg.matrix(
                result.heads[place], x - label_width, top, title=NAMES[head], row_labels=WORDS, cell=CELL,
                colours=lambda value, head=head: COLOURS[head], label_width=label_width,
            )
        )  # fmt: skip
        if not result.on[head]:
            instead = result.ablation.split()[0]
            parts.append(svg.text(x + wide / 2, below, instead, anchor="middle", size=12, bold=True))
    y = top + svg.TITLE_HEIGHT + result.token * CELL[1]
    return [*parts, svg.box(left, y, N_HEADS * wide, CELL[1], stroke=style.INK, stroke_width=3)]


def _meetings(result, left):
    """Say which rows of W_O each head meets."""
    parts = [svg.text(left, 18, "each head meets rows of W_O", bold=True)]
    for place, (head, block) in enumerate(zip(result.order, result.blocks, strict=True)):
        y = 31 + place * CELL[1]
        rows = f"rows made for {NAMES[block]}"
        parts += [
            svg.box(left, y + 2, 60, CELL[1] - 4, fill=COLOURS[head]),
            svg.text(left + 6, y + 18, NAMES[head], size=12, bold=True),
            svg.text(left + 70, y + 18, "×", size=12),
            svg.box(left + 86, y + 2, 140, CELL[1] - 4, fill=COLOURS[block]),
            svg.text(left + 92, y + 18, rows, size=12),
        ]
        if head != block:
            parts.append(svg.text(left + 232, y + 18, "not its own", size=12, bold=True, colour=style.ALARM))
    return parts


def _bar(vector, x, y, colour):
    drawn = min(np.nan_to_num(length(vector), nan=0), LONGEST / UNIT) * UNIT
    bar = svg.box(x, y + 6, drawn, 14, fill=colour, stroke=style.INK)
    return [bar, svg.text(x + drawn + 5, y + 18, _long(vector), size=12)]


def sum_of_heads(function=None):
    """Show the sum of heads lab: switch heads off, permute them, and see what each adds.

    Parameters
    ----------
    function : callable, optional
        The learner's `head_contributions(heads, W_O) -> (n_heads, seq_len, d_model)`. While it is a stub the
        course's own is shown, and the lab says so.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = sum_of_heads()
    >>> lab.controls["head 2"].value = False
    >>> "exactly what that head adds" in lab.picture.value
    True
    """
    apart = {"margin": "0 20px 0 0"}
    toggles = {name: ipywidgets.ToggleButton(value=True, layout={"width": "110px"}) for name in NAMES}
    sliders = {
        name: ipywidgets.SelectionSlider(
            options=list(options), value=value, description=name, style={"description_width": "90px"},
            layout={"width": "390px"} | apart,
        )
        for name, options, value in (
            ("heads off", ABLATIONS, "zero"), ("token", WORDS, "sees"), ("order", ORDERS, "1 2 3 4"),
            ("rows of W_O", (STAY, ALIKE), STAY),
        )
    }  # fmt: skip
    lab = Lab(
        name="sum_of_heads",
        title="sum of heads",
        task="Switch heads off: what is missing then? Permute them, without the rows of W_O and with them.",
        controls=toggles | sliders,
        layout=(
            in_a_row(toggles.values()),
            in_a_row(sliders.values()),
        ),
        compute=compute,
        render=render,
        function=function,
    )
    say_on_or_off(toggles)
    return lab
