"""Combinations of mistakes that explain the plain calls in one layout: one mistake, or two or three at once."""

from dataclasses import dataclass

from attention_doctor.equation.search import explanations, silent
from attention_doctor.equation.stages import RIGHT, Form
from attention_doctor.forms import FORMS
from attention_doctor.forms.masks import ALWAYS_CAUSAL, BUILT_IN
from attention_doctor.questions.plain_answers import is_right, with_one_token

MAX_STARTS = 16


@dataclass(frozen=True)
class Plan:
    """A stage of the search.

    Parameters
    ----------
    sizes : tuple of (int, int)
        How many mistakes at once, and how many rare ones among them.
    n_layouts : int
        In how many layouts.
    is_first : bool, optional
    cancelling : tuple of (int, int), optional
        The sizes for mistakes that may cancel each other with one token, as two permutations do: so many at once are
        looked for in vain there.
    """

    sizes: tuple
    n_layouts: int
    is_first: bool = False
    cancelling: tuple = ()


# One mistake in many layouts is likelier, and sooner tried, than three in one.
PLANS = (Plan(((1, 1),), 12, is_first=True), Plan(((2, 0), (2, 1)), 2, cancelling=((2, 0),)), Plan(((3, 0), (2, 2)), 1))


@dataclass(frozen=True)
class _Attempt:
    """Mistakes that are taken for certain, the forms that may join them, and how many of these."""

    certain: tuple[Form, ...]
    forms: list[Form]
    sizes: tuple
    is_last: bool = False  # nothing is certain: tried where nothing else has explained it


class CombinationSearch:
    """The search through the layouts of one subject.

    Parameters
    ----------
    session : ExamSession
    """

    def __init__(self, session):
        self.session, self.budget = session, session.search_budget
        self._starts = {}

    def explained(self, layout, plain, plan):
        """Yield (what counts as right, the smallest combinations that explain all answers), smallest first.

        A design is tried with attention to all and, built in, to what came before; of both, what takes fewer mistakes
        comes first.
        """
        plain = [response for response in plain if response.output is not None]
        designs = self.session.right_forms(layout)
        if not plan.is_first:  # where more than one mistake is looked for, nothing else may be unusual
            designs = designs[:2]
        failing = next((response for response in plain if not is_right(response, designs)), plain[0])
        for i in range(0, len(designs), 2):  # a window, which hides for itself, has no second one
            explained = [(right, self._smallest(failing, plain, right, plan)) for right in designs[i : i + 2]]
            yield from sorted((item for item in explained if item[1]), key=lambda item: len(item[1][0]))

    def _smallest(self, failing, plain, right, plan):
        """The smallest combinations of mistakes that give all answers, where this counts as right."""
        combinations = []
        for attempt in self._attempts(plain, right, plan):
            if self.budget.is_spent or (attempt.is_last and combinations):
                break
            combinations += self._completed(attempt, failing, plain, right, plan)
        least = min(map(len, combinations), default=0)
        return [combination for combination in combinations if len(combination) == least]

    def _attempts(self, plain, right, plan):
        """Yield attempts: first those that begin with what shows with one token, and then one that assumes nothing.

        With one token only mistakes in the values and the output show. They are found first, and alone; what is then
        left to explain is in the scores, the weights and the masks. That makes two short searches of a long one.
        """
        response, forms = with_one_token(plain), self._forms(right)
        is_right_alone = response is None or is_right(response, [right])
        for certain in [()] if is_right_alone else self._explaining_one_token(response, forms, right):
            yield _Attempt(certain, _silent(response, forms, right, certain), plan.sizes)
        sizes = plan.cancelling if is_right_alone else plan.sizes
        if sizes:
            yield _Attempt((), forms, sizes, is_last=True)

    def _forms(self, right):
        """The forms to choose from; where it counts as right to be causal, no other causal mask can be built in."""
        built_in = [] if right["hide"] is ALWAYS_CAUSAL else BUILT_IN
        return [*FORMS, *built_in, *self.session.subject.more_forms]

    def _explaining_one_token(self, response, forms, right):
        """The combinations that give the answer for one token: the same in every plan, and so searched once."""
        key = (id(response), *(id(form) for form in right.values()))
        if key not in self._starts:
            # A norm or a residual around attention is a guess of the design: then more than one mistake is too many.
            is_plain = right["project"] is RIGHT["project"] and right["add"] is RIGHT["add"]
            plan = ((1, 1), (2, 0), (2, 1), (3, 0)) if is_plain else ((1, 1),)
            explaining = explanations(response.case, response.output, forms, right=right, budget=self.budget, plan=plan)
            self._starts[key] = explaining[:MAX_STARTS]
        return self._starts[key]

    def _completed(self, attempt, failing, plain, right, plan):
        """The combinations that begin with what an attempt takes for certain, and give all answers."""
        chosen = right | {form.step: form for form in attempt.certain}
        if attempt.certain and plan.is_first and all(is_right(response, [chosen]) for response in plain):
            return [attempt.certain]
        for confirm in _answers_to_give(failing, plain, plan):
            joining = explanations(
                failing.case, failing.output, attempt.forms, right=chosen, confirm=confirm, budget=self.budget,
                plan=attempt.sizes,
            )  # fmt: skip
            if joining:
                return [(*attempt.certain, *combination) for combination in joining]
        return []


def _silent(response, forms, right, certain):
    """The forms that change nothing for one token: all others would spoil what fits there already."""
    right = right | {form.step: form for form in certain}
    taken = {form.step for form in certain}
    free = [form for form in forms if form.step not in taken]
    return free if response is None else silent(response.case, free, right)


def _answers_to_give(failing, plain, plan):
    """Which further answers a combination must give: all of them, and then those for one sequence.

    What two sequences show may be a mistake of its own: where nothing explains it all, one may explain the rest.
    """
    others = [response for response in plain if response is not failing]
    of_one_sequence = [response for response in others if not response.question.is_cross]
    choices = [others]
    if plan.is_first and len(of_one_sequence) < len(others) and not failing.question.is_cross:
        choices.append(of_one_sequence)
    return [[(response.case, response.output) for response in choice] for choice in choices]
