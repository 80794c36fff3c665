"""The Q, K, V workbench: one query meets every key, and mixes their values; all of it on one page."""

from dataclasses import dataclass

import ipywidgets
import numpy as np

from mha_helpers import exercises
from mha_helpers.drawing import style, svg
from mha_helpers.drawing.style import number
from mha_helpers.labs.card import Picture
from mha_helpers.labs.controls import NAMED, folded, radio
from mha_helpers.labs.frame import Lab
from mha_helpers.labs.motion import flash
from mha_helpers.learner.answer import answer
from mha_helpers.maths import attention, running_example

TOKENS, X = running_example.TOKENS, running_example.X
MATRICES = ("W_Q", "W_K", "W_V")
START = dict(zip(MATRICES, running_example.first_head(), strict=True))
SHAPE = START["W_Q"].shape  # all three are (d_model, d_head)


@dataclass(frozen=True)
class Result:
    """Everything between X and the context, for one state of the controls."""

    query: int
    key: int
    queries: np.ndarray
    keys: np.ndarray
    values: np.ndarray
    scores: np.ndarray
    weights: np.ndarray
    context: np.ndarray
    moved: dict  # by how much each of the above differs from the start, at most
    notice: str
    differs: dict

    @property
    def sums(self):
        with np.errstate(invalid="ignore"):  # a learner's weights may be infinite
            return self.weights.sum(axis=-1, keepdims=True)


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
    """From the controls' values to every number that the lab shows."""
    projected = _projected({name: matrix_in(state, name) for name in MATRICES})
    found = answer(function, attention.dot_product_attention, projected, ("context", "weights"))
    # What has moved is the course's own numbers, so that a mistake is not taken for a change.
    right = _steps(projected, found.right)
    moved = {name: float(np.abs(right[name] - AT_START[name]).max()) for name in right}
    query, key = TOKENS.index(state["query"]), TOKENS.index(state["key"])
    shown = _steps(projected, found.arrays)
    return Result(query, key, **shown, moved=moved, notice=found.notice, differs=found.differs)


def sentence(result):
    """Say what is to be seen."""
    row = result.weights[result.query]
    if np.isfinite(row).all():
        parts = [f"“{TOKENS[result.query]}” attends most to “{TOKENS[row.argmax()]}” ({number(row.max())})."]
    else:
        parts = [f"The weights of “{TOKENS[result.query]}” hold NaN or infinity."]
    if _asymmetry(result).max() < 1e-9:
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


def _both_ways(result):
    """Say what two tokens score with each other: those that are chosen, unless they do score the same."""
    pair, asymmetry = (result.query, result.key), _asymmetry(result)
    one, other = pair if asymmetry[pair] > 0.005 else np.unravel_index(asymmetry.argmax(), asymmetry.shape)
    given, returned = _plain(result.scores[one, other]), _plain(result.scores[other, one])
    asks, is_asked = f"“{TOKENS[one]}”", f"“{TOKENS[other]}”"
    return f"{asks} gives {is_asked} a score of {given}, but {is_asked} gives {asks} {returned}"


def _dot_product(result):
    q, k = result.queries[result.query], result.keys[result.key]
    terms = " + ".join(f"{_signed(a)} × {_signed(b)}" for a, b in zip(q, k, strict=True))
    score = _plain(result.scores[result.query, result.key])
    return f"score({TOKENS[result.query]}, {TOKENS[result.key]}) = query · key = {terms} = {score}"


def _mixture(result):
    """Write the first terms of the sum that is the context, the largest weights first, and whether it is."""
    weights, context = result.weights[result.query], result.context[result.query]
    terms = ""
    for j in np.argsort(-weights, kind="stable"):
        term = f"{svg.short(weights[j], 2)} × [{', '.join(map(_brief, result.values[j]))}] + "
        if terms and len(terms + term) > 34:
            break
        terms += term
    with np.errstate(invalid="ignore"):  # a learner's weights may be infinite
        mixture = weights @ result.values
    # A learner's function may return something else than its own weights' mixture.
    return f"{terms}…", np.allclose(mixture, context, atol=0.005, equal_nan=True)


def _plain(value):
    """Write a whole number without decimals."""
    return svg.short(value, 0 if float(value).is_integer() else 2)


def _signed(value):
    return f"({_plain(value)})" if value < 0 else _plain(value)


LABEL, COLUMN = 62, 66  # of the picture of one query: the room for labels, and for each key
TALLEST = 84  # a bar's pixels, for a weight of 1
HALF, ROW = (30, 24), 24  # a number of a token's vector, and what stands above or below it
WIDE = 42  # a number of the context, with its decimals


def render(result, before=None):
    """Draw a result; what differs from the one before flashes."""
    said = sentence(result)
    parts = [
        svg.document(LABEL + 5 * COLUMN, 330, _one_query(result, before), label=said),
        svg.document(248, 330, _all_queries(result, before), label="The weights and contexts of all queries."),
    ]
    return Picture("".join(parts), said, result.notice)


def _one_query(result, before):
    """Draw one query, each key below its token with its score and its weight as a bar, and the values."""
    query, word = result.query, TOKENS[result.query]
    row = result.weights[query]
    around_zero = style.score_colours(max(np.abs(result.scores[np.isfinite(result.scores)]).max(initial=0), 1.0))
    blue, orange, green = (style.role_colours(role) for role in ("queries", "keys", "values"))
    tops = {"query": 22, "keys": 76, "scores": 108, "floor": 236, "values": 244, "context": 277}
    parts = [
        svg.text(0, 14, f"One query: “{word}” asks every token", bold=True),
        svg.text(LABEL - 6, tops["query"] + 17, "query", anchor="end", bold=True, colour=style.role_text("queries")),
        *_cells(result.queries[query], LABEL, tops["query"], blue, frame=style.ROLES["queries"]),
        svg.text(LABEL - 6, tops["keys"] + 17, "keys", anchor="end", bold=True, colour=style.role_text("keys")),
        svg.text(LABEL - 6, tops["scores"] + 16, "scores", anchor="end", size=12),
        svg.text(LABEL - 6, 190, "weights", anchor="end", size=12, bold=True),
        svg.text(LABEL - 6, tops["values"] + 17, "values", anchor="end", bold=True, colour=style.role_text("values")),
    ]
    for j, token in enumerate(TOKENS):
        x = LABEL + j * COLUMN
        middle = x + HALF[0]
        bold = j == result.key
        score, weight = result.scores[query, j], row[j]
        # A learner's weight may be anything: its bar ends at 0 or 1, the number on it says what it is.
        tall = TALLEST * float(np.nan_to_num(weight, nan=0, posinf=1, neginf=0).clip(0, 1))
        floor = tops["floor"]
        parts += [
            svg.text(middle, tops["keys"] - 6, token, anchor="middle", bold=bold),
            *_cells(result.keys[j], x, tops["keys"], orange, frame=style.ROLES["keys"] if bold else "none"),
            svg.box(x, tops["scores"], 2 * HALF[0], ROW, fill=around_zero(score), stroke=style.PAPER),
            svg.text(middle, tops["scores"] + 16, _plain(score), anchor="middle", size=12,
                     colour=style.text_colour(around_zero(score))),
            svg.box(x + 8, floor - tall, 2 * HALF[0] - 16, tall, fill=style.weight_colour(0.75), stroke=style.INK),
            svg.text(middle, floor - tall - 5, svg.short(weight, 2), anchor="middle", bold=True),
            *_cells(result.values[j], x, tops["values"], green),
        ]  # fmt: skip
        if before is not None:
            same_query = before.query == query
            for name, top in (("keys", tops["keys"]), ("values", tops["values"])):
                if _moved(getattr(result, name)[j], getattr(before, name)[j]):
                    parts.append(flash(x, top, 2 * HALF[0], HALF[1]))
            if same_query and _moved(weight, before.weights[query, j]):
                parts.append(flash(x + 4, floor - TALLEST - 4, 2 * HALF[0] - 8, TALLEST + 4))
    parts += [
        f'<path d="M{LABEL} {tops["floor"]}h{5 * COLUMN - 6}" stroke="{style.INK}"/>',
        *_context(result, tops["context"]),
        svg.text(0, 320, _dot_product(result), size=12),
    ]
    return parts


def _context(result, y):
    """Draw the query's context, and what it is the sum of."""
    pink, left = style.role_colours("output"), LABEL + 5 * COLUMN - 6 - 2 * WIDE
    terms, is_sum = _mixture(result)
    yield svg.text(LABEL - 6, y + 16, "context", anchor="end", bold=True, colour=style.role_text("output"))
    sign, colour = ("=", style.INK) if is_sum else ("≠", style.ALARM)
    yield svg.text(left - 26, y + 16, terms, anchor="end", size=12)
    yield svg.text(left - 14, y + 16, sign, anchor="middle", bold=True, colour=colour)
    for k, value in enumerate(result.context[result.query]):
        yield svg.box(left + k * WIDE, y, WIDE, ROW, fill=pink(value), stroke=style.PAPER)
        yield svg.text(left + (k + 0.5) * WIDE, y + 16, svg.short(value, 2), anchor="middle", size=12)
    yield svg.box(left, y, 2 * WIDE, ROW, stroke=style.ROLES["output"], stroke_width=2)


def _all_queries(result, before):
    """Draw the weights of every query with their sums, and the contexts."""
    cell, labels = (33, 24), 44
    about = {"row_labels": TOKENS, "label_width": labels, "cell": cell, "row": result.query}
    weights_top, context_top = 0, 176
    first_row = weights_top + svg.TITLE_HEIGHT + svg.HEADER_HEIGHT
    right = labels + 5 * cell[0] + 6
    parts = [
        svg.matrix(
            result.weights, 0, weights_top, title="All queries: their weights", colours=style.weight_colour,
            column_labels=TOKENS, differs=result.differs.get("weights"), **about,
        ),
        svg.text(right, first_row - 6, "sum", size=12),
        svg.matrix(
            result.context, 0, context_top, title="contexts", colours=style.role_colours("output"),
            title_colour=style.role_text("output"), differs=result.differs.get("context"),
            **about | {"cell": (52, 24)},
        ),
    ]  # fmt: skip
    for i, (total,) in enumerate(result.sums):
        y = first_row + i * cell[1]
        parts.append(svg.text(right, y + 16, svg.short(total, 2), size=12, bold=i == result.query))
    if before is not None:
        for i, _ in enumerate(TOKENS):
            if _moved(result.weights[i], before.weights[i]):
                parts.append(flash(labels, first_row + i * cell[1], 5 * cell[0], cell[1]))
            if _moved(result.context[i], before.context[i]):
                parts.append(flash(labels, context_top + svg.TITLE_HEIGHT + i * 24, 104, 24))
    return parts


def _moved(now, before):
    return bool((np.round(now, 2) != np.round(before, 2)).any())


def _cells(vector, x, y, colours, frame="none"):
    width, height = HALF
    for k, value in enumerate(vector):
        yield svg.box(x + k * width, y, width, height, fill=colours(value), stroke=style.PAPER)
        yield svg.text(x + (k + 0.5) * width, y + 16, _brief(value), anchor="middle", size=12)
    yield svg.box(x, y, len(vector) * width, height, stroke=frame, stroke_width=2)


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
    """Arrange one matrix's fields at a time: a row a feature."""
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
    return folded("Change the matrices", chosen, *grids.values())


def qkv_workbench(function=None):
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
    controls = {"query": radio("query", TOKENS, "it"), "key": radio("and key", TOKENS, "cat")}
    for matrix in MATRICES:
        for i, j in np.ndindex(SHAPE):
            controls[entry(matrix, i, j)] = ipywidgets.BoundedFloatText(
                value=START[matrix][i, j], min=-9, max=9, step=0.5, description=f"{matrix} {i},{j}",
                style=NAMED, layout={"width": "114px"},
            )  # fmt: skip
    return Lab(
        name="qkv_workbench",
        title="Q, K, V workbench",
        task="Choose a query: whose value does it take most of? Then change W_V: what doesn't change?",
        controls=controls,
        actions={"Swap W_Q and W_K": _swap, "Tie W_K = W_Q": _tie, "W_V = identity": _identity},
        layout=([controls["query"], controls["key"]], [Lab.BUTTONS]),
        below=(_fields(controls),),
        compute=compute,
        render=render,
        function=function,
        exercise=exercises.dot_product_attention,
        moves=True,
    )
