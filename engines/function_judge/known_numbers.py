"""Telling whether an array holds known numbers, each where it belongs: by position, in whatever layout.

The numbers of a stage are all different, so that each entry of an array says which number it is. An array is in order
if every axis moves evenly through the stage's own axes, as a slice, a transposed array or merged axes do. A reshape
without its transpose has the same numbers, and is not.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

TOLERANCE = 2e-5  # of a number: wide enough for float32
FINE = 1e-9  # for float64, where numbers are told apart that float32 would confuse
# The share of an array's entries that must be found in one place only. A grid with a pattern over it has many zeros,
# which are found in many; an array of nothing but such entries would be in any order.
MIN_UNIQUE = 0.3
MIN_ENTRIES = 4  # fewer are found among any numbers
# How far below all others what is hidden stands: nothing of it is left in an exponential's 7 digits.
FAR_BELOW = 20.0


@dataclass(frozen=True, eq=False)
class Known:
    """The numbers of a stage.

    Parameters
    ----------
    name : str
    array : ndarray
    axes : tuple of str
        What each axis is.
    pattern : ndarray of bool, optional
        Where its entries count: the others may be anything very small.
    rank : int, optional
        2 for the output, 1 for another stage on the way, 0 for what is beside them.
    exact : bool, optional
        Whether it counts in this layout alone; of a part of it any will do.
    nested : tuple of (str, str), optional
        Two axes of which the first, merged with the second into one, must be the outer one.
    grid : tuple of (str, str), optional
        Two axes that are rows and columns: somebody may turn them, or hold some columns only.
    patterned : bool, optional
        Whether a pattern is laid over it: with a wrong pattern it is wrong, too.
    """

    name: str
    array: np.ndarray
    axes: tuple
    pattern: np.ndarray | None = None
    rank: int = 0
    exact: bool = False
    nested: tuple[str, str] | None = None
    grid: tuple[str, str] | None = None
    patterned: bool = False

    @cached_property
    def _sorted(self):
        """The numbers in order, their places, how far each is from its neighbours, and how far rounding may move it."""
        flat = self.array.ravel()
        order = np.argsort(flat)
        order = order[np.isfinite(flat[order])]
        numbers = flat[order]
        apart = np.diff(numbers, prepend=-np.inf, append=np.inf)
        return numbers, order, np.minimum(apart[:-1], apart[1:]), self.tolerance(numbers)

    def tolerance(self, numbers: np.ndarray) -> np.ndarray:
        """How far rounding may move each: they may be of very different sizes."""
        return TOLERANCE * np.maximum(np.abs(numbers), self._usual)

    @cached_property
    def _usual(self):
        """The size of most numbers: one that is nearly 0 is rounded as the numbers are that it was summed from."""
        sizes = np.abs(self.array[np.isfinite(self.array) & (self.array != 0)])
        return max(np.median(sizes), 0.01 * sizes.max()) if sizes.size else 1e-9

    def hidden_in(self, array: np.ndarray) -> np.ndarray:
        """Mark the entries of an array that stand outside the pattern: far below all others."""
        if self.pattern is None:
            return np.zeros(array.shape, bool)
        return ~(array >= self._lowest)

    @cached_property
    def _lowest(self):
        return self.array[np.isfinite(self.array)].min(initial=0) - FAR_BELOW

    def find(self, entries: np.ndarray, relative: float = TOLERANCE) -> np.ndarray:
        """Look entries up: their places in the flat stage, -1 where several are possible, and -2 where none is."""
        numbers, order, apart, tolerance = self._sorted
        tolerance = tolerance * (relative / TOLERANCE)
        if not numbers.size:
            return np.full(entries.shape, -2)
        right = np.searchsorted(numbers, entries).clip(0, numbers.size - 1)
        left = (right - 1).clip(0)
        nearest = np.where(np.abs(numbers[left] - entries) < np.abs(numbers[right] - entries), left, right)
        found = np.where(apart[nearest] > 2 * tolerance[nearest], order[nearest], -1)
        return np.where(np.abs(numbers[nearest] - entries) <= tolerance[nearest], found, -2)


def is_in_order(array: np.ndarray, known: Known, blank: np.ndarray) -> bool | None:
    """Tell whether an array holds numbers of a stage, and in order.

    Parameters
    ----------
    array : ndarray
    known : Known
    blank : ndarray of bool
        The entries that have not been filled yet.

    Returns
    -------
    bool or None
        None where it holds other numbers.

    Examples
    --------
    >>> squares = np.arange(6.0).reshape(2, 3) ** 2
    >>> stage = Known("squares", squares, ("row", "column"))
    >>> for array in (squares.T, squares.reshape(3, 2), squares + 0.5):
    ...     print(is_in_order(array, stage, np.zeros(array.shape, bool)))
    True
    False
    None
    """
    # Few entries, whole numbers and booleans are in many places: only the whole of such a stage can be recognised.
    whole_only = array.size < MIN_ENTRIES or array.dtype.kind != "f" or known.array.dtype.kind != "f"
    if known.exact and (array.size == known.array.size or whole_only):
        return is_the_same(array, known, blank) or None
    # One number over and over is part of anything that holds it once, as the largest exponentials of all rows are, 1.
    if known.exact and array.size > 1 and (array == array.flat[0]).all():
        return None
    coordinates = _coordinates(array, known, blank | known.hidden_in(array))
    if coordinates is None:
        return None
    return _moves_evenly(coordinates, known) and _hides_no_other(array, known)


def _moves_evenly(coordinates, known):
    """Whether each axis of an array moves through the stage as a slice, or axes turned or merged, do."""
    steps = [_steps(coordinates, axis) for axis in range(coordinates.ndim - 1)]
    if any(step is None or not _is_ascending(step, known) for step in steps):
        return False
    return not _is_diagonal(steps, known) and _keeps_nested_together(steps, known)


def is_the_same(array: np.ndarray, known: Known, blank: np.ndarray) -> bool:
    """Tell whether an array is a stage in the stage's own layout, axes of length 1 apart."""
    if _longer(array.shape) != _longer(known.array.shape):
        return False
    numbers = known.array.reshape(array.shape)
    if (array.dtype.kind == "b") != (numbers.dtype.kind == "b"):
        return False
    if numbers.dtype.kind == "b" and (array != numbers).all():
        return not blank.any()  # with True and False exchanged, as some say which are hidden, it is right as well
    if numbers.dtype.kind != "f":
        return bool((array == numbers)[~blank].all())
    with np.errstate(all="ignore"):
        near = (np.abs(array - numbers) <= known.tolerance(numbers)) & np.isfinite(numbers)
    return bool((near | (array == numbers) | (np.isnan(array) & np.isnan(numbers)))[~blank].all())


def _longer(shape):
    return [size for size in shape if size > 1]


def in_grid(array: np.ndarray, known: Known, blank: np.ndarray) -> tuple[bool, bool]:
    """Tell of an array of a grid whether its rows are along the last axis, and whether it has some columns only."""
    if known.grid is None or known.axes[-2:] != known.grid:
        return False, False
    coordinates = _coordinates(array, known, blank | known.hidden_in(array))
    last = _steps(coordinates, array.ndim - 1)
    is_turned = bool(np.nansum(np.abs(last[-2])) > 0 and np.nansum(np.abs(last[-1])) == 0)
    columns = coordinates[-1][~np.isnan(coordinates[-1])]
    return is_turned, np.unique(columns).size < known.array.shape[-1]


def _coordinates(array, known, blank):
    """Where each entry stands in the stage (NaN: unknown), or None where there are other numbers."""
    filled = array[~blank]
    fine = _found(filled, known, FINE) if array.dtype == np.float64 else None
    places = _found(filled, known, TOLERANCE) if fine is None else fine
    if places is None:
        return None
    flat = np.full(array.shape, -1)
    flat[~blank] = places
    coordinates = np.array(np.unravel_index(flat.clip(0), known.array.shape), dtype=float)
    coordinates[:, flat < 0] = np.nan
    return coordinates


def _found(entries, known, relative):
    """The entries' places, or None where some are other numbers, or too few can be told from all others."""
    if not entries.size or (known.find(entries[:MIN_ENTRIES], relative) == -2).any():
        return None
    places = known.find(entries, relative)
    return None if places.min() == -2 or (places >= 0).sum() < MIN_UNIQUE * np.count_nonzero(entries) else places


def _steps(coordinates, axis):
    """How far each step along an axis moves in the stage (NaN: unknown), or None where that is not always as far."""
    moved = np.moveaxis(np.diff(coordinates, axis=axis + 1), axis + 1, 1)
    if not moved.size:
        return np.zeros(moved.shape[:2])
    moved = moved.reshape(*moved.shape[:2], -1)
    low, high = np.fmin.reduce(moved, axis=2), np.fmax.reduce(moved, axis=2)
    return low if np.array_equal(low, high, equal_nan=True) else None


def _is_ascending(steps, known):
    """Whether the stage's axes that one axis moves through are counted upwards, the last one fastest, in some order."""
    steps = steps[:, ~np.isnan(steps).any(axis=0)]
    moving = [i for i in range(len(known.axes)) if steps[i].any()]
    if not moving:
        return True
    orders = (list(order) for order in itertools.permutations(moving))
    return any(_outer_first(order, known) and _in_this_order(steps[order]) for order in orders)


def _positions(known):
    """Where the two nested axes stand, or None."""
    if known.nested is None or not set(known.nested) <= set(known.axes):
        return None
    return tuple(map(known.axes.index, known.nested))


def _keeps_nested_together(steps, known):
    """Whether an axis along which both nested axes are counted is at most followed by the rest of the inner one.

    Somebody may give every nth column to a block in place of n columns that stand together. Where n divides the width
    that counts evenly as well; but then the rest of the inner axis is somewhere else.
    """
    positions = _positions(known)
    if positions is None:
        return True
    outer, inner = positions
    if any(_leaves_out_columns(step[outer], step[inner], known.array.shape[inner]) for step in steps):
        return False
    return _is_followed_by_the_rest([(_moves(step[outer]), _moves(step[inner])) for step in steps if step.shape[1]])


def _moves(steps):
    return bool(np.nansum(np.abs(steps)))


def _is_followed_by_the_rest(moves):
    """Whether all else that moves through either of two axes is the next after the first that moves through both."""
    both = [i for i, moved in enumerate(moves) if all(moved)]
    either = [i for i, moved in enumerate(moves) if any(moved) and not all(moved)]
    return not both or all(i == both[0] + 1 for i in either)


def _leaves_out_columns(outer, inner, width):
    """Whether an axis moves from block to block without going through all columns between: every nth of them."""
    columns = outer * width + inner
    return bool((outer > 0).any() and (columns != 1).any() and (inner != 0).any())


def _is_diagonal(steps, known):
    """Whether row i of a grid is looked at with column i alone along some axis.

    A diagonal moves evenly, too, but leaves out most of the grid: a sum over an axis that should have been kept does.
    """
    if known.grid is None or not set(known.grid) <= set(known.axes):
        return False
    row, column = map(known.axes.index, known.grid)
    return any(((step[row] > 0) & (step[column] > 0)).any() for step in steps)


def _outer_first(order, known):
    """Whether the outer of two nested axes is counted more slowly; the other way round, blocks are interleaved."""
    positions = _positions(known)
    if positions is None or not set(positions) <= set(order):
        return True
    outer, inner = positions
    return order.index(outer) < order.index(inner)


def _in_this_order(steps):
    """Whether every step goes up in the first axis in which it moves at all."""
    first = np.argmax(steps != 0, axis=0)
    return bool((steps[first, np.arange(steps.shape[1])] >= 0).all())


def layouts_of(array: np.ndarray, shape: tuple) -> Iterator[np.ndarray]:
    """Yield an array in every order of its axes, with neighbours merged or axes of length 1 put in as a shape asks."""
    for order in itertools.permutations(range(array.ndim)):
        turned = array.transpose(order)
        merged = [size for size in turned.shape if size > 1]
        if turned.size == np.prod(shape) and _merges_to(merged, [size for size in shape if size > 1]):
            yield turned.reshape(shape)


def _merges_to(sizes, wanted):
    """Whether neighbours of some sizes can be merged into the sizes that are wanted."""
    sizes = list(sizes)
    for want in wanted:
        have = 1
        while sizes and have < want:
            have *= sizes.pop(0)
        if have != want:
            return False
    return not sizes


def _hides_no_other(array, known):
    """Whether what was hidden is nothing that the pattern leaves, in one of the layouts that the array may have.

    The visible numbers alone don't tell a pattern that hides too much from the right one.
    """
    hidden = known.hidden_in(array)
    if not hidden.any():
        return True
    n_rows = {known.array.shape[-2], *array.shape}  # where only the last rows are computed, as with a cache
    layouts = [
        pair
        for n in n_rows
        for pair in zip(
            layouts_of(known.array[..., -n:, :], array.shape),
            layouts_of(known.pattern[..., -n:, :], array.shape),
            strict=True,
        )
    ]
    fitting = [
        pattern
        for numbers, pattern in layouts
        if (np.abs(numbers - array) <= 2 * known.tolerance(numbers))[~hidden].all()
    ]
    return not fitting or any(not pattern[hidden].any() for pattern in fitting)
