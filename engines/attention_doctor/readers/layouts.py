"""How token vectors are handed over and come back: in which order of axes, and sample by sample or not."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

# How token vectors may be handed over, (batch, tokens, features) here: (to the code, back from it).
SAME = (lambda array: array, lambda array: array)
SWAPPED = (lambda array: array.swapaxes(0, 1), lambda array: array.swapaxes(0, 1))
TOKENS_BEFORE_HEADS = (lambda array: array.swapaxes(1, 2), lambda array: array.swapaxes(1, 2))
HEADLESS = (lambda array: array[:, 0], lambda array: array[:, None])
JOINED = (
    lambda array: array.swapaxes(1, 2).reshape(len(array), array.shape[2], -1),
    None,  # needs the number of heads
)


@dataclass(frozen=True)
class Layout:
    """One way to read what is examined.

    Parameters
    ----------
    name : str
        For the report.
    axes : tuple of callable
        From (batch, ...) arrays to what the code takes, and back.
    loops : bool
        Whether the code takes one sequence, so that a batch is asked item by item.
    heads : bool or None
        Whether a question with several heads can be put.
    matrices : callable, optional
        For a module: from its parameters' values to the matrices of the equation.
    right : dict
        Steps whose right form is another one here (positions, what is added).
    n_heads, n_kv_heads : int, optional
        For a module.
    widths : tuple of int
        What a module's output may be as wide as, the likely first.
    usual : bool
        Whether mistakes are looked for in it.
    notes : tuple of str
        What the report should say of it.
    finding : str
        A name, where being right in this layout is a mistake.
    joined : bool
        Whether heads stand side by side in queries, keys and values, and their number is an argument.
    """

    name: str
    axes: tuple[Callable, Callable] = SAME
    loops: bool = False
    heads: bool | None = True
    matrices: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]] | None = None
    right: dict = field(default_factory=dict)
    n_heads: int | None = None
    n_kv_heads: int | None = None
    widths: tuple[int, ...] = ()
    usual: bool = True
    notes: tuple[str, ...] = ()
    finding: str = ""
    joined: bool = False


class Lazily:
    """A sequence that is made as far as it is looked at, once."""

    def __init__(self, items):
        self._left, self._made = iter(items), []

    def __getitem__(self, i):
        while len(self._made) <= i:
            try:
                self._made.append(next(self._left))
            except StopIteration:
                raise IndexError(i) from None
        return self._made[i]


@dataclass(frozen=True)
class Reply:
    """What came back for a question: the output in the equation's axes, or why there is none."""

    output: np.ndarray | None = None
    others: tuple[np.ndarray, ...] = ()
    error: BaseException | None = None
    changed: bool = False
    wrong_shape: tuple[tuple[int, ...], ...] | None = None


def unpacked(layout, array, case, wanted):
    """Return an output in the equation's axes, or None where it has another shape."""
    if layout.joined:
        if array.ndim != 3:
            return array if array.shape == wanted else None
        batch, tokens, width = array.shape
        if width % case.n_heads:
            return None
        array = array.reshape(batch, tokens, case.n_heads, -1).swapaxes(1, 2)
    elif array.ndim > 2:
        array = layout.axes[1](array)
    return array if array.shape == wanted else None


def item_of(case, i):
    """Return one sample of a case, as a batch of one."""

    def sample(array):
        return None if array is None else array[i : i + 1]

    def mask(array):
        return array if array is not None and len(array) == 1 else sample(array)  # one that every sample shares, or not

    return case.changed(
        X=sample(case.X),
        context=sample(case.context),
        second=sample(case.second),
        heads=None if case.heads is None else tuple(map(sample, case.heads)),
        allowed=mask(case.allowed),
        second_allowed=mask(case.second_allowed),
    )
