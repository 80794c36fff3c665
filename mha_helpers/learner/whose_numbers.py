"""Whose numbers a cell shows, after a wrong answer: the figures below an exercise are the course's own in any case.

Who has written nothing doesn't take them for theirs, so a cell below a stub says nothing, as it is stored.
"""

import re
import sys

_not_right = {}  # by the function, as cells call it, such as "attention.softmax": what to say


def name_in_cells(function):
    """Return how a notebook's cells call a function of the course.

    Examples
    --------
    >>> from mha_helpers import attention
    >>> name_in_cells(attention.softmax)
    'attention.softmax'
    """
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


def courses_version(function, why):
    """Return the sentence that says so."""
    return f"{function.__name__}: the course's version{why}"


def checked(function, *, is_wrong):
    """Note what a check found of the learner's version of a function; outside a notebook this does nothing more."""
    _not_right.pop(name_in_cells(function), None)
    if is_wrong:
        _not_right[name_in_cells(function)] = courses_version(function, " (yours is not right yet)")
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if shell:
        shell.events.register("pre_run_cell", _say)  # once, however often it is asked for


def _say(info):
    for sentence in said_above(info.raw_cell):
        print(sentence)


def said_above(cell):
    """Return what is said above a cell's output: of each of its functions that the learner has wrong as yet.

    Parameters
    ----------
    cell : str
        Its source.

    Returns
    -------
    list of str
    """
    return [sentence for name, sentence in _not_right.items() if re.search(rf"\b{re.escape(name)}\(", cell)]
