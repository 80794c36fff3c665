"""Watching a call: which arrays the variables of somebody's code hold, and what each was made of."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from function_judge.known_numbers import MIN_ENTRIES, in_grid, is_in_order
from function_judge.libraries import is_theirs
from function_judge.patterns import is_the_pattern
from function_judge.statements import statement_at
from function_judge.subject import NO_SUBJECT
from function_judge.tracing import traced

# They are counted, and no clock is looked at: what is found doesn't depend on how busy the machine is.
MAX_EVENTS = 30_000  # lines that run, and calls that return
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


class Seen(NamedTuple):
    """What an array is.

    Parameters
    ----------
    status : str
        OUTPUT, STAGE, AUXILIARY, WRONG or UNKNOWN.
    name : str
        Of the stage, or PATTERN.
    turned : bool
        Whether it is a grid with its rows along the last axis.
    in_part : bool
        Whether it is some columns only of a grid.
    patterned : bool
        Whether a pattern is laid over it.
    """

    status: str = UNKNOWN
    name: str = ""
    turned: bool = False
    in_part: bool = False
    patterned: bool = False


@dataclass(eq=False)
class Node:
    """An array that a variable held for a while.

    Parameters
    ----------
    seen : Seen
    shape : tuple of int
    order : int
    place : (str, Statement, code object)
        The path of the file, the statement that made it, and whose it is; None for what was given.
    before : list of Node
        What the statement read.
    is_plain : bool
        Whether nothing can be wrong with it: it was given, counts from 0, or is yet to be filled.
    """

    seen: Seen
    shape: tuple
    order: int
    place: tuple | None
    before: list
    is_plain: bool = False
    is_given: bool = False

    @property
    def status(self):
        return self.seen.status

    @property
    def is_pattern(self):
        return self.seen.name == PATTERN


class Change(NamedTuple):
    """A variable that a statement has given an array, or another one.

    Parameters
    ----------
    moment : int
        Step counter: how often variables have been looked at by then.
    place : (str, Statement, code object)
    frame : object
        The call that it happened in.
    name : str
        The variable's.
    value : object
    node : Node or None
        None for a single number.
    before : list of (str, Node)
        What the statement read, by the variables' names.
    """

    moment: int
    place: tuple
    frame: object
    name: str
    value: object
    node: Node | None
    before: list


class _Frame:
    """A call that is being watched."""

    def __init__(self, frame, caller):
        self.frame, self.caller = frame, caller
        self.path = frame.f_code.co_filename
        self.statement = None
        self.given = []  # its arguments
        self.held = {}  # by variable: its marks and its node
        self.returned = []  # the nodes of what the statement's calls have returned
        self.numbers = {}  # by variable: a single number
        self.cleared = set()  # statements whose arrays' garbage is written over

    @property
    def place(self):
        return None if self.statement is None else (self.path, self.statement, self.frame.f_code)

    def node_of(self, name):
        frame = self
        while frame is not None:
            if name in frame.held:
                return frame.held[name][1]
            if name not in frame.frame.f_code.co_freevars:
                return None
            frame = frame.caller
        return None


class TooMuchError(Exception):
    """More has happened than is watched."""


class Watch:
    """What is seen of a call: `all` nodes, the `outputs` among them, and where it `ended`.

    Parameters
    ----------
    known : list of Known
        The numbers that are right on the way; without any, `written_at` is where it writes into what it was given.
    read : callable
        From whatever a variable holds to an ndarray, or None.
    code : code object or None
        What is examined.
    subject : Subject
    """

    def __init__(self, known, read, code, subject=NO_SUBJECT):
        self.known, self.read, self.code, self.subject = known, read, code, subject
        self.pattern = next((stage.pattern for stage in known if stage.pattern is not None), None)
        self.all = []
        self.changes, self.moment = [], 0
        self.calls_itself = False
        self.sizes = set()  # single numbers that it is given
        self.idle = set()  # statements that have left a variable as it was
        self.outputs, self.ended, self.written_at = [], None, None
        self.read_last, self.last_numbers = [], {}  # what the statement that gave the output read
        self._given = []
        self._frames, self._current = {}, []
        self._nodes = {}  # by an object's id: itself, its marks, its node
        self._born = {}  # by an object's id: what it held before anything known was stored in it
        self._judged = {}
        self.events = self._compared = 0

    def run(self, function, arguments, options):
        with traced(self._look):
            return function(*arguments, **options)

    def holds_the_output(self, returned):
        """Whether what comes back holds the output's numbers, and beside it at most other stages'."""
        found = [self._look_at(array).status for _, array, _ in self._leaves(returned)]
        return OUTPUT in found and all(status in (OUTPUT, STAGE) for status in found)

    # ---- what happens ------------------------------------------------------------------------

    def _look(self, frame, event, argument):
        if event != "call" or not is_theirs(frame, self.code):
            return None
        if id(frame) not in self._frames:  # a generator goes on
            self._frames[id(frame)] = _Frame(frame, self._current[-1] if self._current else None)
        watched = self._frames[id(frame)]
        is_function = not frame.f_code.co_name.startswith("<")
        self.calls_itself |= is_function and any(item.frame.f_code is frame.f_code for item in self._current)
        self._current.append(watched)
        self._begin(watched)
        return self._inside

    def _begin(self, watched):
        """What a call is given belongs to the statement that makes it; what an object keeps is given, too."""
        caller = watched.caller
        if caller is not None:
            self._settle(caller, has_run=False)
        watched.given = watched.given or list(watched.frame.f_locals.values())
        if caller is None:
            self.sizes |= {item for item in watched.given if type(item) is int}
        if caller is None and not self.known:  # there is nothing to compare with but what was given
            self._given = [(value, self._marks(value)) for value in watched.given]
        for name, value in _variables(watched.frame):
            if name not in watched.held and (marks := self._marks(value)):
                watched.held[name] = (marks, self._node(value, marks, None if "." in name else caller))

    def _inside(self, frame, event, argument):
        self.events += 1
        if self.events > MAX_EVENTS:
            raise TooMuchError
        watched = self._frames[id(frame)]
        if event == "line":
            self._settle(watched)
            statement = statement_at(watched.path, frame.f_lineno)
            if statement is not watched.statement:
                watched.returned = []
            watched.statement = statement
        elif event == "return":
            self._settle(watched)
            if watched in self._current:
                del self._current[self._current.index(watched) :]
            self._end(watched, argument)
        return self._inside

    def _end(self, watched, returned):
        caller = watched.caller
        if caller is not None and self._is_a_step(watched, returned):
            return  # what is wrong is what it was given, or what for
        nodes = [self._node(part, marks, watched) for part, marks in self._parts(returned)]
        if caller is not None:
            if not nodes and returned is not None and not self._is_a_known_number(returned):  # it can't be looked up
                nodes = [Node(Seen(), (), len(self.all), watched.place, [])]
            caller.returned += nodes
        elif nodes:
            is_called_once = not self.outputs  # np.vectorize calls it for every row
            self.outputs, self.ended = nodes, watched.place if is_called_once else None
            self.read_last, self.last_numbers = self._read_by(watched), watched.numbers

    def _is_a_known_number(self, value):
        if not isinstance(value, (float, np.floating)):
            return isinstance(value, (str, bool, slice)) or _is_number(value)
        return any(not stage.array.ndim and abs(stage.array - value) <= 1e-9 * abs(value) for stage in self.known)

    def _is_a_step(self, watched, returned):
        """Whether the subject knows what the helper that has returned does, as it should, with what it was given."""
        array = self.read(returned)
        if array is None:
            return False
        return self.subject.is_step(watched.frame.f_code.co_name, [*map(self.read, watched.given)], array)

    def _settle(self, watched, has_run=True):
        """Note what the statement that has just run, or is running, has changed."""
        changed, self.moment = {}, self.moment + 1
        before = None
        if has_run:
            self._clear(watched)
        for name, value in _variables(watched.frame):
            if _is_number(value) and watched.numbers.get(name) is not value:
                watched.numbers[name] = value
                if watched.place is not None:
                    self.changes.append(Change(self.moment, watched.place, watched, name, value, None, []))
                continue
            marks = self._marks(value)
            if marks and watched.held.get(name, (None,))[0] != marks:
                before = self._read_by(watched) if before is None else before
                changed[name] = (marks, self._node(value, marks, watched))
                if watched.place is not None:
                    self.changes.append(
                        Change(self.moment, watched.place, watched, name, value, changed[name][1], before)
                    )
            elif marks and has_run and watched.statement is not None and name in watched.statement.turns:
                self.idle.add(watched.place)
        watched.held |= changed
        if self._given and self.written_at is None and any(self._marks(value) != marks for value, marks in self._given):
            self.written_at = watched.place

    def _clear(self, watched):
        """Write NaN into an array that has just been made by np.empty: it may hold what an earlier run has left."""
        statement = watched.statement
        if statement is None or not statement.leaves_garbage or statement in watched.cleared:
            return
        watched.cleared.add(statement)
        for name in statement.stores:
            value = watched.frame.f_locals.get(name)
            if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.flags.owndata:
                value.fill(np.nan)

    def _node(self, value, marks, watched):
        known = self._nodes.get(id(value))
        if known is not None and known[1] == marks:
            return known[2]
        found = [self._judge(*leaf) for leaf in self._leaves(value)]
        ordered = (match for status in (WRONG, OUTPUT, STAGE, AUXILIARY) for match in found if match.status == status)
        seen, before = next(ordered, Seen()), []
        if watched is None:
            seen = seen._replace(status=STAGE) if seen.status in (WRONG, UNKNOWN) else seen  # what it was given
        else:
            before = [node for _, node in self._read_by(watched)]
            if known is not None and known[2] not in before:
                before.append(known[2])
            has_data = any(item.status != UNKNOWN and not item.is_pattern for item in before)
            if seen.status == WRONG and seen.name != PATTERN and not has_data:
                seen = Seen()  # it is made of no data: positions, frequencies
            elif seen.patterned and any(item.is_pattern and item.status == WRONG for item in before):
                seen = Seen(WRONG)  # it may hide too little, and so nothing wrong
        place = watched and watched.place
        has_data = any(item.status != UNKNOWN and not item.is_pattern for item in before)
        is_plain = watched is None or (place is not None and place[1].makes_room)
        if not is_plain and place is not None and place[1].counts and not has_data:
            is_plain = all(_counts(leaf[1]) for leaf in self._leaves(value))
        if len({match.name for match in found}) > 1 or (len(found) > 1 and not self._are_in_order(value)):
            seen = seen._replace(name=SEVERAL.join(match.name for match in found))
        node = Node(seen, marks[0][0], len(self.all), place, before, is_plain, watched is None)
        self._nodes[id(value)] = (value, marks, node)
        self.all.append(node)
        return node

    def _read_by(self, watched):
        """What the statement that is running reads: names, empty for what a call has returned, and nodes."""
        names = watched.statement.reads if watched.statement is not None else ()
        held = [(name, node) for name in sorted(names) if (node := watched.node_of(name)) is not None]
        return held + [("", node) for node in watched.returned]

    def _are_in_order(self, parts):
        """Whether arrays held in a list are a stage together, one after another."""
        arrays = [array for _, array, _ in self._leaves(parts)]
        if len({array.shape for array in arrays}) > 1 or arrays[0].size * len(arrays) > MAX_ENTRIES:
            return False
        return self._look_at(np.stack(arrays)).status in RIGHT

    # ---- arrays ------------------------------------------------------------------------------

    def _leaves(self, value, depth=0):
        """Yield every array in it: the object, its numbers and its mark."""
        if isinstance(value, (list, tuple)) and depth < MAX_DEPTH:
            numbers = _of_numbers(value)
            if numbers is not None:
                yield numbers, numbers, _mark(numbers)
                return
            for part in list(value):
                yield from self._leaves(part, depth + 1)
        elif isinstance(value, dict) and depth < MAX_DEPTH:
            for part in list(value.values()):
                yield from self._leaves(part, depth + 1)
        else:
            array = self.read(value)
            if array is not None and array.size <= MAX_ENTRIES:
                yield value, array, _mark(array)

    def _marks(self, value):
        return tuple(mark for _, _, mark in self._leaves(value))

    def _parts(self, value):
        for part in value if isinstance(value, tuple) else (value,):
            marks = self._marks(part)
            if marks:
                yield part, marks

    def _judge(self, value, array, mark):
        self._compared += mark not in self._judged
        if self._compared > MAX_COMPARED:
            raise TooMuchError
        _, beginning = self._born.setdefault(id(value), (value, array.copy()))
        if array.shape == beginning.shape and mark != _mark(beginning) and self._look_at(beginning).status not in RIGHT:
            blank = (array == beginning) | ((array != array) & (beginning != beginning))
            if blank.any():
                return self._look_at(array, blank)  # it is being filled
        if mark not in self._judged:
            self._judged[mark] = self._look_at(array)
        return self._judged[mark]

    def _look_at(self, array, blank=None):
        is_exact = any(item.exact for item in self.known)
        if array.dtype.kind not in ("fbiu" if is_exact else "fb") or (array.size < MIN_ENTRIES and not is_exact):
            return Seen()
        blank = np.zeros(array.shape, bool) if blank is None else blank
        filled = array[~blank]
        if array.dtype.kind == "b" or (not np.isnan(filled).any() and np.unique(filled).size <= 2):
            right = None if self.pattern is None or blank.any() else is_the_pattern(array, self.pattern)
            if right is not None:
                return Seen(AUXILIARY if right else WRONG, PATTERN)
            if not is_exact:
                return Seen()
        known = [item for item in self.known if item.array.ndim] if array.ndim else []
        if is_exact:  # what is the whole of a stage is no part of another
            known = sorted(known, key=lambda item: item.array.size != array.size)
        for stage in known:
            if is_in_order(array, stage, blank):
                return Seen(BY_RANK[stage.rank], stage.name, *in_grid(array, stage, blank), patterned=stage.patterned)
        return Seen() if array.dtype.kind in "iu" or array.size < MIN_ENTRIES else Seen(WRONG)


def _variables(frame):
    """Yield the names and values of a frame's variables and, as "self.name", of what its object keeps."""
    outside = frame.f_code.co_freevars
    for name, value in list(frame.f_locals.items()):
        if name in outside:
            continue
        yield name, value
        if name == "self":
            kept = getattr(value, "__dict__", {})
            for attribute, array in [*kept.items(), *kept.get("_buffers", {}).items()]:
                if not attribute.startswith("_"):
                    yield f"self.{attribute}", array


def _is_number(value):
    """Whether it is a single number, or a shape."""
    if isinstance(value, tuple):
        return 1 < len(value) < 6 and all(isinstance(item, (int, np.integer)) for item in value)
    return isinstance(value, (int, float, np.number, np.bool_))


def _counts(array):
    return array.dtype.kind in "iu" and np.array_equal(np.unique(array), np.arange(array.size))


def _mark(array):
    return array.shape, array.dtype.char, hash(array.tobytes())


def _of_numbers(value):
    """A list of numbers, of lists of numbers, or of rows too short to be found alone, as an array."""
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
