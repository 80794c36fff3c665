"""Looking into a function: its text, its code, the names that it uses."""

import dis
import functools
import inspect
import linecache
import traceback
import types
from collections.abc import Callable, Collection

import numpy as np


def source_of(function: Callable) -> str:
    """Return the text of a function, where it can be had."""
    code = code_of(function)
    try:
        return _text(code, code.co_filename) if code else ""
    except Exception:  # whatever comes of a file that is gone, or has changed since
        return ""


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


def last_line(error: BaseException, function: Callable) -> tuple[int, str]:
    """Return the number and the text of a function's last line that was reached: (0, "") where that is hidden.

    Parameters
    ----------
    error : BaseException
    function : callable
        Somebody's; lines of the file or cell that defines it count.
    """
    code = code_of(function)
    number, line = 0, ""
    for frame, place in traceback.walk_tb(error.__traceback__):
        if code is not None and frame.f_code.co_filename == code.co_filename:
            number, line = place, linecache.getline(code.co_filename, place).strip()
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
