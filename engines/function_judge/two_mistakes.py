"""Two known mistakes at once, each recognised where the other can't show.

Two mistakes that are made together give what no wrong program of the catalogue gives. But in some cases a mistake can't
show: a missing scale changes nothing where there is a single feature, an unused mask nothing where all may be seen.
There an answer must be what the other mistake alone gives. A task's `probes` are small cases of that kind.
"""

import itertools
from collections.abc import Sequence

import numpy as np

from function_judge.call import same
from function_judge.catalogue import Catalogue, Mistake, in_what_came_back
from function_judge.task import Trial


def recognise_two(catalogue: Catalogue, probes: Sequence[Trial], trials: Sequence[Trial]) -> tuple[Mistake, ...]:
    """Find two mistakes that together explain a wrong answer.

    Either is recognised in a probe in which the other can't show, and wherever one can't show, the answer is what the
    other gives.

    Parameters
    ----------
    catalogue : Catalogue
    probes, trials : sequence of Trial
        The answer to the probes, and to a task's cases.

    Returns
    -------
    tuple of Mistake
        The one that shows in more cases is the first; empty where no two explain it.
    """
    if not probes or all(trial.actual.error for trial in probes):
        return ()
    outputs = range(len(probes[0].expected.arrays))
    places = sorted({place for trial in probes for output in outputs for place in _seen(catalogue, trial, output)})
    parts = list(itertools.product([*probes, *trials], outputs))  # each output of each case by itself
    explained, hidden = np.zeros((2, len(places), len(parts)), bool)
    for (row, place), (column, (trial, output)) in itertools.product(enumerate(places), enumerate(parts)):
        given = catalogue.outcome(place, trial.case)
        explained[row, column] = same(given, trial.actual, output)
        hidden[row, column] = same(given, trial.expected, output)

    def explain_together(first, second):
        """Tell whether each explains the answer wherever the other can't show, and both are seen there."""
        return all(
            explained[one, hidden[other]].all() and (hidden[other] & ~hidden[one]).any()
            for one, other in ((first, second), (second, first))
        )

    pairs = [pair for pair in itertools.combinations(range(len(places)), 2) if explain_together(*pair)]
    if not pairs:
        return ()
    best = max(pairs, key=lambda pair: explained[list(pair)].any(axis=0).sum())
    most_seen_first = sorted(best, key=lambda row: hidden[row].sum())
    return tuple(catalogue.programs[places[row]][0] for row in most_seen_first)


def recognise_where_bare(catalogue: Catalogue, probes: Sequence[Trial], trials: Sequence[Trial]) -> Mistake | None:
    """Find the mistake that explains a wrong answer wherever no option is given and no condition holds anything back.

    What else is wrong has to do with an option or a condition then, whether or not it is known.

    Parameters
    ----------
    catalogue, probes, trials
        As for `recognise_two`.
    """
    bare, others = [], []
    for trial in (*probes, *trials):
        (bare if trial.case.is_bare else others).append(trial)
    if not others or sum(not trial.is_right for trial in bare) < 2:
        return None
    return in_what_came_back(catalogue, bare)


def _seen(catalogue, trial, output):
    """Return the programs that give the wrong numbers that an answer gives in a probe."""
    if same(trial.actual, trial.expected, output):
        return []
    return catalogue.alike(trial.case, trial.actual, range(len(catalogue.programs)), output)
