"""What the variables of a suspect could hold instead, for its function to be right."""

import ast
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from function_judge.clues import Clues, fits
from function_judge.known_numbers import Known, layouts_of
from function_judge.recognition import RIGHT, UNKNOWN, WRONG
from function_judge.suspects import Suspect, is_turned
from function_judge.watch import Change, Watch

MAX_TRIALS_PER_STATEMENT = 32
MAX_OPTIONS = 12  # for a variable
MAX_COMBINATIONS = 4096  # of several variables' options, that are put in order
MAX_LAYOUTS = 6  # of a stage, that differ
MAX_AXIS_ORDERS = 24  # that are gone through to find them: all of four axes
MAX_PATTERN_LAYOUTS = 2


@dataclass(frozen=True)
class _Variable:
    """A variable that a suspect sets, once or in each round of a loop.

    Parameters
    ----------
    name : str
    changes : list of Change
    hint : str or None
        The stage that it should hold, by its name.
    """

    name: str
    changes: list[Change]
    hint: str | None

    @property
    def nodes(self):
        return [change.node for change in self.changes]

    @property
    def stage(self):
        """The name of the stage that it holds in the end."""
        return self.changes[-1].node.seen.name

    @property
    def is_right(self):
        return all(node.status in RIGHT for node in self.nodes)

    @property
    def is_set_once(self):
        return len(self.changes) == 1

    @property
    def kind(self):
        return _kind(self.changes[0].value)

    def holding(self, array):
        """Return the option that it holds a copy of an array, in that array's own layout."""
        return [(self.changes[0], array.copy())]


class Repairs:
    """What a suspect's variables could hold instead.

    Parameters
    ----------
    watch : Watch
    clues : Clues
    """

    def __init__(self, watch: Watch, clues: Clues) -> None:
        self.watch, self.clues, self.subject = watch, clues, watch.subject

    def of(self, suspect: Suspect) -> Iterator[dict[int, dict[str, Any]]]:
        """Yield what the variables could hold, the likeliest first: by step, and by name.

        Parameters
        ----------
        suspect : Suspect
        """
        variables = _by_variable(suspect)
        options = [list(itertools.islice(self._options(name, changes), MAX_OPTIONS)) for name, changes in variables]
        if not all(options):
            return
        combinations = itertools.product(*map(range, map(len, options)))
        likeliest = sorted(itertools.islice(combinations, MAX_COMBINATIONS), key=sum)
        for chosen in likeliest[:MAX_TRIALS_PER_STATEMENT]:
            repair: dict[int, dict[str, Any]] = {}
            for option, i in zip(options, chosen, strict=True):
                for change, value in option[i]:
                    repair.setdefault(change.step, {})[change.name] = value
            if repair:
                yield repair

    def _options(self, name, changes):
        """Yield what a variable could hold each time, as pairs of a change and a value: none to leave it as it is."""
        if any(change.node is None for change in changes):
            return self._other_numbers(changes)
        variable = _Variable(name, changes, self.clues.hint_of(name))
        return itertools.chain(
            [[]] if variable.is_right else [],
            self._right_patterns(variable),
            self._stages(variable),
            self._stage_of_its_name(variable),
            self._stages_of_another_shape(variable),
        )

    def _other_numbers(self, changes):
        for number in self.clues.other_numbers(changes[0]):
            yield [(change, number) for change in changes if change.node is None]

    def _right_patterns(self, variable):
        first = variable.nodes[0]
        if variable.is_set_once and (first.status in (WRONG, UNKNOWN) or (first.is_pattern and is_turned(first))):
            for pattern in self._patterns_like(variable.changes[0].value):
                yield [(variable.changes[0], pattern)]

    def _patterns_like(self, value):
        """Yield the right pattern in the form that an array of two values has: either of the two may stand for True."""
        pattern = self.watch.recognizer.pattern
        if pattern is None or not isinstance(value, np.ndarray):
            return
        values = np.unique(value)
        if values.size == 2:
            low, high = values
        elif value.dtype == bool:
            low, high = False, True
        else:
            return
        for wanted in _with_one_for_all(pattern):
            for layout in itertools.islice(layouts_of(wanted, value.shape), MAX_PATTERN_LAYOUTS):
                yield np.where(layout, high, low).astype(value.dtype)
                yield np.where(layout, low, high).astype(value.dtype)

    def _stages(self, variable):
        """Yield the stages that fit into the variable as it is."""
        for known in self._likeliest_first(variable):
            turned_back = is_turned(variable.nodes[-1]) and known.name == variable.stage
            if variable.is_right and not turned_back and not self._may_be_due(known, variable):
                continue
            if _kind(known.array) != variable.kind:
                continue
            if turned_back and variable.is_set_once:
                yield variable.holding(known.array)
            for values in _values_of(known, variable.changes):
                yield list(zip(variable.changes, values, strict=True))

    def _stage_of_its_name(self, variable):
        """Yield the stage that a variable is named after, also in another shape than what it holds has."""
        if variable.is_set_once and variable.is_right and not fits(variable.hint, variable.stage):
            for known in self.watch.known:
                if fits(variable.hint, known.name):
                    yield variable.holding(known.array)

    def _stages_of_another_shape(self, variable):
        value = variable.changes[0].value
        if variable.is_right or not variable.is_set_once or not isinstance(value, np.ndarray):
            return
        for known in self._likeliest_first(variable):
            is_a_step = known.rank or known.exact
            if known.array.shape != value.shape and is_a_step and _kind(known.array) == variable.kind:
                yield variable.holding(known.array)

    def _likeliest_first(self, variable):
        """Sort the stages: first what the name says, then what is made of what the statement reads.

        Every trial costs a call, and only the first few are made.
        """
        read = {node.seen.name for change in variable.changes for _, node in change.before}
        near = read | {self.subject.made_of[name] for name in read if name in self.subject.made_of}

        def unlikeliness(known):
            return -fits(variable.hint, known.name), -(known.name in near), -known.rank

        return sorted(self.watch.known, key=unlikeliness)

    def _may_be_due(self, known, variable):
        """Whether a variable that holds one stage should hold another: by its name, or as nothing else has made it."""
        if fits(variable.hint, variable.stage):
            return False
        if fits(variable.hint, known.name):
            return True
        return known.name != variable.stage and known.rank > 0 and known.name not in self.clues.made


def _by_variable(suspect):
    """Return the variables that a suspect sets, of each call of its function, with their changes.

    Of a sum, or of an array that is written into part by part, it is the last change that counts.
    """
    together: dict[tuple, list[Change]] = {}
    for change in suspect.changes:
        together.setdefault((id(change.call), change.name), []).append(change)
    statement = suspect.place.statement
    is_gradual = statement.adds_up or _writes_into_parts(statement.node)
    return [(name, changes[-1:] if is_gradual else changes) for (_, name), changes in together.items()]


def _writes_into_parts(node):
    if not isinstance(node, ast.Assign):
        return True
    return any(not isinstance(target, (ast.Name, ast.Tuple)) for target in node.targets)


def _with_one_for_all(pattern):
    """Return a pattern and, where all items of a batch share it, the one that may serve them all."""
    each = pattern.reshape(-1, *pattern.shape[-2:])
    return [pattern, each[0]] if (each == each[0]).all() else [pattern]


def _values_of(known, changes):
    """Yield a stage's numbers in the shape that a variable has each time, in the layouts that it may have."""
    if (pieces := _piece_by_piece(known, changes)) is not None:
        yield pieces
    shape = _common_shape([change.value for change in changes])
    if shape is None:
        return
    for arrays in _shared_among(len(changes), known):
        if np.size(arrays[0]) == np.prod(shape):
            each = (itertools.islice(_layouts(array, shape, known), MAX_AXIS_ORDERS) for array in arrays)
            for layout in itertools.islice(_distinct(zip(*each, strict=True)), MAX_LAYOUTS):
                yield [_like(array, change.value) for array, change in zip(layout, changes, strict=True)]


def _piece_by_piece(known, changes):
    """Return a stage cut into pieces as the rounds of a loop have made them, along one axis; None where that can't be.

    A loop over blocks has some columns of a table in each round.
    """
    shapes = [np.shape(change.value) for change in changes if isinstance(change.value, np.ndarray)]
    if len(shapes) != len(changes) or len(shapes) < 2:
        return None
    array = known.array if known.pattern is None else np.where(known.pattern, known.array, -np.inf)
    for axis in range(array.ndim):
        lengths = [shape[axis] if len(shape) == array.ndim else 0 for shape in shapes]
        if sum(lengths) == array.shape[axis]:
            pieces = np.split(array, np.cumsum(lengths)[:-1], axis)
            if [piece.shape for piece in pieces] == shapes:
                return pieces
    return None


def _common_shape(values):
    """Return the shape that all values have, or None."""
    shapes = {None if _is_uneven(value) else np.shape(value) for value in values}
    return shapes.pop() if len(shapes) == 1 else None


def _shared_among(n, known):
    """Yield what each of n rounds of a loop should give: all of a stage, or one item of an axis, or of several."""
    array = known.array if known.pattern is None else np.where(known.pattern, known.array, -np.inf)
    yield [array] * n
    if n > 1:
        yield from (list(np.moveaxis(array, axis, 0)) for axis in range(array.ndim) if array.shape[axis] == n)
        for i in range(2, array.ndim):
            if np.prod(array.shape[:i]) == n:
                yield list(array.reshape(n, *array.shape[i:]))


def _distinct(layouts: Iterable[tuple]) -> Iterator[tuple]:
    """Leave out the layouts whose first array was there before: axes of length 1 make many alike."""
    firsts: list[np.ndarray] = []
    for layout in layouts:
        if not any(np.array_equal(layout[0], first, equal_nan=True) for first in firsts):
            firsts.append(layout[0])
            yield layout


def _layouts(array: np.ndarray, shape: tuple, known: Known) -> Iterator[np.ndarray]:
    if not known.exact:
        return layouts_of(array, shape)
    lengths, wanted = ([size for size in item if size > 1] for item in (array.shape, shape))
    return iter([array.reshape(shape)] if lengths == wanted else [])


def _kind(value):
    """Return the kind of an array's type; of a list's numbers it is a float's."""
    return getattr(value, "dtype", np.dtype(float)).kind.replace("u", "i")


def _is_uneven(value):
    """Whether lists of lists are no array."""
    if isinstance(value, np.ndarray):
        return False
    try:
        return np.asarray(value).dtype == object
    except ValueError:
        return True


def _like(array, value):
    """Return an array in the form of what a variable holds: of the same type, in lists if those were lists."""
    if isinstance(value, np.ndarray):
        return array.astype(value.dtype) if value.dtype.kind == "f" else array.copy()
    if isinstance(value, (list, tuple)):
        return type(value)(_like(item, old) for item, old in zip(array, value, strict=True))
    return array.item() if np.ndim(array) == 0 else array.copy()
