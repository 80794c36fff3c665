"""Shape tracer: say the shape of every array in multi-head attention, before NumPy does."""

import math
from dataclasses import dataclass

import ipywidgets
import numpy as np

from mha_helpers.drawing import style, svg
from mha_helpers.labs.card import NARROWEST, Picture
from mha_helpers.labs.controls import dropdown, whole_number
from mha_helpers.labs.frame import Lab
from mha_helpers.maths import attention

SIZES = ("B", "S", "d_model", "h")
AXES = tuple(f"axis {i}" for i in range(4))  # counted as in swapaxes(1, 2)
# What each axis counts, and its colour (Paul Tol's light scheme); S stands twice where tokens meet tokens.
COUNTS = {
    "B": "sequences in the batch",
    "S": "tokens",
    "d_model": "a token's features, all heads together",
    "h": "heads",
    "d_head": "one head's features, d_model / h",
    "S queries": "tokens that ask",
    "S keys": "tokens that are asked",
}
COLOURS = {"B": "#dddddd", "S": "#99ddff", "d_model": "#eedd88", "h": "#ffaabb", "d_head": "#bbcc33"}
SPLIT_AXES = ("B", "h", "S", "d_head")
# Each stage: what it is called, how it is made, its axes, and why its shape is what it is.
STAGES = (
    ("X", "the batch", ("B", "S", "d_model"), ""),
    ("Q", "X @ W_Q", ("B", "S", "d_model"), "a product changes the last axis only"),
    ("cut", "Q.reshape: features in h parts", ("B", "S", "h", "d_head"), "the last axis is cut in two"),
    ("queries", "cut.swapaxes(1, 2)", SPLIT_AXES, "heads go before tokens"),
    (
        "scores",
        "queries @ keys.swapaxes(2, 3)",
        ("B", "h", "S queries", "S keys"),
        "each query meets each key, and the product sums d_head away",
    ),
    ("weights", "softmax(scores / sqrt(d_head))", ("B", "h", "S queries", "S keys"), "softmax keeps every axis"),
    ("context", "weights @ values", SPLIT_AXES, "the product sums the keys away and brings the values' features"),
    ("swapped", "context.swapaxes(1, 2)", ("B", "S", "h", "d_head"), "tokens go before heads again"),
    ("merged", "swapped.reshape: side by side", ("B", "S", "d_model"), "h and d_head become one axis"),
    ("output", "merged @ W_O", ("B", "S", "d_model"), "as large as X"),
)
NOTICE = "Every shape is NumPy's own: each stage is run. The yellow row is yours to fill in."
NONE, SHOW = "none", "show"  # in the record: that there is no shape, and that the answer was asked for


@dataclass(frozen=True)
class Result:
    """How far the walk has come."""

    sizes: tuple  # B, S, d_model, h
    shapes: tuple  # of each stage, as NumPy has it; None for one that fails, and none after it
    errors: tuple  # where one fails: NumPy's own, and the course's
    guess: tuple
    tries: tuple  # of each stage that is done: the number of tries; 0 where it was shown
    last: tuple  # of what was last done: its stage, and the guess (None: shown); empty at first
    anew: bool  # whether there is a record, of other sizes

    @property
    def score(self):
        return self.tries.count(1)

    @property
    def stage(self):
        """The stage that is asked for; beyond the last one when all are done."""
        return len(self.tries) + 1


def trace(B, S, d_model, h):
    """Run multi-head attention on zeros.

    Returns
    -------
    shapes : tuple of (tuple of int or None)
        Of each stage; it ends with None where the heads do not divide the width.
    errors : tuple of str
        There, what NumPy says and what the course says; else empty.

    Examples
    --------
    >>> trace(2, 5, 12, 5)[1][1]
    'ValueError: d_model=12 is not divisible by n_heads=5; choose 1, 2, 3, 4, 6 or 12 heads'
    """
    X, W = np.zeros((B, S, d_model)), np.zeros((d_model, d_model))
    Q = X @ W
    errors = []
    for cut in (lambda: Q.reshape(B, S, h, d_model // h), lambda: attention.split_heads(Q, h)):
        try:
            cut()
        except ValueError as error:
            errors.append(f"ValueError: {error}")
    if errors:
        return (X.shape, Q.shape, None), tuple(errors)
    cut = Q.reshape(B, S, h, d_model // h)
    queries = cut.swapaxes(1, 2)
    scores = queries @ queries.swapaxes(-1, -2)
    weights = attention.softmax(scores)
    context = weights @ queries
    swapped = context.swapaxes(1, 2)
    merged = swapped.reshape(B, S, d_model)
    arrays = X, Q, cut, queries, scores, weights, context, swapped, merged, merged @ W
    return tuple(array.shape for array in arrays), ()


def compute(state, function=None):
    """From the controls' values to how far the walk has come. There is no function of the learner's."""
    sizes = tuple(state[name] for name in SIZES)
    shapes, errors = trace(*sizes)
    recorded, *steps = state["record"].split("; ")
    anew = bool(steps) and recorded != _written(sizes)
    tries, last, count = [], (), 0
    for step in () if anew else steps:
        stage = len(tries) + 1
        guess = None if step == SHOW else tuple(map(int, step.split("x"))) if step != NONE else ()
        last, count = (stage, guess), count + 1
        if guess is None or guess == (shapes[stage] or ()):
            tries.append(0 if guess is None else count)
            count = 0
    guess = tuple(state[axis] for axis in AXES if state[axis])
    return Result(sizes, shapes, errors, guess, tuple(tries), last, anew)


def _written(numbers):
    return "x".join(map(str, numbers)) or NONE


def _record(state, step):
    """Return the control's value with one more step, if there is a stage left to answer."""
    result = compute(state)
    if result.stage == len(result.shapes):
        return {}
    before = "" if result.anew else state["record"]
    return {"record": f"{before or _written(result.sizes)}; {step}"}


def _check(state):
    checked = _record(state, _written(compute(state).guess))
    is_right = compute(state | checked).stage > compute(state).stage
    # Empty fields for the next stage: two stages in a row may have the same shape.
    return checked | (dict.fromkeys(AXES, 0) if is_right else {})


def _show(state):
    return _record(state, SHOW)


def why_wrong(result, stage, guess):
    """Say which axis of a guess is wrong, and why."""
    shape, (name, _, axes, why) = result.shapes[stage], STAGES[stage]
    if shape is None:
        return "There is no such array: the features cannot be cut into this many equal parts. All four at 0 says so."
    if not guess:
        return f"{name} has a shape. Fill in its axes from axis 0 on; all four at 0 means that NumPy refuses."
    if len(guess) != len(shape):
        return f"{name} has {len(shape)} axes, not {len(guess)}: {why}."
    axis = next(i for i, (got, wanted) in enumerate(zip(guess, shape, strict=True)) if got != wanted)
    said = f"Axis {axis} of {name} is not {guess[axis]}: it counts {COUNTS[axes[axis]]}; {why}."
    if sorted(guess) == sorted(shape):
        return f"{said} Your numbers are right, their order is not."
    if "reshape" in STAGES[stage][1] and math.prod(guess) != math.prod(shape):
        said += f" A reshape keeps all {math.prod(shape)} numbers; yours has {math.prod(guess)}."
    return said


def sentence(result):
    """Say what is to be seen."""
    asked, done = len(result.shapes) - 1, len(result.tries)
    said = []
    if result.anew:
        said.append("The sizes have changed: the walk starts anew.")
    if result.last:
        stage, guess = result.last
        name, shape, why = STAGES[stage][0], result.shapes[stage], STAGES[stage][3]
        is_it = f"{name} is {shape}: {why}." if shape else f"NumPy refuses: {result.errors[0]}."
        if done < stage:
            said.append(f"Not {guess}. {why_wrong(result, stage, guess)}" if guess else why_wrong(result, stage, guess))
        else:
            said.append(f"{'Shown' if guess is None else 'Right'}: {is_it}")
    if done == asked:
        ends = " There is no further stage." if result.errors else ""
        said.append(f"The end: {result.score} of {asked} right at the first try.{ends}")
    else:
        if done == result.stage - 1 and (not result.last or done >= result.last[0]):
            said.append(f"Stage {result.stage} of {asked}: what is the shape of {STAGES[result.stage][0]}?")
        if done:
            said.append(f"So far {result.score} of {done} right at the first try.")
    return " ".join(said)


UNIT, BAR, PITCH, TOP = 16, 20, 34, 30  # pixels for one of an axis; a bar's height; from stage to stage; the first
BARS, BESIDE, END = 258, 5, 586  # where the bars begin; between two; where they end at the latest


def _letter(name):
    return name.partition(" ")[0]  # "S queries" and "S keys" are both S


def _unit(result):
    """Return how many pixels one of an axis has: fewer where the longest shape would not fit."""
    return min(UNIT, *((END - BARS - BESIDE * (len(shape) - 1)) / sum(shape) for shape in result.shapes if shape))


def _bars(shape, names, unit=UNIT):
    """Return each axis of a shape as (name, size, left, width), to scale."""
    bars, x = [], BARS
    for name, size in zip(names, shape, strict=True):
        bars.append((name, size, x, unit * size))
        x += unit * size + BESIDE
    return bars


def _axis_bars(bars, y, *, wrong=()):
    """Draw a shape, a bar for each axis; those that are wrong are marked."""
    parts = []
    for i, (name, size, x, width) in enumerate(bars):
        letter = _letter(name)
        label = f"{letter}={size}" if letter else str(size)
        fill = COLOURS[letter] if letter else style.PAPER
        parts.append(svg.box(x, y, width, BAR, fill=fill, stroke=style.INK, dashed=not name))
        place, anchor = (x + width / 2, y + 14), "middle"
        if 7 * len(label) + 5 > width:  # no room: above the first two that this befalls, away from each other
            place, anchor = ((x, y - 3), "start") if i else ((x + width, y - 3), "end")
            if i == len(bars) - 1:
                place, anchor = (x + width + 4, y + 14), "start"
        parts.append(svg.text(*place, label, anchor=anchor, size=11, bold=not name))
        if i in wrong:
            parts.append(svg.difference(x, y, width, BAR))
    return "".join(parts)


# What becomes of an axis whose name is not there any more. Two names: the first that is there, or both.
BECOMES = {
    "d_model": ("h", "d_head"),
    "h": ("d_model",),
    "d_head": ("d_model",),
    "S": ("S queries", "S keys"),
    "S queries": ("S",),
}


def _ribbons(before, after, y):
    """Draw where each axis goes: swapped axes cross, and what is summed away ends."""
    parts, onto = [], {name: (x, width) for name, _, x, width in after}
    for name, _, x, width in before:
        goals = [name] if name in onto else [goal for goal in BECOMES.get(name, ()) if goal in onto]
        # Two axes into one, side by side; one into two, side by side.
        halves = name in ("h", "d_head") and goals == ["d_model"]
        for k, goal in enumerate(goals):
            left, wide = onto[goal]
            if halves:
                left, wide = left + wide / 2 * (name == "d_head"), wide / 2
            shared = width / len(goals) if name == "d_model" else width
            parts.append(_ribbon(x + k * shared * (name == "d_model"), shared, left, wide, y, COLOURS[name.split()[0]]))
    return "".join(parts)


def _ribbon(start, width, left, wide, y, colour):
    top, bottom = y + BAR, y + PITCH
    middle = (top + bottom) / 2
    bend = (
        f"M{start:g} {top}C{start:g} {middle:g} {left:g} {middle:g} {left:g} {bottom}h{wide:g}"
        f"C{left + wide:g} {middle:g} {start + width:g} {middle:g} {start + width:g} {top}z"
    )
    return f'<path d="{bend}" fill="{colour}" fill-opacity="0.6"/>'


def render(result):
    """Draw a result: a row a stage, its shape as bars to scale, with ribbons to the next."""
    asked, said = len(result.shapes) - 1, sentence(result)
    named = ", ".join(f"{name} = {size}" for name, size in zip(SIZES, result.sizes, strict=True))
    parts = [svg.text(BARS, 13, f"shape, to scale: {named}", bold=True, size=12)]
    unit, there = _unit(result), [i for i in range(min(result.stage, asked + 1)) if result.shapes[i]]
    known = {i: _bars(result.shapes[i], STAGES[i][2], unit) for i in there}
    for i in known:
        if i + 1 in known:
            parts.append(_ribbons(known[i], known[i + 1], TOP + PITCH * i))
    for i in range(len(STAGES)):
        parts.append(_stage(result, i, known.get(i), TOP + PITCH * i))
    end = TOP + PITCH * len(STAGES)
    if result.errors and result.stage > asked:
        for who, error in zip(("NumPy:", "the course:"), result.errors, strict=True):
            parts.append(svg.text(0, end + 10, who, bold=True, size=11))
            parts.append(svg.text(76, end + 10, error, colour=style.ALARM, size=11))
            end += 17
    return Picture(svg.document(NARROWEST, end + 2, parts, label=said), said, NOTICE)


def _stage(result, i, bars, y):
    """Draw one stage: its name and code, and its shape, or what somebody thinks that it is."""
    asked, (name, code, _, _) = len(result.shapes) - 1, STAGES[i]
    now, reached = i == result.stage <= asked, i <= asked
    ink = style.INK if reached else style.QUIET
    parts = []
    if now:
        parts.append(svg.box(0, y - 6, NARROWEST, BAR + 12, fill="#fff4c9", stroke=style.INK, stroke_width=2))
    parts += [
        svg.text(6, y + 14, name, bold=i <= result.stage, colour=ink, size=12),
        svg.text(74, y + 14, code, colour=ink, size=11),
        svg.text(NARROWEST - 6, y + 14, _mark(result, i), anchor="end", bold=now, colour=ink, size=12),
    ]
    failed = now and result.last and result.last[0] == i and result.last[1] == result.guess
    if bars:
        parts.append(_axis_bars(bars, y))
    elif i < result.stage and reached:
        parts.append(svg.text(BARS, y + 14, "no shape: ValueError", bold=True, colour=style.ALARM))
    elif failed and not result.guess:
        parts.append(svg.text(BARS, y + 14, "≠ it has a shape", bold=True, colour=style.ALARM, size=12))
    elif now and result.guess:
        wrong = _wrong_axes(result.guess, result.shapes[i]) if failed else ()
        parts.append(_axis_bars(_bars(result.guess, ("",) * len(result.guess), _unit(result)), y, wrong=wrong))
    else:
        said = "fill in axis 0, 1, ..., then Check" if now else "?" if reached else "not reached"
        parts.append(svg.text(BARS, y + 14, said, colour=style.INK if now else style.QUIET, size=12))
    return "".join(parts)


def _wrong_axes(guess, shape):
    """Return which axes of a guess are wrong: all, where there are too many or too few."""
    if shape is None or len(guess) != len(shape):
        return range(len(guess))
    return [i for i, (got, wanted) in enumerate(zip(guess, shape, strict=True)) if got != wanted]


def _mark(result, stage):
    """Say how a stage was answered."""
    if stage == 0:
        return "given"
    if stage < result.stage:
        count = result.tries[stage - 1]
        return {0: "shown", 1: "✓ first try"}.get(count, f"✓ try {count}")
    return "you" if stage == result.stage < len(result.shapes) else ""


def shape_tracer():
    """Show the shape tracer: fill in the shape of each stage of multi-head attention.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = shape_tracer()
    >>> lab.set(**{"axis 0": 2, "axis 1": 5, "axis 2": 12})
    >>> lab.buttons["Check"].click()
    >>> "Right: Q is (2, 5, 12)" in lab.readout.value
    True
    """
    sizes = {
        "B": dropdown("B, batch", (1, 2, 3), 2, width="120px"),
        "S": dropdown("S, tokens", range(2, 7), 5, width="120px"),
        "d_model": dropdown("d_model", (4, 6, 8, 12), 12, width="120px"),
        "h": dropdown("h, heads", range(1, 7), 3, width="120px"),
    }
    axes = {axis: whole_number(axis, 0, 0, 999, width="115px") for axis in AXES}
    walked = "; ".join([_written((2, 5, 12, 3)), *[SHOW] * 3])  # to the heads: a still of questions shows nothing
    return Lab(
        name="shape_tracer",
        title="shape tracer",
        task="Fill in the next shape, then press Check. Unused axes stay at 0; all four at 0 means that it fails.",
        # The record is a control that is not shown: what was checked so far, and with which sizes.
        controls=sizes | axes | {"record": ipywidgets.Text(description="record")},
        actions={"Check": _check, "Show": _show, "Start over": lambda state: {"record": ""}},
        layout=(sizes.values(), axes.values(), [Lab.BUTTONS]),
        compute=compute,
        render=render,
        function=None,
        still={"record": walked},
    )
