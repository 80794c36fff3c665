"""The mistakes that people make in `judge_step`."""

import numpy as np

from mha_helpers.exercises.mistakes.catalogue import also, maker


def _apart(a, b, half_unit):
    return abs(a - b) > half_unit


def _of_each_row(found):
    """Make one verdict of those on the numbers of a row."""
    return found.any(axis=-1) if found.ndim == 2 else found


def _unlike(a, b, half_unit):
    return _apart(a, b, half_unit).any(axis=-1)


def _judging(compare, compare_given):
    """Return judge_step with other ways to hold rows against what is right, and against what is given."""

    def wrong_judge(printed, right, given, half_unit):
        wrong = _of_each_row(compare(printed, right, half_unit))
        return wrong, wrong & _of_each_row(compare_given(printed, given, half_unit))

    return wrong_judge


# Another way to compare, a verdict on numbers or on rows: in both places, in the first, in the second.
_comparing = maker(
    lambda way: _judging(way, way),
    lambda way: _judging(way, _unlike),
    lambda way: _judging(_unlike, way),
)


@maker
def _of_rows(change):
    """Return judge_step that gives change(wrong, unexplained): which rows are wrong, and which don't follow."""
    return lambda printed, right, given, half_unit: change(
        _unlike(printed, right, half_unit), _unlike(printed, given, half_unit)
    )


@maker
def _of_numbers(change):
    """Return judge_step that gives change(wrong, unexplained) of each number."""
    return lambda printed, right, given, half_unit: change(
        _apart(printed, right, half_unit), _apart(printed, given, half_unit)
    )


@maker
def _of_rows_and_inputs(change):
    """Return judge_step that gives change(wrong, unexplained, moved): moved are the rows whose given is not right."""
    return lambda printed, right, given, half_unit: change(
        _unlike(printed, right, half_unit), _unlike(printed, given, half_unit), _unlike(right, given, half_unit)
    )


@maker
def _nearer(measure):
    """Return judge_step whose slips are the wrong rows that are nearer to what is right than to what is given."""

    def wrong_judge(printed, right, given, half_unit):
        wrong = _unlike(printed, right, half_unit)
        return wrong, wrong & measure(abs(printed - given), abs(printed - right))

    return wrong_judge


def _only_first(rows):
    return rows & (np.cumsum(rows) == 1)


def _marked_first(rows):
    return np.arange(len(rows)) == rows.argmax()


def _from_there_on(rows):
    return np.logical_or.accumulate(rows)


@_of_rows
def slips_every_wrong_row(wrong, unexplained):
    """You call every wrong row a slip, and `given` is not used. A row may be wrong only because the step before was:
    then it follows from what is given. A slip is wrong *and* farther from `given` than rounding explains."""
    return wrong, wrong


@_of_rows
def slips_given_alone(wrong, unexplained):
    """Your slips are all the rows that do not follow from the step before. Among them are some that agree with `right`,
    by luck: nothing is wrong there, so nothing slipped. Join the two: wrong & ..."""
    return wrong, unexplained


@_of_rows
def slips_wrong_by_given(wrong, unexplained):
    """You compare what is printed with `given` to find what is wrong. But `given` may carry an error itself: a row is
    wrong if it is too far from `right`."""
    return unexplained, unexplained


@_of_rows
def slips_either_is_wrong(wrong, unexplained):
    """You call a row wrong that agrees with `right`, because it does not follow from the step before. A row that agrees
    with `right` is right, however it came about: for `wrong`, ignore `given`."""
    return wrong | unexplained, wrong & unexplained


@_of_rows
def slips_carried_called_right(wrong, unexplained):
    """You call only the slips wrong. A row that carries an earlier error on is wrong, too: for `wrong`, compare with
    `right` and ignore `given`."""
    return wrong & unexplained, wrong & unexplained


@_of_rows
@also(lambda wrong, unexplained: (wrong, ~unexplained))
def slips_carried_instead(wrong, unexplained):
    """Your slips are the rows that do follow from the step before. These only carry an error on; a slip is wrong, and
    does *not* follow: some number is farther than half_unit from `given`."""
    return wrong, wrong & ~unexplained


@_of_rows
def slips_slip_inverted(wrong, unexplained):
    """`wrong` is right, but `slip` is True where it should be False, and the other way round. Is there one ~ too
    many?"""
    return wrong, ~(wrong & unexplained)


@_of_rows
def slips_swapped(wrong, unexplained):
    """Both answers are right, but in the wrong order: `return wrong, slip`."""
    return wrong & unexplained, wrong


@also(
    _of_numbers(lambda wrong, unexplained: ((~wrong).any(axis=-1), (~wrong).any(axis=-1) & (~unexplained).any(axis=-1)))
)
@_of_rows
def slips_agreement(wrong, unexplained):
    """Your `wrong` is True where a row agrees. It should be the opposite: True where some number is farther from
    `right` than half_unit."""
    return ~wrong, wrong & unexplained


@_of_rows
@also(lambda wrong, unexplained: (wrong, wrong ^ unexplained))
def slips_or(wrong, unexplained):
    """Your slips are joined with | or ^. Both must hold: the row is wrong, *and* it does not follow from the step
    before. That is &."""
    return wrong, wrong | unexplained


@_comparing
def slips_all(a, b, half_unit):
    """You ask that *all* numbers of a row be off. One is enough: .any(axis=-1). (Rows in which all numbers are close
    agree; the opposite of that is some number that is not.)"""
    return _apart(a, b, half_unit).all(axis=-1)


@_of_numbers
def slips_number_by_number(wrong, unexplained):
    """You look for one number that is off both times. A row is judged as a whole: its first number may be wrong and
    follow, its second be right and not follow, and then the row is wrong and does not follow. Make each comparison a
    verdict on rows first, .any(axis=-1), and join these with &."""
    return wrong.any(axis=-1), (wrong & unexplained).any(axis=-1)


@_comparing
@also(lambda a, b, half_unit: b - a > half_unit)
def slips_no_abs(a, b, half_unit):
    """You see errors in one direction only. A number may be printed too large or too small: take abs of the difference,
    in both comparisons."""
    return a - b > half_unit


@_comparing
def slips_signs_lost(a, b, half_unit):
    """You compare sizes, and 0.52 is as large as -0.52. Take the difference first, then abs: abs(printed - right)."""
    return abs(abs(a) - abs(b)) > half_unit


@_comparing
@also(lambda a, b, half_unit: ~np.isclose(a, b))
def slips_exact(a, b, half_unit):
    """You ask for equal numbers, or for nearly equal ones. What is printed is rounded, and may be off by half_unit
    without being wrong: abs(printed - right) > half_unit. (np.isclose has its own tolerances; with rtol=0,
    atol=half_unit it does the same.)"""
    return a != b


@_comparing
def slips_whole_unit(a, b, half_unit):
    """You allow a whole unit of the last decimal. Rounding moves a number by half a unit at most, and half_unit is that
    half already."""
    return abs(a - b) > 2 * half_unit


@_comparing
def slips_quarter_unit(a, b, half_unit):
    """You halve half_unit once more. It is already half a unit of the last decimal, just what rounding may do."""
    return abs(a - b) > half_unit / 2


@_comparing
@also(
    *(lambda a, b, half_unit, decimals=decimals: a != np.round(b, decimals) for decimals in range(3)),
    *(
        lambda a, b, half_unit, decimals=decimals: np.round(a, decimals) != np.round(b, decimals)
        for decimals in range(3)
    ),
    tolerance=(0.01, 0.05, 0.02, 0.1, 0.5, 0.001, 1.0),
)
def slips_fixed_tolerance(a, b, half_unit, tolerance=0.005):
    """Your tolerance, or the number of decimals that you round to, is always the same. Notes print one decimal here and
    three there: compare with half_unit."""
    return abs(a - b) > tolerance


@_comparing
@also(
    lambda a, b, half_unit: ~np.isclose(b, a, rtol=half_unit),
    lambda a, b, half_unit: ~np.isclose(a, b, rtol=half_unit, atol=half_unit),
    lambda a, b, half_unit: abs((a - b) / b) > 2 * half_unit,
)
def slips_relative(a, b, half_unit):
    """Your tolerance grows with the numbers. Rounding moves 0.03 and 30.03 by the same half unit: compare the
    difference itself with half_unit. (In np.isclose that is atol, and rtol=0.)"""
    return ~np.isclose(a, b, rtol=half_unit)


@_comparing
@also(lambda a, b, half_unit: abs((a - b).mean(axis=-1)) > half_unit)
def slips_row_sums(a, b, half_unit):
    """You compare the rows' sums or means. One number too large and one too small cancel there: compare number by
    number, then ask whether any is off."""
    return abs((a - b).sum(axis=-1)) > half_unit


@_comparing
@also(
    lambda a, b, half_unit: abs(a - b).mean(axis=-1) > half_unit,
    lambda a, b, half_unit: np.linalg.norm(a - b, axis=-1) > half_unit,
    lambda a, b, half_unit: np.sqrt(((a - b) ** 2).mean(axis=-1)) > half_unit,
    lambda a, b, half_unit: np.median(abs(a - b), axis=-1) > half_unit,
)
def slips_total_distance(a, b, half_unit):
    """You add up or average the distances of a row. Many that rounding explains make a large sum, and one error is lost
    in an average: compare each distance with half_unit by itself, then take .any(axis=-1)."""
    return abs(a - b).sum(axis=-1) > half_unit


@_comparing
@also(column=(-1,))
def slips_one_number(a, b, half_unit, column=0):
    """You look at one column. Any number of the row may be off: compare the whole matrices, then .any(axis=-1)."""
    return _apart(a, b, half_unit)[:, column]


@_of_numbers
@also(
    lambda wrong, unexplained: (wrong, wrong & unexplained.any(axis=-1, keepdims=True)),
    lambda wrong, unexplained: (wrong, unexplained),
    lambda wrong, unexplained: (wrong, wrong),
    lambda wrong, unexplained: (wrong, wrong.any(axis=-1) & unexplained.any(axis=-1)),
    lambda wrong, unexplained: (wrong.any(axis=-1), wrong & unexplained),
    lambda wrong, unexplained: (wrong.any(axis=-1), wrong.any(axis=-1) & unexplained),
    lambda wrong, unexplained: (wrong.any(axis=-1), wrong.any(axis=-1, keepdims=True) & unexplained),
    lambda wrong, unexplained: (wrong.any(axis=-1), unexplained),
)
def slips_per_number(wrong, unexplained):
    """You judge every number by itself. Give one verdict for each row: .any(axis=-1) tells whether any number of it is
    off."""
    return wrong, wrong & unexplained


@_of_rows
@also(
    lambda wrong, unexplained: (wrong[:, None], wrong & unexplained),
    lambda wrong, unexplained: (wrong, (wrong & unexplained)[:, None]),
    lambda wrong, unexplained: (wrong[:, None], wrong[:, None] & unexplained),
)
def slips_keepdims(wrong, unexplained):
    """Your verdicts stand in a column, (n_rows, 1). Give (n_rows,): leave keepdims=True out."""
    return wrong[:, None], (wrong & unexplained)[:, None]


@_comparing
def slips_columns(a, b, half_unit):
    """You judge columns. A row is judged along its numbers, the last axis: .any(axis=-1), or axis=1."""
    return _apart(a, b, half_unit).any(axis=0)


@_comparing
@also(lambda a, b, half_unit: np.full(len(a), _apart(a, b, half_unit).any()))
def slips_one_verdict(a, b, half_unit):
    """You give one verdict for the whole step. Give one for each row: .any() looks at everything, .any(axis=-1) at each
    row."""
    return _apart(a, b, half_unit).any()


@_of_rows
@also(
    lambda wrong, unexplained: (wrong, _marked_first(wrong & unexplained)),
    lambda wrong, unexplained: (wrong, _only_first(wrong)),
    lambda wrong, unexplained: (wrong, _marked_first(wrong)),
    lambda wrong, unexplained: (wrong, _only_first(wrong) & unexplained),
    lambda wrong, unexplained: (_only_first(wrong), _only_first(wrong & unexplained)),
    lambda wrong, unexplained: (_only_first(wrong), _only_first(wrong) & unexplained),
)
def slips_first_only(wrong, unexplained):
    """You call only one row a slip, the first. The rows of a step do not build on each other: each can slip by
    itself."""
    return wrong, _only_first(wrong & unexplained)


@_of_rows
@also(
    lambda wrong, unexplained: (_from_there_on(wrong), _from_there_on(wrong) & unexplained),
    lambda wrong, unexplained: (_from_there_on(wrong), wrong & unexplained),
    lambda wrong, unexplained: (wrong, _from_there_on(wrong & unexplained)),
    lambda wrong, unexplained: (wrong, wrong & _from_there_on(wrong & unexplained)),
    lambda wrong, unexplained: (wrong | _from_there_on(wrong & unexplained), wrong & unexplained),
)
def slips_from_there_on(wrong, unexplained):
    """After the first wrong row, or the first slip, you judge the rows below by it. A row builds on the step before,
    not on the row above: judge each by itself."""
    return _from_there_on(wrong), _from_there_on(wrong & unexplained)


@_of_rows_and_inputs
@also(
    lambda wrong, unexplained, moved: (wrong, moved),
    lambda wrong, unexplained, moved: (moved, moved & unexplained),
    lambda wrong, unexplained, moved: (moved, wrong & unexplained),
    lambda wrong, unexplained, moved: (moved, unexplained),
)
def slips_printed_unused(wrong, unexplained, moved):
    """You compare `right` with `given`. That tells whether the step *before* was wrong. To judge this one, compare what
    is printed here with each of them."""
    return wrong, wrong & moved


@_of_rows_and_inputs
@also(lambda wrong, unexplained, moved: (wrong, ~moved))
def slips_only_after_right(wrong, unexplained, moved):
    """You see a slip only where `given` is right, as if an error before excused this one. A row can carry an error on
    and slip as well: what counts is whether what is *printed* follows from `given`."""
    return wrong, wrong & ~moved


@_nearer
@also(
    lambda unexplained, far: (unexplained >= far).any(axis=-1),
    lambda unexplained, far: (unexplained > far).all(axis=-1),
    lambda unexplained, far: unexplained.max(axis=-1) > far.max(axis=-1),
    lambda unexplained, far: unexplained.sum(axis=-1) > far.sum(axis=-1),
    lambda unexplained, far: np.linalg.norm(unexplained, axis=-1) > np.linalg.norm(far, axis=-1),
)
def slips_nearer(unexplained, far):
    """You ask which is nearer, `right` or `given`. A row follows from the step before only if rounding explains the
    rest: all its numbers are within half_unit of `given`."""
    return (unexplained > far).any(axis=-1)


@_of_rows
def slips_numbers(wrong, unexplained):
    """The verdicts are right, but written as the numbers 1 and 0. Give booleans: NumPy takes 1 and 0 in brackets for
    row numbers, and ~1 is -2. `.astype(bool)`, or the comparison as it is."""
    return wrong.astype(int), (wrong & unexplained).astype(int)


@_of_rows
@also(
    lambda wrong, unexplained: (wrong, np.flatnonzero(wrong & unexplained)),
    lambda wrong, unexplained: (np.argwhere(wrong), np.argwhere(wrong & unexplained)),
    lambda wrong, unexplained: (np.where(wrong), np.where(wrong & unexplained)),
)
def slips_row_numbers(wrong, unexplained):
    """You return which rows they are, by number. Give True or False for each row, (n_rows,): the booleans themselves,
    without np.where, np.flatnonzero or np.argwhere."""
    return np.flatnonzero(wrong), np.flatnonzero(wrong & unexplained)


@_of_numbers
@also(lambda wrong, unexplained: (wrong.any(axis=-1), wrong.any(axis=-1) * unexplained.sum(axis=-1)))
def slips_counts(wrong, unexplained):
    """You count the numbers that are off. Say whether there is any: .any(axis=-1)."""
    return wrong.sum(axis=-1), (wrong & unexplained).sum(axis=-1)


def _largest_distances(printed, right, given, half_unit):
    return abs(printed - right).max(axis=-1), abs(printed - given).max(axis=-1)


def _distances_where_wrong(printed, right, given, half_unit):
    far, unexplained = _largest_distances(printed, right, given, half_unit)
    return np.where(far > half_unit, far, 0), np.where((far > half_unit) & (unexplained > half_unit), unexplained, 0)


@also(_largest_distances, _distances_where_wrong)
def slips_distances(printed, right, given, half_unit):
    """You return how far the numbers are off. Give a verdict for each row: whether any of them is farther off than
    half_unit."""
    return abs(printed - right), abs(printed - given)


@_of_rows
def slips_pairs(wrong, unexplained):
    """You return a pair of verdicts for each row. Give two arrays, one verdict for each row in both: `return wrong,
    slip`."""
    return np.stack([wrong, wrong & unexplained], axis=-1)
