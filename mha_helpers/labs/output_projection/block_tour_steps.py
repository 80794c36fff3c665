"""The stops of the block tour: what is lit, the formula, the matrices in numbers, and one number written out."""

from dataclasses import dataclass

import numpy as np

from mha_helpers import running_example as example
from mha_helpers.drawing import palette
from mha_helpers.drawing.block import EVERYTHING
from mha_helpers.drawing.equation import Grid, written
from mha_helpers.drawing.tables import by_size

ALIVE = example.FEATURES.index("alive")  # the feature that both heads add to
D_HEAD = 2
NARROW = (38, 20)  # a cell, where the longest name needs room beside them
ROOT = f"√{D_HEAD}"


@dataclass(frozen=True)
class Tour:
    """What the tour shows: the numbers of the running example, and the choices of the reader.

    Parameters
    ----------
    stages : example.Stages
        With the learner's weights and output, where there are some.
    right : example.Stages
    head, row : int
        The head and the query that were chosen.
    """

    stages: example.Stages
    right: example.Stages
    head: int
    row: int

    @property
    def token(self):
        return example.TOKENS[self.row]

    @property
    def column(self):
        """The first feature of the head that was chosen."""
        return self.head * D_HEAD


@dataclass(frozen=True)
class Step:
    """One operation.

    Parameters
    ----------
    title : str
    lit : callable
        From a head to the names of what is lit in the block.
    formula, shape : str
        `{h}` stands for the head.
    parts : callable
        From a Tour to the grids and signs of an equation.
    number : callable
        From a Tour to a sentence with one number written out.
    """

    title: str
    lit: object
    formula: str
    shape: str
    parts: object
    number: object


# ---- grids -----------------------------------------------------------------------------------


def _cells(rows, columns):
    return frozenset((i, j) for i in rows for j in columns)


def _row(tour, columns):
    return _cells([tour.row], range(columns))


def _shaded(colour, values):
    shade = by_size(colour, np.abs(values[np.isfinite(values)]).max(initial=0))
    return lambda value, i, j: shade(value)


def _of(role, values, title, **more):
    return Grid(values, title, _shaded(palette.ROLES[role], values), palette.role_text(role), **more)


def _of_head(head, values, title, **more):
    return Grid(values, title, _shaded(palette.head_colour(head), values), palette.head_text(head), **more)


def _in_head_colours(values, title, *, by_row=False, **more):
    shades = [_shaded(palette.head_colour(head), values) for head in range(example.N_HEADS)]
    return Grid(values, title, lambda value, i, j: shades[(i if by_row else j) // D_HEAD](value, i, j), **more)


def _scores(tour, **more):
    scores = tour.stages.scores[tour.head]
    colour = palette.score_colours(max(4, np.abs(scores).max()))
    return Grid(scores, "scores", lambda value, i, j: colour(value), columns=example.TOKENS, **more)


def _weights(tour, **more):
    weights, right = tour.stages.weights[tour.head], tour.right.weights[tour.head]
    colour = palette.head_weight_colours(tour.head)
    return Grid(
        weights, f"weights, head {tour.head}", lambda value, i, j: colour(value), palette.head_text(tour.head),
        columns=example.TOKENS, wrong=differing(weights, right), **more,
    )  # fmt: skip


def differing(got, right):
    """Tell which cells differ so that it can be seen."""
    with np.errstate(invalid="ignore"):
        return ~(np.abs(got - right) < 0.005)


def _output(tour, **more):
    output = tour.stages.output
    return _of("output", output, "output", wrong=differing(output, tour.right.output), **more)


HEAD_BARS = tuple((palette.head_colour(head), D_HEAD) for head in range(example.N_HEADS))
TOKENS = {"rows": example.TOKENS}


# ---- one number ------------------------------------------------------------------------------


def _dot(left, right):
    terms = " + ".join(f"{written(a)} × {written(b)}" for a, b in zip(left, right, strict=True))
    return f"{terms} = {written(left @ right)}"


def _with_yours(right, shown):
    """Write a number and, where the learner's function gives another, that as well."""
    return written(right) + (f" (yours: {written(shown)})" if abs(shown - right) >= 0.005 or shown != shown else "")


def _vector(values):
    return f"({', '.join(map(written, values))})"


def _best(tour):
    """The key that the chosen query attends to most, in the chosen head."""
    return int(tour.right.scores[tour.head, tour.row].argmax())


def _features(tour):
    named = [name for name, value in zip(example.FEATURES, tour.stages.X[tour.row], strict=True) if value]
    return f"“{tour.token}” is {_vector(tour.stages.X[tour.row])}: {' and '.join(named)}"


def _projected(title, letter, matrix, name):
    """Return the step of a projection."""

    def product(tour, i, j):
        return f"{letter}[{example.TOKENS[i]}, {j}] = row of X · column of W_{letter} = " + _dot(
            tour.stages.X[i], matrix[:, j]
        )

    def worked(tour):
        """The cell that is written out: the chosen token's, or, where that has only zeros, of what it attends to."""
        values = getattr(tour.stages, name)[:, tour.column : tour.column + D_HEAD]
        row = tour.row if values[tour.row].any() else _best(tour)
        return row, tour.column + int(np.abs(values[row]).argmax())

    def parts(tour):
        row, column = worked(tour)
        return (
            _of("X", tour.stages.X, "X", marked=_cells([row], range(4)), **TOKENS), "×",
            _of(name, matrix, f"W_{letter}", marked=_cells(range(4), [column])), "=",
            _of(
                name, getattr(tour.stages, name), letter, marked=_cells([row], [column]), bars=HEAD_BARS,
                tip=lambda i, j: product(tour, i, j),
            ),
        )  # fmt: skip

    lit = {"X", f"W_{letter}", letter, f"project {letter}"}
    return Step(
        title, lambda head: lit, f"{letter} = X W_{letter}", "(5, 4) (4, 4) = (5, 4)", parts,
        lambda tour: product(tour, *worked(tour)),
    )  # fmt: skip


def _score(tour, i, j):
    queries, keys = tour.stages.head_queries[tour.head], tour.stages.head_keys[tour.head]
    dot = _dot(queries[i], keys[j]).rpartition(" = ")[0]
    score = written(tour.right.scores[tour.head, i, j])
    return f"score({example.TOKENS[i]}, {example.TOKENS[j]}) = ({dot}) / {ROOT} = {score}"


def _share(tour, i, j):
    scores = tour.right.scores[tour.head, i]
    share = f"exp({written(scores[j])}) / {written(np.exp(scores).sum())}"
    right, shown = (weights[tour.head, i, j] for weights in (tour.right.weights, tour.stages.weights))
    return f"weight({example.TOKENS[i]}, {example.TOKENS[j]}) = {share} = {_with_yours(right, shown)}"


def _mixed(tour, i, j):
    weights, values = tour.right.weights[tour.head, i], tour.stages.head_values[tour.head][:, j]
    terms = " + ".join(
        f"{written(weight)} × {written(value)}" for weight, value in zip(weights, values, strict=True) if value
    )
    context = written(tour.stages.contexts[tour.head, i, j])
    return f"context[{example.TOKENS[i]}, {j}] = {terms} = {context}"


def _split(tour):
    return f"“{tour.token}”: {_vector(tour.stages.queries[tour.row])} becomes " + " and ".join(
        f"{_vector(tour.stages.head_queries[head, tour.row])} for head {head}" for head in range(example.N_HEADS)
    )


def _joined(tour):
    return " next to ".join(_vector(tour.stages.contexts[head, tour.row]) for head in range(example.N_HEADS)) + (
        f" gives {_vector(tour.stages.concat[tour.row])}"
    )


def _projected_out(tour, i, j):
    concat, column = tour.right.concat[i], example.W_O[:, j]
    terms = _dot(concat, column).rpartition(" = ")[0]
    result = _with_yours(tour.right.output[i, j], tour.stages.output[i, j])
    return f"output[{example.TOKENS[i]}, {j}] = row of concat · column of W_O = {terms} = {result}"


def _added(tour, i, j):
    parts = [written(tour.right.contributions[head, i, j]) for head in range(example.N_HEADS)]
    result = _with_yours(tour.right.output[i, j], tour.stages.output[i, j])
    return f"output[{example.TOKENS[i]}, {j}] = {' + '.join(parts)} = {result}"


def _whole(tour):
    before, after = (_vector(rows[tour.row]) for rows in (tour.stages.X, tour.stages.output))
    return f"“{tour.token}” goes in as {before}, and gets {after} added"


# ---- the stops -------------------------------------------------------------------------------

STEPS = (
    Step(
        "The whole block", lambda h: EVERYTHING, "output = multi_head_attention(X)", "(5, 4) → (5, 4)",
        lambda tour: (
            _of("X", tour.stages.X, "X", marked=_row(tour, 4), **TOKENS), "attention",
            _output(tour, marked=_row(tour, 4), **TOKENS),
        ),
        _whole,
    ),
    Step(
        "Words become vectors", lambda h: {"tokens", "X"}, "X", "5 tokens, 4 features: (5, 4)",
        lambda tour: (
            _of("X", tour.stages.X, "X", columns=example.FEATURES, marked=_row(tour, 4), cell=(74, 20), **TOKENS),
        ),
        _features,
    ),
    _projected("Queries: what each word looks for", "Q", example.W_Q, "queries"),
    _projected("Keys: how each word is found", "K", example.W_K, "keys"),
    _projected("Values: what each word hands over", "V", example.W_V, "values"),
    Step(
        "Split into heads", lambda h: {"Q", "K", "V"}, "Q = [head 0 | head 1], and K and V alike", "(5, 4) → (2, 5, 2)",
        lambda tour: (
            _in_head_colours(tour.stages.queries, "Q", marked=_row(tour, 4), **TOKENS), "split",
            _of_head(0, tour.stages.head_queries[0], "head 0", marked=_row(tour, 2)), " ",
            _of_head(1, tour.stages.head_queries[1], "head 1", marked=_row(tour, 2)),
        ),
        _split,
    ),
    Step(
        "Scores: every query meets every key", lambda h: {"Q", "K", f"weights {h}", f"ask {h}"},
        f"scores = Q Kᵀ / {ROOT}   in head {{h}}", "(5, 2) (2, 5) = (5, 5)",
        lambda tour: (
            _of_head(
                tour.head, tour.stages.head_queries[tour.head], f"Q, head {tour.head}", marked=_row(tour, 2),
                cell=NARROW, **TOKENS,
            ),
            "×",
            _of_head(
                tour.head, tour.stages.head_keys[tour.head].T, f"Kᵀ, head {tour.head}", columns=example.TOKENS,
                marked=_cells(range(2), [_best(tour)]), cell=NARROW,
            ),
            f"÷ {ROOT}",
            _scores(tour, marked=_cells([tour.row], [_best(tour)]), tip=lambda i, j: _score(tour, i, j)),
        ),
        lambda tour: _score(tour, tour.row, _best(tour)),
    ),
    Step(
        "Weights: each row becomes shares of 1", lambda h: {f"weights {h}"},
        "weights = softmax(scores), row by row", "(5, 5) → (5, 5)",
        lambda tour: (
            _scores(tour, marked=_row(tour, 5), **TOKENS), "softmax",
            _weights(tour, marked=_row(tour, 5), tip=lambda i, j: _share(tour, i, j)),
        ),
        lambda tour: _share(tour, tour.row, _best(tour)),
    ),
    Step(
        "Context: the values, mixed by the weights", lambda h: {"V", f"weights {h}", f"context {h}", f"mix {h}"},
        "context = weights V   in head {h}", "(5, 5) (5, 2) = (5, 2)",
        lambda tour: (
            _weights(tour, marked=_row(tour, 5), **TOKENS), "×",
            _of_head(
                tour.head, tour.stages.head_values[tour.head], f"V, head {tour.head}", marked=_cells(range(5), [0])
            ),
            "=",
            _of_head(
                tour.head, tour.stages.contexts[tour.head], "context", marked=_cells([tour.row], [0]),
                tip=lambda i, j: _mixed(tour, i, j),
            ),
        ),
        lambda tour: _mixed(tour, tour.row, 0),
    ),
    Step(
        "The heads side by side", lambda h: {"context 0", "context 1", "join 0", "join 1", "concat"},
        "concat = [head 0 | head 1]", "(2, 5, 2) → (5, 4)",
        lambda tour: (
            _of_head(0, tour.stages.contexts[0], "head 0", marked=_row(tour, 2), **TOKENS), "|",
            _of_head(1, tour.stages.contexts[1], "head 1", marked=_row(tour, 2)), "=",
            _in_head_colours(tour.stages.concat, "concat", marked=_row(tour, 4)),
        ),
        _joined,
    ),
    Step(
        "Output: the heads' features, mixed", lambda h: {"concat", "W_O", "output", "out", "on"},
        "output = concat W_O", "(5, 4) (4, 4) = (5, 4)",
        lambda tour: (
            _in_head_colours(tour.stages.concat, "concat", marked=_row(tour, 4), **TOKENS), "×",
            _in_head_colours(example.W_O, "W_O", by_row=True, marked=_cells(range(4), [ALIVE])), "=",
            _output(tour, marked=_cells([tour.row], [ALIVE]), tip=lambda i, j: _projected_out(tour, i, j)),
        ),
        lambda tour: _projected_out(tour, tour.row, ALIVE),
    ),
    Step(
        "As a sum: each head adds its part",
        lambda h: {"context 0", "context 1", "join 0", "join 1", "concat", "W_O", "output", "out", "on"},
        "output = head 0's part + head 1's part", "(5, 4) + (5, 4) = (5, 4)",
        lambda tour: (
            _of_head(0, tour.stages.contributions[0], "head 0's part", marked=_cells([tour.row], [ALIVE]), **TOKENS),
            "+", _of_head(1, tour.stages.contributions[1], "head 1's part", marked=_cells([tour.row], [ALIVE])), "=",
            _output(tour, marked=_cells([tour.row], [ALIVE]), tip=lambda i, j: _added(tour, i, j)),
        ),
        lambda tour: _added(tour, tour.row, ALIVE),
    ),
)  # fmt: skip
