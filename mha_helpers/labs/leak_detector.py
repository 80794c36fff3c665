"""Leak detector: change one token, and see which outputs notice."""

from dataclasses import dataclass

import ipywidgets
import numpy as np

from mha_helpers import attention, masks, probes
from mha_helpers.drawing import style, svg
from mha_helpers.drawing.style import number
from mha_helpers.labs.frame import Lab, Picture, listed
from mha_helpers.learner.answer import AGAIN, answer

WORDS = ("the", "cat", "sat", "on", "my", "mat", "all", "day")
N, D = len(WORDS), 4
TOKENS = {f"{i} {word}": i - 1 for i, word in enumerate(WORDS, 1)}
_rng = np.random.default_rng(40)
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
    """From the controls' values to how far each output moves."""
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

    return Result(TOKENS[state["token"]], variation, mask, probes.leaks(attend, X), notice, differs)


def _learners_mask(function):
    found = answer(function, masks.causal_mask, {"n": N}, ("mask",))
    (given,), (right,) = found.arrays, found.right
    strange = given[~np.isin(given, (0, 1))]
    if strange.size:
        why = f"yours holds {number(strange[0])} where True or False is asked for. {AGAIN}"
        return right.astype(bool), f"Shown with the course's own causal_mask: {why}", {}
    notice = found.notice
    if not (found.boolean or found.differs):
        notice += " It holds numbers where True and False are asked for; here they are read as booleans."
    return given.astype(bool), notice, found.differs


def sentence(result):
    """Say what is to be seen."""
    token, name = result.token, f"“{WORDS[result.token]}” (token {result.token + 1})"
    moves = np.flatnonzero(result.moved[:, token] > NOTHING)
    early, missing = (np.flatnonzero(cells[:, token]) for cells in (result.leaks, result.blind))
    if moves.size == 0:
        parts = [f"Changing {name} moves no output."]
    elif early.size or missing.size:
        parts = [f"Changing {name} moves {_outputs(moves)}."]
    else:
        parts = [f"No leak: changing {name} moves only {_outputs(moves)}."]
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
    one = f"output {rows[0] + 1} “{WORDS[rows[0]]}”"
    return one if len(rows) == 1 else f"outputs {listed(int(row) + 1 for row in rows)}"


def render(result):
    """Draw a result."""
    numbered = [f"{i} {word}" for i, word in enumerate(WORDS, 1)]
    label_width, top, cell, small_cell = 58, 4, (46, 40), (22, 22)
    drawn_width, drawn_height = svg.matrix_size(N, N, label_width=label_width, headed=True, cell=cell)
    mask_width, mask_height = svg.matrix_size(N, N, headed=True, cell=small_cell)
    largest = max(result.moved.max(), NOTHING)
    first_row = top + svg.TITLE_HEIGHT + svg.HEADER_HEIGHT
    parts = [
        svg.matrix(
            result.moved, 8, top, title="how far output i (row) moves when token j (column) changes",
            colours=lambda value: style.weight_colour(value / largest), row_labels=numbered, column_labels=WORDS,
            label_width=label_width, cell=cell, column=result.token,
            caption="Only keys and values are changed: queries stay as they are.",
        )
    ]  # fmt: skip
    for cells, word, colour in ((result.leaks, "LEAK", style.ALARM), (result.blind, "blind", style.INK)):
        for i, j in np.argwhere(cells):
            x, y = 8 + label_width + (j + 0.5) * cell[0], first_row + (i + 1) * cell[1]
            parts.append(svg.box(x - 16, y - 12, 32, 11, fill=colour))
            parts.append(svg.text(x, y - 3, word, anchor="middle", bold=True, colour=style.PAPER, size=9))
    parts += _bars(result, 8 + drawn_width + 14, first_row, cell[1])
    right = 858 - mask_width
    parts.append(_mask(result, right, top, small_cell))
    for i, line in enumerate(("LEAK: it moves and must not.", "blind: it should and does not.")):
        parts.append(svg.text(right, top + mask_height + 20 + 22 * i, line, size=12))
    drawn = svg.document(866, top + drawn_height + 4, parts, label=sentence(result))
    return Picture(drawn, sentence(result), result.notice)


def _bars(result, left, first_row, height):
    """Draw the chosen token's column as bars, with what each output does and should do."""
    amounts = result.moved[:, result.token]
    parts = [svg.text(left, first_row - 6, f"outputs, when “{WORDS[result.token]}” changes", bold=True, size=12)]
    for i, amount in enumerate(amounts):
        y = first_row + i * height
        if result.leaks[i, result.token]:
            said, colour = "LEAK: must not move", style.ALARM
        elif result.blind[i, result.token]:
            said, colour = "blind: should move", style.INK
        else:
            said, colour = ("moves" if amount > NOTHING else "stays, as it must"), style.QUIET
        length = 70 * amount / max(amounts.max(), NOTHING)
        parts.append(svg.box(left, y + 4, length, 12, fill=style.blend(style.SEQUENTIAL, 0.7), stroke=style.INK))
        parts.append(svg.text(left + length + 5, y + 15, number(amount), size=12))
        parts.append(svg.text(left, y + 30, said, bold=colour != style.QUIET, colour=colour, size=12))
    return parts


def _mask(result, left, top, cell):
    return svg.matrix(
        result.mask.astype(int), left, top, title="mask: 1 may attend", colours=lambda value: style.PAPER,
        column_labels=range(1, N + 1), cell=cell, decimals=0, hatched=~result.mask, differs=result.differs.get("mask"),
    )  # fmt: skip


def leak_detector(function=None):
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
    >>> "A leak: output 3 “sat” comes before it." in lab.picture.value
    True
    """
    controls = {
        "token": ipywidgets.SelectionSlider(
            options=list(TOKENS), value="4 on", description="token changed", style={"description_width": "initial"},
            layout={"width": "360px", "margin": "0 20px 0 0"},
        ),
        "mask": ipywidgets.SelectionSlider(
            options=[CAUSAL, *VARIATIONS], description="mask", style={"description_width": "initial"},
            layout={"width": "400px"},
        ),
    }  # fmt: skip
    return Lab(
        name="leak_detector",
        title="leak detector",
        task="Move the mask slider to the right: which masks let an output see what comes after it?",
        controls=controls,
        compute=compute,
        render=render,
        function=function,
    )
