"""The mistakes that people make in `judge_step`."""

import itertools

import numpy as np

from mha_helpers.exercises.engine import Mistake


def _apart(a, b, half_unit):
    return abs(a - b) > half_unit


def _some(way):
    """Return a verdict on rows, where way(a, b, half_unit) is one on numbers."""
    return lambda a, b, half_unit: way(a, b, half_unit).any(axis=-1)


_unlike = _some(_apart)


def _judging(compare, compare_given):
    """Return judge_step with other ways to hold rows against what is right, and against what is given."""

    def wrong_judge(printed, right, given, half_unit):
        wrong = compare(printed, right, half_unit)
        return wrong, wrong & compare_given(printed, given, half_unit)

    return wrong_judge


def _comparing(*ways):
    """Return judge_step with each way to compare in both places, in the first, and in the second."""
    return tuple(_judging(*places) for way in ways for places in ((way, way), (way, _unlike), (_unlike, way)))


def _by_number(*ways):
    """As `_comparing`, for ways that tell of each number whether it is off."""
    return _comparing(*map(_some, ways))


def _rows(printed, right, given, half_unit):
    return _unlike(printed, right, half_unit), _unlike(printed, given, half_unit)


def _numbers(printed, right, given, half_unit):
    return _apart(printed, right, half_unit), _apart(printed, given, half_unit)


def _rows_and_inputs(printed, right, given, half_unit):
    return *_rows(printed, right, given, half_unit), _unlike(right, given, half_unit)


def _returning(*changes, of=_rows):
    """Return judge_step that gives change(wrong, astray): what is wrong, and what does not follow.

    `of` tells what the two speak of; of rows and inputs there is a third, the rows whose given is not right.
    """
    return tuple(lambda *step, change=change: change(*of(*step)) for change in changes)


def _one_direction():
    directions = (_apart, lambda a, b, half_unit: a - b > half_unit, lambda a, b, half_unit: b - a > half_unit)
    pairs = list(itertools.product(directions, repeat=2))[1:]  # the first is right
    return tuple(_judging(*map(_some, pair)) for pair in pairs)


def _within(tolerance):
    return lambda a, b, half_unit: abs(a - b) > tolerance


def _rounded_to(decimals):
    return lambda a, b, half_unit: a != np.round(b, decimals)


def _only_first(rows):
    return rows & (np.cumsum(rows) == 1)


def _marked_first(rows):
    return np.arange(len(rows)) == rows.argmax()


def _from_there_on(rows):
    return np.logical_or.accumulate(rows)


def _nearer(*measures):
    """Return judge_step whose slips are the wrong rows that are nearer to what is right than to what is given."""

    def by(measure):
        def wrong_judge(printed, right, given, half_unit):
            wrong = _unlike(printed, right, half_unit)
            return wrong, wrong & measure(abs(printed - given), abs(printed - right))

        return wrong_judge

    return tuple(map(by, measures))


def _distances(printed, right, given, half_unit):
    return abs(printed - right), abs(printed - given)


def _largest_distances(printed, right, given, half_unit):
    return tuple(distances.max(axis=-1) for distances in _distances(printed, right, given, half_unit))


def _distances_where_wrong(printed, right, given, half_unit):
    far, astray = _largest_distances(printed, right, given, half_unit)
    return np.where(far > half_unit, far, 0), np.where((far > half_unit) & (astray > half_unit), astray, 0)


JUDGING_MISTAKES = (
    Mistake(
        "slips-every-wrong-row",
        "You call every wrong row a slip, and `given` is not used. A row may be wrong only because the step before "
        "was: then it follows from what is given. A slip is wrong *and* farther from `given` than rounding explains.",
        _returning(lambda wrong, astray: (wrong, wrong)),
    ),
    Mistake(
        "slips-given-alone",
        "Your slips are all the rows that do not follow from the step before. Among them are some that agree with "
        "`right`, by luck: nothing is wrong there, so nothing slipped. Join the two: wrong & ...",
        _returning(lambda wrong, astray: (wrong, astray)),
    ),
    Mistake(
        "slips-wrong-by-given",
        "You compare what is printed with `given` to find what is wrong. But `given` may carry an error itself: a row "
        "is wrong if it is too far from `right`.",
        _returning(
            lambda wrong, astray: (astray, astray),
            lambda wrong, astray: (astray, wrong & astray),
            lambda wrong, astray: (astray, wrong),
        ),
        seen_in=0,
    ),
    Mistake(
        "slips-either-is-wrong",
        "You call a row wrong that agrees with `right`, because it does not follow from the step before. A row that "
        "agrees with `right` is right, however it came about: for `wrong`, ignore `given`.",
        _returning(
            lambda wrong, astray: (wrong | astray, wrong & astray),
            lambda wrong, astray: (wrong | astray, astray),
            lambda wrong, astray: (wrong | astray, wrong | astray),
        ),
        seen_in=0,
    ),
    Mistake(
        "slips-carried-called-right",
        "You call only the slips wrong. A row that carries an earlier error on is wrong, too: for `wrong`, compare "
        "with `right` and ignore `given`.",
        _returning(lambda wrong, astray: (wrong & astray, wrong & astray)),
        seen_in=0,
    ),
    Mistake(
        "slips-carried-instead",
        "Your slips are the rows that do follow from the step before. These only carry an error on; a slip is wrong, "
        "and does *not* follow: some number is farther than half_unit from `given`.",
        _returning(lambda wrong, astray: (wrong, wrong & ~astray), lambda wrong, astray: (wrong, ~astray)),
    ),
    Mistake(
        "slips-slip-inverted",
        "`wrong` is right, but `slip` is True where it should be False, and the other way round. Is there one ~ too "
        "many?",
        _returning(lambda wrong, astray: (wrong, ~(wrong & astray))),
    ),
    Mistake(
        "slips-swapped",
        "Both answers are right, but in the wrong order: `return wrong, slip`.",
        _returning(lambda wrong, astray: (wrong & astray, wrong)),
    ),
    Mistake(
        "slips-agreement",
        "Your `wrong` is True where a row agrees. It should be the opposite: True where some number is farther from "
        "`right` than half_unit.",
        (
            *_returning(
                lambda wrong, astray: (~wrong, wrong & astray),
                lambda wrong, astray: (~wrong, ~(wrong & astray)),
                lambda wrong, astray: (~wrong, ~wrong & astray),
                lambda wrong, astray: (~wrong, ~wrong & ~astray),
                lambda wrong, astray: (~wrong, ~astray),
            ),
            *_returning(
                lambda wrong, astray: ((~wrong).any(axis=-1), (~wrong).any(axis=-1) & (~astray).any(axis=-1)),
                lambda wrong, astray: ((~wrong).any(axis=-1), (~wrong).any(axis=-1) & astray.any(axis=-1)),
                of=_numbers,
            ),
        ),
        seen_in=0,
    ),
    Mistake(
        "slips-or",
        "Your slips are joined with | or ^. Both must hold: the row is wrong, *and* it does not follow from the step "
        "before. That is &.",
        _returning(lambda wrong, astray: (wrong, wrong | astray), lambda wrong, astray: (wrong, wrong ^ astray)),
    ),
    Mistake(
        "slips-all",
        "You ask that *all* numbers of a row be off. One is enough: .any(axis=-1). (Rows in which all numbers are "
        "close agree; the opposite of that is some number that is not.)",
        _comparing(lambda a, b, half_unit: _apart(a, b, half_unit).all(axis=-1)),
        seen_in=0,
    ),
    Mistake(
        "slips-number-by-number",
        "You look for one number that is off both times. A row is judged as a whole: its first number may be wrong "
        "and follow, its second be right and not follow, and then the row is wrong and does not follow. Make each "
        "comparison a verdict on rows first, .any(axis=-1), and join these with &.",
        _returning(
            lambda wrong, astray: (wrong.any(axis=-1), (wrong & astray).any(axis=-1)),
            of=_numbers,
        ),
    ),
    Mistake(
        "slips-no-abs",
        "You see errors in one direction only. A number may be printed too large or too small: take abs of the "
        "difference, in both comparisons.",
        _one_direction(),
        seen_in=0,
    ),
    Mistake(
        "slips-signs-lost",
        "You compare sizes, and 0.52 is as large as -0.52. Take the difference first, then abs: abs(printed - right).",
        _by_number(lambda a, b, half_unit: abs(abs(a) - abs(b)) > half_unit),
        seen_in=0,
    ),
    Mistake(
        "slips-exact",
        "You ask for equal numbers, or for nearly equal ones. What is printed is rounded, and may be off by half_unit "
        "without being wrong: abs(printed - right) > half_unit. (np.isclose has its own tolerances; with rtol=0, "
        "atol=half_unit it does the same.)",
        _by_number(lambda a, b, half_unit: a != b, lambda a, b, half_unit: ~np.isclose(a, b)),
        seen_in=0,
    ),
    Mistake(
        "slips-whole-unit",
        "You allow a whole unit of the last decimal. Rounding moves a number by half a unit at most, and half_unit is "
        "that half already.",
        _by_number(lambda a, b, half_unit: abs(a - b) > 2 * half_unit),
        seen_in=0,
    ),
    Mistake(
        "slips-quarter-unit",
        "You halve half_unit once more. It is already half a unit of the last decimal, just what rounding may do.",
        _by_number(lambda a, b, half_unit: abs(a - b) > half_unit / 2),
        seen_in=0,
    ),
    Mistake(
        "slips-fixed-tolerance",
        "Your tolerance, or the number of decimals that you round to, is always the same. Notes print one decimal "
        "here and three there: compare with half_unit.",
        _by_number(
            *map(_within, (0.005, 0.01, 0.05, 0.02, 0.1, 0.5, 0.001, 0.0005, 1.0)),
            *map(_rounded_to, range(4)),
            *(lambda a, b, half_unit, d=d: np.round(a, d) != np.round(b, d) for d in range(4)),
        ),
        seen_in=0,
    ),
    Mistake(
        "slips-relative",
        "Your tolerance grows with the numbers. Rounding moves 0.03 and 30.03 by the same half unit: compare the "
        "difference itself with half_unit. (In np.isclose that is atol, and rtol=0.)",
        _by_number(
            lambda a, b, half_unit: ~np.isclose(a, b, rtol=half_unit),
            lambda a, b, half_unit: ~np.isclose(b, a, rtol=half_unit),
            lambda a, b, half_unit: ~np.isclose(a, b, rtol=half_unit, atol=half_unit),
            lambda a, b, half_unit: abs(a - b) / abs(a) > half_unit,
            lambda a, b, half_unit: abs(a - b) / abs(b) > half_unit,
            lambda a, b, half_unit: abs((a - b) / b) > 2 * half_unit,
        ),
        seen_in=0,
    ),
    Mistake(
        "slips-row-sums",
        "You compare the rows' sums or means. One number too large and one too small cancel there: compare number by "
        "number, then ask whether any is off.",
        _comparing(
            lambda a, b, half_unit: abs((a - b).sum(axis=-1)) > half_unit,
            lambda a, b, half_unit: abs((a - b).mean(axis=-1)) > half_unit,
        ),
        seen_in=0,
    ),
    Mistake(
        "slips-total-distance",
        "You add up or average the distances of a row. Many that rounding explains make a large sum, and one error is "
        "lost in an average: compare each distance with half_unit by itself, then take .any(axis=-1).",
        _comparing(
            lambda a, b, half_unit: abs(a - b).sum(axis=-1) > half_unit,
            lambda a, b, half_unit: abs(a - b).mean(axis=-1) > half_unit,
            lambda a, b, half_unit: np.linalg.norm(a - b, axis=-1) > half_unit,
            lambda a, b, half_unit: np.sqrt(((a - b) ** 2).mean(axis=-1)) > half_unit,
            lambda a, b, half_unit: np.median(abs(a - b), axis=-1) > half_unit,
        ),
        seen_in=0,
    ),
    Mistake(
        "slips-one-number",
        "You look at one column. Any number of the row may be off: compare the whole matrices, then .any(axis=-1).",
        _comparing(
            lambda a, b, half_unit: _apart(a, b, half_unit)[:, 0],
            lambda a, b, half_unit: _apart(a, b, half_unit)[:, -1],
        ),
        seen_in=0,
    ),
    Mistake(
        "slips-per-number",
        "You judge every number by itself. Give one verdict for each row: .any(axis=-1) tells whether any number "
        "of it is off.",
        _returning(
            lambda wrong, astray: (wrong, wrong & astray),
            lambda wrong, astray: (wrong, wrong & astray.any(axis=-1, keepdims=True)),
            lambda wrong, astray: (wrong, astray),
            lambda wrong, astray: (wrong, wrong),
            lambda wrong, astray: (wrong, wrong.any(axis=-1) & astray.any(axis=-1)),
            lambda wrong, astray: (wrong.any(axis=-1), wrong & astray),
            lambda wrong, astray: (wrong.any(axis=-1), wrong.any(axis=-1) & astray),
            lambda wrong, astray: (wrong.any(axis=-1), wrong.any(axis=-1, keepdims=True) & astray),
            lambda wrong, astray: (wrong.any(axis=-1), astray),
            of=_numbers,
        ),
    ),
    Mistake(
        "slips-keepdims",
        "Your verdicts stand in a column, (n_rows, 1). Give (n_rows,): leave keepdims=True out.",
        _returning(
            lambda wrong, astray: (wrong[:, None], (wrong & astray)[:, None]),
            lambda wrong, astray: (wrong[:, None], wrong & astray),
            lambda wrong, astray: (wrong, (wrong & astray)[:, None]),
            lambda wrong, astray: (wrong[:, None], wrong[:, None] & astray),
        ),
    ),
    Mistake(
        "slips-columns",
        "You judge columns. A row is judged along its numbers, the last axis: .any(axis=-1), or axis=1.",
        _comparing(lambda a, b, half_unit: _apart(a, b, half_unit).any(axis=0)),
    ),
    Mistake(
        "slips-one-verdict",
        "You give one verdict for the whole step. Give one for each row: .any() looks at everything, "
        ".any(axis=-1) at each row.",
        (
            *_comparing(
                lambda a, b, half_unit: _apart(a, b, half_unit).any(),
                lambda a, b, half_unit: np.full(len(a), _apart(a, b, half_unit).any()),
            ),
            *_returning(lambda wrong, astray: (wrong.any(), (wrong & astray).any())),
        ),
    ),
    Mistake(
        "slips-first-only",
        "You call only one row a slip, the first. The rows of a step do not build on each other: each can slip by "
        "itself.",
        _returning(
            lambda wrong, astray: (wrong, _only_first(wrong & astray)),
            lambda wrong, astray: (wrong, _marked_first(wrong & astray)),
            lambda wrong, astray: (wrong, _only_first(wrong)),
            lambda wrong, astray: (wrong, _marked_first(wrong)),
            lambda wrong, astray: (wrong, _only_first(wrong) & astray),
            lambda wrong, astray: (_only_first(wrong), _only_first(wrong & astray)),
            lambda wrong, astray: (_only_first(wrong), _only_first(wrong) & astray),
        ),
    ),
    Mistake(
        "slips-from-there-on",
        "After the first wrong row, or the first slip, you judge the rows below by it. A row builds on the step "
        "before, not on the row above: judge each by itself.",
        _returning(
            lambda wrong, astray: (_from_there_on(wrong), _from_there_on(wrong & astray)),
            lambda wrong, astray: (_from_there_on(wrong), _from_there_on(wrong) & astray),
            lambda wrong, astray: (_from_there_on(wrong), wrong & astray),
            lambda wrong, astray: (wrong, _from_there_on(wrong & astray)),
            lambda wrong, astray: (wrong, wrong & _from_there_on(wrong & astray)),
            lambda wrong, astray: (wrong | _from_there_on(wrong & astray), wrong & astray),
        ),
    ),
    Mistake(
        "slips-printed-unused",
        "You compare `right` with `given`. That tells whether the step *before* was wrong. To judge this one, compare "
        "what is printed here with each of them.",
        _returning(
            lambda wrong, astray, moved: (wrong, wrong & moved),
            lambda wrong, astray, moved: (wrong, moved),
            lambda wrong, astray, moved: (moved, moved & astray),
            lambda wrong, astray, moved: (moved, wrong & astray),
            lambda wrong, astray, moved: (moved, astray),
            of=_rows_and_inputs,
        ),
    ),
    Mistake(
        "slips-only-after-right",
        "You see a slip only where `given` is right, as if an error before excused this one. A row can carry an error "
        "on and slip as well: what counts is whether what is *printed* follows from `given`.",
        _returning(
            lambda wrong, astray, moved: (wrong, wrong & ~moved),
            lambda wrong, astray, moved: (wrong, wrong & astray & ~moved),
            lambda wrong, astray, moved: (wrong, ~moved),
            of=_rows_and_inputs,
        ),
    ),
    Mistake(
        "slips-nearer",
        "You ask which is nearer, `right` or `given`. A row follows from the step before only if rounding explains "
        "the rest: all its numbers are within half_unit of `given`.",
        _nearer(
            lambda astray, far: (astray > far).any(axis=-1),
            lambda astray, far: (astray >= far).any(axis=-1),
            lambda astray, far: (astray > far).all(axis=-1),
            lambda astray, far: astray.max(axis=-1) > far.max(axis=-1),
            lambda astray, far: astray.sum(axis=-1) > far.sum(axis=-1),
            lambda astray, far: np.linalg.norm(astray, axis=-1) > np.linalg.norm(far, axis=-1),
        ),
    ),
    Mistake(
        "slips-numbers",
        "The verdicts are right, but written as the numbers 1 and 0. Give booleans: NumPy takes 1 and 0 in "
        "brackets for row numbers, and ~1 is -2. `.astype(bool)`, or the comparison as it is.",
        _returning(
            lambda wrong, astray: (wrong.astype(int), (wrong & astray).astype(int)),
            lambda wrong, astray: (wrong, (wrong & astray).astype(int)),
            lambda wrong, astray: (wrong.astype(int), wrong & astray),
        ),
    ),
    Mistake(
        "slips-row-numbers",
        "You return which rows they are, by number. Give True or False for each row, (n_rows,): the booleans "
        "themselves, without np.where, np.flatnonzero or np.argwhere.",
        _returning(
            lambda wrong, astray: (np.flatnonzero(wrong), np.flatnonzero(wrong & astray)),
            lambda wrong, astray: (wrong, np.flatnonzero(wrong & astray)),
            lambda wrong, astray: (np.argwhere(wrong), np.argwhere(wrong & astray)),
            lambda wrong, astray: (np.where(wrong), np.where(wrong & astray)),
        ),
    ),
    Mistake(
        "slips-counts",
        "You count the numbers that are off. Say whether there is any: .any(axis=-1).",
        _returning(
            lambda wrong, astray: (wrong.sum(axis=-1), (wrong & astray).sum(axis=-1)),
            lambda wrong, astray: (wrong.sum(axis=-1), wrong.any(axis=-1) & astray.any(axis=-1)),
            lambda wrong, astray: (wrong.sum(axis=-1), wrong.any(axis=-1) * astray.sum(axis=-1)),
            lambda wrong, astray: (wrong.any(axis=-1), wrong.any(axis=-1) * astray.sum(axis=-1)),
            lambda wrong, astray: (wrong.sum(axis=-1), astray.sum(axis=-1)),
            of=_numbers,
        ),
        seen_in=0,
    ),
    Mistake(
        "slips-distances",
        "You return how far the numbers are off. Give a verdict for each row: whether any of them is farther off "
        "than half_unit.",
        (_distances, _largest_distances, _distances_where_wrong),
        seen_in=0,
    ),
    Mistake(
        "slips-pairs",
        "You return a pair of verdicts for each row. Give two arrays, one verdict for each row in both: "
        "`return wrong, slip`.",
        _returning(
            lambda wrong, astray: np.stack([wrong, wrong & astray], axis=-1),
            lambda wrong, astray: list(zip(wrong, wrong & astray, strict=True)),
        ),
    ),
)
