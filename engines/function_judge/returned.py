"""Saying what a call was given and what it returned."""

import types
from typing import Any

import numpy as np

from function_judge.call import Outcome

ONE_LIST = (
    "Several rows of your list are one and the same list: [[0] * n] * n repeats one row, and what is written into it "
    "shows in all of them. np.zeros((n, n)) has n separate rows."
)


def shapes_of(arguments: dict) -> str:
    """Say what a function was called with: `rows (2, 3, 4), places=[0, 2], scale=0.3`."""

    def shown(value):
        if isinstance(value, tuple):
            return f" ({', '.join(str(array.shape) for array in value)})"
        if not isinstance(value, np.ndarray):
            return f"={value}"
        # For a few places, such as [0, 2], the values say more than the shape.
        return f"={value.tolist()}" if value.ndim == 1 and value.dtype.kind == "i" else f" {value.shape}"

    return ", ".join(f"{name}{shown(value)}" for name, value in arguments.items())


def safe_repr(value: Any) -> str:
    """Show any object in at most 60 characters, even one whose own repr fails."""
    try:
        return repr(value)[:60]
    except Exception:
        return f"an object of type {type(value).__name__}"


def describe_returned(outcome: Outcome, outputs: tuple[str, ...]) -> str:
    """Say what was returned in place of the outputs, where it cannot be read as them.

    Parameters
    ----------
    outcome : Outcome
        Of a call that returned something, but not one array of numbers for each output.
    outputs : tuple of str
    """
    returned, return_line = outcome.returned, f"`return {', '.join(outputs)}`"
    return (
        _unfinished(returned, outputs)
        or _wrong_number_of_arrays(outcome, outputs, return_line)
        or _generator_or_function(returned, return_line)
        or _needs_detaching(returned)
        or _uneven(returned, outputs)
        or f"It returned {_type_of(returned)}, which cannot be read as numbers; {return_line}."
    )


def _unfinished(returned, outputs):
    """Say which outputs are still `...` or None, where the others are there."""
    if not isinstance(returned, tuple | list) or not len(returned) == len(outputs) > 1:
        return None
    unwritten = [name for name, part in zip(outputs, returned, strict=True) if _is_unwritten(part)]
    return f"Part of it is there; still to compute: {_listed(unwritten)}." if unwritten else None


def _wrong_number_of_arrays(outcome, outputs, return_line):
    returned = outcome.returned
    if _is_list_of_matrices(returned) and len(returned) != len(outputs) > 1:
        return f"Expected {len(outputs)}, {return_line}; got a list of {len(returned)}."
    if outcome.arrays is not None:
        got = "one array" if len(outcome.arrays) == 1 else f"{len(outcome.arrays)} arrays"
        return f"Expected {len(outputs)}, {return_line}; got {got}."
    if isinstance(returned, tuple) and len(outputs) == 1:
        return f"It returned {len(returned)} things; {return_line} and nothing else."
    return None


def _is_list_of_matrices(returned):
    return isinstance(returned, list) and any(isinstance(part, np.ndarray) and part.ndim > 1 for part in returned)


def _generator_or_function(returned, return_line):
    if isinstance(returned, types.GeneratorType):
        return f"It returned a generator, as a function with `yield` does; collect the parts and {return_line}."
    if callable(returned):
        return "It returned a function; are the brackets missing that call it?"
    return None


def _needs_detaching(returned):
    """Say of a tensor that records gradients that NumPy can't read it."""
    parts = returned if isinstance(returned, tuple | list) else (returned,)
    if not any(getattr(part, "requires_grad", None) is True for part in parts if hasattr(type(part), "detach")):
        return None
    return (
        f"It returned {_type_of(parts[0])} that records gradients, which NumPy can't read. Call .detach() on it: "
        "`return result.detach()`."
    )


def _uneven(returned, outputs):
    parts = [returned] if len(outputs) == 1 else returned
    described = map(_ragged, outputs, parts if isinstance(parts, tuple | list) else ())
    return next(filter(None, described), None)


def _type_of(returned):
    if isinstance(returned, np.ndarray):
        return f"an array of {returned.dtype}"
    kind = type(returned).__name__
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _ragged(name, rows):
    """Say that rows don't fit into one array; return None where they do, or where there are no rows."""
    try:
        shapes = [np.shape(row) for row in rows] if isinstance(rows, list | tuple | np.ndarray) else []
    except Exception:  # uneven rows inside the rows, or an unknown kind of object, which may raise anything
        return None
    if len(set(shapes)) < 2:
        return None
    if all(len(shape) == 1 for shape in shapes):
        lengths = list(dict.fromkeys(str(length) for (length,) in shapes))
        return f"The rows of your {name} have different lengths, {_listed(lengths)}; in an array all are equally long."
    shown = list(dict.fromkeys(map(str, shapes)))
    return f"It returned a list of arrays that don't fit into one: their shapes are {_listed(shown)}."


def _is_unwritten(part):
    """Tell whether a part of an answer is still `...` or None, or has such a part inside it."""
    return part is ... or part is None or (isinstance(part, tuple | list) and any(map(_is_unwritten, part)))


def _listed(words):
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def one_row_repeated(returned: Any) -> str | None:
    """Say that two rows of a list are the same list; return None where no two are."""
    rows = [row for row in returned if isinstance(row, list)] if isinstance(returned, list) else []
    if len({id(row) for row in rows}) == len(rows):
        return None
    return ONE_LIST


def holds_objects(returned: Any) -> bool:
    """Tell whether what a function returned, or a part of it, is an array of Python objects."""
    parts = returned if isinstance(returned, tuple) else (returned,)
    return any(isinstance(part, np.ndarray) and part.dtype.kind == "O" for part in parts)
