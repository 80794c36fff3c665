"""The examination: which questions are asked in which order, and what is concluded from the answers."""

import time
from dataclasses import dataclass

import numpy as np

from mha_helpers.doctor import cache, calling, evidence, masks_asked, strain
from mha_helpers.doctor.equation import RIGHT, STEPS, compute, fits
from mha_helpers.doctor.forms import FORMS, TOGETHER
from mha_helpers.doctor.hiding import ALWAYS_CAUSAL, BUILT_IN
from mha_helpers.doctor.questions import MAIN, PLAIN
from mha_helpers.doctor.report import Finding, Report
from mha_helpers.doctor.search import explanations
from mha_helpers.doctor.signature import CannotBeExaminedError
from mha_helpers.doctor.vocabulary import DESIGN, HARMLESS, IMPORTED, LEAK, WORDS, WRONG

SECONDS = 9.0  # for one report
SEARCH_SECONDS = 4.5  # of these, at most, for the plain call
FAILS_IN_MANY = ("80 tokens", "150 tokens")  # a module may have a longest sequence


@dataclass(frozen=True)
class Plan:
    """A stage of the search: how many mistakes at once (and how many rare ones), in how many layouts."""

    sizes: tuple
    layouts: int
    first: bool = False


CERTAIN = {"batch-mixed", "not-finite", "not-repeatable"}  # whatever its parameters mean
MOST_STARTS, MOST_LAYOUTS = 16, 8
PLANS = (Plan(((1, 1),), 8, first=True), Plan(((2, 0), (2, 1)), 2), Plan(((3, 0), (2, 2)), 1))


@dataclass
class Heard:
    """A question with its answer, and with the case as the equation has it."""

    question: object
    case: object
    reply: object

    @property
    def output(self):
        return self.reply.output


class Examination:
    """One subject, its layout once it is known, and the equation that it computes in a plain call."""

    def __init__(self, subject, seconds=SECONDS):
        self.subject = subject
        self.started = time.monotonic()
        # On this thread's own time: what is found doesn't depend on how busy the machine is.
        self.deadline = time.thread_time() + seconds
        self.search_until = time.thread_time() + SEARCH_SECONDS
        self.report = Report(subject.name)
        self.layout = None
        self.right = RIGHT  # what its plain call computes, mistakes included
        self.forms = ()
        self.plain = []
        self._known_starts = {}
        self.masks = {}  # by argument's role: how it is given, and the rule by which it is used
        self.flag_is_understood = True
        self.changed_by = []  # the questions in whose calls an argument was written into
        self.named = True  # whether all that was seen in plain calls has an explanation

    # ---- asking ------------------------------------------------------------------------------

    def hear(self, layout, question, how=None):
        self.report.asked += 1
        reply = self.subject.ask(layout, question, how)
        if reply.changed and layout is self.layout:
            self.changed_by.append(question.trait)
        return Heard(question, self.subject.case(layout, question), reply)

    def _hear_again(self, question):
        self.report.asked += 1
        reply = self.subject.ask_again(self.layout, question)
        return Heard(question, self.subject.case(self.layout, question), reply)

    @property
    def in_time(self):
        return time.thread_time() < self.deadline

    # ---- the whole ---------------------------------------------------------------------------

    def run(self):
        try:
            self._ask_everything()
        except CannotBeExaminedError:
            raise
        except Exception as error:  # what was found until then stands
            ours = f"The doctor itself stopped, which is our fault: {calling.said(error)}"
            if any(finding.is_sick for finding in self.report.findings):
                self.report.notes.append(ours)
            else:
                self.report.healthy, self.report.reason = None, ours
        return self.finish()

    def _ask_everything(self):
        if self._plain_calls():
            if self.named:
                masks_asked.ask(self)
                strain.ask(self)
                cache.ask(self)
            elif not self.report.findings or self.report.findings[0].name is None:
                self.report.untested.append("masks and large scores, as the plain call isn't understood")
            self._writes()
            if len(self.plain) > 1:
                self._repeats()
            self.subject.further(self)

    def finish(self):
        report = self.report
        report.seconds = time.monotonic() - self.started
        report.findings.sort(key=lambda finding: (not finding.is_sick, finding.name is None))
        if report.healthy is not None:
            report.healthy = not any(finding.is_sick for finding in report.findings)
        if self.layout is not None:
            report.layout = report.layout or self.layout.name
        return report

    # ---- plain calls -------------------------------------------------------------------------

    def _plain_calls(self):
        """Find the layout in which the plain calls are right, or else the mistakes that explain them."""
        answering, errors = [], []
        for layout in self.subject.layouts:
            heard = self.hear(layout, self._first_question(layout))
            if heard.output is None:
                errors.append((layout, heard.reply))
                continue
            answering.append((layout, heard))
            for right in self._readings(layout):
                if not fits(heard.output, compute(heard.case, right=right)[0]):
                    continue
                if layout.loops and any(other.usual and not other.loops for other, _ in answering):
                    break  # right for one sequence, and silently wrong for a batch
                plain = self._hear_all(layout, heard)
                if self._all_right(plain, right):
                    self._settle(layout, right, plain)
                    return True
                answering[-1] = (layout, heard)
                break
        if answering:
            self.layout, first = answering[0]
            again = self._hear_again(first.question)
            if again.output is not None and not _same(first.output, again.output):
                self._not_repeatable(first.question)
                self.plain, self.named = [first], False
                self.report.untested.append("anything else, as the same call doesn't give the same numbers")
                return True
            return self._explain(answering)
        for blank in [] if self.subject.blank else self.subject.blanks():
            self.subject.blank = blank
            if any(
                self.hear(layout, self._first_question(layout)).output is not None for layout in self.subject.layouts
            ):
                return self._plain_calls()
        self._nothing_came(errors)
        return False

    def _first_question(self, layout):
        return self.subject.plain_questions(layout)[0]

    def _readings(self, layout):
        """What counts as right: attention to all, or, built in, to what came before alone."""
        base = RIGHT | layout.right
        return [
            way | hide for way in self.subject.readings_of_right(layout, base) for hide in ({}, {"hide": ALWAYS_CAUSAL})
        ]

    def _hear_all(self, layout, first):
        rest = [self.hear(layout, question) for question in self.subject.plain_questions(layout)[1:]]
        return [first, *rest]

    def _all_right(self, plain, right):
        return all(
            heard.output is None or fits(heard.output, compute(heard.case, right=right)[0]) for heard in plain
        ) and not any(self._is_a_failure(heard) for heard in plain)

    def _is_a_failure(self, heard):
        """An answer of the wrong shape, or none at all, where others get one."""
        return heard.output is None and heard.question.trait not in FAILS_IN_MANY and not heard.question.is_cross

    def _settle(self, layout, right, plain, forms=()):
        self.layout, self.right, self.forms, self.plain = layout, right, forms, plain
        self.report.notes += layout.notes
        if layout.finding:
            self.add(layout.finding)
        if right["hide"] is ALWAYS_CAUSAL:
            self.report.notes.append("It is causal in every call.")
        designs = [
            right[step].text
            for step in STEPS
            if not right[step].slug and right[step] not in (RIGHT[step], ALWAYS_CAUSAL)
        ]
        if designs:
            self.report.notes.append(f"Taken for its design: {'; '.join(designs)}.")
        for heard in plain:
            if heard.output is None and not self._is_a_failure(heard):
                self.report.untested.append(f"{heard.question.trait} ({_said(heard.reply)})")

    def _nothing_came(self, errors):
        layout, reply = errors[0]
        if reply.wrong_shape and self.subject.kind == "function":
            self.layout = layout
            self._wrong_shape(layout, reply)
            return
        self.report.healthy = None
        if reply.wrong_shape is not None:
            self.report.reason = (
                f"It returned shapes {reply.wrong_shape}, and none is that of an output, read as {layout.name}."
            )
        else:
            self.report.reason = f"It stopped with {type(reply.error).__name__}: {str(reply.error)[:300]}"

    def _wrong_shape(self, layout, reply):
        """What comes back has no output's shape: the weights alone, perhaps, or heads that were not joined."""
        question = self._first_question(layout)
        weights = compute(self.subject.case(layout, question))[1]
        if any(fits(array, weights) for array in reply.others):
            self.add("returns-weights-only")
        else:
            self.unnamed(f"It returns shapes {reply.wrong_shape}, and none is that of an output.", "")

    def _explain(self, answering):
        """Search for mistakes, in the layouts that answer; the most usual first."""
        answering = [one for one in answering if one[0].usual and not one[0].loops] or answering[:MOST_LAYOUTS]
        heard_in = {}
        for layout, first in answering[:MOST_LAYOUTS]:
            heard_in[layout.name] = self._hear_all(layout, first)
        finished = True
        for plan in PLANS:
            for layout, _ in answering[: plan.layouts]:
                self._known_starts = {} if len(answering) > 1 else self._known_starts
                searched = self._search(layout, heard_in[layout.name], plan)
                for pair in zip(searched, searched, strict=True):  # attention to all, and to what came before
                    finished &= all(whole for _, _, whole in pair)
                    explained = [(right, found) for right, found, _ in pair if found]
                    if explained:  # in the layout that comes first, with as few mistakes as it takes
                        right, found = min(explained, key=lambda one: len(one[1][0]))
                        chosen = right | {form.step: form for form in found[0]}
                        self._settle(layout, chosen, heard_in[layout.name], found[0])
                        self._name(found, right)
                        self._failures(heard_in[layout.name])
                        return True
        return self._unexplained(answering, heard_in, finished)

    def _search(self, layout, plain, plan):
        """Search in one layout, for attention to all and, built in, to what came before."""
        plain = [heard for heard in plain if heard.output is not None]
        base = self._readings(layout)
        if plan.layouts < MOST_LAYOUTS:  # where more than one mistake is looked for, nothing else may be unusual
            base = base[:2]
        failing = next(
            (h for h in plain if not any(fits(h.output, compute(h.case, right=right)[0]) for right in base)), plain[0]
        )
        confirm = [(heard.case, heard.output) for heard in plain if heard is not failing]
        one = next((heard for heard in plain if heard.question.trait == "one token"), None)
        for right in base:
            forms = FORMS if right["hide"] is ALWAYS_CAUSAL else FORMS + BUILT_IN
            forms = forms + self.subject.more_forms()
            together, whole = [], True
            for start in self._starts(one, forms, right):
                if time.thread_time() > self.search_until:
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
                found, complete = explanations(
                    failing.case, failing.output, rest, right=chosen, confirm=confirm,
                    deadline=self.search_until, plan=plan.sizes,
                )  # fmt: skip
                whole &= complete
                together += [(*start, *combination) for combination in found]
            least = min(map(len, together), default=0)
            yield right, [one for one in together if len(one) == least], whole

    def _starts(self, one, forms, right):
        """The mistakes that show with one token, where there is nothing to weigh: those of values and output.

        They are found first, and alone; what is then left to explain is in the scores, the weights and the masks.
        """
        if one is None or fits(one.output, compute(one.case, right=right)[0]):
            return [(), None]
        key = id(right["hide"])
        if key not in self._known_starts:
            found, _ = explanations(
                one.case,
                one.output,
                forms,
                right=right,
                deadline=self.search_until,
                plan=((1, 1), (2, 0), (2, 1), (3, 0)),
            )
            self._known_starts[key] = [*found[:MOST_STARTS], None]  # None: no part of it shows alone
        return self._known_starts[key]

    def _silent(self, one, forms, right, start):
        """The forms that change nothing for one token: all others would spoil what fits there already."""
        right = right | {form.step: form for form in start}
        taken = {form.step for form in start}
        free = [form for form in forms if form.step not in taken]
        if one is None:
            return free
        wanted = compute(one.case, right=right)[0]
        if wanted is None:
            return []
        return [form for form in free if fits(wanted, compute(one.case, [form], right=right)[0], vacuous=True)]

    def _name(self, found, right):
        """Turn explanations into findings: one for each mistake, with what else would explain it."""
        readings = list(dict.fromkeys(_names(combination) for combination in found))
        first = readings[0]
        for name in first:
            without = set(first) - {name}
            others = [set(other) - without for other in readings[1:] if without <= set(other)]
            others = tuple(dict.fromkeys(one for other in others if len(other) == 1 for one in other if one != name))
            self.add(name, *_forms_of(name, found[0]), right=right, also=others)

    def add(self, name, *forms, right=RIGHT, also=(), **more):
        """Add a finding of the vocabulary, with the altered steps that it stands for; the first of a name stands."""
        if any(finding.name == name for finding in self.report.findings):
            return
        word = WORDS[name]
        severity = more.pop("severity", None) or self.subject.severity_of(name, word.severity)
        altered = tuple(
            (form.step, form.text or "nothing there", right[form.step].text or "nothing there") for form in forms
        )
        shows, hides = more.pop("where", None) or (self._where(forms, right) if forms else ((), ()))
        self.report.findings.append(
            Finding(name, severity, word.sentence, altered, word.repair, also, shows, hides, word.example, **more)
        )

    def findings_in(self, step):
        return [finding for finding in self.report.findings if step in {altered[0] for altered in finding.altered}]

    def _where(self, forms, right):
        """On which of the plain inputs a mistake alone shows, and on which it hides."""
        shows, hides = [], []
        for heard in self.plain:
            altered = compute(heard.case, forms, right=right)[0]
            same = altered is not None and fits(altered, compute(heard.case, right=right)[0])
            (hides if same or altered is None else shows).append(heard.question.trait)
        return tuple(shows), tuple(hides)

    def _failures(self, plain):
        for heard in plain:
            if self._is_a_failure(heard):
                self.unnamed(f"With {heard.question.trait} it {_said(heard.reply)}.", "")

    def unnamed(self, sentence, shown, severity=WRONG):
        self.report.findings.append(Finding(None, severity, sentence, evidence=shown))

    def _unexplained(self, answering, heard_in, finished):
        layout, _ = answering[0]
        plain = heard_in[layout.name]
        self.named = False
        self.layout, self.plain = layout, plain
        bases = self._readings(layout)
        wrong = [
            h
            for h in plain
            if h.output is not None and not any(fits(h.output, compute(h.case, right=r)[0]) for r in bases)
        ]
        if not wrong:
            self._settle(layout, bases[0], plain)
            self.named = not any(heard.output is None for heard in plain)
            self._failures(plain)
            return True
        trust = self.subject.trusts(layout, plain)
        seen = evidence.of(self, layout, bases[0])
        # Where further parameters do something unknown, it may be by design that not every token is heard.
        unknown = () if trust else self.subject.unplaced
        if trust or CERTAIN & set(seen.broken) or (seen.broken and not unknown):
            sentence = (
                "It differs from attention, and no mistake or pair of mistakes that the doctor knows explains it."
            )
            self.report.findings.append(Finding(None, LEAK if seen.leaks else WRONG, sentence, evidence=seen.text))
            if not finished:
                self.report.untested.append("some combinations of two and three mistakes, for want of time")
            return True
        self.report.healthy = None
        self.report.reason = (
            "Its parameters could not be read as those of attention in any layout that the doctor knows, so its "
            "equation was not compared. "
        )
        self.report.reason += (
            f"This may be by design: {seen.properties}"
            if seen.broken
            else "Nothing that can be told without them is wrong."
        )
        return True

    # ---- conduct -----------------------------------------------------------------------------

    def _writes(self):
        writing = [heard.question.trait for heard in self.plain if heard.reply.changed] + self.changed_by
        if writing:
            self.add("input-changed", where=(tuple(dict.fromkeys(writing)), ()))

    def _repeats(self):
        """The same call once more, after one with other numbers of the same shape."""
        first = self.plain[0]
        question = first.question
        other = self.hear(self.layout, question.but("other numbers of the same shape", seed=question.seed + 50))
        again = self._hear_again(question)
        if again.output is not None and not _same(first.output, again.output):
            self._not_repeatable(question)
        elif self.named and other.output is not None:
            wanted = compute(other.case, right=self.right)[0]
            if not fits(other.output, wanted):
                self.unnamed(f"With {other.question.trait} it gives something else than before.", "")

    def _not_repeatable(self, question):
        """Chance, or something kept from call to call: with the same seed, chance repeats itself."""
        again, third = (self._hear_again(question).output for _ in range(2))
        seeded = []
        for _ in range(2):
            with calling.seeded():
                seeded.append(self._hear_again(question).output)
        self.add("dropout-always-on" if not _same(again, third) and _same(*seeded) else "not-repeatable")


def _same(one, other):
    return np.array_equal(one, other, equal_nan=True) or fits(one, other)


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


def _said(reply):
    if reply.wrong_shape is not None:
        return f"returns shapes {reply.wrong_shape}"
    message = " ".join(str(reply.error).split())[:90]
    return f"stops with {type(reply.error).__name__}: {message}"


__all__ = ["DESIGN", "HARMLESS", "IMPORTED", "MAIN", "PLAIN", "Examination", "Heard"]
