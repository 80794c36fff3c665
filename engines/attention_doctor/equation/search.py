"""Which mistakes explain an output: one, or two or three at once, cheapest first."""

import functools
import itertools
from collections import defaultdict

import numpy as np

from attention_doctor.equation.stages import RIGHT, STEPS, UNCOMPUTABLE, DoesNotFitError, compute
from function_judge.compare import OF_THE_LARGEST, fits

ALIKE_AT_MOST = 60  # combinations of equivalent forms to look at
LEAST_SHARE = 0.6  # of the numbers that came back, an explanation predicts so many
SCORES, SOFTMAX, OUTPUT = (STEPS.index(step) for step in ("scores", "softmax", "output"))
FEATURES = 6  # of one token: they tell most outputs apart, at a small part of the cost of all


def explanations(case, target, forms, *, right=RIGHT, confirm=(), time, plan):
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
    time : TimeLeft
        Where it runs out, what was found until then is returned.
    plan : sequence of (int, int)
        How many mistakes at once, and how many of them may be rare ones; each costs more than those before it.

    Returns
    -------
    list of tuple of Form
        Of the smallest size at which there are any.
    """
    if compute(case, right=right)[0] is None:
        return []
    alike, alone = _alike(case, forms, right)
    wanted, answers = _Wanted(case, target), [(case, target), *confirm]
    for count, rare in plan:
        if count == 1:
            with np.errstate(all="ignore"):
                candidates = [(form,) for form, end, given in alone if wanted.may_come_of(end, given, right)]
        else:
            candidates = _Search(wanted, right, list(alike), count, rare, time).run()
        found = []
        for combination in candidates:
            equivalents = itertools.product(*(alike[form] for form in combination))
            found += [
                equivalent
                for equivalent in itertools.islice(equivalents, ALIKE_AT_MOST)
                if _confirmed(equivalent, right, answers)
            ]
        if found or time.is_over:
            return found
    return []


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
    found, wanted = [], _Wanted(case, target)

    def descend(i, given, chosen):
        if i == len(STEPS):
            if wanted.is_near(given[0]) and fits(target, compute(case, right=chosen)[0]):
                found.append(chosen)
            return
        for form in designs.get(STEPS[i]) or (right[STEPS[i]],):
            if (result := wanted.step(i, form, given)) is not None:
                descend(i + 1, result, {**chosen, STEPS[i]: form})

    with np.errstate(all="ignore"):
        descend(0, None, {})
    plain = {step: forms[0] for step, forms in designs.items()}
    return sorted(found, key=lambda way: sum(way[step] is not form for step, form in plain.items()))


def silent(case, forms, right):
    """Return the forms that change nothing on a case."""
    if compute(case, right=right)[0] is None:
        return []
    found = _each_alone(case, forms, right)
    return [form for form, _, given, unaltered in found if fits(unaltered[0], given[0], vacuous=True)]


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


def _alike(case, forms, right):
    """Group the forms that give the same on this case, and drop what changes nothing.

    Returns
    -------
    alike : dict of Form to list of Form
        The most common one of each group, and all of them.
    alone : list of (Form, int, tuple)
        The most common ones, those of the last steps first, each with what comes of it alone before a certain step.
    """
    alike, alone, first, unchanged = {}, [], {}, {}
    for form, end, given, unaltered in _each_alone(case, sorted(forms, key=lambda form: form.rare), right):
        if end not in unchanged:
            unchanged[end] = _fingerprint(unaltered[0])
        mark = _fingerprint(given[0])
        if mark == unchanged[end]:
            continue
        leader = first.setdefault((form.step, mark), form)
        alike.setdefault(leader, []).append(form)
        if leader is form:
            alone.append((form, end, given))
    return alike, sorted(alone, key=lambda item: -STEPS.index(item[0].step))


def _each_alone(case, forms, right):
    """Yield (form, end, given, unaltered) for each form that can be computed.

    `given` is what step `end` is given where this form alone is altered, and `unaltered` where nothing is. Where the
    output is made rightly, what it is made of tells as much, and costs less.
    """
    before = [None]
    with np.errstate(all="ignore"):
        for step in STEPS:
            before.append(right[step].run(case, before[-1]))
    early = OUTPUT if right["output"] is RIGHT["output"] else len(STEPS)
    for form in forms:
        i = STEPS.index(form.step)
        end = early if i < early else len(STEPS)
        with np.errstate(all="ignore"):
            try:
                given = form.run(case, before[i])
                for step in STEPS[i + 1 : end]:
                    given = right[step].run(case, given)
            except UNCOMPUTABLE:
                continue
        yield form, end, given, before[end]


def _fingerprint(output):
    """A few numbers in which outputs that differ by more than rounding differ."""
    flat = output.ravel()
    unknown = np.isnan(flat)
    with np.errstate(all="ignore"):
        one, other = np.where(unknown, 0, flat) @ _waves(flat.size)
    return output.shape, int(unknown.sum()), f"{one:.8g} {other:.8g}"


@functools.lru_cache(maxsize=8)
def _waves(size):
    return np.cos(np.outer(np.arange(size), (1.0, 2.3)))


class _Wanted:
    """An output to be explained, and one token of it: most others differ there, at a small part of the cost.

    From W_O on every form does each token by itself; right ones do so from the softmax on.
    """

    def __init__(self, case, output):
        self.case, self.output = case, output
        token = output.shape[-2] // 2  # which sees others, and not all of them, where attention is causal
        sample = int(np.isfinite(output[..., token, :]).reshape(len(output), -1).mean(axis=1).argmax())
        self.samples = slice(sample, sample + 1)
        self.place = self.samples, ..., slice(token, token + 1), slice(None)
        self.token = output[self.place]
        self.room = 10 * OF_THE_LARGEST * np.abs(output[np.isfinite(output)]).max(initial=1e-3)
        self.token_case = case if case.X is None else case.changed(X=case.X[self.place])
        self.few, self.narrow_case = self._narrowed()

    def _narrowed(self):
        """A few features, and the token's case with W_O for these alone."""
        matrix = self.case.matrices.get("O")
        if matrix is None or matrix.shape[1] != self.output.shape[-1]:
            return slice(None), self.token_case
        few = np.linspace(0, matrix.shape[1] - 1, FEATURES).astype(int)
        bias = np.broadcast_to(self.case.bias_of("O"), matrix.shape[1:])
        X, matrices = self.token_case.X, {"O": matrix[:, few], "b_O": bias[few]}
        X = X[..., few] if X.shape[-1] == matrix.shape[1] else X
        return few, self.token_case.changed(X=X, matrices=matrices)

    def step(self, i, form, given):
        """What a form makes of what step i is given, from W_O on of one token; None where it can't be computed."""
        try:
            if i == OUTPUT:
                given = self._cut(i, given)
            return form.run(self.case if i < OUTPUT else self.token_case, given)
        except UNCOMPUTABLE:
            return None

    def is_near(self, token, few=slice(None)):
        """Whether a token's output is about this one's; where nothing is hidden from all, it isn't NaN."""
        wanted = self.token[..., few]
        if token.shape != wanted.shape or (np.isnan(token).any() and np.isfinite(wanted).all()):
            return False
        return not (np.abs(token - wanted) > self.room).any()  # other NaN passes, and is looked at closely

    def may_come_of(self, i, given, right):
        """Whether steps that are right from step i on, the softmax or a later one, may lead to the output."""
        if any(right[step].slug for step in STEPS[i:-1]):
            return True  # a mistake may mix tokens, or need the whole of W_O
        try:
            given = self._cut(i, given)
            for step in STEPS[i:]:
                given = right[step].run(self.narrow_case, given)
        except UNCOMPUTABLE:
            return True
        return self.is_near(given[0], self.few if i <= OUTPUT else slice(None))

    def _cut(self, i, given):
        """What step i is given for the one token."""
        first, *rest = given
        if first.shape[:1] != self.output.shape[:1] or first.shape[-2] != self.output.shape[-2]:
            raise DoesNotFitError
        if i == SOFTMAX:
            after, *_, values = rest
            if after is not None or len(values) != len(first):
                raise DoesNotFitError
            rest = None, None, None, values[self.samples]
        return first[self.place], *rest


class _Search:
    """All choices of exactly `count` altered forms, each step computed once for all that share it."""

    def __init__(self, wanted, right, forms, count, rare, time):
        self.wanted, self.right, self.count, self.rare, self.time = wanted, right, count, rare, time
        self.by_step = defaultdict(list)
        for form in forms:
            if rare or not form.rare:
                self.by_step[form.step].append(form)
        # How many steps from here on can be altered: a branch that cannot reach `count` is not entered.
        self.left = [sum(bool(self.by_step[step]) for step in STEPS[i:]) for i in range(len(STEPS) + 1)]
        self.found = []

    def run(self):
        with np.errstate(all="ignore"):
            self._descend(0, None, ())
        return self.found

    def _descend(self, i, given, chosen):
        rare = sum(form.rare for form in chosen)
        if i == len(STEPS):
            # With fewer rare forms it was tried before.
            is_new = rare == self.rare or self.rare == self.count or not self.rare
            if is_new and self.wanted.is_near(given[0]):
                self.found.append(chosen)
            return
        if i < SCORES and self.time.is_over:  # looking at the clock takes as long as a step
            return
        missing = self.count - len(chosen)
        if not missing and i in (SOFTMAX, OUTPUT) and not self.wanted.may_come_of(i, given, self.right):
            return
        if missing <= self.left[i + 1]:
            self._try(i, self.right[STEPS[i]], given, chosen)
        if missing and missing - 1 <= self.left[i + 1]:
            for form in self.by_step[STEPS[i]]:
                if rare + form.rare <= self.rare:
                    self._try(i, form, given, (*chosen, form))

    def _try(self, i, form, given, chosen):
        if (result := self.wanted.step(i, form, given)) is not None:
            self._descend(i + 1, result, chosen)
