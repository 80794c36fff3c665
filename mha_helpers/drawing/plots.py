"""Plots by matplotlib: attention maps, maps of all heads, bars and curves.

Each takes arrays, draws on the axes that it is given, or on new ones in the course's style, and returns them.
"""

from __future__ import annotations

import functools
import itertools
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from live_pictures import style
from live_pictures.style import number
from mha_helpers.drawing import palette
from mha_helpers.shapes import Array, as_float_array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 4.7  # inches, as in course.mplstyle
BARS = (palette.weight_colour(0.6), "#c8c8d0", style.QUIET)  # dark, pale and darker: told apart in greyscale, too
HEADS = {f"head {head}": colour for head, colour in enumerate(palette.HEADS)}
WIDE = 100  # from this factor between its values on, curves have a logarithmic scale
MANY = 60  # cells: from here on numbers lose their 0, and weights of nearly zero are blank, so that the rest is seen
ATTENTION = "query \\ key"  # what rows and columns are, in the corner as `matrices` has it
LONG = 20  # letters: a bar's longer name goes on in the next line
BELOW_AXIS = 36  # points that an axis' numbers and its name take
PAD = 3.5  # points between cells and the names beside them, as matplotlib has it
LETTER = 0.085  # inches: how wide one is, about


def attention_map(
    weights: Array,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    head: int = 0,
    title: str = "",
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw attention weights: a row for each query, a column for each key.

    Parameters
    ----------
    weights : array_like, shape (n_queries, n_keys)
    queries : sequence of str
        The tokens that ask.
    keys : sequence of str, optional
        The tokens that are asked: the same unless given.
    head : int, optional
        Whose colour the weights have.
    title : str, optional
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure unless given.
    **kwargs
        Handed on to `Axes.imshow`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the tokens do not fit the weights.

    Examples
    --------
    >>> attention_map([[0.3, 0.7], [0.9, 0.1]], ["it", "cat"])
    Attention weights, 2 queries by 2 keys: “it” attends most to “cat” (0.70), “cat” attends most to “it” (0.90).
    """
    keys = queries if keys is None else keys
    weights = _matrix("weights", weights, len(queries), len(keys))
    longest = max(map(len, keys))
    width = 0.2 + LETTER * max(*map(len, queries), len(ATTENTION)) + len(keys) * max(0.5, LETTER * longest + 0.1)
    turned = width > WIDTH  # names have no room beside each other
    height = 0.5 + 0.3 * len(queries) + (0.8 * LETTER * longest if turned else 0)
    most = ", ".join(attends(query, keys, row) for query, row in zip(queries, weights, strict=True))
    text = f"Attention weights, {len(queries)} queries by {len(keys)} keys: {most}."
    with _axes(ax, min(WIDTH, width), height, title) as (ax, say):
        _draw_cells(ax, weights, palette.head_weight_colours(head), 2, kwargs, sparse=weights.size > MANY)
        _name_cells(ax, queries, keys, ATTENTION, turned=turned)
        return say(ax, title, lambda title: f"{title}. {text}" if title else text)


def layer_map(
    values: Array,
    title: str = "",
    *,
    spread: bool = False,
    decimals: int = 2,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw a number for each head of a model: a row for each layer, a column for each head.

    Parameters
    ----------
    values : array_like, shape (n_layers, n_heads)
    title : str, optional
    spread : bool, optional
        Whether 0 stands for a head that looks at one token and 1 for one that looks everywhere: then the small
        numbers have the strong colours.
    decimals : int, optional
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure unless given.
    **kwargs
        Handed on to `Axes.imshow`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the values do not have two axes.

    Examples
    --------
    >>> layer_map([[0.1, 0.9]], "previous-token score")
    previous-token score: layer 0 (0.10, 0.90).
    """
    values = _matrix("values", values)
    n_layers, n_heads = values.shape
    rows = (
        f"layer {layer} ({', '.join(number(value, decimals) for value in row)})" for layer, row in enumerate(values)
    )
    text = f"{', '.join(rows)}."
    with _axes(ax, min(WIDTH, 1.3 + 0.5 * n_heads), 0.5 + 0.3 * n_layers, title) as (ax, say):
        _draw_cells(ax, values, palette.spread_colour if spread else palette.weight_colour, decimals, kwargs)
        _name_cells(ax, range(n_layers), range(n_heads), "layer \\ head")
        return say(ax, title, lambda title: f"{title or 'Heads'}: {text}")


def bars(
    values: Array,
    labels: Sequence[str],
    *,
    series: Sequence[str] = (),
    colours: Mapping[str, str] | None = None,
    lines: Mapping[str, float] | None = None,
    title: str = "",
    decimals: int = 2,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw named numbers as horizontal bars, one or several for each name.

    Parameters
    ----------
    values : array_like, shape (n_labels,) or (n_labels, n_series)
        NaN where there is no bar.
    labels : sequence of str
    series : sequence of str, optional
        The names of the columns, where there are several.
    colours : dict of str to str, optional
        By the names in `series`: a head's, a role's or a token's where they are one's own; neutral unless given.
    lines : dict of str to float, optional
        Numbers to compare the bars with, such as a guess's: a dashed line across all rows, with its name.
    title : str, optional
    decimals : int, optional
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure unless given.
    **kwargs
        Handed on to `Axes.barh`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is nothing to draw, or the names do not fit the values.

    Examples
    --------
    >>> bars([[0.72, 0.10], [0.68, 0.10]], ["it was tired", "it was soft"], series=["cat", "mat"])
    Bars. it was tired: cat 0.72, mat 0.10; it was soft: cat 0.68, mat 0.10.
    """
    values, lines = as_float_array("values", values), lines or {}
    columns = values[:, None] if values.ndim == 1 else values
    if columns.shape != (len(labels), len(series) or 1) or not np.isfinite(values).any():
        raise ValueError(
            f"values have shape {values.shape} for {len(labels)} labels and {len(series)} series; give one number for "
            "each of them, and at least one"
        )
    height = 0.2 + 0.27 * np.isfinite(columns).sum() + 0.1 * len(labels) + 0.22 * (len(series) + len(lines))
    text = _bars_in_words(columns, labels, series, lines, decimals)
    with _axes(ax, WIDTH, height, title) as (ax, say):
        drawn = _draw_bars(ax, columns, series, colours or {}, kwargs)
        _write_numbers(ax, drawn, columns, decimals, beyond=max(lines.values(), default=0))
        _name_bars(ax, labels)
        _make_room(ax, columns, lines, decimals)
        for name, value in lines.items():
            looks = {"color": style.INK, "linestyle": "--", "zorder": 0}
            drawn.append(ax.axvline(value, label=f"{name} {number(value, decimals)}", **looks))
        if series or lines:
            ax.legend(handles=drawn[0 if series else 1 :], loc="upper left", bbox_to_anchor=(0, 0))
        return say(ax, title, lambda title: f"{title or 'Bars'}. {text}")


def curves(
    x: Sequence[float],
    values: Array,
    names: Sequence[str] = (),
    *,
    x_name: str = "",
    doubling: bool = False,
    title: str = "",
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw measured quantities against something.

    Parameters
    ----------
    x : sequence of float
    values : array_like, shape (n_x,) or (n_curves, n_x)
        Where they are above 0 and span a factor of 100, the scale is logarithmic.
    names : sequence of str, optional
        The curves', where there are several.
    x_name : str, optional
    doubling : bool, optional
        Whether x doubles from point to point: then it is drawn on a logarithmic scale.
    title : str, optional
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure unless given.
    **kwargs
        Handed on to `Axes.plot`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is not one value for each x, or one name for each curve, or an x is not above 0 where it doubles.

    Examples
    --------
    >>> curves([1, 2], [1.0, 2.1], ["measured"], x_name="d_k", title="variance")
    Curves against d_k = 1, 2. variance: measured 1.00, 2.10.
    """
    from matplotlib.transforms import offset_copy  # only here: it loads matplotlib

    x, values = as_float_array("x", x), np.atleast_2d(as_float_array("values", values))
    if values.shape != (len(names) or 1, x.size) or not x.size:
        raise ValueError(
            f"values have shape {values.shape} for {x.size} x and {len(names)} names; give one value for each x, and a "
            "name for each curve"
        )
    if doubling and x.min() <= 0:
        raise ValueError(f"x begins at {x.min():g}, and doubles; give only numbers above 0")
    several, wide = len(names) > 1, 0 < WIDE * values.min() < values.max()
    text = _curves_in_words(values, names, wide)
    against = f"Curves against {x_name or 'x'} = {', '.join(f'{value:g}' for value in _few(x))}."
    with _axes(ax, WIDTH, 2.2 + 0.22 * len(names) * several, title) as (ax, say):
        looks = kwargs if x.size <= 20 else {"marker": "", **kwargs}
        for name, curve in zip(names or [None], (_steady_digits if wide else _steady)(values), strict=True):
            ax.plot(x, curve, label=name, **looks)
        _scale_curves(ax, x, values, doubling, wide)
        ax.set_xlabel(f"{x_name}, doubling" if doubling else x_name)
        ax.grid(axis="y")
        if several:
            below_names = offset_copy(ax.transAxes, ax.figure, 0, -BELOW_AXIS, units="points")
            ax.legend(loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below_names)
        return say(ax, title, lambda title: f"{against} {title}: {text}" if title else f"{against} {text}")


# ---- words -----------------------------------------------------------------------------------


def attends(query, keys, row):
    """Say what a query attends to most."""
    if not np.isfinite(row).all():
        return f"“{query}” has NaN or infinity"
    if not row.any():
        return f"“{query}” attends to nothing"
    most = [f"“{key}”" for key, weight in zip(keys, row, strict=True) if np.isclose(weight, row.max())]
    if 1 < len(most) == len(keys):
        return f"“{query}” attends to all equally ({number(row.max())})"
    each = " each" if len(most) > 1 else ""
    return f"“{query}” attends most to {' and '.join(most)} ({number(row.max())}{each})"


def _bars_in_words(columns, labels, series, lines, decimals):
    rows = []
    for label, row in zip(labels, columns, strict=True):
        drawn = [(name, value) for name, value in zip(series or [""], row, strict=True) if not np.isnan(value)]
        rows.append(f"{label}: {', '.join(f'{name} {number(value, decimals)}'.strip() for name, value in drawn)}")
    compared = "".join(f" {name}: {number(value, decimals)}." for name, value in lines.items())
    return f"{'; '.join(rows)}.{compared}"


def _curves_in_words(values, names, wide):
    # Where they span much, a small value must not be written as 0.
    write = (lambda value: f"{value:.3g}") if wide else number
    rows = (", ".join(map(write, _few(curve))) for curve in values)
    return ", ".join(f"{name} {row}".strip() for name, row in zip(names or [""], rows, strict=True)) + "."


def _few(values):
    """Return what a sentence says of many values: the first, the one in the middle, and the last."""
    return values if len(values) <= 12 else values[[0, len(values) // 2, -1]]


# ---- marks -----------------------------------------------------------------------------------


@contextmanager
def _axes(ax, width, height, title):
    """Give the axes to draw on, and what keeps their sentence."""
    from mha_helpers.drawing import shown  # only here: it loads matplotlib

    with shown.axes(ax, width, height, title) as ax:
        yield ax, shown.say


def _matrix(name, values, n_rows=None, n_columns=None):
    values = as_float_array(name, values)
    if values.ndim != 2:
        raise ValueError(f"{name} have shape {values.shape}; give two axes")
    if n_rows is not None and values.shape != (n_rows, n_columns):
        raise ValueError(
            f"{name} have shape {values.shape} for {n_rows} queries and {n_columns} keys; give one for each of their "
            "pairs"
        )
    return values


def _steady(values):
    """Round to a thousandth of the largest: processors differ in last digits, and a notebook's picture is compared."""
    largest = np.abs(values).max() or 1
    return np.round(values, 3 - int(np.ceil(np.log10(largest))))


def _steady_digits(values):
    """Round each number to four digits."""
    return np.vectorize(lambda value: float(f"{value:.4g}"), otypes=[float])(values)


def _draw_cells(ax, values, colour, decimals, kwargs, *, sparse=False):
    """Draw a matrix with a number in each cell, or where it is sparse in each that isn't nearly 0, from 0 to 1."""
    from matplotlib.colors import ListedColormap

    ramp = ListedColormap([colour(step / 100) for step in range(101)])
    looks = {"cmap": ramp, "vmin": 0, "vmax": 1, "aspect": "auto", "interpolation": "none"} | kwargs
    image = ax.imshow(np.round(values, 2), **looks)
    for (i, j), value in np.ndenumerate(values):
        ground = image.to_rgba(np.round(value, 2)) if np.isfinite(value) else (1, 1, 1)
        written = "" if sparse and abs(value) < 0.005 else _in_cell(value, decimals, values.size > MANY)
        ax.text(j, i, written, ha="center", va="center", color=_ink(tuple(ground[:3])))


def _in_cell(value, decimals, many):
    written = number(value, decimals)
    if not many:
        return written
    return "1" if written == "1.00" else written.removeprefix("0")


@functools.cache
def _ink(ground):
    return style.text_colour("#" + "".join(f"{round(255 * channel):02x}" for channel in ground))


def _name_cells(ax, rows, columns, corner, *, turned=False):
    from matplotlib.transforms import offset_copy  # only here: it loads matplotlib

    ax.set_yticks(range(len(rows)), list(map(str, rows)))
    rising = {"rotation": 60, "rotation_mode": "anchor", "ha": "left"} if turned else {}
    ax.xaxis.tick_top()
    ax.set_xticks(range(len(columns)), list(map(str, columns)), **rising)
    ax.tick_params(length=0)
    ax.set_ylabel(corner, rotation=0, ha="right", va="bottom", color=style.QUIET)
    beside_names = offset_copy(ax.transAxes, ax.figure, -PAD, PAD, units="points")
    ax.yaxis.set_label_coords(0, 1, transform=beside_names)
    ax.spines[:].set_visible(False)


def _draw_bars(ax, columns, series, colours, kwargs):
    """Draw the bars of each series, and return them."""
    fills = dict(zip(series or [""], itertools.cycle(BARS), strict=False)) | colours
    there = np.isfinite(columns)
    counts = there.sum(axis=1, keepdims=True)
    thick = 0.8 / counts.max()
    places = np.arange(len(columns))[:, None] + thick * (there.cumsum(axis=1) - (counts + 1) / 2)
    drawn = []
    for name, values, place, drawn_here in zip(series or [""], columns.T, places.T, there.T, strict=True):
        values = values[drawn_here]
        fill = fills[name] if series or values.min() >= 0 else _by_sign(values)
        looks = {"color": fill, "edgecolor": style.QUIET, "linewidth": 0.5, "height": 0.9 * thick} | kwargs
        drawn.append(ax.barh(place[drawn_here], _steady(values), label=name, **looks))
    return drawn


def _write_numbers(ax, drawn, columns, decimals, *, beyond):
    """Write each bar's number at its end, and beyond the lines that it is compared with, which would run through it."""
    for of_series, values in zip(drawn, columns.T, strict=True):
        for bar, value in zip(of_series, values[np.isfinite(values)], strict=True):
            end, left = (value, True) if value < 0 else (max(value, beyond), False)
            ax.annotate(
                number(value, decimals), (end, bar.get_y() + bar.get_height() / 2), xytext=(-4 if left else 4, 0),
                textcoords="offset points", ha="right" if left else "left", va="center", fontweight="bold",
            )  # fmt: skip


def _by_sign(values):
    return [palette.DIVERGING[1] if value < 0 else palette.DIVERGING[-2] for value in values]


def _name_bars(ax, labels):
    ax.set_yticks(range(len(labels)), [textwrap.fill(str(label), LONG) for label in labels])
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_xticks([])
    ax.tick_params("y", length=0)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.axvline(0, color=style.INK, linewidth=1)


def _make_room(ax, columns, lines, decimals):
    """Leave room for the numbers beyond the bars' ends."""
    low, high = min(0, np.nanmin(columns)), max(0, np.nanmax(columns), *lines.values())
    letters = max(len(number(value, decimals)) for value in (low, high)) + 1.5
    inches = 0.8 * ax.get_position().width * ax.figure.get_figwidth()  # the names take the rest
    share = min(LETTER * letters / inches, 0.35)
    room = share * (high - low or 1) / (1 - share * (1 + (low < 0)))
    ax.set_xlim(low - room * (low < 0), high + room)


def _scale_curves(ax, x, values, doubling, wide):
    if doubling:
        ax.set_xscale("log", base=2)
        ax.set_xticks(x, [f"{tick:g}" for tick in x])
        ax.minorticks_off()
    if wide:
        ax.set_yscale("log")
        return
    ax.locator_params("y", nbins=6)  # a number that doesn't depend on the room: a layout finds out how much there is
    if 0 <= values.min() < 0.6 * values.max():
        ax.lines[-1].sticky_edges.y.append(0)  # the axis begins there; what shares it may still be higher
        ax.update_datalim([(x[0], 0)])
        ax.autoscale_view()
