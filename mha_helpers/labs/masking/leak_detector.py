"""Leak detector: change one token, and see which outputs notice."""

import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from live_pictures import marks, style, svg
from live_pictures.card import Picture
from live_pictures.controls import radio
from live_pictures.motion import shakes
from live_pictures.options import Form
from live_pictures.style import number
from mha_helpers import attention, exercises, masks, probes, running_example
from mha_helpers.drawing import palette
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.learner_function import AGAIN, run_for_lab

WORDS = running_example.TOKENS
N, D = len(WORDS), 4
_rng = np.random.default_rng(30)
X = _rng.normal(size=(N, D))
# Weights far from 0 and values of some size: whatever moves at all moves by 0.01 at least, so that it can be read.
W_Q, W_K, W_V = _rng.normal(size=(3, D, D)) * [[[0.3]], [[1]], [[2]]]
QUERIES = X @ W_Q

CAUSAL = "causal"
AFTER, RESCALED = "after the softmax", "after, rows rescaled"
VARIATIONS = {
    "one too far": np.tri(N, k=1, dtype=bool),
    "diagonal hidden": np.tri(N, k=-1, dtype=bool),
    "upside down": np.triu(np.ones((N, N), bool)),
    "inverted": ~masks.causal_mask(N),
    AFTER: masks.causal_mask(N),
    RESCALED: masks.causal_mask(N),
    "no mask": np.ones((N, N), bool),
}
WHY = {
    AFTER: "Hidden after the softmax, the future still counts in its denominator.",
    RESCALED: "Dividing each row by its sum takes the future out of the denominator again.",
}
NOTHING = 1e-9  # what rounding may move
MUST_MOVE = masks.causal_mask(N)


@dataclass(frozen=True)
class Result:
    """Which output moves when which token is changed."""

    token: int
    variation: str
    mask: np.ndarray
    moved: np.ndarray  # (outputs, changed tokens)
    notice: str
    differs: dict

    @property
    def leaks(self):
        """Which outputs notice a token that comes after them."""
        return ~MUST_MOVE & (self.moved > NOTHING)

    @property
    def blind(self):
        """Which outputs do not notice a token that they should see: their own, or one before."""
        return MUST_MOVE & (self.moved <= NOTHING)


def compute(state, function=None):
    """Compute how far each output moves from the controls' values."""
    variation = state["mask"]
    if variation == CAUSAL:
        mask, notice, differs = _learners_mask(function)
    else:
        mask, differs = VARIATIONS[variation], {}
        notice = f"Shown is a variation of the lab's own. Your causal_mask runs with the mask “{CAUSAL}”."

    def attend(changed):
        # The queries stay: what moves an output then is what it sees, not what it asks.
        keys, values = changed @ W_K, changed @ W_V
        if variation not in (AFTER, RESCALED):
            return attention.masked_attention(QUERIES, keys, values, mask)[0]
        weights = attention.softmax(attention.attention_scores(QUERIES, keys) / D**0.5) * mask
        if variation == RESCALED:
            weights = weights / weights.sum(axis=-1, keepdims=True)
        return weights @ values

    return Result(WORDS.index(state["token"]), variation, mask, probes.leaks(attend, X), notice, differs)


def _learners_mask(function):
    found = run_for_lab(function, masks.causal_mask, {"n": N}, ("mask",))
    (theirs,), (right,) = found.arrays, found.right
    strange = theirs[~np.isin(theirs, (0, 1))]
    if strange.size:
        why = f"yours holds {number(strange[0])} where True or False is asked for. {AGAIN}"
        return right.astype(bool), f"Shown with the course's own causal_mask: {why}", {}
    notice = found.notice
    if not (found.boolean or found.differs):
        notice += " It holds numbers where True and False are asked for; here they are read as booleans."
    return theirs.astype(bool), notice, found.differs


def sentence(result):
    """Describe the picture."""
    token, name = result.token, f"“{WORDS[result.token]}”"
    moves = np.flatnonzero(result.moved[:, token] > NOTHING)
    early, missing = (np.flatnonzero(cells[:, token]) for cells in (result.leaks, result.blind))
    if moves.size == 0:
        parts = [f"Changing {name} moves no output."]
    elif early.size or missing.size:
        parts = [f"Changing {name} moves {_outputs(moves)}."]
    else:
        no_leak = "No leak here" if result.leaks.any() else "No leak"
        parts = [f"{no_leak}: changing {name} moves only {_outputs(moves)}."]
    if early.size:
        parts.append(f"A leak: {_outputs(early)} {'comes' if early.size == 1 else 'come'} before it.")
    if missing.size:
        does, its = ("does", "its own token") if missing.size == 1 else ("do", "a token that they should see")
        if missing.size == 1 and missing[0] != token:
            its = "a token that it should see"
        parts.append(f"Blind: {_outputs(missing)} {does} not move when {its} changes.")
    leaks, blind = (
        _counted(cells.sum(), word) for cells, word in ((result.leaks, "leak"), (result.blind, "blind cell"))
    )
    parts.append(f"Over all tokens: {leaks} and {blind}.")
    return " ".join([*parts, WHY.get(result.variation, "")]).strip()


def _counted(count, word):
    return f"{count or 'no'} {word}{'' if count == 1 else 's'}"


def _outputs(rows):
    words = [f"“{WORDS[row]}”" for row in rows]
    return f"output {words[0]}" if len(words) == 1 else f"outputs {', '.join(words[:-1])} and {words[-1]}"


TOKEN, PITCH, INPUT_Y, OUTPUT_Y = 65, 69, 264, 38  # a token's width, from one to the next, and where they stand
OUTPUT_HEIGHT = 54
CELL, LABEL = (44, 34), 58
MOVES = palette.ROLES["output"]
SQUARE, CHOICE = 6, (80, 66)  # a cell of a mask that can be chosen, and from one to the next
DARK = palette.role_text("values")


def render(result):
    """Draw a result: the masks, who hears of the changed token, and the same for all tokens."""
    readout, height = sentence(result), 318
    masks_to_choose = [
        svg.document(4 * CHOICE[0] + 1, CHOICE[1] + 6, _choices(four, result), label="Masks to choose from.")
        for four in ((CAUSAL, *VARIATIONS)[:4], (CAUSAL, *VARIATIONS)[4:])
    ]
    drawn = svg.document(N * PITCH + 5, height, _arcs(result), label=readout)
    return Picture("".join([*masks_to_choose, drawn, _table(result, height)]), readout, result.notice)


def _choices(names, result):
    """Draw masks as small as a thumbnail: dark where a query may attend."""
    for k, name in enumerate(names):
        x, chosen = 1 + k * CHOICE[0], name == result.variation
        width, left = CHOICE[0] - 4, 1 + k * CHOICE[0] + (CHOICE[0] - 4 - N * SQUARE) / 2
        mask = result.mask if name == CAUSAL and chosen else VARIATIONS.get(name, MUST_MOVE)
        cells = [(left + j * SQUARE, 6 + i * SQUARE, DARK if mask[i, j] else style.HIDDEN) for i, j in np.ndindex(N, N)]
        edge = (
            {"fill": style.PANEL, "stroke": style.INK, "stroke_width": 3}
            if chosen
            else {"fill": style.PAPER, "stroke": style.GRID}
        )
        drawn = svg.box(x, 1, width, CHOICE[1], **edge) + svg.boxes(cells, SQUARE, SQUARE)
        for line, words in enumerate(textwrap.wrap(name, 12)):
            y = 6 + N * SQUARE + 13 * (line + 1)
            size = style.MIN_SIZE if chosen else 11  # bold is wider
            drawn += svg.text(x + width / 2, y, words, anchor="middle", size=size, bold=chosen)
        yield marks.radio(drawn, {"mask": name}, name=f"mask: {name}")


def _arcs(result):
    """Draw a line from the changed token to each output that moves, red where the output comes before it."""
    token, middle = result.token, [1 + i * PITCH + TOKEN / 2 for i in range(N)]  # a frame at 0 would lose half its edge
    amounts = result.moved[:, token]
    start, end, largest = INPUT_Y, OUTPUT_Y + OUTPUT_HEIGHT, max(amounts.max(), NOTHING)
    lines, leaks = [], []
    for i, amount in enumerate(amounts):
        short = 0 if result.blind[i, token] else 9  # of the output: there stands the arrow's head
        below, above = middle[token], middle[i]
        curve = (below, start), (below, start - 90), (above, end + 90), (above, end + short)
        bend = 'd="M{} {}C{} {} {} {} {} {}"'.format(*(number for point in curve for number in point))
        width = 3 + 7 * amount / largest
        half = width / 2 + 6
        head = f'<path d="M{above} {end + 1}l{half:.1f} 12h{-2 * half:.1f}z"'
        drawn = f'<path class="mha-grow" {bend} fill="none" style="--whole:400" stroke-width="{width:.1f}"'
        if result.leaks[i, token]:
            # Three quarters along, where the lines to neighbouring outputs are a label's width apart.
            x, y = np.array([1, 9, 27, 27]) / 64 @ curve
            leaks += [
                f'{drawn} stroke="{style.ALARM}"/>{head} fill="{style.ALARM}"/>',
                svg.box(x - 21, y - 9, 42, 18, fill=style.ALARM),
                svg.text(x, y + 4, "LEAK", anchor="middle", bold=True, colour=style.PAPER, size=12),
            ]
        elif amount > NOTHING:
            lines.append(f'{drawn} stroke="{MOVES}"/>{head} fill="{MOVES}"/>')
        elif result.blind[i, token]:
            lines.append(f'<path {bend} fill="none" stroke="{style.INK}" stroke-width="2" stroke-dasharray="2 6"/>')
    title = svg.text(0, 14, f"Change “{WORDS[token]}”: what moves?", bold=True)
    rows = [
        svg.text(0, OUTPUT_Y - 7, "outputs", size=12, colour=style.QUIET),
        svg.text(0, INPUT_Y + 43, "tokens", size=12, colour=style.QUIET),
    ]
    return [title, *rows, *lines, *leaks, *(_token(result, i, middle[i]) for i in range(N))]


def _token(result, i, middle):
    """Draw a token twice: its output above, and itself below."""
    amount, leaks = result.moved[i, result.token], result.leaks[i, result.token]
    blind, changed = result.blind[i, result.token], i == result.token
    moves = bool(amount > NOTHING)
    fill = style.tint(style.ALARM, 0.2) if leaks else style.tint(MOVES) if moves else style.PAPER
    edge = {"stroke": style.INK, "dashed": bool(blind)}
    if moves:
        edge = {"stroke": style.ALARM if leaks else MOVES, "stroke_width": 3}
    readout = ["blind"] if blind else ["moved", number(amount)] if moves else ["still"]
    x = middle - TOKEN / 2
    output = [
        svg.box(x, OUTPUT_Y, TOKEN, OUTPUT_HEIGHT, fill=fill, **edge),
        svg.text(middle, OUTPUT_Y + 17, WORDS[i], anchor="middle", bold=moves),
        *(
            svg.text(middle, OUTPUT_Y + 33 + 14 * k, line, anchor="middle", size=12, bold=bool(leaks or blind))
            for k, line in enumerate(readout)
        ),
    ]
    leaks_somewhere = svg.text(middle, INPUT_Y + 43, "leaks", anchor="middle", bold=True, colour=style.ALARM, size=12)
    token = [
        svg.box(
            x, INPUT_Y, TOKEN, 28, fill=style.tint(style.INK, 0.15) if changed else style.PANEL,
            stroke=style.INK, stroke_width=3 if changed else 1,
        ),
        svg.text(middle, INPUT_Y + 19, WORDS[i], anchor="middle", bold=changed),
    ]  # fmt: skip
    # What shakes is what is said to move: that of the token which is changed.
    moved = np.flatnonzero(result.moved[:, i] > NOTHING) if changed else ()
    shaken = [f"token {WORDS[i]}", *(f"output {WORDS[row]}" for row in moved)]
    held = shakes(marks.part("".join(token), f"token {WORDS[i]}"))
    by = 1 + 4 * amount / max(result.moved[:, result.token].max(), NOTHING)  # as far as it moves
    below = leaks_somewhere if result.leaks[:, i].any() else ""
    return (
        marks.part(shakes("".join(output), by), f"output {WORDS[i]}")
        + below
        + marks.radio(held, {"token": WORDS[i]}, sweep="tokens", name=f"token {WORDS[i]}", lights=shaken)
    )


def _table(result, height):
    """Draw how far each output moves for each token, with every leak and every blind cell framed."""
    largest, top = max(result.moved.max(), NOTHING), svg.TITLE_HEIGHT + svg.HEADER_HEIGHT
    parts = [
        svg.matrix(
            result.moved, 0, 0, title="Every token changed in turn", row_labels=WORDS, column_labels=WORDS,
            colours=palette.score_colours(largest), label_width=LABEL, cell=CELL,
            column=result.token, hidden=~MUST_MOVE & ~result.leaks,
        )
    ]  # fmt: skip
    for cells, colour, dashed in ((result.leaks, style.ALARM, False), (result.blind, style.INK, True)):
        for i, j in np.argwhere(cells):
            x, y = LABEL + j * CELL[0] + 2, top + i * CELL[1] + 2
            parts.append(svg.box(x, y, CELL[0] - 4, CELL[1] - 4, stroke=colour, stroke_width=3, dashed=dashed))
    for i, j in np.argwhere(result.differs["mask"]) if result.differs else ():
        parts.append(svg.difference(LABEL + j * CELL[0], top + i * CELL[1], *CELL))
    for j, word in enumerate(WORDS):
        column = svg.box(
            LABEL + j * CELL[0], svg.TITLE_HEIGHT, CELL[0], svg.HEADER_HEIGHT + N * CELL[1], fill="transparent"
        )
        parts.append(marks.alias(column, {"token": word}))
    y = top + N * CELL[1]
    parts += [
        svg.text(0, y + 18, "Row: output. Column: the token that is changed.", size=11, colour=style.QUIET),
        svg.text(0, y + 33, "Number: how far the output moves.", size=11, colour=style.QUIET),
        svg.box(9, y + 43, 14, 14, stroke=style.ALARM, stroke_width=3),
        svg.text(30, y + 55, "leak: it moves and must not", size=12),
        svg.box(9, y + 63, 14, 14, stroke=style.INK, stroke_width=3, dashed=True),
        svg.text(30, y + 75, "blind: it should move and does not", size=12),
        svg.hidden_cell(8, y + 82, 16, 16),
        svg.text(30, y + 95, "grey: it must stay still, and does", size=12),
    ]
    return svg.document(282, height, parts, label="How far each output moves when each token is changed.")


def leak_detector(function: Callable | None = None) -> Lab:
    """Show the leak detector: which outputs move when one token is changed.

    Parameters
    ----------
    function : callable, optional
        The learner's `causal_mask(n) -> bool (n, n)`. While it is a stub the course's own is shown, and the
        lab says so.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = leak_detector()
    >>> lab.controls["mask"].value = "one too far"
    >>> "A leak: output “mat” comes before it." in lab.readout.value
    True
    """
    controls = {"token": radio("token changed", WORDS, "because"), "mask": radio("mask", [CAUSAL, *VARIATIONS])}
    return Lab(
        name="leak_detector",
        title="leak detector",
        task="Take hold of a token: which outputs shake with it? Then change the mask: which one lets the future leak?",
        controls=controls,
        form=Form(
            rows=([controls["token"], Lab.BUTTONS], [controls["mask"]]),
            on_picture=("token", "mask"),
        ),
        compute=compute,
        render=render,
        function=function,
        exercise=exercises.causal_mask,
    )
