"""Figures of measured quantities: a panel each, with one to four curves."""

import math

import numpy as np

from live_pictures import style, svg
from live_pictures.figure import Figure
from live_pictures.style import number
from mha_helpers.drawing import palette

# Two curves differ in their marks and dashes, too.
LOOKS = (("#1a1a1a", "", "circle"), (palette.HEADS[0], "7 4", "box"), (palette.ROLES["keys"], "2 3", "circle"),
         (palette.ROLES["values"], "10 3 2 3", "box"))  # fmt: skip
WIDE = 100  # from this factor between its values on, a panel has a logarithmic scale
PANEL = (370, 236)
LEFT, TOP, ROOM = 52, 34, (296, 140)


def curves(x, panels, *, x_name, doubling=True):
    """Draw measured quantities against something, a panel for each.

    Parameters
    ----------
    x : sequence of float
    panels : dict of str to dict of str to sequence of float
        From a panel's title to its curves, by name, with a value for each x. All panels have one scale.
    x_name : str
    doubling : bool, optional
        Whether x doubles from point to point: then it is drawn on a logarithmic scale.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If there is nothing to draw, an x is not above 0 where it doubles, a curve has not one value for each x, or
        a panel has more than four curves.

    Examples
    --------
    >>> curves([1, 2], {"variance": {"measured": [1.0, 2.1]}}, x_name="d_k")
    Curves against d_k = 1, 2. variance: measured 1.00, 2.10.
    """
    _check(x, panels, x_name, doubling)
    values = [value for named in panels.values() for curve in named.values() for value in curve]
    parts = []
    for place, (title, named) in enumerate(panels.items()):
        parts += _panel(title, x, named, values, x_name, doubling, PANEL[0] * (place % 2), PANEL[1] * (place // 2))
    width, height = PANEL[0] * min(len(panels), 2) + 8, PANEL[1] * -(-len(panels) // 2)
    # Where they span much, a small value must not be written as 0.
    written = (lambda value: f"{value:.3g}") if _is_wide(values) else number
    kept = slice(None) if len(x) <= 12 else [0, len(x) // 2, -1]
    sentences = []
    for title, named in panels.items():
        listed = (f"{name} {', '.join(map(written, np.asarray(curve)[kept]))}" for name, curve in named.items())
        sentences.append(f"{title}: {', '.join(listed)}")
    x_values = ", ".join(f"{value:g}" for value in np.asarray(x)[kept])
    return Figure(width, height, parts, f"Curves against {x_name} = {x_values}. {'; '.join(sentences)}.")


def _check(x, panels, x_name, doubling):
    if not panels or not len(x) or (doubling and min(x) <= 0):
        raise ValueError(f"there are {len(panels)} panels against {list(x)}; give one or more, and every x above 0")
    for title, named in panels.items():
        if not 1 <= len(named) <= len(LOOKS):
            raise ValueError(f"panel {title!r} has {len(named)} curves; give 1 to {len(LOOKS)}")
        for name, values in named.items():
            if len(values) != len(x):
                raise ValueError(
                    f"curve {name!r} has {len(values)} values for {len(x)} values of {x_name}; give one for each"
                )


def _is_wide(values):
    """Tell whether values are above 0 and span so much that a linear scale would hide the small ones."""
    return 0 < WIDE * min(values) < max(values)


def _scale(low, high, start, end, *, logarithmic):
    """Return a function from a value to a place between start and end, in tenths of a pixel."""
    turn = math.log if logarithmic else float
    span = turn(high) - turn(low) or 1
    return lambda value: round(start + (end - start) * (turn(value) - turn(low)) / span, 1)


def _ticks(low, high):
    """Return three to six round numbers between low and high."""
    step = 10 ** math.floor(math.log10((high - low) or 1))
    step = next(step * share for share in (0.2, 0.5, 1, 2) if (high - low) / (step * share) <= 5)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 10) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def _panel(title, x, named, values, x_name, doubling, left, top):
    wide = _is_wide(values)
    low, high = min(values), max(values)
    if wide:
        low = 10.0 ** math.floor(math.log10(low))  # so that the lowest point does not lie on the axis
    else:
        low = 0 if low >= 0 and low < 0.6 * high else low
        high += 0.06 * (high - low or 1)
    x0, y0 = left + LEFT, top + TOP
    across = _scale(x[0], x[-1], x0 + 8, x0 + ROOM[0] - 8, logarithmic=doubling)
    up = _scale(low, high, y0 + ROOM[1], y0, logarithmic=wide)
    below = y0 + ROOM[1]
    looks = list(zip(named.items(), LOOKS, strict=False))
    parts = [
        svg.text(left + 8, top + 17, f"{title} (log scale)" if wide else title, bold=True, size=13),
        *_upright_axis(low, high, wide, up, x0),
        *_level_axis(x, across, f"{x_name}, doubling" if doubling else x_name, x0, below),
    ]
    for (name, curve), (colour, dashes, mark) in reversed(looks):  # the first lies on top
        points = [(across(a), up(b)) for a, b in zip(x, curve, strict=True)]
        parts.append(svg.polyline(points, colour=colour, dashes=dashes, name=name))
        parts += [_mark(mark, *point, colour) for point in points if len(points) <= 20]
    return [*parts, *(_legend(looks, x0 + 8, below) if len(named) > 1 else ())]


def _upright_axis(low, high, wide, up, x0):
    """Draw a line and a number at each tick: at powers of ten, if the scale is wide."""
    if wide:
        ticks = [10.0**power for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]
    else:
        ticks = _ticks(low, high)
    for tick in ticks:
        yield svg.line(x0, up(tick), x0 + ROOM[0], up(tick), colour=style.GRID)
        written = f"{tick:g}".replace("-", "−")
        yield svg.text(x0 - 7, up(tick) + 4, written, anchor="end", size=11, colour=style.QUIET)


def _level_axis(x, across, name, x0, below):
    """Draw the line, as many numbers as have room, and what they count."""
    free = 0  # where the next number may begin
    for tick in x if len(x) <= 10 else _ticks(x[0], x[-1]):
        half = 3.6 * len(f"{tick:g}")
        if across(tick) - half >= free:
            yield svg.text(across(tick), below + 16, f"{tick:g}", anchor="middle", size=11, colour=style.QUIET)
            free = across(tick) + half + 6
    yield svg.text(x0 + ROOM[0] - 8, below + 32, name, anchor="end", size=12)
    yield svg.line(x0, below, x0 + ROOM[0], below, colour=style.INK)


def _legend(looks, x, below):
    for (name, _), (colour, dashes, mark) in looks:
        yield svg.polyline([(x, below + 46), (x + 24, below + 46)], colour=colour, dashes=dashes)
        yield _mark(mark, x + 12, below + 46, colour)
        yield svg.text(x + 30, below + 50, name, size=11)
        x += 44 + 6.6 * len(name)


def _mark(mark, x, y, colour):
    if mark == "circle":
        return svg.circle(x, y, 3, fill=colour)
    return svg.box(x - 5, y - 5, 10, 10, fill=style.PAPER, stroke=colour, stroke_width=1.5)  # round a circle, if both
