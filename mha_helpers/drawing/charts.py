"""Figures of quantities: bars, curves, and vectors in the plane."""

import itertools
from typing import NamedTuple

import numpy as np

from live_pictures import style, svg
from live_pictures.figure import Figure
from live_pictures.style import number
from mha_helpers.drawing import palette

TEXT = 12
BAR_ROOM = 300  # pixels: the length of all bars together, left and right of zero
BARS = (palette.weight_colour(0.6), "#c8c8d0", style.QUIET)  # dark, pale and darker: told apart in greyscale, too
HEADS = {f"head {head}": colour for head, colour in enumerate(palette.HEADS)}


def weight_bars(tokens, choices):
    """Draw several ways of turning the same scores into weights beside each other, each on its own axis.

    Parameters
    ----------
    tokens : sequence of str
    choices : dict of str to array_like, shape (n_tokens,)
        From the name of a way to its weights. Where they lie between 0 and 1, so does the axis.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If there is not one number for each token.

    Examples
    --------
    >>> weight_bars(["cat", "mat"], {"softmax": [0.9, 0.1]})
    Bars. softmax: cat 0.90, mat 0.10.
    """
    choices = {name: np.asarray(values, dtype=float) for name, values in choices.items()}
    for name, values in choices.items():
        if values.shape != (len(tokens),):
            raise ValueError(f"{name} has shape {values.shape}; give one number for each of the {len(tokens)} tokens")
    bar, height = 56, 150
    width = max(bar * len(tokens) + 46, 190)
    parts = []
    for place, (name, values) in enumerate(choices.items()):
        parts += _upright(name, tokens, values, 8 + place * (width + 14), width, height, bar)
    text = "; ".join(
        f"{name}: " + ", ".join(f"{token} {number(value)}" for token, value in zip(tokens, values, strict=True))
        for name, values in choices.items()
    )
    return Figure(len(choices) * (width + 14) + 8, height + 74, parts, f"Bars. {text}.")


def _upright(title, tokens, values, x, width, height, bar):
    low, high = min(values.min(), 0), max(values.max(), 1 if values.min() >= 0 else 0)
    top, left, room = 44, x + 38, height - 10
    below = 15 if low < 0 else 0  # where a bar hangs down, its number stands between it and its token
    colours = palette.score_colours(max(high, -low)) if low < 0 else lambda value: palette.weight_colour(0.6)

    def level(value):
        return round(top + room * (high - value) / (high - low), 1)

    parts = [svg.text(x, 17, title, bold=True, size=13)]
    for tick in {low, 0, high}:
        parts.append(svg.line(left - 4, level(tick), x + width, level(tick), colour=style.GRID))
        written = f"{tick:g}".replace("-", "−") if float(tick).is_integer() else number(tick)
        parts.append(svg.text(left - 8, level(tick) + 4, written, anchor="end", size=11, colour=style.QUIET))
    for i, (token, value) in enumerate(zip(tokens, values, strict=True)):
        at, ends = left + 6 + i * bar, sorted((level(value), level(0)))
        parts.append(svg.box(at, ends[0], bar - 12, max(ends[1] - ends[0], 1), fill=colours(value)))
        number_y = ends[0] - 5 if value >= 0 else ends[1] + 14
        parts.append(svg.text(at + bar / 2 - 6, number_y, number(value), anchor="middle", size=TEXT, bold=True))
        parts.append(svg.text(at + bar / 2 - 6, top + room + 17 + below, token, anchor="middle", size=TEXT))
    return [*parts, svg.line(left - 4, level(0), x + width, level(0), colour=style.INK)]


def row_bars(rows, *, largest=None, colours=None, lines=None, title="", decimals=2):
    """Draw named numbers as horizontal bars, a group for each row.

    Parameters
    ----------
    rows : dict of str to float or dict of str to float
        From a row's name to its number, or to its numbers by name.
    largest : float, optional
        What a bar of full length stands for: the largest number unless given.
    colours : dict of str to str, optional
        By the numbers' names: a head's, a role's or a token's where they are one's own; neutral unless given.
    lines : dict of str to float, optional
        Numbers to compare the bars with, such as a guess's: a dashed line down all rows, with its name.
    title : str, optional
    decimals : int, optional

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If there is nothing to draw.

    Examples
    --------
    >>> row_bars({"it was tired": {"cat": 0.72, "mat": 0.10}, "it was soft": {"cat": 0.68, "mat": 0.10}})
    Bars. it was tired: cat 0.72, mat 0.10; it was soft: cat 0.68, mat 0.10.
    """
    rows, lines = _named(rows), lines or {}
    if not rows or not all(rows.values()):
        raise ValueError("there is nothing to draw; give one row or more, each with a number")
    series = list(dict.fromkeys(name for values in rows.values() for name in values))
    fills = dict(zip(series, itertools.cycle(BARS))) | (colours or {})
    # Rounded before anything is placed: processors differ in the last digits, and a notebook's picture is compared.
    lengths = {name: _rounded(values) for name, values in rows.items()}
    axis = _row_axis(lengths, series, lines, largest)
    top = 32 if title else 10
    bars, numbers, y = [], [], top
    for name, values in rows.items():
        bars.append(svg.text(axis.left - 8, y + 10 * len(values) + 4, name, anchor="end", size=TEXT))
        for label, length in lengths[name].items():
            bars += _bar(axis, label, length, y, fills[label])
            numbers += _bar_number(axis, length, y, number(values[label], decimals), on_paper=bool(lines))
            y += 20
        y += 8
    bars.append(svg.line(axis.zero, top, axis.zero, y - 6, colour=style.INK))
    for name, value in lines.items():
        x = round(axis.zero + value * axis.unit, 1)
        bars.append(svg.polyline([(x, top), (x, y - 2)], colour=style.INK, width=1.5, dashes="5 4"))
        numbers.append(svg.text(x, y + 12, f"{name} {number(value, decimals)}", anchor="middle", size=TEXT))
    width, height = axis.zero + 360 - axis.below, y + (18 if lines else 0)
    heading = [svg.text(8, 18, title, bold=True, size=13)] if title else []
    text = f"{title or 'Bars'}. {_rows_in_words(rows, lines, decimals)}"
    return Figure(width, height, [*heading, *bars, *numbers], text)


class _RowAxis(NamedTuple):
    """Where the rows' names end, their bars' names end, and bars begin; how long a bar of 1 is."""

    left: float
    labels: float
    zero: float
    below: float  # what bars may take left of zero
    unit: float
    low: float
    high: float

    def ends(self, length):
        """Return between which pixels a bar lies, counted from zero: it is cut off where the axis ends."""
        return tuple(end * self.unit for end in sorted((0, min(max(length, self.low), self.high))))


def _row_axis(lengths, series, lines, largest):
    values = [value for row in lengths.values() for value in row.values()]
    low = min(0, *values)
    highest = max(0, *values, *lines.values()) or 1
    high = largest or highest
    left = 22 + 7.2 * max(map(len, lengths))
    labels = left + 8 + 7.2 * max(map(len, series))
    below = BAR_ROOM * -low / (highest - low)
    zero = labels + below + (56 if low < 0 else 0)
    return _RowAxis(left, labels, zero, below, (BAR_ROOM - below) / high, low, high)


def _named(rows):
    return {name: values if isinstance(values, dict) else {"": values} for name, values in rows.items()}


def _rounded(values):
    return {label: round(float(value), 3) for label, value in values.items()}


def _bar(axis, label, length, y, fill):
    start, end = axis.ends(length)
    yield svg.text(axis.labels - 6, y + 14, label, anchor="end", size=TEXT, colour=style.QUIET)
    yield svg.box(axis.zero + start, y + 3, max(end - start, 1), 14, fill=fill, stroke=style.QUIET)


def _bar_number(axis, length, y, written, *, on_paper):
    """Write a bar's number beyond its end, and on paper where a line may pass behind it."""
    start, end = axis.ends(length)
    x, anchor = (axis.zero + end + 6, "start") if length >= 0 else (axis.zero + start - 6, "end")
    if on_paper:
        yield svg.box(x - 2, y + 3, 8 * len(written), 14, fill=style.PAPER)
    yield svg.text(x, y + 14, written, anchor=anchor, size=TEXT, bold=True)


def _rows_in_words(rows, lines, decimals):
    def listed(values):
        return ", ".join(f"{label} {number(value, decimals)}".strip() for label, value in values.items())

    compared = "".join(f" {name}: {number(value, decimals)}." for name, value in lines.items())
    return "; ".join(f"{name}: {listed(values)}" for name, values in rows.items()) + f".{compared}"
