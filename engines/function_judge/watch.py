"""Watching a call: which arrays the variables of somebody's code hold, and what each was made of."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from function_judge.known_numbers import Known
from function_judge.libraries import is_theirs
from function_judge.recognition import (
    AUXILIARY,
    OUTPUT,
    PATTERN,
    SEVERAL,
    STAGE,
    UNKNOWN,
    WRONG,
    Recognizer,
    Seen,
    TooMuchError,
    is_number,
)
from function_judge.statements import Place, statement_at
from function_judge.subject import NO_SUBJECT, Subject
from function_judge.tracing import traced

# They are counted, and no clock is read: what is found doesn't depend on how busy the machine is.
MAX_EVENTS = 30_000  # lines that run, and calls that return


@dataclass(eq=False)
class Node:
    """An array that a variable held for a while.

    Parameters
    ----------
    seen : Seen
    shape : tuple of int
    kind : str
        Of its type: "f", "b".
    order : int
        How many others were there before it.
    place : Place or None
        Where it was made; None for an argument.
    before : list of Node
        What the statement read.
    is_plain : bool
        Whether nothing can be wrong with it: it is an argument, counts from 0, or is yet to be filled.
    is_given : bool
        Whether it is an argument.
    """

    seen: Seen
    shape: tuple
    kind: str
    order: int
    place: Place | None
    before: list
    is_plain: bool = False
    is_given: bool = False

    @property
    def status(self) -> str:
        return self.seen.status

    @property
    def is_pattern(self) -> bool:
        return self.seen.name == PATTERN


class Change(NamedTuple):
    """A variable to which a statement has assigned an array or a number, or whose array it has written into.

    Parameters
    ----------
    step : int
        How often variables have been looked at by then.
    place : Place
    call : object
        In which call of a function it happened.
    name : str
        The variable's.
    value : object
    node : Node or None
        None for a single number.
    before : list of (str, Node)
        What the statement read, by the variables' names.
    """

    step: int
    place: Place
    call: Any
    name: str
    value: object
    node: Node | None
    before: list


class _Call:
    """A call of one of somebody's functions."""

    def __init__(self, frame, caller):
        self.frame, self.caller = frame, caller
        self.called_at = None if caller is None else caller.place
        self.path = frame.f_code.co_filename
        self.statement = None
        self.arguments = []
        self.held = {}  # by variable: the fingerprints of its contents, and its node
        self.returned = []  # the nodes of what the calls in the statement have returned
        self.numbers = {}  # by variable: a single number
        self.cleared = set()  # statements whose uninitialised arrays have been filled with NaN

    @property
    def place(self):
        return None if self.statement is None else Place(self.path, self.statement, self.frame.f_code)

    def node_of(self, name):
        """Return the node that a variable holds, of this function or of one around it."""
        call = self
        while call is not None:
            if name in call.held:
                return call.held[name][1]
            if name not in call.frame.f_code.co_freevars:
                return None
            call = call.caller
        return None


class Watch:
    """What is seen of a call: `all` nodes, the `outputs` among them, and where it `ended`.

    Parameters
    ----------
    known : list of Known
        The numbers that are right on the way; without any, `written_at` is where it writes into an argument.
    read : callable
        From whatever a variable holds to an ndarray, or None.
    code : code object or None
        What is examined.
    subject : Subject, optional
    """

    def __init__(
        self, known: list[Known], read: Callable, code: CodeType | None, subject: Subject = NO_SUBJECT
    ) -> None:
        self.known, self.read, self.code, self.subject = known, read, code, subject
        self.recognizer = Recognizer(known, read)
        self.all: list[Node] = []
        self.changes: list[Change] = []
        self.step = self.events = 0
        self.calls_itself = False
        self.sizes: set[int] = set()  # single numbers among its arguments
        self.idle: set[Place] = set()  # statements that have left a variable as it was
        self.outputs: list[Node] = []
        self.ended: Place | None = None
        self.written_at: Place | None = None
        self.read_last: list[tuple[str, Node]] = []  # what the statement that gave the output read
        self.last_numbers: dict[str, object] = {}
        self._arguments: list[tuple] = []  # where `written_at` is asked for: each, and its fingerprints
        self._calls: dict[int, _Call] = {}  # by a frame's id
        self._stack: list[_Call] = []
        self._nodes: dict[int, tuple] = {}  # by an object's id: itself, its fingerprints, its node

    def run(self, function: Callable, arguments: Sequence, options: dict) -> Any:
        """Call the function, and watch the call."""
        with traced(self._trace):
            return function(*arguments, **options)

    def times_called(self, code: CodeType) -> int:
        """Count the calls of one of somebody's functions."""
        return sum(call.frame.f_code is code for call in self._calls.values())

    # ---- what happens ------------------------------------------------------------------------

    def _trace(self, frame, event, argument):
        if event != "call" or not is_theirs(frame, self.code):
            return None
        if id(frame) not in self._calls:  # it is there already where a generator goes on
            self._calls[id(frame)] = _Call(frame, self._stack[-1] if self._stack else None)
        call = self._calls[id(frame)]
        is_function = not frame.f_code.co_name.startswith("<")
        self.calls_itself |= is_function and any(item.frame.f_code is frame.f_code for item in self._stack)
        self._stack.append(call)
        self._begin(call)
        return self._trace_line

    def _begin(self, call):
        caller = call.caller
        if caller is not None:
            self._look_at_variables(caller, has_run=False)
        call.arguments = call.arguments or list(call.frame.f_locals.values())
        if caller is None:
            self._note_arguments(call)
        # What a helper is given belongs to the statement that calls it. What an object keeps (a module's weights) was
        # there before, as arguments are.
        for name, value in _variables(call.frame):
            if name not in call.held and (fingerprints := self.recognizer.fingerprints(value)):
                call.held[name] = (fingerprints, self._node(value, fingerprints, None if "." in name else caller))

    def _note_arguments(self, call):
        self.sizes |= {item for item in call.arguments if type(item) is int}
        if not self.known:  # there is nothing to compare with but what they held at first
            self._arguments = [(value, self.recognizer.fingerprints(value)) for value in call.arguments]

    def _trace_line(self, frame, event, argument):
        self.events += 1
        if self.events > MAX_EVENTS:
            raise TooMuchError
        call = self._calls[id(frame)]
        if event == "line":
            self._look_at_variables(call)
            statement = statement_at(call.path, frame.f_lineno)
            if statement is not call.statement:
                call.returned = []
            call.statement = statement
        elif event == "return":
            self._look_at_variables(call)
            if call in self._stack:
                del self._stack[self._stack.index(call) :]
            self._end(call, argument)
        return self._trace_line

    def _end(self, call, returned):
        if call.caller is None:
            self._end_outermost(call, returned)
        elif not self._is_right_step(call, returned):
            call.caller.returned += self._nodes_of_returned(call, returned)

    def _end_outermost(self, call, returned):
        nodes = self._nodes_of_returned(call, returned)
        if nodes:
            is_called_once = not self.outputs  # np.vectorize calls it for every row
            self.outputs, self.ended = nodes, call.place if is_called_once else None
            self.read_last, self.last_numbers = self._read_by(call), call.numbers

    def _nodes_of_returned(self, call, returned):
        parts = returned if isinstance(returned, tuple) else (returned,)
        found = [(part, self.recognizer.fingerprints(part)) for part in parts]
        return [self._node(part, fingerprints, call) for part, fingerprints in found if fingerprints]

    def _is_right_step(self, call, returned):
        """Whether a helper does what the subject knows it should: what is wrong is its arguments, or its use."""
        array = self.read(returned)
        if array is None:
            return False
        return self.subject.is_step(call.frame.f_code.co_name, [*map(self.read, call.arguments)], array)

    def _look_at_variables(self, call, has_run=True):
        """Note what the statement that has just run, or is still running, has changed."""
        self.step += 1
        if has_run:
            self._clear(call)
        changed = {}
        for name, value in _variables(call.frame):
            if (_is_none_by_choice(call, value) or is_number(value)) and call.numbers.get(name, call) is not value:
                self._note_number(call, name, value)
                continue
            fingerprints = self._contents_of(value)
            if not fingerprints:
                continue
            if call.held.get(name, (None,))[0] != fingerprints:
                changed[name] = (fingerprints, self._note_array(call, name, value, fingerprints))
            elif has_run and call.statement is not None and name in call.statement.turns:
                self.idle.add(call.place)
        call.held |= changed
        if self.written_at is None and self._has_written_into_arguments():
            self.written_at = call.place

    def _contents_of(self, value):
        """Identify what a variable holds; nobody can look into an iterator, and what it gives may be wrong."""
        return (((), "iterator", id(value)),) if isinstance(value, Iterator) else self.recognizer.fingerprints(value)

    def _note_number(self, call, name, value):
        call.numbers[name] = value
        if call.place is not None:
            self.changes.append(Change(self.step, call.place, call, name, value, None, self._read_by(call)))

    def _note_array(self, call, name, value, fingerprints):
        before = self._read_by(call)
        node = self._node(value, fingerprints, call)
        if call.place is not None:
            self.changes.append(Change(self.step, call.place, call, name, value, node, before))
        return node

    def _has_written_into_arguments(self):
        return any(self.recognizer.fingerprints(value) != fingerprints for value, fingerprints in self._arguments)

    def _clear(self, call):
        """Write NaN into an array that has just been made by np.empty: it may hold what an earlier run has left.

        That run's numbers may be the right ones, and the row that nobody fills would look right.
        """
        statement = call.statement
        if statement is None or not statement.leaves_garbage or statement in call.cleared:
            return
        call.cleared.add(statement)
        for name in statement.stores:
            value = call.frame.f_locals.get(name)
            if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.flags.owndata:
                value.fill(np.nan)

    # ---- nodes -------------------------------------------------------------------------------

    def _node(self, value, fingerprints, call):
        """Return the node of what a variable holds, a new one unless it has been looked at; no call for an argument."""
        _, fingerprints_then, node = self._nodes.get(id(value), (None, None, None))
        if node is not None and fingerprints_then == fingerprints:
            return node
        found = self.recognizer.recognize_all(value)
        ordered = (seen for status in (WRONG, OUTPUT, STAGE, AUXILIARY) for seen in found if seen.status == status)
        seen, before = next(ordered, Seen()), []
        if call is None:
            seen = _as_argument(seen)
        else:
            before = [item for _, item in self._read_by(call)]
            if node is not None and node not in before:
                before.append(node)  # what it was before this statement wrote into it
            seen = _in_context(seen, before)
        is_plain = call is None or self._is_plain(value, call.place, before)
        seen = self._named_together(seen, found, value)
        made_at = None if call is None else call.place
        shape, kind, _ = fingerprints[0]
        node = Node(seen, shape, kind, len(self.all), made_at, before, is_plain, call is None)
        self._nodes[id(value)] = (value, fingerprints, node)  # the value itself, so that its id stays its own
        self.all.append(node)
        return node

    def _is_plain(self, value, place, before):
        """Whether nothing can be wrong with what a statement has made: it is yet to be filled, or only counts."""
        if place is None:
            return False
        if place.statement.makes_room:
            return True
        counts = place.statement.counts and not _has_data(before)
        return counts and all(_counts(array) for _, array, _ in self.recognizer.leaves(value))

    def _named_together(self, seen, found, value):
        """Give several arrays in a list all their names, unless they are one stage together, part by part."""
        if len({part.name for part in found}) > 1 or (len(found) > 1 and not self.recognizer.are_in_order(value)):
            return seen._replace(name=SEVERAL.join(part.name for part in found))
        return seen

    def _read_by(self, call):
        """Return what the statement that is running reads: (name, node), the name "" for what a call has returned."""
        names = call.statement.reads if call.statement is not None else ()
        held = [(name, node) for name in sorted(names) if (node := call.node_of(name)) is not None]
        return held + [("", node) for node in call.returned]


def _is_none_by_choice(call, value):
    """Whether a variable was set to None in so many words; what is None as an argument was isn't the function's."""
    return value is None and call.statement is not None and call.statement.is_nothing


def _as_argument(seen):
    """An argument is right by definition, also one that the reference's own source doesn't read."""
    return seen._replace(status=STAGE) if seen.status in (WRONG, UNKNOWN) else seen


def _in_context(seen, before):
    """What an array is, considering what it was made of."""
    if seen.status == WRONG and seen.name != PATTERN and not _has_data(before):
        return Seen()  # it is made of no data: positions, frequencies
    if seen.patterned and any(node.is_pattern and node.status == WRONG for node in before):
        return Seen(WRONG)  # the pattern may hide too little, and so nothing that would show
    return seen


def _has_data(nodes):
    return any(node.status != UNKNOWN and not node.is_pattern for node in nodes)


def _variables(frame):
    """Yield the names and values of a frame's variables and, as "self.name", of what its object keeps.

    A variable of the function around it is looked at there.
    """
    outside = frame.f_code.co_freevars
    for name, value in list(frame.f_locals.items()):
        if name in outside:
            continue
        yield name, value
        if name == "self":
            kept = getattr(value, "__dict__", {})
            for attribute, array in [*kept.items(), *kept.get("_buffers", {}).items()]:  # PyTorch's modules keep both
                if not attribute.startswith("_"):
                    yield f"self.{attribute}", array


def _counts(array):
    return array.dtype.kind in "iu" and np.array_equal(np.unique(array), np.arange(array.size))
