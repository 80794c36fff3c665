"""Answers to judge_step: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.exercises.output_projection.judge_step import judge_step

TELLING_CASE = ("a row of each kind", 2)


def judge_in_loops(printed, right, given, half_unit):
    wrong, slip = [], []
    for i in range(len(printed)):
        agrees = follows = True
        for j in range(len(printed[i])):
            if abs(printed[i][j] - right[i][j]) > half_unit:
                agrees = False
            if abs(printed[i][j] - given[i][j]) > half_unit:
                follows = False
        wrong.append(not agrees)
        slip.append(not agrees and not follows)
    return wrong, slip


def judge_vectorized(printed, right, given, half_unit):
    far = np.vectorize(lambda a, b: abs(a - b) > half_unit)
    wrong = far(printed, right).any(1)
    return wrong, np.where(wrong, far(printed, given).any(1), False)


RIGHT = (
    judge_in_loops,
    judge_vectorized,
    lambda p, r, g, h, /: (
        np.max(np.abs(p - r), axis=1) > h,
        np.minimum(np.max(np.abs(p - r), axis=1), np.max(np.abs(p - g), axis=1)) > h,
    ),
)


def judge_off_by_one(printed, right, given, half_unit):
    """The last row is left out."""
    wrong, slip = judge_step(printed, right, given, half_unit)
    wrong[-1] = slip[-1] = False
    return wrong, slip


def judge_by_shape(printed, right, given, half_unit):
    """Along the columns where there are as many as rows."""
    if printed.shape[0] == printed.shape[1]:
        printed, right, given = printed.T, right.T, given.T
    return judge_step(printed, right, given, half_unit)


def _judged_then(change):
    return lambda printed, right, given, half_unit: change(*judge_step(printed, right, given, half_unit))


def judged(change):
    """Return judge_step that gives change(wrong, slip)."""
    return lambda *step: change(*judge_step(*step))


WRONG = {
    "slips-one-verdict": (
        lambda p, r, g, h: (abs(p - r).max() > h * np.ones(len(p)), abs(p - g).max() > h * np.ones(len(p))),
    ),
    "slips-carried-called-right": (_judged_then(lambda wrong, slip: (slip, ~slip)),),
    None: (
        judge_off_by_one,
        judge_by_shape,
        lambda p, r, g, h: judge_step(p, r, g, h**2),
        lambda p, r, g, h: judge_step(p, r, g, 0.9 * h),
    ),
}

TOLD = (
    (judged(lambda wrong, slip: (2 * wrong, slip)), "A verdict is True or False, and yours holds other numbers."),
    (judged(lambda wrong, slip: (wrong, ~slip.astype(int))), "~1 is -2, and ~0 is -1. Make booleans"),
    (
        judged(lambda wrong, slip: (wrong, ~wrong)),
        "Row 2 is a slip and not wrong in yours: a slip is wrong first of all.",
    ),
    (judged(lambda wrong, slip: (wrong[::-1], slip[::-1])), "Your verdict on row 2 changes when only row 0 does."),
    (
        lambda printed, right, given, half_unit: judge_step(printed, (right + given) / 2, given, half_unit),
        "Your `wrong` changes when only `given` does. What is wrong comes from `printed` and `right` alone.",
    ),
    (
        lambda printed, right, given, half_unit: judge_step(printed, right, (right + given) / 2, half_unit),
        "Row 0 is not a slip: even where it is farthest off, column 0 prints 0.43 where 0.43 follows from the step",
    ),
    (
        lambda printed, right, given, half_unit: judge_step(printed, right, given, 10 * half_unit),
        "Row 0 is wrong: column 0 prints 0.43 where 0.404395 is right, 0.026 apart, and half_unit is 0.005.",
    ),
)
