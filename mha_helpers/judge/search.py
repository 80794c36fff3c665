"""Which mistakes explain an output: one, or two or three at once, cheapest first."""

import itertools
from collections import defaultdict

import numpy as np

from .compare import OF_THE_LARGEST, fits
from .stages import RIGHT, STEPS, UNCOMPUTABLE, compute
from .time_limit import thread_time

ALIKE_AT_MOST = 60  # combinations of equivalent forms to look at
LEAST_SHARE = 0.6  # of the numbers that came back, an explanation predicts so many


def explanations(case, target, forms, *, right=RIGHT, confirm=(), deadline, plan):
    """Find the smallest sets of altered steps that give the target.

    Parameters
    ----------
    case : Input
    target : ndarray
    forms : list of Form
        Altered forms to choose from, at most one a step.
    right : dict of str to Form, optional
    confirm : list of (Input, ndarray), optional
        Further cases that an explanation must give, too.
    deadline : float
        On the clock of `thread_time`: a busy machine doesn't change what is found.
    plan : sequence of (int, int)
        How many mistakes at once, and how many of them may be rare ones; each costs more than those before it.

    Returns
    -------
    found : list of tuple of Form
        Of the smallest size at which there are any.
    finished : bool
        Whether the whole plan up to there was carried out.
    """
    if compute(case, right=right)[0] is None:
        return [], True
    alike, alone = _alike(case, forms, right)
    for count, rare in plan:
        search = _Search(case, target, alone, right, count, rare, deadline)
        found = []
        for combination in search.run():
            equivalents = itertools.product(*(alike[form] for form in combination))
            for one in itertools.islice(equivalents, ALIKE_AT_MOST):
                if _confirmed(one, right, [(case, target), *confirm]):
                    found.append(one)
        if found or search.stopped:
            return found, not search.stopped
    return [], True


def designs_that_fit(case, target, designs, right):
    """Choose one form for each step so that the target comes out.

    Parameters
    ----------
    case : Input
    target : ndarray
    designs : dict of str to sequence of Form
        Where there is a choice, the plain form first.
    right : dict of str to Form

    Returns
    -------
    list of dict of str to Form
        Whole equations, those with fewest unusual forms first.
    """
    found, near = [], _near(target)

    def descend(i, given, chosen):
        if i == len(STEPS):
            if given[0].shape == target.shape and near(given[0]) and fits(target, given[0]):
                found.append(chosen)
            return
        for form in designs.get(STEPS[i]) or (right[STEPS[i]],):
            try:
                result = form.run(case, given)
            except UNCOMPUTABLE:
                continue
            descend(i + 1, result, {**chosen, STEPS[i]: form})

    with np.errstate(all="ignore"):
        descend(0, None, {})
    plain = {step: forms[0] for step, forms in designs.items()}
    return sorted(found, key=lambda way: sum(way[step] is not form for step, form in plain.items()))


def _near(target):
    """Whether an output is near the target in a few entries: these tell most apart at less cost than all of them."""
    finite = np.flatnonzero(np.isfinite(target))
    spots = finite[[0, len(finite) // 2, -1]] if len(finite) else finite
    wanted = target.ravel()[spots]
    room = 10 * OF_THE_LARGEST * np.abs(target[np.isfinite(target)]).max(initial=1e-3)
    # NaN passes, and is looked at closely.
    return lambda output: not (np.abs(output.ravel()[spots] - wanted) > room).any()


def _confirmed(forms, right, answers):
    """Whether these forms give every answer, and most of all the numbers in them: NaN may stand for anything."""
    known = total = 0
    for case, given in answers:
        predicted = compute(case, forms, right=right)[0]
        if not fits(given, predicted, vacuous=True):
            return False
        finite = np.isfinite(given)
        known, total = known + (finite & ~np.isnan(predicted)).sum(), total + finite.sum()
    return known >= LEAST_SHARE * total


def each_alone(case, forms, right):
    """Yield each form, and the output with this one step altered, or None where that can't be computed.

    The right steps before it are computed once for all; they must be computable on this case.
    """
    with np.errstate(all="ignore"):
        before = [None]
        for step in STEPS:
            before.append(right[step].run(case, before[-1]))
    for form in forms:
        i = STEPS.index(form.step)
        with np.errstate(all="ignore"):
            try:
                given = form.run(case, before[i])
                for step in STEPS[i + 1 :]:
                    given = right[step].run(case, given)
            except UNCOMPUTABLE:
                given = [None]
        yield form, given[0]


def _alike(case, forms, right):
    """Group the forms that give the same on this case, under the most common one; drop what changes nothing.

    Returns
    -------
    alike : dict of Form to list of Form
    alone : dict of Form to ndarray
        What each that stands for a group gives.
    """
    unaltered = _fingerprint(compute(case, right=right)[0])
    alike, alone, first = {}, {}, {}
    for form, output in each_alone(case, sorted(forms, key=lambda form: form.rare), right):
        mark = None if output is None else _fingerprint(output)
        if mark is None or mark == unaltered:
            continue
        leader = first.setdefault((form.step, mark), form)
        alone.setdefault(leader, output)
        alike.setdefault(leader, []).append(form)
    return alike, alone


def _fingerprint(output):
    """A few numbers in which outputs that differ by more than rounding differ."""
    flat = output.ravel()
    unknown = np.isnan(flat)
    with np.errstate(all="ignore"):
        sums = np.where(unknown, 0, flat) @ np.cos(np.outer(np.arange(flat.size), (1.0, 2.3)))
    return output.shape, int(unknown.sum()), *(f"{number:.8g}" for number in sums)


class _Search:
    """All choices of exactly `count` altered forms, each step computed once for all that share it.

    `alone` holds the forms, with what each gives alone.
    """

    def __init__(self, case, target, alone, right, count, rare, deadline):
        self.case, self.target, self.right, self.count, self.rare = case, target, right, count, rare
        self.alone, self.deadline = alone, deadline
        self.by_step = defaultdict(list)
        for form in alone:
            if rare or not form.rare:
                self.by_step[form.step].append(form)
        # How many steps from here on can be altered: a branch that cannot reach `count` is not entered.
        self.left = [sum(bool(self.by_step[step]) for step in STEPS[i:]) for i in range(len(STEPS) + 1)]
        self.near = _near(target)
        self.stopped = False
        self.found = []

    def run(self):
        with np.errstate(all="ignore"):
            if self.count == 1:
                for form in (form for step in reversed(STEPS) for form in self.by_step[step]):
                    self._compare(self.alone[form], (form,), form.rare)
            else:
                self._descend(0, None, (), 0)
        return self.found

    def _descend(self, i, given, chosen, rare):
        if i == len(STEPS):
            self._compare(given[0], chosen, rare)
            return
        if thread_time() > self.deadline:
            self.stopped = True
            return
        missing = self.count - len(chosen)
        if missing <= self.left[i + 1]:
            self._try(i, self.right[STEPS[i]], given, chosen, rare)
        if missing and missing - 1 <= self.left[i + 1]:
            for form in self.by_step[STEPS[i]]:
                if rare + form.rare <= self.rare:
                    self._try(i, form, given, (*chosen, form), rare + form.rare)

    def _try(self, i, form, given, chosen, rare):
        try:
            result = form.run(self.case, given)
        except UNCOMPUTABLE:
            return
        self._descend(i + 1, result, chosen, rare)

    def _compare(self, output, chosen, rare):
        if output.shape != self.target.shape or (rare != self.rare and self.rare < self.count and self.rare):
            return  # with fewer rare forms it was tried before
        if self.near(output) and fits(self.target, output):
            self.found.append(chosen)
