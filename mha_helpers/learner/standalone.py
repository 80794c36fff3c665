"""A learner's function as text that runs by itself: with its imports, its numbers, its helpers and its classes.

What a text takes from around it is asked of Python's own symbol table; what each name stands for, of the function.
Annotations count for nothing: they are not evaluated where the text runs (`from __future__ import annotations`).
"""

import ast
import functools
import linecache
import math
import symtable
import sys
import textwrap
import types

import numpy as np

FIRST_LINE = "from __future__ import annotations"
MAX_ENTRIES = 1000  # of an array; a larger one belongs in a file
AS_WRITTEN = (bool, int, str, bytes, range, slice, type(None), type(...))
COURSE = __name__.partition(".")[0]


class NotStandaloneError(ValueError):
    """Something that a function needs can't be written down. The text says what, after "as"."""


def standalone(function, name):
    r"""Return a function, and all of the learner's that it needs, as text that runs by itself.

    Parameters
    ----------
    function : callable
        A function, a lambda, a partial, a method, or an object of a class with `__call__`.
    name : str
        What to call it where it has no name of its own.

    Returns
    -------
    source, name : str
        The text, and what it calls the function.

    Raises
    ------
    NotStandaloneError
        If something in it can't be written down.

    Examples
    --------
    >>> import functools
    >>> print(*standalone(functools.partial(math.pow, 2), "powers_of_2"), sep="\n# ")
    from __future__ import annotations
    import functools as functools
    from math import pow as pow
    <BLANKLINE>
    powers_of_2 = functools.partial(pow, 2)
    # powers_of_2
    """
    own = _undecorated(function)
    if isinstance(own, types.FunctionType) and own.__name__ != "<lambda>":
        name = own.__name__
    text = _Text()
    text.bind(name, function)
    return "\n".join([FIRST_LINE, *text.imports, "", *text.statements]).rstrip("\n") + "\n", name


def is_courses(function):
    """Tell whether a function is the course's rather than a learner's."""
    function = _undecorated(function)
    return _is_in_course(function if hasattr(function, "__name__") else type(function))


def _is_in_course(value):
    return str(getattr(value, "__module__", None)).partition(".")[0] == COURSE


def _undecorated(function):
    """Return the function under the decorators: its text has the decorators in it."""
    while (inner := getattr(function, "__wrapped__", None)) is not None:
        code, wrapper = getattr(inner, "__code__", None), getattr(function, "__globals__", {})
        is_decorated = code is not None and getattr(_node(code), "decorator_list", None)
        if not is_decorated and wrapper.get("__name__", "").partition(".")[0] != COURSE:
            break  # `softmax = timed(softmax)`
        function = inner
    return function


class _Text:
    """A text being written: what each name in it stands for, and the statements in an order that runs."""

    def __init__(self):
        self.imports, self.statements = [], []
        self._values = {}

    def bind(self, name, value):
        """Write the statement that binds a name to a value, once."""
        if name in self._values:
            if not _are_same(self._values[name], value):
                raise NotStandaloneError(f"it uses two different things that are called `{name}`")
            return
        self._values[name] = value
        value = _undecorated(value)
        if isinstance(value, types.ModuleType):
            self.imports.append(f"import {value.__name__} as {name}")
        elif place := _place(value, name):
            self.imports.append(f"from {place[0]} import {place[1]} as {name}")
        elif isinstance(value, types.FunctionType):
            self._define(name, value, _node(value.__code__), _surroundings(value))
        elif isinstance(value, type):
            self._define(name, value, *_class_node(value))
        elif _has_own_class(value):
            self._remake(name, value)
        else:
            self.statements.append(f"{name} = {self._expression(value, name)}")

    def _define(self, name, value, node, surroundings):
        if node is None:
            raise NotStandaloneError(
                f"the text of `{name}` can't be found: write it in a cell of its own, without %%time"
            )
        text = _text_of(node)
        for needed in sorted(_names_from_outside(text)):
            if needed in surroundings:
                self.bind(needed, surroundings[needed])
        if isinstance(node, ast.Lambda):
            self.statements.append(f"{name} = {text}")
            return
        self.statements.append(f"{text}\n")
        if node.name != name:
            self.statements.append(f"{name} = {node.name}")

    def _remake(self, name, instance):
        """Write an object of the learner's class as it is now; its `__init__` isn't run again."""
        made = self._expression(type(instance), name)
        if not hasattr(instance, "__dict__"):
            raise NotStandaloneError(f"`{name}`, a {type(instance).__name__}, has slots")
        attributes = self._expression(dict(vars(instance)), name)
        self.statements += [f"{name} = object.__new__({made})", f"vars({name}).update({attributes})"]

    def _expression(self, value, name):
        """Return an expression that recreates a value; what it needs is written before it."""
        make = functools.partial(self._expression, name=name)
        return _literal(value, make) or _call(value, make) or self._name_of(value, name)

    def _name_of(self, value, name):
        """Return a name that a value is bound to, in the text from now on."""
        own_name = str(getattr(value, "__name__", "")).rpartition(".")[2]
        is_lambda = not own_name.isidentifier()
        if isinstance(value, types.ModuleType | types.FunctionType | type) or _place(value, own_name):
            own_name = f"lambda_{len(self._values)}" if is_lambda else own_name
        elif _has_own_class(value):
            own_name = f"{type(value).__name__.lower()}_{len(self._values)}"
        else:
            raise NotStandaloneError(
                f"`{name}`, a {type(value).__name__}, can't be written down: make it inside the function"
            )
        self.bind(own_name, value)
        return own_name


def _literal(value, make):
    """Return a value as Python writes it, None if it doesn't; `make` writes its parts."""
    kind = type(value)
    if kind in AS_WRITTEN:
        return repr(value)
    if kind is float:
        return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
    if kind is complex:
        return f"complex({make(value.real)}, {make(value.imag)})"
    if kind in (list, tuple, set, frozenset):
        return f"{kind.__name__}([{', '.join(map(make, value))}])"
    if kind is dict:
        return "{" + ", ".join(f"{make(key)}: {make(entry)}" for key, entry in value.items()) + "}"
    return None


def _call(value, make):
    """Return the call that makes NumPy's numbers, types and arrays, a partial or a method; None for all else."""
    kind = type(value)
    if isinstance(value, np.dtype) and not value.hasobject:
        return f"{make(np)}.dtype({value.str!r})"
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return f"{make(value.dtype)}.type({make(value.item())})"
    if kind is np.ndarray and value.dtype.kind in "biufc" and value.size <= MAX_ENTRIES:
        return f"{make(np)}.array({make(value.tolist())}, {make(value.dtype)})"
    if kind is functools.partial:
        arguments = [*map(make, value.args), *(f"{key}={make(entry)}" for key, entry in value.keywords.items())]
        return f"{make(functools)}.partial({', '.join([make(value.func), *arguments])})"
    if kind is types.MethodType:
        return f"{make(value.__self__)}.{value.__name__}"
    return None


def _are_same(first, second):
    if first is second:
        return True
    return type(first) is type(second) and type(first) in (*AS_WRITTEN, float) and repr(first) == repr(second)


# ---- where something comes from --------------------------------------------------------------


def _place(value, name):
    """Return the installed module that has a value, and what it calls it; None for what is the learner's own."""
    if type(value) in (*AS_WRITTEN, float, complex, list, tuple, dict, set, frozenset):
        return None
    own = getattr(value, "__module__", None), getattr(value, "__name__", None)
    public = [(module, name) for module in list(sys.modules) if not module.startswith("_") and "._" not in module]
    for module, called in [own, *public] if isinstance(own[1], str) else public:
        found = sys.modules.get(module) if isinstance(module, str) else None
        if found is not None and getattr(found, "__dict__", {}).get(called) is value and _is_installed(module):
            return module, called
    return None


def _is_installed(module):
    top = module.partition(".")[0]
    file = getattr(sys.modules.get(top), "__file__", None) or ""
    return top in (*sys.stdlib_module_names, COURSE) or "site-packages" in file or "dist-packages" in file


def _has_own_class(value):
    return not isinstance(value, type) and _class_node(type(value))[0] is not None


def _surroundings(function):
    """Return what a function sees around it, by name."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    filled = {}
    for name, cell in cells:
        try:
            filled[name] = cell.cell_contents
        except ValueError:  # nothing has been put into it yet
            continue
    return function.__globals__ | filled


# ---- its text --------------------------------------------------------------------------------


def _node(code):
    """Return the syntax tree of a function, None where its text can't be found."""
    first, last = code.co_firstlineno, max(line for *_, line in code.co_lines() if line)
    kinds = ast.Lambda if code.co_name == "<lambda>" else (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [
        node
        for node in ast.walk(_tree(code.co_filename))
        if isinstance(node, kinds) and getattr(node, "name", "<lambda>") == code.co_name
    ]
    there = [node for node in found if _first_line(node) == first and last <= node.end_lineno]
    if len(there) > 1:  # two lambdas in one line, one perhaps inside the other
        steps = [step for step in code.co_positions() if None not in step and step[2] < step[3]]
        there = [node for node in there if all(_is_within(step, node.body) for step in steps)]
        there = sorted(there, key=lambda node: (-node.lineno, -node.col_offset))[:1]
    return there[0] if len(there) == 1 else None


def _is_within(step, node):
    first, last, begin, end = step
    return (node.lineno, node.col_offset) <= (first, begin) and (last, end) <= (node.end_lineno, node.end_col_offset)


def _class_node(kind):
    """Return the syntax tree of a class and what its methods see around them; (None, {}) where that can't be found."""
    for value in list(vars(kind).values()):
        method = getattr(value, "__func__", getattr(value, "fget", value))
        if isinstance(method, types.FunctionType) and method.__qualname__ == f"{kind.__qualname__}.{method.__name__}":
            for node in ast.walk(_tree(method.__code__.co_filename)):
                if (
                    isinstance(node, ast.ClassDef)
                    and node.name == kind.__name__
                    and node.lineno <= method.__code__.co_firstlineno <= node.end_lineno
                ):
                    return node, _surroundings(method)
    return None, {}


def _tree(file):
    linecache.checkcache(file)
    return _parsed("".join(linecache.getlines(file)))


@functools.lru_cache(16)
def _parsed(text):
    """Return the syntax tree of a cell or a file; the tree knows its text."""
    try:
        tree = compile(text, "", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError):
        return ast.Module([], [])
    for node in ast.walk(tree):
        node.text = text
    return tree


def _first_line(node):
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])


def _text_of(node):
    if isinstance(node, ast.Lambda):
        return f"({ast.get_source_segment(node.text, node)})"
    text = "\n".join(node.text.splitlines()[_first_line(node) - 1 : node.end_lineno])
    return textwrap.dedent(text) if node.col_offset else text


def _names_from_outside(text):
    """Return the names that a statement or an expression takes from around it."""
    try:
        tables = [symtable.symtable(f"{FIRST_LINE}\n{text}", "", "exec")]
    except SyntaxError as error:  # a text taken out of a function, such as one with `nonlocal`
        raise NotStandaloneError(f"it doesn't stand alone ({error.msg})") from None
    bound = {symbol.get_name() for symbol in tables[0].get_symbols() if symbol.is_assigned()}
    taken = set()
    for table in tables:
        taken |= {each.get_name() for each in table.get_symbols() if each.is_global() and each.is_referenced()}
        tables += table.get_children()
    return taken - bound
