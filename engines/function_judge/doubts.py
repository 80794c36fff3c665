"""Whether a statement can be accused: nothing but itself may be what is wrong with it.

A wrong accusation costs a learner more than silence, so that any doubt is enough.
"""

import functools
import itertools
from collections.abc import Iterator
from types import CodeType
from typing import Any

import numpy as np

from function_judge.clues import FUNCTIONS, Clues, fits
from function_judge.recognition import SEVERAL, UNKNOWN, WRONG
from function_judge.statements import Place, statements_of
from function_judge.suspects import Suspect
from function_judge.trials import Trials
from function_judge.watch import Change, Node, Watch

MAX_ORDERS = 24  # of the sizes that are unpacked from a shape: all of four


class Doubts:
    """Reasons not to accuse a statement.

    Parameters
    ----------
    watch : Watch
    clues : Clues
    trials : Trials
    """

    def __init__(self, watch: Watch, clues: Clues, trials: Trials) -> None:
        self.watch, self.clues, self.trials, self.subject = watch, clues, trials, watch.subject

    def is_certain(self, suspect: Suspect) -> bool:
        """Tell whether all that a statement reads is right, and no number before it could be wrong instead."""
        if self._depends_on_rounds(suspect.place.statement):
            return False
        return not any(
            self.has_uncertain_input(suspect.place, _read_for(change, suspect), change.call.numbers, change.place.code)
            for change in suspect.changes
        ) and self.is_certain_given_its_input(suspect.place, suspect.first)

    def _depends_on_rounds(self, statement):
        """Whether what a statement in a loop gives is right or wrong only together with the other rounds.

        The last round's result can be exchanged for all that is right, also where a round is missing before it, or a
        condition leaves out the wrong ones.
        """
        return statement.adds_up or statement.in_if or (statement.in_loop and statement.stores_a_constant)

    # ---- what it reads -----------------------------------------------------------------------

    def has_uncertain_input(
        self, place: Place, read: list[tuple[str, Node]], numbers: dict[str, Any], code: CodeType | None = None
    ) -> bool:
        """Tell whether something that a statement reads may be wrong.

        Parameters
        ----------
        place : Place
        read : list of (str, Node)
            By the variables' names.
        numbers : dict of str to number
            Those that the variables of its function held.
        code : code object, optional
            That function's, unless it is the one that the statement stands in.
        """
        code = code or place.code
        reads = place.statement.reads
        if _aliases(code) & reads:
            return True  # what is written into an array shows under its other name, too
        arguments = {*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], *code.co_freevars}
        if any(self._may_be_wrong(name, node, arguments) for name, node in read if node.place != place):
            return True
        # A number that was computed, such as the sum of a whole table, may be what is wrong.
        computed = [numbers[name] for name in reads - arguments if name in numbers]
        return any(isinstance(item, (float, np.generic)) and not self.clues.is_harmless(item) for item in computed)

    def _is_room_of_no_stage(self, node):
        """Whether an array that is yet to be filled has the shape of no stage: np.zeros may be what is wrong."""
        if node.place is None or not node.place.statement.makes_room:
            return False
        stages = [stage.array for stage in self.watch.known]
        if self.watch.recognizer.is_exact:
            return _without_ones(node.shape) not in [_without_ones(stage.shape) for stage in stages]
        return np.prod(node.shape) not in [stage.size for stage in stages]

    def _may_be_wrong(self, name, node, arguments):
        """Whether what a variable holds is not certainly what it should hold."""
        if node.status == WRONG or (node.status == UNKNOWN and not node.is_plain):
            return True
        return (
            self._is_room_of_no_stage(node)
            or _is_renamed_argument(name, node, arguments)
            or (SEVERAL in node.seen.name and not node.is_given)  # several arrays, perhaps collected in a wrong order
            or self._is_collected_as_it_was(node)
            or self._is_another_than_named(name, node)
        )

    def _is_collected_as_it_was(self, node):
        """Whether a loop collected parts of an argument: with the wrong slices they are parts of it just as well."""
        return node.place is not None and node.place.statement.in_loop and node.seen.name in self.clues.arguments

    def _is_another_than_named(self, name, node):
        """Whether a variable has the name of another stage than it holds: a step between the two may be missing."""
        hint, held = self.clues.hint_of(name), node.seen.name.rstrip("'")
        if hint in FUNCTIONS:
            return not fits(hint, held)
        names = {stage.name for stage in self.watch.known if stage.exact} | set(self.subject.named_alike)
        return held != name and hint in names and held in names and held != hint

    # ---- what else could be wrong ------------------------------------------------------------

    def is_certain_given_its_input(self, place: Place, first: float) -> bool:
        """Tell whether no earlier statement could have been meant otherwise.

        Parameters
        ----------
        place : Place
        first : float
            The step at which it ran first.
        """
        if any(idle.statement.stores & place.statement.reads for idle in self.watch.idle):
            return False  # that statement may be what is wrong: it should have turned the variable into something
        return not (self._another_number_passes(place, first) or self._other_sizes_pass(first))

    def _another_number_passes(self, place, first):
        """Whether the function would be right with another size or flag: then the fault may be where that is set.

        With `n = 4` for 5 rows, a mean that divides by n can be repaired where it divides just as well.
        """
        return any(
            self.trials.passes_with({change.step: {change.name: other}})
            for change in self._numbers_before(place, first)
            for other in self._other_sizes_or_flags(change.value)
        )

    def _numbers_before(self, place: Place, first: float) -> Iterator[Change]:
        for change in self.watch.changes:
            is_earlier_number = change.node is None and change.step < first and change.place != place
            if is_earlier_number and not change.place.statement.unpacks_a_shape:
                yield change

    def _other_sizes_or_flags(self, value):
        if isinstance(value, (bool, np.bool_)):
            return [not value]
        if isinstance(value, (int, np.integer)):
            return [size for size in self._sizes if size != value]
        return []

    @functools.cached_property
    def _sizes(self):
        """What a size could be: one of the arguments', 0 or 1, or a difference or quotient of two, as d // h is."""
        sizes = self.watch.sizes | {size for node in self.watch.all if node.is_given for size in node.shape}
        sizes |= {size - other for size in sizes for other in sizes if size > other}
        sizes |= {size // other for size in sizes for other in sizes if other and size > other}
        return sorted(sizes | {0, 1})

    def _other_sizes_pass(self, first):
        """Whether `B, T, D = X.shape` should give its names in another order."""
        if any(change.place.statement.unpacks_backwards for change in self.watch.changes):
            return True
        for step, changes in self._sizes_unpacked_before(first).items():
            names, sizes = [change.name for change in changes], [change.value for change in changes]
            for order in itertools.islice(itertools.permutations(sizes), 1, MAX_ORDERS):
                if self.trials.passes_with({step: dict(zip(names, order, strict=True))}):
                    return True
        return False

    def _sizes_unpacked_before(self, first):
        together: dict[int, list] = {}
        for change in self.watch.changes:
            is_size = change.node is None and not isinstance(change.value, tuple)
            if is_size and change.place.statement.unpacks_a_shape and change.step < first:
                together.setdefault(change.step, []).append(change)
        return together


def _read_for(change, suspect):
    """Return what was read for a change, by name: in the statement, and where a helper made the array for it."""
    is_made_there = change.node is not None and change.node.place == suspect.place
    return [*change.before, *(("", node) for node in (change.node.before if is_made_there else ()))]


def _aliases(code):
    return set().union(*(statement.stores for statement in statements_of(code) if statement.is_alias))


def _is_renamed_argument(name, node, arguments):
    """Whether a variable of another name holds an argument as it was: something may have been meant to happen to it."""
    return node.is_given and bool(name) and "." not in name and name not in arguments


def _without_ones(shape):
    return [size for size in shape if size > 1]
