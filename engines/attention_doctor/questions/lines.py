"""Where a finding shows: at which line of the examined code, and in which number.

One of the calls that it showed in is made once more, and watched.
"""

import itertools
import sys
from dataclasses import replace

import numpy as np

from attention_doctor import vocabulary
from attention_doctor.equation.on_the_way import numbers_of
from attention_doctor.equation.stages import OR_ZEROS, RIGHT, compute
from attention_doctor.equation.tracing import furthest_wrong_line
from attention_doctor.forms.masks import ALWAYS_CAUSAL
from attention_doctor.questions.masks_compared import TRAITS, form_with
from attention_doctor.readers.positions import cuts_windows
from function_judge.compare import fits
from function_judge.lines import Line, first_written_line, line_of_error
from function_judge.statements import lines_that_set

MAX_CALLS, MAX_LAYOUTS = 4, 6
MAX_TOKENS = 150
NONDETERMINISTIC = ("not-repeatable", "dropout-always-on")  # no two calls give the same
NAN = ("mask-full-row-nan", "mask-outer-nan")
STOPS = "it stops with"
# It is scaled where it should be, by a number that is wrong.
OTHER_NUMBER = ("mha-scale-d-model", "scale-no-root", "scale-n-heads", "scale-constant", "scale-fourth-root")


def pointed(session, finding):
    """Return the finding with its line, where that is certain, and with numbers that prove it, if it has none yet.

    Parameters
    ----------
    session : ExamSession
    finding : Finding

    Returns
    -------
    Finding
    """
    if session.known is None or finding.line is not None:
        return finding
    evidence = _shown_in(session, finding)
    if STOPS in finding.sentence:
        errors = [entry.response.reply.error for entry in evidence if entry.response.reply.error is not None]
        return replace(finding, line=line_of_error(errors[0], session.subject.function) if errors else None)
    evidence = [entry for entry in evidence if entry.response.output is not None]
    if finding.name == "input-changed":
        subject = session.subject
        lines = (
            first_written_line(_again(session, entry), (), read=read, written_in=subject.function)
            for entry in evidence[:1]
        )
        return replace(finding, line=next(lines, None))
    if finding.name is None and not session.known.named:
        calls = _in_every_layout(session) or list(_wrong_calls(session, finding, evidence))[:1]
        return replace(finding, line=_line(session, calls))
    line, proof = None, finding.evidence
    for item, meant in _wrong_calls(session, finding, evidence):
        proof = proof or _proof(item, meant[0], session)
        if cuts_windows(session.known.right):
            break
        line = _line(session, [(item, meant)])
        if line is not None:
            break
    return replace(finding, line=_where_set(line) if line and finding.name in OTHER_NUMBER else line, evidence=proof)


def _where_set(line):
    """Of a line that scales by a number which the object keeps: the one that set it, where that is a single one."""
    names = set(vocabulary.SCALE_ATTRIBUTE.findall(line.text))
    numbers = [number for name in names for number in lines_that_set(name, line.path, line.number)]
    return Line.at(line.path, numbers[0]) if len(names) == len(numbers) == 1 else line


def _line(session, calls):
    """The line in that of several calls in which the code goes furthest; each has the equations that may be meant."""
    watched = []
    for item, meant in calls:
        again, case = _again(session, item), item.response.case
        watched.append([(again, numbers) for right in meant if (numbers := numbers_of(case, right=right))])
    return furthest_wrong_line(list(filter(None, watched)), read=read, written_in=session.subject.function)


def _in_every_layout(session):
    """A call in each layout that has been tried; none where one of them is right there, and so the code's own."""
    layouts = {answer.layout.name: answer.layout for answer in session.answers if answer.response.output is not None}
    calls = []
    for layout in list(layouts.values())[:MAX_LAYOUTS]:
        [one], meant = _of_other_sizes(session, layout), session.right_forms(layout)[:2]
        if any(fits(one.response.output, compute(one.response.case, right=right)[0]) for right in meant):
            return []
        if one.response.output is not None:
            calls.append((one, meant))
    return calls


def _wrong_calls(session, finding, evidence):
    """Yield some calls in which it shows, each with the equations of which one should hold there."""
    equations = _equations(session, finding)
    is_plain = bool(evidence) and not (evidence[0].response.question.mask or evidence[0].response.question.is_causal)
    for size in (_of_other_sizes(session, session.layout) if is_plain else []) + evidence[:MAX_CALLS]:
        question, case = size.response.question, size.response.case
        if question.precision is not None or size.response.output is None:
            continue
        hide = {"hide": form_with(session)} if question.mask is not None or question.is_causal else {}
        meant = [right | hide for right in equations]
        wanted = [compute(case, right=right)[0] for right in meant]
        if any(item is None or np.isnan(item).any() for item in wanted):
            continue  # of a row that may attend to nothing, anything is right
        is_right = any(fits(size.response.output, output) for output in wanted)
        if finding.name in NONDETERMINISTIC or not is_right:
            yield size, meant


def _proof(one, right, session):
    """The first entry that differs, and what was given; where more is wrong, what repairing this alone would give."""
    response = one.response
    got, wanted = response.output, compute(response.case, right=right)[0]
    if wanted is None or wanted.shape != got.shape:
        return ""
    with np.errstate(all="ignore"):
        differs = ~np.isclose(got, wanted, rtol=1e-3, atol=1e-4) & ~np.isnan(wanted)
    if not differs.any():
        return ""
    place = tuple(int(i) for i in np.argwhere(differs)[0])
    given, entry = _in_words(response), f"output{list(place)}"
    right_here = {step: form for step, form in right.items() if form is not session.known.right.get(step)}
    whole = compute(response.case, right=_right_steps(session) | right_here)[0]
    is_all = whole is None or np.isclose(whole[place], wanted[place], rtol=1e-3, atol=1e-4)
    would = "where attention gives {:.4f}" if is_all else "and would be {:.4f} with this alone mended"
    return f"With {given}, {entry} is {got[place]:.4f}, {would.format(wanted[place])}."


def _in_words(response):
    """What a call was given."""
    question, case = response.question, response.case
    sizes = ((question.batch, "sample"), (question.n_queries, "token"), (case.n_heads, "head"))
    words = ", ".join(f"{number} {noun}{'s' * (number != 1)}" for number, noun in sizes)
    words += f", {TRAITS[question.mask]}" if question.mask in TRAITS else ""
    return words + (", the causal flag" if question.is_causal else "")


def _again(session, one):
    """The same call once more, under another name each time, as what was asked before is answered from memory."""
    question, times = one.response.question, itertools.count()
    return lambda: session.subject.ask(one.layout, question.but(f"{question.trait}, again {next(times)}"), one.how)


def _shown_in(session, finding):
    """The calls in which it was seen, those of few tokens."""
    text = " ".join((finding.sentence, finding.evidence, *finding.shows))
    possible = [
        answer
        for answer in session.answers
        if answer.layout is session.layout
        and answer.response.question.n_queries <= MAX_TOKENS
        and _has_a_known_mask(session, finding, answer)
    ]
    evidence = []
    for item in possible:
        question = item.response.question
        words = {question.trait, TRAITS.get(question.mask, question.trait)}
        if any(trait in text for trait in words):
            evidence.append(item)
    return sorted(evidence or possible, key=lambda entry: entry.response.question.n_queries)


def _has_a_known_mask(session, finding, one):
    """Whether its mask, if it has one, was given in a form that turned out to be the code's own."""
    if one.how is None or one.how in session.mask_forms or f"given as {one.how[1]}:" in finding.evidence:
        return True
    name, form = one.how
    added = [known for known in session.mask_forms if known[1].entries.startswith("added")]
    return form.entries.startswith("added") and (name, form.shape) in [(known, how.shape) for known, how in added]


def _of_other_sizes(session, layout):
    """A call in which batch, heads, tokens and features differ, so that nothing hides in sizes that coincide."""
    subject = session.subject
    question = subject.mask_question(layout, None) if subject.kind == "module" else subject.plain_questions(layout)[0]
    session.ask(layout, question)
    return session.answers[-1:]


def _right_steps(session, steps=None):
    """What the plain calls compute, with these of the steps that were found to be wrong repaired, or all of them."""
    known = session.known
    plain = RIGHT | known.layout.right | {step: forms[0] for step, forms in session.subject.designs().items()}
    return known.right | {form.step: plain[form.step] for form in known.forms if steps is None or form.step in steps}


def _equations(session, finding):
    """What is right but for everything else that was found; several equations where it isn't known which is."""
    known, subject = session.known, session.subject
    if not known.named:
        return session.right_forms(known.layout)[:2]
    steps = {altered[0] for altered in finding.altered}
    right = _right_steps(session, steps)
    if finding.name in NAN:
        return [right | {"softmax": OR_ZEROS}]
    if any(form.step == "hide" for form in known.forms) and "hide" in steps:
        return [right | {"hide": ALWAYS_CAUSAL}]  # what is built in was meant to be causal
    if "place" in steps and len(places := subject.designs().get("place", ())) > 1:
        return [right | {"place": place} for place in places[1:]]
    return [right]


def read(value):
    """Read what a variable holds as an ndarray, if it is an array of some framework."""
    if isinstance(value, np.ndarray):
        return value
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return None
    torch = sys.modules.get("torch")
    try:
        if torch is not None and isinstance(value, torch.Tensor):
            value = value.detach().to("cpu")
            return (value.float() if value.is_floating_point() else value).numpy()
        return np.asarray(value)
    except Exception:  # whatever an unknown kind of array answers: it is not compared
        return None
