"""Mask studio: click a mask together, and see what each way of applying it makes of the weights."""

from collections.abc import Callable
from dataclasses import dataclass

import ipywidgets
import numpy as np

from function_judge.compare import close
from live_pictures import marks, style, svg
from live_pictures.card import Picture
from live_pictures.controls import check_box, dropdown, folded, radio, whole_number
from live_pictures.options import Form, StaticPage
from live_pictures.style import number
from mha_helpers import attention, exercises, masks, running_example
from mha_helpers.drawing import palette
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.learner_function import run_for_lab
from mha_helpers.labs.number_ranges import listed

WORDS = running_example.TOKENS
N, D_HEAD = len(WORDS), 8

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
USUAL = {"when": BEFORE, "hiding value": "−inf", "added to all scores": "0"}  # else the scores are shown, too
CONVERTED, AS_IT_IS = "converted", "as it is"
ZEROS = "zero weights"
NOTHING = 1e-9  # a weight that nobody would call one

# Queries, keys and values: the running example's head, and six features more. The last is there for the constant: it
# adds queries[-1] * keys[-1] / sqrt(d_head) to every score. With queries twice as long, sqrt(8) divides them as sqrt(2)
# does in the notebook, so that the numbers are the notebook's.
_HEAD = [running_example.X @ matrix for matrix in running_example.first_head()]
TOKEN_VECTORS = np.pad(np.stack(_HEAD) * np.reshape([2, 1, 1], (3, 1, 1)), ((0, 0), (0, 0), (0, 6)))
PAD_VECTORS = np.pad([[1.0, 0], [2, 0], [-2, -1]], ((0, 0), (0, 6)))[:, None]


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
    misplaced: np.ndarray  # how much of it is on keys that should be hidden
    notice: str
    differs: dict


def entry(query, key):
    """Name the control of one cell, as a screen reader says it; two tokens are never the same word here."""
    return f"{WORDS[query]} sees {WORDS[key]}"


def cells(mask):
    """Return the controls' values that make a mask."""
    return {entry(i, j): bool(value) for (i, j), value in np.ndenumerate(mask)}


def words_shown(state):
    """Return the tokens, "pad" beyond the sentence's length."""
    return (*WORDS[: state["length"]], *["pad"] * (N - state["length"]))


def attention_inputs(state):
    """Return the queries, keys and values."""
    is_token = np.arange(N) < state["length"]
    queries, keys, values = np.where(is_token[:, None], TOKEN_VECTORS, PAD_VECTORS)
    queries[:, -1], keys[:, -1] = 1, CONSTANTS[state["added to all scores"]] * D_HEAD**0.5
    return {"queries": queries, "keys": keys, "values": values}


def compute(state, function=None):
    """Compute scores and weights from the controls' values."""
    padding = masks.padding_mask((np.arange(N) < state["length"])[None].astype(int))[0, 0]
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
        found = run_for_lab(function, attention.masked_attention, inputs | {"mask": mask}, ("context", "weights"))
        weights, notice, differs = found.arrays[1], found.notice, found.differs
    with np.errstate(invalid="ignore"):  # a learner's weights may be infinite
        sums = weights.sum(axis=-1)
    misplaced = np.where(~intended & np.isfinite(weights), weights, 0).sum(axis=-1)
    return Result(state, words_shown(state), intended, mask, scores, weights, sums, misplaced, notice, differs)


def sentence(result):
    """Describe the picture."""
    state, empty = result.state, ~result.mask.any(axis=-1)
    parts = [f"{(~result.mask).sum()} of {N * N} cells hidden.", *_padding(result)]
    if (result.mask != result.intended).any():
        parts.append("Handed over as it is, the mask is read the wrong way round: it shows what it should hide.")
    elif state["handed over"] == AS_IT_IS:
        parts.append("Handed over as it is, the mask happens to be read rightly.")

    parts += [*_empty_rows(result, empty), *_wrong_sums(result, empty)]
    if close(result.sums, 1).all():
        parts.append(f"Each row {'sums' if result.mask.all() else 'still sums'} to 1.")

    misplaced = np.where(empty, 0, result.misplaced)
    if misplaced.max() > NOTHING:
        row = close(misplaced, misplaced.max()).argmax()
        most = number(misplaced[row]) if misplaced[row] >= 0.005 else "less than 0.01"
        where = f"row {row} “{result.words[row]}”"
        parts.append(f"Hidden keys get up to {most} of a row's weight ({where}){_reason(result)}.")
    return " ".join(parts)


def _empty_rows(result, empty):
    """Say what becomes of rows that see nothing."""
    rows_of = {}
    for row in np.flatnonzero(empty):
        rows_of.setdefault(_nothing_seen(result.weights[row]), []).append(row)
    for kind, rows in rows_of.items():
        by_course = kind == ZEROS and result.state["when"] == BEFORE and not result.differs
        why = ", where a plain softmax gives NaN" if by_course else ""
        yield f"{_rows(result, rows)} {'see' if rows[1:] and len(rows) < N else 'sees'} nothing: {kind}{why}."


def _wrong_sums(result, empty):
    """Say which other rows do not sum to 1."""
    wrong = np.flatnonzero(~close(result.sums, 1) & ~empty)
    if wrong.size:
        ends = dict.fromkeys(_sum(end) for end in (result.sums[wrong].min(), result.sums[wrong].max()))
        why = ": weights were hidden after the softmax" if result.state["when"] == AFTER else ""
        verb = "sum" if 1 < wrong.size < N else "sums"
        yield f"{_rows(result, wrong)} {verb} to {'–'.join(ends)}, not 1{why}."


def _padding(result):
    """Say what "pad" is."""
    if result.state["length"] < N:
        yield "“pad” is no word: it makes the sentence as long as others, so no query may look at it."


def _rows(result, rows):
    if len(rows) == 1:
        return f"Row {rows[0]} “{result.words[rows[0]]}”"
    return "Every row" if len(rows) == N else f"Rows {listed(rows)}"


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


CELL, LABEL = (48, 44), 60  # of the one grid: a cell, and the room for the queries' names
GRID_TOP = svg.TITLE_HEIGHT + svg.HEADER_HEIGHT
SCORE, SCORE_LABEL = (44, 26), 60
DROP = 24  # the radius of a whole weight that flows from one key to another


def render(result):
    """Draw a result: one grid of weights, which the check boxes lie on, and the scores that the softmax gets."""
    readout, before = sentence(result), result.state["when"] == BEFORE
    right = LABEL + N * CELL[0] + 8
    heading = f"Weights{': press and sweep' if before else ', hidden after the softmax'}"
    parts = [
        svg.text(LABEL, 14, heading, bold=True),
        _keys(result, "weights"),
        *_weights(result).values(),
        svg.text(right, GRID_TOP - 6, "sum", size=12),
        svg.text(0, GRID_TOP - 20, "key →", size=11, colour=style.QUIET),
        svg.text(0, GRID_TOP - 6, "query ↓", size=11, colour=style.QUIET),
    ]  # fmt: skip
    for i, j in np.ndindex(N, N):
        x, y = LABEL + j * CELL[0], GRID_TOP + i * CELL[1]
        parts.append(marks.switch(svg.box(x, y, *CELL), entry(i, j), sweep="mask"))
    for k, word in enumerate(WORDS):
        row = svg.box(0, GRID_TOP + k * CELL[1], LABEL - 2, CELL[1], fill="transparent")
        column = svg.box(LABEL + k * CELL[0], GRID_TOP - 26, CELL[0], 25, fill="transparent")
        parts.append(marks.switch(row, line(True, queries=[k]), line(False, queries=[k]), name=f"{word} sees all"))
        parts.append(marks.switch(column, line(True, keys=[k]), line(False, keys=[k]), name=f"all see {word}"))
    below = GRID_TOP + N * CELL[1]
    parts.append(_edge(result, below))
    below += 28
    if "context" in result.differs and "weights" not in result.differs:
        parts.append(svg.text(0, below + 14, "≠ The weights are right, and the context is not.", size=12))
    drawn = svg.document(right + 34, below + 18, parts, label=readout)
    return Picture(drawn + _right_half(result), readout, result.notice)


def line(visible, queries=range(N), keys=range(N)):
    """Return the controls' values that show or hide a row or a column."""
    return {entry(i, j): visible for i in queries for j in keys}


def _keys(result, matrix):
    """Draw the keys above the weights or the scores."""
    left, (width, _) = (LABEL, CELL) if matrix == "weights" else (SCORE_LABEL, SCORE)
    words = (
        svg.text(left + (j + 0.5) * width, GRID_TOP - 6, word, anchor="middle", size=12)
        for j, word in enumerate(result.words)
    )
    stripes = (svg.box(left + j * width + 1, GRID_TOP - 4, width - 2, 3, fill=_fill(result, j)) for j in range(N))
    return marks.part("".join([*words, *stripes]), f"keys of the {matrix}")


def _fill(result, key):
    """Return a key's colour; padding is no word and has none."""
    return palette.token_fill(key) if key < result.state["length"] else style.HIDDEN


def _is_misplaced(result):
    """Return where weight is, or NaN, and none should be."""
    return ~result.intended & ~(np.abs(result.weights) < NOTHING)


def _weights(result):
    """Draw each row of the grid of weights, with its sum."""
    misplaced = _is_misplaced(result)
    differs, right, rows = result.differs.get("weights"), LABEL + N * CELL[0] + 8, {}
    for i, word in enumerate(WORDS):
        top = GRID_TOP + i * CELL[1]
        parts = [
            svg.matrix(
                result.weights[i : i + 1], 0, top - svg.TITLE_HEIGHT, title="", colours=palette.weight_colour,
                row_labels=result.words[i : i + 1], label_width=LABEL, cell=CELL,
                hidden=(~result.intended & ~misplaced)[i : i + 1],
                differs=None if differs is None else differs[i : i + 1],
            )
        ]  # fmt: skip
        for j in np.flatnonzero(misplaced[i]):
            x, ink = LABEL + j * CELL[0], style.text_colour(palette.weight_colour(result.weights[i, j]))
            parts.append(svg.box(x + 3, top + 3, CELL[0] - 6, CELL[1] - 6, stroke=style.ALARM, stroke_width=3))
            hidden = svg.text(x + CELL[0] / 2, top + 16, "hidden", anchor="middle", size=11, bold=True, colour=ink)
            parts.append(hidden)
        parts += _freed(result, i, top)
        sees_nothing = not result.mask[i].any() and close(result.sums[i], 0)
        value, is_whole = result.sums[i], close(result.sums[i], 1) or sees_nothing
        colour, y = style.INK if is_whole else style.ALARM, top + CELL[1] / 2 + 5
        parts.append(svg.text(right, y, number(value) if is_whole else _sum(value), bold=not is_whole, colour=colour))
        if not is_whole:
            parts.append(svg.text(right, y + 15, "not 1", size=12, colour=colour, bold=True))
        rows[f"weights {word}"] = marks.part("".join(parts), f"weights {word}")
    return rows


def _freed(result, i, top):
    """Draw what each hidden key had, in drops as large as what the others get of it: they flow when it is hidden."""
    is_usual = all(result.state[name] == usual for name, usual in USUAL.items()) and "weights" not in result.differs
    visible = np.flatnonzero(result.mask[i])
    if not is_usual or result.state["handed over"] == AS_IT_IS:
        return
    for hidden in range(result.state["length"]):
        if result.mask[i, hidden]:
            continue
        seen = result.mask[i] | (np.arange(N) == hidden)
        before = attention.softmax(np.where(seen, result.scores[i], -np.inf))
        for key in visible:
            gained = result.weights[i, key] - before[key]
            x, y = LABEL + (key + 0.5) * CELL[0], top + CELL[1] / 2
            drop = svg.circle(x, y, round(DROP * gained**0.5, 1), fill=_fill(result, hidden), stroke=style.INK)
            drop = drop.replace("<circle ", '<circle opacity="0" ', 1)
            yield marks.leaving(drop, entry(i, hidden), (int(hidden - key) * CELL[0], 0))


def _edge(result, y):
    """Draw a handle under the grid, where the padding begins."""
    track = [(LABEL + length * CELL[0], y + 16) for length in range(1, N + 1)]
    x, _ = track[result.state["length"] - 1]
    handle = f'<path d="M{x} {y + 2}l9 12v12h-18v-12z" fill="{style.PANEL}" stroke="{style.INK}" stroke-width="2"/>'
    readout = "padding from here:" if result.state["length"] < N else "← drag left for padding"
    words = svg.text(x - 14, y + 22, readout, anchor="end", size=11, colour=style.QUIET)
    if result.state["length"] < 2:  # there is no room on its left
        words = svg.text(x + 14, y + 22, "padding", size=11, colour=style.QUIET)
    drawn = marks.track(
        handle, "tokens before the padding", stops=[{"length": length} for length in range(1, N + 1)],
        points=track, part="edge of the padding", tip="Drag: what is right of it is padding.",
    )  # fmt: skip
    return marks.part(words + drawn, "padding")


NOTES = ("Grey: hidden, gets no weight.", "Red frame: hidden, but still gets weight.")
SHARE = (230, 18, 6)  # of a row's bar: its length, its height, and that of the thin one over it
SHARE_LABEL = 60


def _right_half(result):
    """Draw what each row's weight is shared out to; or what goes into the softmax, where that is not as usual."""
    if all(result.state[name] == usual for name, usual in USUAL.items()):
        title, notes = "Each row shares out 1.00", ["Colours: as under the keys' names."]
        rows, y = _shares(result).values(), GRID_TOP + N * CELL[1] + 14
        parts = [svg.text(SHARE_LABEL, 34, "thin: if nothing were hidden", size=12, colour=style.QUIET), *rows]
    else:
        title, added = "Scores into the softmax", result.state["added to all scores"]
        before = result.state["when"] == BEFORE
        notes = [f"grey: hidden, {result.state['hiding value']} instead" if before else "nothing is hidden yet"]
        notes += [f"{added} is added to every score,", "which changes no softmax"] if CONSTANTS[added] else []
        parts, y = [_keys(result, "scores"), *_score_rows(result)], GRID_TOP + N * SCORE[1] + 20
    notes += NOTES[: 1 + _is_misplaced(result).any()]
    parts.append(svg.text(SHARE_LABEL, 14, title, bold=True))
    parts += [svg.text(8, y + 19 * i, note, size=12, colour=style.QUIET) for i, note in enumerate(notes)]
    return svg.document(SHARE_LABEL + SHARE[0] + 8, y + 19 * len(notes), parts, label="How the weights come about.")


def _shares(result):
    """Draw each row's weights as pieces of one bar; a thin bar over it is what they would be without a mask."""
    length, height, thin = SHARE
    unmasked, drawn = attention.softmax(result.scores), {}
    for i, word in enumerate(WORDS):
        top = GRID_TOP + i * CELL[1] + (CELL[1] - height - thin - 3) / 2
        parts = [svg.text(SHARE_LABEL - 6, top + thin + 17, result.words[i], anchor="end", size=12)]
        for kind, weights, y, tall in (
            ("was", unmasked[i], top, thin),
            ("is", result.weights[i], top + thin + 3, height),
        ):
            shares = np.clip(np.nan_to_num(weights, posinf=1), 0, 1)  # a learner's may be anything
            ends = SHARE_LABEL + length * np.minimum(np.cumsum(shares), 1)
            for j, (left, right) in enumerate(zip([SHARE_LABEL, *ends], ends, strict=False)):
                piece = svg.box(left, y, right - left, tall, fill=_fill(result, j), stroke=style.INK)
                if right - left > 1:
                    parts.append(marks.part(piece, f"{word}: what {WORDS[j]} {kind} given"))
                if kind == "is" and right - left > 8 * len(result.words[j]):
                    middle = (left + right) / 2
                    parts.append(svg.text(middle, y + 14, result.words[j], anchor="middle", size=12))
        if not np.isfinite(result.weights[i]).all():
            parts.append(svg.text(SHARE_LABEL + 4, top + thin + 17, "not a number", size=12, colour=style.ALARM))
        elif result.sums[i] < 1 / length:
            parts.append(svg.text(SHARE_LABEL + 4, top + thin + 17, "to nobody", size=12))
        drawn[f"shares {word}"] = marks.part("".join(parts), f"shares {word}")
    return drawn


def _score_rows(result):
    """Draw each row of the scores."""
    constant, before = CONSTANTS[result.state["added to all scores"]], result.state["when"] == BEFORE
    around_zero = palette.score_colours(max(np.abs(result.scores - constant).max(), 1.0))
    return [
        svg.matrix(
            result.scores[i : i + 1], 0, GRID_TOP - svg.TITLE_HEIGHT + i * SCORE[1], title="",
            colours=lambda value: around_zero(value - constant), row_labels=result.words[i : i + 1],
            label_width=SCORE_LABEL, cell=SCORE, hidden=~result.mask[i : i + 1] & before,
        )
        for i in range(N)
    ]  # fmt: skip


def _of_length(result):
    """Draw what depends on the sentence's length alone, beside the rows, which say what has changed."""
    edge = _edge(result, GRID_TOP + N * CELL[1])
    return {"keys of the weights": _keys(result, "weights"), "padding": edge}, " ".join(_padding(result))


def row(i):
    """Return what draws one row of the picture, which depends on no other row's cells, and says what is in it."""

    def draw(result):
        drawn = _weights(result) | _shares(result)
        readout = _most_attended(result, i) if i < result.state["length"] else ""  # what padding asks helps nobody
        return {part: drawn[part] for part in (f"weights {WORDS[i]}", f"shares {WORDS[i]}")}, readout

    return draw


def _most_attended(result, i):
    """Say where most of a row's weight goes."""
    word, weights = result.words[i], result.weights[i]
    if not result.mask[i].any():
        return f"“{word}” sees nothing: zero weights."
    most = [result.words[j] for j in np.flatnonzero(close(weights, weights.max()))]
    return f"“{word}” gives {number(weights.max())} to {'each of ' if most[1:] else ''}{', '.join(most)}."


_ALL = np.ones((N, N), bool)
_PREFIX = masks.causal_mask(N)
_PREFIX[:2, :2] = True
PRESETS = {
    "causal": cells(masks.causal_mask(N)) | {"length": N},
    "nothing hidden": cells(_ALL) | {"length": N},
    "padding": cells(_ALL) | {"length": 3},
    "causal and padding": cells(masks.causal_mask(N)) | {"length": 3},
    "window of two": cells(masks.causal_mask(N) & ~np.tri(N, k=-2, dtype=bool)) | {"length": N},
    "prefix of two": cells(_PREFIX) | {"length": N},
    "everything hidden": cells(~_ALL) | {"length": N},
}


def mask_studio(function: Callable | None = None) -> Lab:
    """Show the mask studio: a mask to click, and the weights that it leaves.

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
    >>> lab.controls["mask"].value = "nothing hidden"
    >>> "0 of 25 cells hidden" in lab.readout.value
    True
    """
    grid = {name: check_box(name, value) for name, value in PRESETS["causal"].items() if name != "length"}
    boxes = ipywidgets.GridBox([*grid.values()], layout={"grid_template_columns": f"repeat({N}, 120px)"})
    preset = dropdown("mask", PRESETS)
    options = {
        "length": whole_number("tokens before the padding", N, 1, N, width="230px"),
        "when": radio("hidden", (BEFORE, AFTER)),
        "hiding value": radio("hiding value", HIDING),
        "added to all scores": radio("added to every score", CONSTANTS),
        "convention": radio("mask written as", WRITTEN_AS),
        "handed over": radio("handed over", (CONVERTED, AS_IT_IS)),
    }
    fold, others = folded("Other ways to hide", *options.values())
    lab = Lab(
        name="mask_studio",
        title="mask studio",
        task="Sweep over cells to hide keys, or press a word: where does the weight go?",
        extra_task="Then find a setting in which a hidden key gets weight.",
        controls={"mask": preset} | grid | options,
        form=Form(
            rows=([preset, Lab.BUTTONS, fold],),
            on_picture=(*grid, "length"),
            below=(boxes, others),
        ),
        compute=compute,
        render=render,
        function=function,
        exercise=exercises.masked_attention,
        on_change={"mask": lambda change: lab.set(**PRESETS[change["new"]])},
        page=StaticPage(
            kernel_only="other ways to hide, and ready-made masks",
            pieces={("length",): _of_length} | {(*(entry(i, j) for j in range(N)), "length"): row(i) for i in range(N)},
        ),
    )
    return lab
