"""Where a finding shows: at which line of the examined code, and in which number.

One of the calls that it showed in is made once more, and watched.
"""

import ast
import inspect
import itertools
import linecache
import sys
import textwrap
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
from function_judge.statements import lines_that_set, statement_at

MAX_CALLS, MAX_LAYOUTS = 4, 6  # a call that is watched takes many times as long
MAX_TOKENS = 150
NONDETERMINISTIC = ("not-repeatable", "dropout-always-on")  # no two calls give the same
# Where nothing scales them, it is the product that should have been scaled.
LEFT_OUT = {"scale-missing": ("scores", "products of queries and keys")}
DISCARDED = ("mask-ignored", "causal-ignored")
COMPOUND = (ast.For, ast.While, ast.If, ast.With, ast.FunctionDef, ast.ClassDef)
NAN = ("mask-full-row-nan", "mask-outer-nan")
STOPS = "it stops with"
# It is scaled where it should be, by a wrong number. The number may be computed in the constructor: that line is to be
# repaired, and not the one that uses it.
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
    exchanges = _shown_in(session, finding)
    if STOPS in finding.sentence:
        return replace(finding, line=_line_that_stops(session, exchanges))
    answered = [item for item in exchanges if item.response.output is not None]
    if finding.name == "input-changed":
        return replace(finding, line=_line_that_writes(session, answered))
    if finding.name is None and not session.known.named:
        calls = _in_every_layout(session) or list(_wrong_calls(session, finding, answered))[:1]
        return replace(finding, line=_line(session, calls))
    return _proved(session, finding, answered)


def _line_that_stops(session, exchanges):
    errors = [item.response.reply.error for item in exchanges if item.response.reply.error is not None]
    return line_of_error(errors[0], session.subject.function) if errors else None


def _line_that_writes(session, exchanges):
    if not exchanges:
        return None
    return first_written_line(_again(session, exchanges[0]), (), read=read, written_in=session.subject.function)


def _proved(session, finding, exchanges):
    """The finding with the line of the first call that gives one, and with the first proof."""
    line, proof = _discarding(session, finding), finding.evidence
    for exchange, meant in _wrong_calls(session, finding, exchanges):
        proof = proof or _proof(exchange, meant[0], session)
        if cuts_windows(session.known.right):
            break  # on the way, nothing is as in the equation
        line = line or _line(session, [(exchange, meant)], LEFT_OUT.get(finding.name, ()))
        if line is not None:
            break
    if line and finding.name in OTHER_NUMBER:
        line = _where_set(line)
    return replace(finding, line=line and _part_at_fault(line, finding), evidence=proof)


def _discarding(session, finding):
    """The statement that hides in an array which nobody keeps, `scores.masked_fill(mask, -1e9)`; None without one."""
    if finding.name not in DISCARDED:
        return None
    subject = session.subject
    function = inspect.unwrap(subject.adapter.signature_of if subject.kind == "module" else subject.function)
    try:
        path, (source, start) = inspect.getsourcefile(function), inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(source)))
    except (OSError, TypeError, SyntaxError):
        return None
    numbers = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Expr) and _makes_an_array(node.value)]
    return Line.at(path, start + numbers[0] - 1) if len(numbers) == 1 else None


def _makes_an_array(node):
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("masked_fill", "where")


def _part_at_fault(line, finding):
    """Of a statement over several lines the one on which the step stands that is wrong, where it is a single one."""
    statement = statement_at(line.path, line.number)
    if statement is None or statement.number != line.number or isinstance(statement.node, COMPOUND):
        return line
    lines = range(line.number, statement.node.end_lineno + 1)
    for step, _, _ in finding.altered:
        for pattern in vocabulary.PARTS_OF_STATEMENTS.get(step, ()):
            at = [number for number in lines if pattern.search(linecache.getline(line.path, number))]
            if len(at) == 1:
                return Line.at(line.path, at[0])
    return line


def _where_set(line):
    """Of a line that scales by a number which the object keeps: the one that set it, where that is a single one."""
    names = set(vocabulary.SCALE_ATTRIBUTE.findall(line.text))
    numbers = [number for name in names for number in lines_that_set(name, line.path, line.number)]
    return Line.at(line.path, numbers[0]) if len(names) == len(numbers) == 1 else line


def _line(session, calls, left_out=()):
    """The line in that of several calls in which the code goes furthest; each has the equations that may be meant.

    Of the numbers on the way those that are `left_out` count as wrong.
    """
    watched = []
    for exchange, meant in calls:
        again, case = _again(session, exchange), exchange.response.joint_case
        ways = ([known for known in numbers_of(case, right=right) if known.name not in left_out] for right in meant)
        watched.append([(again, numbers) for numbers in ways if numbers])
    return furthest_wrong_line(list(filter(None, watched)), read=read, written_in=session.subject.function)


def _in_every_layout(session):
    """A call in each layout that has been tried; none where one of them is right there, and so the code's own.

    Where it isn't known how the parameters are to be read, the code goes furthest without leaving the equation in the
    layout that is its own.
    """
    layouts = {item.layout.name: item.layout for item in session.exchanges if item.response.output is not None}
    calls = []
    for layout in list(layouts.values())[:MAX_LAYOUTS]:
        exchange, meant = _of_other_sizes(session, layout), session.right_forms(layout)[:2]
        response = exchange.response
        if any(fits(response.output, compute(response.case, right=right)[0]) for right in meant):
            return []
        if response.output is not None:
            calls.append((exchange, meant))
    return calls


def _wrong_calls(session, finding, exchanges):
    """Yield some calls in which it shows, each with the equations of which one should hold there."""
    equations = _equations(session, finding)
    for exchange in _calls_to_compare(session, exchanges):
        response = exchange.response
        is_hiding = response.question.mask is not None or response.question.is_causal
        meant = [right | ({"hide": form_with(session)} if is_hiding else {}) for right in equations]
        wanted = [compute(response.joint_case, right=right)[0] for right in meant]
        if any(item is None or np.isnan(item).any() for item in wanted):
            continue  # of a row that may attend to nothing, anything is right
        if finding.name in NONDETERMINISTIC or not any(fits(response.output, output) for output in wanted):
            yield exchange, meant


def _calls_to_compare(session, exchanges):
    """The calls that give numbers in full precision; before plain ones, one in which no sizes coincide."""
    compared = exchanges[:MAX_CALLS]
    if exchanges and not (exchanges[0].response.question.mask or exchanges[0].response.question.is_causal):
        compared = [_of_other_sizes(session, session.layout), *compared]
    return [item for item in compared if item.response.question.precision is None and item.response.output is not None]


def _proof(exchange, right, session):
    """The first entry that differs, and for which call; where more is wrong, what repairing only this would give."""
    response = exchange.response
    output, wanted = response.output, compute(response.joint_case, right=right)[0]
    if wanted is None or wanted.shape != output.shape:
        return ""
    with np.errstate(all="ignore"):
        differs = ~np.isclose(output, wanted, rtol=1e-3, atol=1e-4) & ~np.isnan(wanted)
    if not differs.any():
        return ""
    place = tuple(int(i) for i in np.argwhere(differs)[0])
    right_here = {step: form for step, form in right.items() if form is not session.known.right.get(step)}
    whole = compute(response.joint_case, right=_right_steps(session) | right_here)[0]
    is_all = whole is None or np.isclose(whole[place], wanted[place], rtol=1e-3, atol=1e-4)
    would = "where attention gives {:.4f}" if is_all else "and would be {:.4f} with only this repaired"
    entry = f"output{list(place)}"
    return f"With {_in_words(response)}, {entry} is {output[place]:.4f}, {would.format(wanted[place])}."


def _in_words(response):
    """What a call has got."""
    question, case = response.question, response.case
    sizes = ((question.batch, "sample"), (question.n_queries, "token"), (case.n_heads, "head"))
    words = ", ".join(f"{number} {noun}{'s' * (number != 1)}" for number, noun in sizes)
    words += f", {TRAITS[question.mask]}" if question.mask in TRAITS else ""
    return words + (", the causal flag" if question.is_causal else "")


def _again(session, exchange):
    """The same call once more, under another name each time, as what was asked before is answered from memory."""
    question, times = exchange.response.question, itertools.count()
    return lambda: session.subject.ask(
        exchange.layout, question.but(f"{question.trait}, again {next(times)}"), exchange.mask
    )


def _shown_in(session, finding):
    """The calls in which it was seen, those of few tokens."""
    text = " ".join((finding.sentence, finding.evidence, *finding.shows))
    possible = [
        exchange
        for exchange in session.exchanges
        if exchange.layout is session.layout
        and exchange.response.question.n_queries <= MAX_TOKENS
        and _has_a_known_mask(session, finding, exchange)
    ]
    named = [exchange for exchange in possible if any(trait in text for trait in _traits(exchange.response.question))]
    return sorted(named or possible, key=lambda exchange: exchange.response.question.n_queries)


def _traits(question):
    """The words by which a finding may speak of a question."""
    return {question.trait, TRAITS.get(question.mask, question.trait)}


def _has_a_known_mask(session, finding, exchange):
    """Whether its mask, if it has one, was in a format that turned out to be the code's own.

    In another format the code is wrong without a mistake. Numbers that are added may be of either size.
    """
    mask = exchange.mask
    if mask is None or mask in session.masks or f"given as {mask.format}:" in finding.evidence:
        return True
    added = [known for known in session.masks if known.format.entries.startswith("added")]
    known_shapes = [(known.name, known.format.shape) for known in added]
    return mask.format.entries.startswith("added") and (mask.name, mask.format.shape) in known_shapes


def _of_other_sizes(session, layout):
    """A call in which batch, heads, tokens and features differ, so that nothing hides in sizes that coincide."""
    subject = session.subject
    question = subject.mask_question(layout, None) if subject.kind == "module" else subject.plain_questions(layout)[0]
    session.ask(layout, question)
    return session.exchanges[-1]


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
