"""The statements of a source file: which one a line belongs to, and which names it reads."""

import ast
import functools
import linecache
from types import CodeType
from typing import Any, NamedTuple

# What a name is asked for without its numbers being used: a wrong table is no reason to doubt `np.zeros_like(table)`.
_SIZES = {"shape", "size", "dtype", "device", "ndim", "dim", "type", "new_zeros", "new_ones", "new_full", "new_empty"}
_OF_SIZES = {"len", "zeros_like", "ones_like", "empty_like", "full_like", "isinstance"}

# What makes an array that is filled later, and holds no result before.
_ROOM = {"empty", "empty_like", "zeros", "zeros_like", "ones", "ones_like", "full", "full_like"}

# What people write to turn an array, and what leaves it as it was with the wrong axes, or a transpose forgotten.
_MOVES = {"swapaxes", "transpose", "moveaxis", "reshape"}


class Statement:
    """A statement, or the first line of one that holds others.

    Parameters
    ----------
    node : ast.stmt
    loop : Statement or None
        The innermost one around it.
    in_if : bool
        Whether it runs in some rounds of a loop only.
    """

    def __init__(self, node: ast.stmt, loop: "Statement | None" = None, in_if: bool = False) -> None:
        self.node: Any = node  # of whichever kind
        self.loop, self.in_loop, self.in_if = loop, loop is not None, in_if
        self.number = node.lineno

    @functools.cached_property
    def _parts(self):
        if isinstance(self.node, (ast.For, ast.AsyncFor)):
            return [self.node.iter]
        if isinstance(self.node, (ast.If, ast.While)):
            return [self.node.test]
        if isinstance(self.node, (ast.With, ast.AsyncWith)):
            return [item.context_expr for item in self.node.items]
        if isinstance(self.node, (ast.FunctionDef, ast.ClassDef, ast.Try, ast.Match)):
            return []
        return [self.node]

    @functools.cached_property
    def reads(self) -> set[str]:
        """The names, and attributes of them ("self.table"), whose numbers it uses."""
        found: set[str] = set()
        for part in self._parts:
            _read(part, found)
        if isinstance(self.node, ast.AugAssign):
            _read(self.node.target, found, stored=True)
        return found

    @functools.cached_property
    def stores(self) -> set[str]:
        """The names of the variables that it gives a value, or writes into."""
        targets = getattr(self.node, "targets", None) or [getattr(self.node, "target", None)]
        parts = [part for target in targets if target is not None for part in ast.walk(target)]
        return {part.id for part in parts if isinstance(part, ast.Name)}

    @functools.cached_property
    def turns(self) -> set[str]:
        """The names of what it should turn into something else: itself with its axes moved, or itself alone.

        Where such a statement leaves a variable as it was (`x = x.swapaxes(1, 1)`), something else was meant.
        """
        is_alias = isinstance(getattr(self.node, "value", None), ast.Name)
        return self.stores & self.reads if is_alias or self.is_a_step else set()

    @functools.cached_property
    def is_a_step(self) -> bool:
        """Whether it should make other numbers, or move them, and doesn't only copy them or change their type."""
        value = getattr(self.node, "value", None)
        moves = isinstance(value, ast.Call) and getattr(value.func, "attr", "") in {*_MOVES, "where"}
        return moves or isinstance(value, ast.BinOp)

    def would_end_before(self, end: "Statement") -> bool:
        """Tell whether it is a condition under which the function returns, and not by the statement that did."""
        last = self.node.body[-1] if isinstance(self.node, ast.If) else None
        return isinstance(last, ast.Return) and not self.number <= end.number <= last.lineno

    @functools.cached_property
    def only_names(self) -> bool:
        """Whether it computes nothing."""
        return None not in self.parts and len(set(self.parts)) == len(self.parts)

    @functools.cached_property
    def parts(self) -> list[str | None]:
        """The names of the variables that its value consists of; None for what it computes."""
        value = getattr(self.node, "value", None)
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
        return [getattr(part, "id", None) for part in parts]

    @property
    def stores_a_constant(self) -> bool:
        """Whether it writes one number into a part of an array: `row[i + 1 :] = 0`.

        In a loop any such line can be repaired by the last round's array, also where a round is missing.
        """
        targets = getattr(self.node, "targets", [])
        is_part = bool(targets) and all(isinstance(target, ast.Subscript) for target in targets)
        names = {node.id for node in ast.walk(self.node.value) if isinstance(node, ast.Name)} if is_part else set()
        return is_part and names <= {"np", "math", "float"}

    @functools.cached_property
    def fills_rows(self) -> bool:
        """Whether it writes into one row of an array in each round of a loop: `row[i] = ...`, `row[i, :] = ...`."""
        rounds = getattr(getattr(self.loop, "node", None), "target", None)
        targets = [item for item in getattr(self.node, "targets", []) if isinstance(item, ast.Subscript)]
        firsts = [item.slice.elts[0] if isinstance(item.slice, ast.Tuple) else item.slice for item in targets]
        return isinstance(rounds, ast.Name) and rounds.id in [getattr(first, "id", None) for first in firsts]

    def would_set(self, names: set[str]) -> bool:
        """Tell whether it is a condition under which one of some variables gets another value."""
        inside = ast.walk(self.node) if isinstance(self.node, ast.If) else ()
        stored = {item.id for item in inside if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)}
        return bool(stored & names)

    @functools.cached_property
    def is_alias(self) -> bool:
        """Whether it only gives another name to what has one.

        What is written into one of them shows in both, so that either may be what went wrong.
        """
        is_plain = isinstance(self.node, ast.Assign) and isinstance(self.node.value, ast.Name)
        return is_plain and all(isinstance(target, ast.Name) for target in self.node.targets)

    @functools.cached_property
    def unpacks_a_shape(self) -> bool:
        """Whether it gives the sizes of an array their names, `B, T, D = X.shape`: easily in the wrong order."""
        value, targets = getattr(self.node, "value", None), getattr(self.node, "targets", [])
        is_shape = isinstance(value, ast.Attribute) and value.attr == "shape"
        return is_shape and all(isinstance(target, ast.Tuple) for target in targets)

    @functools.cached_property
    def unpacks_backwards(self) -> bool:
        """Whether it takes the first of several sizes apart, and leaves the last together: `n, *rest = X.shape`.

        With a batch in front that is another size, and no order of the names would help.
        """
        targets = getattr(self.node, "targets", [])
        return self.unpacks_a_shape and any(
            isinstance(part, ast.Starred) for target in targets for part in target.elts[1:]
        )

    @functools.cached_property
    def is_nothing(self) -> bool:
        """Whether it gives a variable no value yet: `scale = None`."""
        value = getattr(self.node, "value", self.node)
        return isinstance(value, ast.Constant) and value.value is None

    @functools.cached_property
    def wraps_a_function(self) -> bool:
        """Whether it makes something that calls a lambda: `np.vectorize` gives it single numbers."""
        value = getattr(self.node, "value", None)
        return isinstance(value, ast.Call) and any(isinstance(item, ast.Lambda) for item in value.args)

    @functools.cached_property
    def collects_slices(self) -> bool:
        """Whether it collects what an index or a loop takes out: `[table[:, i] for i in rows]`, `rows.append(row)`."""
        value = getattr(self.node, "value", None)
        if isinstance(value, ast.Call) and getattr(value.func, "attr", "") == "append":
            return isinstance(value.args[0], (ast.Name, ast.Subscript))
        return isinstance(value, ast.ListComp) and isinstance(value.elt, ast.Subscript)

    @functools.cached_property
    def counts(self) -> bool:
        """Whether it only counts, `np.arange(n)[:, None]`: positions are no stage, and nothing is wrong with them."""
        value = getattr(self.node, "value", None)
        while (inner := _reshaped(value)) is not None:
            value = inner
        return isinstance(value, ast.Call) and getattr(value.func, "attr", "") == "arange" and len(value.args) == 1

    @property
    def leaves_garbage(self) -> bool:
        """Whether what the array holds that it makes is whatever the memory held."""
        made = getattr(self.node, "value", None)
        return isinstance(made, ast.Call) and getattr(made.func, "attr", "") in ("empty", "empty_like")

    @functools.cached_property
    def makes_room(self) -> bool:
        """Whether it makes an array that is filled later."""
        made = getattr(self.node, "value", None)
        parts = made.elts if isinstance(made, ast.Tuple) else [made]
        return all(isinstance(part, ast.Call) and getattr(part.func, "attr", "") in _ROOM for part in parts)

    @functools.cached_property
    def adds_up(self) -> bool:
        """Whether it adds to what an earlier round of a loop has left, or computes on with it.

        Then no single round is right or wrong by itself.
        """
        if not self.in_loop:
            return False
        if isinstance(self.node, ast.AugAssign):
            return True
        targets = getattr(self.node, "targets", [])
        names = {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
        return bool(names & self.reads) and not any(isinstance(target, ast.Subscript) for target in targets)


class Place(NamedTuple):
    """Where something happened.

    Parameters
    ----------
    path : str
        Of the file, or what Python calls a notebook's cell.
    statement : Statement
    code : code object
        Of the function that the statement belongs to.
    """

    path: str
    statement: Statement
    code: CodeType


def _reshaped(value):
    """Return what an index, or a call of reshape, is applied to; None for anything else."""
    if isinstance(value, ast.Subscript):
        return value.value
    is_call = isinstance(value, ast.Call) and getattr(value.func, "attr", "") in ("reshape", "ravel")
    return value.func.value if is_call else None


def _read(node, found, stored=False):
    """Add to `found` the names whose numbers a node uses, and not only their sizes."""
    if isinstance(node, ast.Attribute):
        if node.attr in _SIZES:
            return
        if isinstance(node.value, ast.Name):
            found.add(f"{node.value.id}.{node.attr}")
            found.add(node.value.id)
            return
    if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in _OF_SIZES:
        return
    if isinstance(node, ast.Name):
        if stored or isinstance(node.ctx, ast.Load):
            found.add(node.id)
        return
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return
    for child in ast.iter_child_nodes(node):
        _read(child, found, stored)


@functools.lru_cache(maxsize=64)
def _statements(path, source):
    """Return by line the innermost statement that it belongs to."""
    found = {}

    def visit(node, loop=None, in_if=False):
        if isinstance(node, ast.stmt):
            statement = Statement(node, loop, in_if)
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            last = body[0].lineno - 1 if body and hasattr(body[0], "lineno") else node.end_lineno
            # A decorated function's code begins at its first decorator.
            first = min(item.lineno for item in (node, *getattr(node, "decorator_list", ())))
            for line in range(first, max(last, node.lineno) + 1):
                found[line] = statement
        inside = statement if isinstance(node, (ast.For, ast.While)) else loop
        asked = inside is not None and (in_if or isinstance(node, ast.If))
        if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):  # its rounds are calls of its own
            inside, asked = None, False
        for child in ast.iter_child_nodes(node):
            visit(child, inside, asked)

    try:
        visit(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError):  # cells with magics, files that have changed
        return {}
    return found


def statement_at(path: str, line: int) -> Statement | None:
    """Return the statement that a line of a file or cell belongs to, or None where its source can't be had."""
    return _statements(path, "".join(linecache.getlines(path))).get(line)


def lines_that_set(name: str, path: str, line: int) -> list[int]:
    """Return the lines of a class, around one of its own, that set an attribute of `self`."""
    source = "".join(linecache.getlines(path))
    if line not in _statements(path, source):  # it can't be read
        return []
    classes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)]
    around = [node for node in classes if node.lineno <= line <= (node.end_lineno or 0)]
    targets = (target for node in around for target in _assigned_in(node))
    return sorted({target.lineno for target in targets if isinstance(target, ast.Attribute) and target.attr == name})


def _assigned_in(tree):
    assignments = (node for node in ast.walk(tree) if isinstance(node, ast.Assign))
    return [target for assignment in assignments for target in assignment.targets]


def statements_of(code: CodeType) -> list[Statement]:
    """Return the statements of a function's code after its first line, in their order."""
    numbers = sorted({number for _, _, number in code.co_lines() if number and number > code.co_firstlineno})
    found = (statement_at(code.co_filename, number) for number in numbers)
    return list(dict.fromkeys(match for match in found if match is not None))


def n_statements(code: CodeType) -> int:
    """Count the statements that a function's code was made of, those of functions inside it left out."""
    path = code.co_filename
    lines = {number for _, _, number in code.co_lines() if number and number > code.co_firstlineno}
    return len({statement_at(path, number) for number in lines} - {None})
