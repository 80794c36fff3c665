"""Shape tracer: say the shape of every array in multi-head attention, before NumPy does."""

import functools
import itertools
import math
import textwrap
from dataclasses import dataclass, replace

import ipywidgets
import numpy as np

from live_pictures import marks, motion, style, svg
from live_pictures.card import EDGE, Picture
from live_pictures.chips import button
from live_pictures.controls import dropdown
from live_pictures.marks import each_part
from live_pictures.options import Form, StaticPage
from mha_helpers import attention
from mha_helpers.drawing import palette
from mha_helpers.labs.lab import Lab

SIZES = ("B", "S", "d_model", "h")
MAX_AXES = 4
EMPTY = "–"  # of a shape: nothing is said of it
CHIPS = ("B", "S", "S again", "h", "d_model", "d_head")  # what an axis can be; tokens may meet tokens
# What each axis counts, and its colour; S stands twice where tokens meet tokens.
COUNTS = {
    "B": "sequences in the batch",
    "S": "tokens",
    "d_model": "a token's features, all heads together",
    "h": "heads",
    "d_head": "one head's features, d_model / h",
    "S queries": "tokens that ask",
    "S keys": "tokens that are asked",
}
COLOURS = dict(zip(("h", "d_model", "S", "B", "d_head"), palette.TOKENS, strict=False))
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
NOTICE = "Every shape is NumPy's own: each stage is run."
FAILS = "fails"  # for a shape: there is no such array
NOTHING_TRIED = {"wrong": "", "marked": "", "shape": EMPTY}  # two stages in a row may have the same shape
FOLLOWED = "Follow an axis down the ribbons: d_model is cut into h and d_head, and at the end it is whole again."
FOUND = "found"  # for a number of tries, where nobody counts: of the first stage, which is given, and on a page


@dataclass(frozen=True)
class Result:
    """How far the walk has come."""

    sizes: tuple  # B, S, d_model, h
    shapes: tuple  # of each stage, as NumPy has it; None for one that fails, and none after it
    errors: tuple  # where one fails: NumPy's own, and the course's
    guess: tuple  # of each axis that is filled in: a chip
    tries: tuple  # of each stage that is done: the number of tries; 0 where it was shown, and FOUND where none is known
    wrong: tuple  # what was tried at this stage: its letters, or none, that it fails
    marked: tuple  # the last of it, until an axis is moved
    anew: bool  # whether there is a record, of other sizes
    is_new: bool  # whether the last stage was answered just now: its array is seen to be made

    @property
    def score(self):
        """Return how many stages were right at the first try; empty where tries are not counted."""
        counted = [count for count in self.tries if count != FOUND]
        return f"{counted.count(1)} of {len(counted)} right at the first try" if counted else ""

    @property
    def asked(self):
        """The number of the last stage, or of the one that fails."""
        return len(self.shapes) - 1

    @property
    def is_over(self):
        return self.stage > self.asked

    @property
    def stage(self):
        """The stage that is asked for; beyond the last one when all are done."""
        return len(self.tries) + 1


@functools.cache
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
    """Compute the walk's progress from the controls' values. No function of the learner's is run."""
    sizes = tuple(state[name] for name in SIZES)
    recorded, *tries = state["record"].split("; ")
    anew = recorded not in ("", _written(sizes))
    tries = () if anew else tuple(tried if tried == FOUND else int(tried) for tried in tries)
    shapes, errors = trace(*sizes)
    wrong, marked, stage = (), (), len(tries) + 1
    if stage < len(shapes) and not anew:
        marked = _axes_of(state["marked"])
        tried = (_axes_of(guess) for guess in state["wrong"].split("; ") if guess)
        wrong = tuple(axes for axes in tried if axes != _right(shapes, stage))
    is_new = tries not in ((), (FOUND,))  # the first stage is there from the beginning
    return Result(sizes, shapes, errors, _axes_of(state["shape"]), tries, wrong, marked, anew, is_new)


def _axes_of(shape):
    return () if shape in ("", EMPTY, FAILS) else tuple(shape.split(", "))


def _letter(name):
    return name.partition(" ")[0]  # "S queries", "S keys" and "S again" are all S


def _letters(stage):
    return tuple(map(_letter, STAGES[stage][2]))


def _right(shapes, stage):
    """Return the right letters: none where there is no such array."""
    return _letters(stage) if shapes[stage] else ()


def _written(numbers):
    return "x".join(map(str, numbers))


def _answered(state, shape=None):
    """Return the controls' values after an answer, which is right, or another wrong one; None shows what is right."""
    result = compute(state)
    if result.is_over:
        return {}
    letters = None if shape is None else tuple(map(_letter, _axes_of(shape)))
    is_right = letters == _right(result.shapes, result.stage)
    if not (is_right or shape is None):
        guess = ", ".join(letters) or FAILS
        wrong = [*filter(None, [not result.anew and state["wrong"]]), guess]
        return {"record": _recorded(result), "wrong": "; ".join(wrong), "marked": guess}
    # Empty slots for the next stage: two stages in a row may have the same shape.
    return {"record": _recorded(result, len(result.wrong) + 1 if is_right else 0)} | NOTHING_TRIED


def _recorded(result, *tries):
    return "; ".join(map(str, (_written(result.sizes), *result.tries, *tries)))


def _check(state):
    return _answered(state, state["shape"]) if state["shape"] != EMPTY else {}


def _fails(state):
    return _answered(state, FAILS)


def why_wrong(result, stage, guess):
    """Say which axis of a guess is wrong, and why."""
    shape, (name, _, axes, why) = result.shapes[stage], STAGES[stage]
    if shape is None:
        return "There is no such array: the features cannot be cut into this many equal parts. Say that it fails."
    if not guess:
        return f"It does not fail: {name} has a shape."
    if len(guess) != len(shape):
        return f"{name} has {len(shape)} axes, not {len(guess)}: {why}."
    letters, counts = _letters(stage), dict(zip(SIZES, result.sizes, strict=True))
    counts["d_head"] = counts["d_model"] // counts["h"]
    axis = next(i for i, (got, wanted) in enumerate(zip(guess, letters, strict=True)) if got != wanted)
    readout = f"Axis {axis} of {name} is not {guess[axis]}: it counts {COUNTS[axes[axis]]}; {why}."
    if sorted(guess) == sorted(letters):
        return f"{readout} Your axes are right, their order is not."
    size = math.prod(counts[letter] for letter in guess)
    if "reshape" in STAGES[stage][1] and size != math.prod(shape):
        readout += f" A reshape keeps all {math.prod(shape)} numbers; yours has {size}."
    if counts[guess[axis]] == shape[axis]:
        readout += f" Here both are {shape[axis]}, but with other sizes they need not be."
    return readout


def sentence(result):
    """Describe the picture."""
    readout, stage = [], len(result.tries)
    if result.anew:
        readout.append("The sizes have changed: the walk starts anew.")
    if result.wrong:
        readout.append(_mistake(result))
    elif stage:
        name, shape, why = STAGES[stage][0], result.shapes[stage], STAGES[stage][3]
        is_it = f"{name} is {shape}: {why}." if shape else f"NumPy refuses: {result.errors[0]}."
        readout.append(f"{ {0: 'Shown: ', FOUND: ''}.get(result.tries[-1], 'Right: ') }{is_it}")
    if result.is_over:
        readout.append(f"The end{result.score and ': '}{result.score}.")
        readout.append("There is no further stage." if result.errors else FOLLOWED)
        return " ".join(readout)
    if not result.wrong:
        readout.append(f"Stage {result.stage} of {result.asked}: what is the shape of {STAGES[result.stage][0]}?")
    if stage and result.score:
        readout.append(f"So far {result.score}.")
    return " ".join(readout)


def _mistake(result):
    """Say what is wrong with what was last tried."""
    if not result.wrong:
        return ""
    guess = result.wrong[-1]
    return f"Not ({', '.join(guess)}). " * bool(guess) + why_wrong(result, result.stage, guess)


WIDTHS, HEIGHT = (344, 296), 392  # of the walk and of the desk beside it
TOP, PITCH, BAR = 22, 36, 20  # of the walk: the first stage, from one to the next, and an axis's height
BARS, BESIDE = 188, 4  # where a shape begins, and what is between two axes


def _bars(shape, names):
    """Return each axis of a shape as (name, size, left, width)."""
    bars, x = [], BARS
    for name, size in zip(names, shape, strict=True):
        width = round(6.4 * len(f"{_letter(name)}={size}") + 7)
        bars.append((name, size, x, width))
        x += width + BESIDE
    return bars


def _axes(bars, y):
    """Draw a shape, a bar for each axis."""
    for name, size, x, width in bars:
        yield svg.box(x, y, width, BAR, fill=COLOURS[_letter(name)], stroke=style.INK)
        yield svg.text(x + width / 2, y + 14, f"{_letter(name)}={size}", anchor="middle", size=11)


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
    top, bottom = y + BAR, y + PITCH  # of two axes, one below the other
    middle = (top + bottom) / 2
    bend = (
        f"M{start:g} {top}C{start:g} {middle:g} {left:g} {middle:g} {left:g} {bottom}h{wide:g}"
        f"C{left + wide:g} {middle:g} {start + width:g} {middle:g} {start + width:g} {top}z"
    )
    return f'<path d="{bend}" fill="{colour}" fill-opacity="0.6"/>'


def render(result, before):
    """Draw a result: the walk with the shapes so far, and the desk with the array, the slots and the chips."""
    result = replace(result, is_new=result.is_new and before is not None and result.tries[:-1] == before.tries)
    readout = sentence(result)
    walk, *desk = each_part(PARTS, result, *PARTS).values()
    walk = svg.document(WIDTHS[0], HEIGHT, [walk], label=readout)
    return Picture(walk + svg.document(WIDTHS[1], HEIGHT, desk, label=_now(result)), readout, NOTICE)


def _walk(result):
    """Draw each stage in a row: its name and code, and its shape with ribbons to the next."""
    known = {
        i: _bars(result.shapes[i], STAGES[i][2]) for i in range(min(result.stage, result.asked + 1)) if result.shapes[i]
    }
    yield svg.text(BARS, 13, "shape", bold=True, size=12)
    if not result.is_over:
        yield svg.box(1, TOP + PITCH * result.stage, WIDTHS[0] - 2, PITCH - 1, fill=ASKED, stroke=style.INK)
    for i in known:
        if i + 1 in known:
            yield _ribbons(known[i], known[i + 1], TOP + PITCH * i + 4)
    for i, (name, code, _, _) in enumerate(STAGES):
        y, ink = TOP + PITCH * i, style.INK if i <= min(result.stage, result.asked) else style.QUIET
        yield svg.text(6, y + 15, name, bold=i <= result.stage, colour=ink, size=12)
        yield svg.text(6, y + 29, code, colour=style.QUIET, size=11)
        yield svg.text(BARS - 12, y + 15, _mark(result, i), anchor="end", colour=ink, size=11)
        if i in known:
            yield from _axes(known[i], y + 4)
        elif i < result.stage and i == result.asked:
            yield svg.text(BARS, y + 18, "ValueError", bold=True, colour=style.ALARM, size=12)
        else:
            later = "?" if i <= result.asked else "not reached"
            yield svg.text(BARS, y + 18, later, colour=ink, size=12, bold=i == result.stage and not result.is_over)


def _now(result):
    """Say what lies on the desk."""
    i = max(i for i in range(min(result.stage, result.asked + 1)) if result.shapes[i])
    axes = ", ".join(_letters(i))
    return f"{STAGES[i][0]}: ({axes}) = ({', '.join(map(str, result.shapes[i]))})"


ROOM, CELL = (WIDTHS[1], 100), 6  # of an array: what room it has, and how large its cells are at most
LARGE = 10  # how large those of the learner's array are
# What the array meets next in a product that keeps its shape; what comes of it takes its place and its colour.
MEETS = {0: ("W_Q", "queries"), 8: ("W_O", "output")}
COMES = {stage + 1: role for stage, (_, role) in MEETS.items()}
APART, GAP = 12, 5  # pixels between two sequences, and between two heads
CUT, TURNS = 300, 60  # milliseconds until what is cut parts, and from head to head where they are turned
SLOT, SLOT_TOP = (68, 74), 156  # how wide a slot is, and from one to the next; where they stand
TRAY, CHIP, BUTTONS = 210, 28, 245  # where the chips lie, how high one is, and where the buttons stand
YOURS, ASKED = 290, style.PANEL  # where the array of the learner's shape begins; of what is asked for


def _desk(result):
    """Draw the array that there is, and what is asked of the next one."""
    i = max(i for i in range(min(result.stage, result.asked + 1)) if result.shapes[i])
    yield svg.text(0, 13, _now(result), size=12)
    yield f'<g transform="translate(0 22)">{_made(result, i) if result.is_new else "".join(_array(result, i))}</g>'
    if i in MEETS and not result.is_over:
        yield from _met(result, *MEETS[i])
    if not result.is_over:
        question = svg.box(1, 125, WIDTHS[1] - 2, 26, fill=ASKED, stroke=style.INK)
        question += svg.text(8, 143, f"What is the shape of {STAGES[result.stage][0]}?", bold=True, size=15)
        yield motion.later(question) if result.is_new and i else question
    elif result.errors:
        y = 143
        for who, error in zip(("NumPy:", "The course:"), result.errors, strict=True):
            for line in textwrap.wrap(f"{who} {error}", 46):
                yield svg.text(0, y, line, size=11, colour=style.ALARM)
                y += 16
    else:
        end = svg.text(0, 143, f"{result.score or 'The end'}.", bold=True, size=15)
        yield f'<g class="mha-done">{end}</g>'


def _yours(result):
    """Draw an array of the shape that the slots say: it is recut with every chip."""
    if result.is_over:
        return
    if not result.guess:
        frame = svg.box(1, YOURS + 8, WIDTHS[1] - 2, HEIGHT - YOURS - 10, stroke=style.GRID, dashed=True)
        hint = svg.text(WIDTHS[1] / 2, YOURS + 56, "Drop an axis: its array is drawn here.", anchor="middle", size=12)
        yield frame + hint
        return
    counts = dict(zip(SIZES, result.sizes, strict=True))
    counts["d_head"] = counts["d_model"] // counts["h"]
    shape = [counts[_letter(chip)] for chip in result.guess]
    product = " × ".join(map(str, shape))
    total = f" = {math.prod(shape)}" if len(shape) > 1 else ""
    yield svg.text(0, YOURS, f"Your shape: {product}{total} numbers", bold=True, size=12)
    (across, down), (rows, columns) = [*shape[:-2], 1, 1][:2], [1, *shape][-2:]
    is_cut = len(shape) == 4 and result.guess[2] == "h"
    if is_cut:  # heads lie beside one another, as in the array above
        across, down, rows = across * rows, 1, down
    room, gap = (ROOM[0] - 2, HEIGHT - YOURS - 10), 4
    cell = min(LARGE, (room[0] - (across - 1) * gap) / (across * columns), (room[1] - (down - 1) * gap) / (down * rows))
    cell = math.floor(2 * cell) / 2 or 0.5  # few sizes: a page has hundreds of these
    width, height = columns * cell, rows * cell
    indices = [(i, j) for i in range(across) for j in range(down)]
    places = [(i * (width + gap), j * (height + gap)) for i, j in indices]
    fills = _head_fills(result, is_cut, indices, counts["h"])
    blocks = "".join(
        f'<rect data-part="block {k}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"{own}/>'
        for k, ((x, y), own) in enumerate(zip(places, fills, strict=True))
    )
    fill = style.tint(COLOURS[_letter(result.guess[-1])], 0.7)
    yield f'<g transform="translate(1 {YOURS + 8})" fill="{fill}" stroke="{style.INK}">{blocks}'
    yield from _grid_lines(places, columns, rows, cell)
    yield "</g>"


def _head_fills(result, is_cut, indices, n_heads):
    """Return each block's own fill: where heads lie apart they have their colours, as in the array above."""
    first, second = is_cut or result.guess[0] == "h", result.guess[1:2] == ("h",)
    if len(result.guess) < 3 or not (first or second):
        return [""] * len(indices)
    heads = [style.tint(palette.head_colour(k), 0.5) for k in range(n_heads)]
    return [f' fill="{heads[(i if first else j) % n_heads]}"' for i, j in indices]


def _grid_lines(places, columns, rows, cell):
    """Cut blocks into cells by dashed lines as wide as a block: one element each way."""
    width, height = columns * cell, rows * cell
    for n, line, shift, wide in (
        (columns, f"h{width:g}", (0, height / 2), height),
        (rows, f"v{height:g}", (width / 2, 0), width),
    ):
        if n > 1 and cell > 2:
            lines = "".join(f"M{x + shift[0]:g} {y + shift[1]:g}{line}" for x, y in places)
            dashes = f'stroke-width="{wide:g}" stroke-dasharray="0.8 {cell - 0.8:g}" stroke-dashoffset="0.4"'
            yield f'<path d="{lines}" fill="none" stroke="{style.PAPER}" {dashes}/>'


def _buttons(result):
    x = 1
    for label, width, is_of_use in (
        ("Check", 62, bool(result.guess)), ("It fails", 66, True), ("Show", 58, True), ("Start over", 92, True)
    ):  # fmt: skip
        is_of_use &= not result.is_over or label == "Start over"
        yield button(x, BUTTONS, width, label, press=label, dim=not is_of_use)
        x += width + 5


def _made(result, i):
    """Draw an array as it is made: cut in parts, turned head by head, joined again, or as a product fills it."""
    made = STAGES[i][1]
    if "swapaxes(1, 2)" in made:
        return "".join(_array(result, i, apart=TURNS))
    if "reshape" not in made:
        return motion.reveal("".join(_array(result, i))) if i else "".join(_array(result, i))
    if "h" not in _letters(i):
        return "".join(_array(result, i))
    return "".join([*_array(result, i, after=CUT), *_cuts(result, i)])


def _cuts(result, i):
    """Draw the cuts between heads, through the array as it was."""
    B, S, d_model, h = result.sizes
    cell = _cell_of(result)
    for sequence, head in itertools.product(range(B), range(1, h)):
        yield motion.cut(_left(result, sequence) + head * d_model // h * cell, 0, S * cell)


def _array(result, i, after=0, apart=0):
    """Draw an array as slabs of cells, one for each sequence and head: where it is cut and turned, they travel.

    They set out after so many milliseconds, each head so many later than the one before.
    """
    _, S, d_model, h = result.sizes
    n_heads = h if not result.errors else 1
    d_head, cell = d_model // n_heads, _cell_of(result)
    names = _letters(i)
    is_turned, is_cut = names[:2] == ("B", "h"), "h" in names
    columns = S if names[2:] == ("S", "S") else d_head
    whole = palette.ROLES[COMES.get(i, "X")] if i in (0, *COMES) else None
    for sequence in range(result.sizes[0]):
        for head in range(n_heads):
            across = 0 if is_turned else head * (d_head * cell + GAP * is_cut)
            down = head * (S * cell + GAP) if is_turned else 0
            fill = style.tint(whole or palette.head_colour(head), 0.85 if STAGES[i][0] == "weights" else 0.5)
            slab = _slab(_left(result, sequence) + across, down, S, columns, cell, fill)
            yield marks.part(slab, f"slab {sequence} {head}", after=after + apart * head or None)


def _cell_of(result):
    """Return how large an array's cells are, the same at each stage."""
    B, S, d_model, h = result.sizes
    n_heads = h if not result.errors else 1
    cell = min(
        CELL,
        (ROOM[0] - (B - 1) * APART - B * (n_heads - 1) * GAP - 2) / (B * max(d_model, S)),
        (ROOM[1] - (n_heads - 1) * GAP) / (n_heads * S),
    )
    return math.floor(10 * cell) / 10


def _left(result, sequence):
    """Return where a sequence's part of an array begins."""
    _, S, d_model, h = result.sizes
    n_heads = h if not result.errors else 1
    return 1 + sequence * (max(d_model, S) * _cell_of(result) + (n_heads - 1) * GAP + APART)


def _met(result, name, role):
    """Draw the matrix that the array is multiplied by: beside it, or below where there is no room."""
    B, S, d_model, h = result.sizes
    n_heads = h if not result.errors else 1
    x, y = 1 + B * (d_model * CELL + (n_heads - 1) * GAP + APART), 22
    if x + 48 + d_model * CELL > ROOM[0]:
        x, y = 1, 22 + S * CELL + 6
    cell = math.floor(10 * min(CELL, (ROOM[1] + 22 - y) / d_model)) / 10
    yield svg.text(x, y + 20, f"@ {name}", bold=True, size=12, colour=palette.role_text(role))
    yield _slab(x + 48, y, d_model, d_model, cell, style.tint(palette.ROLES[role], 0.15))


def _slab(x, y, rows, columns, cell, fill):
    """Draw a matrix's cells as one box with lines."""
    width, height = round(columns * cell, 1), round(rows * cell, 1)
    x, y = round(x, 1), round(y, 1)
    across = "".join(f"M{x:g} {y + k * cell:g}h{width:g}" for k in range(1, rows))
    down = "".join(f"M{x + k * cell:g} {y:g}v{height:g}" for k in range(1, columns))
    frame = svg.box(x, y, width, height, fill=fill, stroke=style.INK)
    return f'{frame}<path d="{across}{down}" stroke="{style.PAPER}" fill="none"/>'


def _slots(result):
    """Draw the axes to be filled, with those marked that were wrong in the last try."""
    if result.is_over:
        return
    wrong = _wrong_axes(result.marked, result.stage, result) if result.marked else ()
    for k in range(MAX_AXES):
        x = 1 + k * SLOT[1]
        yield svg.box(x, SLOT_TOP, SLOT[0], 36, fill=style.PANEL, stroke=EDGE, dashed=True)
        yield svg.text(x + SLOT[0] / 2, SLOT_TOP + 50, f"axis {k}", anchor="middle", size=11, colour=style.QUIET)
        if k in wrong:
            yield svg.difference(x, SLOT_TOP, SLOT[0], 36)


def _chips(result):
    """Draw the letters, each in its slot or at home: to be dragged, or pressed."""
    x = 1
    for chip in () if result.is_over else CHIPS:
        letter = _letter(chip)
        width = 33 if len(letter) == 1 else 66
        home, others = (x + width / 2, TRAY + CHIP / 2), [axis for axis in result.guess if axis != chip]
        x += width + 5
        n_places = len(others) + 1 if len(others) < MAX_AXES else 0
        orders = [others, *([*others[:k], chip, *others[k:]] for k in range(n_places))]
        slots = [(1 + k * SLOT[1] + SLOT[0] / 2, SLOT_TOP + 18) for k in range(n_places)]
        at = slots[result.guess.index(chip)] if chip in result.guess else home
        drawn = svg.box(at[0] - width / 2, at[1] - CHIP / 2, width, CHIP, fill=COLOURS[letter], stroke=style.INK)
        drawn += svg.text(at[0], at[1] + 5, letter, anchor="middle", bold=True)
        stops = [{"shape": ", ".join(order) or EMPTY} for order in orders]
        yield marks.track(
            drawn, chip, stops=stops, also_sets={"marked": ""}, points=[home, *slots], carried=True, slots=True,
            enter="Check", part=f"chip {chip}",
        )  # fmt: skip


def _wrong_axes(guess, stage, result):
    """Return which axes of a guess are wrong, or too many, or missing."""
    letters = _right(result.shapes, stage)
    return [i for i, (got, wanted) in enumerate(itertools.zip_longest(guess, letters)) if got != wanted]


def _mark(result, stage):
    """Return the mark of a stage: how it was answered."""
    if stage == 0:
        return "given"
    if stage < result.stage:
        count = result.tries[stage - 1]
        return {0: "shown", 1: "✓ first try", FOUND: "✓"}.get(count, f"✓ try {count}")
    return "you" if stage == result.stage and not result.is_over else ""


PARTS = {
    "walk": _walk, "beside": _desk, "slots": _slots, "yours": _yours, "chips": _chips, "buttons": _buttons
}  # fmt: skip
# On a page: on what its pieces depend. What a button does depends on the first, of which nothing is seen.
PIECES = {
    ("record", "shape"): lambda result: ({}, ""),
    ("record", "marked"): lambda result: (each_part(PARTS, result, "slots"), ""),
    ("record", "wrong"): lambda result: ({}, _mistake(result)),
    ("record",): lambda result: (each_part(PARTS, result, "walk", "beside"), sentence(result)),
    ("shape",): lambda result: (each_part(PARTS, result, "yours", "chips", "buttons"), ""),
}


def _uncounted(action, state):
    """Answer as on a page, which does not count tries, and knows only the last wrong one."""
    after = state | action(state)
    sizes, *tries = after["record"].split("; ")
    record = "; ".join([sizes, *[FOUND] * len(tries)]) if tries else ""
    return after | {"record": record, "wrong": after["wrong"].rpartition("; ")[2]}


def shape_tracer() -> Lab:
    """Show the shape tracer: fill in the shape of each stage of multi-head attention.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = shape_tracer()
    >>> lab.controls["shape"].value = "B, S, h, d_head"
    >>> lab.buttons["Check"].click()
    >>> "Right: cut is (2, 5, 3, 4)" in lab.readout.value
    True
    """
    sizes = {
        "B": dropdown("B, batch", (1, 2, 3), 2, width="120px"),
        "S": dropdown("S, tokens", range(2, 7), 5, width="120px"),
        "d_model": dropdown("d_model", (4, 6, 8, 12), 12, width="120px"),
        "h": dropdown("h, heads", range(1, 7), 3, width="120px"),
    }
    guesses = [", ".join(axes) for n in range(1, MAX_AXES + 1) for axes in itertools.permutations(CHIPS, n)]
    shape = dropdown("shape", [EMPTY, *guesses], width="260px")
    # Controls that are not shown: how each stage was answered, with which sizes, and what was wrong at this one.
    walk = [_written((2, 5, 12, 3)), *[FOUND] * (len(STAGES) - 1)]
    hidden = {
        "record": ipywidgets.Text("; ".join(walk[:2]), description="record"),  # one stage is done: it shows what comes
        "wrong": ipywidgets.Text(description="wrong"),
        "marked": ipywidgets.Text(description="marked as wrong"),
    }
    actions = {
        "Check": _check, "It fails": _fails, "Show": _answered,
        "Start over": lambda state: {"record": ""} | NOTHING_TRIED,
    }  # fmt: skip
    tried = ["", FAILS, *dict.fromkeys(guess.replace(" again", "") for guess in guesses)]
    return Lab(
        name="shape_tracer",
        title="shape tracer",
        task="Which shape comes next? Drag or press axes into the slots, see the blocks they make, then Check.",
        controls=sizes | {"shape": shape} | hidden,
        actions=actions,
        form=Form(
            rows=([*sizes.values(), shape, Lab.BUTTONS],),
            on_picture=("shape", *actions),
        ),
        compute=compute,
        render=render,
        function=None,
        page=StaticPage(
            kernel_only="other sizes",
            offers={
                "record": ["", *("; ".join(walk[:k]) for k in range(2, len(walk) + 1))],
                "wrong": tried,
                "marked": tried,
            },
            actions={label: functools.partial(_uncounted, action) for label, action in actions.items()},
            pieces=PIECES,
        ),
        shows_changes=True,
        thumbnail_state={"record": f"{walk[0]}; 0; 0; 0"},  # to the heads: a still of questions shows nothing
    )
