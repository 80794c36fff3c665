"""What the names of variables say, and which numbers right code computes with."""

import functools
import re
from typing import Any

import numpy as np

from function_judge.recognition import RIGHT
from function_judge.watch import Change, Watch

NUMBERS = (0.0, 1.0, -1.0)  # which people write, and don't compute
LIKE_A_FACTOR = re.compile("scale|factor|root|sqrt|norm|temp|divi|denom")

# Their results have names in every subject: of `sin, cos = np.cos(a), np.sin(a)` only these say that it is wrong.
FUNCTIONS = ("cos", "sin")


def fits(hint: str | None, name: str) -> bool:
    """Tell whether a stage is the one that a variable's name hints at.

    Parameters
    ----------
    hint : str or None
        As `Clues.hint_of` gives it.
    name : str
        Of the stage; marks at its end tell stages of one name apart.
    """
    return hint is not None and (hint == name.rstrip("'") or (hint in FUNCTIONS and f"{hint}(" in name))


class Clues:
    """What can be told of a watched call without running it again.

    Parameters
    ----------
    watch : Watch
    """

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self._stages = {stage.name: stage for stage in sorted(watch.known, key=lambda stage: stage.rank)}

    @functools.cached_property
    def made(self) -> set[str]:
        """The names of the stages that the function has made: none of its other variables needs to hold them."""
        return {node.seen.name for node in self.watch.all if node.status in RIGHT}

    @functools.cached_property
    def arguments(self) -> set[str]:
        """What the arguments are, by the names of stages."""
        return {node.seen.name for node in self.watch.all if node.is_given}

    def hint_of(self, name: str) -> str | None:
        """Return the stage that a variable should hold, by its name; None where that says nothing.

        Some statements give a right number, only of another stage than is due: of `weights = scores` nothing but the
        name says that it is wrong.
        """
        if name in FUNCTIONS:
            return name
        stage = self._stages.get(name)
        if stage is not None and (stage.rank == 2 or (stage.exact and stage.rank)):
            return name
        hint = self.watch.subject.stage_by_alias.get(name.lower())
        return hint if hint in self._stages else None

    @functools.cached_property
    def factors(self) -> tuple[float, ...]:
        """What right code may multiply or divide by: what lies between two stages, or its root on both sides.

        Where the subject names no such stages, these are the reference's own single numbers. Some divide both sides of
        a product by the root of the factor.
        """
        factor = self._scale
        if factor is not None:
            possible = [factor, 1 / factor, factor**0.5, factor**-0.5]
        else:
            numbers = [float(stage.array) for stage in self.watch.known if not stage.array.ndim]
            possible = [item for number in numbers if number for item in (number, 1 / number)]
        return tuple(dict.fromkeys(item for item in possible if np.isfinite(item)))

    @property
    def _scale(self):
        """The factor between the two stages that the subject names; None without them."""
        by_name = {stage.name: stage.array for stage in reversed(self.watch.known)}
        before, after = (by_name.get(name) for name in self.watch.subject.scaled or ("", ""))
        if before is None or after is None or before.shape != after.shape:
            return None
        with np.errstate(all="ignore"):
            return np.nanmedian(after / before)

    def is_a_factor(self, number: float, *, besides: tuple[float, ...] = ()) -> bool:
        """Tell whether right code may multiply or divide by a number, or by one of those named besides."""
        return any(_equal(number, factor) for factor in (*self.factors, *besides))

    def is_harmless(self, number: Any) -> bool:
        """Tell whether nothing is wrong with a single number: a size, a factor, 0, 1, or what stands for infinity."""
        if isinstance(number, (np.integer, np.bool_)):
            return isinstance(number, np.integer)
        if not np.isfinite(number) or abs(number) > 1e30 or (number < -1e3 and np.log10(-number) % 1 == 0):
            return True  # such as -1e9, in place of minus infinity
        return self.is_a_factor(number, besides=NUMBERS)

    def other_numbers(self, change: Change) -> list:
        """Return what a single number could be instead.

        Whole numbers are sizes and flags, and are left to `Doubts`; but in `root = table.shape[-1]` the root is
        forgotten, and only the name says that no size is meant.
        """
        value: Any = change.value
        is_fraction = isinstance(value, (float, np.floating))
        if is_fraction or (not isinstance(value, tuple) and LIKE_A_FACTOR.search(change.name.lower())):
            return [factor for factor in self.factors if not _equal(value, factor)]
        return []


def _equal(number, factor):
    return abs(number - factor) <= 1e-6 * abs(factor)
