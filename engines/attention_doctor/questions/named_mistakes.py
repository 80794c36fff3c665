"""What explains the plain calls of something that isn't right: mistakes with names, or where it shows."""

import itertools
from dataclasses import dataclass

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.equation.search import explanations, silent
from attention_doctor.equation.stages import RIGHT, UNCOMPUTABLE, compute, cut, shared
from attention_doctor.forms import FORMS, TOGETHER
from attention_doctor.forms.masks import ALWAYS_CAUSAL, BUILT_IN
from attention_doctor.names import LEAK, WRONG
from attention_doctor.questions import unexplained
from attention_doctor.questions.baseline import FAILS_IN_MANY as LONG
from attention_doctor.questions.baseline import Baseline, confirmed, failures
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
MAX_STARTS, MAX_LAYOUTS, FEW = 16, 8, 6
NEARLY = 1e-3  # of the largest number: what an epsilon in the softmax may move
PLANS = (Plan(((1, 1),), 12, first=True), Plan(((2, 0), (2, 1)), 2, cancelling=((2, 0),)), Plan(((3, 0), (2, 2)), 1))


def ask(session, answering):
    """Search for mistakes in the layouts that answer, and name them, or say where it shows.

    Returns
    -------
    Baseline
    """
    return (yield from _Explaining(session, answering).find())


class _Explaining:
    """The search through the layouts that answer, the most usual first."""

    def __init__(self, session, answering):
        self.session = session
        self.with_tokens_first = next((layout for layout, _ in answering if layout.axes is SWAPPED), None)
        self.answering_at_all = answering
        self.answering = [item for item in answering if item[0].usual and not item[0].loops] or answering[:MAX_LAYOUTS]
        self._known_starts = {}

    def find(self):
        responses_in = {}
        for layout, first in self.answering[:MAX_LAYOUTS]:
            responses_in[layout.name] = self.session.ask_plain(layout, first)
        # With one token nothing is weighed: where that is right, the parameters are read rightly.
        layouts = [layout for layout, _ in self.answering[:MAX_LAYOUTS]]
        layouts.sort(key=lambda layout: not self._right_with_one(layout, responses_in))
        if not self._right_with_one(layouts[0], responses_in):
            read = list(
                itertools.islice(filter(self._right_with_all_alike, (item for item, _ in self.answering_at_all)), 4)
            )
            for layout in read:
                responses_in[layout.name] = self.session.ask_plain(layout, self._first_in(layout))
            layouts = [*read[:2], *layouts, *read[2:]]
        for layout in layouts:
            for right in self.session.right_forms(layout):
                if self._is_nearly(right, responses_in[layout.name]):
                    yield Note(
                        "It differs from the equation by less than a thousandth, as where a small constant is added."
                    )
                    return (yield from confirmed(self.session, Baseline(layout, right, responses_in[layout.name])))
        for plan in PLANS:
            for layout in layouts[: plan.layouts]:
                plain = responses_in[layout.name]
                for right, found in self._search(layout, plain, plan):
                    chosen = right | {form.step: form for form in found[0]}
                    known = Baseline(layout, chosen, plain, found[0])
                    yield from confirmed(self.session, known)
                    yield from self._named(found, right, plain)
                    yield from self._beside(chosen, plain)
                    yield from failures(self.session, plain)
                    return known
        return (yield from self._unexplained(layouts[0], responses_in[layouts[0].name]))

    def _first_in(self, layout):
        return next(first for item, first in self.answering_at_all if item is layout)

    def _all_alike(self, layout):
        """What it answers where all tokens are the same: then it makes no difference how they are weighed."""
        question = self.session.subject.plain_questions(layout)[0].but("tokens that are all alike", alike=True, seed=31)
        return self.session.ask(layout, question)

    def _right_with_all_alike(self, layout):
        """Whether the parameters of values and output are read rightly."""
        if self.session.subject.kind != "module" or self.session.search_time.is_over:
            return False
        response, bases = self._all_alike(layout), self.session.right_forms(layout)
        of_values = [
            base for base in bases[::2] if base["place"] is bases[0]["place"] and base["scale"] is bases[0]["scale"]
        ]
        return response.output is not None and _is_right(response, of_values[:FEW])

    def _not_normalised(self, layout, plain):
        """Whether one token alone is right, and several that are all alike are not: their weights don't sum to 1."""
        session = self.session
        if session.subject.kind != "module" or not self._right_with_one(layout, {layout.name: plain}):
            return False
        response, bases = self._all_alike(layout), session.right_forms(layout)
        if response.output is None or response.output.ndim != 3 or other_designs.spoken_of(session.subject.source):
            return False
        if _is_right(response, bases) or vocabulary.SINKS.search(
            " ".join(match.path for match in session.subject.parameters)
        ):
            return False
        if not _is_of_its_own_values(response):
            return False
        yield session.finding("softmax-not-normalised", evidence="Tokens that are all alike don't give what one gives.")
        return True

    @staticmethod
    def _is_nearly(right, plain):
        """Whether all answers differ from the equation's by so little that no mistake can be it."""
        response = [item for item in plain if item.output is not None]
        return all(fits(item.output, compute(item.case, right=right)[0], NEARLY) for item in response)

    def _right_with_one(self, layout, responses_in):
        one = next((response for response in responses_in[layout.name] if response.question.trait == "one token"), None)
        return one is not None and one.output is not None and _is_right(one, self.session.right_forms(layout))

    def _beside(self, right, plain):
        """What two sequences show beside what was found with one."""
        for response in plain:
            known = not response.question.is_cross or response.output is None
            if not known and not _is_right(response, [right]):
                yield self.session.unnamed(
                    f"With {response.question.trait} it differs from attention in another way, too."
                )
                return

    def _search(self, layout, plain, plan):
        """Yield what explains all answers in one layout, with what counts as right there: of each design the fewest.

        A design is tried with attention to all and, built in, to what came before.
        """
        plain = [response for response in plain if response.output is not None]
        base = self.session.right_forms(layout)
        if not plan.first:  # where more than one mistake is looked for, nothing else may be unusual
            base = base[:2]
        failing = next((response for response in plain if not _is_right(response, base)), plain[0])
        for i in range(0, len(base), 2):  # a window, which hides for itself, has no second one
            explained = [(right, self._explain(failing, plain, right, plan)) for right in base[i : i + 2]]
            yield from sorted((item for item in explained if item[1]), key=lambda item: len(item[1][0]))

    def _explain(self, failing, plain, right, plan):
        """Return the smallest combinations of mistakes that give all answers, where this counts as right."""
        confirm = [(response.case, response.output) for response in plain if response is not failing]
        # What two sequences show may be a mistake of its own: where nothing explains it all, one may explain the rest.
        own = [(h.case, h.output) for h in plain if h is not failing and not h.question.is_cross]
        apart = plan.first and len(own) < len(confirm) and not failing.question.is_cross
        one = next((response for response in plain if response.question.trait == "one token"), None)
        forms = FORMS if right["hide"] is ALWAYS_CAUSAL else FORMS + BUILT_IN
        forms = [*forms, *self.session.subject.more_forms]
        together, starts = [], self._starts(one, forms, right)
        for start in starts:
            if self.session.search_time.is_over:
                break
            sizes = plan.cancelling if start is None and starts[0] == () else plan.sizes
            if start is None and (together or not sizes):
                continue
            rest = forms if start is None else self._silent(one, forms, right, start)
            start = start or ()
            chosen = right | {form.step: form for form in start}
            if start and plan.first and all(_is_right(response, [chosen]) for response in plain):
                together.append(start)
                continue
            for answers in [confirm, own] if apart else [confirm]:
                found = explanations(
                    failing.case, failing.output, rest, right=chosen, confirm=answers,
                    time=self.session.search_time, plan=sizes,
                )  # fmt: skip
                if found:
                    break
            together += [(*start, *combination) for combination in found]
        least = min(map(len, together), default=0)
        return [item for item in together if len(item) == least]

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
                time=self.session.search_time,
                plan=((1, 1), (2, 0), (2, 1), (3, 0)) if first else ((1, 1),),
            )
            self._known_starts[key] = [*found[:MAX_STARTS], None]  # None: no part of it shows alone
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
            others = tuple(dict.fromkeys(item for other in others if len(other) == 1 for item in other if item != name))
            yield self.session.finding(name, *_forms_of(name, found[0]), right=right, plain=plain, also=others)

    def _is_whole_with_tokens_first(self):
        """Whether nothing is mixed where tokens come before samples: then that is how it takes them."""
        layout = self.with_tokens_first
        answer = self.session.subject.answer_for
        return layout is not None and not unexplained.properties(lambda X: answer(layout, X))

    def _unexplained(self, layout, plain):
        session, finished = self.session, not self.session.search_time.is_over
        bases = session.right_forms(layout)
        wrong = [response for response in plain if response.output is not None and not _is_right(response, bases)]
        if not wrong:
            known = Baseline(layout, bases[0], plain, named=not any(response.output is None for response in plain))
            yield from confirmed(session, known)
            yield from failures(session, plain)
            return known
        known = Baseline(layout, RIGHT, plain, named=False)
        if (yield from self._not_normalised(layout, plain)):
            return known
        trust = session.subject.trusts(layout) and not session.subject.attention_inside()
        if all(response.question.trait in LONG for response in wrong) and positions.says_window(session.subject):
            yield CannotTell(
                "With many tokens it differs from attention, and it speaks of a window, by design perhaps."
            )
            return known
        seen = unexplained.of(session, known, bases[0])
        certain = CERTAIN & set(seen.broken)
        # Whoever speaks of another design may mean it: that something differs is then no proof.
        trust = trust and not other_designs.spoken_of(session.subject.source)
        if not trust and certain == {"batch-mixed"} and self._is_whole_with_tokens_first():
            certain = set()
        # Where further parameters do something unknown, it may be by design that not every token has influence.
        unknown = () if trust else session.subject.unplaced
        within_windows = positions.visible_window(session.subject)  # how it ends is a design of its own
        if certain or (
            not within_windows
            and (
                trust or (set(seen.broken) - {"batch-mixed"} and not unknown and not session.subject.attention_inside())
            )
        ):
            sentence = (
                "It differs from attention, and no mistake or pair of mistakes that the doctor knows explains it."
            )
            yield session.unnamed(sentence, seen.text, LEAK if seen.leaks else WRONG)
            if not finished:
                yield Untested("some combinations of two and three mistakes, for want of time")
            return known
        yield CannotTell(_unreadable(session.subject, seen, unknown, finished))
        return known


def _is_of_its_own_values(response):
    """Whether each output, of tokens that are all alike, is made of one value's heads, each some number of times."""
    case = response.case
    try:
        values = cut(case.projected("V", case.context)[0, :1], case.n_kv_heads)
        values = shared(values, case.n_heads)[:, 0]  # (heads, d_head)
        each = values[:, :, None] * case.matrices["O"].reshape(case.n_heads, values.shape[1], -1)
    except UNCOMPUTABLE:
        return True  # it can't be told
    each = each.sum(axis=1)  # (heads, features): what each head gives of it
    wanted = response.output[0] - case.bias_of("O")
    counts = np.linalg.lstsq(each.T, wanted.T, rcond=None)[0]
    return fits((each.T @ counts).T, wanted, NEARLY)


def _is_right(response, designs):
    """Whether an answer is what the equation gives in any of these designs."""
    return any(fits(response.output, compute(response.case, right=right)[0]) for right in designs)


def _unreadable(subject, seen, unknown, finished):
    """Why there is no verdict, which parameters have no place, and what to examine instead."""
    reason = "Its parameters could not be read as those of attention in any layout that the doctor knows, so its "
    reason += "equation was not compared. "
    if unknown:
        paths = [item.path for item in unknown]
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
