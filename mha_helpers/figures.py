"""The notebooks' static figures, each with a description in words.

A figure is shown as an SVG together with a sentence computed from the data that it drew. The sentence is what a
screen reader gets and what nbval compares.

`attention_map`, `layer_map`, `bars` and `curves` are matplotlib's: each draws on the axes `ax`, or on those of a new
figure, and returns them. So they stand side by side in `plt.subplots`, take a title by `ax.set_title`, and are saved by
`ax.figure.savefig("mine.pdf")`. `plt.style.use("mha_helpers.course")` gives other plots their looks. What the others
return, tables of numbers and pictures of the machine, has a `savefig`, too, for SVG and PNG.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from live_pictures.figure import Figure
from live_pictures.style import number
from mha_helpers import running_example as example
from mha_helpers.drawing import arcs as over_words
from mha_helpers.drawing import block, in_a_tab
from mha_helpers.drawing.backwards import backwards
from mha_helpers.drawing.cache import cache
from mha_helpers.drawing.clock_hands import clock_hands
from mha_helpers.drawing.gpt import gpt
from mha_helpers.drawing.induction import JOBS, induction, repeats
from mha_helpers.drawing.plots import HEADS, attends, attention_map, bars, curves, layer_map
from mha_helpers.drawing.strip import PARTS
from mha_helpers.drawing.tables import Matrix, matrices
from mha_helpers.shapes import Array

in_a_tab.bring_matplotlib()  # whoever imports figures without a notebook's set-up cell may plot, too

__all__ = [
    "HEADS",
    "JOBS",
    "Figure",
    "Matrix",
    "arcs",
    "attention_map",
    "backwards",
    "bars",
    "cache",
    "clock_hands",
    "curves",
    "gpt",
    "heads_apart",
    "induction",
    "layer_map",
    "matrices",
    "repeats",
    "whole_block",
]


def whole_block(row: str = "it", *, notebook: str | None = None) -> Figure:
    """Draw the whole of multi-head attention on the running example, tensors to scale.

    Parameters
    ----------
    row : str, optional
        The token whose rows are framed, or "" for none.
    notebook : str, optional
        Two digits: what that notebook is about is lit, as on the course's map, and the rest dimmed.

    Returns
    -------
    Figure

    Examples
    --------
    >>> str(whole_block())[:43]
    'Multi-head attention whole. X, 5 tokens by '
    """
    stages = example.stages()
    framed: Any = example.TOKENS.index(row) if row else None
    looks = [
        # Without its number: notebook 01 shows this picture before there is a division, and 0.83 where this has 0.70.
        f"in head {head} “{example.TOKENS[framed]}” looks mostly at “{example.TOKENS[weights[framed].argmax()]}”"
        for head, weights in enumerate(stages.weights)
        if row
    ]
    text = (
        "Multi-head attention whole. X, 5 tokens by 4 features, is multiplied by W_Q, W_K and W_V to give Q, K and V. "
        "Their columns belong to two heads. Each head turns its queries and keys into weights, 5 by 5, and mixes its "
        "values with them into a context, 5 by 2. The contexts side by side, times W_O, are the output, 5 by 4. "
        f"{'; '.join(looks).capitalize()}{'.' if row else ''}"
    ).strip()
    lit = PARTS[notebook][0] if notebook else block.EVERYTHING
    return Figure(block.WIDTH, block.HEIGHT, block.block(lit, row=framed), text)


def arcs(
    weights: Array,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    query: str | int | None = None,
    head: int = 0,
) -> Figure:
    """Draw attention over words: queries above, keys below, an arc as thick as each weight.

    Parameters
    ----------
    weights : array_like, shape (n_queries, n_keys)
    queries : sequence of str
    keys : sequence of str, optional
        The same unless given.
    query : str or int, optional
        The query (its word, or its place) whose arcs stand out; all are alike unless given.
    head : int, optional
        Whose colour the arcs have.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If the words do not fit the weights, or there is no such query.

    Examples
    --------
    >>> arcs([[0.3, 0.7], [0.9, 0.1]], ["it", "cat"], query="it")
    Attention arcs: “it” attends most to “cat” (0.70), then to “it” (0.30).
    """
    weights, keys = np.asarray(weights, dtype=float), queries if keys is None else keys
    if weights.shape != (len(queries), len(keys)):
        raise ValueError(
            f"weights have shape {weights.shape} for {len(queries)} queries and {len(keys)} keys; give one for each of "
            "their pairs"
        )
    if isinstance(query, str):
        if query not in queries:
            raise ValueError(f"there is no query {query!r}; give one of {', '.join(queries)}")
        query = list(queries).index(query)
    drawn, height = over_words.arcs(weights, queries, keys, chosen=query, head=head)
    return Figure(344, height, [drawn], f"Attention arcs: {_arcs_say(weights, queries, keys, query)}.")


def _arcs_say(weights, queries, keys, query):
    if query is None:
        return ", ".join(attends(word, keys, row) for word, row in zip(queries, weights, strict=True))
    row = weights[query]
    others = np.argsort(-row, kind="stable")[1:3]
    then = [f"“{keys[key]}” ({number(row[key])})" for key in others if row[key] >= 0.05]
    return attends(queries[query], keys, row) + (f", then to {' and '.join(then)}" if then else "")


def heads_apart(
    values: Array,
    rows: Sequence[str],
    *,
    n_heads: int = 2,
    name: str = "Q",
    heads: Array | None = None,
    decimals: int = 0,
) -> Figure:
    """Draw how a matrix falls into heads, in the heads' colours; a wrong split in the tokens', with the heads' bars.

    Parameters
    ----------
    values : array_like, shape (seq_len, d_model)
        For a wrong split all numbers must be different, such as 100 * token + feature, so that each can be followed.
    rows : sequence of str
        The tokens.
    n_heads : int, optional
    name : str, optional
    heads : array_like, shape (n_heads, seq_len, d_head), optional
        What somebody's function made of it, right or wrong: the right split unless given.
    decimals : int, optional

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If the rows do not fit, the heads do not divide the columns, or numbers of a wrong split cannot be followed.

    Examples
    --------
    >>> heads_apart([[0, 1], [100, 101]], ["cat", "sat"])
    Q (2, 2): cat (0, 1), sat (100, 101). head 0 (2, 1): cat (0), sat (100). head 1 (2, 1): cat (1), sat (101).
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 2 or values.shape[1] % n_heads:
        raise ValueError(
            f"{name} has shape {values.shape}; give (seq_len, d_model) with d_model divisible by {n_heads}"
        )
    right = values.reshape(len(values), n_heads, -1).swapaxes(0, 1)
    heads = right if heads is None else np.asarray(heads, dtype=float)
    if np.array_equal(heads, right):
        whole = Matrix(f"{name} {values.shape}", values, "heads", rows, decimals=decimals, heads=tuple(range(n_heads)))
        parts = [
            Matrix(f"head {head} {array.shape}", array, f"head {head}", rows, decimals=decimals)
            for head, array in enumerate(heads)
        ]
        return matrices(whole, "split", *parts)
    if np.unique(values).size < values.size:
        raise ValueError(f"a number occurs twice in {name}, so it cannot be followed; give numbers all different")
    places = np.broadcast_to(np.arange(len(values))[:, None], values.shape)  # which token each number is from
    tokens = {value: i for i, row in enumerate(values.tolist()) for value in row}
    moved = [[[tokens.get(value, 0) for value in row] for row in array.tolist()] for array in heads]

    def part(title, array, which, origin):
        return Matrix(f"{title} {array.shape}", array, "tokens", rows, decimals=decimals, heads=which, tokens=origin)

    apart = [part(f"head {head}", array, (head,), moved[head]) for head, array in enumerate(heads)]
    return matrices(part(name, values, tuple(range(n_heads)), places), "split", *apart)
