"""Coin tosses: the reader throws walks of one step up or down, and sees how far from the start they are."""

from dataclasses import dataclass

import numpy as np

from live_pictures import chips, marks, style, svg
from live_pictures.card import Picture
from live_pictures.controls import dropdown
from live_pictures.options import Form, StaticPage
from live_pictures.style import number
from mha_helpers.drawing import palette
from mha_helpers.labs.lab import Lab

AFTER = (1, 4, 9, 16, 25, 36, 49, 64)  # tosses: where the gate can stand
THROWN = (0, 1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 400)  # walks: as many as there are after each throw
STEPS = np.random.default_rng(11).choice([-1, 1], size=(THROWN[-1], AFTER[-1]))
DRAWN = 40  # walks: more would be one dark area


@dataclass(frozen=True)
class Result:
    """Some walks, and where they are after some tosses."""

    n_walks: int
    after: int

    @property
    def places(self):
        """How far up each walk is."""
        return STEPS[: self.n_walks, : self.after].sum(axis=1)

    @property
    def spread(self):
        """How far from the start a walk typically is: the root of the mean square."""
        return float(np.sqrt(np.mean(self.places**2.0))) if self.n_walks else 0.0


def compute(state, _):
    """Find the walks that were thrown."""
    return Result(int(state["walks"]), int(state["tosses"]))


def sentence(result):
    """Describe the picture."""
    if not result.n_walks:
        return f"No walk has been thrown yet. Each is {AFTER[-1]} tosses long, one step up or down for each."
    tosses, all_of_them = _tosses(result), ", all there are," if result.n_walks == THROWN[-1] else ""
    if result.n_walks == 1:
        return f"After {tosses} the walk is {abs(result.places[0])} from its start."
    walks = f"the {result.n_walks} walks{all_of_them}"
    return f"After {tosses} {walks} are typically {number(result.spread, 1)} from their start."


def _tosses(result):
    return f"{result.after} toss{'es' if result.after > 1 else ''}"


WIDTHS, HEIGHT = (344, 292), 328
LEFT, LONG = 28, 4.75  # where walks begin, and a toss's pixels
MIDDLE, HIGH = 142, 4.5  # the height of 0, and a step's pixels
FARTHEST = 24  # steps that there is room for, up and down
GATE = MIDDLE + FARTHEST * HIGH + 22
BAR_LEFT, BAR_ROOM = 36, 170


def _x(tosses):
    return round(LEFT + LONG * tosses, 1)


def _signed(step):
    return f"{step:+}".replace("-", "−") if step else "0"


def render(result):
    """Draw a result: the walks with a gate on them, and how many of them are where at the gate."""
    readout = sentence(result)
    walks = svg.document(WIDTHS[0], HEIGHT, _walks(result), label=readout)
    return Picture(walks + svg.document(WIDTHS[1], HEIGHT, _at_the_gate(result), label="At the gate."), readout, "")


def _walks(result):
    yield chips.button(1, 1, 92, "Throw", press="Throw", dim=result.n_walks == THROWN[-1])
    drawn = f", {DRAWN} of them drawn" if result.n_walks > DRAWN else ""
    yield svg.text(104, 18, f"{result.n_walks} walk{'s' if result.n_walks != 1 else ''}{drawn}", bold=True)
    for step in (-20, -10, 0, 10, 20):
        y = MIDDLE - step * HIGH
        yield svg.line(LEFT, y, _x(AFTER[-1]), y, colour=style.INK if step == 0 else style.GRID)
        yield svg.text(LEFT - 5, y + 4, _signed(step), anchor="end", size=11, colour=style.QUIET)
    newest = result.n_walks - 1
    for walk in range(min(result.n_walks, DRAWN)):
        look = (style.INK, 2) if walk == newest else (style.tint(palette.HEADS[0], 0.5), 1)
        yield _path(walk, *look)
    x, top, bottom = _x(result.after), MIDDLE - FARTHEST * HIGH, MIDDLE + FARTHEST * HIGH
    yield svg.line(x, top, x, bottom + 8, colour=style.INK, width=2)
    points = [(_x(tosses), GATE) for tosses in AFTER]
    yield svg.line(*points[0], *points[-1], colour=style.QUIET, width=2) + chips.grip("tosses", points)
    for (at, y), tosses in zip(points, AFTER, strict=True):
        yield svg.circle(at, y, 3, fill=style.QUIET)
        yield svg.text(at, y + 26, tosses, anchor="middle", size=11, colour=style.QUIET)
    handle = svg.circle(x, GATE, 12, fill=style.INK, stroke=style.PAPER)
    stops = [{"tosses": tosses} for tosses in AFTER]
    yield marks.track(handle, "tosses", stops=stops, points=points, name="tosses before the gate")
    yield svg.text(LEFT, GATE + 44, "the gate: after so many tosses", size=12, colour=style.QUIET)


def _path(walk, colour, width):
    steps = "".join(f"l{LONG:g} {-HIGH * step:g}" for step in STEPS[walk].tolist())
    return f'<path d="M{LEFT} {MIDDLE}{steps}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def _at_the_gate(result):
    """Draw a bar for each place at the gate, as long as there are walks, and the typical distance either way."""
    yield svg.text(BAR_LEFT, 18, f"At the gate, after {_tosses(result)}", bold=True)
    yield svg.line(BAR_LEFT, MIDDLE - FARTHEST * HIGH, BAR_LEFT, MIDDLE + FARTHEST * HIGH, colour=style.INK)
    if result.n_walks:
        words = "a bar: how many walks are there"
        yield svg.text(BAR_LEFT, GATE + 40, words, size=12, colour=style.QUIET)
        places, counts = np.unique(result.places, return_counts=True)
        unit = BAR_ROOM / counts.max()
        for place, count in zip(places.tolist(), counts.tolist(), strict=True):
            y = MIDDLE - place * HIGH - HIGH + 0.5
            yield svg.box(BAR_LEFT + 1, y, unit * count, 2 * HIGH - 1, fill=style.tint(palette.HEADS[0], 0.5))
    for sign in (-1, 1) if result.n_walks > 1 else ():
        y = MIDDLE - sign * result.spread * HIGH
        yield svg.line(BAR_LEFT - 8, y, BAR_LEFT + BAR_ROOM + 12, y, colour=style.INK, width=2)
    for step in (-20, -10, 0, 10, 20):
        yield svg.text(BAR_LEFT - 10, MIDDLE - step * HIGH + 4, _signed(step), anchor="end", size=11)
    if result.n_walks > 1:
        words = f"typical distance {number(result.spread, 1)}"
        yield svg.text(BAR_LEFT, GATE + 4, words, bold=True)
        yield svg.text(BAR_LEFT, GATE + 22, "the two lines: that far up, that far down", size=12, colour=style.QUIET)


def coin_tosses() -> Lab:
    """Show walks of coin tosses, and how far they are from their start after some of the tosses.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = coin_tosses()
    >>> lab.set(walks=400, tosses=64)
    >>> "typically 8.0 from their start" in lab.readout.value
    True
    """
    controls = {
        "walks": dropdown("walks", THROWN),  # not shown: the button sets it
        "tosses": dropdown("tosses", AFTER, 4),
    }
    return Lab(
        name="coin_tosses",
        title="coin tosses",
        task="Throw a few walks, and then many. How far from the start are they at the gate? Drag it to the right.",
        controls=controls,
        actions={"Throw": lambda state: {"walks": next((n for n in THROWN if n > state["walks"]), THROWN[-1])}},
        form=Form(rows=([controls["tosses"], Lab.BUTTONS],), on_picture=("tosses", "Throw")),
        page=StaticPage(offers=dict.fromkeys(controls)),
        compute=compute,
        render=render,
        function=None,
    )
