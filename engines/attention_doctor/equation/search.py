"""Which mistakes explain an output: one, or two or three at once, cheapest first.

How long it searches is counted in steps of the equation, so that a busy machine finds what an idle one finds.
"""

import functools
import itertools
from collections import defaultdict

import numpy as np

from attention_doctor.equation.stages import (
    RIGHT,
    STEPS,
    UNCOMPUTABLE,
    DoesNotFitError,
    MaskedScores,
    compute,
)
from function_judge.compare import OF_THE_LARGEST, fits

# Combinations of equivalent forms that are looked at: forms that give the same here may differ in the further cases,
# but three groups of several forms each have too many combinations to try them all.
MAX_EQUIVALENTS = 60
# Of the numbers that came back, an explanation must predict this share. A form that gives NaN in a row leaves it open
# what stands there; one that gives NaN everywhere would explain anything.
MIN_SHARE = 0.6
SOFTMAX, OUTPUT = (STEPS.index(step) for step in ("softmax", "output"))
FEATURES = 6  # of one token: they tell most outputs apart, at a small part of the cost of all


class Budget:
    """How many steps of the equation may still be computed.

    Parameters
    ----------
    steps : int

    Examples
    --------
    >>> budget = Budget(1)
    >>> budget.spend()
    >>> budget.is_spent
    True
    """

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self) -> None:
        self.left -= 1

    @property
    def is_spent(self) -> bool:
        return self.left <= 0


def explanations(case, target, forms, *, right=RIGHT, confirm=(), budget, plan):
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
    budget : Budget
        Where it is spent, what was found until then is returned.
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
                candidates = [(form,) for form, end, made in alone if wanted.may_come_of(end, made, right)]
        else:
            candidates = _Search(wanted, right, list(alike), count, rare, budget).run()
        equivalents = itertools.chain.from_iterable(
            itertools.islice(itertools.product(*(alike[form] for form in combination)), MAX_EQUIVALENTS)
            for combination in candidates
        )
        explaining = [combination for combination in equivalents if _confirmed(combination, right, answers)]
        if explaining or budget.is_spent:
            return explaining
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
    fitting, wanted = [], _Wanted(case, target)

    def descend(i, before, chosen):
        if i == len(STEPS):
            if wanted.is_near(before.output) and fits(target, compute(case, right=chosen)[0]):
                fitting.append(chosen)
            return
        for form in designs.get(STEPS[i]) or (right[STEPS[i]],):
            if (made := wanted.step(i, form, before)) is not None:
                descend(i + 1, made, {**chosen, STEPS[i]: form})

    with np.errstate(all="ignore"):
        descend(0, None, {})
    plain = {step: forms[0] for step, forms in designs.items()}
    return sorted(fitting, key=lambda way: sum(way[step] is not form for step, form in plain.items()))


def silent(case, forms, right):
    """Return the forms that change nothing on a case."""
    if compute(case, right=right)[0] is None:
        return []
    alone = _each_alone(case, forms, right)
    return [form for form, _, made, unaltered in alone if fits(unaltered[0], made[0], vacuous=True)]


def _confirmed(forms, right, answers):
    """Whether these forms give every answer, and most of all the numbers in them: NaN may stand for anything."""
    known = total = 0
    for case, output in answers:
        predicted = compute(case, forms, right=right)[0]
        if not fits(output, predicted, vacuous=True):
            return False
        finite = np.isfinite(output)
        known, total = known + (finite & ~np.isnan(predicted)).sum(), total + finite.sum()
    return known >= MIN_SHARE * total


def _alike(case, forms, right):
    """Group the forms that give the same on this case, and drop what changes nothing.

    In sizes that coincide many forms do, and each combination of them would be computed anew.

    Returns
    -------
    alike : dict of Form to list of Form
        The most common one of each group, and all of them.
    alone : list of (Form, int, tuple)
        The most common ones, those of the last steps first, each with what comes of it alone before a certain step.
    """
    alike, alone, first, unchanged = {}, [], {}, {}
    for form, end, made, unaltered in _each_alone(case, sorted(forms, key=lambda form: form.rare), right):
        if end not in unchanged:
            unchanged[end] = _fingerprint(unaltered[0])
        mark = _fingerprint(made[0])
        if mark == unchanged[end]:
            continue
        leader = first.setdefault((form.step, mark), form)
        alike.setdefault(leader, []).append(form)
        if leader is form:
            alone.append((form, end, made))
    return alike, sorted(alone, key=lambda item: -STEPS.index(item[0].step))


def _each_alone(case, forms, right):
    """Yield (form, end, made, unaltered) for each form that can be computed.

    `made` is what step `end` gets where this form alone is altered, and `unaltered` where nothing is. Where the output
    is made rightly, what it is made of tells as much, and costs less.
    """
    before = [None]
    with np.errstate(all="ignore"):
        for step in STEPS:
            before.append(right[step].apply(case, before[-1]))
    early = OUTPUT if right["output"] is RIGHT["output"] else len(STEPS)
    for form in forms:
        i = STEPS.index(form.step)
        end = early if i < early else len(STEPS)
        with np.errstate(all="ignore"):
            try:
                made = form.apply(case, before[i])
                for step in STEPS[i + 1 : end]:
                    made = right[step].apply(case, made)
            except UNCOMPUTABLE:
                continue
        yield form, end, made, before[end]


def _fingerprint(output):
    """A few numbers in which outputs that differ by more than rounding differ."""
    flat = output.ravel()
    unknown = np.isnan(flat)
    with np.errstate(all="ignore"):
        slow, fast = np.where(unknown, 0, flat) @ _waves(flat.size)
    return output.shape, int(unknown.sum()), f"{slow:.8g} {fast:.8g}"


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

    def step(self, i, form, before):
        """What a form makes of what step i gets, from W_O on of one token; None where it can't be computed."""
        try:
            if i == OUTPUT:
                before = self._cut(i, before)
            return form.apply(self.case if i < OUTPUT else self.token_case, before)
        except UNCOMPUTABLE:
            return None

    def is_near(self, token, few=slice(None)):
        """Whether a token's output is about this one's; where nothing is hidden from all, it isn't NaN."""
        wanted = self.token[..., few]
        if token.shape != wanted.shape or (np.isnan(token).any() and np.isfinite(wanted).all()):
            return False
        return not (np.abs(token - wanted) > self.room).any()  # other NaN passes, and is looked at closely

    def may_come_of(self, i, before, right):
        """Whether steps that are right from step i on, the softmax or a later one, may lead to the output.

        A few features of one token rule out most combinations before the whole output is computed: with 768 features,
        the product with W_O takes most of the time.
        """
        if any(right[step].slug for step in STEPS[i:-1]):
            return True  # a mistake may mix tokens, or need the whole of W_O
        try:
            made = self._cut(i, before)
            for step in STEPS[i:]:
                made = right[step].apply(self.narrow_case, made)
        except UNCOMPUTABLE:
            return True
        return self.is_near(made[0], self.few if i <= OUTPUT else slice(None))

    def _cut(self, i, before):
        """What step i gets of the one token."""
        first, *rest = before
        if first.shape[:1] != self.output.shape[:1] or first.shape[-2] != self.output.shape[-2]:
            raise DoesNotFitError
        if i != SOFTMAX:
            return type(before)(first[self.place], *rest)
        if before.reweigh is not None or len(before.values) != len(first):
            raise DoesNotFitError  # what reweighs does so to the weights of all tokens
        return MaskedScores(first[self.place], None, None, None, before.values[self.samples])


class _Search:
    """All choices of exactly `count` altered forms, each step computed once for all that share it."""

    def __init__(self, wanted, right, forms, count, rare, budget):
        self.wanted, self.right, self.count, self.rare, self.budget = wanted, right, count, rare, budget
        self.by_step = defaultdict(list)
        for form in forms:
            if rare or not form.rare:
                self.by_step[form.step].append(form)
        # How many steps from here on can be altered: a branch that cannot reach `count` is not entered.
        self.left = [sum(bool(self.by_step[step]) for step in STEPS[i:]) for i in range(len(STEPS) + 1)]
        self.candidates = []

    def run(self):
        """Return the choices of forms whose output is about the wanted one's for one token."""
        with np.errstate(all="ignore"):
            self._descend(0, None, ())
        return self.candidates

    def _descend(self, i, before, chosen):
        if i == len(STEPS):
            if self._is_new(chosen) and self.wanted.is_near(before.output):
                self.candidates.append(chosen)
            return
        missing = self.count - len(chosen)
        if not (missing or self._may_be_right_from(i, before)):
            return
        if missing <= self.left[i + 1]:
            self._try(i, self.right[STEPS[i]], before, chosen)
        if missing and missing - 1 <= self.left[i + 1]:
            rare_left = self.rare - _n_rare(chosen)
            for form in self.by_step[STEPS[i]]:
                if form.rare <= rare_left:
                    self._try(i, form, before, (*chosen, form))

    def _is_new(self, chosen):
        """Whether it was not tried before: a search with fewer rare forms came first."""
        return self.rare in (0, self.count, _n_rare(chosen))

    def _may_be_right_from(self, i, before):
        """Whether it may lead to the output that all steps from here on are right."""
        return i not in (SOFTMAX, OUTPUT) or self.wanted.may_come_of(i, before, self.right)

    def _try(self, i, form, before, chosen):
        if self.budget.is_spent:
            return
        self.budget.spend()
        if (made := self.wanted.step(i, form, before)) is not None:
            self._descend(i + 1, made, chosen)


def _n_rare(forms):
    return sum(form.rare for form in forms)
