"""The statements of a watched call that may be at fault."""

import ast
from dataclasses import dataclass, field
from types import CodeType

from function_judge.clues import Clues
from function_judge.recognition import RIGHT
from function_judge.statements import Place
from function_judge.watch import Change, Node, Watch


@dataclass(eq=False)
class Suspect:
    """A statement, and what it changed each time it ran.

    Parameters
    ----------
    place : Place
    changes : list of Change
    """

    place: Place
    changes: list[Change] = field(default_factory=list)

    @property
    def first(self) -> int:
        """The step of its first change."""
        return self.changes[0].step

    @property
    def nodes(self) -> list[Node]:
        """The arrays that it made, without single numbers."""
        return [change.node for change in self.changes if change.node is not None]

    @property
    def is_wrong(self) -> bool:
        """Whether something that it made is no stage at all."""
        return len(self.nodes) < len(self.changes) or any(
            node.status not in RIGHT or is_turned(node) for node in self.nodes
        )

    @property
    def adds_up(self) -> bool:
        """Whether what it made last is a sum over the rounds of a loop: a stage only when all is done."""
        return self.place.statement.adds_up

    @property
    def is_meant_otherwise(self) -> bool:
        """Whether it made nothing but patterns that are right for somebody who uses them another way round."""
        return all(
            change.node is not None
            and change.node.status in RIGHT
            and change.node.seen.turned
            and (change.node.is_pattern or getattr(getattr(change.value, "dtype", None), "kind", "") == "b")
            for change in self.changes
        )


def is_turned(node: Node) -> bool:
    """Tell whether an array is a whole grid with its rows along the last axis."""
    return node.seen.turned and not node.seen.in_part


def suspects_of(watch: Watch, clues: Clues) -> list[Suspect]:
    """Return the statements that changed something, in the order in which they ran first.

    Parameters
    ----------
    watch : Watch
    clues : Clues
    """
    found: dict[Place, Suspect] = {}
    # A helper that gave something right, too, is right: the call that gave something wrong has passed it that.
    right_places = {node.place for node in watch.all if node.status in RIGHT}
    for change in watch.changes:
        is_right_elsewhere = change.place in right_places and watch.times_called(change.place.code) > 1
        if is_right_elsewhere or not _can_be_at_fault(change, clues):
            continue
        place, maker = change.place, _helper_that_made(change)
        if maker is not None and maker not in right_places:
            if any(item.node is change.node for item in getattr(found.get(maker), "changes", ())):
                continue
            place = maker
        found.setdefault(place, Suspect(place)).changes.append(change)
    return sorted(found.values(), key=lambda suspect: suspect.first)


def _can_be_at_fault(change, clues):
    """Whether there is anything in a statement that could be exchanged.

    A comprehension's round is part of a statement, and a loop's first line only hands on what it goes through. With a
    whole stage in place of np.zeros, a loop that fills too little of it would pass, and that line be accused.
    """
    statement = change.place.statement
    if is_part(change.place.code) or isinstance(statement.node, (ast.For, ast.While)) or statement.makes_room:
        return False
    return change.node is not None or bool(clues.other_numbers(change))


def _helper_that_made(change):
    """Return the place, in another function, where a wrong array was made that this statement only takes over.

    Repairing the call would help as well, but the line to look at is the helper's own.
    """
    node = change.node
    if node is None or node.place is None or node.status in RIGHT:
        return None
    is_elsewhere = node.place.code is not change.place.code and not is_part(node.place.code)
    return node.place if is_elsewhere else None


def is_part(code: CodeType) -> bool:
    """Tell whether code is only part of a statement: a comprehension's."""
    return code.co_name.startswith("<") and code.co_name != "<lambda>"
