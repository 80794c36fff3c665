"""The Q, K, V workbench: every number between the embeddings and the context, on one page."""

from dataclasses import dataclass

import ipywidgets
import numpy as np

from mha_helpers import attention, worked_examples
from mha_helpers.drawing import style, svg
from mha_helpers.drawing.style import number
from mha_helpers.labs.frame import Lab, Picture, in_a_row
from mha_helpers.learner.answer import answer

EXAMPLE = worked_examples.load("play_football")
TOKENS, X = EXAMPLE.tokens, EXAMPLE.inputs["X"]
MATRICES = ("W_Q", "W_K", "W_V")
START = {name: EXAMPLE.inputs[name] for name in MATRICES}
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


def entry(matrix, row, column):
    """Name the control of one entry, counted from 1 as on paper."""
    return f"{matrix}[{row + 1},{column + 1}]"


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
    asymmetry = np.abs(result.scores - result.scores.T).max()
    if np.isfinite(row).all():
        parts = [f"“{TOKENS[result.query]}” attends most to “{TOKENS[row.argmax()]}” ({number(row.max())})."]
    else:
        parts = [f"The weights of “{TOKENS[result.query]}” hold NaN or infinity."]
    if asymmetry < 1e-9:
        parts.append("The scores are symmetric: each pair of tokens scores the same in both directions.")
    else:
        parts.append(f"The scores are not symmetric: a pair's two directions differ by up to {number(asymmetry)}.")
    changed = [name for name, amount in result.moved.items() if amount > 1e-9]
    if not changed:
        parts.append("Nothing is changed since the start.")
    elif set(changed) <= {"values", "context"}:
        parts.append("Only values and context have changed since the start: the weights do not depend on W_V.")
    else:
        parts.append(f"Changed since the start: {', '.join(changed)}.")
    return " ".join(parts)


def _dot_product(result):
    q, k = result.queries[result.query], result.keys[result.key]
    terms = " + ".join(f"{_signed(a)} × {_signed(b)}" for a, b in zip(q, k, strict=True))
    score = number(result.scores[result.query, result.key], 4)
    return f"score({TOKENS[result.query]}, {TOKENS[result.key]}) = query · key = {terms} = {score}"


def _mixture(result):
    weights, context = result.weights[result.query], result.context[result.query]
    terms = " + ".join(
        f"{number(weight)} × {_vector(value)}" for weight, value in zip(weights, result.values, strict=True)
    )
    with np.errstate(invalid="ignore"):  # a learner's weights may be infinite
        mixture = weights @ result.values
    written = f"context({TOKENS[result.query]}) = {terms} = {_vector(mixture)}"
    # A learner's function may return something else than its own weights' mixture.
    return (
        written
        if np.allclose(mixture, context, atol=0.005, equal_nan=True)
        else f"{written}, but yours is {_vector(context)}"
    )


def _vector(values):
    return f"[{', '.join(number(value) for value in values)}]"


def _signed(value):
    return f"({number(value)})" if value < 0 else number(value)


def render(result):
    """Draw a result."""
    label_width, gap = 62, 16
    largest = max(np.abs(result.scores[np.isfinite(result.scores)]).max(initial=0), 1.0)
    plain = {"row_labels": TOKENS, "label_width": label_width}
    by_keys = plain | {"column_labels": TOKENS, "row": result.query, "column": result.key}
    width, _ = svg.matrix_size(len(TOKENS), 3, label_width=label_width)
    _, headed_height = svg.matrix_size(len(TOKENS), 3, headed=True)
    _, height = svg.matrix_size(len(TOKENS), 3)
    narrow, _ = svg.matrix_size(len(TOKENS), 2, label_width=label_width)

    def caption(name):
        if name in result.differs:
            return "not right yet"
        amount = result.moved[name]
        return f"moved by up to {number(amount)}" if amount > 1e-9 else "as at the start"

    def role(name, title, x, y, **more):
        colours = {"title_colour": style.role_text(name), "colours": style.role_colours(name)}
        values = {"X": X, "output": result.context}.get(name, getattr(result, name, None))
        return svg.matrix(values, x, y, title=title, **colours, **plain, **more)

    lefts = np.cumsum([8, width + gap, narrow + gap, narrow + gap])
    top, bottom = 4, 4 + height + 18
    parts = [
        role("X", "X", lefts[0], top, row=result.query, caption="three features a token"),
        role("queries", "Q = X W_Q", lefts[1], top, row=result.query, caption=caption("queries")),
        role("keys", "K = X W_K", lefts[2], top, row=result.key, caption=caption("keys")),
        role("values", "V = X W_V", lefts[3], top, caption=caption("values")),
    ]
    lefts = np.cumsum([8, width + gap + 36, width + gap + 36])
    parts += [
        svg.matrix(
            result.scores, lefts[0], bottom, title="scores = Q Kᵀ", decimals=3, colours=style.score_colours(largest),
            caption=caption("scores"), **by_keys,
        ),
        svg.matrix(
            result.weights, lefts[1], bottom, title="weights = softmax", colours=style.weight_colour,
            caption=caption("weights"), differs=result.differs.get("weights"), **by_keys,
        ),
        role(
            "output", "context = weights V", lefts[2], bottom + svg.HEADER_HEIGHT, row=result.query,
            caption=caption("context"), differs=result.differs.get("context"),
        ),
    ]  # fmt: skip
    below = bottom + headed_height + 42
    parts += [
        svg.text(8, bottom + headed_height + 16, "Rows: queries. Columns: keys.", colour=style.QUIET, size=12),
        svg.text(8, below, _dot_product(result)),
        svg.text(8, below + 24, _mixture(result)),
    ]
    drawn = svg.document(806, below + 36, parts, label=sentence(result))
    return Picture(drawn, sentence(result), result.notice)


def _swap(state):
    return entries("W_Q", matrix_in(state, "W_K")) | entries("W_K", matrix_in(state, "W_Q"))


def _tie(state):
    return entries("W_K", matrix_in(state, "W_Q"))


def _identity(state):
    return entries("W_V", np.eye(*SHAPE))


def _entry_grid(controls, matrix):
    boxes = [controls[entry(matrix, i, j)] for i in range(SHAPE[0]) for j in range(SHAPE[1])]
    grid = ipywidgets.GridBox(boxes, layout={"grid_template_columns": "repeat(2, 114px)"})
    return ipywidgets.VBox([ipywidgets.HTML(f"<b>{matrix}</b> (row,column)"), grid], layout={"margin": "0 14px 0 0"})


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
    >>> "The scores are symmetric" in lab.picture.value
    True
    """
    controls = {
        "query": ipywidgets.SelectionSlider(options=TOKENS, value="play", description="query token"),
        "key": ipywidgets.SelectionSlider(options=TOKENS, value="football", description="key token"),
    }
    for matrix in MATRICES:
        for name, value in entries(matrix, START[matrix]).items():
            controls[name] = ipywidgets.BoundedFloatText(
                value=value, min=-10, max=10, step=0.1, description=f"{matrix[-1]} {name[len(matrix) + 1 : -1]}",
                style={"description_width": "38px"}, layout={"width": "108px"},
            )  # fmt: skip
    return Lab(
        name="qkv_workbench",
        title="Q, K, V workbench",
        task="Change W_V and see what does not move. Then make the scores symmetric.",
        controls=controls,
        actions={"Swap W_Q and W_K": _swap, "Tie W_K = W_Q": _tie, "W_V = identity": _identity},
        layout=(
            ipywidgets.HBox([controls["query"], controls["key"]]),
            in_a_row([_entry_grid(controls, matrix) for matrix in MATRICES]),
        ),
        compute=compute,
        render=render,
        function=function,
    )
