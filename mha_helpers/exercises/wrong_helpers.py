"""A right function that calls the learner's own wrong one, from a cell above."""

import types
from collections.abc import Callable

from function_judge.source import code_of, global_names
from mha_helpers import exercises
from mha_helpers.learner.standalone import is_courses

EXERCISES = {name for names in exercises.EXERCISES.values() for name in names}


def wrong_helper(function: Callable, is_right: Callable[[Callable], bool]) -> str | None:
    """Return the name of a function that another one calls, where that alone makes it wrong.

    Parameters
    ----------
    function : callable
        The learner's, which is wrong.
    is_right : callable
        Whether a function passes the check of the first.

    Returns
    -------
    str or None
        The name of an exercise whose check the learner's own function doesn't pass. With the course's in its place,
        the first is right.
    """
    code = code_of(function)
    for name in sorted(global_names(code)) if code else ():
        helper = function.__globals__.get(name)
        if name in EXERCISES and isinstance(helper, types.FunctionType) and not is_courses(helper):
            exercise = getattr(exercises, name)
            if is_right(_with(function, name, exercise.reference)) and exercise.diagnosis(helper).status == "wrong":
                return name
    return None


def _with(function, name, helper):
    """Return a function that calls another one by a name."""
    other = types.FunctionType(
        function.__code__, function.__globals__ | {name: helper}, None, function.__defaults__, function.__closure__
    )
    other.__kwdefaults__ = function.__kwdefaults__
    return other
