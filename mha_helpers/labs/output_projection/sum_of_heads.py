"""Sum of heads: the output is what each head adds to it, and no head knows of the others."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from function_judge.compare import close
from live_pictures import marks, style, svg
from live_pictures.card import EDGE, Picture
from live_pictures.chips import chip, tick_box
from live_pictures.controls import check_box, radio
from live_pictures.motion import arrive
from live_pictures.options import Form, StaticPage
from live_pictures.style import number
from mha_helpers import attention, exercises, running_example
from mha_helpers.drawing import palette
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.learner_function import run_for_lab, visibly_different
from mha_helpers.labs.number_ranges import listed

WORDS, N_HEADS, W_O = running_example.TOKENS, running_example.N_HEADS, running_example.W_O
N, D_MODEL = running_example.X.shape
D_HEAD = D_MODEL // N_HEADS
NAMES = [f"head {h}" for h in range(N_HEADS)]
BLOCKS = W_O.reshape(N_HEADS, D_HEAD, D_MODEL)  # head h meets BLOCKS[h]


def _heads_of(X):
    """Return each head's contexts and weights."""
    matrices = running_example.W_Q, running_example.W_K, running_example.W_V
    return attention.scaled_dot_product_attention(*(attention.split_heads(X @ matrix, N_HEADS) for matrix in matrices))


HEADS, WEIGHTS = _heads_of(running_example.X)
OTHER_HEADS, _ = _heads_of(running_example.X[::-1])  # of the same words backwards
FULL = attention.combine_heads(HEADS) @ W_O

ABLATIONS = {
    "zero": np.zeros_like(HEADS),
    "mean over tokens": np.broadcast_to(HEADS.mean(axis=1, keepdims=True), HEADS.shape),
    "another sentence's": OTHER_HEADS,
}
IN_ORDER, EXCHANGED = "0, 1", "1, 0"
ORDERS = {IN_ORDER: (0, 1), EXCHANGED: (1, 0)}
STAY, ALIKE = "stay", "exchanged alike"
ROUNDING = 1e-14  # all that two ways to add these numbers may differ by; the digits themselves vary by machine


@dataclass(frozen=True)
class Result:
    """What each head adds to one token's output. "Place" p of the concatenation is that of head order[p]."""

    token: int
    ablation: str
    on: np.ndarray  # by head
    order: tuple
    rows: str  # of W_O: whether they are exchanged with the heads
    blocks: tuple  # whose rows of W_O each place meets
    heads: np.ndarray  # by place, with the ablations
    weights: np.ndarray  # by place: the token's attention
    contributions: np.ndarray  # by place
    output: np.ndarray  # their sum
    product: np.ndarray  # concat @ W_O
    gap: float  # the largest difference between these two
    moved: float  # how far the order alone has moved concat @ W_O, at most
    mark: np.ndarray | None  # the wrong cells of the contributions
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
    """Compute what each head adds from the controls' values."""
    token, order = WORDS.index(state["token"]), ORDERS[state["order"]]
    on = np.array([state[name] for name in NAMES])
    in_order = np.where(on[:, None, None], HEADS, ABLATIONS[state["heads off"]])
    heads = in_order[list(order)]
    blocks = order if state["rows of W_O"] == ALIKE else ORDERS[IN_ORDER]
    rows = BLOCKS[list(blocks)].reshape(D_MODEL, D_MODEL)
    found = run_for_lab(function, attention.head_contributions, {"heads": heads, "W_O": rows}, ("contributions",))
    contributions, right = found.arrays[0][:, token], found.right[0][:, token]
    product = (attention.combine_heads(heads) @ rows)[token]
    with np.errstate(all="ignore"):  # a learner's contributions may be anything
        output = contributions.sum(axis=0)
        gap = float(np.abs(output - product).max())
        wrong = visibly_different(contributions, right) if found.differs else None
    return Result(
        token, state["heads off"], on, order, state["rows of W_O"], blocks, heads, WEIGHTS[list(order), token],
        contributions, output, product, gap,
        moved=float(np.abs(product - (attention.combine_heads(in_order) @ W_O)[token]).max()),
        mark=wrong, notice=found.notice, differs=found.differs,
    )  # fmt: skip


def _contributions():
    return attention.head_contributions(HEADS, W_O)


def _short(value, decimals=2):
    plain = value == 0 or 0.5 * 10**-decimals <= value < 1000 or not np.isfinite(value)
    return number(value, decimals) if plain else f"{value:.0e}".replace("-", "−")


def _long(vector):
    """Write a vector's length; one that rounding alone has left is 0."""
    size = length(vector)
    return _short(0 if size < ROUNDING else size)


def sentence(result):
    """Describe the picture."""
    readout = [_who_is_on(result)]
    if not np.isfinite(result.contributions).all():
        return f"{readout[0]} The contributions hold NaN or infinity, so they cannot be added up."
    same = "the same" if result.gap < 1e-5 else "something else"
    readout.append(
        f"The contributions to “{WORDS[result.token]}” sum to a vector of length {_long(result.output)}; "
        f"concat @ W_O is {same}."
    )
    if result.order != ORDERS[IN_ORDER]:
        alike = "together with their rows of W_O" if result.blocks == result.order else "and not the rows of W_O"
        changes = f"changes the output by up to {number(result.moved)}"
        if result.moved < 1e-9:
            changes = "changes nothing"
        readout.append(f"Exchanging the heads {alike} {changes}.")
    if np.abs(result.missing).max() > 1e-9:
        readout.append(_missing(result))
    if result.on.any():
        readout.append(_weight_and_contribution(result))
    return " ".join(readout)


def _who_is_on(result):
    off = np.flatnonzero(~result.on)
    if not off.size:
        return "All heads are on."
    heads = f"Head {off[0]} is" if off.size == 1 else f"Heads {listed(int(h) for h in off)} are"
    return f"{heads} off ({result.ablation})."


def _missing(result):
    off = ~result.on[list(result.order)]
    theirs = _contributions()[~result.on, result.token].sum(axis=0)
    exactly = ""
    if off.any() and close(result.missing, theirs).all():
        exactly = f", exactly what {'that head adds' if off.sum() == 1 else 'those heads add'}"
    moved, full = _long(result.missing), _long(FULL[result.token])
    return f"The output has moved by a vector of length {moved}{exactly}. (With all heads its length is {full}.)"


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
        f"{_long(result.contributions[adds])}. A large weight doesn't have to mean a large contribution."
    )


ROW, TOP, UNIT, ZERO, BAR = 62, 82, 50, 118, 19  # pixels: a feature's rows, and the chart's length 1, its 0, and bars
CHIP, WIDTHS = 65, (344, 296)  # the widths of a token to choose, and of the two pictures
MIN_SUM, MAX_SUM = -1, 5  # no right sum lies outside
CELL = (38, 26)
OUTPUT = palette.ROLES["output"]


def render(result):
    """Draw a result: the heads' contributions end to end, by feature; and where each comes from."""
    readout = sentence(result)
    height = FIRST + N_HEADS * CARD + 40
    chart = svg.document(WIDTHS[0], height, [*_tokens(result), *_chart(result)], label=readout)
    label = "Each head's attention, and the rows of W_O that it meets."
    return Picture(chart + svg.document(WIDTHS[1], height, _heads(result), label=label), readout, result.notice)


def _tokens(result):
    """Draw the tokens, one of which is chosen."""
    for i, word in enumerate(WORDS):
        drawn = chip(1 + i * (CHIP + 3), 1, CHIP, word, chosen=i == result.token, colour=OUTPUT)
        yield marks.radio(drawn, {"token": word}, name=f"token {word}")


def _chart(result):
    """Draw each feature's contributions, one after the other, and their sum."""
    parts = [
        svg.text(0, 46, f"What the heads add to “{WORDS[result.token]}”, end to end", bold=True),
        svg.text(0, 62, "A bar: what one head adds to one feature. Press it.", size=12),
    ]
    for tick in range(4):
        x = ZERO + UNIT * tick
        parts.append(f'<path d="M{x} {TOP - 4}v{D_MODEL * ROW - 4}" stroke="{style.GRID}"/>')
        parts.append(svg.text(x, TOP + D_MODEL * ROW + 8, tick, anchor="middle", size=11, colour=style.QUIET))
    for feature in range(D_MODEL):
        y, sum_so_far = TOP + feature * ROW, 0.0
        parts.append(svg.text(0, y + 22, running_example.FEATURES[feature], size=12))
        for place, head in enumerate(result.order):
            added = result.contributions[place, feature]
            top = y + place * BAR
            parts.append(
                svg.text(ZERO - 6, top + 13, NAMES[head], anchor="end", size=11, colour=palette.head_text(head))
            )
            is_lifted = not result.on[head] and result.ablation == "zero"
            lifted = _contributions()[head, result.token, feature]
            bar = _lifted(head, sum_so_far, lifted, top) if is_lifted else _bar(head, sum_so_far, added, top)
            # Its twin, which the keyboard reaches, is the head's own switch beside the chart.
            does = f"Lift {NAMES[head]} off." if result.on[head] else f"Put {NAMES[head]} back."
            parts.append(marks.alias(bar, {NAMES[head]: not result.on[head]}, tip=does, part=f"bar {head} {feature}"))
            with np.errstate(all="ignore"):  # a learner's contributions may be anything
                sum_so_far = sum_so_far + added
            if result.mark is not None and result.mark[place, feature]:
                parts.append(svg.difference(ZERO - 4, top, 36, BAR))
        parts.append(_sum(result, feature, y))
    return parts


def _at(value):
    """Return where a number stands on the axis; what does not fit stands at its end."""
    return ZERO + UNIT * float(np.clip(np.nan_to_num(value, nan=0), MIN_SUM, MAX_SUM))


def _bar(head, start, added, y):
    left, right = sorted((_at(start), _at(start + added if np.isfinite(added) else start)))
    drawn = svg.box(left, y, right - left, BAR - 2, fill=palette.head_fill(head), stroke=palette.head_colour(head))
    if not np.isfinite(added) or abs(added) >= 0.005:
        return drawn + _written(left, right, y, _short(added), bold=True)
    return drawn


def _written(left, right, y, number, **look):
    """Write a bar's number in it, or beside it where it is narrow."""
    inside = right - left > 34
    x, anchor = ((left + right) / 2, "middle") if inside else (right + 4, "start")
    clear = "" if inside else _paper(x, y + 3, number)
    return clear + svg.text(x, y + 13, number, anchor=anchor, size=11, **look)


def _lifted(head, start, would_add, y):
    """Draw a head that is off where it would be, lifted out of the sum: pressed, it comes back."""
    left, right = sorted((_at(start), _at(start + would_add)))
    ghost = svg.box(left, y - 3, right - left, BAR - 2, fill=style.PAPER, stroke=palette.head_colour(head), dashed=True)
    if abs(would_add) >= 0.005:
        ghost += _written(left, right, y - 3, _short(would_add), colour=palette.head_text(head))
    return arrive(ghost, 0, 3)


def _sum(result, feature, y):
    """Mark where a feature's contributions end, and where they would end with all heads on."""
    now, full = result.output[feature], FULL[result.token, feature]
    x, bottom, written = _at(now), y + N_HEADS * BAR, f"= {_short(now)}"
    has_moved = abs(now - full) > 1e-9
    is_rounded = _looks_wrong(result.contributions[:, feature], now)
    note = ", ".join(filter(None, [has_moved and f"was {_short(full)}", is_rounded and "rounded"]))
    start = min(x + 5, WIDTHS[0] - 8 * len(written) - 7 * len(note) - 8)
    parts = [
        _paper(start, bottom + 1, written),
        f'<path d="M{x:.1f} {y - 2}V{bottom + 2}" stroke="{OUTPUT}" stroke-width="3"/>',
        svg.text(start, bottom + 11, written, size=12, bold=True, colour=palette.role_text("output")),
    ]
    if note:
        after = start + 3 + 8 * len(written)
        parts += [_paper(after, bottom + 1, note), svg.text(after, bottom + 11, note, size=11, colour=style.QUIET)]
    if has_moved:
        at = _at(full)
        parts.append(f'<path d="M{at:.1f} {y - 2}V{bottom + 2}" stroke="{OUTPUT}" stroke-dasharray="3 3"/>')
    return "".join(parts)


def _paper(x, y, written):
    """Clear the place of a text: no line of the grid shall cross it."""
    return svg.box(x, y, 8 * len(written), 12, fill=style.PAPER)


def _looks_wrong(addends, total):
    """Say whether numbers, as they are written, seem not to add up."""
    with np.errstate(all="ignore"):  # a learner's contributions may be anything
        return abs(np.round(addends, 2).sum() - np.round(total, 2)) > 0.005


CARD, FIRST = 144, 26  # from one head's card to the next, and where the first begins
GRIP = (WIDTHS[1] - 70, 5, 62, 26)  # what a card is dragged by: its place on the card, and its size


def _heads(result):
    """Draw where each contribution comes from: the head's attention, its context, and rows of W_O."""
    parts = [svg.text(2, 16, f"Where “{WORDS[result.token]}” finds it", bold=True)]
    cards = {head: FIRST + place * CARD for place, head in enumerate(result.order)}
    for head, y in sorted(cards.items()):
        parts.append(_to_drag(result, head, y))
        switch = svg.box(4, y + 4, 90, 24, fill="transparent")
        parts.append(marks.switch(switch, NAMES[head]))
    y = FIRST + N_HEADS * CARD + 12
    parts.append(svg.text(2, y + 17, "rows of W_O", size=12))
    for x, width, choice, words in ((88, 56, STAY, "stay"), (148, 146, ALIKE, "go with their head")):
        button = chip(x, y, width, words, chosen=choice == result.rows)
        parts.append(marks.radio(button, {"rows of W_O": choice}, name=f"rows of W_O {words}"))
    return parts


def _to_drag(result, head, y):
    """Draw a head's card, which is dragged above or below the other by its grip."""
    x, top, width, height = GRIP
    grip = svg.box(x, top, width, height, fill=style.PANEL, stroke=EDGE)
    grip = marks.hold(grip) + svg.text(x + width / 2, top + 18, "↕ drag", anchor="middle", bold=True, size=12)
    card = f'<g transform="translate(2 {y})">{_card(result, result.order.index(head))}{grip}</g>'
    track = [(2, FIRST + CARD * order.index(head)) for order in ORDERS.values()]
    return marks.track(
        f"<g>{card}</g>", f"place of {NAMES[head]}", stops=[{"order": order} for order in ORDERS], points=track,
        carried=True, part=NAMES[head], tip="Drag it above or below the other head.",
    )  # fmt: skip


def _card(result, place):
    """Draw one head's card, its corner at (0, 0)."""
    head, block = result.order[place], result.blocks[place]
    on, colour = result.on[head], palette.head_text(head)
    state = "" if on else f"off: {result.ablation}"
    parts = [
        svg.box(0, 0, WIDTHS[1] - 4, CARD - 8, fill=style.PAPER, stroke=palette.head_colour(head), stroke_width=2),
        tick_box(6, 4, NAMES[head], on=on, colour=colour),
        svg.text(96, 21, state, size=11, colour=colour),
    ]
    for j, weight in enumerate(result.weights[place]):
        x, fill = 6 + j * 57, palette.head_weight_colours(head)(weight) if on else style.HIDDEN
        ink = style.text_colour(fill)
        parts += [
            svg.text(x + 27, 44, WORDS[j], anchor="middle", size=11),
            svg.box(x, 48, 55, 22, fill=fill, stroke=palette.head_colour(head)),
            svg.text(x + 27, 64, number(weight) if on else "", anchor="middle", size=12, colour=ink),
        ]
    context = ", ".join(number(value) for value in result.heads[place, result.token])
    product = result.heads[place, result.token] @ BLOCKS[block]
    written = ", ".join(number(value, 2 if value else 0) for value in product)
    rows = f"rows {2 * block} and {2 * block + 1} of W_O"
    parts += [
        svg.text(6, 88, f"context [{context}]  ×", size=12),
        svg.box(6, 93, 150, 19, fill=palette.head_fill(block), stroke=palette.head_colour(block)),
        svg.text(12, 107, rows, size=12),
        svg.text(6, 128, f"= [{written}]", size=12),
        svg.text(WIDTHS[1] - 10, 128, f"length {_long(product)}", anchor="end", size=12),
    ]
    if head != block:
        parts.append(svg.text(162, 107, "not its own", size=11, bold=True, colour=style.ALARM))
    return "".join(parts)


def sum_of_heads(function: Callable | None = None) -> Lab:
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
    >>> lab.controls["head 1"].value = False
    >>> "exactly what that head adds" in lab.readout.value
    True
    """
    heads = {name: check_box(name, value=True) for name in NAMES}
    others = {
        "token": radio("token", WORDS, "it"),
        "heads off": radio("instead of a head that is off", ABLATIONS),
        "order": radio("order", ORDERS),
        "rows of W_O": radio("rows of W_O", (STAY, ALIKE)),
    }
    token, instead, order, rows = others.values()
    return Lab(
        name="sum_of_heads",
        title="sum of heads",
        task="Press a bar to lift its head out of the sum: what remains? Then drag one head above the other.",
        controls=heads | others,
        form=Form(
            rows=([token, *heads.values()], [instead, Lab.BUTTONS], [order, rows]),
            on_picture=("token", *NAMES, "order", "rows of W_O"),
        ),
        compute=compute,
        render=render,
        function=function,
        exercise=exercises.head_contributions,
        page=StaticPage(
            offers={name: control.options for name, control in others.items()} | dict.fromkeys(NAMES, (True, False))
        ),
    )
