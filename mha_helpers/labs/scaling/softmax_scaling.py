"""Softmax and sqrt(d_k): scores spread with d_k, and softmax of widely spread scores saturates."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import ipywidgets
import numpy as np

from live_pictures import marks, style, svg
from live_pictures.card import EDGE, Picture
from live_pictures.chips import HEIGHT as CHIP
from live_pictures.chips import chip, grip, tick_box
from live_pictures.controls import folded, radio
from live_pictures.options import Form, StaticPage
from live_pictures.style import number
from mha_helpers import attention, exercises, measures
from mha_helpers.drawing import palette
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.learner_function import run_for_lab

N_KEYS, N_SEQUENCES, N_DRAWS = 8, 25, 30
N_ROWS = N_SEQUENCES * N_KEYS  # a row of scores for each query
D_KS = tuple(2**power for power in range(10))
SEED, SHOWN = 2, 68  # and the row that is shown: of the first draw one that spreads as rows do on average
KEYS = [f"key {j}" for j in range(N_KEYS)]
D_MODEL = 512
UNSCALED = "none"
DIVISORS = {
    UNSCALED: lambda d_k: 1.0,
    "sqrt(d_k)": math.sqrt,
    "d_k": float,
    "sqrt(d_model)": lambda d_k: math.sqrt(D_MODEL),
}
# From this share of the scaled rows' gradient on, the read-out calls the divisor unimportant.
HARDLY_WORSE = 0.9
MEASURES = ("entropy", "largest weight", "Jacobian, size")


@dataclass(frozen=True)
class Result:
    """One query's scores and weights, and what is usual at the same d_k."""

    d_k: int
    divided_by: str  # a key of DIVISORS
    divisor: float
    added: int
    raw: np.ndarray  # one query's scores with the keys
    scores: np.ndarray  # divided, and with the constant: what goes into softmax
    spread: float  # the standard deviation of all rows' raw scores
    weights: np.ndarray
    measured: np.ndarray  # the MEASURES of these weights
    undivided: np.ndarray  # the weights of the raw scores, by the course's softmax
    undivided_measured: np.ndarray  # and their MEASURES
    usual: np.ndarray  # their means over N_ROWS rows, with the course's softmax
    scaled_norm: float  # the last of these when divided by sqrt(d_k)
    moved: float  # by how much the constant has changed a weight, at most
    exponentials: np.ndarray
    naive: np.ndarray
    stable: np.ndarray
    notice: str
    differs: dict


@functools.cache  # drawing is the slowest step, and a constant or another divisor needs no new draw
def sample_scores(draw, d_k):
    """Return the raw scores of N_ROWS queries, each with the keys of its own sequence; the one to show is the first.

    With a larger d_k they are the same queries and keys, and each has more numbers.
    """
    rng = np.random.default_rng([draw, SEED])
    queries, keys = rng.standard_normal((2, N_SEQUENCES, N_KEYS, D_KS[-1]))[..., :d_k]
    scores = attention.attention_scores(queries, keys).reshape(N_ROWS, N_KEYS)
    scores = np.roll(scores, -SHOWN, axis=0)
    scores.flags.writeable = False  # the same array is returned every time
    return scores


def measure(weights):
    """Return the MEASURES of each row of weights, in a last axis; NaN for a row that holds a negative one."""
    weights = np.where(weights < 0, np.nan, weights)
    found = measures.entropy(weights), weights.max(axis=-1), measures.jacobian_norm(weights)
    return np.stack(found, axis=-1)


def compute(state, function=None):
    """Compute every number that the lab shows from the controls' values."""
    d_k, added = state["d_k"], state["add"]
    divisor = DIVISORS[state["divisor"]](d_k)
    rows = sample_scores(state["draw"], d_k)
    raw = rows[0]
    scores = raw / divisor + added
    # A row of its own axis, so that a softmax over the wrong axis shows.
    found = run_for_lab(function, attention.softmax, {"scores": scores[None]}, ("weights",))
    weights = found.arrays[0][0]
    with np.errstate(all="ignore"):  # overflow is what the naive way is to show; a learner's weights may be anything
        exponentials = np.exp(scores)
        naive = exponentials / exponentials.sum()
        shifted = np.exp(scores - scores.max())
        measured = measure(weights)
        moved = float(np.abs(weights - attention.softmax(raw / divisor)).max())
        undivided = attention.softmax(raw)
    return Result(
        d_k, state["divisor"], divisor, added, raw, scores, spread=float(rows.std()), weights=weights,
        measured=measured, undivided=undivided, undivided_measured=measure(undivided), moved=moved,
        usual=measure(attention.softmax(rows / divisor)).mean(axis=0),
        scaled_norm=float(measures.jacobian_norm(attention.softmax(rows / math.sqrt(d_k))).mean()),
        exponentials=exponentials, naive=naive, stable=shifted / shifted.sum(), notice=found.notice,
        differs=found.differs,
    )  # fmt: skip


def sentence(result):
    """Describe the picture."""
    spread = number(result.spread)
    if result.divided_by == UNSCALED:
        readout = [f"Not divided, at d_k = {result.d_k}, the scores spread by {spread} (sqrt(d_k) = {_root(result)})."]
    else:
        now = number(result.spread / result.divisor)
        readout = [
            f"Divided by {_divisor(result)}, at d_k = {result.d_k}, the scores spread by {now} instead of {spread}."
        ]
    readout.append(_weights_in_words(result))
    if result.divided_by == UNSCALED and result.usual[-1] > HARDLY_WORSE * result.scaled_norm:
        readout.append(f"At d_k = {result.d_k} a divisor hardly matters.")
    if result.added and result.moved < 1e-9:
        readout.append(f"Adding {number(result.added, 0)} to every score has changed no weight.")
    if not np.isfinite(result.naive).all():
        readout.append("Naive exp(s) / sum gives NaN.")
    return " ".join(readout)


def _divisor(result):
    says_size = f" (d_model = {D_MODEL})" if "model" in result.divided_by else ""
    return f"{result.divided_by} = {result.divisor:.4g}{says_size}"


def _root(result):
    return f"{math.sqrt(result.d_k):.4g}"


def _weights_in_words(result):
    if not np.isfinite(result.weights).all():
        return "The weights hold NaN or infinity, so they cannot be measured."
    with np.errstate(over="ignore"):
        total = result.weights.sum()
    if abs(total - 1) > 1e-3 or result.weights.min() < 0:
        return f"These are no weights: they must be 0 or more and sum to 1, and their sum is {total:.4g}."
    entropy, largest, norm = result.measured
    if norm < 0.05:
        verdict = "a nudge moves hardly anything"
    elif norm < 0.2:
        verdict = "a nudge moves little"
    elif entropy > 0.98 * math.log(N_KEYS):
        verdict = f"the weights are nearly equal (1/{N_KEYS} each), and no key stands out"
    else:
        verdict = "the weights differ, and a nudge still moves them"
    return f"The largest weight is {number(largest)}: {verdict}."


def _naive_in_words(result):
    largest = number(result.scores.max(), 1)
    if np.isfinite(result.naive).all():
        return f"Both ways agree: the largest, exp({largest}), is still a float (the limit is exp(709.78))."
    overflows = np.isinf(result.exponentials).any()
    size, limit, gives = ("large", "709.78", "inf") if overflows else ("small", "−745.1", "0")
    return f"exp({largest}) is too {size} for a float (limit: exp({limit})): {gives}; {gives} / {gives} is NaN."


WIDTHS, HEIGHTS = (336, 308), (262, 336)  # of the two pictures
TRACK, STOP = (46, 48), 30  # of d_k: where its first value stands, and from one to the next
ZERO, REACH = 166, 150  # where the lines of scores have 0, and how far they go either way
LIMIT = 40  # the score at their ends, for every d_k: what is further out stands there
UNDIVIDED_Y, DIVIDED_Y = 120, 178  # the two lines
FLOOR, MAX_BAR, COLUMN = 168, 110, 34  # the bars' floor, their height for 1, and their pitch
DIVIDED, GHOST = palette.SEQUENTIAL[4], style.QUIET
MIN_GHOST = 0.02  # an undivided weight below this would be a smudge on the floor
MAX_RATIO = 999  # of two weights, as a number
TICKS = (-40, -20, 0, 20, 40)
CHIPS = {"sqrt(d_k)": (0, 120), "d_k": (146, 56), "sqrt(d_model)": (206, 122)}  # left, and width


def render(result):
    """Draw a result: dots and bars as they are divided, before ghosts of what they were undivided."""
    readout = sentence(result)
    drawn = svg.document(WIDTHS[0], HEIGHTS[0], [*_d_k(result), *_line(result), *_divisors(result)], label=readout)
    drawn += svg.document(WIDTHS[1], HEIGHTS[1], [*_bars(result), *_table(result, FLOOR + 76)], label="The weights.")
    if result.added:
        drawn += svg.document(490, 130, _two_ways(result, 4), label="Softmax in two ways.")
    return Picture(drawn, readout, result.notice)


def _d_k(result):
    """Draw a ruler of d_k, with a handle."""
    x, y = TRACK
    track = [(x + k * STOP, y) for k in range(len(D_KS))]
    yield svg.text(0, 14, f"One query's scores with {N_KEYS} keys", bold=True)
    yield svg.text(0, y + 5, "d_k", bold=True)
    yield svg.line(x, y, track[-1][0], y, colour=EDGE, width=3)
    for d_k, (at, _) in zip(D_KS, track, strict=True):
        yield svg.line(at, y - 4, at, y + 4, colour=EDGE)
        bold = d_k == result.d_k
        yield svg.text(at, y + 26, d_k, anchor="middle", size=12 if bold else 11, bold=bold)
    yield grip("d_k", track)
    at = track[D_KS.index(result.d_k)][0]
    handle = svg.circle(at, y, 11, fill=DIVIDED, stroke=style.PAPER)
    stops = [{"d_k": d_k} for d_k in D_KS]
    yield marks.track(handle, "d_k", stops=stops, points=track, part="d_k", tip="Drag: how many numbers a key has.")


def _divisors(result):
    """Draw the switch that divides the scores, and beside it what else they could be divided by."""
    y = HEIGHTS[0] - 32
    for name, (x, width) in CHIPS.items():
        on = name == result.divided_by
        if name == "sqrt(d_k)":
            drawn = tick_box(x + 4, y, "÷ sqrt(d_k)", on=on) + svg.box(x, y, width, CHIP, fill="transparent")
            drawn = (
                svg.box(x, y, width, CHIP, fill=style.tint(DIVIDED, 0.3) if on else style.PANEL, stroke=EDGE) + drawn
            )
        else:
            drawn = chip(x, y, width, f"÷ {name}", chosen=on, colour=DIVIDED)
        yield marks.switch(drawn, {"divisor": name}, {"divisor": UNSCALED}, name=f"divide by {name}")
    yield svg.text(126, y + 18, "or", size=12, colour=style.QUIET)


def _line(result):
    """Draw the scores as they are, and below where the divisor pulls them; undivided, that line waits for them."""
    unit = REACH / LIMIT

    def places(values):
        return ZERO + unit * np.clip(values, -LIMIT, LIMIT)

    scores, is_divided = result.raw / result.divisor, result.divided_by != UNSCALED
    lines = [(UNDIVIDED_Y, "undivided", result.spread), (DIVIDED_Y, _by(result), result.spread / result.divisor)]
    parts = []
    for y, name, spread in lines if is_divided else lines[:1]:
        band = unit * min(spread, LIMIT)
        parts.append(marks.part(svg.box(ZERO - band, y - 11, 2 * band, 22, fill=palette.SEQUENTIAL[1]), f"band {name}"))
        parts.append(svg.text(0, y - 15, name, size=12, bold=y == DIVIDED_Y))
    if not is_divided:
        parts.append(svg.text(0, DIVIDED_Y - 15, "÷ ?", size=12, colour=style.QUIET))
    for y in (UNDIVIDED_Y, DIVIDED_Y):
        axis = "".join(f"M{ZERO + unit * tick:g} {y - 5}v10" for tick in TICKS)
        colour = style.QUIET if is_divided or y == UNDIVIDED_Y else style.GRID
        parts.append(f'<path d="M{ZERO - REACH} {y}h{2 * REACH}{axis}" stroke="{colour}"/>')
    for tick in TICKS:
        readout = f"{tick}".replace("-", "−")
        parts.append(svg.text(ZERO + unit * tick, DIVIDED_Y + 25, readout, anchor="middle", size=11))
    parts.append(svg.box(0, DIVIDED_Y + 33, 10, 10, fill=palette.SEQUENTIAL[1]))
    parts.append(svg.text(14, DIVIDED_Y + 42, "± spread, over many queries", size=11, colour=style.QUIET))
    y = DIVIDED_Y if is_divided else UNDIVIDED_Y
    for j, (raw, place) in enumerate(zip(places(result.raw), places(scores), strict=True)):
        ring = f'<circle cx="{raw:.1f}" cy="{UNDIVIDED_Y}" r="6" fill="{style.PAPER}" stroke="{GHOST}"'
        dot = f'<circle cx="{place:.1f}" cy="{y}" r="6" fill="{DIVIDED}" fill-opacity="0.75" stroke="{style.INK}"/>'
        pull = f'<path d="M{raw:.1f} {UNDIVIDED_Y + 6}L{place:.1f} {DIVIDED_Y - 6}" stroke="{GHOST}"/>'
        parts += [pull, f'{ring} stroke-width="2"/>'] if is_divided else []
        parts.append(marks.part(dot, f"dot {j}"))
    largest = result.raw.argmax()
    x = min(places(result.raw[largest]), ZERO + REACH - 8)  # its name stays in the picture
    parts.append(svg.text(x, UNDIVIDED_Y - 14, KEYS[largest], anchor="middle", size=11, bold=True))
    return parts


def _by(result):
    return "undivided" if result.divided_by == UNSCALED else f"÷ {result.divisor:.4g}"


def _bars(result):
    """Draw the weights as bars; once divided, behind ghosts of the weights of the undivided scores."""
    parts = [svg.text(0, 14, "Weights = softmax(scores)", bold=True)]
    for level in (0, 0.5, 1):
        y = FLOOR - MAX_BAR * level
        parts.append(f'<path d="M0 {y:g}h{N_KEYS * COLUMN}" stroke="{style.GRID}"/>')
        parts.append(svg.text(N_KEYS * COLUMN + 3, y + 4, number(level, 1), size=11, colour=style.QUIET))
    parts.append(svg.text(N_KEYS * COLUMN + 3, FLOOR + 33, "score", size=11, colour=style.QUIET))
    parts.append(svg.text(WIDTHS[1], FLOOR + 50, "weight", anchor="end", size=11))
    equal = FLOOR - MAX_BAR / N_KEYS  # where no key stands out
    parts.append(f'<path d="M0 {equal:g}h{N_KEYS * COLUMN}" stroke="{style.INK}" stroke-dasharray="2 3"/>')
    parts.append(svg.text(N_KEYS * COLUMN + 3, equal, f"1/{N_KEYS}", size=11))
    scores = result.raw / result.divisor
    # A learner's weight may be anything: its bar ends at 0 or 1, the number on it says what it is.
    tall = MAX_BAR * np.nan_to_num(result.weights, nan=0, posinf=1, neginf=0).clip(0, 1)
    for j, weight in enumerate(result.weights):
        x, ghost = j * COLUMN, MAX_BAR * result.undivided[j]
        parts.append(svg.box(x + 7, FLOOR - tall[j], 20, tall[j], fill=DIVIDED, stroke=style.INK))
        if result.divided_by != UNSCALED and result.undivided[j] >= MIN_GHOST:
            parts.append(svg.box(x + 2, FLOOR - ghost, 30, ghost, stroke=GHOST, stroke_width=2, dashed=True))
        parts += [
            svg.text(x + 17, FLOOR + 17, KEYS[j], anchor="middle", size=11),
            svg.text(x + 17, FLOOR + 33, number(scores[j], 1), anchor="middle", size=11, colour=style.QUIET),
            svg.text(x + 17, FLOOR + 50, svg.short(weight, 2), anchor="middle", bold=True, size=12),
        ]
        if "weights" in result.differs and result.differs["weights"][0, j]:
            parts.append(svg.difference(x, FLOOR - MAX_BAR, COLUMN, MAX_BAR))
    if result.divided_by != UNSCALED:  # the tallest ghost says what they all are
        j = int(result.undivided.argmax())
        above = FLOOR - max(MAX_BAR * result.undivided[j], tall[j]) - 5
        for line, up in ((number(result.undivided[j]), 12), ("undivided", 0)):
            parts.append(
                svg.text(
                    min(max(j * COLUMN + 17, 30), 244), above - up, line, anchor="middle", size=11, colour=style.QUIET
                )
            )
    return parts


def _table(result, y):
    """Draw what the divisor does to the weights, in three numbers."""
    rows = {  # the size of the Jacobian is in the words of the core path
        "largest weight": lambda weights, measured: svg.short(measured[1], 2),
        "largest ÷ smallest": lambda weights, measured: _ratio(weights),
        "moved by a nudge": lambda weights, measured: svg.short(measured[2], 2),
    }
    alone = result.divided_by == UNSCALED  # then there is nothing to compare
    parts = [svg.text(268, y, _by(result), anchor="end", size=12, bold=True, colour=palette.head_text(0))]
    if not alone:
        parts.append(svg.text(184, y, "undivided", anchor="end", size=12, colour=style.QUIET))
    for i, (row, readout) in enumerate(rows.items()):
        top = y + 26 + 29 * i
        was, now = readout(result.undivided, result.undivided_measured), readout(result.weights, result.measured)
        parts += [
            svg.text(0, top, row, size=12),
            svg.text(268, top, now, anchor="end", size=20, bold=True, colour=palette.head_text(0)),
        ]
        if not alone:
            parts += [
                svg.text(184, top, was, anchor="end", size=16, colour=style.QUIET),
                svg.text(198, top, "→", anchor="middle", size=15),
            ]
    return parts


def _ratio(weights):
    """Say how much the keys are told apart: 1 is not at all."""
    least, most = weights.min(), weights.max()
    if not (np.isfinite(weights).all() and least >= 0 and most > 0):
        return "–"
    if most / MAX_RATIO > least:
        return f"> {MAX_RATIO}"
    return number(most / least, 1 if most / 10 < least else 0)


def _two_ways(result, top):
    """Draw what a naive softmax makes of scores to which something large is added."""
    return [
        svg.matrix(
            np.stack([result.exponentials, result.naive, result.stable]), 0, top,
            title=f"{number(result.added, 0)} added to every score: exp(s) / sum, and exp(s − max) / sum",
            colours=palette.role_colours("X"), row_labels=("exp(s)", "naive", "stable"), label_width=54,
            cell=(54, 24),
        ),
        svg.text(54, top + svg.TITLE_HEIGHT + 3 * 24 + 15, _naive_in_words(result), size=12),
    ]  # fmt: skip


def softmax_scaling(function: Callable | None = None) -> Lab:
    """Show the softmax and sqrt(d_k) lab: why attention divides its scores, and by what.

    Parameters
    ----------
    function : callable, optional
        The learner's `softmax(scores) -> weights`. While it is a stub the course's own is shown, and the lab
        says so.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = softmax_scaling()
    >>> lab.controls["divisor"].value = "sqrt(d_k)"
    >>> "Divided by sqrt(d_k) = 8, at d_k = 64, the scores spread by 1.0" in lab.readout.value
    True
    """
    controls = {
        "d_k": radio("d_k", D_KS, 64),
        "divisor": radio("divide the scores by", DIVISORS),
        "add": radio("add to every score", [-1000, 0, 10, 100, 1000], 0),
        # Not shown: the button draws another.
        "draw": ipywidgets.BoundedIntText(value=1, min=1, max=N_DRAWS, description="draw"),
    }
    fold, large = folded("Very large scores", controls["add"])
    return Lab(
        name="softmax_scaling",
        title="softmax and sqrt(d_k)",
        task="Drag d_k up: what happens to the scores, and to the weights? Then divide by sqrt(d_k).",
        controls=controls,
        actions={"Another query": lambda state: {"draw": state["draw"] % N_DRAWS + 1}},
        form=Form(
            rows=([controls["d_k"]], [controls["divisor"], Lab.BUTTONS, fold]),
            on_picture=("d_k", "divisor"),
            below=(large,),
        ),
        compute=compute,
        render=render,
        function=function,
        exercise=exercises.softmax,
        page=StaticPage(kernel_only="another query, and a number added to every score"),
    )
