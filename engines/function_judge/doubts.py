"""Whether a statement can be accused: nothing but itself may be what is wrong with it.

A wrong accusation costs a learner more than silence, so that any doubt is enough.
"""

import ast
import functools
import itertools
from collections.abc import Iterator

import numpy as np

from function_judge.clues import Clues, fits
from function_judge.known_numbers import is_the_same
from function_judge.recognition import RIGHT, SEVERAL, UNKNOWN, WRONG
from function_judge.statements import Place, statements_of
from function_judge.suspects import Suspect, is_part
from function_judge.trials import Trials
from function_judge.watch import Change, Watch

MAX_ORDERS = 24  # of the sizes that are unpacked from a shape: all of four

Causes = dict[Place, set[Place]]


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

    def causes(self, suspect: Suspect) -> Causes:
        """Return the statements of which one must be at fault: the suspect's alone if all that it reads is right.

        Parameters
        ----------
        suspect : Suspect
            That could be repaired.

        Returns
        -------
        dict of Place to set of Place
            Each with those that may have passed it something wrong. Empty where it can't be told.
        """
        changes = self._telling_rounds(suspect)
        if changes is None:
            return {}
        reads = [(_read_for(change, suspect), change.call.numbers, change.place.code) for change in changes]
        causes = self._traced_back(suspect.place, reads, suspect.first)
        loop = _loop_of_other_rounds_than_rows(suspect)
        if causes and loop is not None:
            causes[suspect.place._replace(statement=loop)] = set()
        return causes | {place: set() for place in self._calls_of_its_helper(suspect)} if causes else {}

    def causes_at_the_end(self) -> Causes:
        """Return the statements of which one must be at fault where no repair of a variable helps.

        A variable that comes back as it is may be what is wrong: whoever returns a part of an argument may have cut out
        the wrong one, and right numbers may stand along other axes than are asked for. Nor need anything be wrong but
        a condition under which the function would have come to an end before.
        """
        end = self.watch.ended
        if end is None or self._leaves_a_number_unused(end.code):
            return {}
        causes = self._traced_back(end, [(self.watch.read_last, self.watch.last_numbers, end.code)], float("inf"))
        come_back = {node for name, node in self.watch.read_last if name in end.statement.parts and not node.is_given}
        doubtful = {node.place for node in come_back if self._is_cut_out(node) or self._is_laid_out_otherwise(node)}
        guards = (item for item in statements_of(end.code) if item.would_end_before(end.statement))
        doubtful |= {end._replace(statement=guard) for guard in guards}
        return causes | {place: set() for place in doubtful - {*causes}} if causes else {}

    def _leaves_a_number_unused(self, code):
        """Whether a number was computed that no statement uses: it is missing somewhere, and nobody can tell where."""
        used = set(code.co_cellvars).union(*(statement.reads for statement in statements_of(code)))
        unused = [change for change in self.watch.changes if change.place.code is code and change.name not in used]
        return any(change.node is None and isinstance(change.value, float) for change in unused)

    def _is_cut_out(self, node):
        return node.seen.name in self.clues.arguments

    def _is_laid_out_otherwise(self, node):
        stages = [stage for stage in self.watch.known if stage.name == node.seen.name]
        values = [self.watch.read(change.value) for change in self.watch.changes if change.node is node]
        arrays = [value for value in values if value is not None] if stages else []
        return any(not any(_is_just(array, stage) for stage in stages) for array in arrays)

    def is_certain(self, suspect: Suspect) -> bool:
        """Tell whether all that a statement reads is right, and no number before it could be wrong instead."""
        return [*self.causes(suspect)] == [suspect.place]

    def _telling_rounds(self, suspect):
        """Return the changes from which it can be told whether a statement is at fault; None where it can't be.

        In a loop the last round's result can be exchanged for all that is right, also where a round is missing before
        it, or a condition leaves out the wrong ones. What is added up can be told only if the first rounds were right:
        then it is the first that wasn't that tells, as what comes later was passed something wrong.
        """
        statement, changes = suspect.place.statement, suspect.changes
        if statement.in_if or (statement.in_loop and statement.stores_a_constant):
            return None
        if not statement.adds_up:
            return changes
        wrong = [change for change in changes if change.node is None or change.node.status not in RIGHT]
        return None if changes[0] in wrong[:1] else wrong[:1]

    def _traced_back(self, place, reads, first):
        """Go back from a statement to all that may have passed it something wrong, as `causes` returns it."""
        causes: Causes = {}
        following = [(place, reads)]
        while following:
            here, reads = following.pop()
            if is_part(here.code):
                here = here._replace(code=place.code)
            if here in causes:
                continue
            earlier = self._passed_on_to(here, reads) if here == place or _comes_before(here, place) else None
            if earlier is None:
                return {}
            causes[here] = earlier
            following += [(item, self._reads_at(item)) for item in earlier]
        numbers = self._numbers_that_could_differ(place, first) | self._sizes_that_could_differ(first)
        if any(item.code is not place.code for item in numbers):
            return {}
        return causes | {item: set() for item in numbers if item not in causes}

    def _calls_of_its_helper(self, suspect):
        """Return where the helper is called that a suspect stands in, if the call may be what is wrong.

        Nothing is wrong with `ranked` in `row = ranked(row)` of what should be left as it is. A helper that makes a
        stage on its way, or is called again and again, is meant.
        """
        code = suspect.place.code
        makes_stages = any(node.status in RIGHT and node.place and node.place.code is code for node in self.watch.all)
        if makes_stages or self.watch.times_called(code) > 1:
            return set()
        called_at = {change.call.called_at if change.place.code is code else change.place for change in suspect.changes}
        return called_at - {None, suspect.place}

    def _reads_at(self, place):
        return [
            (change.before, change.call.numbers, change.place.code)
            for change in self.watch.changes
            if change.place == place
        ]

    # ---- what it reads -----------------------------------------------------------------------

    def _passed_on_to(self, place, reads):
        """Return where what a statement reads was made, as far as it may be wrong; None where that can't be told."""
        # An idle statement may be what is wrong: it should have turned the variable into something.
        found = {idle for idle in self.watch.idle if idle.statement.stores & place.statement.reads}
        makers = (item for item in statements_of(place.code) if item.wraps_a_function)
        found |= {place._replace(statement=item) for item in makers if item.stores & place.statement.reads}
        for read, numbers, code in reads:
            if _aliases(code) & place.statement.reads:
                return None  # what is written into an array shows under its other name, too
            arguments = {*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], *code.co_freevars}
            found |= {
                node.place for name, node in read if node.place != place and self._may_be_wrong(name, node, arguments)
            }
            found |= self._set_to_odd_numbers(numbers, place.statement.reads - arguments)
        return None if None in found else found - {place}

    def _set_to_odd_numbers(self, numbers, names):
        """Return where those variables are set to numbers that may be wrong: computed, as the sum of a whole table.

        So may be None, in place of an array, and the condition under which it would have been another.
        """
        odd = {name for name in names.intersection(numbers) if self._is_odd(numbers[name])}
        places = set().union(*(self._set_to_numbers.get(name, ()) for name in odd))
        guards = {
            place._replace(statement=item)
            for place in places
            for item in statements_of(place.code)
            if item.would_set(odd)
        }
        return places | guards

    def _is_odd(self, number):
        return number is None or (isinstance(number, (float, np.generic)) and not self.clues.is_harmless(number))

    @functools.cached_property
    def _set_to_numbers(self):
        """By variable: where it was set to a single number."""
        found: dict[str, set[Place]] = {}
        for change in self.watch.changes:
            if change.node is None:
                found.setdefault(change.name, set()).add(change.place)
        return found

    def _is_room_of_no_stage(self, node):
        """Whether an array that is yet to be filled is like no stage: np.zeros, or its type, may be wrong."""
        if node.place is None or not node.place.statement.makes_room:
            return False
        stages = [stage.array for stage in self.watch.known]
        if self.watch.recognizer.is_exact:
            return not any(
                _without_ones(node.shape) == _without_ones(stage.shape) and node.kind == stage.dtype.kind
                for stage in stages
            )
        return np.prod(node.shape) not in [stage.size for stage in stages]

    def _may_be_wrong(self, name, node, arguments):
        """Whether what a variable holds is not certainly what it should hold."""
        if node.status == WRONG or (node.status == UNKNOWN and not node.is_plain):
            return True
        # Whoever lays it over a grid that is turned as well, or hides where it is True, has meant it so.
        if node.seen.turned and (node.is_pattern or node.seen.name in self._boolean_stages):
            return True
        return (
            self._is_room_of_no_stage(node)
            or _is_renamed_argument(name, node, arguments)
            or (SEVERAL in node.seen.name and not node.is_given)  # several arrays, perhaps collected in a wrong order
            or self._is_argument_in_disguise(name, node)
            or self._is_another_than_named(name, node)
            or self._is_collected_as_it_was(node)
        )

    @functools.cached_property
    def _boolean_stages(self):
        return {stage.name for stage in self.watch.known if stage.array.dtype.kind == "b"}

    def _is_argument_in_disguise(self, name, node):
        """Whether a variable with a name of its own holds an argument's numbers: a step may be missing, as in
        `products = row[:, None]`. With exact layouts a reshape is a step.
        """
        is_argument = node.seen.name in self.clues.arguments and not node.is_given and bool(name)
        if not is_argument or fits(self.clues.hint_of(name), node.seen.name):
            return False
        shapes = [stage.array.shape for stage in self.watch.known if stage.name == node.seen.name]
        return not self.watch.recognizer.is_exact or (node.shape in shapes and node.place.statement.is_a_step)

    def _is_another_than_named(self, name, node):
        """Whether a variable holds one stage under the name of another, as the second of two outputs may be."""
        hint, names = self.clues.hint_of(name), self.subject.aliases
        is_another = hint in names and node.seen.name in names and not fits(hint, node.seen.name)
        return is_another and hint not in self._held_under_their_names  # then the name may be used again

    @functools.cached_property
    def _held_under_their_names(self):
        held = [
            (self.clues.hint_of(change.name), change.node.seen.name) for change in self.watch.changes if change.node
        ]
        return {stage for hint, stage in held if fits(hint, stage)}

    def _is_collected_as_it_was(self, node):
        """Whether a loop collected parts of an argument: with the wrong slices they are parts of it just as well.

        What it takes one by one from the argument itself, as it was given, needs no slices.
        """
        if node.place is None:
            return False
        statement = node.place.statement
        if _is_taken_from_arguments(node):
            return True  # the answer itself may be an argument's numbers in another order
        takes_parts = isinstance(statement.node, ast.For) and not all(item.is_given for item in node.before)
        return (statement.in_loop or takes_parts) and node.seen.name in self.clues.arguments

    # ---- what else could be wrong ------------------------------------------------------------

    def _numbers_that_could_differ(self, place, first):
        """Return where a size or a flag is set with which, if it were another, the function would be right.

        With `n = 4` for 5 rows, a mean that divides by n can be repaired where it divides just as well.
        """
        return {
            change.place
            for change in self._numbers_before(place, first)
            if any(
                self.trials.passes_with({change.step: {change.name: other}})
                for other in self._other_sizes_or_flags(change.value)
            )
        }

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

    def _sizes_that_could_differ(self, first):
        """Return where sizes get their names, `B, T, D = X.shape`, if another order of them would be right."""
        found = {change.place for change in self.watch.changes if change.place.statement.unpacks_backwards}
        for step, changes in self._sizes_unpacked_before(first).items():
            names, sizes = [change.name for change in changes], [change.value for change in changes]
            orders = itertools.islice(itertools.permutations(sizes), 1, MAX_ORDERS)
            if any(self.trials.passes_with({step: dict(zip(names, order, strict=True))}) for order in orders):
                found.add(changes[0].place)
        return found

    def _sizes_unpacked_before(self, first):
        together: dict[int, list] = {}
        for change in self.watch.changes:
            is_size = change.node is None and not isinstance(change.value, tuple)
            if is_size and change.place.statement.unpacks_a_shape and change.step < first:
                together.setdefault(change.step, []).append(change)
        return together


def _comes_before(here, place):
    """Whether a statement must have run before another: not one under a condition, nor in another call.

    What adds up has a round's part only.
    """
    return here.code is place.code and not (here.statement.adds_up or here.statement.in_if)


def _read_for(change, suspect):
    """Return what was read for a change, by name: in the statement, and where a helper made the array for it."""
    is_made_there = change.node is not None and change.node.place == suspect.place
    read = [*change.before, *(("", node) for node in (change.node.before if is_made_there else ()))]
    return [(name, node) for name, node in read if node is not change.node]  # as a helper has returned it


def _aliases(code):
    return set().union(*(statement.stores for statement in statements_of(code) if statement.is_alias))


def _is_renamed_argument(name, node, arguments):
    """Whether a variable of another name holds an argument as it was: something may have been meant to happen to it."""
    return node.is_given and bool(name) and "." not in name and name not in arguments


def _loop_of_other_rounds_than_rows(suspect):
    """Return the loop that fills an array row by row and runs too often, or not often enough; None of any other."""
    shape, statement = np.shape(suspect.changes[0].value), suspect.place.statement
    return statement.loop if statement.fills_rows and shape and len(suspect.changes) != shape[0] else None


def _is_taken_from_arguments(node):
    """Whether a list was collected from arguments alone: by an index, or by going through them."""
    return node.place.statement.collects_slices and all(
        item.is_given or item.place == node.place or isinstance(item.place.statement.node, ast.For)
        for item in node.before
    )


def _is_just(array, stage):
    return array.shape == stage.array.shape and is_the_same(array, stage, np.zeros(array.shape, bool))


def _without_ones(shape):
    return [size for size in shape if size > 1]
