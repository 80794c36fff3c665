"""Looking into a function: its text, its code, the names that it uses."""

import ast
import contextlib
import dis
import functools
import inspect
import linecache
import traceback
import types
import warnings
from collections.abc import Callable, Collection

import numpy as np

MAX_WRAPPERS = 8  # one round another: they may go round in circles


def as_written(function: Callable) -> Callable:
    """Return the function that somebody wrote: without what decorates it, binds its arguments, or calls it.

    Parameters
    ----------
    function : callable
        Also a method, an object that can be called, or a `functools.partial`.
    """
    for _ in range(MAX_WRAPPERS):
        if isinstance(function, functools.partial):
            function = function.func
        elif wrapped := inspect.getattr_static(function, "__wrapped__", None):
            function = wrapped
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif isinstance(inspect.getattr_static(type(function), "__call__", None), types.FunctionType):
            function = type(function).__call__
    return function


def source_of(function: Callable) -> str:
    """Return the text of a function, where it can be had."""
    code = code_of(function)
    try:
        return _text(code, code.co_filename) if code and is_current(code) else ""
    except Exception:  # whatever comes of a file that is gone, or has changed since
        return ""


def is_current(code: types.CodeType) -> bool:
    """Tell whether the text that can be had of a code object is the one that runs.

    A file may have been edited since it was imported. IPython's `%autoreload` exchanges a function's code for one that
    counts its lines from 1, so that they are some other lines of the file.
    """
    path = code.co_filename
    return (code.co_firstlineno, code.co_name, code.co_code) in _codes_in(path, "".join(linecache.getlines(path)))


@functools.lru_cache(64)
def _codes_in(path, text):
    """Return the first line, the name and the instructions of all code in a text."""
    found, following = set(), []
    with contextlib.suppress(SyntaxError, ValueError, RecursionError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # A cell may await outside of any function.
        following.append(compile(text, path, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True))
    for code in following:  # it grows on the way
        found.add((code.co_firstlineno, code.co_name, code.co_code))
        following += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return found


@functools.lru_cache(64)  # several readers ask for it, one after another
def _text(code, filename):
    """Return the text of a code object; others may equal it, in other files."""
    return inspect.getsource(code)


def code_of(function: Callable) -> types.CodeType | None:
    return function.__code__ if isinstance(function, types.FunctionType) else None


@functools.lru_cache(256)
def global_names(code: types.CodeType) -> set[str]:
    """Return the names that a function's code, and what is defined in it, takes from its module."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return names.union(*map(global_names, inner))


def outside_arrays(function: Callable) -> list[str]:
    """Name the arrays that a function takes from around it and not from its arguments."""
    code = code_of(function)
    if code is None:
        return []
    return sorted(name for name in global_names(code) if isinstance(function.__globals__.get(name), np.ndarray))


def other_arguments(function: Callable, names: Collection[str]) -> list[str]:
    """Return the arguments in a function's first line, if it has all of these names, and not as its first ones."""
    code = code_of(function)
    theirs = list(code.co_varnames[: code.co_argcount]) if code else []
    return theirs if set(names) <= set(theirs) and theirs[: len(names)] != list(names) else []


def other_defaults(function: Callable, reference: Callable) -> dict[str, tuple]:
    """Return the parameters that have another default than a reference's, by name: their default, and the reference's.

    Examples
    --------
    >>> other_defaults(lambda rows, start=1: rows, lambda rows, start=0: rows)
    {'start': (1, 0)}
    """
    ours = _defaults(reference)
    pairs = {name: (default, ours[name]) for name, default in _defaults(function).items() if name in ours}
    return {name: pair for name, pair in pairs.items() if repr(pair[0]) != repr(pair[1])}


def _defaults(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except Exception:  # of what is written in C, and whatever a strange object raises
        return {}
    return {item.name: item.default for item in parameters if item.default is not item.empty}


def last_line(error: BaseException, function: Callable) -> tuple[int, str]:
    """Return the number and the text of a function's last line that was reached: (0, "") where that is hidden.

    Parameters
    ----------
    error : BaseException
    function : callable
        Somebody's; lines of the file or cell that defines it count.
    """
    code = code_of(as_written(function))
    number, line = 0, ""
    for frame, place in traceback.walk_tb(error.__traceback__):
        if code is not None and frame.f_code.co_filename == code.co_filename:
            number = place
            line = linecache.getline(code.co_filename, place).strip() if is_current(frame.f_code) else ""
    return number, line


def does_nothing(function: Callable) -> bool:
    """Tell whether a function's body is empty: it only returns a constant, or passes."""
    code = code_of(function)
    idle = {"RESUME", "NOP", "POP_TOP", "LOAD_CONST", "LOAD_SMALL_INT", "STORE_FAST", "RETURN_CONST", "RETURN_VALUE"}
    return code is not None and all(step.opname in idle for step in dis.get_instructions(code))


# What the compiler does differently where a module's function is typed into a notebook: it calls np.exp otherwise
# where it has not seen the import.
_SAME = {"LOAD_METHOD": "LOAD_ATTR"}
_OF_NO_MEANING = {"CACHE", "NOP", "PRECALL", "PUSH_NULL", "RESUME"}


def same_code(function: Callable, other: Callable) -> bool:
    """Tell whether two functions are the same but for comments, blanks and where they stand."""

    def steps(code):
        for step in dis.get_instructions(code):
            if step.opname not in _OF_NO_MEANING:
                jumps = step.opcode in dis.hasjrel or step.opcode in dis.hasjabs
                inner = list(steps(step.argval)) if isinstance(step.argval, types.CodeType) else step.argval
                yield _SAME.get(step.opname, step.opname), None if jumps else inner

    codes = code_of(function), code_of(other)
    return None not in codes and list(steps(codes[0])) == list(steps(codes[1]))


def shortened(text: str, longest: int = 300) -> str:
    """Cut a text that is too long after its last whole word."""
    if len(text) <= longest:
        return text
    words, _, rest = text[:longest].rpartition(" ")
    return f"{words} ..." if words else f"{rest}..."
