"""The exercise `judge_step`: which rows of a calculation contain an error of their own."""

import itertools

import numpy as np

from mha_helpers.exercises.engine import Case, Exercise
from mha_helpers.exercises.mistakes.catalogue import mistakes_in
from mha_helpers.exercises.output_projection.mistakes import judge_step as wrong
from mha_helpers.shapes import checked
from mha_helpers.worked_examples import replay

MATRICES = ("printed", "right", "given")


@checked(printed="n_rows n_columns", right="n_rows n_columns", given="n_rows n_columns", half_unit="number")
def judge_step(printed, right, given, half_unit):
    """Tell the rows of a step that contain an error of their own from those that carry an earlier one on.

    Parameters
    ----------
    printed : array_like, shape (n_rows, n_columns)
        The step as the notes print it, rounded.
    right : array_like, shape (n_rows, n_columns)
        The step computed from the inputs.
    given : array_like, shape (n_rows, n_columns)
        The step computed from what the notes print one step earlier.
    half_unit : float
        Half a unit of the last printed decimal, the most by which rounding moves a number: 0.005 for two decimals.

    Returns
    -------
    wrong : ndarray of bool, shape (n_rows,)
        Where some number of the row is farther from `right` than rounding explains.
    slip : ndarray of bool, shape (n_rows,)
        Where the row is wrong, and does not follow from the step before either. (A row that does not follow, and is
        right all the same, is right by luck: neither wrong nor a slip.)

    Raises
    ------
    ValueError
        If the three are not matrices of one shape.

    Examples
    --------
    Three rows of notes: one carries an error on, one slips, one is right by luck.

    >>> printed = [[0.43, 0.43], [0.34, 0.34], [0.41, 0.41]]
    >>> right = [[0.4044, 0.4044], [0.3900, 0.3900], [0.4122, 0.4122]]
    >>> given = [[0.4300, 0.4300], [0.3980, 0.3980], [0.4260, 0.4260]]
    >>> wrong, slip = judge_step(printed, right, given, 0.005)
    >>> wrong, slip
    (array([ True,  True, False]), array([False,  True, False]))
    """
    wrong = (abs(printed - right) > half_unit).any(axis=-1)
    slip = wrong & (abs(printed - given) > half_unit).any(axis=-1)
    return wrong, slip


_NOTES = replay("cat_sat")

# How far what is right, and what is given, are from what is printed: in units of the last printed decimal.
_KINDS = {
    "agrees": ((0.40, -0.30, 0.20, -0.10, 0.30), (0.30, -0.40, 0.15, -0.20, 0.40)),
    "agrees exactly": ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0)),
    "agrees from above": ((0.45, 0.40, 0.35, 0.30, 0.40), (0.40, 0.45, 0.30, 0.35, 0.45)),
    "agrees closely": ((-0.30, 0.10, -0.20, 0.15, -0.10), (-0.20, 0.30, -0.10, 0.20, -0.15)),
    "carried": ((2.60, -1.70, 3.40, 0.80, -1.20), (0.20, -0.30, 0.40, -0.10, 0.35)),
    "carried slightly": ((0.70, 0.10, -0.20, 0.30, 0.20), (0, 0, 0, 0, 0)),
    "carried cancelling": ((-2.40, 2.40, 0.10, 0.20, -0.30), (0.40, 0.35, 0.20, 0.10, -0.20)),
    "slips": ((3.30, 2.70, -4.10, 1.60, 5.20), (3.10, 2.90, -4.40, 1.80, 5.00)),
    "slips anew": ((4.20, -2.30, 1.40, 0.30, 0.20), (-2.10, 3.60, 0.10, -1.70, 0.35)),
    "slips in one": ((6.20, 0.10, -0.20, 0.30, -0.35), (6.40, -0.15, 0.10, 0.35, -0.40)),
    "slips in between": ((2.20, 0.10, 0.30, -0.20, 0.40), (-1.30, 0.20, 0.20, -0.30, 0.35)),
    "slips slightly": ((0.80, 0.20, -0.40, 0.10, 0.30), (0.70, 0.10, -0.30, 0.20, 0.35)),
    "slips by more than one": ((-1.30, 0.10, 0.20, -0.40, 0.35), (-1.20, 0.15, 0.10, -0.30, 0.40)),
    "slips near given": ((3.70, -0.30, 0.20, 0.40, 0.10), (0.80, 0.20, -0.30, 0.10, 0.40)),
    "slips near right": ((0.80, -0.20, 0.30, 0.10, 0.20), (-3.60, 0.30, 0.20, -0.40, 0.10)),
    "slips cancelling": ((3.10, -3.10, 0.20, -0.20, 0.10), (-2.20, 2.20, 0.10, -0.10, 0.20)),
    "slips crosswise": ((2.30, 0.10, -0.30, 0.20, 0.15), (0.20, -1.90, 0.35, -0.10, 0.20)),
    "lucky": ((0.20, -0.10, 0.30, 0.10, -0.20), (1.80, -2.20, 0.75, 1.40, -1.10)),
    "lucky in one": ((0.40, 0.10, -0.30, 0.20, 0.35), (0.85, 0.20, -0.20, 0.30, 0.40)),
}


def _of_the_notes(trait, step, half_unit=0.005):
    rows = [row for row in _NOTES if row.step == step]
    arguments = {name: np.array([getattr(row, name) for row in rows], dtype=np.float64) for name in MATRICES}
    return Case(trait, arguments | {"half_unit": half_unit})


def _made_up(trait, seed, kinds, n_columns, decimals=2, dtype=np.float64):
    """Return a case whose rows are of these kinds, small and large numbers of both signs."""
    rng = np.random.default_rng(seed)
    off = [[np.roll(row[:n_columns], place) for row in _KINDS[kind]] for place, kind in enumerate(kinds)]
    off = np.array(off) * rng.choice((-1, 1), size=(len(kinds), 1, 1))
    printed = rng.integers(-15, 16, size=(len(kinds), n_columns)) ** 3
    unit = 10.0**-decimals
    matrices = (printed, printed + off[:, 0], printed + off[:, 1])
    arguments = {
        name: (matrix * unit).round(decimals + 2).astype(dtype) for name, matrix in zip(MATRICES, matrices, strict=True)
    }
    return Case(trait, arguments | {"half_unit": unit / 2})


def _transposed(case):
    views = {name: np.ascontiguousarray(case.arguments[name].T).T for name in MATRICES}
    return Case(case.trait, case.arguments | views)


def _judging_cases():
    all_kinds = tuple(_KINDS)
    some = ("agrees", "slips in one", "carried", "slips slightly", "carried slightly", "lucky", "slips crosswise")
    others = ("lucky in one", "agrees from above", "slips anew", "carried cancelling", "slips cancelling")
    lost_signs = {
        "printed": np.array([[0.52, -1.30, 0.71], [0.08, 2.45, -0.63], [1.17, -0.29, 0.94], [0.36, 0.81, 1.05]]),
        "right": np.array([[-0.52, -1.30, 0.71], [0.08, -2.45, 0.63], [1.17, -0.29, -0.94], [0.36, 0.81, 1.05]]),
        "given": np.array([[0.52, -1.30, 0.71], [0.08, -2.45, -0.63], [1.17, 0.29, 0.94], [0.36, -0.81, 1.05]]),
        "half_unit": 0.005,
    }
    return (
        _of_the_notes("the notes' context of head 1", "head 1 context"),
        _made_up("a row of each kind", 0, all_kinds, 4),
        _made_up("seventy rows", 1, np.random.default_rng(1).choice(all_kinds, 70), 5),
        _made_up("every row agrees", 2, ("agrees", "agrees exactly", "agrees from above", "lucky"), 3),
        _made_up("one row", 3, ("slips in one",), 4),
        _made_up("one column", 4, all_kinds, 1),
        _made_up("as many rows as columns", 5, ("slips", "agrees", "carried", "slips in between", "lucky in one"), 5),
        _made_up("one decimal", 6, some, 3, decimals=1),
        _made_up("three decimals", 7, others, 4, decimals=3),
        _made_up("whole numbers", 8, some[::-1], 2, decimals=0),
        Case("lost signs", lost_signs),
        _made_up("float32", 9, others + some, 3, dtype=np.float32),
        _transposed(_made_up("transposed views", 10, some + others, 4)),
        _of_the_notes("the notes' terms of head 1", "head 1 terms of 'the'", 0.0005),
        _of_the_notes("the notes' weights of head 1", "head 1 weights"),
        _of_the_notes("the notes' heads side by side", "concatenation"),
        _of_the_notes("the notes' output", "output"),
    )


def _not_verdicts(call, arguments, arrays):
    if all(np.isin(array, (0, 1)).all() for array in arrays):
        return None
    if any(np.isin(array, (-1, -2)).all() for array in arrays):
        return "To whole numbers ~ is something else: ~1 is -2, and ~0 is -1. Make booleans first."
    return "A verdict is True or False, and yours holds other numbers."


def _slip_that_is_not_wrong(call, arguments, arrays):
    wrong, slip = arrays
    rows = np.flatnonzero(slip > wrong)
    return f"Row {rows[0]} is a slip and not wrong in yours: a slip is wrong first of all." if len(rows) else None


def _rows_mixed(call, arguments, arrays):
    printed, right, half_unit = (arguments[name] for name in ("printed", "right", "half_unit"))
    for row, off in itertools.product(range(len(printed)), (0, 1000 * half_unit)):
        other = printed.copy()
        other[row] = right[row] + off
        verdicts = call(printed=other)
        if verdicts is None or any(a.shape != b.shape for a, b in zip(verdicts, arrays, strict=True)):
            return None
        changed = np.any([a != b for a, b in zip(verdicts, arrays, strict=True)], axis=0)
        changed[row] = False
        if changed.any():
            return f"Your verdict on row {changed.argmax()} changes when only row {row} does."
    return None


def _wrong_depends_on_given(call, arguments, arrays):
    verdicts = call(given=arguments["right"])
    if verdicts is None or np.array_equal(verdicts[0], arrays[0]):
        return None
    return "Your `wrong` changes when only `given` does. What is wrong comes from `printed` and `right` alone."


def _misjudged(call, arguments, arrays):
    """Show the numbers that decide on the first row that is judged otherwise."""
    half_unit = arguments["half_unit"]
    told = ("is right", "wrong", arguments["right"]), ("follows from the step before", "a slip", arguments["given"])
    for (what, verdict, other), yours, due in zip(told, arrays, judge_step(**arguments), strict=True):
        rows = np.flatnonzero(yours != due)
        if not len(rows):
            continue
        row = rows[0]
        distances = abs(arguments["printed"][row] - other[row])
        column = distances.argmax()
        numbers = f"column {column} prints {arguments['printed'][row, column]:g} where {other[row, column]:.6g} {what}"
        if distances[column] > half_unit:
            return f"Row {row} is {verdict}: {numbers}, {distances[column]:.2g} apart, and half_unit is {half_unit:g}."
        return f"Row {row} is not {verdict}: even where it is farthest off, {numbers}, and half_unit is {half_unit:g}."
    return None


exercise = Exercise(
    reference=judge_step,
    outputs=("wrong", "slip"),
    first_output=0,  # wrong
    cases=_judging_cases(),
    mistakes=mistakes_in(wrong),
    properties=(_not_verdicts, _slip_that_is_not_wrong, _rows_mixed, _wrong_depends_on_given, _misjudged),
    hints=(
        "Two questions for each row. Does it agree with `right`, to the digits printed? And if not: does it at least "
        "follow from `given`? Only a row that does neither is a slip.",
        "A number is off if it is farther away than rounding explains: abs(printed - right) > half_unit, a boolean for "
        "each number. A row is wrong if any of its numbers is off.",
        ".any(axis=-1) makes one boolean of each row. For the slips do the same with `given`, and join the two with &: "
        "wrong & (abs(printed - given) > half_unit).any(axis=-1).",
    ),
    on_success="You can find the first wrong step of a calculation, and leave the ones after it in peace. The cell "
    "below puts the notes through it.",
)
