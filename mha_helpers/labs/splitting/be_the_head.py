"""Be the head: the reader turns a query until "it" has enough of two words, which one row of weights never gives."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import ipywidgets
import numpy as np

from live_pictures import chips, marks, style, svg
from live_pictures.card import Picture
from live_pictures.controls import NAMED, radio
from live_pictures.options import Form, Script, StaticPage
from live_pictures.style import number
from mha_helpers import attention, exercises, running_example
from mha_helpers.drawing import palette
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.learner_function import run_for_lab

TOKENS, X = running_example.TOKENS, running_example.X
WANTED, ENOUGH = ("cat", "sat"), 0.6  # what "it" needs, and how much of each
COLUMNS = [TOKENS.index(token) for token in WANTED]
ONE, TWO = "one", "two"
KEYS, VALUES = (attention.split_heads(X @ matrix, 2) for matrix in (running_example.W_K, running_example.W_V))
MASK = np.ones((1, len(TOKENS)), dtype=bool)
# Head 0 begins with the example's own query. With head 1's own there would be nothing left to do, so it has another.
START = ((1.0, 3.0), (-1.0, 1.0))
LOW, HIGH, STEP = (-5, -2), (5, 3), 0.1  # how far a query can be turned, across and up


@dataclass(frozen=True)
class Result:
    """What one head gives to "it", or two."""

    queries: np.ndarray  # (n_heads, 2)
    weights: np.ndarray  # (n_heads, n_tokens)
    notice: str
    differs: np.ndarray  # by word that is wanted: whether the learner's weights of it are not right

    @property
    def shares(self):
        """What each head gives of each word that is wanted."""
        return self.weights[:, COLUMNS]

    @property
    def total(self):
        with np.errstate(invalid="ignore"):  # a learner's weights may be infinite
            return self.shares.sum(axis=0)

    @property
    def is_enough(self):
        """Whether there is enough of each word, as its number is written."""
        return [bool(np.round(share, 2) >= ENOUGH) for share in self.total]


def entry(head, axis):
    """Name the control of a number of a head's query."""
    return f"query {head} {axis}"


def compute(state, function=None):
    """Compute the weights of each head from its query."""
    n_heads = (ONE, TWO).index(state["heads"]) + 1
    queries = np.array([[state[entry(head, axis)] for axis in ("across", "up")] for head in range(n_heads)])
    inputs = {"queries": queries[:, None], "keys": KEYS[:n_heads], "values": VALUES[:n_heads], "mask": MASK}
    found = run_for_lab(function, attention.masked_attention, inputs, ("context", "weights"))
    weights = found.arrays[1][:, 0]
    differs = found.differs.get("weights", np.zeros_like(weights, dtype=bool)[:, None])[:, 0, COLUMNS]
    return Result(queries, weights, found.notice, differs.any(axis=0))


def sentence(result):
    """Describe the picture."""
    who = ("One head brings", "Two heads bring")[len(result.queries) - 1]
    shares = " and ".join(f"{number(share)} of “{token}”" for share, token in zip(result.total, WANTED, strict=True))
    needs = "That is enough of both." if all(result.is_enough) else f"“It” needs {number(ENOUGH)} of each."
    return f"{who} {shares}. {needs}"


WIDTHS = (300, 332)  # pixels: of the two pictures
UNIT, LEFT, TOPS = 27, 15, (36, 228)  # of the heads' planes: a 1's pixels, the left edge, and the tops
AROUND = 13  # pixels round a plane, for a handle at its edge
BARS, BAR, BAR_LEFT, BAR_UNIT = (238, 392), 26, 36, 98  # the bars' top by heads, their height, left edge, and a 1
SHARE, ORIGIN, FARTHEST = 188, (36, 308), 1.5  # of the shares' plane: a 1's pixels, its origin, and how far it goes
# Where a key's name stands: its distance from the key, and how it is anchored.
NAMES = (
    {"cat": (9, -6, "start"), "sat": (0, 20, "middle"), "mat": (-9, 4, "end"), "because": (0, 20, "middle")},
    {"cat": (10, -2, "start"), "sat": (0, -13, "middle"), "mat": (-9, -2, "end"), "because": (0, 23, "middle")}
    | {"it": (-9, 15, "end")},
)
CALLED = ({"because": "because, it"}, {})  # two keys of head 0 are the same


def place(head, vector):
    """Return where a vector's tip is in a head's plane."""
    x, y = LEFT + UNIT * (vector[0] - LOW[0]), TOPS[head] + UNIT * (HIGH[1] - vector[1])
    return round(float(x), 1), round(float(y), 1)


def spot(shares):
    """Return where shares of the two words are in their plane; what is beyond it stands at its edge."""
    across, up = np.clip(np.nan_to_num(shares), 0, FARTHEST)
    return round(float(ORIGIN[0] + SHARE * across), 1), round(float(ORIGIN[1] - SHARE * up), 1)


def parts(result):
    """Return the SVG attributes that change while a query is turned, by part; `be_the_head.js` computes the same."""
    changes, begins = {}, np.full(len(WANTED), float(BAR_LEFT))
    for head, (query, weights) in enumerate(zip(result.queries, result.weights, strict=True)):
        x, y = place(head, query)
        changes[f"query {head}"] = {"cx": f"{x:g}", "cy": f"{y:g}"}
        changes[f"arrow {head}"] = {"x2": f"{x:g}", "y2": f"{y:g}"}
        changes[f"digit {head}"] = {"x": f"{x:g}", "y": f"{round(y + 5, 1):g}"}
        for token, weight in zip(TOKENS, np.clip(np.nan_to_num(weights), 0, 2), strict=True):
            changes[f"key {head} {token}"] = {"stroke-width": f"{round(float(1 + 11 * weight), 1):g}"}
        x, y = spot(result.shares[head])
        changes[f"point {head}"] = {"cx": f"{x:g}", "cy": f"{y:g}"}
        changes[f"number {head}"] = {"x": f"{x:g}", "y": f"{round(y + 4, 1):g}"}
        for k, token in enumerate(WANTED):
            width = BAR_UNIT * float(np.clip(np.nan_to_num(result.shares[head, k]), 0, 1))
            changes[f"share {head} {token}"] = {"text": f"{token} {number(result.shares[head, k])}"}
            changes[f"bar {head} {token}"] = {"x": f"{round(begins[k], 1):g}", "width": f"{round(width, 1):g}"}
            begins[k] += width
    for token, total, enough in zip(WANTED, result.total, result.is_enough, strict=True):
        changes[f"total {token}"] = {"text": number(total) + " ✓" * enough}
    changes["goal"] = {"text": "✓ enough of both" if all(result.is_enough) else f"{number(ENOUGH)} of each"}
    if len(result.queries) == 2:
        x, y = spot(result.total)
        changes["together"] = {"cx": f"{x:g}", "cy": f"{y:g}"}
        changes["plus"] = {"x": f"{x:g}", "y": f"{round(y + 5, 1):g}"}
        for head, shares in enumerate(result.shares):
            x1, y1 = spot(shares)
            changes[f"from {head}"] = {"x1": f"{x1:g}", "y1": f"{y1:g}", "x2": f"{x:g}", "y2": f"{y:g}"}
    return changes


def render(result):
    """Draw a result: each head's keys and query, and what they give of the two words."""
    changes, readout, n_heads = parts(result), sentence(result), len(result.queries)
    heads = [drawn for head in range(n_heads) for drawn in _head(head, changes)]
    left, width = LEFT - AROUND, UNIT * (HIGH[0] - LOW[0]) + 2 * AROUND
    if n_heads == 1:
        heads.append(
            chips.button(left, TOPS[1] - 29, width, "+ a second head", sets={"heads": TWO}, name="+ a second head")
        )
    else:
        x = left + width - 76
        heads.append(chips.button(x, TOPS[1] - 41, 76, "remove", sets={"heads": ONE}, name="remove head 1"))
    height = BARS[n_heads - 1] + 2 * BAR
    controls = svg.document(WIDTHS[0], height, [*heads, *_bars(result, changes)], label=readout)
    height = (350, 372)[n_heads - 1]
    shares = svg.document(WIDTHS[1], height, _shares(n_heads, changes), label="What it has of the two words.")
    return Picture(controls + shares, readout, result.notice)


def _head(head, changes):
    """Draw a head's keys, as thick as their weights, and its query."""
    top, colour = TOPS[head], palette.head_colour(head)
    right, bottom = LEFT + UNIT * (HIGH[0] - LOW[0]), top + UNIT * (HIGH[1] - LOW[1])
    (x0, y0), handle = place(head, (0, 0)), entry(head, "across")
    yield svg.text(LEFT - AROUND, top - 18, f"Head {head}", bold=True, colour=palette.head_text(head))
    yield svg.text(LEFT + 44, top - 18, "its keys, and its query", size=11, colour=style.QUIET)
    panel = svg.box(LEFT - AROUND, top - AROUND, right - LEFT + 2 * AROUND, bottom - top + 2 * AROUND, fill=style.PANEL)
    yield marks.grip(panel, handle)
    yield svg.line(LEFT - AROUND, y0, right + AROUND, y0, colour=style.GRID)
    yield svg.line(x0, top - AROUND, x0, bottom + AROUND, colour=style.GRID)
    orange = palette.ROLES["keys"]
    for token, key in zip(TOKENS, KEYS[head], strict=True):
        x, y = place(head, key)
        line = svg.segment(x0, y0, x, y, colour=style.tint(orange, 0.6))
        yield marks.computed_part(line, f"key {head} {token}", changes) + svg.circle(x, y, 5, fill=orange)
    yield marks.computed_part(svg.segment(x0, y0, 0, 0, colour=colour, width=4), f"arrow {head}", changes)
    yield marks.plane(
        marks.computed_part(svg.circle(0, 0, 13, fill=colour, stroke=style.PAPER), f"query {head}", changes),
        (handle, entry(head, "up")), edges=[LEFT, top, right, bottom, LOW[0], HIGH[0], LOW[1], HIGH[1], STEP],
        name=f"query of head {head}",
    )  # fmt: skip
    digit = svg.text(0, 0, head, anchor="middle", bold=True, colour=style.PAPER)
    yield marks.computed_part(digit, f"digit {head}", changes)
    # Above the query, which is turned to where they stand, and above the axes.
    yield f'<g stroke="{style.PANEL}" stroke-width="4" stroke-linejoin="round" paint-order="stroke">'
    for token, (dx, dy, anchor) in NAMES[head].items():
        x, y = place(head, KEYS[head, TOKENS.index(token)])
        if token in WANTED:
            share = svg.text(x + dx, y + dy, "", anchor=anchor, size=12, bold=True)
            yield marks.computed_part(share, f"share {head} {token}", changes)
        else:
            name = CALLED[head].get(token, token)
            yield svg.text(x + dx, y + dy, name, anchor=anchor, size=11, colour=style.QUIET)
    yield "</g>"


def _bars(result, changes):
    """Draw what the heads give of each word, end to end."""
    n_heads, goal, end = len(result.queries), BAR_LEFT + BAR_UNIT * ENOUGH, BAR_LEFT + BAR_UNIT * 2
    for row, token in enumerate(WANTED):
        y = BARS[n_heads - 1] + row * BAR
        yield svg.text(0, y + 16, token, bold=True)
        yield svg.box(BAR_LEFT, y + 2, end - BAR_LEFT, 18, fill=style.PANEL)
        for head in range(n_heads):
            bar = svg.box(0, y + 2, 0, 18, fill=palette.head_fill(head), stroke=palette.head_colour(head))
            yield marks.computed_part(bar, f"bar {head} {token}", changes)
        yield svg.line(goal, y - 1, goal, y + 23, colour=style.INK, width=2)
        yield marks.computed_part(svg.text(end + 10, y + 16, "", bold=True), f"total {token}", changes)
        if result.differs[row]:
            yield svg.difference(end + 4, y + 1, 42, 21)


def _shares(n_heads, changes):
    """Draw what "it" has of the two words as a point, and where that has been."""
    (x0, y0), (right, top), goal = ORIGIN, spot((FARTHEST, FARTHEST)), spot((ENOUGH, ENOUGH))
    yield svg.text(0, 11, "↑ how much of “sat”", size=12, colour=style.QUIET)
    yield svg.text(right, y0 + 34, "how much of “cat” →", anchor="end", size=12, colour=style.QUIET)
    yield svg.box(x0, top, right - x0, y0 - top, fill=style.PANEL)
    pink = palette.ROLES["output"]
    yield svg.box(goal[0], top, right - goal[0], goal[1] - top, fill=style.tint(pink, 0.15))
    yield svg.polyline([(goal[0], top), goal, (right, goal[1])], colour=pink, dashes="4 4")
    for tick in (0, ENOUGH, 1, FARTHEST):
        x, y = spot((tick, tick))
        look = {"colour": style.QUIET, "size": 11}
        words = f"{tick:g}"
        if tick == ENOUGH:
            words, look = number(tick), {"bold": True, "size": 11}
        yield svg.text(x, y0 + 16, words, anchor="middle", **look)
        yield svg.text(x0 - 6, y + 4, words, anchor="end", **look)
    points = {f"point {head}": palette.head_colour(head) for head in range(n_heads)}
    if n_heads == 2:
        yield svg.polyline([spot((0, 1)), spot((1, 0))], colour=style.QUIET, width=1.5, dashes="3 4")
        points["together"] = pink
    for name, colour in points.items():
        pale = style.tint(colour, 0.45)
        dots = f'<path d="" fill="none" stroke="{pale}" stroke-width="5" stroke-linecap="round"/>'
        yield marks.trail(dots, name)
    yield svg.circle(*goal, 10, fill=style.PAPER, stroke=style.INK) + svg.circle(*goal, 5, fill=pink)
    label = svg.text((goal[0] + right) / 2, top + 20, "", anchor="middle", size=12, bold=True)
    yield marks.computed_part(label, "goal", changes)
    if n_heads == 2:  # what one head gives, and then the other, in either order: a parallelogram
        for head in range(n_heads):
            way = svg.segment(0, 0, 0, 0, colour=palette.head_colour(1 - head), width=2)
            yield marks.computed_part(way, f"from {head}", changes)
    for head in range(n_heads):
        yield from _disc(9, points[f"point {head}"], head, f"point {head}", f"number {head}", changes)
    if n_heads == 2:
        yield from _disc(11, pink, "+", "together", "plus", changes)
        yield from _legend(y0 + 54)


def _legend(y):
    """Say what is drawn only of two heads."""
    look = {"size": 11, "colour": style.QUIET}
    yield svg.circle(9, y, 7, fill=palette.ROLES["output"])
    yield svg.text(9, y + 4, "+", anchor="middle", bold=True, size=11, colour=style.PAPER)
    yield svg.text(22, y + 4, "both heads together", **look)
    yield svg.polyline([(160, y), (184, y)], colour=style.QUIET, width=1.5, dashes="3 4")
    yield svg.text(191, y + 4, "one head stays below", **look)


def _disc(radius, colour, letter, name, letter_name, changes):
    """Draw a point with a letter on it, two parts."""
    yield marks.computed_part(svg.circle(0, 0, radius, fill=colour, stroke=style.PAPER), name, changes)
    on_it = svg.text(0, 0, letter, anchor="middle", size=radius + 2, bold=True, colour=style.PAPER)
    yield marks.computed_part(on_it, letter_name, changes)


def be_the_head(function: Callable | None = None) -> Lab:
    """Show the lab in which the reader turns a head's query, and then two heads'.

    Parameters
    ----------
    function : callable, optional
        The learner's `masked_attention(queries, keys, values, mask) -> (context, weights)`. While it is a stub the
        course's own is shown, and the lab says so.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = be_the_head()
    >>> lab.set(heads="two", **{"query 1 across": 2.0, "query 1 up": 0.0})
    >>> "That is enough of both." in lab.readout.value
    True
    """
    turned = {
        entry(head, axis): ipywidgets.BoundedFloatText(
            value=START[head][k], min=LOW[k], max=HIGH[k], step=STEP, description=entry(head, axis), style=NAMED,
            layout={"width": "180px"},
        )
        for head in range(2)
        for k, axis in enumerate(("across", "up"))
    }  # fmt: skip
    controls = {"heads": radio("heads", (ONE, TWO))} | turned
    return Lab(
        name="be_the_head",
        title="be the head",
        task="Turn the query: drag it until “it” has 0.60 of “cat” and 0.60 of “sat”.",
        controls=controls,
        form=Form(on_picture=(*controls,)),
        compute=compute,
        render=render,
        function=function,
        exercise=exercises.masked_attention,
        page=StaticPage(offers={"heads": (ONE, TWO)}),
        script=Script(
            file=Path(__file__).with_suffix(".js"),
            data={
                "tokens": TOKENS,
                "wanted": WANTED,
                "keys": KEYS.tolist(),
                "plane": {"unit": UNIT, "left": LEFT, "tops": TOPS, "low": LOW, "high": HIGH},
                "shares": {"unit": SHARE, "origin": ORIGIN, "farthest": FARTHEST},
                "bars": {"left": BAR_LEFT, "unit": BAR_UNIT},
                "enough": ENOUGH,
            },
            parts=parts,
        ),
    )
