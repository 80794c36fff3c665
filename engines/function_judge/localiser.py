"""Which statement, if it gave the right numbers, would make a wrong function right: that one is at fault.

The function is run again and again, each time with what one of its statements gives exchanged for the right numbers.
Where what comes back is right then, and what the statement read was right, nothing else can be wrong.
"""

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np

from function_judge.clues import Clues, fits
from function_judge.doubts import Doubts
from function_judge.recognition import AUXILIARY, OUTPUT, TooMuchError
from function_judge.repairs import Repairs
from function_judge.statements import Place, statements_of
from function_judge.suspects import Suspect, is_part, suspects_of
from function_judge.trials import Trials
from function_judge.watch import Node, Watch

MAX_CAUSES = 3  # statements of which one is at fault: to name more would say nothing


class Fault(NamedTuple):
    """Where a function goes wrong.

    Parameters
    ----------
    places : tuple of Place
        Of the statement that is at fault, or of those of which one is; empty in any doubt.
    first_is_right : bool
        Whether there are two, and the first made right numbers, only others than may have been meant: then the fault
        may be between them as well.
    """

    places: tuple[Place, ...] = ()
    first_is_right: bool = False


def find_fault(watch: Watch, run: Callable[[Watch], Any], is_right: Callable[[Any], bool]) -> Fault:
    """Return where a function that was watched goes wrong.

    Parameters
    ----------
    watch : Watch
        What was seen of the call.
    run : callable
        Makes the call once more, watched by the Watch that it is given.
    is_right : callable
        Whether what the call returns is right.

    Returns
    -------
    Fault
    """
    try:
        return _Localiser(watch, run, is_right).fault()
    except TooMuchError:
        return Fault()


class _Localiser:
    def __init__(self, watch, run, is_right):
        self.watch = watch
        self.trials = Trials(watch.code, run, is_right)
        self.clues = Clues(watch)
        self.repairs = Repairs(watch, self.clues)
        self.doubts = Doubts(watch, self.clues, self.trials)

    def fault(self):
        if self.trials.passes_with({}):  # it is right in this case, or differs from call to call
            return Fault()
        # Of a recursion only the outermost call's numbers are known: repairing the line that calls repairs everything,
        # and it would be accused of what the base case does.
        if self.watch.calls_itself:
            return Fault()
        return self.search()

    def search(self):
        """Return the first statement that can be repaired and read what is right.

        One that gave a stage, only an earlier one than is due, may well have been meant so: then what is missing is
        between it and the next that can be repaired, unless its variable has the name of the stage that is due.
        """
        too_early, before = None, {}
        for suspect, repair in self.repaired():
            causes = self.causes(suspect, repair)
            if not causes or self.are_left_unfinished({change.name for change in suspect.changes}, suspect.place.code):
                return Fault()
            is_certain = [*causes] == [suspect.place] and not before
            if suspect.is_wrong and not (is_certain and self.is_used_the_other_way(suspect)):
                return self.between(too_early, suspect.place) if is_certain else self.among(before | causes, too_early)
            if not is_certain:
                before |= causes
            elif self.is_misnamed(suspect):
                return Fault((suspect.place,))
            else:
                too_early = too_early or suspect
        return self.at_the_end(too_early, before)

    def repaired(self):
        """Yield each statement after whose repair the rest is right, and the repair."""
        for suspect in suspects_of(self.watch, self.clues):
            repair = next(filter(self.trials.passes_with, self.repairs.of(suspect)), None)
            if repair is not None:
                yield suspect, repair

    def causes(self, suspect, repair):
        """Return the statements of which one must be at fault, with what follows where the repair says little of it."""
        causes = self.doubts.causes(suspect)
        if causes and suspect.is_wrong and (suspect.is_meant_otherwise or self.is_the_output(repair)):
            users = self.users_of(suspect, are_direct=suspect.is_meant_otherwise)
            return causes | {place: {suspect.place} for place in users}
        return causes

    def are_left_unfinished(self, names, code):
        """Whether a loop that should go on with some variables has no rounds: `for i in range(n, 1)` never runs."""
        ran = {change.place.statement for change in self.watch.changes}
        return any(
            statement.in_loop and statement not in ran and statement.stores & names for statement in statements_of(code)
        )

    def is_the_output(self, repair):
        values = [value for variables in repair.values() for value in variables.values()]
        return any(self.watch.recognizer.look_at(value).status == OUTPUT for value in values if np.ndim(value))

    def users_of(self, suspect, are_direct):
        """Return the later statements that compute with what a suspect has made.

        Where the answer itself is put into a variable, what follows may leave it as it is: whoever hides all but the
        highest hides nothing more in what was right. Then the fault may lie there.
        """
        made, places = set(suspect.nodes), set()
        for change in self.watch.changes:
            is_later = change.step > suspect.first and change.place != suspect.place and change.node is not None
            if is_later and made & {node for _, node in change.before}:
                places.add(change.place)
                made |= set() if are_direct else {change.node}
        end = self.watch.ended
        if end is not None and not end.statement.only_names and made & {node for _, node in self.watch.read_last}:
            places.add(end)
        return places

    def among(self, causes, too_early=None):
        """Return several statements of which one must be at fault, if they are few.

        What was meant otherwise is among them.
        """
        sources = {too_early.place} if too_early else {self.earliest_ambiguous_source(place) for place in causes}
        places = {*causes} | (sources - {None})
        if len(places) > MAX_CAUSES:
            return Fault()
        return Fault(tuple(sorted(places, key=lambda place: place.statement.number)))

    def wrong_together(self, causes):
        """Return those causes that read what is right, if the function is right once they are repaired together.

        If two statements are wrong, neither can be repaired alone, and it shows at the end only.
        """
        changes = [change for change in self.watch.changes if change.place in causes and not causes[change.place]]
        places = {change.place: set() for change in changes}
        if len(places) < 2:
            return causes
        together = Suspect(changes[0].place, changes)
        return places if any(map(self.trials.passes_with, self.repairs.of(together))) else causes

    def at_the_end(self, too_early, before):
        """Return where it goes wrong although no statement before the end made other numbers than a stage's."""
        end = self.watch.ended
        if too_early is not None and self.is_returned(too_early):
            return Fault((too_early.place, end), first_is_right=True)
        if end is None or not self.watch.read_last or self.are_left_unfinished(end.statement.reads, end.code):
            return Fault()
        causes = self.doubts.causes_at_the_end()
        if not causes:
            return Fault()
        if before:
            return self.among(before | causes, too_early)
        if [*causes] != [end]:
            return self.among(self.wrong_together(causes), too_early)
        return self.at_the_very_end(too_early)

    def at_the_very_end(self, too_early):
        """Return where it goes wrong if the statement that returns may be at fault by itself.

        One that only names variables isn't: each of them could have been repaired.
        """
        end = self.watch.ended
        if too_early is None and (early := self.returned_too_early()):
            return early
        if end.statement.only_names or (too_early is not None and too_early.place == end):
            return Fault()
        return self.between(too_early, end)

    def returned_too_early(self):
        """Return where a variable was made that comes back though it holds a stage on the way, and where it ends.

        So it is with a function whose last step is missing.
        """
        end = self.watch.ended
        if not end.statement.only_names:
            return None
        on_the_way = [node for _, node in self.watch.read_last if node.status != OUTPUT and node.place is not None]
        if not on_the_way:
            return None
        first = min(on_the_way, key=lambda node: node.order).place
        is_before = first.code is end.code and first != end
        return Fault((first, end), first_is_right=True) if is_before else Fault((end,))

    def is_returned(self, suspect):
        """Whether what comes back is a variable that holds too early a stage."""
        end = self.watch.ended
        if end is None or not end.statement.only_names:
            return False
        return any(change.name in end.statement.reads for change in suspect.changes) and self.doubts.is_certain(suspect)

    def is_misnamed(self, suspect):
        """Whether a variable has the name of another stage than it holds, and gets no other value afterwards.

        `first, second = f(b), f(a)` makes right numbers only, under each other's names.
        """
        if suspect.adds_up or self.is_returned(suspect):
            return False
        later = [item for item in statements_of(suspect.place.code) if item.number > suspect.place.statement.number]
        set_later = set().union(*(item.stores for item in later))
        hints = [(change, self.clues.hint_of(change.name)) for change in suspect.changes if change.node is not None]
        return any(
            hint is not None and not fits(hint, change.node.seen.name) and change.name not in set_later
            for change, hint in hints
        )

    def is_used_the_other_way(self, suspect):
        """Whether it is a number that would be right if it were used otherwise: multiplied with, not divided by.

        Then the statement that uses it is at fault just as well: of `root = n**0.5`, by which something is divided
        twice, the square root of it passes, but nothing is wrong with that line.
        """
        numbers = [change.value for change in suspect.changes if change.node is None]
        return bool(numbers) and all(map(self.clues.is_a_factor, numbers))

    def between(self, too_early, place):
        """Return the statement that is at fault, after the one from which on it may be another."""
        source = self.earliest_ambiguous_source(place) if too_early is None else too_early.place
        return Fault((place,)) if source is None else Fault((source, place), first_is_right=True)

    def earliest_ambiguous_source(self, place):
        """Return the first statement, of the same function, from which on another way may have been meant.

        What the reference computes only on the side, such as `row - row.max()`, is right as a part of it; but whoever
        goes on in another way, with logarithms, may have made the mistake there.
        """
        nodes = [node for node in self.read_at(place) if node.place != place]
        reached, sources = set(), []
        while nodes:
            node = nodes.pop()
            if node in reached or not self.is_ambiguous(node):
                continue
            reached.add(node)
            nodes += node.before
            if node.place != place and (node.place.code is place.code or is_part(node.place.code)):
                sources.append(node)
        return min(sources, key=lambda node: node.order).place if sources else None

    def read_at(self, place):
        """Return the nodes that a statement read."""
        read = [node for change in self.watch.changes if change.place == place for _, node in change.before]
        return read + [node for _, node in self.watch.read_last] if place == self.watch.ended else read

    def is_ambiguous(self, node: Node) -> bool:
        """Whether an array is right only as a part of something else than what the reference gives a name."""
        name, subject = node.seen.name, self.watch.subject
        if node.place is None or node.status != AUXILIARY or node.is_pattern:
            return False
        return not any(fnmatchcase(name, pattern) for pattern in subject.unambiguous)
