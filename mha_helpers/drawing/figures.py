"""The notebooks' static figures, each with a text twin.

A figure is shown as a PNG together with a sentence computed from the data that it drew. The sentence is
what a screen reader gets and what nbval compares; it is also written into the PNG, so that a picture
that does not belong to its sentence is noticed.
"""

import io
from base64 import b64encode
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from mha_helpers.drawing import style
from mha_helpers.drawing.style import number

DPI = 100
INCH_WIDE, INCH_HIGH = style.CELL_WIDTH / DPI, style.CELL_HEIGHT / DPI
LABEL_SIZE = style.FONT_SIZE * 72 / DPI  # points, so that text is as large as in a lab


class CourseFigure:
    """A matplotlib figure and the sentence that says what it shows.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    text : str
    """

    def __init__(self, figure, text):
        self.figure, self.text = figure, text

    def png(self):
        """Return the picture as PNG bytes, its sentence in the text chunk `Description`."""
        buffer = io.BytesIO()
        metadata = {"Description": self.text, "Software": None}
        self.figure.savefig(buffer, format="png", dpi=DPI, facecolor=style.PAPER, metadata=metadata)
        return buffer.getvalue()

    def __repr__(self):
        return self.text

    def _repr_mimebundle_(self, **kwargs):
        return {"image/png": b64encode(self.png()).decode(), "text/plain": self.text}


class Matrix(NamedTuple):
    """A matrix to draw, with the names of its rows and columns.

    Parameters
    ----------
    title : str
    values : array_like, shape (n_rows, n_columns)
    role : {"X", "queries", "keys", "values", "output", "scores", "weights"}
        Decides the colours.
    rows : sequence of str
    columns : sequence of str, optional
    decimals : int, optional
    corner : str, optional
        What rows and columns are, where they are not queries and keys.
    """

    title: str
    values: object
    role: str
    rows: tuple
    columns: tuple = ()
    decimals: int = 2
    corner: str = "query \\ key"


def matrices(*shown):
    """Draw matrices side by side, with a number in each cell.

    Parameters
    ----------
    *shown : Matrix

    Returns
    -------
    CourseFigure

    Raises
    ------
    ValueError
        If a matrix has not two axes, or its labels do not fit, or its role is unknown.

    Examples
    --------
    >>> matrices(Matrix("Q", [[0.8, -0.2]], "queries", ("I",)))
    Q: I (0.80, −0.20).
    """
    shown = [matrix._replace(values=np.asarray(matrix.values, dtype=float)) for matrix in shown]
    for matrix in shown:
        _check_labels(matrix)
    longest = max(len(label) for matrix in shown for label in (*matrix.rows, matrix.corner if matrix.columns else ""))
    label_width = 0.085 * longest + 0.15
    widths = [label_width + matrix.values.shape[1] * INCH_WIDE + 0.15 for matrix in shown]
    height = max(len(matrix.rows) for matrix in shown) * INCH_HIGH + 0.62
    figure = Figure(figsize=(sum(widths), height))
    left = 0.0
    for matrix, width in zip(shown, widths, strict=True):
        n_rows, n_columns = matrix.values.shape
        place = (left + label_width, height - 0.57 - n_rows * INCH_HIGH, n_columns * INCH_WIDE, n_rows * INCH_HIGH)
        axes = figure.add_axes([place[0] / sum(widths), place[1] / height, place[2] / sum(widths), place[3] / height])
        _draw_matrix(axes, matrix)
        left += width
    return CourseFigure(figure, " ".join(_matrix_sentence(matrix) for matrix in shown))


def attention_map(weights, queries, keys=None):
    """Draw attention weights: a row for each query, a column for each key.

    Parameters
    ----------
    weights : array_like, shape (n_queries, n_keys)
    queries : sequence of str
        The tokens that ask.
    keys : sequence of str, optional
        The tokens that are asked: the same unless given.

    Returns
    -------
    CourseFigure

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
    drawn = matrices(Matrix("weights", weights, "weights", tuple(queries), tuple(keys)))
    weights = np.asarray(weights, dtype=float)
    most = ", ".join(_attends(query, keys, row) for query, row in zip(queries, weights, strict=True))
    return CourseFigure(drawn.figure, f"Attention weights, {len(queries)} queries by {len(keys)} keys: {most}.")


def _attends(query, keys, row):
    if not np.isfinite(row).all():
        return f"“{query}” has NaN or infinity"
    if not row.any():
        return f"“{query}” attends to nothing"
    return f"“{query}” attends most to “{keys[row.argmax()]}” ({number(row.max())})"


def weight_bars(tokens, choices):
    """Draw several ways of turning the same scores into weights beside each other.

    Parameters
    ----------
    tokens : sequence of str
    choices : dict of str to array_like, shape (n_tokens,)
        From the name of a way to its weights.

    Returns
    -------
    CourseFigure

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
    figure = Figure(figsize=(2.7 * len(choices), 2.6), layout="constrained")
    every = np.concatenate([*choices.values(), [0, 1]])
    for axes, (name, values) in zip(figure.subplots(1, len(choices), squeeze=False)[0], choices.items(), strict=True):
        bars = axes.bar(range(len(tokens)), values, color=[style.weight_colour(0.65)] * len(tokens))
        axes.set_xticks(range(len(tokens)), tokens)  # by place: a token may occur twice
        labels = [number(value) for value in values]
        axes.bar_label(bars, labels=labels, padding=2, fontsize=LABEL_SIZE)
        axes.axhline(0, color=style.INK, linewidth=0.8)
        axes.set_ylim(every.min() * 1.4, every.max() * 1.2)
        axes.set_title(name, fontsize=LABEL_SIZE, fontweight="bold")
        axes.tick_params(labelsize=LABEL_SIZE)
        axes.spines[["top", "right"]].set_visible(False)
    said = "; ".join(
        f"{name}: " + ", ".join(f"{token} {number(value)}" for token, value in zip(tokens, values, strict=True))
        for name, values in choices.items()
    )
    return CourseFigure(figure, f"Bars. {said}.")


def moved_vectors(before, after, features):
    """Draw vectors in the plane, and where each of them goes.

    Parameters
    ----------
    before : dict of str to array_like, shape (2,)
        From a name to a point.
    after : dict of str to array_like, shape (2,)
        For some of them, and under a label of their own, where they went: `{"bank, near the river": (1.2, 0.4)}`.
        A label begins with the name of its point.
    features : tuple of str
        The names of the two axes.

    Returns
    -------
    CourseFigure

    Raises
    ------
    ValueError
        If a label of `after` begins with no name of `before`.

    Examples
    --------
    >>> moved_vectors({"bank": (1, 1)}, {"bank, near the river": (1.25, 0.41)}, ("water", "money"))
    Vectors (water, money): bank (1.00, 1.00). Moved: bank, near the river (1.25, 0.41).
    """
    figure = Figure(figsize=(5.6, 4.0), layout="constrained")
    axes = figure.subplots()
    for name, (x, y) in before.items():
        axes.plot(x, y, "o", color=style.ROLES["X"])
        axes.annotate(name, (x, y), (6, 6), textcoords="offset points", fontsize=LABEL_SIZE)
    for label, (x, y) in after.items():
        name = max((name for name in before if label.startswith(name)), key=len, default=None)
        if name is None:
            raise ValueError(f"label {label!r} begins with none of {list(before)}; begin it with the point's name")
        arrow = {"arrowstyle": "->", "color": style.role_text("output"), "linewidth": 2}
        axes.annotate("", (x, y), before[name], arrowprops=arrow)
        axes.plot(x, y, "s", color=style.ROLES["output"], markeredgecolor=style.INK)
        axes.annotate(label, (x, y), (8, 8), textcoords="offset points", fontsize=LABEL_SIZE)
    points = np.array([*before.values(), *after.values()], dtype=float)
    axes.set_xlim(min(points[:, 0].min(), 0) - 0.2, points[:, 0].max() + 0.6)
    axes.set_ylim(min(points[:, 1].min(), 0) - 0.2, points[:, 1].max() + 0.3)
    axes.set_xlabel(f"feature: {features[0]}", fontsize=LABEL_SIZE)
    axes.set_ylabel(f"feature: {features[1]}", fontsize=LABEL_SIZE)
    axes.tick_params(labelsize=LABEL_SIZE)
    axes.spines[["top", "right"]].set_visible(False)

    def listed(points):
        return ", ".join(f"{name} ({number(x)}, {number(y)})" for name, (x, y) in points.items())

    return CourseFigure(figure, f"Vectors ({', '.join(features)}): {listed(before)}. Moved: {listed(after)}.")


CURVES = ({"color": style.INK, "marker": "o"}, {"color": style.weight_colour(0.75), "marker": "s", "linestyle": "--"})

WIDE = 100  # from this factor between its values on, a panel has a logarithmic scale


def curves(x, panels, *, x_name):
    """Draw measured quantities against something that doubles from point to point, a panel for each.

    Parameters
    ----------
    x : sequence of int
        Drawn on a logarithmic scale.
    panels : dict of str to dict of str to sequence of float
        From a panel's title to its one or two curves, by name, with a value for each x.
    x_name : str

    Returns
    -------
    CourseFigure

    Raises
    ------
    ValueError
        If there is nothing to draw, an x is not above 0, a curve has not one value for each x, or a panel has
        more than two curves.

    Examples
    --------
    >>> curves([1, 2], {"variance": {"measured": [1.0, 2.1]}}, x_name="d_k")
    Curves against d_k = 1, 2. variance: measured 1.00, 2.10.
    """
    if not panels or not len(x) or min(x) <= 0:
        raise ValueError(f"there are {len(panels)} panels against {list(x)}; give one or more, and every x above 0")
    for title, named in panels.items():
        if not 1 <= len(named) <= len(CURVES):
            raise ValueError(f"panel {title!r} has {len(named)} curves; give 1 to {len(CURVES)}")
        for name, values in named.items():
            if len(values) != len(x):
                raise ValueError(
                    f"curve {name!r} has {len(values)} values for {len(x)} values of {x_name}; give one for each"
                )
    figure = Figure(figsize=(4.2 * min(len(panels), 2), 2.9 * -(-len(panels) // 2)), layout="constrained")
    grid = figure.subplots(-(-len(panels) // 2), min(len(panels), 2), squeeze=False).ravel()
    for axes, (title, named) in zip(grid, panels.items(), strict=False):
        for (name, values), look in zip(named.items(), CURVES, strict=False):
            axes.plot(x, values, markersize=5, label=name, **look)
        axes.set_xscale("log", base=2)
        axes.set_xticks(x, [str(value) for value in x])
        axes.minorticks_off()
        if _is_wide(named):
            axes.set_yscale("log")
        elif min(map(min, named.values())) >= 0:
            axes.set_ylim(bottom=0)
        axes.set_title(title, fontsize=LABEL_SIZE, fontweight="bold", loc="left")
        axes.set_xlabel(x_name, fontsize=LABEL_SIZE)
        axes.tick_params(labelsize=LABEL_SIZE * 0.9)
        axes.spines[["top", "right"]].set_visible(False)
        if len(named) > 1:
            axes.legend(fontsize=LABEL_SIZE * 0.9, frameon=False)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    said = []
    for title, named in panels.items():
        # Where they span much, a small value must not be written as 0.
        written = (lambda value: f"{value:.3g}") if _is_wide(named) else number
        listed = (f"{name} {', '.join(map(written, values))}" for name, values in named.items())
        said.append(f"{title}: {', '.join(listed)}")
    x_values = ", ".join(map(str, x))
    return CourseFigure(figure, f"Curves against {x_name} = {x_values}. {'; '.join(said)}.")


def _is_wide(named):
    """Tell whether a panel's values are above 0 and span so much that a linear scale would hide the small ones."""
    lowest, highest = min(map(min, named.values())), max(map(max, named.values()))
    return 0 < WIDE * lowest < highest


def _check_labels(matrix):
    if matrix.values.ndim != 2 or matrix.values.shape[0] != len(matrix.rows):
        raise ValueError(
            f"{matrix.title!r} has shape {matrix.values.shape} and {len(matrix.rows)} row labels; give one a row"
        )
    if matrix.columns and matrix.values.shape[1] != len(matrix.columns):
        raise ValueError(
            f"{matrix.title!r} has shape {matrix.values.shape} and {len(matrix.columns)} column labels; "
            "give one a column"
        )
    roles = [*style.ROLES, "scores", "weights"]
    if matrix.role not in roles:
        raise ValueError(f"{matrix.title!r} has the role {matrix.role!r}; give one of {', '.join(roles)}")


def _colours(matrix):
    if matrix.role == "weights":
        return style.weight_colour
    if matrix.role == "scores":
        return style.score_colours(max(1.0, np.abs(matrix.values[np.isfinite(matrix.values)]).max(initial=0)))
    return style.role_colours(matrix.role)


def _draw_matrix(axes, matrix):
    n_rows, n_columns = matrix.values.shape
    colours = _colours(matrix)
    for (i, j), value in np.ndenumerate(matrix.values):
        colour = colours(value)
        axes.add_patch(Rectangle((j, i), 1, 1, facecolor=colour, edgecolor=style.PAPER))
        if not np.isfinite(value):  # a patch of its own: a hatch has its patch's edge colour
            axes.add_patch(Rectangle((j, i), 1, 1, fill=False, edgecolor=style.QUIET, linewidth=0, hatch="//"))
        ink = style.text_colour(colour)
        axes.text(
            j + 0.5, i + 0.5, number(value, matrix.decimals), ha="center", va="center", color=ink, fontsize=LABEL_SIZE
        )
    axes.set_xlim(0, n_columns)
    axes.set_ylim(n_rows, 0)
    axes.set_yticks(np.arange(n_rows) + 0.5, matrix.rows, fontsize=LABEL_SIZE)
    axes.set_xticks(np.arange(len(matrix.columns)) + 0.5, matrix.columns, fontsize=LABEL_SIZE)
    axes.xaxis.tick_top()
    if matrix.columns:
        axes.text(-0.08, -0.28, matrix.corner, ha="right", va="center", color=style.QUIET, fontsize=LABEL_SIZE * 0.9)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    title_colour = style.role_text(matrix.role) if matrix.role in style.ROLES else style.INK
    pad = 22 if matrix.columns else 6
    axes.set_title(matrix.title, fontsize=LABEL_SIZE, fontweight="bold", color=title_colour, loc="left", pad=pad)


def _matrix_sentence(matrix):
    rows = ", ".join(
        f"{label} ({', '.join(number(value, matrix.decimals) for value in row)})"
        for label, row in zip(matrix.rows, matrix.values, strict=True)
    )
    return f"{matrix.title}: {rows}."
