"""The whole of multi-head attention in one picture: tensors to scale, and the lines along which numbers flow.

The picture is drawn of the running example. Parts of it can be lit, with the rest dimmed: that is how the tour
goes through it, and how the course's map shows where a notebook stands.
"""

import functools
import math

from live_pictures import style, svg
from mha_helpers import running_example as example
from mha_helpers.drawing import palette

CELL = (11, 8)  # of every tensor, so that their sizes can be compared
WIDTH, HEIGHT = 644, 194
DIM = 0.35

N, D, HEADS = len(example.TOKENS), len(example.FEATURES), example.N_HEADS
D_HEAD = D // HEADS

_MIDDLE = 79
# By name: the top left corner, the shape, and what it is.
TENSORS = {
    "X": (58, _MIDDLE, (N, D), "X"),
    "W_Q": (122, 20, (D, D), "queries"),
    "W_K": (122, 83, (D, D), "keys"),
    "W_V": (122, 146, (D, D), "values"),
    "Q": (188, 16, (N, D), "queries"),
    "K": (188, _MIDDLE, (N, D), "keys"),
    "V": (188, 142, (N, D), "values"),
    "weights 0": (278, 36, (N, N), 0),
    "weights 1": (278, 118, (N, N), 1),
    "context 0": (376, 36, (N, D_HEAD), 0),
    "context 1": (376, 118, (N, D_HEAD), 1),
    "concat": (434, _MIDDLE, (N, D), None),
    "W_O": (500, _MIDDLE + CELL[1] / 2, (D, D), None),
    "output": (566, _MIDDLE, (N, D), "output"),
}
# Where a name stands that would meet another or a line above its tensor's corner.
NAMES = {"context 0": (403, 31), "context 1": (403, 167)}
# By name: from where to where, and the colour; "Q 1" is head 1's half of Q.
LINES = {
    "project Q": (("X", "W_Q"), ("W_Q", "Q")),
    "project K": (("X", "W_K"), ("W_K", "K")),
    "project V": (("X", "W_V"), ("W_V", "V")),
    "ask 0": (("Q 0", "weights 0"), ("K 0", "weights 0")),
    "ask 1": (("Q 1", "weights 1"), ("K 1", "weights 1")),
    "mix 0": (("weights 0", "context 0"), ("V 0", "context 0")),
    "mix 1": (("weights 1", "context 1"), ("V 1", "context 1")),
    "join 0": (("context 0", "concat"),),
    "join 1": (("context 1", "concat"),),
}
EVERYTHING = frozenset(TENSORS) | frozenset(LINES) | {"tokens", "out", "on"}


def block(lit=EVERYTHING, *, row=None, wrong=(), weights=None, output=None, moving=False, named=True, span=(0, WIDTH)):
    """Draw the whole block.

    Parameters
    ----------
    lit : set of str, optional
        What is shown in full: keys of TENSORS and LINES, "tokens", "out" (the product with W_O) and "on" (what
        follows). The rest is dimmed.
    row : int, optional
        A token whose rows are framed.
    wrong : set of str, optional
        Tensors to mark as different from the course's.
    weights : ndarray, shape (n_heads, seq_len, seq_len), optional
        Drawn instead of the course's.
    output : ndarray, shape (seq_len, d_model), optional
        Drawn instead of the course's.
    moving : bool, optional
        Whether lit lines flow for a moment, where the card's style sheet stands in the page.
    named : bool, optional
        Whether the words and the tensors' names are written: they are too small where the picture is.
    span : (float, float), optional
        From where to where it is drawn; lines are cut there.

    Returns
    -------
    list of str
        Fragments of a picture that is WIDTH by HEIGHT.
    """
    left, right = span
    lines = _lines(lit, moving)
    if span != (0, WIDTH):
        place = f'x="{left}" width="{right - left}" height="{HEIGHT}" viewBox="{left} 0 {right - left} {HEIGHT}"'
        lines = f'<svg {place} style="overflow:hidden">{lines}</svg>'
    parts = [lines]
    for name, values in _arrays(weights, output).items():
        if not left <= TENSORS[name][0] < right:
            continue
        parts.append(_tensor(name, values, lit=name in lit, row=row, wrong=name in wrong, named=named))
    return parts + (_words(lit, row, named) if left == 0 else []) + (_product(lit) if right == WIDTH else [])


def _arrays(weights, output):
    stages = example.stages()
    weights = stages.weights if weights is None else weights
    return {
        "X": stages.X, "W_Q": example.W_Q, "W_K": example.W_K, "W_V": example.W_V,
        "Q": stages.queries, "K": stages.keys, "V": stages.values, "weights 0": weights[0], "weights 1": weights[1],
        "context 0": stages.contexts[0], "context 1": stages.contexts[1], "concat": stages.concat,
        "W_O": example.W_O, "output": stages.output if output is None else output,
    }  # fmt: skip


def colour_of(name, row, column):
    """Return the colour of a tensor's cell: that of its role or, where it belongs to one head alone, of its head."""
    role = TENSORS[name][3]
    if role is None:
        role = (row if name == "W_O" else column) // D_HEAD
    return palette.head_colour(role) if isinstance(role, int) else palette.ROLES[role]


def fill(name, value, row, column, largest):
    """Return the fill of a tensor's cell: stronger where the number is larger."""
    if not math.isfinite(value):
        return style.HIDDEN
    if name.startswith("weights"):
        return palette.head_weight_colours(TENSORS[name][3])(value)
    return style.tint(colour_of(name, row, column), 0.13 + 0.55 * min(abs(value) / largest, 1))


def _tensor(name, values, *, lit, row, wrong, named):
    x, y, (rows, columns), role = TENSORS[name]
    width, height = columns * CELL[0], rows * CELL[1]
    cells = _cells(name, tuple(map(tuple, values.tolist())))  # plain numbers: NumPy's are slow one by one
    parts = [f"<g{_dimmed(lit)}><title>{name}: {rows} by {columns}</title>{cells}</g>"]
    if lit and row is not None and rows == N and name not in "KV":  # a query has no row in keys and values
        parts.append(
            svg.box(x - 1.5, y + row * CELL[1] - 1.5, width + 2, CELL[1] + 2, stroke=style.INK, stroke_width=1.5)
        )
    part = name.partition(" ")[0]
    if named:
        colour = palette.head_text(role) if isinstance(role, int) else palette.role_text(role) if role else style.INK
        called = name if part == "weights" else part
        left, baseline = NAMES.get(name, (x - 1, y - 5))
        parts.append(svg.text(left, baseline, called, bold=lit, size=11, colour=colour if lit else style.QUIET))
    if wrong:  # below the name, and beside the lines
        right, bottom = x + width + 2, y + height + 4
        parts += [
            svg.box(x - 3, y - 2.5, width + 5, height + 4, stroke=style.ALARM, stroke_width=2, dashed=True),
            svg.box(right - 8, bottom - 8, 15, 15, fill=style.ALARM),
            svg.text(right - 0.5, bottom + 4, "≠", anchor="middle", bold=True, colour=style.PAPER, size=12),
        ]
    return "".join(parts)


@functools.lru_cache(64)  # from step to step of a tour only what is lit changes
def _cells(name, values):
    x, y, (rows, columns), _ = TENSORS[name]
    width, height = columns * CELL[0], rows * CELL[1]
    largest = max([1, *(abs(value) for row in values for value in row if math.isfinite(value))])
    cells = svg.box(x - 1, y - 1, width + 1, height + 1, stroke=style.GRID)
    filled = (
        (x + j * CELL[0], y + i * CELL[1], fill(name, value, i, j, largest))
        for i, row in enumerate(values)
        for j, value in enumerate(row)
    )
    cells += svg.boxes(filled, CELL[0] - 1, CELL[1] - 1)
    if name in "QKV":  # whose columns are whose
        for head in range(HEADS):
            left = x + head * width / 2
            cells += svg.box(left, y + height + 1, width / 2 - 1, 3, fill=palette.head_colour(head))
    return cells


def _dimmed(lit):
    return "" if lit else f' opacity="{DIM}"'


def _lines(lit, moving):
    parts = []
    for name, pieces in LINES.items():
        whose = name.partition(" ")[2]
        role = {"Q": "queries", "K": "keys", "V": "values"}.get(whose)
        colour = palette.ROLES[role] if role else palette.head_colour(int(whose))
        for start, end in pieces:
            path = _below(start, end) if start[0] == "V" else _curve(_right(start), _left(end))
            parts.append(_line(path, colour, lit=name in lit, moving=moving))
    return "".join(parts)


def _line(path, colour, *, lit, moving):
    drawn = f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{2 if lit else 1.2}"{_dimmed(lit)}/>'
    if lit and moving:
        looks = f'fill="none" stroke="{style.PAPER}" stroke-width="1.6" stroke-dasharray="3 13"'
        drawn += f'<path class="mha-flow" d="{path}" {looks}/>'
    return drawn


def _right(name):
    """Return where a line leaves a tensor; from Q, K and V each head's half has its own place."""
    part, _, head = name.partition(" ")
    x, y, (rows, columns), _ = TENSORS[part if part in "QKV" else name]
    height = rows * CELL[1]
    middle = y + height * (0.3 + 0.4 * int(head)) if part in "QKV" and head else y + height / 2
    return x + columns * CELL[0] + 2, middle


def _left(name):
    x, y, (rows, _), _ = TENSORS[name]
    return x - 3, y + rows * CELL[1] / 2


def _curve(start, end):
    (x0, y0), (x1, y1) = start, end
    bend = (x1 - x0) * 0.5
    return f"M{x0:g} {y0:g}C{x0 + bend:g} {y0:g} {x1 - bend:g} {y1:g} {x1:g} {y1:g}"


def wire(start, end, n_points=6):
    """Return points along the wire between tensors: from X through its matrix, and from Q to K or V by way of X."""
    made = {"Q": "W_Q", "K": "W_K", "V": "W_V"}
    if start in made:
        if end in made:
            return [*reversed(wire("X", start)), *wire("X", end)]
        start += f" {end[-1]}"
    if start == "X" and end in made:
        return [*wire("X", made[end]), *wire(made[end], end)]
    (x0, y0), (x1, y1), points = _right(start), _left(end), []
    for t in (k / (n_points - 1) for k in range(n_points)):
        along = 1.5 * t * (1 - t) + t**3  # as `_curve` has its bends
        points.append((round(x0 + (x1 - x0) * along, 1), round(y0 + (y1 - y0) * (3 * t**2 - 2 * t**3), 1)))
    return points


def _below(start, end):
    """Lead the values below the weights into the context."""
    (x0, y0), (x, y, (rows, columns), _) = _right(start), TENSORS[end]
    x1, bottom = x + columns * CELL[0] / 2, y + rows * CELL[1] + 2
    level = bottom + 9
    x2 = TENSORS["weights 0"][0] - 8
    bend = (x2 - x0) / 2
    return f"M{x0:g} {y0:g}C{x0 + bend:g} {y0:g} {x2 - bend:g} {level:g} {x2:g} {level:g}H{x1 - 9:g}q9 0 9 -9"


def _words(lit, row, named):
    parts = []
    x, y, *_ = TENSORS["X"]
    first = y + N * CELL[1] / 2 - N * 14 / 2
    for i, token in enumerate(example.TOKENS):
        word, middle = first + 14 * i + 11, y + (i + 0.5) * CELL[1]
        chosen = row == i
        if named:
            parts.append(svg.text(50, word, token, anchor="end", size=11, bold=chosen))
        stroke = style.INK if chosen else palette.ROLES["X"]
        parts.append(_line(_curve((52, word - 4), (x - 3, middle)), stroke, lit="tokens" in lit, moving=False))
    return parts


def _product(lit):
    """Draw the signs of the last product, and where the output goes."""
    parts, strong, middle = [], "out" in lit, _MIDDLE + N * CELL[1] / 2
    for sign, at in (("×", 489), ("=", 555)):
        parts.append(
            svg.text(
                at, middle + 5, sign, anchor="middle", size=15, bold=strong, colour=style.INK if strong else style.QUIET
            )
        )
    right = TENSORS["output"][0] + D * CELL[0] + 3
    arrow = f"M{right:g} {middle:g}h20m-6 -5l6 5l-6 5"
    parts.append(_line(arrow, palette.ROLES["output"], lit="on" in lit, moving=False))
    return parts
