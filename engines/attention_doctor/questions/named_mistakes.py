"""What explains the plain calls of something that isn't right: mistakes with names, or where it shows."""

import itertools
from dataclasses import dataclass

import numpy as np

from attention_doctor.equation.search import explanations, silent
from attention_doctor.equation.stages import RIGHT, UNCOMPUTABLE, compute, cut, shared
from attention_doctor.forms import FORMS, TOGETHER
from attention_doctor.forms.masks import ALWAYS_CAUSAL, BUILT_IN
from attention_doctor.names import LEAK, WRONG
from attention_doctor.questions import unexplained
from attention_doctor.questions.baseline import FAILS_IN_MANY as LONG
from attention_doctor.questions.baseline import Understood, failures, settled
from attention_doctor.readers import other_designs, positions
from attention_doctor.readers.layouts import SWAPPED
from attention_doctor.reports.remarks import CannotTell, Note, Untested
from function_judge.compare import fits


@dataclass(frozen=True)
class Plan:
    """A stage of the search: how many mistakes at once (and how many rare ones), in how many layouts.

    Mistakes may cancel each other with one token, as two permutations do: so many at once are looked for in vain there.
    """

    sizes: tuple
    layouts: int
    first: bool = False
    cancelling: tuple = ()


CERTAIN = {"batch-mixed", "not-finite", "not-repeatable"}  # whatever its parameters mean
MOST_STARTS, MOST_LAYOUTS, FEW = 16, 8, 6
NEARLY = 1e-3  # of the largest number: what an epsilon in the softmax may move
PLANS = (Plan(((1, 1),), 12, first=True), Plan(((2, 0), (2, 1)), 2, cancelling=((2, 0),)), Plan(((3, 0), (2, 2)), 1))


def ask(asking, answering):
    """Search for mistakes in the layouts that answer, and name them, or say where it shows.

    Returns
    -------
    Understood
    """
    return (yield from _Explaining(asking, answering).find())


class _Explaining:
    """The search through the layouts that answer, the most usual first."""

    def __init__(self, asking, answering):
        self.asking = asking
        self.with_tokens_first = next((layout for layout, _ in answering if layout.axes is SWAPPED), None)
        self.answering_at_all = answering
        self.answering = [one for one in answering if one[0].usual and not one[0].loops] or answering[:MOST_LAYOUTS]
        self._known_starts = {}

    def find(self):
        heard_in = {}
        for layout, first in self.answering[:MOST_LAYOUTS]:
            heard_in[layout.name] = self.asking.hear_all(layout, first)
        # With one token nothing is weighed: where that is right, the parameters are read rightly.
        layouts = [layout for layout, _ in self.answering[:MOST_LAYOUTS]]
        layouts.sort(key=lambda layout: not self._right_with_one(layout, heard_in))
        if not self._right_with_one(layouts[0], heard_in):
            read = list(
                itertools.islice(filter(self._right_with_all_alike, (one for one, _ in self.answering_at_all)), 4)
            )
            for layout in read:
                heard_in[layout.name] = self.asking.hear_all(layout, self._first_in(layout))
            layouts = [*read[:2], *layouts, *read[2:]]
        for layout in layouts:
            for right in self.asking.right_forms(layout):
                if self._is_nearly(right, heard_in[layout.name]):
                    yield Note(
                        "It differs from the equation by less than a thousandth, as where a small constant is added."
                    )
                    return (yield from settled(self.asking, Understood(layout, right, heard_in[layout.name])))
        for plan in PLANS:
            for layout in layouts[: plan.layouts]:
                plain = heard_in[layout.name]
                for right, found in self._search(layout, plain, plan):
                    chosen = right | {form.step: form for form in found[0]}
                    known = Understood(layout, chosen, plain, found[0])
                    yield from settled(self.asking, known)
                    yield from self._named(found, right, plain)
                    yield from self._beside(chosen, plain)
                    yield from failures(self.asking, plain)
                    return known
        return (yield from self._unexplained(layouts[0], heard_in[layouts[0].name]))

    def _first_in(self, layout):
        return next(first for one, first in self.answering_at_all if one is layout)

    def _all_alike(self, layout):
        """What it answers where all tokens are the same: then it makes no difference how they are weighed."""
        question = self.asking.subject.plain_questions(layout)[0].but("tokens that are all alike", alike=True, seed=31)
        return self.asking.hear(layout, question)

    def _right_with_all_alike(self, layout):
        """Whether the parameters of values and output are read rightly."""
        if self.asking.subject.kind != "module" or self.asking.search_time.is_over:
            return False
        heard, bases = self._all_alike(layout), self.asking.right_forms(layout)
        of_values = [
            base for base in bases[::2] if base["place"] is bases[0]["place"] and base["scale"] is bases[0]["scale"]
        ]
        return heard.output is not None and _is_right(heard, of_values[:FEW])

    def _not_normalised(self, layout, plain):
        """Whether one token alone is right, and several that are all alike are not: their weights don't sum to 1."""
        asking = self.asking
        if asking.subject.kind != "module" or not self._right_with_one(layout, {layout.name: plain}):
            return False
        heard, bases = self._all_alike(layout), asking.right_forms(layout)
        if heard.output is None or heard.output.ndim != 3 or other_designs.spoken_of(asking.subject.source):
            return False
        if _is_right(heard, bases) or positions.SINKS.search(" ".join(one.path for one in asking.subject.found)):
            return False
        if not _is_of_its_own_values(heard):
            return False
        yield asking.finding("softmax-not-normalised", evidence="Tokens that are all alike don't give what one gives.")
        return True

    @staticmethod
    def _is_nearly(right, plain):
        """Whether all answers differ from the equation's by so little that no mistake can be it."""
        heard = [one for one in plain if one.output is not None]
        return all(fits(one.output, compute(one.case, right=right)[0], NEARLY) for one in heard)

    def _right_with_one(self, layout, heard_in):
        one = next((heard for heard in heard_in[layout.name] if heard.question.trait == "one token"), None)
        return one is not None and one.output is not None and _is_right(one, self.asking.right_forms(layout))

    def _beside(self, right, plain):
        """What two sequences show beside what was found with one."""
        for heard in plain:
            known = not heard.question.is_cross or heard.output is None
            if not known and not _is_right(heard, [right]):
                yield self.asking.unnamed(f"With {heard.question.trait} it differs from attention in another way, too.")
                return

    def _search(self, layout, plain, plan):
        """Yield what explains all answers in one layout, with what counts as right there: of each design the fewest.

        A design is tried with attention to all and, built in, to what came before.
        """
        plain = [heard for heard in plain if heard.output is not None]
        base = self.asking.right_forms(layout)
        if not plan.first:  # where more than one mistake is looked for, nothing else may be unusual
            base = base[:2]
        failing = next((heard for heard in plain if not _is_right(heard, base)), plain[0])
        for i in range(0, len(base), 2):  # a window, which hides for itself, has no second one
            explained = [(right, self._explain(failing, plain, right, plan)) for right in base[i : i + 2]]
            yield from sorted((one for one in explained if one[1]), key=lambda one: len(one[1][0]))

    def _explain(self, failing, plain, right, plan):
        """Return the smallest combinations of mistakes that give all answers, where this counts as right."""
        confirm = [(heard.case, heard.output) for heard in plain if heard is not failing]
        # What two sequences show may be a mistake of its own: where nothing explains it all, one may explain the rest.
        own = [(h.case, h.output) for h in plain if h is not failing and not h.question.is_cross]
        apart = plan.first and len(own) < len(confirm) and not failing.question.is_cross
        one = next((heard for heard in plain if heard.question.trait == "one token"), None)
        forms = FORMS if right["hide"] is ALWAYS_CAUSAL else FORMS + BUILT_IN
        forms = [*forms, *self.asking.subject.more_forms]
        together, starts = [], self._starts(one, forms, right)
        for start in starts:
            if self.asking.search_time.is_over:
                break
            sizes = plan.cancelling if start is None and starts[0] == () else plan.sizes
            if start is None and (together or not sizes):
                continue
            rest = forms if start is None else self._silent(one, forms, right, start)
            start = start or ()
            chosen = right | {form.step: form for form in start}
            if start and plan.first and all(_is_right(heard, [chosen]) for heard in plain):
                together.append(start)
                continue
            for answers in [confirm, own] if apart else [confirm]:
                found = explanations(
                    failing.case, failing.output, rest, right=chosen, confirm=answers,
                    time=self.asking.search_time, plan=sizes,
                )  # fmt: skip
                if found:
                    break
            together += [(*start, *combination) for combination in found]
        least = min(map(len, together), default=0)
        return [one for one in together if len(one) == least]

    def _starts(self, one, forms, right):
        """The mistakes that show with one token, where there is nothing to weigh: those of values and output.

        They are found first, and alone; what is then left to explain is in the scores, the weights and the masks.
        """
        if one is None or _is_right(one, [right]):
            return [(), None]
        key = (id(one), *(id(form) for form in right.values()))
        first = right["project"] is RIGHT["project"] and right["add"] is RIGHT["add"]
        if key not in self._known_starts:
            found = explanations(
                one.case,
                one.output,
                forms,
                right=right,
                time=self.asking.search_time,
                plan=((1, 1), (2, 0), (2, 1), (3, 0)) if first else ((1, 1),),
            )
            self._known_starts[key] = [*found[:MOST_STARTS], None]  # None: no part of it shows alone
        return self._known_starts[key]

    def _silent(self, one, forms, right, start):
        """The forms that change nothing for one token: all others would spoil what fits there already."""
        right = right | {form.step: form for form in start}
        taken = {form.step for form in start}
        free = [form for form in forms if form.step not in taken]
        return free if one is None else silent(one.case, free, right)

    def _named(self, found, right, plain):
        """Turn explanations into findings: one for each mistake, with what else would explain it."""
        explanations = list(dict.fromkeys(_names(combination) for combination in found))
        first = explanations[0]
        for name in first:
            without = set(first) - {name}
            others = [set(other) - without for other in explanations[1:] if without <= set(other)]
            others = tuple(dict.fromkeys(one for other in others if len(other) == 1 for one in other if one != name))
            yield self.asking.finding(name, *_forms_of(name, found[0]), right=right, plain=plain, also=others)

    def _is_whole_with_tokens_first(self):
        """Whether nothing is mixed where tokens come before samples: then that is how it takes them."""
        layout = self.with_tokens_first
        answer = self.asking.subject.answer_for
        return layout is not None and not unexplained.properties(lambda X: answer(layout, X))

    def _unexplained(self, layout, plain):
        asking, finished = self.asking, not self.asking.search_time.is_over
        bases = asking.right_forms(layout)
        wrong = [heard for heard in plain if heard.output is not None and not _is_right(heard, bases)]
        if not wrong:
            known = Understood(layout, bases[0], plain, named=not any(heard.output is None for heard in plain))
            yield from settled(asking, known)
            yield from failures(asking, plain)
            return known
        known = Understood(layout, RIGHT, plain, named=False)
        if (yield from self._not_normalised(layout, plain)):
            return known
        trust = asking.subject.trusts(layout, plain) and not asking.subject.attention_inside()
        if all(heard.question.trait in LONG for heard in wrong) and positions.says_window(asking.subject):
            yield CannotTell(
                "With many tokens it differs from attention, and it speaks of a window, by design perhaps."
            )
            return known
        seen = unexplained.of(asking, known, bases[0])
        certain = CERTAIN & set(seen.broken)
        # Whoever speaks of another design may mean it: that something differs is then no proof.
        trust = trust and not other_designs.spoken_of(asking.subject.source)
        if not trust and certain == {"batch-mixed"} and self._is_whole_with_tokens_first():
            certain = set()
        # Where further parameters do something unknown, it may be by design that not every token is heard.
        unknown = () if trust else asking.subject.unplaced
        within_windows = positions.heard_window(asking.subject)  # how it ends is a design of its own
        if certain or (
            not within_windows
            and (
                trust or (set(seen.broken) - {"batch-mixed"} and not unknown and not asking.subject.attention_inside())
            )
        ):
            sentence = (
                "It differs from attention, and no mistake or pair of mistakes that the doctor knows explains it."
            )
            yield asking.unnamed(sentence, seen.text, LEAK if seen.leaks else WRONG)
            if not finished:
                yield Untested("some combinations of two and three mistakes, for want of time")
            return known
        yield CannotTell(_unreadable(asking.subject, seen, unknown, finished))
        return known


def _is_of_its_own_values(heard):
    """Whether each output, of tokens that are all alike, is made of one value's heads, each some number of times."""
    case = heard.case
    try:
        values = cut(case.projected("V", case.context)[0, :1], case.n_kv_heads)
        values = shared(values, case.n_heads)[:, 0]  # (heads, d_head)
        each = values[:, :, None] * case.matrices["O"].reshape(case.n_heads, values.shape[1], -1)
    except UNCOMPUTABLE:
        return True  # it can't be told
    each = each.sum(axis=1)  # (heads, features): what each head gives of it
    wanted = heard.output[0] - case.bias_of("O")
    counts = np.linalg.lstsq(each.T, wanted.T, rcond=None)[0]
    return fits((each.T @ counts).T, wanted, NEARLY)


def _is_right(heard, designs):
    """Whether an answer is what the equation gives in any of these designs."""
    return any(fits(heard.output, compute(heard.case, right=right)[0]) for right in designs)


def _unreadable(subject, seen, unknown, finished):
    """Why there is no verdict, which parameters have no place, and what to examine instead."""
    reason = "Its parameters could not be read as those of attention in any layout that the doctor knows, so its "
    reason += "equation was not compared. "
    if unknown:
        paths = [one.path for one in unknown]
        reason += f"These have no place in attention's equation: {', '.join(paths[:5])}{' ...' * (len(paths) > 5)}. "
    inside = subject.attention_inside()
    if inside:
        reason += f"It looks like more than attention: examine its {' or '.join(inside)}. "
    elif seen.broken:
        reason += f"This may be by design: {seen.properties} "
    if not finished:
        reason += "The doctor's own search ended for want of time. "
    return reason.strip()


def _names(combination):
    """The names of a combination of forms; a form may stand for two mistakes, and two for one."""
    names = [name for form in combination for name in form.slug.split("+")]
    for pair, together in TOGETHER.items():
        if pair <= set(names):
            names = [together, *(name for name in names if name not in pair)]
    return tuple(dict.fromkeys(names))


def _forms_of(name, combination):
    """The forms of a combination that a name stands for."""
    parts = next((pair for pair, together in TOGETHER.items() if together == name), {name})
    return tuple(form for form in combination if {name, *parts} & set(form.slug.split("+")))
