"""The Q, K, V workbench: one query meets every key, and mixes their values; all of it on one page."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import ipywidgets
import numpy as np

from live_pictures import marks, style, svg
from live_pictures.card import EDGE, Picture
from live_pictures.controls import NAMED, folded, radio
from live_pictures.motion import flash
from live_pictures.options import Form, Script, StaticPage
from live_pictures.style import number
from mha_helpers import attention, exercises, running_example
from mha_helpers.drawing import palette
from mha_helpers.labs.lab import Lab
from mha_helpers.labs.learner_function import run_for_lab

TOKENS, X = running_example.TOKENS, running_example.X
MOST = "most"  # of the keys: the one that has the largest weight
MATRICES = ("W_Q", "W_K", "W_V")
START = dict(zip(MATRICES, running_example.first_head(), strict=True))
SHAPE = START["W_Q"].shape  # all three are (d_model, d_head)
ASKED = ("query across", "query up")  # the query that is asked with: it can be dragged away from the token's own


@dataclass(frozen=True)
class Result:
    """Everything between X and the context, for one state of the controls."""

    query: int
    key: int
    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    scores: np.ndarray  # of the tokens' own queries
    weights: np.ndarray  # those of the chosen token follow the query that is asked with
    context: np.ndarray
    asked: np.ndarray  # (d_head,): the query that is asked with, the token's own unless it was dragged
    asked_scores: np.ndarray  # (n,): what it scores with each key
    moved: dict  # by how much each tensor differs from the start, at most
    notice: str
    differs: dict

    @property
    def sums(self):
        with np.errstate(invalid="ignore"):  # a learner's weights may be infinite
            return self.weights.sum(axis=-1, keepdims=True)

    @property
    def asked_weights(self):
        return self.weights[self.query]

    @property
    def asked_context(self):
        return self.context[self.query]

    @property
    def is_dragged(self):
        return not np.array_equal(self.asked, self.queries[self.query])


def entry(matrix, row, column):
    """Name the control of one entry: by its feature, and its column counted from 0."""
    return f"{matrix}[{row},{column}]"


def entries(matrix, values):
    """Return the controls' values that make a matrix."""
    return {entry(matrix, i, j): float(value) for (i, j), value in np.ndenumerate(values)}


def matrix_in(state, matrix):
    """Read a matrix from the state."""
    return np.array([[state[entry(matrix, i, j)] for j in range(SHAPE[1])] for i in range(SHAPE[0])])


def _projected(matrices):
    return {name: X @ matrices[matrix] for name, matrix in zip(("queries", "keys", "values"), MATRICES, strict=True)}


def _steps(projected, attended):
    """Put all the numbers together, in the order of their computation."""
    context, weights = attended
    scores = attention.attention_scores(projected["queries"], projected["keys"])
    return projected | {"scores": scores, "weights": weights, "context": context}


AT_START = _steps(_projected(START), attention.dot_product_attention(**_projected(START)))


def compute(state, function=None):
    """Compute every number that the lab shows from the controls' values."""
    projected = _projected({name: matrix_in(state, name) for name in MATRICES})
    found = run_for_lab(function, attention.dot_product_attention, projected, ("context", "weights"))
    # What has moved is the course's own numbers, so that a mistake is not taken for a change.
    right = _steps(projected, found.right)
    moved = {name: float(np.abs(right[name] - AT_START[name]).max()) for name in right}
    query = TOKENS.index(state["query"])
    asked = np.array([state[name] for name in ASKED])
    asking = projected | {"queries": np.where(np.arange(len(TOKENS))[:, None] == query, asked, projected["queries"])}
    if not np.array_equal(asked, projected["queries"][query]):
        found = run_for_lab(function, attention.dot_product_attention, asking, ("context", "weights"))
    context, weights = found.arrays
    key = _most_weighed(weights[query]) if state["key"] == MOST else TOKENS.index(state["key"])
    scores = (attention.attention_scores(inputs["queries"], projected["keys"]) for inputs in (projected, asking))
    own, asked_scores = scores
    return Result(
        query, key, **projected, scores=own, weights=weights, context=context, asked=asked,
        asked_scores=asked_scores[query], moved=moved, notice=found.notice, differs=found.differs,
    )  # fmt: skip


def _most_weighed(weights):
    """Return the first key with the largest weight, as near as rounding allows."""
    weights = np.nan_to_num(weights, nan=-1, posinf=2, neginf=-1)
    return int(np.argmax(weights.max() - weights < 1e-6))


def sentence(result):
    """Describe the picture."""
    row = result.asked_weights
    who = f"“{TOKENS[result.query]}”"
    if result.is_dragged:
        place = ", ".join(_plain(value) for value in result.asked)
        who = f"Dragged to ({place}), the query of {who}"
    if np.isfinite(row).all():
        parts = [f"{who} attends {_most(row)}."]
    else:
        parts = [f"The weights of {who} hold NaN or infinity."]
    if result.is_dragged:
        parts.append(f"Its own is ({', '.join(_plain(value) for value in result.queries[result.query])}).")
    elif _asymmetry(result).max() < 1e-9:
        parts.append("The scores are symmetric: each pair of tokens scores the same in both directions.")
    else:
        parts.append(f"The scores are not symmetric: {_both_ways(result)}.")
    changed = [name for name, amount in result.moved.items() if amount > 1e-9]
    if changed and set(changed) <= {"values", "context"}:
        parts.append("Only values and context have changed since the start: the weights do not depend on W_V.")
    elif changed:
        parts.append(f"Changed since the start: {', '.join(changed)}.")
    return " ".join(parts)


def _asymmetry(result):
    return np.abs(result.scores - result.scores.T)


def _most(weights):
    """Say who gets most: one, several that get the same, or nobody."""
    most = [token for token, weight in zip(TOKENS, weights, strict=True) if weights.max() - weight < 1e-6]
    if len(most) == len(TOKENS):
        return f"to all alike ({number(weights.max())})"
    each = " each" if len(most) > 1 else ""
    return f"most to {' and '.join(f'“{token}”' for token in most)} ({number(weights.max())}{each})"


def _both_ways(result):
    """Say what two tokens score with each other: those that are chosen, unless they do score the same."""
    pair, asymmetry = (result.query, result.key), _asymmetry(result)
    first, other = pair if asymmetry[pair] > 0.005 else np.unravel_index(asymmetry.argmax(), asymmetry.shape)
    score, score_back = _plain(result.scores[first, other]), _plain(result.scores[other, first])
    asks, is_asked = f"“{TOKENS[first]}”", f"“{TOKENS[other]}”"
    return f"{asks} gives {is_asked} a score of {score}, but {is_asked} gives {asks} {score_back}"


def _dot_product(result):
    q, k = result.asked, result.keys[result.key]
    terms = " + ".join(f"{_signed(a)} × {_signed(b)}" for a, b in zip(q, k, strict=True))
    return f"= {terms} = {_plain(result.asked_scores[result.key])}"


def _mixture(result):
    """Write the first terms of the sum that is the context, the largest weights first, and whether it is."""
    weights, context = result.asked_weights, result.asked_context
    terms = ""
    for j in np.argsort(-weights, kind="stable"):
        term = f"{svg.short(weights[j], 2)} × [{', '.join(map(_brief, result.values[j]))}] + "
        if terms and len(terms + term) > 34:
            break
        terms += term
    with np.errstate(invalid="ignore"):  # a learner's weights may be infinite
        mixture = weights @ result.values
    # A learner's function may return something else than its own weights' mixture.
    sign = "=" if np.allclose(mixture, context, atol=0.005, equal_nan=True) else "≠"
    return f"{sign} {terms}…"


def _plain(value):
    """Write a number without decimals that say nothing."""
    value = float(value)
    return svg.short(value, 0 if value.is_integer() else 1 if (10 * value).is_integer() else 2)


def _signed(value):
    return f"({_plain(value)})" if value < 0 else _plain(value)


WIDTHS = (308, 336)  # pixels: of the two pictures
ASIDE = 14  # from one to the other
CHIP_HEIGHT, CHIP_GAP = 28, 7  # of a token
BACK = 126  # pixels: of what brings the query back
PLANE = (0, 36, WIDTHS[0], 292)  # left, top, right, bottom
UNIT, FARTHEST = 32, (4.5, 4)  # of the plane: a 1's pixels, and how far it reaches, across and up
ROW_TOP, ROW = 56, 26  # of a key
NAME, SCORE, BAR, VALUE = 60, 110, 152, 272  # where a key's row has its parts
HALF = 25  # a number of a vector
SHADES = [(fill, style.text_colour(fill)) for fill in map(palette.weight_colour, np.linspace(0, 1, 21))]  # of weights
MAX_BAR = 72  # a bar's pixels, for a weight of 1


def render(result, before=None):
    """Draw a result; what differs from the one before flashes."""
    readout, found = sentence(result), parts(result)
    numbers = [*_keys(result, found, before), *_all_queries(result, found, before)]
    drawn = [
        svg.document(WIDTHS[0], 336, _plane(result, found), label=readout),
        svg.document(WIDTHS[1], 376, [f'<g transform="translate({ASIDE} 0)">', *numbers, "</g>"], label="The numbers."),
    ]
    return Picture("".join(drawn), readout, result.notice)


def scale(result):
    """Return how many pixels of the plane a 1 is: all that is there has room in it."""
    vectors = np.abs([*result.keys, *result.values, result.queries[result.query]])
    times = max(1, np.ceil((vectors / FARTHEST).max()))
    return UNIT / times


def place(vector, pixels):
    """Return where a vector's tip is in the plane."""
    left, top, right, bottom = PLANE
    x, y = np.round(((left + right) / 2 + pixels * vector[0], (top + bottom) / 2 - pixels * vector[1]), 1)
    return float(x), float(y)


def _context_at(result, pixels):
    """Return where the context is in the plane: a learner's may be anything, and then it stays inside."""
    left, top, right, bottom = PLANE
    half = np.array([right - left, bottom - top]) / 2 - 8
    context = np.nan_to_num(result.asked_context, nan=0, posinf=1e9, neginf=-1e9)
    return place(np.clip(context, -half / pixels, half / pixels), pixels)


def parts(result):
    """Return what changes while the query is dragged, by part and attribute: `qkv_workbench.js` computes it, too."""
    pixels = scale(result)
    x, y = place(result.asked, pixels)
    at, up = _context_at(result, pixels)
    found = {
        "query arrow": {"x2": f"{x:g}", "y2": f"{y:g}"},
        "query": {"cx": f"{x:g}", "cy": f"{y:g}"},
        "context": {"cx": f"{at:g}", "cy": f"{up:g}"},
        "name of the context": {"x": f"{round(at + 12, 1):g}", "y": f"{round(up + 4, 1):g}"},
        "dot product": {"text": _dot_product(result)},
        "name of the score": {"text": f"score({TOKENS[result.query]}, {TOKENS[result.key]})"},
        "lit row": {"y": f"{ROW_TOP + result.key * ROW:g}"},
        "mixture": {"text": _mixture(result)},
    }
    for k in range(SHAPE[1]):
        found[f"query {k}"] = {"text": _plain(result.asked[k])}
        found[f"context {k}"] = found[f"its context {k}"] = {"text": svg.short(result.asked_context[k], 2)}
    for j, token in enumerate(TOKENS):
        # A learner's weight may be anything: its bar ends at 0 or 1, the number beside it says what it is.
        weight = result.asked_weights[j]
        share = float(np.nan_to_num(weight, nan=0, posinf=1, neginf=0).clip(0, 1))
        found[f"arrow {token}"] = {"stroke-width": f"{round(2 + 6 * share, 1):g}"}
        found[f"pull {token}"] = {"x2": f"{at:g}", "y2": f"{up:g}", "stroke-width": f"{round(6 * share, 1):g}"}
        found[f"score {token}"] = {"text": _plain(result.asked_scores[j])}
        found[f"bar {token}"] = {"width": f"{round(MAX_BAR * share, 1):g}"}
        found[f"weight {token}"] = {"text": svg.short(weight, 2), "x": f"{round(BAR + 4 + MAX_BAR * share, 1):g}"}
        fill, ink = SHADES[int(share * (len(SHADES) - 1) + 0.5)]
        found[f"cell {token}"] = {"fill": fill}
        found[f"asks {token}"] = {"data-tip": _asks(result, result.query, j)}
        found[f"in cell {token}"] = {"fill": ink, "text": _in_cell(weight)}
        found[f"row {token}"] = found[f"tip {token}"] = {"data-tip": _product(result, j)}
    return found


def _plane(result, found):
    """Draw the tokens, the query among the keys, and the context among the values."""
    word, pixels = TOKENS[result.query], scale(result)
    left, top, right, bottom = PLANE
    middle = (left + right) / 2, (top + bottom) / 2
    blue, orange = palette.ROLES["queries"], palette.ROLES["keys"]
    x = 1
    for token in TOKENS:
        is_asked, width = token == word, 22 + 8 * len(token)
        fill, edge = (style.tint(blue, 0.35), blue) if is_asked else (style.PANEL, EDGE)
        chip = svg.box(x, 1, width, CHIP_HEIGHT, fill=fill, stroke=edge, stroke_width=2 if is_asked else 1)
        name = svg.text(x + width / 2, 20, token, anchor="middle", bold=is_asked)
        x += width + CHIP_GAP
        yield marks.radio(chip + name, {"query": token}, also_sets={"key": MOST}, name=f"query {token}")
    yield svg.box(*PLANE[:2], right - left, bottom - top, fill=style.PANEL)
    yield svg.line(left, middle[1], right, middle[1], colour=style.GRID)
    yield svg.line(middle[0], top, middle[0], bottom, colour=style.GRID)
    yield marks.grip(svg.box(*PLANE[:2], right - left, bottom - top, fill="transparent"), ASKED[0])
    names = {}
    for j, token in enumerate(TOKENS):
        at = place(result.keys[j], pixels)
        names.setdefault(at, []).append(token)
        arrow = svg.segment(*middle, *at, colour=orange, width=2)
        yield marks.computed_part(arrow, f"arrow {token}", found)
        dot = svg.circle(*at, 5, fill=orange, stroke=style.PAPER)
        yield marks.alias(dot, {"key": token}, tip=_product(result, j), part=f"tip {token}")
    for (x, y), tokens in names.items():
        anchor, aside = ("start", 9) if x >= middle[0] else ("end", -9)
        baseline = y + (18 if y >= middle[1] else -8)
        name = ", ".join(tokens)
        yield svg.text(x + aside, baseline, name, anchor=anchor, bold=True, colour=palette.role_text("keys"))
    pink, names = palette.ROLES["output"], {}
    for j, token in enumerate(TOKENS):
        at = place(result.values[j], pixels)
        names.setdefault(at, []).append(token)
        yield marks.computed_part(
            svg.segment(*at, 0, 0, colour=palette.ROLES["values"], width=1), f"pull {token}", found
        )
        yield svg.box(at[0] - 4, at[1] - 4, 8, 8, fill=palette.ROLES["values"], stroke=style.PAPER)
    for (x, y), tokens in names.items():  # where the keys' names are not
        anchor, aside = ("start", 7) if x > middle[0] else ("end", -8)
        yield svg.text(x + aside, y - 8, ", ".join(tokens), anchor=anchor, size=11, colour=palette.role_text("values"))
    yield marks.computed_part(svg.circle(0, 0, 8, fill=pink, stroke=style.PAPER), "context", found)
    yield marks.computed_part(
        svg.text(0, 0, "context", bold=True, size=12, colour=palette.role_text("output")), "name of the context", found
    )
    own = result.queries[result.query]
    x, y = place(own, pixels)
    yield f'<circle cx="{x:g}" cy="{y:g}" r="9" fill="none" stroke="{blue}" stroke-width="2" stroke-dasharray="4 3"/>'
    back = svg.box(right - BACK, bottom - 30, BACK - 4, 26, fill=style.PAPER, stroke=EDGE)
    where = ", ".join(map(_plain, own))
    back += svg.text(right - 2 - BACK / 2, bottom - 12, f"↺ its own ({where})", anchor="middle", size=12)
    yield marks.button(
        back, sets=dict(zip(ASKED, map(float, own), strict=True)), name=f"back to its own query of {word}"
    )
    x, y = place(result.asked, pixels)
    yield marks.computed_part(svg.segment(*middle, x, y, colour=blue, width=4), "query arrow", found)
    reach = [pixels**-1 * half for half in (right - middle[0], bottom - middle[1])]
    step = 0.5
    reach = [float(np.floor(limit / step) * step) for limit in reach]
    edge = [middle[0] - reach[0] * pixels, middle[1] - reach[1] * pixels]
    edge += [middle[0] + reach[0] * pixels, middle[1] + reach[1] * pixels]
    handle = marks.computed_part(svg.circle(x, y, 11, fill=blue, stroke=style.PAPER), "query", found)
    yield marks.plane(
        handle, ASKED, also_sets={"key": MOST}, edges=[*edge, -reach[0], reach[0], -reach[1], reach[1], step],
        name=f"query of {word}", tip="Drag the query.",
    )  # fmt: skip
    for k, (what, role) in enumerate((("keys", "keys"), ("values", "values"))):
        yield svg.box(left + 6, bottom - 34 + 16 * k, 8, 8, fill=palette.ROLES[role])
        yield svg.text(left + 19, bottom - 26 + 16 * k, what, size=11, colour=palette.role_text(role))
    yield marks.computed_part(svg.text(left, bottom + 19, "", size=12, bold=True), "name of the score", found)
    yield marks.computed_part(svg.text(left, bottom + 36, "", size=12), "dot product", found)


def _in_cell(weight):
    """Write a weight without the 0 before its point: a cell has no room for it."""
    return svg.short(weight, 2).removeprefix("0")


def _product(result, j):
    """Write what a query scores with a key."""
    terms = " + ".join(f"{_signed(a)} × {_signed(b)}" for a, b in zip(result.asked, result.keys[j], strict=True))
    return f"{TOKENS[result.query]} · {TOKENS[j]} = {terms} = {_plain(result.asked_scores[j])}"


def _keys(result, found, before):
    """Draw the query, a row for each key with its score, weight and value, and the context."""
    word = TOKENS[result.query]
    blue, orange, green = (palette.role_colours(role) for role in ("queries", "keys", "values"))
    pink = palette.role_colours("output")
    yield svg.text(0, 18, f"“{word}” asks with", bold=True, colour=palette.role_text("queries"))
    for k in range(SHAPE[1]):
        yield svg.box(120 + 46 * k, 1, 46, ROW, fill=blue(0), stroke=style.PAPER)
        yield marks.computed_part(svg.text(143 + 46 * k, 18, "", anchor="middle", size=12), f"query {k}", found)
    yield svg.box(120, 1, 92, ROW, stroke=palette.ROLES["queries"], stroke_width=2)
    heads = ((NAME + 4, "key", "keys"), (SCORE, "score", None), (BAR, "weight", None), (VALUE, "value", "values"))
    for x, name, role in heads:
        yield svg.text(x, ROW_TOP - 8, name, size=12, bold=True, colour=palette.role_text(role) if role else style.INK)
    lit = svg.box(
        0, 0, VALUE + 2 * HALF, ROW, fill=style.tint(palette.ROLES["keys"], 0.12), stroke=style.INK, stroke_width=3
    )
    yield marks.computed_part(lit, "lit row", found)
    for j, token in enumerate(TOKENS):
        y = ROW_TOP + j * ROW
        row = [
            svg.box(0, y, VALUE + 2 * HALF, ROW, fill="transparent"),
            svg.text(NAME - 2, y + 17, token, anchor="end", size=12),
            *_cells(result.keys[j], NAME + 2, y + 1, orange),
            marks.computed_part(svg.text(SCORE + 36, y + 17, "", anchor="end", size=12), f"score {token}", found),
            marks.computed_part(
                svg.box(BAR, y + 4, 1, ROW - 8, fill=palette.weight_colour(0.75)), f"bar {token}", found
            ),
            marks.computed_part(svg.text(0, y + 17, "", bold=True, size=12), f"weight {token}", found),
            *_cells(result.values[j], VALUE, y + 1, green),
        ]
        yield marks.radio(
            "".join(row), {"key": token}, name=f"key {token}", tip=_product(result, j), part=f"row {token}",
            lights=(f"arrow {token}", "query arrow"),
        )  # fmt: skip
        if before is not None:
            for name, x in (("keys", NAME + 2), ("values", VALUE)):
                if _moved(getattr(result, name)[j], getattr(before, name)[j]):
                    yield flash(x, y + 1, 2 * HALF, ROW - 2)
    y = ROW_TOP + len(TOKENS) * ROW + 6
    yield svg.text(0, y + 17, "context", bold=True, colour=palette.role_text("output"))
    for k in range(SHAPE[1]):
        yield svg.box(64 + 46 * k, y, 46, ROW, fill=pink(0), stroke=style.PAPER)
        yield marks.computed_part(svg.text(87 + 46 * k, y + 17, "", anchor="middle", size=12), f"context {k}", found)
    yield svg.box(64, y, 92, ROW, stroke=palette.ROLES["output"], stroke_width=2)
    colour = style.INK if _mixture(result).startswith("=") else style.ALARM
    yield marks.computed_part(svg.text(64, y + ROW + 15, "", size=12, colour=colour), "mixture", found)


def _sum(result, row, x, y):
    """Write what a row's weights sum to, framed where that is visibly not 1: it proves that they are no weights."""
    total = result.sums[row, 0]
    written = svg.text(x, y + 16, svg.short(total, 2), size=12, bold=row == result.query)
    if np.isclose(total, 1, rtol=0, atol=0.005):
        return written
    frame = svg.box(x - 2, y + 2, 33, 18, stroke=style.ALARM, stroke_width=2)
    return frame + svg.text(x, y + 16, svg.short(total, 2), size=12, bold=True, colour=style.ALARM)


def _all_queries(result, found, before):
    """Draw the weights of every token's own query with their sums, and the contexts."""
    cell, labels, top = (28, 21), NAME, 242
    about = {"row_labels": TOKENS, "row": result.query}
    first_row = top + svg.TITLE_HEIGHT
    right = labels + 5 * cell[0] + 6
    left = right + 30
    shown = [
        svg.matrix(
            result.weights, 0, top, title="All queries", colours=palette.weight_colour, write=_in_cell,
            differs=result.differs.get("weights"), label_width=labels, cell=cell, **about,
        ),
        svg.text(right - 3, first_row - 6, "sum", size=12),
        svg.matrix(
            result.context, left, top, title="contexts", colours=palette.role_colours("output"),
            title_colour=palette.role_text("output"), differs=result.differs.get("context"), cell=(42, cell[1]),
            **about,
        ),
    ]  # fmt: skip
    if not result.differs:  # else nothing moves without the learner's function, and the marks are to be seen
        shown += _moving_row(result, found, labels, left, first_row + result.query * cell[1], cell)
    for i, query in enumerate(TOKENS):
        y = first_row + i * cell[1]
        shown.append(_sum(result, i, right - 3, y))
        for j, key in enumerate(TOKENS):
            says, both = _asks(result, i, j), {"query": query, "key": key}
            its_part = f"asks {key}" if i == result.query else None
            over = svg.box(labels + j * cell[0], y, *cell, fill="transparent")
            shown.append(marks.alias(over, both, tip=says, part=its_part))
        if before is not None:
            if _moved(result.weights[i], before.weights[i]):
                shown.append(flash(labels, y, 5 * cell[0], cell[1]))
            if _moved(result.context[i], before.context[i]):
                shown.append(flash(left, y, 84, cell[1]))
    return shown


def _moving_row(result, found, labels, left, y, cell):
    """Draw the row that follows the query while it is dragged."""
    middle = y + cell[1] / 2 + 5
    for j, key in enumerate(TOKENS):
        x = labels + j * cell[0]
        yield marks.computed_part(svg.box(x, y, *cell, fill="none", stroke=style.PAPER), f"cell {key}", found)
        yield marks.computed_part(
            svg.text(x + cell[0] / 2, middle, "", anchor="middle", size=11), f"in cell {key}", found
        )
    for k in range(SHAPE[1]):
        x = left + 42 * k
        yield svg.box(x, y, 42, cell[1], fill=palette.role_colours("output")(0), stroke=style.PAPER)
        yield marks.computed_part(svg.text(x + 21, middle, "", anchor="middle", size=11), f"its context {k}", found)
    for x, wide in ((labels, len(TOKENS) * cell[0]), (left, SHAPE[1] * 42)):
        yield svg.box(x, y, wide, cell[1], stroke=style.INK, stroke_width=3)


def _asks(result, i, j):
    """Say what one query makes of one key."""
    score = result.asked_scores[j] if i == result.query else result.scores[i, j]
    return f"{TOKENS[i]} asks {TOKENS[j]}: score {_plain(score)}, weight {number(result.weights[i, j])}"


def _moved(now, before):
    return bool((np.round(now, 2) != np.round(before, 2)).any())


def _cells(vector, x, y, colours):
    height = ROW - 2
    for k, value in enumerate(vector):
        yield svg.box(x + k * HALF, y, HALF, height, fill=colours(value), stroke=style.PAPER)
        yield svg.text(x + (k + 0.5) * HALF, y + 16, _brief(value), anchor="middle", size=12)


def _brief(value):
    """Write a number in the room of three digits."""
    decimals = (0,) if float(value).is_integer() else (1, 0)
    return next((text for text in (number(value, d) for d in decimals) if len(text) <= 4), "…")


def _swap(state):
    return entries("W_Q", matrix_in(state, "W_K")) | entries("W_K", matrix_in(state, "W_Q"))


def _tie(state):
    return entries("W_K", matrix_in(state, "W_Q"))


def _identity(state):
    return entries("W_V", np.eye(*SHAPE))


def _fields(controls):
    """Arrange the fields of one matrix at a time, a row for each feature."""
    grids = {}
    for matrix in MATRICES:
        boxes = []
        for i, feature in enumerate(running_example.FEATURES):
            boxes.append(ipywidgets.Label(feature))
            boxes += [controls[entry(matrix, i, j)] for j in range(SHAPE[1])]
        layout = {"grid_template_columns": "92px 118px 118px", "display": "none"}
        grids[matrix] = ipywidgets.GridBox(boxes, layout=layout)
    chosen = radio("matrix", MATRICES)

    def show(_=None):
        for matrix, grid in grids.items():
            grid.layout.display = "grid" if matrix == chosen.value else "none"

    chosen.observe(show, "value")
    show()
    return folded("Matrices", chosen, *grids.values())


def qkv_workbench(function: Callable | None = None) -> Lab:
    """Show the Q, K, V workbench.

    Parameters
    ----------
    function : callable, optional
        The learner's `dot_product_attention(queries, keys, values) -> (context, weights)`. While it is a
        stub the course's own is shown, and the lab says so.

    Returns
    -------
    Lab
        Display it as the last line of a cell.

    Examples
    --------
    >>> lab = qkv_workbench()
    >>> lab.buttons["Tie W_K = W_Q"].click()
    >>> "The scores are symmetric" in lab.readout.value
    True
    """
    controls = {"query": radio("query", TOKENS, "it"), "key": radio("and key", (MOST, *TOKENS))}
    for matrix in MATRICES:
        for i, j in np.ndindex(SHAPE):
            controls[entry(matrix, i, j)] = ipywidgets.BoundedFloatText(
                value=START[matrix][i, j], min=-9, max=9, step=0.5, description=f"{matrix} {i},{j}",
                style=NAMED, layout={"width": "114px"},
            )  # fmt: skip
    own = AT_START["queries"][TOKENS.index("it")]
    for name, value in zip(ASKED, own, strict=True):
        controls[name] = ipywidgets.FloatText(
            value=value, step=0.5, description=name, style=NAMED, layout={"width": "180px"}
        )

    def ask_with_its_own(_):
        query = X[TOKENS.index(controls["query"].value)] @ matrix_in(lab.state, "W_Q")
        lab.set(**dict(zip(ASKED, map(float, query), strict=True)))

    fold, matrices = _fields(controls)
    lab = Lab(
        name="qkv_workbench",
        title="Q, K, V workbench",
        task="Drag the query: which value pulls the context to itself?",
        extra_task="Then change W_V: what doesn't change?",
        controls=controls,
        actions={"Swap W_Q and W_K": _swap, "Tie W_K = W_Q": _tie, "W_V = identity": _identity},
        form=Form(
            rows=([controls["query"], controls["key"]], [*(controls[name] for name in ASKED)], [Lab.BUTTONS, fold]),
            on_picture=("query", "key", *ASKED),
            below=(matrices,),
        ),
        compute=compute,
        render=render,
        function=function,
        exercise=exercises.dot_product_attention,
        on_change=dict.fromkeys(("query", *entries("W_Q", START["W_Q"])), ask_with_its_own),
        page=StaticPage(
            kernel_only="the matrices",
            offers={"query": TOKENS, "key": (MOST, *TOKENS)},
        ),
        script=Script(
            file=Path(__file__).with_suffix(".js"),
            data={
                "tokens": TOKENS,
                "X": X.tolist(),
                "middle": [sum(PLANE[::2]) / 2, sum(PLANE[1::2]) / 2],
                "unit": UNIT,
                "farthest": FARTHEST,
                "longest": MAX_BAR,
                "bar": BAR,
                "rows": (ROW_TOP, ROW),
                "shades": SHADES,
            },
            parts=parts,
        ),
        shows_changes=True,
    )
    return lab
