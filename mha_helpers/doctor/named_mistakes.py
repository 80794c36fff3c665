"""What explains the plain calls of something that isn't right: mistakes with names, or where it shows."""

from dataclasses import dataclass

from ..judge.compare import fits
from ..judge.search import explanations, silent
from ..judge.stages import RIGHT, compute
from ..judge.time_limit import thread_time
from ..wrong.forms import FORMS, TOGETHER
from ..wrong.forms.masks import ALWAYS_CAUSAL, BUILT_IN
from ..wrong.names import LEAK, WRONG
from . import positions, where_it_shows
from .asking import CannotTell, Untested
from .layouts import SWAPPED
from .understood import FAILS_IN_MANY as LONG
from .understood import Understood, failures, settled


@dataclass(frozen=True)
class Plan:
    """A stage of the search: how many mistakes at once (and how many rare ones), in how many layouts."""

    sizes: tuple
    layouts: int
    first: bool = False


CERTAIN = {"batch-mixed", "not-finite", "not-repeatable"}  # whatever its parameters mean
MOST_STARTS, MOST_LAYOUTS = 16, 8
PLANS = (Plan(((1, 1),), 8, first=True), Plan(((2, 0), (2, 1)), 2), Plan(((3, 0), (2, 2)), 1))


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
        self.answering = [one for one in answering if one[0].usual and not one[0].loops] or answering[:MOST_LAYOUTS]
        self._known_starts = {}

    def find(self):
        answering = self.answering
        heard_in = {}
        for layout, first in answering[:MOST_LAYOUTS]:
            heard_in[layout.name] = self.asking.hear_all(layout, first)
        # With one token nothing is weighed: where that is right, the parameters are read rightly.
        answering = sorted(answering[:MOST_LAYOUTS], key=lambda one: not self._right_with_one(one[0], heard_in))
        finished = True
        for plan in PLANS:
            for layout, _ in answering[: plan.layouts]:
                searched = self._search(layout, heard_in[layout.name], plan)
                for pair in zip(searched, searched, strict=True):  # attention to all, and to what came before
                    finished &= all(whole for _, _, whole in pair)
                    explained = [(right, found) for right, found, _ in pair if found]
                    if explained:  # in the layout that comes first, with as few mistakes as it takes
                        right, found = min(explained, key=lambda one: len(one[1][0]))
                        chosen = right | {form.step: form for form in found[0]}
                        plain = heard_in[layout.name]
                        known = Understood(layout, chosen, plain, found[0])
                        yield from settled(self.asking, known)
                        yield from self._named(found, right, plain)
                        yield from self._beside(chosen, plain)
                        yield from failures(self.asking, plain)
                        return known
        return (yield from self._unexplained(answering, heard_in, finished))

    def _right_with_one(self, layout, heard_in):
        one = next((heard for heard in heard_in[layout.name] if heard.question.trait == "one token"), None)
        if one is None or one.output is None:
            return False
        return any(fits(one.output, compute(one.case, right=right)[0]) for right in self.asking.right_forms(layout))

    def _beside(self, right, plain):
        """What two sequences show beside what was found with one."""
        for heard in plain:
            known = not heard.question.is_cross or heard.output is None
            if not known and not fits(heard.output, compute(heard.case, right=right)[0]):
                yield self.asking.unnamed(f"With {heard.question.trait} it differs from attention in another way, too.")
                return

    def _search(self, layout, plain, plan):
        """Search in one layout, for attention to all and, built in, to what came before."""
        plain = [heard for heard in plain if heard.output is not None]
        base = self.asking.right_forms(layout)
        if plan.layouts < MOST_LAYOUTS:  # where more than one mistake is looked for, nothing else may be unusual
            base = base[:2]
        failing = next(
            (h for h in plain if not any(fits(h.output, compute(h.case, right=right)[0]) for right in base)), plain[0]
        )
        confirm = [(heard.case, heard.output) for heard in plain if heard is not failing]
        # What two sequences show may be a mistake of its own: where nothing explains it all, one may explain the rest.
        own = [(h.case, h.output) for h in plain if h is not failing and not h.question.is_cross]
        apart = plan.first and len(own) < len(confirm) and not failing.question.is_cross
        confirmations = [confirm, own] if apart else [confirm]
        one = next((heard for heard in plain if heard.question.trait == "one token"), None)
        for right in base:
            forms = FORMS if right["hide"] is ALWAYS_CAUSAL else FORMS + BUILT_IN
            forms = [*forms, *self.asking.subject.more_forms]
            together, whole = [], True
            for start in self._starts(one, forms, right):
                if thread_time() > self.asking.search_until:
                    whole = False
                    break
                if start is None and together:
                    continue
                rest = forms if start is None else self._silent(one, forms, right, start)
                start = start or ()
                chosen = right | {form.step: form for form in start}
                if start and plan.first and all(fits(h.output, compute(h.case, right=chosen)[0]) for h in plain):
                    together.append(start)
                    continue
                for answers in confirmations:
                    found, complete = explanations(
                        failing.case, failing.output, rest, right=chosen, confirm=answers,
                        deadline=self.asking.search_until, plan=plan.sizes,
                    )  # fmt: skip
                    whole &= complete
                    if found:
                        break
                together += [(*start, *combination) for combination in found]
            least = min(map(len, together), default=0)
            yield right, [one for one in together if len(one) == least], whole

    def _starts(self, one, forms, right):
        """The mistakes that show with one token, where there is nothing to weigh: those of values and output.

        They are found first, and alone; what is then left to explain is in the scores, the weights and the masks.
        """
        if one is None or fits(one.output, compute(one.case, right=right)[0]):
            return [(), None]
        key = (id(one), *(id(form) for form in right.values()))
        first = right["project"] is RIGHT["project"] and right["add"] is RIGHT["add"]
        if key not in self._known_starts:
            found, _ = explanations(
                one.case,
                one.output,
                forms,
                right=right,
                deadline=self.asking.search_until,
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
        return layout is not None and not where_it_shows.properties(lambda X: answer(layout, X))

    def _unexplained(self, answering, heard_in, finished):
        asking, (layout, _) = self.asking, answering[0]
        plain = heard_in[layout.name]
        bases = asking.right_forms(layout)
        wrong = [
            h
            for h in plain
            if h.output is not None and not any(fits(h.output, compute(h.case, right=r)[0]) for r in bases)
        ]
        if not wrong:
            known = Understood(layout, bases[0], plain, named=not any(heard.output is None for heard in plain))
            yield from settled(asking, known)
            yield from failures(asking, plain)
            return known
        known = Understood(layout, RIGHT, plain, named=False)
        trust = asking.subject.trusts(layout, plain) and not asking.subject.attention_inside()
        if all(heard.question.trait in LONG for heard in wrong) and positions.says_window(asking.subject):
            yield CannotTell(
                "With many tokens it differs from attention, and it speaks of a window, by design perhaps."
            )
            return known
        seen = where_it_shows.of(asking, known, bases[0])
        certain = CERTAIN & set(seen.broken)
        if not trust and certain == {"batch-mixed"} and self._is_whole_with_tokens_first():
            certain = set()
        # Where further parameters do something unknown, it may be by design that not every token is heard.
        unknown = () if trust else asking.subject.unplaced
        if (
            trust
            or certain
            or (set(seen.broken) - {"batch-mixed"} and not unknown and not asking.subject.attention_inside())
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
