"""Known mistakes, and finding those that give what somebody's function gave.

Every wrong program is run once on a case. A number made of what it gave, its fingerprint, then tells for almost all of
them that they gave something else; those that are left are compared cell by cell.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from function_judge.call import Outcome, same
from function_judge.compare import ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE

MAX_COMPARED = 16  # programs: so few are compared sooner than all are run


@dataclass(frozen=True, eq=False)
class Mistake:
    """A wrong answer that people give.

    Parameters
    ----------
    slug : str
        Its stable name.
    message : str
        What to tell whoever made it.
    implementations : tuple of callable
        The wrong code, in one or more spellings that fail in their own ways.
    remedy : str, optional
        The end of the message, where that gives away what there is to find out.
    """

    slug: str
    message: str
    implementations: tuple[Callable, ...]
    remedy: str = ""


class Catalogue:
    """The wrong programs of some mistakes, in the order of preference; each is known by its place.

    Parameters
    ----------
    mistakes : tuple of Mistake
        Each with `implementations`, the wrong programs.
    outcome : callable
        From a program and a case to its Outcome; remembers what it was asked before.
    """

    def __init__(self, mistakes: tuple[Mistake, ...], outcome: Callable[..., Outcome]) -> None:
        self.programs = [(mistake, program) for mistake in mistakes for program in mistake.implementations]
        self._outcome = outcome
        self._shelves: dict[tuple, dict] = {}  # by trait of a case and output: what all programs gave, by its kind

    def outcome(self, place: int, case: Any) -> Outcome:
        return self._outcome(self.programs[place][1], case)

    def alike(self, case: Any, actual: Outcome, among: Sequence[int], output: int | None = None) -> list[int]:
        """Return which programs gave the same in a case.

        Parameters
        ----------
        case : Case
        actual : Outcome
        among : list of int
            The places of the programs to look at.
        output : int, optional
            The one output to compare.
        """
        if len(among) > MAX_COMPARED:
            possible = self._looked_up(case, actual, output)
            among = [place for place in among if place in possible]
        return [place for place in among if same(self.outcome(place, case), actual, output)]

    def failing(self, case: Any, among: Sequence[int]) -> list[int]:
        """Return which programs stop with an error in a case."""
        return [place for place in among if self.outcome(place, case).error is not None]

    def _looked_up(self, case, actual, output):
        asked = (case.trait, output)
        if asked not in self._shelves:
            shelf = self._shelves[asked] = {}
            for place in range(len(self.programs)):
                outcome = self.outcome(place, case)
                shelf.setdefault(_kind(outcome, output), []).append((place, _fingerprint(outcome, output)[0]))
        kind = _kind(actual, output)
        if kind not in self._shelves[asked]:  # of a huge result nothing is computed
            return ()
        number, tolerance = _fingerprint(actual, output)
        with np.errstate(invalid="ignore"):
            return {place for place, other in self._shelves[asked][kind] if not abs(other - number) > tolerance}


def _kind(outcome, output):
    """Return what two outcomes must have in common to be the same: the error, or the shapes."""
    if outcome.error is not None or outcome.arrays is None:
        return type(outcome.error)
    return len(outcome.arrays), *(array.shape for array in _compared(outcome, output))


def _fingerprint(outcome, output):
    """Return the number of an outcome, and how far the number of the same, to rounding, may be from it.

    Where the number is NaN, any other may be near.
    """
    number = tolerance = 0.0
    with np.errstate(all="ignore"):
        for array in _compared(outcome, output):
            cells = np.where(np.isfinite(array), array, 0).ravel()
            number += np.cos(np.arange(cells.size)) @ cells
            tolerance += ABSOLUTE_TOLERANCE * cells.size + 1.01 * RELATIVE_TOLERANCE * np.abs(cells).sum()
    return number, tolerance


def _compared(outcome, output):
    if outcome.arrays is None:
        return ()
    return outcome.arrays if output is None else outcome.arrays[output : output + 1]


def recognise(catalogue: Catalogue, trials: list, probes: Callable[[], list] = list) -> Mistake | None:
    """Find the mistake that gives the same answers in all cases, or else in all but those at the edges.

    Parameters
    ----------
    catalogue : Catalogue
    trials : list of Trial
    probes : callable, optional
        Returns further trials, which are asked for where several mistakes give the same answers.
    """
    trials = _telling_first(trials)
    for view in (trials, _plain(trials)):
        among = [] if all(trial.is_right for trial in view) else range(len(catalogue.programs))
        for trial in view:
            among = among and catalogue.alike(trial.case, trial.actual, among)
        if among:
            return catalogue.programs[_told_apart(catalogue, among, probes)[0]][0]
    return None


def _told_apart(catalogue, places, probes):
    """Return those of several programs that give the same in the probes, too, if they are of different mistakes."""
    if len({catalogue.programs[place][0] for place in places}) == 1:
        return places
    trials = probes()
    alike = [place for place in places if all(same(catalogue.outcome(place, t.case), t.actual) for t in trials)]
    return alike or places


def recognise_in_part(
    catalogue: Catalogue, trials: list, is_single: Callable[..., bool], first_output: int | None = None
) -> Mistake | None:
    """Find a mistake behind which something else is wrong as well.

    It gives the same wherever something came back; or the same where there is no batch; or the same in the output that
    is computed first.

    Parameters
    ----------
    catalogue : Catalogue
    trials : list of Trial
    is_single : callable
        Whether a case has no batch axes.
    first_output : int, optional
        The output that is computed first: where it is made with a mistake, the others may be wrong in a way of their
        own as well.
    """
    plain = _plain(_telling_first(trials))
    single = [trial for trial in plain if is_single(trial.case)]
    outputs = [None] if first_output is None else [None, first_output]
    for output, view in itertools.product(outputs, (plain, single)):
        if found := in_what_came_back(catalogue, view, output):
            return found
    return None


def in_what_came_back(catalogue: Catalogue, trials: list, output: int | None = None) -> Mistake | None:
    """Return the first mistake that gives the same (or the same one of the outputs) wherever something came back."""
    among: Sequence[int] = range(len(catalogue.programs))
    for trial in trials:
        alike = catalogue.alike(trial.case, trial.actual, among, output)
        if trial.actual.error is not None:  # both fail, each in its own words
            alike = sorted({*alike, *catalogue.failing(trial.case, among)})
        among = alike
    found = (catalogue.programs[place][0] for place in among if _shows(catalogue, place, trials, output))
    return next(found, None)


def _shows(catalogue, place, trials, output):
    """Tell whether anything that both gave is wrong."""
    return any(
        not same(trial.actual, trial.expected, output)
        for trial in trials
        if trial.actual.error is None or catalogue.outcome(place, trial.case).error is None
    )


def _telling_first(trials):
    """Return what can be compared; a wrong answer tells most mistakes apart at the first comparison."""
    comparable = [trial for trial in trials if not (trial.case.error_is_fine and trial.actual.error)]
    return sorted(comparable, key=lambda trial: trial.is_right)


def _plain(trials):
    return [trial for trial in trials if not trial.case.edge]
