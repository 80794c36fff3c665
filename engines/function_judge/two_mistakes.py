"""Two known mistakes at once, each recognised where the other can't show.

Two mistakes that are made together give what no wrong program of the catalogue gives. But in some cases a mistake can't
show: a missing divisor changes nothing where it would be 1, an unused condition nothing where it always holds. There an
answer must be what the other mistake alone gives. A task's `probes` are small cases of that kind.
"""

import itertools
from collections.abc import Sequence

import numpy as np

from function_judge.call import same, same_shapes
from function_judge.catalogue import Catalogue, Mistake, in_what_came_back
from function_judge.compare import close
from function_judge.task import Trial


def recognise_two(
    catalogue: Catalogue, probes: Sequence[Trial], trials: Sequence[Trial], known: Mistake | None = None
) -> tuple[Mistake, ...]:
    """Find two mistakes that together explain a wrong answer.

    Either is recognised in a probe in which the other can't show, and wherever one can't show, the answer is what the
    other gives.

    Parameters
    ----------
    catalogue : Catalogue
    probes, trials : sequence of Trial
        The answer to the probes, and to a task's cases.
    known : Mistake, optional
        One of the two, where it is known.

    Returns
    -------
    tuple of Mistake
        The one that shows in more cases is the first; empty where no two explain it.
    """
    outputs = range(len(probes[0].expected.arrays)) if probes else ()
    places = sorted({place for trial in probes for output in outputs for place in _seen(catalogue, trial, output)})
    if len(places) < 2:
        return ()
    parts = list(itertools.product((*probes, *trials), outputs))  # each output of each case by itself
    explained, hidden = _compared(catalogue, places, parts)
    is_plain = np.array([not trial.case.edge for trial, _ in parts])
    asked = [known in (None, catalogue.programs[place][0]) for place in places]
    for view in (np.full(len(parts), True), is_plain):
        if best := _explaining_together(explained[:, view], hidden[:, view], asked):
            most_seen_first = sorted(best, key=lambda row: hidden[row, is_plain].sum())
            return tuple(catalogue.programs[places[row]][0] for row in most_seen_first)
    return ()


def _compared(catalogue, places, parts):
    """Tell of each program, in each part, whether it explains the answer, and whether it can't show."""
    explained, hidden = np.zeros((2, len(places), len(parts)), bool)
    for (row, place), (column, (trial, output)) in itertools.product(enumerate(places), enumerate(parts)):
        outcome = catalogue.outcome(place, trial.case)
        explained[row, column] = same(outcome, trial.actual, output)
        hidden[row, column] = same(outcome, trial.expected, output)
    return explained, hidden


def _explaining_together(explained, hidden, asked):
    """Return two rows, at least one of them asked for, that explain most, each all columns that the other hides in."""

    def is_pair(first, second):
        return all(
            explained[row, hidden[other]].all() and (hidden[other] & ~hidden[row]).any()
            for row, other in ((first, second), (second, first))
        )

    pairs = [
        pair
        for pair in itertools.combinations(range(len(explained)), 2)
        if is_pair(*pair) and (asked[pair[0]] or asked[pair[1]])
    ]
    return max(pairs, key=lambda pair: explained[list(pair)].any(axis=0).sum(), default=None)


def recognise_without_conditions(
    catalogue: Catalogue, probes: Sequence[Trial], trials: Sequence[Trial]
) -> tuple[Mistake, Trial | None] | None:
    """Find the mistake that explains a wrong answer wherever no option is given, or no condition holds anything back.

    What else is wrong has to do with an option or a condition then, whether or not it is known.

    Parameters
    ----------
    catalogue, probes, trials
        As for `recognise_two`.

    Returns
    -------
    mistake, trial : Mistake and Trial, or None
        The trial is the first in which something else is wrong. It is None where no more than NaN and infinity came
        back beside what the mistake gives: the same mistake, written in another way, may have made them.
    """
    for view in _without_conditions([*probes, *trials]):
        others = [trial for trial in trials if trial not in view and not trial.is_right]
        is_telling = others and sum(not trial.is_right for trial in view) > 1
        if is_telling and (mistake := in_what_came_back(catalogue, view)):
            return mistake, next((trial for trial in others if _is_more(catalogue, mistake, trial)), None)
    return None


def _without_conditions(trials):
    """Return those without any option in which no condition holds anything back, and then all of these."""
    unconditional = [trial for trial in trials if not trial.case.holds_back]
    return [trial for trial in unconditional if not trial.case.options], unconditional


def _is_more(catalogue, mistake, trial):
    """Tell whether an answer holds other numbers than a mistake's programs give, and not just NaN and infinity."""
    places = (place for place, (each, _) in enumerate(catalogue.programs) if each is mistake)
    return not any(_differs_in_nan_alone(trial.actual, catalogue.outcome(place, trial.case)) for place in places)


def _differs_in_nan_alone(actual, other):
    if not (actual.arrays and other.arrays and same_shapes(actual, other)):
        return False
    pairs = zip(actual.arrays, other.arrays, strict=True)
    return all((close(got, wanted) | ~np.isfinite(got)).all() for got, wanted in pairs)


def _seen(catalogue, trial, output):
    """Return the programs that give the wrong numbers that an answer gives in a probe."""
    if same(trial.actual, trial.expected, output):
        return []
    return catalogue.alike(trial.case, trial.actual, range(len(catalogue.programs)), output)
