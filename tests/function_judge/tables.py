"""A task of another subject than attention, and what people write for it."""

import numpy as np

from function_judge.catalogue import Mistake
from function_judge.subject import Subject
from function_judge.task import Case, Task
from function_judge.watch import Watch


def standardized(table):
    centred = table - table.mean(axis=0)
    spread = np.sqrt((centred**2).mean(axis=0))
    return centred / spread


def by_rows(table):
    centred = table - table.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True))


def by_n_minus_1(table):
    return (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)


def spread_of_what_is_not_centred(table):
    centred = table - table.mean(axis=0)
    spread = np.sqrt((table**2).mean(axis=0))
    return centred / spread


def centred_by_the_median(table):
    middle = np.median(table, axis=0)
    centred = table - middle
    spread = np.sqrt(((table - table.mean(axis=0)) ** 2).mean(axis=0))
    return centred / spread


def table(seed, *shape):
    return {"table": np.random.default_rng(seed).normal(3, 2, shape)}


TASK = Task(
    reference=standardized,
    outputs=("scores",),
    cases=(
        Case("a table", table(0, 5, 3)),
        Case("a square table", table(1, 4, 4)),
        Case("a long one", table(2, 30, 2)),
    ),
    mistakes=(
        Mistake("by-rows", "You standardize each row; a column holds one quantity.", (by_rows,)),
        Mistake("n-minus-1", "You divide by n - 1 (ddof=1); these scores divide by n.", (by_n_minus_1,)),
    ),
    subject=Subject(aliases={"centred": ("c", "diff"), "spread": ("std", "sigma")}),
)

CASE = TASK.cases[0]
KNOWN = TASK.on_the_way(CASE)


def as_array(value):
    return value if isinstance(value, np.ndarray) else None


def watched(function, task=TASK):
    """Return what is seen of a function's call on the first case."""
    case = task.cases[0]
    watch = Watch(task.on_the_way(case), as_array, function.__code__, task.subject)
    watch.run(function, list(case.copy().values()), {})
    return watch


def run(function, task=TASK):
    """Return what calls a function on the first case under a Watch, and what tells whether it is right."""
    case = task.cases[0]
    return (
        lambda watch: watch.run(function, list(case.copy().values()), {}),
        lambda returned: task.is_right(returned, case),
    )
