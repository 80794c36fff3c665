"""Turning what went wrong in a learner's function into one clear sentence."""

import dis
import linecache
import types

import numpy as np

# What Python says, and what usually lies behind it; the first match counts.
LIKELY_CAUSES = (
    ("positional argument", "the function's first line takes other arguments than the exercise asks for."),
    ("unexpected keyword", "the function's first line takes other arguments than the exercise asks for."),
    ("name 'np' is not defined", "the set-up cell has not been run; run it, then this cell again."),
    ("is not defined", "a name is misspelt, or the cell that defines it has not been run."),
    ("out of bounds for array of dimension", "an axis is counted from the front; the last axis is axis=-1."),
    ("could not be broadcast", "a sum or a maximum has lost its axis; keepdims=True keeps it."),
    ("shapes for matrix multiplication", "a transpose is missing: (..., n, d) @ (..., d, m) needs equal inner axes."),
    ("mismatch in its core dimension", "a transpose is missing: (..., n, d) @ (..., d, m) needs equal inner axes."),
    ("not aligned", "a transpose is missing: (..., n, d) @ (..., d, m) needs equal inner axes."),
    ("values to unpack", "`.shape` has more entries than expected: there may be batch axes in front; use shape[-1]."),
    ("inhomogeneous", "the result is built from rows of different lengths."),
    ("maximum recursion depth", "the function calls itself."),
    ("math range error", "exp of a large score overflows; subtract the row's largest score first."),
    ("out of range", "an index or a power is larger than there is room for."),
    ("division by zero", "a sum of weights is 0; for large scores, subtract the row's largest score before exp."),
    ("truth value of an array", "`if` or `and` was given a whole array; compare with .any(), .all() or np.where."),
    ("only 0-dimensional arrays", "a function for single numbers (math.exp, float) was given an array; use NumPy's."),
    ("only length-1 arrays", "a function for single numbers (math.exp, float) was given an array; use NumPy's."),
    ("NoneType", "something that was used as an array is None: is a `return` missing in one of your functions?"),
    ("ellipsis", "something that was used as an array is still `...`: an earlier exercise is a stub."),
)


def shapes_of(arguments):
    """Say which arrays a function was called with: `queries (2, 3, 4), keys (2, 5, 4)`."""
    return ", ".join(f"{name} {array.shape}" for name, array in arguments.items())


def describe_error(error, function):
    """Return what Python said, where in the learner's code, and the likely cause."""
    said = str(error).strip().splitlines()
    text = f"Python said {type(error).__name__}" + (f": {said[0]}" if said else "")
    line = _failing_line(error, function)
    text += f", in the line `{line}`." if line else "."
    causes = (cause for phrase, cause in LIKELY_CAUSES if phrase in str(error))
    cause = next(causes, None)
    return f"{text} Likely cause: {cause}" if cause else text


def _failing_line(error, function):
    code = getattr(function, "__code__", None)
    line, traceback = "", error.__traceback__
    while code is not None and traceback is not None:
        if traceback.tb_frame.f_code.co_filename == code.co_filename:
            line = linecache.getline(code.co_filename, traceback.tb_lineno).strip()
        traceback = traceback.tb_next
    return line


def outside_arrays(function):
    """Name the arrays that a function takes from the notebook around it and not from its arguments."""
    namespace = getattr(function, "__globals__", {})
    return sorted(
        name
        for name in _global_names(getattr(function, "__code__", None))
        if isinstance(namespace.get(name), np.ndarray)
    )


def _global_names(code):
    if code is None:
        return set()
    names = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return names.union(*map(_global_names, inner))


def does_nothing(function):
    """Tell whether a function's body is empty: it only returns a constant, or passes."""
    code = getattr(function, "__code__", None)
    idle = {"RESUME", "NOP", "POP_TOP", "LOAD_CONST", "LOAD_SMALL_INT", "STORE_FAST", "RETURN_CONST", "RETURN_VALUE"}
    return code is not None and all(step.opname in idle for step in dis.get_instructions(code))


def first_difference(name, got, wanted, different):
    """Show the first cell in which two arrays of one shape differ."""
    cell = tuple(int(i) for i in np.argwhere(different)[0])
    ours, yours = float(wanted[cell]), float(got[cell])
    digits = next((d for d in range(4, 12) if f"{ours:.{d}f}" != f"{yours:.{d}f}"), 12)
    place = f"{name}[{', '.join(map(str, cell))}]"
    return f"{place} should be {ours:.{digits}f}; yours is {yours:.{digits}f}."
