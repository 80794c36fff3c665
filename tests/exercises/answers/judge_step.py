"""Answers to judge_step: right ones in many styles, and wrong ones."""

import numpy as np

from mha_helpers.exercises.output_projection.judge_step import judge_step

CATALOGUE = (
    "slips-every-wrong-row",
    "slips-given-alone",
    "slips-exact",
    "slips-number-by-number",
    "slips-no-abs",
)

TELLING_CASE = ("a row of each kind", 2)


def judge_by_hand(printed, right, given, half_unit):
    wrong = (abs(printed - right) > half_unit).any(axis=-1)
    slip = wrong & (abs(printed - given) > half_unit).any(axis=-1)
    return wrong, slip


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


def judge_row_by_row(printed, right, given, half_unit):
    def far(row, other):
        return any(abs(a - b) > half_unit for a, b in zip(row, other, strict=True))

    wrong = [far(*rows) for rows in zip(printed, right, strict=True)]
    astray = [far(*rows) for rows in zip(printed, given, strict=True)]
    return wrong, [a and b for a, b in zip(wrong, astray, strict=True)]


def judge_by_sets(printed, right, given, half_unit):
    rows = range(len(printed))
    wrong = {i for i in rows if np.max(np.abs(printed[i] - right[i])) > half_unit}
    slip = wrong - {i for i in rows if np.max(np.abs(printed[i] - given[i])) <= half_unit}
    return tuple([i in found for i in rows] for found in (wrong, slip))


def judge_by_row_numbers(printed, right, given, half_unit):
    wrong, slip = np.zeros((2, len(printed)), dtype=bool)
    wrong[np.where(abs(printed - right) > half_unit)[0]] = True
    slip[[i for i in np.flatnonzero(wrong) if (abs(printed[i] - given[i]) > half_unit).any()]] = True
    return wrong, slip


def judge_by_zeros(printed, right, given, half_unit):
    wrong = np.zeros(printed.shape[0])
    slip = np.zeros(printed.shape[0])
    for i, (p, r, g) in enumerate(zip(printed, right, given, strict=True)):
        wrong[i] = max(abs(p - r)) > half_unit
        slip[i] = wrong[i] and max(abs(p - g)) > half_unit
    return wrong == 1, slip == 1


def judge_vectorized(printed, right, given, half_unit):
    far = np.vectorize(lambda a, b: abs(a - b) > half_unit)
    wrong = far(printed, right).any(1)
    return wrong, np.where(wrong, far(printed, given).any(1), False)


def judge_column_by_column(printed, right, given, half_unit):
    wrong = astray = False
    for p, r, g in zip(printed.T, right.T, given.T, strict=True):
        wrong = wrong | (abs(p - r) > half_unit)
        astray = astray | (abs(p - g) > half_unit)
    return wrong, wrong & astray


def judge_by_rounding(printed, right, given, half_unit):
    decimals = round(-np.log10(2 * half_unit))
    wrong = (np.round(right, decimals) != np.round(printed, decimals)).any(axis=1)
    return wrong, wrong & (np.round(given, decimals) != np.round(printed, decimals)).any(axis=1)


def judge_by_verdict(printed, right, given, half_unit):
    def verdict(p, r, g):
        if np.allclose(p, r, rtol=0, atol=half_unit):
            return "agrees"
        return "carried" if np.allclose(p, g, rtol=0, atol=half_unit) else "wrong here"

    verdicts = np.array([verdict(*rows) for rows in zip(printed, right, given, strict=True)])
    return verdicts != "agrees", verdicts == "wrong here"


def judge_by_lists(printed, right, given, half_unit):
    p, r, g = (matrix.tolist() for matrix in (printed, right, given))
    wrong = [
        not all(b - half_unit <= a <= b + half_unit for a, b in zip(*rows, strict=True))
        for rows in zip(p, r, strict=True)
    ]
    astray = [
        not all(b - half_unit <= a <= b + half_unit for a, b in zip(*rows, strict=True))
        for rows in zip(p, g, strict=True)
    ]
    return np.array(wrong), np.logical_and(wrong, astray)


def judge_stacked(printed, right, given, half_unit):
    wrong, astray = (abs(np.stack([right, given]) - printed) > half_unit).any(axis=-1)
    return wrong, wrong & astray


RIGHT = (
    judge_step,
    judge_by_hand,
    judge_in_loops,
    judge_row_by_row,
    judge_by_sets,
    judge_by_row_numbers,
    judge_by_zeros,
    judge_vectorized,
    judge_column_by_column,
    judge_by_rounding,
    judge_by_verdict,
    judge_by_lists,
    judge_stacked,
    lambda p, r, g, h, /: (np.max(np.abs(p - r), axis=1) > h, np.minimum(np.max(np.abs(p - r), axis=1), np.max(np.abs(p - g), axis=1)) > h),
    lambda p, r, g, h: (wrong := ~np.all(np.abs(r - p) <= h, axis=-1), np.logical_and(wrong, ~np.all(np.abs(g - p) <= h, axis=-1))),
    lambda p, r, g, h: (wrong := ~np.isclose(p, r, rtol=0, atol=h).all(axis=-1), wrong > np.isclose(p, g, rtol=0, atol=h).all(axis=-1)),
    lambda p, r, g, h: (wrong := (~np.isclose(p, r, atol=h)).any(-1), wrong & (~np.isclose(p, g, atol=h)).any(-1)),
    lambda p, r, g, h: (wrong := ((p - r) ** 2 > h**2).any(-1), wrong * ((p - g) ** 2 > h**2).any(-1)),
    lambda p, r, g, h: (wrong := np.any((p > r + h) | (p < r - h), axis=1), wrong & np.any((p > g + h) | (p < g - h), axis=1)),
    lambda p, r, g, h: (wrong := np.linalg.norm(p - r, ord=np.inf, axis=-1) >= h, wrong & (np.linalg.norm(p - g, ord=np.inf, axis=-1) >= h)),
    lambda p, r, g, h: (wrong := (abs(p - r) > h + 1e-9).sum(axis=-1) > 0, wrong & ((abs(p - g) > h + 1e-9).sum(axis=-1) > 0)),
    lambda p, r, g, h: (wrong := (abs(p - r) / h > 1).any(-1), wrong & (abs(p - g) / h > 1).any(-1)),
    lambda p, r, g, h: (wrong := np.logical_or.reduce(abs(p - r) > h, axis=-1), ~(~wrong | (abs(p - g) <= h).all(-1))),
    lambda p, r, g, h: [part.tolist() for part in judge_step(p, r, g, h)],
    lambda p, r, g, h: judge_step(p.astype(np.float32), r.astype(np.float32), g.astype(np.float32), np.float32(h)),
    lambda p, r, g, h: judge_step(*(matrix[:, ::-1] for matrix in (p, r, g)), h),
    lambda p, r, g, h: judge_step(*(np.asfortranarray(matrix) for matrix in (p, r, g)), h),
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


def judge_last_number_wins(printed, right, given, half_unit):
    """Each number's verdict takes the place of the one before."""
    wrong, slip = [False] * len(printed), [False] * len(printed)
    for i in range(len(printed)):
        for j in range(printed.shape[1]):
            wrong[i] = abs(printed[i, j] - right[i, j]) > half_unit
            slip[i] = wrong[i] and abs(printed[i, j] - given[i, j]) > half_unit
    return wrong, slip


def judge_early_return(printed, right, given, half_unit):
    for p, r, g in zip(printed, right, given, strict=True):
        wrong = (abs(p - r) > half_unit).any()
        slip = wrong & (abs(p - g) > half_unit).any()
        return wrong, slip


def judge_majority(printed, right, given, half_unit):
    wrong = (abs(printed - right) > half_unit).mean(axis=-1) > 0.5
    return wrong, wrong & ((abs(printed - given) > half_unit).mean(axis=-1) > 0.5)


def judge_more_than_one(printed, right, given, half_unit):
    wrong = (abs(printed - right) > half_unit).sum(axis=-1) > 1
    return wrong, wrong & ((abs(printed - given) > half_unit).sum(axis=-1) > 1)


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


def judge_all_rows_if_any(printed, right, given, half_unit):
    wrong, slip = judge_step(printed, right, given, half_unit)
    return wrong, wrong & slip.any()


def judge_with_and(printed, right, given, half_unit):
    wrong = (abs(printed - right) > half_unit).any(axis=-1)
    return wrong, wrong and (abs(printed - given) > half_unit).any(axis=-1)


def judge_without_brackets(printed, right, given, half_unit):
    wrong = (abs(printed - right) > half_unit).any(axis=-1)
    slip = wrong & abs(printed - given) > half_unit
    return wrong, slip


def judge_whole_array_in_if(printed, right, given, half_unit):
    wrong = []
    for p, r in zip(printed, right, strict=True):
        if abs(p - r) > half_unit:
            wrong.append(True)
    return wrong, wrong


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
    "slips-one-number": (judge_last_number_wins,),
    "input-changed": (judge_in_place,),
    "not-repeatable": (judge_remembers,),
    "slips-one-verdict": (
        judge_all_rows_if_any,
        lambda p, r, g, h: (abs(p - r).max() > h * np.ones(len(p)), abs(p - g).max() > h * np.ones(len(p))),
    ),
    "slips-numbers": (_judged_then(lambda wrong, slip: (wrong.astype(np.uint8), slip.astype(np.float32))),),
    "slips-carried-called-right": (_judged_then(lambda wrong, slip: (slip, ~slip)),),
    "slips-printed-unused": (lambda p, r, g, h: judge_step(r, p, g, h),),
    "slips-fixed-tolerance": (lambda p, r, g, h: judge_step(p, np.round(r), np.round(g), h),),
    "return-in-loop": (judge_early_return,),
    "held-as-objects": (lambda p, r, g, h: tuple(part.astype(object) for part in judge_step(p, r, g, h)),),
    None: (
        judge_neighbours,
        judge_off_by_one,
        judge_from_second_column,
        judge_majority,
        judge_more_than_one,
        judge_cut_off,
        judge_only_finds_larger_error,
        judge_by_shape,
        judge_with_and,
        judge_without_brackets,
        judge_whole_array_in_if,
        judge_appends_only_wrong,
        judge_in_words,
        _judged_then(lambda wrong, slip: wrong),
        _judged_then(lambda wrong, slip: slip),
        _judged_then(lambda wrong, slip: np.stack([wrong, slip])),
        _judged_then(lambda wrong, slip: (wrong, wrong & ~slip, slip)),
        _judged_then(lambda wrong, slip: {"wrong": wrong, "slip": slip}),
        _judged_then(lambda wrong, slip: (wrong[::-1], slip[::-1])),
        _judged_then(lambda wrong, slip: (np.roll(wrong, 1), np.roll(slip, 1))),
        _judged_then(lambda wrong, slip: (np.sort(wrong), np.sort(slip))),
        _judged_then(lambda wrong, slip: (wrong, np.zeros_like(slip))),
        _judged_then(lambda wrong, slip: (np.ones_like(wrong), slip)),
        _judged_then(lambda wrong, slip: (wrong.sum(), slip.sum())),
        _judged_then(lambda wrong, slip: (set(np.flatnonzero(wrong)), set(np.flatnonzero(slip)))),
        _judged_then(lambda wrong, slip: (~wrong.astype(int), ~slip.astype(int))),
        _judged_then(lambda wrong, slip: (wrong - 1.0, slip - 1.0)),
        _judged_then(lambda wrong, slip: (wrong.any, slip.any)),
        _judged_then(lambda wrong, slip: (wrong[None], slip[None])),
        _judged_then(lambda wrong, slip: (wrong, ~wrong)),
        _judged_then(lambda wrong, slip: (wrong, wrong & (np.arange(len(wrong)) == 1))),
        lambda p, r, g, h: judge_step(p, r, g, h**2),
        lambda p, r, g, h: judge_step(p, r, g, 3 * h),
        lambda p, r, g, h: judge_step(p, r, g, 0.9 * h),
        lambda p, r, g, h: judge_step(p, r, (r + g) / 2, h),
        lambda p, r, g, h: judge_step(p, r, np.roll(g, 1, axis=0), h),
        lambda p, r, g, h: (((p - r) > h).any(-1) & ((r - p) > h).any(-1), ((p - g) > h).any(-1) & ((g - p) > h).any(-1)),
        lambda p, r, g, h: (wrong := (p.max(-1) - r.max(-1)) > h, wrong & ((p.max(-1) - g.max(-1)) > h)),
        lambda p, r, g, h: (wrong := p.argmax(-1) != r.argmax(-1), wrong & (p.argmax(-1) != g.argmax(-1))),
        lambda p, r, g, h: (wrong := (p.std(-1) - r.std(-1)) > h, wrong & ((p.std(-1) - g.std(-1)) > h)),
        lambda p, r, g, h: (wrong := (np.prod(p, -1) - np.prod(r, -1)) > h, wrong & ((np.prod(p, -1) - np.prod(g, -1)) > h)),
        lambda p, r, g: judge_step(p, r, g, 0.005),
        lambda p, r, h: judge_step(p, r, r, h),
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
