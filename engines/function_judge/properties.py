"""Properties that an answer must have, whatever it computes: what a check says when it knows no mistake for it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from function_judge.compare import first_place, fits

# A sentence, alone or with the index of the cell that it is about; None where the property holds.
Broken = str | tuple[str, tuple] | None
Property = Callable[[Callable, dict, tuple], Broken]


def not_finite(call: Callable, arguments: dict, arrays: tuple) -> Broken:
    for array in arrays[::-1]:  # what is returned last is computed first
        if not np.isfinite(array).all():
            return (
                "It holds NaN or infinity. Look for an exp that overflows, a division by 0, and inf - inf or 0 * inf.",
                first_place(~np.isfinite(array)),
            )
    return None


def batch_mixed(*batched: str, n_axes: int = 2) -> Property:
    """Return the property that a batch item alone gives what it gives in company.

    `batched` names the arguments that have batch axes, all arrays unless given, and `n_axes` is how many axes one item
    has in them.
    """

    def property_that_must_hold(call: Callable, arguments: dict, arrays: tuple) -> Broken:
        names = batched or [name for name, value in arguments.items() if isinstance(value, np.ndarray)]
        if min(arguments[name].ndim for name in names) <= n_axes:
            return None
        first, others = ({name: arguments[name][part] for name in names} for part in (slice(1), slice(1, None)))
        in_company = {name: np.concatenate([first[name], np.roll(others[name], 1, axis=-1)]) for name in names}
        for asked in (first, in_company):
            again = call(**asked)
            if again is not None and not all(fits(a[:1], b[:1]) for a, b in zip(again, arrays, strict=True)):
                return "The batch items are mixed: the first one alone gives other numbers than in company."
        return None

    return property_that_must_hold


def not_the_same_numbers(what: str) -> Property:
    def property_that_must_hold(call: Callable, arguments: dict, arrays: tuple) -> Broken:
        first = next(iter(arguments.values()))
        if np.allclose(np.sort(arrays[0], axis=None), np.sort(first, axis=None), atol=1e-4):
            return None
        return f"Your result holds other numbers than {what}. Nothing is to be computed here: each number only moves."

    return property_that_must_hold


def raised(array: np.ndarray, index: Any) -> np.ndarray:
    """A copy in which the entries at an index are larger by 1."""
    changed = array.copy()
    changed[index] += 1
    return changed


def moved(array: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where two arrays differ."""
    return ~np.isclose(array, other, atol=1e-6, equal_nan=True)


def moved_along(
    axis: int, call: Callable, arguments: dict, arrays: tuple, *, output: int = 0, **index: Any
) -> list[int] | None:
    """Return at which places of an output's axis anything changes when some entries of one argument grow by 1.

    Parameters
    ----------
    axis : int
    call, arguments, arrays
        What a property is given.
    output : int, optional
    **index
        By the argument's name, where its entries grow.

    Returns
    -------
    list of int or None
        None where what comes back can't be compared.
    """
    [(name, place)] = index.items()
    changed = call(**{name: raised(arguments[name], place)})
    if changed is None or changed[output].shape != arrays[output].shape:
        return None
    return np.unique(np.argwhere(moved(changed[output], arrays[output]))[:, axis]).tolist()


def moves_others(sentence: str, axis: int, **index: Any) -> Property:
    """Return the property that what belongs to the first place of an axis changes nothing at the others.

    `sentence` has a {} for the first other place that changes, and `index` is as for `moved_along`.
    """

    def property_that_must_hold(call: Callable, arguments: dict, arrays: tuple) -> Broken:
        others = [place for place in moved_along(axis, call, arguments, arrays, **index) or () if place]
        return sentence.format(others[0]) if others else None

    return property_that_must_hold


def first_marked(marked: np.ndarray, say: Callable[..., str]) -> Broken:
    """Return what `say` says of the index of the first cell that is marked, with this index; None where none is."""
    if not marked.any():
        return None
    place = first_place(marked)
    return say(*place), place
