"""A learner's last right answers, so that no later notebook asks to paste them.

One file beside that of the progress holds, for each exercise, the source of the last right answer and the day. Nothing
is sent anywhere. `course.forget_progress()` deletes it together with the progress, and where no progress is kept, in
tests and where MHA_PROGRESS is "off", no answer is kept either.
"""

import datetime
import inspect
import textwrap
import types
from typing import NamedTuple

from mha_helpers.learner import kept_file, progress

FILE = "mha_course_answers.json"
AGAIN = "recall_"  # a warm-up asks for the same function once more


class KeptAnswer(NamedTuple):
    """A right answer of another day.

    Parameters
    ----------
    source : str
        All that it takes to run it: imports, the learner's own helpers and the function.
    day : datetime.date
    """

    source: str
    day: datetime.date

    @property
    def since(self):
        """The day as people say it: "3 May"."""
        return f"{self.day.day} {self.day:%B}"

    def function(self, name):
        """Run the source, and return the function of that name; whatever the source raises is raised here."""
        names = {"__name__": "__main__"}
        exec(compile(self.source, f"<your {name} of {self.since}>", "exec"), names)
        return names[name]


def path():
    """Return where the answers are kept, or None where they are not."""
    file = progress.path()
    return file and file.with_name(FILE)


def keep(exercise, function):
    """Keep a right answer in the place of an earlier one.

    A failure is printed, as the check's outcome stands without it.

    Parameters
    ----------
    exercise : str
        The exercise's name.
    function : callable
    """
    file = path()
    source = file and source_of(function)
    if not source:
        return
    entry = {"source": source, "day": datetime.date.today().isoformat()}
    try:
        kept_file.add(file, {exercise.removeprefix(AGAIN): entry})
    except OSError as error:
        print(f"Your answer could not be kept in {file} ({error.strerror}); everything else works as ever.")


def kept(exercise):
    """Return the last right answer to an exercise, or None.

    Parameters
    ----------
    exercise : str

    Returns
    -------
    KeptAnswer or None
    """
    entry = kept_file.read(path()).get(exercise.removeprefix(AGAIN))
    try:
        return entry and KeptAnswer(str(entry["source"]), datetime.date.fromisoformat(entry["day"]))
    except (KeyError, TypeError, ValueError):
        return None


def forget():
    """Delete the answers; return whether there were any."""
    return kept_file.forget(path())


def source_of(function):
    """Return a function with all of the learner's that it calls, as source that runs by itself.

    Parameters
    ----------
    function : callable

    Returns
    -------
    str or None
        None for the course's own functions, and where something that it needs has no source.
    """
    imports, definitions = {}, {}
    try:
        _collect(inspect.unwrap(function), imports, definitions)
    except (OSError, TypeError, ValueError):  # no source, or something that is none
        return None
    return "\n".join([*imports.values(), "", *definitions.values()])


def _collect(function, imports, definitions):
    if not isinstance(function, types.FunctionType) or function.__name__ == "<lambda>" or function.__closure__:
        raise ValueError("only a function of its own can be kept")
    if _is_ours(function):
        raise ValueError("the course's own need not be kept")
    definitions[function.__name__] = ""  # it may call itself
    for name in _names_read(function.__code__):
        value = function.__globals__.get(name)
        if name in definitions or name in imports or value is None:
            continue
        if isinstance(value, types.ModuleType):
            imports[name] = f"import {value.__name__} as {name}"
        elif isinstance(value, types.FunctionType) and not _is_ours(value):
            _collect(inspect.unwrap(value), imports, definitions)
        elif getattr(value, "__module__", None) and hasattr(value, "__name__"):
            imports[name] = f"from {value.__module__} import {value.__name__} as {name}"
        elif isinstance(value, int | float | str | tuple):
            imports[name] = f"{name} = {value!r}"
        else:
            raise ValueError(f"{name} has no source")
    definitions.pop(function.__name__)  # what it calls stands before it
    definitions[function.__name__] = textwrap.dedent(inspect.getsource(function)) + "\n"


def _is_ours(function):
    return function.__module__.partition(".")[0] == __name__.partition(".")[0]


def _names_read(code):
    """Return the names that a function reads, and those that the functions in it read."""
    inner = (name for const in code.co_consts if isinstance(const, types.CodeType) for name in _names_read(const))
    return [*code.co_names, *inner]
