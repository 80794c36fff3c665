"""The source documents' worked examples as data, and a replay that finds their slips.

`data/worked_examples.json` holds each example's inputs and, step by step, what the source prints,
as strings, because "1.30" promises more digits than "1.3". A replay computes every step twice: from
the inputs (what is right), and from the numbers that the source itself printed for the step before.
So a step with a slip of its own is told apart from one that carries an earlier slip on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mha_helpers.attention import attention_scores, combine_heads, scaled_dot_product_attention, softmax, split_heads
from mha_helpers.course_data import data_path
from mha_helpers.masks import apply_mask, causal_mask, padding_mask
from mha_helpers.positions import sinusoidal_positions
from mha_helpers.shapes import Array

_DATA = json.loads(data_path("worked_examples.json").read_text(encoding="utf-8"))
EXAMPLES = tuple(_DATA)
_FLOAT_NOISE = 1e-9  # far below the digits of any source, far above float64's own rounding


def _fold_heads(X, n_heads):
    """(batch, seq_len, d_model) to (batch * n_heads, seq_len, d_head)."""
    heads = split_heads(X, n_heads)
    return heads.reshape(-1, *heads.shape[-2:])


def _unfold_heads(folded, n_heads):
    """(batch * n_heads, seq_len, d_head) to (batch, seq_len, d_model): the inverse of `_fold_heads`."""
    return combine_heads(folded.reshape(-1, n_heads, *folded.shape[-2:]))


def _fold_mask(mask, n_heads, n_queries):
    """(batch, 1, 1, n_keys) to (batch * n_heads, n_queries, n_keys): one copy for each head and query."""
    batch, _, _, n_keys = mask.shape
    return np.broadcast_to(mask, (batch, n_heads, n_queries, n_keys)).reshape(-1, n_queries, n_keys)


# What the steps of the data may do, by the name they use for it.
_OPERATIONS = {
    "as_given": lambda array: array,
    "add": np.add,
    "multiply": np.multiply,
    "divide": np.divide,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "matmul": np.matmul,
    "percent": lambda shares: 100 * shares,
    "row_sums": lambda matrix: matrix.sum(axis=-1, keepdims=True),
    "item": lambda array, index: array[index],
    "columns": lambda matrix, start, stop: matrix[:, start:stop],
    "reshape": lambda array, *shape: array.reshape(shape),
    "transposed": lambda array: array.swapaxes(-1, -2),
    "stack": lambda *arrays: np.stack(arrays),
    "concatenate": lambda *matrices: np.concatenate(matrices, axis=-1),
    "output_weights": lambda n_heads, d_head, d_model: np.zeros((n_heads * d_head, d_model)),
    "embed": lambda ids, vocabulary, embeddings: embeddings[np.searchsorted(vocabulary, ids)],
    "add_positions": lambda X: X + sinusoidal_positions(*X.shape[-2:]),
    "split_heads": split_heads,
    "combine_heads": combine_heads,
    "fold_heads": _fold_heads,
    "unfold_heads": _unfold_heads,
    "attention_scores": attention_scores,
    "padding_mask": padding_mask,
    "causal_mask": causal_mask,
    "fold_mask": _fold_mask,
    "logical_and": np.logical_and,
    "apply_mask": apply_mask,
    "softmax": softmax,
    "weighted_values": lambda weights, values, query: weights[query][:, None] * values,
    "attention_context": lambda queries, keys, values: scaled_dot_product_attention(queries, keys, values)[0],
}


@dataclass(frozen=True)
class Step:
    """One step of an example: what is done to what, and what the source prints of the outcome."""

    name: str
    operation: str
    arguments: tuple  # names of inputs and of earlier steps, and whole numbers
    printed: tuple = ()  # the outcome's rows, of strings; empty where the source does not print them
    labels: tuple = ()  # what each printed row belongs to: its token, mostly
    shape: tuple = ()  # the outcome's shape as the source states it, of strings
    raises: str = ""  # why the step cannot work, according to the source


@dataclass(frozen=True, eq=False)
class Example:
    """A worked example of a source document."""

    id: str
    title: str
    source: str
    tokens: tuple
    inputs: dict  # name to float64 array: what the source gives, and what it leaves open and the course fixes
    made_up: dict  # name to text: how the course fixed an input
    notes: tuple  # misreadings of the scan, and how the course reads what the source leaves open
    steps: tuple


@dataclass(frozen=True)
class Row:
    """What a replay finds about a printed row, a stated shape (label "shape") or a refusal (label "error")."""

    example: str
    step: str
    label: str
    printed: tuple  # strings
    right: tuple  # floats, computed from the example's inputs; of a refusal, the error's message
    given: tuple  # floats, computed from what the source prints for the step's arguments
    agrees: bool  # printed is `right`, to the printed digits
    follows: bool  # printed is `given`, to the printed digits

    @property
    def verdict(self) -> str:
        """Either "agrees", or "carried" (wrong, but only because an earlier step was), or "wrong here".

        A row can agree without following: there a slip happens to undo an earlier one.
        """
        if self.agrees:
            return "agrees"
        return "carried" if self.follows else "wrong here"


def load(name: str) -> Example:
    """Read a worked example from the course's data.

    Parameters
    ----------
    name : str
        One of `EXAMPLES`.

    Returns
    -------
    Example
        A fresh copy: changing its inputs changes no other.

    Raises
    ------
    ValueError
        If there is no such example.

    Examples
    --------
    >>> example = load("play_football")
    >>> example.tokens, example.inputs["W_Q"].shape
    (('I', 'play', 'football'), (3, 2))
    """
    if not isinstance(name, str) or name not in EXAMPLES:
        raise ValueError(f"{name!r} is not a worked example; choose one of {', '.join(EXAMPLES)}")
    data = _DATA[name]
    tokens = tuple(data["tokens"])
    return Example(
        id=name,
        title=data["title"],
        source=data["source"],
        tokens=tokens,
        inputs={key: np.array(matrix, dtype=np.float64) for key, matrix in data["inputs"].items()},
        made_up={key: entry["how"] for entry in data["made_up"] for key in entry["names"]},
        notes=tuple(data["notes"]),
        steps=tuple(_read_step(tokens, **step) for step in data["steps"]),
    )


def right_values(example: Example | str) -> dict[str, Array]:
    """Compute every step of an example from its inputs.

    Parameters
    ----------
    example : Example or str
        An example, or the name of one of `EXAMPLES`.

    Returns
    -------
    dict of str to ndarray
        The inputs and each step's outcome, by name. A step that cannot work has its ValueError.

    Raises
    ------
    ValueError
        If there is no such example.

    Examples
    --------
    >>> right_values("play_football")["weights"].round(4)
    array([[0.3233, 0.3941, 0.2826],
           [0.3343, 0.3905, 0.2752],
           [0.3179, 0.3931, 0.289 ]])
    """
    example = _as_example(example)
    values = {name: array.copy() for name, array in example.inputs.items()}
    for step in example.steps:
        try:
            values[step.name] = _outcome(step, values)
        except ValueError as error:
            if not step.raises:
                raise
            values[step.name] = error
    return values


def replay(example: Example | str) -> list[Row]:
    """Compare everything that a source prints for an example with its inputs, and with its own earlier steps.

    Parameters
    ----------
    example : Example or str
        An example, or the name of one of `EXAMPLES`.

    Returns
    -------
    list of Row
        In the source's order, one for each printed row, stated shape and refusal.

    Raises
    ------
    ValueError
        If there is no such example.

    Notes
    -----
    A row agrees if each number is within half a unit of its last printed digit. For `follows`, the
    arguments count as printed, and the source may have kept their unprinted digits: the outcome's
    first-order change under them is added to the half unit. A right argument's unprinted digits are
    known; a wrong one's can be anything up to half a unit.

    Examples
    --------
    >>> for row in replay("cat_sat")[-3:]:
    ...     print(row.label, row.printed, np.round(row.right, 4), np.round(row.given, 4), row.verdict)
    the ('2.63', '2.92', '3.2', '3.5') [3.0853 3.4246 3.7639 4.1032] [3.1664 3.5168 3.8672 4.2176] wrong here
    cat ('2.67', '2.97', '3.27', '3.57') [3.0373 3.3701 3.7029 4.0358] [3.196 3.536 3.876 4.216] wrong here
    sat ('2.58', '2.87', '3.16', '3.45') [3.1089 3.4515 3.794  4.1366] [3.106 3.448 3.79  4.132] wrong here
    """
    example = _as_example(example)
    right = right_values(example)
    given = dict(example.inputs)  # each step as printed; where it is not, computed from what is
    slack = {name: np.zeros(array.shape) for name, array in given.items()}  # the unprinted digits of `given`
    rows = []
    for step in example.steps:
        truth = right[step.name]
        if step.raises:
            refused = isinstance(truth, ValueError)
            message = str(truth) if refused else "no error"
            rows.append(Row(example.id, step.name, "error", (step.raises,), (message,), (), refused, refused))
            continue
        value = _outcome(step, given)
        value_slack = _propagated(slack, step, given, value)
        if step.shape:
            rows += _compare(example, step, ("shape",), (step.shape,), truth.shape, value.shape, [0] * value.ndim)
        if step.printed:
            rows += _compare(example, step, step.labels, step.printed, truth, value, value_slack)
            value, half_units = (numbers.reshape(truth.shape) for numbers in _read_numbers(step.printed))
            value_slack = np.minimum(half_units, abs(value - truth))
        given[step.name], slack[step.name] = value, value_slack
    return rows


def slips(example: Example | str) -> list[Row]:
    """List the rows in which a source makes an error of its own, and doesn't just carry an earlier one on.

    Parameters
    ----------
    example : Example or str
        An example, or the name of one of `EXAMPLES`.

    Returns
    -------
    list of Row

    Raises
    ------
    ValueError
        If there is no such example.

    Examples
    --------
    >>> print(table(slips("play_football")))
    step                row   printed         right                    from the step before  verdict
    weights in percent  play  33.4 39.1 28.9  33.4269 39.0532 27.5198  33.43 39.05 27.52     wrong here
    """
    return [row for row in replay(example) if row.verdict == "wrong here"]


def table(rows: Iterable[Row] | Row) -> str:
    """Write rows of a replay as aligned plain text, computed numbers with at most four decimals.

    Parameters
    ----------
    rows : iterable of Row, or Row
        As `replay` and `slips` return them, of one or of several examples.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If `rows` holds something else.

    Examples
    --------
    >>> print(table(replay("model_sizes")))
    step                          row    printed  right    from the step before  verdict
    base model, width of a head          64       64       64                    agrees
    base model, size of W_O       shape  512 512  512 512  512 512               agrees
    large model, width of a head         64       64       64                    agrees
    """
    rows = list(rows) if isinstance(rows, Iterable) else [rows]
    for row in rows:
        if not isinstance(row, Row):
            raise ValueError(f"rows holds {row!r}; give the rows that replay or slips returns")
    lines: list[tuple[str, ...]] = [("example", "step", "row", "printed", "right", "from the step before", "verdict")]
    for row in rows:
        numbers = (" ".join(map(_text, entries)) for entries in (row.printed, row.right, row.given))
        by_luck = ", by luck" if row.agrees and not row.follows else ""
        lines.append((row.example, row.step, row.label, *numbers, row.verdict + by_luck))
    columns = list(zip(*lines, strict=True))
    if len(set(columns[0])) <= 2:  # the heading and one example: no need to repeat its name
        del columns[0]
    padded = [[cell.ljust(max(map(len, column))) for cell in column] for column in columns]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*padded, strict=True))


def _read_step(tokens, *, arguments, printed=(), labels=None, shape=(), **rest):
    if labels is None:
        labels = tokens if len(printed) == len(tokens) else [""] * len(printed)
    return Step(
        arguments=tuple(arguments),
        printed=tuple(map(tuple, printed)),
        labels=tuple(labels),
        shape=tuple(shape),
        **rest,
    )


def _as_example(example: Example | str) -> Example:
    return example if isinstance(example, Example) else load(example)


def _outcome(step, values):
    arguments = (values[argument] if isinstance(argument, str) else argument for argument in step.arguments)
    return np.array(_OPERATIONS[step.operation](*arguments))


def _propagated(slack, step, given, value):
    """How far the outcome moves, to first order, when its arguments' unprinted digits are added."""
    total = np.zeros(value.shape)
    for name in filter(slack.__contains__, dict.fromkeys(step.arguments)):
        for index in map(tuple, np.argwhere(slack[name])):
            moved = given[name].copy()
            moved[index] += slack[name][index]
            total += abs(_outcome(step, given | {name: moved}) - value)
    return total


def _read_numbers(printed):
    """Return the printed numbers, and half a unit of each one's last digit."""
    half_units = [[0.5 * 10.0 ** -len(text.partition(".")[2]) for text in row] for row in printed]
    return np.array(printed, dtype=np.float64), np.array(half_units)


def _compare(example, step, labels, printed, right, given, slack):
    """Return a Row for each printed row; `right`, `given` and `slack` hold as many numbers."""
    numbers, half_units = _read_numbers(printed)
    right, given, slack = (np.asarray(part, np.float64).reshape(numbers.shape) for part in (right, given, slack))
    agrees = (abs(numbers - right) <= half_units + _FLOAT_NOISE).all(axis=-1)
    follows = (abs(numbers - given) <= half_units + slack + _FLOAT_NOISE).all(axis=-1)
    columns = (
        labels,
        printed,
        map(tuple, right.tolist()),
        map(tuple, given.tolist()),
        agrees.tolist(),
        follows.tolist(),
    )
    return [Row(example.id, step.name, *fields) for fields in zip(*columns, strict=True)]


def _text(entry):
    # Adding 0.0 turns a rounded -0.0 into 0.
    return entry if isinstance(entry, str) else f"{round(entry, 4) + 0.0:g}"
