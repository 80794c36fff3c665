"""Telling whether an array holds known numbers, each where it belongs: by position, in whatever layout.

The numbers of a stage are all different, so that each entry of an array says which number it is. An array is in order
if every axis moves evenly through the stage's own axes, as a slice, a transposed array or merged axes do. A reshape
without its transpose has the same numbers, and is not.
"""

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np

TOLERANCE, FINE = 2e-5, 1e-9  # of a number: wide enough for float32; for float64 alone
TOLD = 0.3  # of the entries, so many at least must be told from all others
FEWEST = 4  # entries; fewer are found among any numbers


@dataclass(frozen=True, eq=False)
class Known:
    """The numbers of a stage.

    Parameters
    ----------
    name : str
    array : ndarray
    axes : tuple of str
        What each axis is; of "h" and "d" merged into one, the first comes first.
    allowed : ndarray of bool, optional
        Of scores, which a mask leaves: the others may be anything very small.
    rank : int, optional
        2 for the output, 1 for another stage of the equation, 0 for what is beside them.
    exact : bool, optional
        Whether it counts in this layout alone; of a part of it any will do.
    """

    name: str
    array: np.ndarray
    axes: tuple
    allowed: np.ndarray | None = None
    rank: int = 0
    exact: bool = False

    @cached_property
    def _sorted(self):
        """The numbers in order, their places, how far each is from its neighbours, and how far rounding may move it."""
        flat = self.array.ravel()
        order = np.argsort(flat)
        order = order[np.isfinite(flat[order])]
        numbers = flat[order]
        apart = np.diff(numbers, prepend=-np.inf, append=np.inf)
        return numbers, order, np.minimum(apart[:-1], apart[1:]), self.tolerance(numbers)

    def tolerance(self, numbers):
        """How far rounding may move each: they may be of very different sizes."""
        return TOLERANCE * np.maximum(np.abs(numbers), self._usual)

    @cached_property
    def _usual(self):
        sizes = np.abs(self.array[np.isfinite(self.array) & (self.array != 0)])
        return max(np.median(sizes), 0.01 * sizes.max()) if sizes.size else 1e-9

    def hidden_in(self, array):
        """Mark the entries of an array of scores that stand for hidden ones: far below all others."""
        if self.allowed is None:
            return np.zeros(array.shape, bool)
        return ~(array >= self._lowest)

    @cached_property
    def _lowest(self):
        return self.array[np.isfinite(self.array)].min(initial=0) - 1.0

    def find(self, entries, relative=TOLERANCE):
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


def is_in_order(array, known, blank):
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
    >>> queries = np.arange(6.0).reshape(2, 3) ** 2
    >>> stage = Known("queries", queries, ("t", "d"))
    >>> for array in (queries.T, queries.reshape(3, 2), queries + 0.5):
    ...     print(is_in_order(array, stage, np.zeros(array.shape, bool)))
    True
    False
    None
    """
    whole_only = array.size < FEWEST or array.dtype.kind != "f" or known.array.dtype.kind != "f"
    if known.exact and (array.size == known.array.size or whole_only):
        return is_the_same(array, known, blank) or None
    coordinates = _coordinates(array, known, blank | known.hidden_in(array))
    if coordinates is None:
        return None
    steps = [_steps(coordinates, axis) for axis in range(array.ndim)]
    if any(one is None for one in steps) or not all(_is_ascending(one, known.axes) for one in steps):
        return False
    if _is_diagonal(steps, known.axes):
        return False
    return _keeps_heads_together(steps, known.axes) and (known.allowed is None or _hides_no_other(array, known))


def is_the_same(array, known, blank):
    """Tell whether an array is a stage in the stage's own layout, axes of length 1 apart."""
    if _longer(array.shape) != _longer(known.array.shape):
        return False
    numbers = known.array.reshape(array.shape)
    if (array.dtype.kind == "b") != (numbers.dtype.kind == "b"):
        return False
    if numbers.dtype.kind == "b" and (array != numbers).all():
        return not blank.any()  # a mask in the other convention
    if numbers.dtype.kind != "f":
        return bool((array == numbers)[~blank].all())
    with np.errstate(all="ignore"):
        near = (np.abs(array - numbers) <= known.tolerance(numbers)) & np.isfinite(numbers)
    return bool((near | (array == numbers) | (np.isnan(array) & np.isnan(numbers)))[~blank].all())


def _longer(shape):
    return [size for size in shape if size > 1]


def of_scores(array, known, blank):
    """Tell of an array of scores whether its queries are along the last axis, and whether it has some keys only."""
    if known.axes[-2:] != ("q", "k"):
        return False, False
    coordinates = _coordinates(array, known, blank | known.hidden_in(array))
    last = _steps(coordinates, array.ndim - 1)
    is_turned = bool(np.nansum(np.abs(last[-2])) > 0 and np.nansum(np.abs(last[-1])) == 0)
    keys = coordinates[-1][~np.isnan(coordinates[-1])]
    return is_turned, np.unique(keys).size < known.array.shape[-1]


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
    if not entries.size or (known.find(entries[:FEWEST], relative) == -2).any():
        return None
    places = known.find(entries, relative)
    return None if places.min() == -2 or (places >= 0).sum() < TOLD * np.count_nonzero(entries) else places


def _steps(coordinates, axis):
    """How far each step along an axis moves in the stage (NaN: unknown), or None where that is not always as far."""
    moved = np.moveaxis(np.diff(coordinates, axis=axis + 1), axis + 1, 1)
    if not moved.size:
        return np.zeros(moved.shape[:2])
    moved = moved.reshape(*moved.shape[:2], -1)
    low, high = np.fmin.reduce(moved, axis=2), np.fmax.reduce(moved, axis=2)
    return low if np.array_equal(low, high, equal_nan=True) else None


def _is_ascending(steps, axes):
    """Whether the stage's axes that one axis moves through are counted upwards, the last one fastest, in some order."""
    steps = steps[:, ~np.isnan(steps).any(axis=0)]
    moving = [i for i in range(len(axes)) if steps[i].any()]
    if not moving:
        return True
    orders = (list(order) for order in itertools.permutations(moving))
    return any(_heads_first(order, axes) and _in_this_order(steps[order]) for order in orders)


def _keeps_heads_together(steps, axes):
    """Whether an axis along which heads and features are counted together is at most followed by the features' rest.

    Every nth feature for a head counts so, too, where n divides a head's width; but the rest is somewhere else.
    """
    if not {"h", "d"} <= set(axes):
        return True
    h, d = axes.index("h"), axes.index("d")
    moves = [(bool(np.nansum(np.abs(one[h]))), bool(np.nansum(np.abs(one[d])))) for one in steps if one.shape[1]]
    both = [i for i, moved in enumerate(moves) if all(moved)]
    others = [i for i, moved in enumerate(moves) if any(moved) and i not in both]
    return not both or all(i == both[0] + 1 for i in others)


def _is_diagonal(steps, axes):
    """Whether query i is looked at with key i alone along some axis."""
    if not {"q", "k"} <= set(axes):
        return False
    q, k = axes.index("q"), axes.index("k")
    return any(((one[q] > 0) & (one[k] > 0)).any() for one in steps)


def _heads_first(order, axes):
    names = [axes[i] for i in order]
    return not ({"h", "d"} <= set(names)) or names.index("h") < names.index("d")


def _in_this_order(steps):
    """Whether every step goes up in the first axis in which it moves at all."""
    first = np.argmax(steps != 0, axis=0)
    return bool((steps[first, np.arange(steps.shape[1])] >= 0).all())


def layouts_of(array, shape):
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
    """Whether what a mask has hidden is nothing that it leaves, in one of the layouts that the array may have."""
    hidden = known.hidden_in(array)
    if not hidden.any():
        return True
    rows = {known.array.shape[-2], *array.shape}  # of a later part of a sequence, its last queries
    layouts = [
        pair
        for n in rows
        for pair in zip(
            layouts_of(known.array[..., -n:, :], array.shape),
            layouts_of(known.allowed[..., -n:, :], array.shape),
            strict=True,
        )
    ]
    fitting = [
        allowed
        for numbers, allowed in layouts
        if (np.abs(numbers - array) <= 2 * known.tolerance(numbers))[~hidden].all()
    ]
    return not fitting or any(not allowed[hidden].any() for allowed in fitting)
