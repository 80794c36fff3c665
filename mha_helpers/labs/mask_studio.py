"""Mask studio: click a mask together, and see what each way of applying it makes of the weights."""

from dataclasses import dataclass

import ipywidgets
import numpy as np

from mha_helpers import attention, masks
from mha_helpers.drawing import style, svg
from mha_helpers.drawing.style import number
from mha_helpers.labs.frame import Lab, Picture, in_a_row, listed
from mha_helpers.learner.answer import answer
from mha_helpers.learner.calling import close

SENTENCES = (
    ("the", "cat", "sat", "on", "my", "mat", "all", "day"),
    ("I", "saw", "a", "red", "fox", "run", "off", "home"),
)
N, D_HEAD = 8, 4

# Each way to write a mask: its name in `convert_mask`, and what a cell shows that may attend, and one that is hidden.
WRITTEN_AS = {
    "True attends": ("may attend", "T", "F"),
    "True hides": ("hidden", "F", "T"),
    "add 0 or −inf": ("additive", "0", "−inf"),
    "1 and 0": ("ones", "1", "0"),
}
HIDING = {"−inf": -np.inf, "−1e9": -1e9, "−1e4": -1e4, "0": 0.0, "−1e-9": -1e-9}
CONSTANTS = {"0": 0.0, "−15000": -15000.0}
BEFORE, AFTER = "before softmax", "after softmax"
CONVERTED, AS_IT_IS = "converted", "as it is"
ZEROS = "zero weights"

_rng = np.random.default_rng(242)
# Queries, keys and values. Quarters: so all scores are exact in float32, too, 15000 below 0 as well as around it.
TOKEN_VECTORS = (4 * _rng.normal(size=(len(SENTENCES), 3, N, D_HEAD))).round() / 4
PAD_VECTORS = (4 * _rng.normal(size=(3, 1, D_HEAD))).round() / 4


@dataclass(frozen=True)
class Result:
    """What one mask does to one sequence."""

    state: dict
    words: tuple
    intended: np.ndarray  # True where a query may attend, by the clicked cells and the padding
    mask: np.ndarray  # the same as attention reads what it is handed
    scores: np.ndarray  # before anything is hidden
    weights: np.ndarray
    sums: np.ndarray  # of each row of weights
    astray: np.ndarray  # how much of it is on keys that should be hidden
    notice: str
    differs: dict


def entry(query, key):
    """Name the control of one cell, counted from 1 as on the page."""
    return f"query {query + 1}, key {key + 1}"


def cells(mask):
    """Return the controls' values that make a mask."""
    return {entry(i, j): bool(value) for (i, j), value in np.ndenumerate(mask)}


def words_shown(state):
    """Return the shown sequence's tokens, "pad" beyond its length."""
    sequence = state["sequence shown"]
    length = state[f"length of sequence {sequence}"]
    return (*SENTENCES[sequence - 1][:length], *["pad"] * (N - length))


def attention_inputs(state):
    """Return the shown sequence's queries, keys and values."""
    sequence = state["sequence shown"]
    is_token = np.arange(N) < state[f"length of sequence {sequence}"]
    queries, keys, values = np.where(is_token[:, None], TOKEN_VECTORS[sequence - 1], PAD_VECTORS)
    # The last feature is there for the constant: it adds queries[-1] * keys[-1] / sqrt(d_head) to every score.
    queries[:, -1], keys[:, -1] = 1, CONSTANTS[state["added to all scores"]] * D_HEAD**0.5
    return {"queries": queries, "keys": keys, "values": values}


def compute(state, function=None):
    """From the controls' values to scores and weights."""
    lengths = np.array([[state["length of sequence 1"]], [state["length of sequence 2"]]])
    padding = masks.padding_mask((np.arange(N) < lengths).astype(int))[state["sequence shown"] - 1, 0]
    intended = np.array([[state[entry(i, j)] for j in range(N)] for i in range(N)]) & padding
    mask = intended
    if state["handed over"] == AS_IT_IS:
        written = masks.convert_mask(intended, given="may attend", wanted=WRITTEN_AS[state["convention"]][0])
        mask = written.astype(bool)

    inputs = attention_inputs(state)
    scores = attention.attention_scores(inputs["queries"], inputs["keys"]) / D_HEAD**0.5
    notice, differs = "Shown is a variation of the lab's own; your masked_attention runs before softmax, with −inf.", {}
    if state["when"] == AFTER:
        weights = attention.softmax(scores) * mask
    elif state["hiding value"] != "−inf":
        weights = attention.softmax(np.where(mask, scores, HIDING[state["hiding value"]]))
    else:
        found = answer(function, attention.masked_attention, inputs | {"mask": mask}, ("context", "weights"))
        weights, notice, differs = found.arrays[1], found.notice, found.differs
    with np.errstate(invalid="ignore"):  # a learner's weights may be infinite
        sums = weights.sum(axis=-1)
    astray = np.where(~intended & np.isfinite(weights), weights, 0).sum(axis=-1)
    return Result(state, words_shown(state), intended, mask, scores, weights, sums, astray, notice, differs)


def sentence(result):
    """Say what is to be seen."""
    state, empty = result.state, ~result.mask.any(axis=-1)
    parts = [f"{(~result.mask).sum()} of {N * N} cells hidden for sequence {state['sequence shown']}."]
    if (result.mask != result.intended).any():
        parts.append("Handed over as it is, the mask is read the wrong way round: it shows what it should hide.")
    elif state["handed over"] == AS_IT_IS:
        parts.append("Handed over as it is, the mask happens to be read rightly.")

    rows_of = {}
    for row in np.flatnonzero(empty):
        rows_of.setdefault(_nothing_seen(result.weights[row]), []).append(row)
    for kind, rows in rows_of.items():
        by_course = kind == ZEROS and state["when"] == BEFORE and not result.differs
        why = ", where a plain softmax gives NaN" if by_course else ""
        parts.append(f"{_rows(result, rows)} {'see' if rows[1:] and len(rows) < N else 'sees'} nothing: {kind}{why}.")

    wrong = np.flatnonzero(~close(result.sums, 1) & ~empty)
    if wrong.size:
        ends = dict.fromkeys(_sum(end) for end in (result.sums[wrong].min(), result.sums[wrong].max()))
        why = ": weights were hidden after the softmax" if state["when"] == AFTER else ""
        verb = "sum" if 1 < wrong.size < N else "sums"
        parts.append(f"{_rows(result, wrong)} {verb} to {'–'.join(ends)}, not 1{why}.")

    astray = np.where(empty, 0, result.astray)
    if astray.max() > 1e-9:
        row = close(astray, astray.max()).argmax()
        most = number(astray[row]) if astray[row] >= 0.005 else "less than 0.01"
        where = f"row {row + 1} “{result.words[row]}”"
        parts.append(f"Hidden keys get up to {most} of a row's weight ({where}){_reason(result)}.")
    return " ".join(parts)


def _rows(result, rows):
    if len(rows) == 1:
        return f"Row {rows[0] + 1} “{result.words[rows[0]]}”"
    return "Every row" if len(rows) == N else f"Rows {listed(row + 1 for row in rows)}"


def _nothing_seen(weights):
    """Say what a row of weights is that sees nothing."""
    if not np.isfinite(weights).all():
        return "NaN"
    if np.ptp(weights) > 1e-6:
        return f"weights that sum to {number(weights.sum())}"
    return ZEROS if abs(weights[0]) < 1e-6 else f"uniform weights, {number(weights[0], 3)} for each hidden key"


def _reason(result):
    """Say why weight lands on hidden keys, where it is the hiding value that lets it."""
    hiding = result.state["hiding value"]
    if result.state["when"] == AFTER or hiding == "−inf" or (result.mask != result.intended).any():
        return ""
    if result.state["added to all scores"] != "0":
        return f": {hiding} is outrun, for the other scores lie below it"
    return f": exp({hiding}) is {number(np.exp(HIDING[hiding]))}, not 0"


def _sum(value):
    """Write a sum that is not 1 so that it does not look like 1."""
    return number(value, 4) if number(value) == "1.00" else number(value)


def render(result):
    """Draw a result."""
    label_width, top, height = 42, 4, 26
    score_cell, weight_cell = (48, height), (36, height)
    (scores_width, drawn_height), (weights_width, _) = (
        svg.matrix_size(N, N, label_width=label_width, headed=True, cell=cell) for cell in (score_cell, weight_cell)
    )
    state, hidden = result.state, ~result.mask
    constant = CONSTANTS[state["added to all scores"]]
    around_zero = style.score_colours(max(np.abs(result.scores - constant).max(), 1.0))
    lefts = np.cumsum([8, scores_width + 12, weights_width + 8])
    first_row = top + svg.TITLE_HEIGHT + svg.HEADER_HEIGHT
    before = state["when"] == BEFORE
    labels = {"row_labels": result.words, "column_labels": result.words, "label_width": label_width}
    parts = [
        svg.matrix(
            np.where(hidden, -np.inf, result.scores) if before else result.scores, lefts[0], top,
            title="masked scores" if before else "scores", colours=lambda value: around_zero(value - constant),
            caption=f"hatched: hidden, {state['hiding value']} in its place" if before else "nothing is hidden yet",
            hatched=hidden & before, hatched_text=state["hiding value"], cell=score_cell, **labels,
        ),
        svg.matrix(
            result.weights, lefts[1], top, title=f"weights = softmax{'' if before else ', then hidden'}",
            colours=style.weight_colour, caption="hatched: hidden", hatched=hidden, cell=weight_cell,
            differs=result.differs.get("weights"), **labels,
        ),
        svg.text(lefts[2], first_row - 6, "sum", size=12),
    ]  # fmt: skip
    for i, (value, is_one) in enumerate(zip(result.sums, close(result.sums, 1), strict=True)):
        said, colour = (number(value), style.INK) if is_one else (f"{_sum(value)} not 1", style.ALARM)
        y = first_row + (i + 0.5) * height + 5
        parts.append(svg.text(lefts[2], y, said, bold=not is_one, colour=colour, size=12))
    below = top + drawn_height + 16
    notes = ["Rows: queries. Columns: keys."]
    if constant:
        notes.append(f"{state['added to all scores']} is added to all scores, which changes no softmax.")
    if "context" in result.differs and "weights" not in result.differs:
        notes.append("≠ The weights are right, and the context is not.")
    parts.append(svg.text(8, below, " ".join(notes), colour=style.QUIET, size=12))
    drawn = svg.document(864, below + 8, parts, label=sentence(result))
    return Picture(drawn, sentence(result), result.notice)


_ALL, _PREFIX = np.ones((N, N), bool), masks.causal_mask(N)
_PREFIX[:3, :3] = True
PRESETS = {
    "None": cells(_ALL) | {"length of sequence 1": N, "length of sequence 2": N},
    "Causal": cells(masks.causal_mask(N)),
    "Padding": cells(_ALL) | {"length of sequence 1": 8, "length of sequence 2": 5, "sequence shown": 2},
    "Window": cells(masks.causal_mask(N) & ~np.tri(N, k=-3, dtype=bool)),
    "Prefix": cells(_PREFIX),
    "Block": cells(np.kron(np.eye(2), np.ones((4, 4)))),
}


def mask_studio(function=None):
    """Show the mask studio: an 8 by 8 mask to click, and the weights that it leaves.

    Parameters
    ----------
    function : callable, optional
        The learner's `masked_attention(queries, keys, values, mask) -> (context, weights)`. While it is a
        stub the course's own is shown, and the lab says so.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = mask_studio()
    >>> lab.buttons["Causal"].click()
    >>> "28 of 64 cells hidden for sequence 1" in lab.picture.value
    True
    """
    # One layout for all cells: each would else bring its own to the browser.
    layout = ipywidgets.Layout(width="42px", height="24px", padding="0", margin="1px")
    toggles = {
        name: ipywidgets.ToggleButton(value=value, description="T", tooltip=name, layout=layout)
        for name, value in cells(_ALL).items()
    }
    settings = {
        "length of sequence 1": _slider("length of sequence 1", range(1, N + 1), 8),
        "length of sequence 2": _slider("length of sequence 2", range(1, N + 1), 5),
        "sequence shown": _slider("sequence shown", (1, 2), 1),
        "when": _slider("hidden", (BEFORE, AFTER), BEFORE),
        "hiding value": _slider("hiding value", HIDING, "−inf"),
        "added to all scores": _slider("added to all scores", CONSTANTS, "0"),
        "convention": _slider("mask written as", WRITTEN_AS, "True attends"),
        "handed over": _slider("handed over", (CONVERTED, AS_IT_IS), CONVERTED),
    }
    # Each word over the middle of its column, or close to its row.
    columns, rows = ([ipywidgets.Label(layout={"display": "flex", "justify_content": side, "margin": "0 3px 0 1px"})
                      for _ in range(N)] for side in ("center", "flex-end"))  # fmt: skip
    grid = [ipywidgets.Label(), *columns]
    for i, label in enumerate(rows):
        grid += [label, *(toggles[entry(i, j)] for j in range(N))]
    heading = ipywidgets.HTML("<b>The mask.</b> Rows: queries. Columns: keys.")
    grid = ipywidgets.GridBox(grid, layout={"grid_template_columns": "44px repeat(8, 44px)", "align_items": "center"})
    lab = Lab(
        name="mask_studio",
        title="mask studio",
        task="Click a mask (or Tab and Space). Then find a setting in which hidden keys still get weight.",
        controls=toggles | settings,
        actions={name: lambda state, values=values: values for name, values in PRESETS.items()},
        layout=(in_a_row([ipywidgets.VBox([*settings.values()]), ipywidgets.VBox([heading, grid])]),),
        compute=compute,
        render=render,
        function=function,
        buttons_first=True,  # Tab meets the presets before the 64 cells
    )

    def write(toggle):
        _, may_attend, hidden = WRITTEN_AS[settings["convention"].value]
        toggle.description = may_attend if toggle.value else hidden  # the same text again is not sent

    def write_all(_):
        for toggle in toggles.values():
            write(toggle)

    def name_tokens(_=None):
        for labels in (columns, rows):
            for label, word in zip(labels, words_shown(lab.state), strict=True):
                label.value = word

    # After the lab's own observers, so that the picture is the first to go to the browser.
    for toggle in toggles.values():
        toggle.observe(lambda change: write(change["owner"]), "value")
    settings["convention"].observe(write_all, "value")
    for name in ("length of sequence 1", "length of sequence 2", "sequence shown"):
        settings[name].observe(name_tokens, "value")
    name_tokens()
    return lab


def _slider(description, options, value):
    return ipywidgets.SelectionSlider(
        options=list(options), value=value, description=description, style={"description_width": "140px"},
        layout={"width": "414px"},
    )  # fmt: skip
