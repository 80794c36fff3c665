"""What a function keeps from one call to the next: in a list or a dict around it, or in a default argument."""

import inspect
from collections.abc import Callable
from typing import Any

from function_judge.source import code_of, global_names


def kept_by(function: Callable) -> dict[str, int]:
    """Return the sizes of the lists, dicts and sets that a function may keep something in, by their names.

    Examples
    --------
    >>> def appending(row, rows=[]):
    ...     rows.append(row)
    >>> kept_by(appending)
    {'rows': 0}
    """
    code = code_of(function)
    if code is None:
        return {}
    around: dict[str, Any] = {name: function.__globals__.get(name) for name in global_names(code)}
    around |= inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
    around |= {name: each.default for name, each in inspect.signature(function).parameters.items()}
    return {name: len(value) for name, value in around.items() if type(value) in (list, dict, set)}


def changed_since(function: Callable, before: dict[str, int]) -> list[str]:
    """Return the names of those whose size has changed."""
    return sorted(name for name, size in kept_by(function).items() if size != before.get(name, size))
