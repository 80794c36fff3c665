"""Reading somebody's code for causes that a wrong answer alone doesn't show, such as a line that has no effect.

The functions of the same notebook that it calls are read, too.
"""

import ast
import contextlib
import functools
import inspect
import itertools
import re
import textwrap
import types
from collections.abc import Callable

import numpy as np

from function_judge.returned import ONE_LIST
from function_judge.source import code_of, global_names, shortened, source_of
from function_judge.statements import statement_at

# What returns a new array, or a view, and leaves the one that it is given as it was.
_RETURN_ANOTHER = {
    "astype", "copy", "expand_dims", "moveaxis", "reshape", "squeeze", "swapaxes", "transpose", "tril", "triu",
}  # fmt: skip
# NumPy's functions that change something, and those with which somebody may only have had a look.
_CHANGE = ("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "save", "seterr", "set_printoptions")
_LOOK = ("all", "allclose", "any", "array_equal", "max", "mean", "min", "ndim", "shape", "size", "std", "sum", "var")
_INFINITE = {"np.inf", "math.inf", "float('inf')", "float('-inf')"}
_NOT_KEPT = "its result isn't kept. Assign it to a name, or to a part of an array."


def certain_cause(function: Callable) -> tuple[str | None, str | None]:
    """Find what cannot be right, whatever else may be wrong.

    Parameters
    ----------
    function : callable
        The learner's.

    Returns
    -------
    slug, sentence : str, or None and None
    """
    readers = {"wrong-condition": _used_where_none, "one-list-for-all-rows": _one_list}
    definitions = _definitions(function)
    found = ((slug, read(definition)) for slug, read in readers.items() for definition in definitions)
    return next((pair for pair in found if pair[1]), (None, None))


def thrown_away(function: Callable) -> str | None:
    """Say of a line that computes something and doesn't keep it that it has no effect; None without such a line."""
    for definition in filter(_gives_something, _definitions(function)):  # elsewhere it is the `return` that is missing
        for line in _inside(definition):
            why = _not_kept(line.value, function) if isinstance(line, ast.Expr) else None
            if why:
                return f"{_no_effect(line)} {why}"
    return None


def overwritten(function: Callable) -> str | None:
    """Say of a line that it gives a name that stands for something already to something that nothing uses."""
    for definition in filter(_gives_something, _definitions(function)):
        for line in _unused(definition):
            name = line.targets[0].id
            if any(_binds(loop, name) for loop in _loops_around(line, definition)):
                return (
                    f"{_no_effect(line)} it gives the name `{name}` to something new, and what you loop over stays as "
                    "it was. Write into that, by its index: a[i] = ..."
                )
            if _is_bound_before(line, definition):
                return f"{_no_effect(line)} `{name}` isn't used after it."
    return None


def never_used(function: Callable) -> str | None:
    """Say of a line that computes more than a size that nothing uses it; None without such a line."""
    # Of sizes that are unpacked together, `batch, n, d = X.shape`, not all need to be used.
    of_sizes = re.compile(r"\w+\.(shape|ndim|size)\b|\blen\(\w+\)|\b(np|math)\.\w+")
    for definition in filter(_gives_something, _definitions(function)):
        for line in _unused(definition):
            text = ast.unparse(line.value)
            if (
                isinstance(line.value, ast.BinOp | ast.Call)
                and re.search("[a-z]", of_sizes.sub("", text))
                and "//" not in text
            ):
                return f"{_no_effect(line)} `{line.targets[0].id}` isn't used after it."
    return None


def return_in_loop(function: Callable) -> str | None:
    """Say of a loop that it returns in its first round; None where each goes on."""
    for node in (node for definition in _definitions(function) for node in ast.walk(definition)):
        # Under an `if` a `return` may well end a loop early, so only one that stands in the loop itself counts.
        if isinstance(node, ast.For | ast.While) and any(isinstance(line, ast.Return) for line in node.body):
            return "A `return` stands inside the loop, which ends there in its first round. Move it out, to the left."
    return None


def zero_times_infinity(function: Callable) -> str | None:
    """Say of a product with infinity that it is NaN where it meets a 0; None without such a product."""
    for product in (node for definition in _definitions(function) for node in ast.walk(definition)):
        match product:
            case ast.BinOp(left, ast.Mult(), right):
                # A plain number or np.ones times infinity is a way to write infinity: nothing there is 0.
                sides = {ast.unparse(side).lstrip("-") for side in (left, right)}
                if sides & _INFINITE and not any(re.fullmatch(r"[\d.]+|np\.ones.*", side) for side in sides):
                    return (
                        f"`{shortened(ast.unparse(product))}` holds NaN, because 0 * inf is NaN. Instead of "
                        "multiplying, choose: np.where(condition, a, -np.inf)."
                    )
    return None


def no_return(function: Callable) -> str | None:
    """Say of a function of the learner's own that it has no `return`, though its result is used; None without one."""
    definitions = _definitions(function)
    for definition in definitions:
        # A helper that is only called, on a line of its own, needs no `return`: it may write into what it is given.
        alone = {line.value.func for line in _inside(definition) if _is_call_alone(line)}
        used = {name.id for name in _names(ast.walk(definition)) if name not in alone}
        for helper in definitions:
            if helper.name in used and not _gives_something(helper):
                return f"`{helper.name}` has no `return`, so what it gives is None."
    return None


def why_none(function: Callable) -> str:
    """Ask what is wrong with the `return` of a function that returned None."""
    own = _definitions(function)[:1]
    for line in (line for definition in own for line in _inside(definition)):
        match line:
            case (
                ast.Return(ast.Call(ast.Attribute(ast.Name(owner), name) as called))
                | ast.Assign(value=ast.Call(ast.Attribute(ast.Name(owner), name) as called))
            ) if _gives_none(owner, name):
                return f"{ast.unparse(called)} changes what it is given, and returns None. Return the array itself."
            case ast.Return(ast.Call(ast.Name("print"))):
                return "print only shows something, and returns None. Return the array itself."
    if any(map(_gives_something, own)):
        return "is its `return` inside an `if` or a loop, or is the returned value itself None?"
    return "is the `return` line missing?"


def _definitions(function):
    """Return the definitions of a learner's function, of those in it, and of those beside it that it calls."""
    # What stands in another module was written for something else, and is right as far as anybody knows.
    functions = [function]
    for item in functions:  # it grows on the way
        names = global_names(code_of(item)) if code_of(item) else ()
        called = (item.__globals__.get(name) for name in names)
        functions += [
            other
            for other in called
            if isinstance(other, types.FunctionType)
            and other.__globals__ is item.__globals__
            and other not in functions
        ]
    return [node for entry in functions for node in _defined_in(source_of(entry))]


@functools.lru_cache(64)  # each hint asks for them
def _defined_in(text):
    """Return all definitions in a text, the outermost first: none in a lambda that is cut out of its line."""
    try:
        tree = ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def _inside(definition):
    """Return all that stands in a function, but not what stands in the functions in it."""
    nodes = list(definition.body)
    for node in nodes:  # it grows on the way
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            nodes += ast.iter_child_nodes(node)
    return nodes


def _names(nodes, kind=ast.Load):
    """Return the names that are read, or written, among some nodes."""
    return [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, kind)]


def _written_into(nodes):
    """Return what stands before the brackets wherever something is written into them: `a` of `a[i] = 0`."""
    return [node.value for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)]


def _is_call_alone(line):
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Call)


def _parameters(definition):
    return {argument.arg for argument in ast.walk(definition.args) if isinstance(argument, ast.arg)}


def _gives_something(definition):
    found = (node for node in _inside(definition) if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom))
    return any(node.value is not None for node in found)


def _gives_none(owner, name):
    """Tell whether a function changes an array or a list in place; np.sort and np.append make a new array."""
    return name in ("fill_diagonal", "copyto") if owner == "np" else name in ("sort", "append", "extend", "fill")


def _used_where_none(definition):
    """Say of an argument that it is used only where it is None."""
    nodes = list(ast.walk(definition))
    # `if row is None: row = ...` gives it a value there, and uses that afterwards.
    arguments = _parameters(definition) - {name.id for name in _names(nodes, ast.Store)}
    for node in (node for node in nodes if isinstance(node, ast.If | ast.IfExp)):
        asked, steps = _taken_where_none(node)
        if asked is None or asked.id not in arguments:
            continue
        uses = {name for name in _names(nodes) if name.id == asked.id} - {asked}
        if uses and uses <= set(itertools.chain.from_iterable(map(ast.walk, steps))):
            return (
                f"You use `{asked.id}` only where it is None, so one that is given changes nothing. Turn the condition "
                f"`{ast.unparse(node.test)}` round."
            )
    return None


def _taken_where_none(condition):
    """Return the name that a condition compares with None, and what runs where it is None; None and () otherwise."""
    match condition.test:
        case ast.Compare(ast.Name() as asked, [ast.Is() | ast.IsNot() as how], [ast.Constant(None)]):
            steps = condition.body if isinstance(how, ast.Is) else condition.orelse
            return asked, steps if isinstance(steps, list) else [steps]
    return None, ()


def _one_list(definition):
    """Say of rows that are written into that they are one and the same list."""
    # Rows that are exchanged as a whole, `rows[i] = ...`, may be one list at first; single cells show the fault.
    nodes = list(ast.walk(definition))
    rows = {ast.unparse(part) for part in _written_into(nodes)}
    cells = {ast.unparse(part.value) for part in _written_into(nodes) if isinstance(part, ast.Subscript)}
    hints = (_multiplied_rows(node, cells - rows) or _appended_each_round(node) for node in nodes)
    return next(filter(None, hints), None)


def _multiplied_rows(node, written):
    """Say of `[[0] * n] * n`, if single cells are written into, that it is one row."""
    match node:
        case ast.Assign([ast.Name(name)], ast.BinOp(ast.List(), ast.Mult()) | ast.BinOp(_, ast.Mult(), ast.List())):
            return ONE_LIST if name in written else None
    return None


def _appended_each_round(node):
    """Say of a loop that it appends a row that it writes into, and never makes a new one."""
    if not isinstance(node, ast.For | ast.While):
        return None
    nodes = list(ast.walk(node))
    # A row that is appended and never written into may be the same one on purpose.
    changed = {part.id for part in _written_into(nodes) if isinstance(part, ast.Name)}
    changed -= {name.id for name in _names(nodes, ast.Store)}  # those are new in each round
    row = next((row for row in map(_appended, nodes) if row in changed), None)
    return row and (
        f"Each round appends one and the same `{row}`, so all rows end up alike. Make a new one in each round, or "
        f"append {row}.copy()."
    )


def _appended(node):
    """Return the name that a call of `append` puts at the end of a list."""
    match node:
        case ast.Call(ast.Attribute(_, "append"), [ast.Name(name)]):
            return name
    return None


def _no_effect(line):
    return f"The line `{shortened(ast.unparse(line))}` has no effect:"


def _not_kept(value, function):
    """Say why an expression has no effect as a line of its own; None where it has one, or may only be a look."""
    match value:
        # Others are tests left behind.
        case ast.Compare(ast.Name() | ast.Subscript(ast.Name() | ast.Subscript(ast.Name())), [ast.Eq()]):
            return "== only compares. An assignment has a single =."
        case ast.Call(ast.Attribute(ast.Name("np"), name)) if name in _LOOK or _may_change(name, value):
            return None
        case ast.Call(ast.Attribute(ast.Name("np"), name) as called, [ast.Name(array), *_]) if name in (
            *_RETURN_ANOTHER,
            "sort",
        ):
            pass
        case ast.Call(ast.Attribute(ast.Name(array), name) as called) if (
            name in _RETURN_ANOTHER and array != "np" and hasattr(np.ndarray, name)
        ):
            pass
        case ast.BinOp() | ast.Attribute(_, "T" | "mT") | ast.Call(ast.Attribute(ast.Name("np"))):
            return _NOT_KEPT
        case ast.Call(ast.Attribute(_, name)) if name in _RETURN_ANOTHER:
            return _NOT_KEPT
        case ast.Call(ast.Name(name)) if _only_returns(name, function):
            return _NOT_KEPT
        case _:
            return None
    return (
        f"{name} returns a new array, and {array} stays as it was. Keep the new one: "
        f"{array} = {ast.unparse(called)}(...)."
    )


def _may_change(name, call):
    """Tell whether a call of one of NumPy's functions may change what it is given."""
    function, arguments = getattr(np, name, None), {argument.arg for argument in call.keywords}
    if isinstance(function, np.ufunc):
        return len(call.args) > function.nin or "out" in arguments
    with contextlib.suppress(TypeError, ValueError):  # of what is written in C
        arguments |= {*inspect.signature(function).bind_partial(*call.args).arguments}
    return function is None or name in _CHANGE or bool(arguments & {"out", "copy"})


def _only_returns(name, function):
    """Tell whether a function, the learner's own or one of the course's, does nothing but return something."""
    known = [helper for helper in _definitions(function) if helper.name == name]
    if isinstance(imported := function.__globals__.get(name), types.FunctionType):
        known += _defined_in(source_of(inspect.unwrap(imported)))[:1]
    return bool(known) and _gives_something(known[0]) and not _has_an_effect(known[0])


def _has_an_effect(definition):
    """Tell whether a call may be wanted for something else than its result: it changes something, or refuses."""
    nodes = list(ast.walk(definition))
    updated = {ast.unparse(node.target) for node in nodes if isinstance(node, ast.AugAssign)}
    if updated & _parameters(definition) or _written_into(nodes):
        return True
    return any(
        isinstance(node, ast.Raise | ast.Assert)
        or (isinstance(node, ast.keyword) and node.arg == "out")
        or _is_call_alone(node)
        for node in nodes
    )


def _unused(definition):
    """Return the assignments to a single name that nothing uses."""
    found = [line for line in _inside(definition) if isinstance(line, ast.Assign) and len(line.targets) == 1]
    # `_` says itself that it isn't used; of `a, b = ...` one may be wanted without the other.
    found = [line for line in found if isinstance(line.targets[0], ast.Name) and line.targets[0].id != "_"]
    return [line for line in found if not _is_used(line, definition)]


def _loops_around(line, definition):
    """Return the loops in which a line stands, the innermost first."""
    loops = [node for node in ast.walk(definition) if isinstance(node, ast.For | ast.While)]
    return [loop for loop in loops if line in ast.walk(loop)][::-1]


def _binds(loop, name):
    return isinstance(loop, ast.For) and name in {target.id for target in _names(ast.walk(loop.target), ast.Store)}


def _is_bound_before(line, definition):
    """Tell whether an assignment gives another meaning to a name that has one already."""
    [target] = line.targets
    earlier = (name for name in _names(ast.walk(definition), ast.Store) if _place(name) < _place(target))
    return target.id in _parameters(definition) | {name.id for name in earlier}


def _is_used(line, definition):
    """Tell whether anything that may run after an assignment reads the name."""
    [target] = line.targets
    # What is kept outside of the function may be used there, in another call.
    nodes = set(ast.walk(definition)) - set(ast.walk(line))
    if any(isinstance(node, ast.Global | ast.Nonlocal) and target.id in node.names for node in nodes):
        return True
    updated = (node.target for node in nodes if isinstance(node, ast.AugAssign))
    reads = {*_names(nodes), *(name for name in updated if isinstance(name, ast.Name))}
    later = _may_run_later(line, definition, target.id)
    return any(read in later or _place(read) > _place(target) for read in reads if read.id == target.id)


def _may_run_later(line, definition, name):
    """Return what may run after a line although it stands above: inner functions, and the loops around the line.

    Only the loops that don't set the name anew in each round.
    """
    inner = {node for node in ast.walk(definition) if isinstance(node, ast.FunctionDef | ast.Lambda)}
    inner -= {definition, *ast.walk(line)}
    again = itertools.takewhile(lambda loop: not _binds(loop, name), _loops_around(line, definition))
    return {node for part in (*inner, *again) for node in ast.walk(part)}


def _place(node):
    return node.lineno, node.col_offset


def names_of_a_shape(path: str, line: int) -> list[str]:
    """Return the names that a line gives to the sizes of a shape, `batch, n, d = X.shape`, where none is starred.

    Parameters
    ----------
    path : str
    line : int

    Returns
    -------
    list of str
        Empty of any other line.
    """
    statement = statement_at(path, line)
    if statement is None or not statement.unpacks_a_shape:
        return []
    parts = statement.node.targets[0].elts
    return [part.id for part in parts] if all(isinstance(part, ast.Name) for part in parts) else []
