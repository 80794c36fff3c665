"""Which mistakes explain an output: one, or two or three at once, cheapest first."""

import functools
import itertools
from collections import defaultdict

import numpy as np

from .compare import OF_THE_LARGEST, fits
from .stages import RIGHT, STEPS, UNCOMPUTABLE, compute
from .time_limit import thread_time

ALIKE_AT_MOST = 60  # combinations of equivalent forms to look at
LEAST_SHARE = 0.6  # of the numbers that came back, an explanation predicts so many
SOFTMAX, OUTPUT = STEPS.index("softmax"), STEPS.index("output")
ENTRIES = 6  # of one token: they tell most outputs apart, at a small part of the cost of all


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
    alike = _alike(case, forms, right)
    targets = [Target(*one, right) for one in ((case, target), *confirm)]
    for count, rare in plan:
        search = _Search(targets[0], list(alike), count, rare, deadline)
        found = []
        for combination in search.run():
            equivalents = itertools.product(*(alike[form] for form in combination))
            for one in itertools.islice(equivalents, ALIKE_AT_MOST):
                if _confirmed(one, targets):
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
    found, wanted = [], Target(case, target, right)

    def descend(i, given, chosen):
        if i == len(STEPS):
            if wanted.is_near(given[0]) and fits(target, compute(case, right=chosen)[0]):
                found.append(chosen)
            return
        if i == OUTPUT and (given := wanted.token_of(given)) is None:
            return
        for form in designs.get(STEPS[i]) or (right[STEPS[i]],):
            try:
                result = form.run(case if i < OUTPUT else wanted.token_case, given)
            except UNCOMPUTABLE:
                continue
            descend(i + 1, result, {**chosen, STEPS[i]: form})

    with np.errstate(all="ignore"):
        descend(0, None, {})
    plain = {step: forms[0] for step, forms in designs.items()}
    return sorted(found, key=lambda way: sum(way[step] is not form for step, form in plain.items()))


class Target:
    """An output to be explained. Most of what it is not differs from it in one token, at a small part of the cost.

    From the weights on, the right steps are done for each token alone; W_O and what is added are, in every form.

    Parameters
    ----------
    case : Input
    output : ndarray
    right : dict of str to Form
        What is altered, or not.
    """

    def __init__(self, case, output, right):
        self.case, self.output, self.right = case, output, right
        token = output.shape[-2] // 2  # which sees others, and not all of them, where attention is causal
        sample = int(np.isfinite(output[..., token, :]).reshape(len(output), -1).mean(axis=1).argmax())
        self.place = slice(sample, sample + 1), ..., slice(token, token + 1), slice(None)
        self.token = output[self.place]
        self.token_case = case if case.X is None else case.changed(X=case.X[self.place])
        self.room = 10 * OF_THE_LARGEST * np.abs(output[np.isfinite(output)]).max(initial=1e-3)
        W_O = case.matrices.get("O") if all(right[step] is RIGHT[step] for step in STEPS[OUTPUT:]) else None
        self.columns = None
        if W_O is not None and W_O.shape[1] == output.shape[-1]:
            few = np.linspace(0, W_O.shape[1] - 1, ENTRIES).astype(int)
            self.columns = W_O[:, few], self.token[..., few] - np.broadcast_to(case.bias_of("O"), W_O.shape[1:])[few]
        self.is_plain = all(right[step] is RIGHT[step] for step in STEPS[SOFTMAX:])

    def token_of(self, given):
        """Cut one token out of heads side by side; None where they are of other shapes than what comes of them."""
        if given[0].shape[:-1] != self.output.shape[:-1]:
            return None
        return given[0][self.place], *given[1:]

    def is_near(self, token):
        """Whether a token's output is about this one's; where nothing is hidden from all, it isn't NaN."""
        if token.shape != self.token.shape or (np.isnan(token).any() and np.isfinite(self.token).all()):
            return False
        return self._about(token, self.token)

    def _about(self, given, wanted):
        return not (np.abs(given - wanted) > self.room).any()  # NaN passes, and is looked at closely

    def may_come_of(self, token):
        """Whether W_O may make it of a token's heads side by side, where nothing is altered any more."""
        if self.columns is None or token.shape[-1] != len(self.columns[0]):
            return True
        return self._about(token @ self.columns[0], self.columns[1])

    def may_come_of_scores(self, scores, after, _queries, _keys, values):
        """The same from the softmax on."""
        as_usual = scores.ndim == 4 and scores.shape[:3:2] == self.output.shape[:2] and len(values) == len(scores)
        if not self.is_plain or after is not None or self.case.heads is not None or not as_usual:
            return True
        weights = RIGHT["softmax"].run(self.case, (scores[self.place], None, None, None, None))[0]
        try:
            heads = weights @ values[self.place[0]]
        except ValueError:
            return True
        return self.may_come_of(heads.reshape(1, 1, -1))

    def explained_by(self, forms):
        """Return what the equation with these steps altered predicts, if that is the output; else None."""
        chosen, given = self.right | {form.step: form for form in forms}, None
        unaltered = all(chosen[step] is self.right[step] for step in STEPS[OUTPUT:])
        with np.errstate(all="ignore"):
            try:
                for i, name in enumerate(STEPS):
                    if i == OUTPUT and unaltered:
                        token = self.token_of(given)
                        if token is None or not self.may_come_of(token[0]):
                            return None
                    given = chosen[name].run(self.case, given)
            except UNCOMPUTABLE:
                return None
        return given[0]


def _confirmed(forms, targets):
    """Whether these forms give every answer, and most of all the numbers in them: NaN may stand for anything."""
    known = total = 0
    for target in targets:
        predicted = target.explained_by(forms)
        if not fits(target.output, predicted, vacuous=True):
            return False
        finite = np.isfinite(target.output)
        known, total = known + (finite & ~np.isnan(predicted)).sum(), total + finite.sum()
    return known >= LEAST_SHARE * total


def _alike(case, forms, right):
    """Group the forms that give the same on this case, the most common one first; drop what changes nothing."""
    key = tuple(forms), tuple(right.values())
    if key in case.kept:
        return case.kept[key]
    groups, first = case.kept.setdefault(key, {}), {}
    for form, changed, unaltered in _altered(case, sorted(forms, key=lambda form: form.rare), right):
        mark = _fingerprint(changed)
        if mark != _fingerprint(unaltered):
            leader = first.setdefault((form.step, mark), form)
            groups.setdefault(leader, []).append(form)
    return groups


def silent(case, forms, right):
    """Return the forms that change nothing on a case."""
    if compute(case, right=right)[0] is None:
        return []
    return [form for form, changed, before in _altered(case, forms, right) if fits(before, changed, vacuous=True)]


def _altered(case, forms, right):
    """Yield each form that can be computed, and what comes of it and of the right one where they can be compared."""
    before = [None]
    with np.errstate(all="ignore"):
        for name in STEPS:
            before.append(right[name].run(case, before[-1]))
    # Where the output is made rightly, what it is made of tells as much, and costs less.
    early = OUTPUT if right["output"] is RIGHT["output"] else len(STEPS)
    for form in forms:
        i = STEPS.index(form.step)
        end = early if i < early else len(STEPS)
        with np.errstate(all="ignore"):
            try:
                given = form.run(case, before[i])
                for name in STEPS[i + 1 : end]:
                    given = right[name].run(case, given)
            except UNCOMPUTABLE:
                continue
        yield form, given[0], before[end][0]


def _fingerprint(output):
    """A few numbers in which outputs that differ by more than rounding differ."""
    flat = output.ravel()
    unknown = np.isnan(flat)
    with np.errstate(all="ignore"):
        sums = np.where(unknown, 0, flat) @ _waves(flat.size)
    return output.shape, int(unknown.sum()), *(f"{number:.8g}" for number in sums)


@functools.lru_cache(maxsize=8)
def _waves(size):
    return np.cos(np.outer(np.arange(size), (1.0, 2.3)))


class _Search:
    """All choices of exactly `count` altered forms, each step computed once for all that share it."""

    def __init__(self, target, forms, count, rare, deadline):
        self.case, self.target, self.right, self.count, self.rare = target.case, target, target.right, count, rare
        self.deadline = deadline
        self.by_step = defaultdict(list)
        for form in forms:
            if rare or not form.rare:
                self.by_step[form.step].append(form)
        # How many steps from here on can be altered: a branch that cannot reach `count` is not entered.
        self.left = [sum(bool(self.by_step[step]) for step in STEPS[i:]) for i in range(len(STEPS) + 1)]
        self.stopped = False
        self.found = []

    def run(self):
        with np.errstate(all="ignore"):
            self._descend(0, None, (), 0)
        return self.found

    def _descend(self, i, given, chosen, rare):
        if i == len(STEPS):
            # With fewer rare forms it was tried before.
            is_new = rare == self.rare or self.rare == self.count or not self.rare
            if is_new and self.target.is_near(given[0]):
                self.found.append(chosen)
            return
        if thread_time() > self.deadline:
            self.stopped = True
            return
        missing = self.count - len(chosen)
        if i == SOFTMAX and not missing and not self.target.may_come_of_scores(*given):
            return
        if i == OUTPUT:
            given = self.target.token_of(given)
            if given is None or (not missing and not self.target.may_come_of(given[0])):
                return
        if missing <= self.left[i + 1]:
            self._try(i, self.right[STEPS[i]], given, chosen, rare)
        if missing and missing - 1 <= self.left[i + 1]:
            for form in self.by_step[STEPS[i]]:
                if rare + form.rare <= self.rare:
                    self._try(i, form, given, (*chosen, form), rare + form.rare)

    def _try(self, i, form, given, chosen, rare):
        try:
            result = form.run(self.case if i < OUTPUT else self.target.token_case, given)
        except UNCOMPUTABLE:
            return
        self._descend(i + 1, result, chosen, rare)
