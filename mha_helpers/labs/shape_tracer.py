"""Shape tracer: say the shape of every array in multi-head attention, before NumPy does."""

import math
from dataclasses import dataclass

import ipywidgets
import numpy as np

from mha_helpers import attention
from mha_helpers.drawing import style, svg
from mha_helpers.labs.frame import Lab, Picture, in_a_row

SIZES = ("B", "S", "d_model", "h")
AXES = tuple(f"axis {i}" for i in range(1, 5))
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
    ("Q", "X @ W_Q, and W_Q is (d_model, d_model)", ("B", "S", "d_model"), "a product changes the last axis only"),
    ("cut", "Q.reshape: each token's features in h parts", ("B", "S", "h", "d_head"), "the last axis is cut in two"),
    ("queries", "cut.swapaxes(1, 2); keys and values likewise", SPLIT_AXES, "heads go before tokens"),
    (
        "scores",
        "queries @ keys.swapaxes(-1, -2)",
        ("B", "h", "S queries", "S keys"),
        "each query meets each key, and the product sums d_head away",
    ),
    ("weights", "softmax(scores / sqrt(d_head))", ("B", "h", "S queries", "S keys"), "softmax keeps every axis"),
    ("context", "weights @ values", SPLIT_AXES, "the product sums the keys away and brings the values' features"),
    ("swapped", "context.swapaxes(1, 2)", ("B", "S", "h", "d_head"), "tokens go before heads again"),
    ("merged", "swapped.reshape: heads side by side", ("B", "S", "d_model"), "h and d_head become one axis"),
    ("output", "merged @ W_O, and W_O is (d_model, d_model)", ("B", "S", "d_model"), "as large as X"),
)
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
        return "There is no such array: the features cannot be cut into this many equal parts. All axes 0 says so."
    if not guess:
        return f"{name} has a shape. Fill in its axes from axis 1 on; all axes 0 means that NumPy refuses."
    if len(guess) != len(shape):
        return f"{name} has {len(shape)} axes, not {len(guess)}: {why}."
    axis = next(i for i, (got, wanted) in enumerate(zip(guess, shape, strict=True)) if got != wanted)
    said = f"Axis {axis + 1} of {name} is not {guess[axis]}: it counts {COUNTS[axes[axis]]}; {why}."
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


def _axes(shape, axes, x, y):
    """Draw a shape, one box an axis."""
    parts = []
    for i, size in enumerate(shape):
        name = axes[i] if axes else ""
        fill = COLOURS[name.split()[0]] if name else style.PAPER
        parts.append(svg.box(x + 98 * i, y, 94, 24, fill=fill, stroke=style.QUIET, dashed=not axes))
        label = f"{name} = {size}" if name else f"{size}"
        parts.append(svg.text(x + 98 * i + 47, y + 16, label, anchor="middle", bold=not axes, size=12))
    return "".join(parts)


def render(result):
    """Draw a result."""
    left, shapes, marks, top, height = 8, 378, 776, 34, 30
    named = [f"{name} = {size}" for name, size in zip(SIZES, result.sizes, strict=True)]
    parts = [
        svg.text(left, 20, f"Sizes: {', '.join(named)}", bold=True),
        svg.text(shapes, 20, "shape", bold=True),
        svg.text(marks, 20, "you", bold=True),
    ]
    asked = len(result.shapes) - 1
    for i, (name, code, axes, _) in enumerate(STAGES):
        y, reached = top + height * i, i <= asked
        now = reached and i == result.stage
        if now:
            parts.append(svg.box(left - 4, y, 856, height, fill="#f2f2f2", stroke=style.INK, stroke_width=2))
        ink = style.INK if reached else style.QUIET
        parts.append(svg.text(left + 14, y + 20, i, anchor="end", colour=ink, size=12))
        parts.append(svg.text(left + 24, y + 20, name, bold=now, colour=ink))
        parts.append(svg.text(left + 94, y + 20, code, colour=ink, size=11))
        if i < result.stage and reached and result.shapes[i]:
            parts.append(_axes(result.shapes[i], axes, shapes, y + 3))
        elif i < result.stage and reached:
            parts.append(svg.text(shapes, y + 20, "no shape: ValueError", bold=True, colour=style.ALARM))
        elif now:
            parts.append(_axes(result.guess, (), shapes, y + 3))
            if not result.guess:
                parts.append(svg.text(shapes, y + 20, "fill in axis 1, 2, ... and press Check", size=12))
        else:
            said = "?" if reached or result.stage <= asked else "not reached"
            parts.append(svg.text(shapes, y + 20, said, colour=style.QUIET, size=12))
        parts.append(svg.text(marks, y + 20, _mark(result, i), bold=now, colour=ink, size=12))
    end = top + height * len(STAGES) + 8
    if result.errors and result.stage > asked:
        for who, error in zip(("NumPy's reshape:", "the course's split_heads:"), result.errors, strict=True):
            parts.append(svg.text(left, end + 14, who, bold=True, size=12))
            parts.append(svg.text(left + 180, end + 14, error, colour=style.ALARM, size=12))
            end += 20
    said = sentence(result)
    notice = "Every shape is NumPy's own: each stage is run. The box with the frame is the shape that you fill in."
    return Picture(svg.document(864, end + 6, parts, label=said), said, notice)


def _mark(result, stage):
    """Say how a stage was answered."""
    if stage == 0:
        return "given"
    if stage < result.stage:
        count = result.tries[stage - 1]
        return {0: "shown", 1: "✓ first try"}.get(count, f"✓ try {count}")
    return "your turn" if stage == result.stage < len(result.shapes) else ""


def shape_tracer():
    """Show the shape tracer: fill in the shape of each stage of multi-head attention.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = shape_tracer()
    >>> lab.set(**{"axis 1": 2, "axis 2": 5, "axis 3": 12})
    >>> lab.buttons["Check"].click()
    >>> "Right: Q is (2, 5, 12)" in lab.picture.value
    True
    """
    sizes = {
        "B": ipywidgets.IntSlider(value=2, min=1, max=3, description="B, batch"),
        "S": ipywidgets.IntSlider(value=5, min=2, max=6, description="S, tokens"),
        "d_model": ipywidgets.SelectionSlider(options=(4, 6, 8, 12, 16), value=12, description="d_model"),
        "h": ipywidgets.IntSlider(value=3, min=1, max=6, description="h, heads"),
    }
    axes = {
        axis: ipywidgets.BoundedIntText(
            value=0, min=0, max=999, description=axis, style={"description_width": "46px"}, layout={"width": "130px"}
        )
        for axis in AXES
    }
    return Lab(
        name="shape_tracer",
        title="shape tracer",
        task="Fill in the next shape, axis by axis (0: no such axis; all 0: NumPy refuses). Then press Check.",
        # The record is a control that is not shown: what was checked so far, and with which sizes.
        controls=sizes | axes | {"record": ipywidgets.Text()},
        actions={"Check": _check, "Show": _show, "Start over": lambda state: {"record": ""}},
        layout=(
            in_a_row([sizes["B"], sizes["S"]]),
            in_a_row([sizes["d_model"], sizes["h"]]),
            in_a_row(axes.values()),
        ),
        compute=compute,
        render=render,
        function=None,
    )
