"""Which statement, if it gave the right numbers, would make a wrong function right: that one is at fault.

The function is run again and again, each time with what one of its statements gives exchanged for the right numbers.
Where what comes back is right then, and what the statement read was right, nothing else can be wrong.
"""

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

from function_judge.clues import Clues, fits
from function_judge.doubts import Doubts
from function_judge.recognition import AUXILIARY, OUTPUT, STAGE, TooMuchError
from function_judge.repairs import Repairs
from function_judge.statements import Place, statements_of
from function_judge.suspects import suspects_of
from function_judge.trials import Trials
from function_judge.watch import Node, Watch

END = float("inf")  # after every step


def faulty_places(watch: Watch, run: Callable[[Watch], Any], is_right: Callable[[Any], bool]) -> tuple[Place, ...]:
    """Return the place of the statement that is at fault, or of two that have it between them.

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
    tuple of Place
        Empty where there is any doubt.
    """
    try:
        return _Localiser(watch, run, is_right).places()
    except TooMuchError:
        return ()


class _Localiser:
    def __init__(self, watch, run, is_right):
        self.watch = watch
        self.trials = Trials(watch.code, run, is_right)
        self.clues = Clues(watch)
        self.repairs = Repairs(watch, self.clues)
        self.doubts = Doubts(watch, self.clues, self.trials)

    def places(self):
        if self.trials.passes_with({}):  # it is right in this case, or differs from call to call
            return ()
        # Of a recursion only the outermost call's numbers are known: repairing the line that calls repairs everything,
        # and it would be accused of what the base case does.
        if self.watch.calls_itself:
            return ()
        found, end = self.search(), self.watch.ended
        # Two outputs may be exchanged in `return`, with nothing else wrong; a line that is found before says more.
        is_found = len(found) == 1 and found[0] != end
        if end is not None and not is_found and self.trials.passes_in_another_order():
            return (end,)
        return found

    def search(self):
        """Return the first statement that can be repaired and read what is right.

        One that gave a stage, only an earlier one than is due, may well have been meant so: then what is missing is
        between it and the next that can be repaired, unless its variable has the name of the stage that is due.
        """
        too_early = None
        for suspect in suspects_of(self.watch, self.clues):
            if not any(map(self.trials.passes_with, self.repairs.of(suspect))):
                continue
            if not self.doubts.is_certain(suspect):
                return ()
            if suspect.is_wrong and not self.is_used_the_other_way(suspect):
                return self.between(too_early, suspect.place)
            if self.has_another_stages_name(suspect) and not self.is_returned(suspect):
                return (suspect.place,)
            too_early = too_early or suspect
        return self.at_the_end(too_early)

    def at_the_end(self, too_early):
        """Return where it goes wrong although no statement before the end made other numbers than a stage's."""
        if too_early is not None and self.is_returned(too_early):
            return (too_early.place, self.watch.ended)
        if too_early is None and (early := self.returns_too_early()):
            return early
        last = self.last_statement()
        if last is None or (too_early is not None and too_early.place == last):
            return ()
        return self.between(too_early, last)

    def returns_too_early(self):
        """Return where a variable was made that comes back though it holds a stage on the way, and where it ends.

        So it is with a function whose last step is missing.
        """
        end, read = self.watch.ended, self.watch.read_last
        if end is None or not end.statement.only_names or not read:
            return ()
        if self.doubts.has_uncertain_input(end, read, self.watch.last_numbers):
            return ()
        on_the_way = [node for _, node in read if node.status != OUTPUT and node.place is not None]
        if not on_the_way or not self.doubts.is_certain_given_its_input(end, END):
            return ()
        first = min(on_the_way, key=lambda node: node.order).place
        return (first, end) if first.code is end.code and first != end else (end,)

    def last_statement(self):
        """Return the statement that returns, if it computes and all that it reads is right.

        It sets no variable that could be repaired, so it is at fault where nothing else can be.
        """
        end, read = self.watch.ended, self.watch.read_last
        if end is None or not read or end.statement.only_names:
            return None
        sums = _added_up_in(end.code)
        if any(name in sums and node.status not in (OUTPUT, STAGE) for name, node in read):
            return None  # a sum over too few rounds is no stage; what is missing is no statement's fault
        if self.doubts.has_uncertain_input(end, read, self.watch.last_numbers):
            return None
        return end if self.doubts.is_certain_given_its_input(end, END) else None

    def is_returned(self, suspect):
        """Whether what comes back is a variable that holds too early a stage."""
        end = self.watch.ended
        if end is None or not end.statement.only_names:
            return False
        return any(change.name in end.statement.reads for change in suspect.changes) and self.doubts.is_certain(suspect)

    def has_another_stages_name(self, suspect):
        """Whether a variable has the name of another stage than it holds, and gets no other value afterwards.

        `first, second = f(b), f(a)` makes right numbers only, under each other's names.
        """
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
        if too_early is not None:
            return (too_early.place, place)
        source = self.earliest_ambiguous_source(place)
        return (place,) if source is None else (source, place)

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
            if node.place.code is place.code and node.place != place:
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


def _added_up_in(code):
    """Return the variables to which the loops of a function add."""
    return set().union(*(statement.stores for statement in statements_of(code) if statement.adds_up))
