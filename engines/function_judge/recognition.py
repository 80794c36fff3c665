"""Recognising arrays: whether an array that a variable holds is the output, a stage on the way, or wrong."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from function_judge.known_numbers import MIN_ENTRIES, Known, in_grid, is_in_order
from function_judge.patterns import is_just_as_wanted, is_the_pattern

# They are counted, and no clock is read: what is found doesn't depend on how busy the machine is.
MAX_COMPARED = 600  # different arrays; a loop over rows, column by column, makes half of that
MAX_ENTRIES = 200_000
MAX_DEPTH = 3  # of lists in lists
SEVERAL = " | "  # between the names of what is held together

# What an array is: the output itself, another stage, what right code may hold beside them, other numbers, or what says
# nothing: too little of it, or made of no data.
OUTPUT, STAGE, AUXILIARY, WRONG, UNKNOWN = "output", "stage", "auxiliary", "wrong", "unknown"
RIGHT = (OUTPUT, STAGE, AUXILIARY)
BY_RANK = {2: OUTPUT, 1: STAGE, 0: AUXILIARY}
PATTERN = "pattern"  # the name of an array that says where others count


class TooMuchError(Exception):
    """More has happened than is watched."""


class Seen(NamedTuple):
    """What an array is.

    Parameters
    ----------
    status : str
        OUTPUT, STAGE, AUXILIARY, WRONG or UNKNOWN.
    name : str
        Of the stage, or PATTERN.
    turned : bool
        Whether it is a grid with its rows along the last axis; or a pattern that is turned, or says the opposite.
    in_part : bool
        Whether it is only some columns of a grid.
    patterned : bool
        Whether a pattern is laid over it.
    """

    status: str = UNKNOWN
    name: str = ""
    turned: bool = False
    in_part: bool = False
    patterned: bool = False


class Recognizer:
    """Tells what arrays are, by the numbers that are right on the way.

    Parameters
    ----------
    known : list of Known
    read : callable
        From whatever a variable holds to an ndarray, or None.
    """

    def __init__(self, known: list[Known], read: Callable[[Any], np.ndarray | None]) -> None:
        self.known, self.read = known, read
        self.pattern = next((stage.pattern for stage in known if stage.pattern is not None), None)
        # The layouts of an exact stage are the reference's own; otherwise only the numbers are known.
        self.is_exact = any(stage.exact for stage in known)
        self._first_contents: dict[int, tuple] = {}  # by an object's id: itself, and what it held at first
        self._recognized: dict[tuple, Seen] = {}  # by fingerprint
        self._n_compared = 0

    def leaves(self, value: Any, depth: int = 0) -> Iterator[tuple[Any, np.ndarray, tuple]]:
        """Yield every array in a value: the object, its numbers and its fingerprint."""
        if isinstance(value, (list, tuple, dict)) and depth < MAX_DEPTH:
            if (numbers := _of_numbers(value)) is not None:
                yield numbers, numbers, _fingerprint(numbers)
                return
            for part in list(value.values() if isinstance(value, dict) else value):
                yield from self.leaves(part, depth + 1)
            return
        array = self.read(value)
        if array is not None and array.size <= MAX_ENTRIES:
            yield value, array, _fingerprint(array)

    def fingerprints(self, value: Any) -> tuple:
        """Return what identifies the contents of a value; empty where it holds no array."""
        return tuple(fingerprint for _, _, fingerprint in self.leaves(value))

    def recognize_all(self, value: Any) -> list[Seen]:
        """Return what each array in a value is."""
        return [self._recognize(*leaf) for leaf in self.leaves(value)]

    def _recognize(self, value, array, fingerprint):
        self._n_compared += fingerprint not in self._recognized
        if self._n_compared > MAX_COMPARED:
            raise TooMuchError
        unfilled = self._unfilled(value, array, fingerprint)
        if unfilled is not None:
            return self.look_at(array, unfilled)
        if fingerprint not in self._recognized:
            self._recognized[fingerprint] = self.look_at(array)
        return self._recognized[fingerprint]

    def _unfilled(self, value, array, fingerprint):
        """Mark the entries that an array still has from its beginning; None where it isn't one that is being filled.

        A loop fills np.zeros row by row: after its first round the array is neither right nor wrong as a whole.
        """
        _, first = self._first_contents.setdefault(id(value), (value, array.copy()))
        if array.shape != first.shape or fingerprint == _fingerprint(first) or self.look_at(first).status in RIGHT:
            return None
        unfilled = (array == first) | ((array != array) & (first != first))
        return unfilled if unfilled.any() else None

    def look_at(self, array: np.ndarray, unfilled: np.ndarray | None = None) -> Seen:
        """Tell what an array is, its unfilled entries apart."""
        if not self._can_be_told(array):
            return Seen()
        unfilled = np.zeros(array.shape, bool) if unfilled is None else unfilled
        if _has_two_values(array, unfilled):
            pattern = self._as_pattern(array, unfilled)
            # A stage of two values is looked for in the layout of the reference only.
            if pattern is not None or not self.is_exact:
                return pattern or Seen()
        return self._as_stage(array, unfilled)

    def _can_be_told(self, array):
        """Whether an array has enough entries, of a kind that is computed with, to be told from any other.

        Whole numbers, and fewer than MIN_ENTRIES, are found among any numbers: only a stage in its exact layout counts.
        """
        if self.is_exact:
            return array.dtype.kind in "fbiu"
        return array.dtype.kind in "fb" and array.size >= MIN_ENTRIES

    def _as_pattern(self, array, unfilled):
        if self.pattern is None or unfilled.any():
            return None
        is_right = is_the_pattern(array, self.pattern)
        if not is_right:
            return None if is_right is None else Seen(WRONG, PATTERN)
        return Seen(AUXILIARY, PATTERN, turned=not is_just_as_wanted(array, self.pattern))

    def _as_stage(self, array, unfilled):
        for stage in self._candidates(array):
            if is_in_order(array, stage, unfilled):
                turned, in_part = in_grid(array, stage, unfilled)
                turned |= array.dtype.kind == "b" and not np.array_equal(array.ravel(), stage.array.ravel())
                return Seen(BY_RANK[stage.rank], stage.name, turned, in_part, patterned=stage.patterned)
        return Seen() if array.dtype.kind in "iu" or array.size < MIN_ENTRIES else Seen(WRONG)

    def _candidates(self, array):
        known = [stage for stage in self.known if stage.array.ndim] if array.ndim else []
        if self.is_exact:  # what is the whole of a stage is no part of another
            return sorted(known, key=lambda stage: stage.array.size != array.size)
        return known

    def are_in_order(self, value: Any) -> bool:
        """Tell whether arrays held in a list are a stage together, one after another."""
        arrays = [array for _, array, _ in self.leaves(value)]
        if len({array.shape for array in arrays}) > 1 or arrays[0].size * len(arrays) > MAX_ENTRIES:
            return False
        return self.look_at(np.stack(arrays)).status in RIGHT


def is_number(value: Any) -> bool:
    """Tell whether a value is a single number, or a shape."""
    if isinstance(value, tuple):
        return 1 < len(value) < 6 and all(isinstance(item, (int, np.integer)) for item in value)
    return isinstance(value, (int, float, np.number, np.bool_))


def _has_two_values(array, unfilled):
    if array.dtype.kind == "b":
        return True
    filled = array[~unfilled]
    return not np.isnan(filled).any() and np.unique(filled).size <= 2


def _fingerprint(array):
    return array.shape, array.dtype.kind, hash(array.tobytes())


def _of_numbers(value):
    """Return a list of numbers, of lists of numbers, or of rows too short to be recognised alone, as an array.

    Somebody who computes in plain Python, number by number, has a stage in such lists.
    """
    first = value
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if not isinstance(first, (float, np.floating)) and not (isinstance(first, np.ndarray) and first.size < MIN_ENTRIES):
        return None
    try:
        array = np.array(value, dtype=float)
    except (ValueError, TypeError):
        return None
    return array if array.ndim else None
