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
    lambda p, r, g, h, /: (np.max(np.abs(p - r), axis=1) > h, np.minimum(np.max(np.abs(p - r), axis=1), np.max(np.abs(p - g), axis=1)) > h),
    lambda p, r, g, h: (wrong := ~np.all(np.abs(r - p) <= h, axis=-1), np.logical_and(wrong, ~np.all(np.abs(g - p) <= h, axis=-1))),
    lambda p, r, g, h: [part.tolist() for part in judge_step(p, r, g, h)],
    lambda p, r, g, h: judge_step(*(matrix[:, ::-1] for matrix in (p, r, g)), h),
)  # fmt: skip


def judge_neighbours(printed, right, given, half_unit):
    """A slip only where the row above is no slip."""
    wrong, slip = judge_step(printed, right, given, half_unit)
    return wrong, slip & ~np.concatenate([[False], slip[:-1]])


def judge_off_by_one(printed, right, given, half_unit):
    """The last row is left out."""
    wrong, slip = judge_step(printed, right, given, half_unit)
    wrong[-1] = slip[-1] = False
    return wrong, slip


def judge_from_second_column(printed, right, given, half_unit):
    wrong = (abs(printed - right)[:, 1:] > half_unit).any(axis=-1)
    return wrong, wrong & (abs(printed - given)[:, 1:] > half_unit).any(axis=-1)


def judge_early_return(printed, right, given, half_unit):
    for p, r, g in zip(printed, right, given, strict=True):
        wrong = (abs(p - r) > half_unit).any()
        slip = wrong & (abs(p - g) > half_unit).any()
        return wrong, slip


def judge_cut_off(printed, right, given, half_unit):
    """Digits cut off where they are rounded."""
    unit = 2 * half_unit
    wrong = (np.round(printed / unit) != np.trunc(right / unit)).any(axis=-1)
    return wrong, wrong & (np.round(printed / unit) != np.trunc(given / unit)).any(axis=-1)


def judge_only_finds_larger_error(printed, right, given, half_unit):
    """A slip only where it makes the error larger."""
    wrong, slip = judge_step(printed, right, given, half_unit)
    return wrong, slip & (abs(printed - right).max(axis=-1) > abs(given - right).max(axis=-1))


def judge_in_place(printed, right, given, half_unit):
    right -= printed
    given -= printed
    wrong = (abs(right) > half_unit).any(axis=-1)
    return wrong, wrong & (abs(given) > half_unit).any(axis=-1)


def judge_remembers(printed, right, given, half_unit, seen={}):  # noqa: B006
    key = (printed.shape, printed.dtype.str, half_unit, printed.flags.c_contiguous)
    key += (float(printed[0, 0]),) if printed.shape != (3, 2) else ()
    return seen.setdefault(key, judge_step(printed, right, given, half_unit))


def judge_by_shape(printed, right, given, half_unit):
    """Along the columns where there are as many as rows."""
    if printed.shape[0] == printed.shape[1]:
        printed, right, given = printed.T, right.T, given.T
    return judge_step(printed, right, given, half_unit)


def judge_with_and(printed, right, given, half_unit):
    wrong = (abs(printed - right) > half_unit).any(axis=-1)
    return wrong, wrong and (abs(printed - given) > half_unit).any(axis=-1)


def judge_without_brackets(printed, right, given, half_unit):
    wrong = (abs(printed - right) > half_unit).any(axis=-1)
    slip = wrong & abs(printed - given) > half_unit
    return wrong, slip


def judge_appends_only_wrong(printed, right, given, half_unit):
    wrong, slip = [], []
    for p, r, g in zip(printed, right, given, strict=True):
        if (abs(p - r) > half_unit).any():
            wrong.append(True)
            slip.append(bool((abs(p - g) > half_unit).any()))
    return wrong, slip


def judge_in_words(printed, right, given, half_unit):
    wrong, slip = judge_step(printed, right, given, half_unit)
    return np.where(slip, "slip", np.where(wrong, "carried", "agrees"))


def _judged_then(change):
    return lambda printed, right, given, half_unit: change(*judge_step(printed, right, given, half_unit))


def judged(change):
    """Return judge_step that gives change(wrong, slip)."""
    return lambda *step: change(*judge_step(*step))


WRONG = {
    "input-changed": (judge_in_place,),
    "not-repeatable": (judge_remembers,),
    "slips-one-verdict": (
        lambda p, r, g, h: (abs(p - r).max() > h * np.ones(len(p)), abs(p - g).max() > h * np.ones(len(p))),
    ),
    "slips-carried-called-right": (_judged_then(lambda wrong, slip: (slip, ~slip)),),
    "return-in-loop": (judge_early_return,),
    "held-as-objects": (lambda p, r, g, h: tuple(part.astype(object) for part in judge_step(p, r, g, h)),),
    None: (
        judge_neighbours,
        judge_off_by_one,
        judge_from_second_column,
        judge_cut_off,
        judge_only_finds_larger_error,
        judge_by_shape,
        judge_with_and,
        judge_without_brackets,
        judge_appends_only_wrong,
        judge_in_words,
        _judged_then(lambda wrong, slip: wrong),
        _judged_then(lambda wrong, slip: {"wrong": wrong, "slip": slip}),
        _judged_then(lambda wrong, slip: (np.roll(wrong, 1), np.roll(slip, 1))),
        _judged_then(lambda wrong, slip: (np.ones_like(wrong), slip)),
        _judged_then(lambda wrong, slip: (set(np.flatnonzero(wrong)), set(np.flatnonzero(slip)))),
        _judged_then(lambda wrong, slip: (~wrong.astype(int), ~slip.astype(int))),
        _judged_then(lambda wrong, slip: (wrong - 1.0, slip - 1.0)),
        _judged_then(lambda wrong, slip: (wrong, ~wrong)),
        lambda p, r, g, h: judge_step(p, r, g, h**2),
        lambda p, r, g, h: judge_step(p, r, g, 3 * h),
        lambda p, r, g, h: judge_step(p, r, g, 0.9 * h),
        lambda p, r, g, h: judge_step(p, r, (r + g) / 2, h),
        lambda p, r, g, h: (((p - r) > h).any(-1) & ((r - p) > h).any(-1), ((p - g) > h).any(-1) & ((g - p) > h).any(-1)),
        lambda p, r, g: judge_step(p, r, g, 0.005),
    ),
}  # fmt: skip

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
