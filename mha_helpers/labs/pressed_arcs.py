"""Arcs whose queries are pressed: what labs share in which a word shows what it attends to."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from live_pictures import marks, style, svg
from mha_helpers.drawing.arcs import arcs, areas, difference, width_of_words
from mha_helpers.shapes import Array

TITLE = 24  # pixels: how high the line above the arcs is


def pressed_arcs(
    title: str,
    weights: Array,
    tokens: Sequence[str],
    query: int,
    press: Callable[[str, int], str],
    *,
    differs: Iterable[int] = (),
    head: int = 0,
    colour: str = style.INK,
    width: float = 344,
) -> tuple[str, float]:
    """Draw arcs below a title, with queries that can be pressed.

    Parameters
    ----------
    title : str
    weights : array_like, shape (n_tokens, n_tokens)
        What is not a number is drawn as 0, and what is larger than 1 as 1.
    tokens : sequence of str
    query : int
        Whose arcs stand out.
    press : callable
        From a query's area and its place to the mark that it becomes.
    differs : iterable of int, optional
        The queries to mark as different.
    head : int, optional
        Whose colour the arcs have.
    colour : str, optional
        The title's.
    width : float, optional

    Returns
    -------
    drawn : str
    height : float
        What it takes.
    """
    weights = np.nan_to_num(np.asarray(weights, np.float64), nan=0).clip(0, 1)
    drawn, height = arcs(weights, tokens, tokens, chosen=query, head=head, width=width)
    words = "".join(press(area, place) for place, area in enumerate(areas(tokens, tokens)))
    wrong = "".join(difference(width_of_words(tokens), place) for place in differs)
    below = f'<g transform="translate(0 {TITLE})">{drawn}{words}{wrong}</g>'
    return svg.text(0, 14, title, bold=True, colour=colour) + below, TITLE + height


def query_mark(tokens: Sequence[str]) -> Callable[[str, int], str]:
    """Return what makes an area the radio button that sets "query" to its word."""
    return lambda area, place: marks.radio(area, {"query": tokens[place]}, name=f"query {tokens[place]}")
