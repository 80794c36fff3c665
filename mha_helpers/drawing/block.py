"""The whole of multi-head attention in one picture: tensors to scale, and the lines along which numbers flow.

The picture is drawn of the running example. Parts of it can be lit, with the rest dimmed: that is how the tour
goes through it, and how the course's map shows where a notebook stands.
"""

import functools
import math
from dataclasses import dataclass

from live_pictures import style, svg
from mha_helpers import running_example as example
from mha_helpers.drawing import palette

WORD = 12  # from one of X's words to the next: close, so that the last keeps clear of the lines below
CELL = (11, 8)  # of every tensor, so that their sizes can be compared
WIDTH, HEIGHT = 644, 194
DIM = 0.35

N, D, HEADS = len(example.TOKENS), len(example.FEATURES), example.N_HEADS
D_HEAD = D // HEADS


@dataclass(frozen=True)
class Layout:
    """Where tensors stand, and which way numbers flow: to the right, or down.

    Lines are reckoned in two coordinates, along the flow and across it.

    Parameters
    ----------
    width, height : float
        Of the whole picture.
    tensors : dict
        By name: the top left corner, the shape, and what it is.
    names : dict
        Where a name stands that would meet another or a line above its tensor's corner, and its anchor.
    signs : dict of str to float
        Where the signs of the last product stand.
    flows_down : bool
    """

    width: float
    height: float
    tensors: dict
    names: dict
    signs: dict
    flows_down: bool

    def _extent(self, name):
        """Return a tensor's ends along the flow, and across it where it begins and how wide it is."""
        x, y, (rows, columns), _ = self.tensors[name]
        width, height = columns * CELL[0], rows * CELL[1]
        return (y, y + height, x, width) if self.flows_down else (x, x + width, y, height)

    def _leaves(self, name):
        """Return where a line leaves a tensor; from Q, K and V each head's half has its own place."""
        part, _, head = name.partition(" ")
        _, end, edge, extent = self._extent(part if part in "QKV" else name)
        share = 0.3 + 0.4 * int(head) if part in "QKV" and head else 0.5
        return end + 2, edge + extent * share

    def _arrives(self, name):
        start, _, edge, extent = self._extent(name)
        return start - 3, edge + extent / 2

    def _places(self, *points):
        """Write points of a path, whose coordinates are along and across."""
        order = (1, 0) if self.flows_down else (0, 1)
        return " ".join(f"{point[order[0]]:g} {point[order[1]]:g}" for point in points)

    def path(self, start, end):
        """Return the path of a line between two tensors; values go round the weights."""
        return self._round_the_weights(start, end) if start[0] == "V" else self._curve(start, end)

    def _curve(self, start, end):
        (a0, c0), (a1, c1) = self._leaves(start), self._arrives(end)
        bend = (a1 - a0) / 2
        return f"M{self._places((a0, c0))}C{self._places((a0 + bend, c0), (a1 - bend, c1), (a1, c1))}"

    def _round_the_weights(self, start, end):
        """Lead the values past the weights into the context."""
        (a0, c0), (near, far, edge, extent) = self._leaves(start), self._extent(end)
        side = edge + extent + 2
        level, middle = side + 9, (near + far) / 2
        a1 = self._extent("weights 0")[0] - 8
        bend = (a1 - a0) / 2
        return (
            f"M{self._places((a0, c0))}C{self._places((a0 + bend, c0), (a1 - bend, level), (a1, level))}"
            f"L{self._places((middle - 9, level))}Q{self._places((middle, level), (middle, side))}"
        )

    def wire(self, start, end, n_points=6):
        """Return points along the wire between tensors: from X through its matrix, and from Q to K or V by way of X."""
        made = {"Q": "W_Q", "K": "W_K", "V": "W_V"}
        if start in made:
            if end in made:
                return [*reversed(self.wire("X", start)), *self.wire("X", end)]
            start += f" {end[-1]}"
        if start == "X" and end in made:
            return [*self.wire("X", made[end]), *self.wire(made[end], end)]
        (a0, c0), (a1, c1), points = self._leaves(start), self._arrives(end), []
        for t in (k / (n_points - 1) for k in range(n_points)):
            share = 1.5 * t * (1 - t) + t**3  # as `_curve` has its bends
            along, across = a0 + (a1 - a0) * share, c0 + (c1 - c0) * (3 * t**2 - 2 * t**3)
            point = (across, along) if self.flows_down else (along, across)
            points.append(tuple(round(place, 1) for place in point))
        return points


# By name: the shape, and what it is.
KINDS = {
    "X": ((N, D), "X"),
    "W_Q": ((D, D), "queries"),
    "W_K": ((D, D), "keys"),
    "W_V": ((D, D), "values"),
    "Q": ((N, D), "queries"),
    "K": ((N, D), "keys"),
    "V": ((N, D), "values"),
    "weights 0": ((N, N), 0),
    "weights 1": ((N, N), 1),
    "context 0": ((N, D_HEAD), 0),
    "context 1": ((N, D_HEAD), 1),
    "concat": ((N, D), None),
    "W_O": ((D, D), None),
    "output": ((N, D), "output"),
}


def _placed(*corners):
    return {name: (*corner, *kind) for (name, kind), corner in zip(KINDS.items(), corners, strict=True)}


_MIDDLE = 79
LYING = Layout(
    WIDTH, HEIGHT,
    _placed(
        (58, _MIDDLE), (122, 20), (122, 83), (122, 146), (188, 16), (188, _MIDDLE), (188, 142), (278, 36), (278, 118),
        (376, 36), (376, 118), (434, _MIDDLE), (500, _MIDDLE + CELL[1] / 2), (566, _MIDDLE),
    ),
    names={"context 0": (403, 31, "start"), "context 1": (403, 167, "start")},
    signs={"×": 489, "=": 555},
    flows_down=False,
)  # fmt: skip
# As wide as what a card has left beside the tour's numbers.
STANDING = Layout(
    284, 422,
    _placed(
        (118, 16), (20, 84), (118, 84), (206, 84), (20, 146), (118, 146), (206, 146), (68, 232), (150, 232), (101, 304),
        (183, 304), (22, 364), (114, 364 + CELL[1] / 2), (206, 364),
    ),
    names={
        "X": (166, 40, "start"), "W_Q": (68, 104, "start"), "W_K": (166, 104, "start"), "W_V": (253, 104, "start"),
        "Q": (68, 170, "start"), "K": (166, 170, "start"), "V": (253, 170, "start"),
        "weights 0": (62, 256, "end"), "weights 1": (220, 256, "start"),
        "context 0": (95, 328, "end"), "context 1": (220, 328, "start"),
        "concat": (22, 417, "start"), "W_O": (114, 417, "start"), "output": (206, 417, "start"),
    },
    signs={"×": 90, "=": 182},
    flows_down=True,
)  # fmt: skip
# By name: from where to where; "Q 1" is head 1's half of Q.
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
EVERYTHING = frozenset(KINDS) | frozenset(LINES) | {"tokens", "out", "on"}


def block(lit=EVERYTHING, layout=LYING, *, row=None, wrong=(), weights=None, output=None, moving=False, named=True):
    """Draw the whole block.

    Parameters
    ----------
    lit : set of str, optional
        What is shown in full: keys of KINDS and LINES, "tokens", "out" (the product with W_O) and "on" (what
        follows). The rest is dimmed.
    layout : Layout, optional
        LYING or STANDING.
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
        Whether words, tensors' names and signs are written: they are too small where the picture is.

    Returns
    -------
    list of str
        Fragments of a picture that is as wide and as high as the layout.
    """
    parts = [_lines(layout, lit, moving)]
    for name, values in _arrays(weights, output).items():
        parts.append(_tensor(layout, name, values, lit=name in lit, row=row, wrong=name in wrong, named=named))
    words = _words(layout, lit, row) if named else []
    return [*parts, *words, *_product(layout, lit, named)]


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
    _, role = KINDS[name]
    if role is None:
        role = (row if name == "W_O" else column) // D_HEAD
    return palette.head_colour(role) if isinstance(role, int) else palette.ROLES[role]


def fill(name, value, row, column, largest):
    """Return the fill of a tensor's cell: stronger where the number is larger."""
    if not math.isfinite(value):
        return style.HIDDEN
    if name.startswith("weights"):
        return palette.head_weight_colours(KINDS[name][1])(value)
    return style.tint(colour_of(name, row, column), 0.13 + 0.55 * min(abs(value) / largest, 1))


def _tensor(layout, name, values, *, lit, row, wrong, named):
    x, y, (rows, columns), role = layout.tensors[name]
    width, height = columns * CELL[0], rows * CELL[1]
    cells = _cells(name, x, y, tuple(map(tuple, values.tolist())))  # plain numbers: NumPy's are slow one by one
    parts = [f"<g{_dimmed(lit)}><title>{name}: {rows} by {columns}</title>{cells}</g>"]
    if lit and row is not None and rows == N and name not in "KV":  # a query has no row in keys and values
        parts.append(
            svg.box(x - 1.5, y + row * CELL[1] - 1.5, width + 2, CELL[1] + 2, stroke=style.INK, stroke_width=1.5)
        )
    part = name.partition(" ")[0]
    if named:
        colour = palette.head_text(role) if isinstance(role, int) else palette.role_text(role) if role else style.INK
        called = name if part == "weights" else part
        at, baseline, anchor = layout.names.get(name, (x - 1, y - 5, "start"))
        ink = colour if lit else style.QUIET
        parts.append(svg.text(at, baseline, called, anchor=anchor, bold=lit, size=11, colour=ink))
    if wrong:  # below the name, and beside the lines
        right, bottom = x + width + 2, y + height + 4
        parts += [
            svg.box(x - 3, y - 2.5, width + 5, height + 4, stroke=style.ALARM, stroke_width=2, dashed=True),
            svg.box(right - 8, bottom - 8, 15, 15, fill=style.ALARM),
            svg.text(right - 0.5, bottom + 4, "≠", anchor="middle", bold=True, colour=style.PAPER, size=12),
        ]
    return "".join(parts)


@functools.lru_cache(64)  # from step to step of a tour only what is lit changes
def _cells(name, x, y, values):
    (rows, columns), _ = KINDS[name]
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


def _lines(layout, lit, moving):
    parts = []
    for name, pieces in LINES.items():
        whose = name.partition(" ")[2]
        role = {"Q": "queries", "K": "keys", "V": "values"}.get(whose)
        colour = palette.ROLES[role] if role else palette.head_colour(int(whose))
        for start, end in pieces:
            parts.append(_line(layout.path(start, end), colour, lit=name in lit, moving=moving))
    return "".join(parts)


def _line(path, colour, *, lit, moving):
    drawn = f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{2 if lit else 1.2}"{_dimmed(lit)}/>'
    if lit and moving:
        looks = f'fill="none" stroke="{style.PAPER}" stroke-width="1.6" stroke-dasharray="3 13"'
        drawn += f'<path class="mha-flow" d="{path}" {looks}/>'
    return drawn


def _words(layout, lit, row):
    parts = []
    x, y, *_ = layout.tensors["X"]
    first = y + N * CELL[1] / 2 - N * WORD / 2
    for i, token in enumerate(example.TOKENS):
        word, middle = first + WORD * i + 10, y + (i + 0.5) * CELL[1]
        chosen = row == i
        parts.append(svg.text(x - 8, word, token, anchor="end", size=11, bold=chosen))
        stroke = style.INK if chosen else palette.ROLES["X"]
        path = f"M{x - 6:g} {word - 4:g}C{x - 4.5:g} {word - 4:g} {x - 4.5:g} {middle:g} {x - 3:g} {middle:g}"
        parts.append(_line(path, stroke, lit="tokens" in lit, moving=False))
    return parts


def _product(layout, lit, named):
    """Draw the signs of the last product, and where the output goes."""
    x, y, *_ = layout.tensors["output"]
    parts, strong, middle = [], "out" in lit, y + N * CELL[1] / 2
    for sign, at in layout.signs.items() if named else ():
        ink = style.INK if strong else style.QUIET
        parts.append(svg.text(at, middle + 5, sign, anchor="middle", size=15, bold=strong, colour=ink))
    arrow = f"M{x + D * CELL[0] + 3:g} {middle:g}h20m-6 -5l6 5l-6 5"
    parts.append(_line(arrow, palette.ROLES["output"], lit="on" in lit, moving=False))
    return parts
